"""The index has the form that the number of results asks for [4], and what it names can be opened."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest

import recollect
from benchmarks.generator import write_openai
from recollect.answer.tools import TOOLS
from recollect.context import ToolNames
from recollect.context.index_forms import FormBlock, _by_vectors, in_blocks, temporal
from recollect.context.relevant import cut
from recollect.context.settings import IndexStrategy, form_for
from recollect.errors import InvalidInput
from recollect.memory import Memory
from recollect.record import NodeId
from recollect.search.recalling import Recalled

ASKED = "What was it about the settings that we changed for the slow start of the server?"
SIZES = {10: "full", 400: "snippet", 3_000: "clustered"}


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Memory]]:
    """Histories of several sizes. Read only."""
    folder, opened = tmp_path_factory.mktemp("sizes"), {}
    for size in SIZES:
        export = folder / f"{size}.jsonl"
        write_openai(export, size)
        opened[size] = recollect.open(folder / f"{size}.db", durable=False, background=False)
        opened[size].import_file(export)
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.mark.parametrize("size", SIZES)
def test_the_form_follows_the_number_of_results(memories: dict[int, Memory], size: int) -> None:
    context = memories[size].prepare_context(ASKED)
    assert context.index_form == SIZES[size] == form_for("adaptive", context.relevant)
    assert context.relevant <= size
    assert context.tokens <= 10_000


def test_every_strategy_can_be_asked_for(memories: dict[int, Memory]) -> None:
    forms = {
        strategy: memories[3_000].prepare_context(ASKED, config={"index_strategy": strategy}).index_form
        for strategy in ("adaptive", "recent_plus_relevant", "clustered", "hierarchical")
    }
    assert forms == {
        "adaptive": "clustered",
        "recent_plus_relevant": "snippet",
        "clustered": "clustered",
        "hierarchical": "hierarchical",
    }


@pytest.mark.parametrize("strategy", ["recent_plus_relevant", "clustered", "hierarchical"])
def test_all_that_is_named_can_be_opened(memories: dict[int, Memory], strategy: str) -> None:
    memory = memories[3_000]
    tools = memory.toolbox()
    text = memory.prepare_context(ASKED, config={"index_strategy": strategy}).text
    codes = re.findall(r"\[([0-9A-Z]{8})\]", text)
    assert len(codes) > 20
    for at in range(0, len(codes), 10):
        answer = tools.call("get_messages_by_ids", {"ids": codes[at : at + 10]})
        assert not answer.is_error
        assert "Not there" not in answer.text
    calls = re.findall(r"(get_cluster|get_topic_messages|get_conversation_thread)\(['\"]([^'\")]+)['\"]\)", text)
    named = {"get_cluster": "cluster_id", "get_topic_messages": "topic", "get_conversation_thread": "message_id"}
    assert calls or strategy == "recent_plus_relevant"
    for name, argument in calls:
        assert not tools.call(name, {named[name]: argument}).is_error


@pytest.mark.parametrize("strategy", ["clustered", "hierarchical"])
def test_a_cluster_opens_the_messages_that_it_counts(memories: dict[int, Memory], strategy: str) -> None:
    memory = memories[3_000]
    text = memory.prepare_context(ASKED, config={"index_strategy": strategy}).text
    described = [part.partition("get_cluster")[0::2] for part in re.split(r'\n(?=Cluster: "|")', text)]
    counted = [
        (re.findall(r'" \((\d+) messages|": (\d+) messages', head)[0], re.split("['\"]", handle)[1])
        for head, handle in described
        if handle
    ]
    assert len(counted) >= 3
    for count, handle in counted:
        members = memory.toolbox().get_cluster(handle)
        assert len(members) == int("".join(count))
        assert [m.id[-8:] for m in members] == handle.split(",")
        shown = memory.toolbox().call("get_cluster", {"cluster_id": handle, "limit": 2})
        assert f'get_cluster(cluster_id="{handle}", offset=2)' in shown.text


def test_a_cluster_opens_what_is_left_of_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        ids = [memory.store_message(f"The walnut tree, part {n}", "user").id for n in range(4)]
        handle = ",".join(one[-8:] for one in ids)
        memory.delete(ids[1])
        assert [m.id for m in memory.toolbox().get_cluster(handle)] == [ids[0], ids[2], ids[3]]
        with pytest.raises(recollect.NotFound):
            memory.toolbox().get_cluster("no,such")


def test_topics_that_the_background_has_found_are_the_clusters(tmp_path: Path) -> None:
    export = tmp_path / "export.jsonl"
    write_openai(export, 500)
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        memory.import_file(export)
        memory.upkeep.consolidate()
        labels = {topic.label for topic in memory.topics(500)}
        text = memory.prepare_context(ASKED, config={"index_strategy": "clustered"}).text
        shown = set(re.findall(r'Cluster: "([^"]+)"', text))
        assert shown & labels
        tools = memory.toolbox()
        for handle in re.findall(r'get_cluster\("([^"]+)"\)', text):
            assert not tools.call("get_cluster", {"cluster_id": handle}).is_error
        topic = memory.topics()[0]
        assert memory.toolbox().cluster_summary(topic.id) == topic.summary


def test_every_cluster_says_what_it_comes_down_to(memories: dict[int, Memory]) -> None:
    memory = memories[3_000]  # without topics
    text = memory.prepare_context(ASKED, config={"index_strategy": "clustered"}).text
    told = re.findall(r"^Cluster: .+\n(?:Period: .+\n)?Summary: (.+)$", text, re.MULTILINE)
    assert len(told) == len(re.findall("^Cluster: ", text, re.MULTILINE)) > 1
    assert all(20 < len(one) <= 240 for one in told)
    handle = re.findall(r'get_cluster\("([^"]+)"\)', text)[0]
    assert memory.toolbox().call("get_cluster", {"cluster_id": handle}).text.count("Summary: ") == 1
    assert memory.toolbox().cluster_summary(handle)


@pytest.mark.parametrize("strategy", ["first", "semantic_core", "summary"])
def test_a_snippet_is_a_line_of_the_message_and_no_longer_than_asked_for(
    memories: dict[int, Memory], strategy: str
) -> None:
    config = {"snippet_strategy": strategy, "snippet_length": 60, "index_strategy": "recent_plus_relevant"}
    context = memories[400].prepare_context(ASKED, budget=2_000, config=config)
    lines = re.findall(r'^- \[[0-9A-Z]{8}\] \S+ "(.+)"$', context.text, re.MULTILINE)
    assert len(lines) >= 3
    assert all(len(line) <= 60 for line in lines)


def test_the_strategies_choose_different_lines(memories: dict[int, Memory]) -> None:
    texts = {
        strategy: memories[400]
        .prepare_context(ASKED, config={"snippet_strategy": strategy, "index_strategy": "recent_plus_relevant"})
        .text
        for strategy in ("first", "semantic_core", "summary")
    }
    assert len(set(texts.values())) == 3


def test_a_snippet_is_cut_before_a_word() -> None:
    assert cut("one two three four", 10) == "one two…"
    assert cut("one\n two", 10) == "one two"
    assert cut("abcdefghijkl", 5) == "abcd…"


def test_of_an_index_nothing_is_made_behind_what_does_not_fit() -> None:
    made = list[int]()

    def batches() -> Iterator[list[FormBlock]]:
        for number in range(9):
            made.append(number)
            yield [FormBlock((f"{number} {name}",), (NodeId(f"{number}{name}"),)) for name in "abc"]

    part = in_blocks(batches(), 16)
    assert made == [0, 1]
    assert part is not None
    assert part.ids == ("0a", "0b", "0c", "1a", "1b", "1c")[: len(part.ids)]
    assert part == in_blocks([[block for batch in batches() for block in batch]], 16)


# --- clusters ------------------------------------------------------------------------------------------------------
def test_messages_alike_form_a_cluster_whatever_the_embedder(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    centres = chance.normal(size=(3, 64))
    rows = [centres[n % 3] * 2 + chance.normal(size=64) * 0.4 for n in range(30)]
    found = [_recalled(n, row) for n, row in enumerate(rows)]
    made = _by_vectors(found, 0.7, 3)
    assert [{int(one.id) % 3 for one in group.members} for group in made[:3]] == [{0}, {1}, {2}]
    assert [len(group.members) for group in made[:3]] == [10, 10, 10]
    assert _by_vectors(found[:2], 0.7, 3) == []
    large = _by_vectors([_recalled(n, centres[0] + chance.normal(size=64) * 0.01) for n in range(60)], 0, 3)
    assert [len(group.members) for group in large] == [60]


def _recalled(number: int, row: np.ndarray) -> Recalled:
    unit = (row / np.linalg.norm(row)).astype(np.float32)
    return Recalled(NodeId(str(number)), None, "", "user", None, "said", None, "text", "text", 0, 1, 0.0, unit)


# --- the overview of times -----------------------------------------------------------------------------------------
def test_the_overview_counts_every_message_that_was_said_before() -> None:
    now = datetime(2025, 3, 12, tzinfo=UTC)  # a Wednesday
    days = {day(2025, 3, 12): 5, day(2025, 3, 10): 4, day(2025, 3, 1): 3, day(2025, 1, 5): 7, day(2021, 7, 1): 2, -1: 6}
    assert temporal(days, now) == [
        "Today: 5 messages",
        "This Week: 9 messages",
        "This Month: 12 messages",
        "2025-01: 7 messages",
        "2021: 2 messages",
        "Without a date: 6 messages",
    ]


def day(year: int, month: int, of_month: int) -> int:
    return (datetime(year, month, of_month, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days


def test_the_days_of_a_view_are_those_of_its_messages(tmp_path: Path) -> None:
    chance = Random(3)
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        counts: dict[int, int] = {}
        for n in range(60):
            moment = datetime(2024, 1, 1 + chance.randrange(28), 12, tzinfo=UTC)
            memory.store_message(f"Message {n}", conversation_id="talk", timestamp=moment, id=f"m{n}")
            if n % 7:
                counts[day(2024, 1, moment.day)] = counts.get(day(2024, 1, moment.day), 0) + 1
            else:
                memory.delete(f"m{n}")
        with memory.handle.space.view() as view:
            assert view.vocabulary().days() == dict(sorted(counts.items()))


# --- the configuration ---------------------------------------------------------------------------------------------
def test_the_configuration_has_the_names_and_defaults_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.context import IndexConfig

    config = IndexConfig()
    assert (config.snippet_length, config.max_index_tokens, config.recent_window_size) == (100, 10_000, 10)
    assert (config.clustering_threshold, config.chunk_threshold, config.include_tool_calls) == (0.85, 4_000, True)
    assert config.chunk_overlap is None  # 200, of small chunks a twentieth
    for name, value in {
        "INDEX_SNIPPET_LENGTH": "80",
        "INDEX_MAX_TOKENS": "5000",
        "INDEX_RECENT_WINDOW": "6",
        "INDEX_CLUSTERING_THRESHOLD": "0.5",
        "INDEX_CHUNK_THRESHOLD": "2000",
        "INDEX_CHUNK_OVERLAP": "150",
        "INDEX_INCLUDE_TOOL_CALLS": "false",
    }.items():
        monkeypatch.setenv(name, value)
    assert IndexConfig.of(None) == IndexConfig(
        snippet_length=80,
        max_index_tokens=5_000,
        recent_window_size=6,
        clustering_threshold=0.5,
        chunk_threshold=2_000,
        chunk_overlap=150,
        include_tool_calls=False,
    )
    assert IndexConfig.of({"snippetLength": 120}).snippet_length == 120  # what is given outranks the environment


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"snippet_lenght": 10}, "no 'snippet_lenght'"),
        ({"snippet_length": 0}, "snippet_length"),
        ({"clustering_threshold": 1.5}, "clustering_threshold"),
        ({"index_strategy": "magic"}, "index_strategy"),
        ({"snippet_strategy": "last"}, "snippet_strategy"),
        ({"include_tool_calls": "perhaps"}, "include_tool_calls"),
        ({"max_index_tokens": 10}, "max_index_tokens"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(given: dict[str, object], told: str) -> None:
    from recollect.context import IndexConfig

    with pytest.raises(InvalidInput, match=told):
        IndexConfig.of(given)


def test_tool_results_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        asked = memory.store_message("Look up the wind in Tromsø, please.", conversation_id="talk")
        memory.store_tool_call("weather", '{"city": "Tromsø"}', "Wind in Tromsø: gale, 21 m/s", asked.id)
        for n in range(30):
            memory.store_message(f"Something else {n}", conversation_id="talk")
        assert "21 m/s" in memory.prepare_context("wind Tromsø", "talk").text
        without = memory.prepare_context("wind Tromsø", "talk", config={"include_tool_calls": False})
        assert "21 m/s" not in without.text


@pytest.mark.parametrize("strategy", ["adaptive", "recent_plus_relevant", "clustered", "hierarchical"])
def test_each_form_names_the_tools_of_the_model_alone(memories: dict[int, Memory], strategy: IndexStrategy) -> None:
    """I8."""
    names = ToolNames(
        message="fetch",
        messages="fetch",
        around="fetch",
        period="timeline",
        topic="search",
        cluster="",
        search="search",
    )
    own, usual = (
        memories[400].prepare_context(ASKED, budget=4_000, config={"index_strategy": strategy}, tools=tools)
        for tools in (names, True)
    )
    assert any(tool.name in usual.text for tool in TOOLS)
    assert not [tool.name for tool in TOOLS if tool.name in own.text]
