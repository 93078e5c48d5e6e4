"""[4] The Infinite Chat specification: each promise with the heading or the line that it stands under.

Elsewhere: its Python example on both engines, edits, chunks, deletion, settings and the environment
(tests/compat/test_infinite_chat.py), the eleven tools (tests/answer/tools, tests/faces/mcp/test_tools.py), the bounds
of the four forms (recollect/context/settings.py, tests/context/test_forms.py), time-outs (test_timeouts.py there)
and a context that does not grow (tests/test_endless_conversation.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.compat.infinite_chat.chat import InfiniteChat
from recollect.context import IndexConfig
from recollect.memory import Memory
from recollect.models.embedding.tokenizer import count_tokens
from tests.seeds.conftest import say

ASKED = "What's our API authentication strategy?"
ANSWERED = "We're using OAuth2 with JWT tokens..."
EARLIER = ["Discussion about API rate limiting...", "OAuth2 implementation details..."]
ABOUT = "Tell me about our authentication decisions"


@pytest.fixture
def chat(place: str) -> Iterator[InfiniteChat]:
    """The calls of the specification, on each engine; tests/compat awaits them."""
    opened = InfiniteChat(*((place,) if "://" in place else ()), path=place, background=False)
    yield opened
    opened.close()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[InfiniteChat]:
    """The same on a file."""
    opened = InfiniteChat(path=tmp_path / "memory.db", background=False)
    yield opened
    opened.close()


def test_a_message_has_what_the_model_of_the_data_lists(chat: InfiniteChat) -> None:
    """[4] Data Model: Message. Parent, time, metadata; after an edit the same id, the old words in its history."""
    at = datetime(2024, 10, 15, 12, tzinfo=UTC)
    asked = chat.store_message(ASKED, "user", timestamp=at, metadata={"by": "Ana"})
    answer = chat.store_message(ANSWERED, "assistant", asked)
    found = chat.get_message_by_id(asked)
    assert (found.content, found.role, found.parent_id, found.metadata) == (ASKED, "user", None, {"by": "Ana"})
    assert (found.timestamp, found.is_chunk) == ("2024-10-15T12:00:00Z", False)
    assert chat.get_message_by_id(answer).parent_id == asked
    chat.update_message(asked, "How do we authenticate?")
    (stored,) = chat._memory.messages([asked])
    assert (stored.content, stored.edited) == ("How do we authenticate?", True)
    assert [version.content for version in stored.versions] == [ASKED]


def test_a_call_belongs_to_the_message_that_made_it(chat: InfiniteChat) -> None:
    """[4] Data Model: ToolCall; CALLED_BY. Arguments and result as JSON, and the id of the triggering message."""
    asked = chat.store_message(ASKED)
    call = chat.get_tool_call(chat.store_tool_call("web_search", {"query": "OAuth2"}, {"hits": 3}, asked))
    assert (call.tool_name, call.arguments, call.result) == ("web_search", '{"query": "OAuth2"}', '{"hits": 3}')
    assert call.message_id == asked
    assert [one.message_id for one in chat._memory.integration.tool_calls([call.id])] == [asked]
    assert chat.get_tool_calls_by_message(asked) == [call]


def test_ten_thousand_tokens_are_three_chunks(alone: InfiniteChat) -> None:
    """[4] Chunking Rules: Example Chunking. Three in order, of at most 4,000 tokens, of one role and one parent."""
    text = " ".join(f"alpha{number}" for number in range(3_080))
    assert 9_900 < count_tokens(text) < 10_100
    asked = alone.store_message("Count.")
    own = alone.store_message(text, "assistant", asked)
    chunks = alone.get_message_with_chunks(own)
    assert [(one.chunk_index, one.chunk_parent_id, one.role) for one in chunks] == [
        (index, own, "assistant") for index in range(3)
    ]
    assert all(one.is_chunk and count_tokens(one.content) <= 4_000 for one in chunks)
    assert alone.get_message_by_id(chunks[2].id).content == chunks[2].content


def test_each_chunk_that_matches_is_found(alone: InfiniteChat) -> None:
    """[4] Retrieval Behavior. Chunks are units of search of their own: two that answer are two results."""
    padding = "The tide comes at six and the heron comes with it. " * 400
    own = alone.store_message(
        f"The sextant is made of brass.\\n\\n{padding}\\n\\n{padding}\\n\\nThe sextant came from Lisbon."
    )
    chunks = alone.get_message_with_chunks(own)
    found = {one.id for one in alone.vector_search("Where did the brass sextant come from?", 5)}
    assert {chunks[0].id, chunks[-1].id} <= found


@pytest.mark.parametrize(
    "query",
    [
        "OAuth2 best practices",
        "OAuth2 best practices refresh tokens short-lived",
    ],
)
def test_a_tool_call_is_found_in_a_young_memory(chat: InfiniteChat, query: str) -> None:
    """[4] Tool Call Indexing; storeToolCall. What a tool was asked and what it answered find it from the start."""
    asked = chat.store_message(ASKED)
    result = {"best": "Short-lived JWT, rotated refresh tokens."}
    chat.store_tool_call("web_search", {"query": "OAuth2 best practices"}, result, asked)
    chat.store_message(ANSWERED, "assistant", asked)
    for line in EARLIER:
        chat.store_message(line)
    assert chat.vector_search(query)[0].type == "tool_call"


@pytest.mark.parametrize(("period", "found"), [("today", [1]), ("this_week", [1]), ("2024-10", [0]), ("2024-09", [])])
def test_messages_of_a_period(alone: InfiniteChat, period: str, found: list[int]) -> None:
    """[4] Tool Interface: Temporal retrieval. The words of the signature, and any other time."""
    said = [
        alone.store_message(ASKED, timestamp=datetime(2024, 10, 15, tzinfo=UTC)),
        alone.store_message(ANSWERED, "assistant"),
    ]
    assert [one.id for one in alone.get_period_messages(period)] == [said[number] for number in found]


def test_a_thread_is_as_deep_as_asked(alone: InfiniteChat) -> None:
    """[4] Tool Interface: Thread navigation. So many messages on each side of one."""
    said = [alone.store_message(f"Message {number}", "assistant" if number % 2 else "user") for number in range(9)]
    assert [one.id for one in alone.get_conversation_thread(said[4], 2)] == said[2:7]


# --- the context ---------------------------------------------------------------------------------------------------
def test_few_messages_are_all_shown(memory: Memory) -> None:
    """[4] Full, for up to 50 results. The example: the newest as a dialogue, the others behind an id."""
    say(memory, EARLIER, "earlier")
    say(memory, [ASKED, ANSWERED], "now")
    context = memory.prepare_context(ABOUT, "now")
    assert context.index_form == "full"
    assert f"Recent Conversation:\n[user]: {ASKED}\n[assistant]: {ANSWERED}" in context.text
    history = context.text.partition("Historical Context:")[2]
    assert re.search(r"^\[\w{8}\] .*OAuth2 implementation details\.\.\.$", history, re.MULTILINE)


def test_an_overview_shows_times_and_ways_on(memory: Memory) -> None:
    """[4] Hierarchical, for more than 5,000 results. Asked for by name: how much was said when, and how to go on."""
    say(memory, [ASKED, ANSWERED, *EARLIER] * 20, start=datetime(2020, 10, 15, tzinfo=UTC))
    text = memory.prepare_context(ABOUT, config=IndexConfig(index_strategy="hierarchical")).text
    assert re.search(r"^Temporal Overview:\n2020: 80 messages$", text, re.MULTILINE)
    navigation = text.partition("Navigation:")[2]
    assert "get_period_messages(" in navigation
    assert "vector_search(query, limit)" in navigation


@pytest.fixture
def clusters(memory: Memory) -> list[tuple[str, int]]:
    """The handles that a clustered context names, each with how many messages it says."""
    subjects = {
        "auth": "OAuth2 token refresh for client {0} uses JWT signatures and rotation number {0}.",
        "data": "Database table {0} keeps bookings in Postgres with index number {0}.",
        "deploy": "Container {0} is deployed by nginx behind the proxy on port {0}.",
    }
    for name, line in subjects.items():
        say(memory, [line.format(number) for number in range(30)], name)
    text = memory.prepare_context(
        "How do OAuth2 tokens, the database of bookings and the nginx proxy fit together?",
        config=IndexConfig(index_strategy="clustered", recent_window_size=0),
        budget=4_000,
    ).text
    shown = re.findall(r'Cluster: "[^"]+" \((\d+) messages\)\n(?:.*\n)*?Retrieve with: get_cluster\("([^"]+)"\)', text)
    return [(handle, int(count)) for count, handle in shown]


def test_clusters_are_shown_with_what_opens_them(clusters: list[tuple[str, int]]) -> None:
    """[4] Clustered, for up to 5,000 results. A name, how many messages there are, and the call that opens them."""
    assert len(clusters) >= 2


def test_a_cluster_is_whole_and_shown_once(memory: Memory, clusters: list[tuple[str, int]]) -> None:
    """[4] Clustered, for up to 5,000 results. What is alike is one cluster, however many messages there are of it."""
    assert len(clusters) == 3
    assert min(count for _, count in clusters) > 20


def test_a_cluster_opens_as_many_messages_as_it_says(memory: Memory, clusters: list[tuple[str, int]]) -> None:
    """[4] Tool Interface: Cluster/group retrieval. The number beside the name is the number of messages."""
    assert {handle: len(memory.toolbox().get_cluster(handle, 100)) for handle, _ in clusters} == dict(clusters)


def test_the_configuration_of_the_typescript_example_is_taken() -> None:
    """[4] IndexConfig; the TypeScript example. Its names as they are written there, and the limits of its comments."""
    config = {
        "snippetLength": 100,
        "snippetStrategy": "semantic_core",
        "maxIndexTokens": 10000,
        "indexStrategy": "recent_plus_relevant",
        "clusteringThreshold": 0.85,
        "minClusterSize": 4,
        "recentWindowSize": 10,
        "chunkThreshold": 4000,
        "includeToolCalls": True,
    }
    wanted = IndexConfig(snippet_strategy="semantic_core", index_strategy="recent_plus_relevant", min_cluster_size=4)
    assert IndexConfig.of(config) == wanted
