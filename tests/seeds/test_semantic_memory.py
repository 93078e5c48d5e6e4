"""[0] Semantic memory for conversations: each promise with the heading that it stands under.

Elsewhere: HyDE and query expansion in tests/answer/ask/test_understand.py, the plan, the loop and the report of a model
in tests/answer/research, what is stored of them in tests/memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import recollect
from recollect.answer.intents import Intent, read_intent
from recollect.memory import Memory
from recollect.testing import FakeModel
from recollect.text.sentences import window_spans
from tests.seeds.conftest import say

PLANNING = "Full Stack App Planning"
COMPARISON = "Compare my database design decisions with my deployment strategy"
RELATIONS = [
    ("Next.js", "IMPROVES", "SEO"),
    ("Next.js", "REPLACES", "React"),
    ("React", "REJECTED_FOR", "SSR limitations"),
]
FIVE = ["Which clay?", "Stoneware.", "Which glaze?", "Celadon.", "Which cone?"]


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("nginx reverse proxy configuration", 41, 50),
        ("nginx reverse proxy", 41, 50),
        ("dark mode styling", 41, 50),
        ("JWT authentication setup", 11, 20),
    ],
)
def test_a_detail_is_found_in_its_part_of_a_long_conversation(
    archive: Memory, query: str, first: int, last: int
) -> None:
    """[0] Why Standard RAG Fails for Conversations; Results: Finding the Needle. One topic of five is not diluted."""
    hit = archive.search(query)[0]
    assert (hit.conversation.title, hit.message_count) == (PLANNING, 50)
    assert first <= hit.best.message.position + 1 <= last
    assert hit.window.start <= hit.best.message.position <= hit.window.end


def test_a_conversation_is_found_by_what_it_is_about(archive: Memory) -> None:
    """[0] Results: Finding the Needle. The name of the whole finds it."""
    assert archive.search("full stack app planning")[0].conversation.title == PLANNING


@pytest.mark.parametrize("query", ["how did I deploy the shop", "database schema design", "nginx configuration"])
def test_an_idea_finds_its_conversation_near_the_top(archive: Memory, query: str) -> None:
    """[0] The Conversation Graveyard Problem. Who remembers what it was about needs no exact words."""
    assert PLANNING in [hit.conversation.title for hit in archive.search(query, limit=2)]


@pytest.mark.xfail(strict=True, reason="topic queries lack a signal of the conversation (D8)")
@pytest.mark.parametrize("query", ["how did I deploy the shop", "database schema design"])
def test_an_idea_finds_its_conversation_first(archive: Memory, query: str) -> None:
    """[0] How HyDE improves retrieval. The conversation about it comes before one that shares a word."""
    assert archive.search(query)[0].conversation.title == PLANNING


def test_windows_are_ten_messages_and_share_two() -> None:
    """[0] Implementation: Dual-Level Indexing. The runs that its comment lists, the last one cut at the end."""
    assert window_spans(26) == [(0, 9), (8, 17), (16, 25)]
    assert window_spans(23) == [(0, 9), (8, 17), (16, 22)]


def test_what_spans_the_border_of_two_windows_is_found(memory: Memory) -> None:
    """[0] Implementation: Dual-Level Indexing. A question about messages 9 to 11 has both in one window."""
    lines = [f"We looked at bicycle number {number}." for number in range(20)]
    lines[9], lines[11] = "The harbour wants a sluice gate.", "The sluice gate comes from Antwerp."
    say(memory, lines)
    hit = memory.search("sluice gate Antwerp harbour")[0]
    assert hit.window.start <= 9
    assert hit.window.end >= 11
    assert {9, 11} <= {one.message.position for one in hit.messages}


@pytest.mark.parametrize(("lines", "made"), [(FIVE, 0), ([*FIVE, "Cone 6."], 1)])
def test_more_than_five_messages_have_a_summary(on_both: Memory, lines: Sequence[str], made: int) -> None:
    """[0] Putting It Together: The Ingestion Pipeline. Six messages are summed up, five are not; no key is needed."""
    say(on_both, lines)
    on_both.upkeep.consolidate()
    found = on_both.summaries(kind="conversation")
    assert [(one.conversation_id, len(one.covers), one.extractive) for one in found] == [("talk", 6, True)] * made


def test_each_intent_is_read_from_its_example() -> None:
    """[0] Intent Classification for Better Responses. The example beside each category, and those of the text."""
    examples = {
        "find that chat about databases": Intent.RETRIEVAL,
        "how do I configure Stripe webhooks?": Intent.QA,
        "what is a webhook?": Intent.QA,
        "Why did I choose React?": Intent.DECISION,
        "why did I choose Next.js?": Intent.DECISION,
        "show me the code for the upload path": Intent.CODE_LOOKUP,
        "summarize what I learned about glazes": Intent.SYNTHESIS,
        COMPARISON: Intent.SYNTHESIS,
    }
    assert {query: read_intent(query) for query in examples} == examples


def test_each_intent_answers_by_a_prompt_of_its_own(home: Path) -> None:
    """[0] Intent Classification for Better Responses. A model is told other things for each of the five."""
    model = FakeModel("Celadon [1].")
    with recollect.open(home / "memory.db", model=model, background=False) as memory:
        say(memory, FIVE)
        told = set()
        for intent in Intent:
            assert memory.ask("Which glaze?", intent=intent.value).model == "fake"
            told.add(model.prompts[-1].partition("RETRIEVED MESSAGES:")[0])
    assert len(told) == len(Intent)


def test_entities_and_relations_are_added_as_the_document_adds_them(memory: Memory) -> None:
    """[0] Building a Knowledge Graph; Graph Storage and Traversal. Its calls, word for word: the relation comes last,
    and types are those of its code.
    """
    memory.knowledge.add_entity("Next.js", "Technology")
    memory.knowledge.add_entity("SEO", "Concept")
    assert str(memory.knowledge.add_relationship("Next.js", "SEO", "IMPROVES")) == "Next.js --[IMPROVES]--> SEO"
    assert {entity.name for entity in memory.entities(type="Technology")} == {"Next.js"}
    types = ("Tool", "Technology", "Person", "Decision", "Concept", "Project", "Unknown")
    stored = [memory.knowledge.add_entity(f"Zx{one}", one).type for one in types]
    assert stored == ["technology", "technology", "person", "concept", "concept", "project", "concept"]
    assert memory.knowledge.edit_entity("SEO", type="TOOL").type == "technology"


def test_two_names_are_connected_by_the_shortest_path(on_both: Memory) -> None:
    """[0] Graph Storage and Traversal. The path of the example in words; what a relation names is made with it."""
    for source, relation, target in RELATIONS:
        on_both.knowledge.add_relationship(source, target, relation)
    assert {entity.name for entity in on_both.entities()} == {"Next.js", "SEO", "React", "SSR limitations"}
    (path,) = on_both.knowledge.paths("Next.js", "SSR limitations").paths
    assert str(path) == "Next.js --[REPLACES]--> React --[REJECTED_FOR]--> SSR limitations"
    (direct,) = on_both.knowledge.paths("Next.js", "SEO").paths
    assert str(direct) == "Next.js --[IMPROVES]--> SEO"


def test_where_no_path_is_there_are_neighbours(memory: Memory) -> None:
    """[0] Graph Storage and Traversal. Two names that nothing connects are told by what is next to them."""
    for source, relation, target in RELATIONS:
        memory.knowledge.add_relationship(source, target, relation)
    memory.knowledge.add_entity("Vue")
    found = memory.knowledge.paths("Next.js", "Vue")
    assert found.paths == ()
    assert {str(one) for one in found.neighbours} == {"Next.js --[IMPROVES]--> SEO", "Next.js --[REPLACES]--> React"}


def test_the_graph_is_there_when_the_memory_is_opened_again(tmp_path: Path) -> None:
    """[0] Graph Storage and Traversal; Local-First Storage. Entities, types and relations are in the file."""
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.knowledge.add_entity("Next.js", "technology")
        memory.knowledge.add_relationship("Next.js", "SEO", "IMPROVES")
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        assert memory.knowledge.entity("Next.js").type == "technology"
        assert [str(path) for path in memory.knowledge.paths("SEO", "Next.js").paths] == ["SEO <--[IMPROVES]-- Next.js"]


def test_the_graph_adds_to_what_a_question_is_answered_from(home: Path) -> None:
    """[0] Graph Storage and Traversal. "Why did I choose Next.js?" reaches the model with what the graph knows."""
    model = FakeModel("It improves SEO [1].")
    with recollect.open(home / "memory.db", model=model, background=False) as memory:
        said = say(memory, ["React or Next.js?", "Next.js renders on the server.", "Then I choose Next.js."])
        for source, relation, target in RELATIONS:
            memory.knowledge.add_relationship(source, target, relation, sources=[said[1].id])
        assert memory.ask("Why did I choose Next.js?").intent is Intent.DECISION
    assert "| Next.js IMPROVES SEO (said 2025-03-03)" in model.prompts[-1]
    assert "| Next.js REPLACES React" in model.prompts[-1]


def test_a_comparison_is_searched_by_its_sides(writable: Memory) -> None:
    """[0] Agentic Deep Research. The example: two to four searches, each step told, a report with headings and
    sources.
    """
    report = writable.research(COMPARISON)
    assert [part.query for part in report.parts[:2]] == ["database design decisions", "deployment strategy"]
    assert 2 <= len(report.parts) <= 4
    assert [step.name for step in report.steps] == ["planned", *["searched"] * len(report.parts), "writing"]
    assert {"## Database design decisions", "## Deployment strategy", "## Sources"} <= set(report.text.splitlines())
    assert {one.number for one in report.citations} == set(range(1, len(report.citations) + 1))


@pytest.mark.xfail(strict=True, reason="the best conversation of each side does not lead (D7)")
def test_a_comparison_quotes_what_each_side_is_about(writable: Memory) -> None:
    """[0] Agentic Deep Research. Of the deployment the report tells the proxy and the server."""
    deployment = writable.research(COMPARISON).text.partition("## Deployment strategy")[2].partition("\n## ")[0]
    assert "nginx" in deployment.casefold()
    assert "Hetzner" in deployment


@pytest.mark.xfail(strict=True, reason="words of the command are searched as words of the question (D7)")
def test_a_summary_is_of_the_conversations_about_its_subject(archive: Memory) -> None:
    """[0] Intent Classification for Better Responses. The command for a summary, about bread."""
    answer = archive.ask("summarize what I learned about bread")
    titles = {one.conversation.title for one in answer.citations if one.conversation}
    assert titles & {"Sourdough turning out flat", "Bassinage for wetter dough"}


@pytest.mark.xfail(strict=True, reason="a command line comes before the configuration (D9)")
def test_code_that_is_asked_for_is_shown_first(archive: Memory) -> None:
    """[0] Intent Classification for Better Responses. The command for code, about nginx."""
    answer = archive.ask("show me the code for the nginx config")
    assert answer.intent is Intent.CODE_LOOKUP
    block = answer.text.partition("```")[2].partition("```")[0]
    assert "proxy_pass" in block or "proxy-buffer-size" in block


def test_without_a_model_questions_are_answered_by_quotations(archive: Memory) -> None:
    """[0] Graceful Degradation. No key is needed: the answer quotes, and cites what it quotes."""
    answer = archive.ask("Why did I choose Next.js?")
    assert (answer.known, answer.model) == (True, None)
    first = answer.citations[0]
    assert first.quote == "OK decision: Next.js 14 with the app router, TypeScript strict."
    assert first.conversation is not None
    assert first.conversation.title == PLANNING


def test_a_conversation_is_one_result_however_many_windows_match(memory: Memory) -> None:
    """[0] Deduplication. Three windows match, one result comes, with the best of them."""
    say(memory, [f"The sluice gate {number} leaks again." for number in range(26)])
    say(memory, ["A sluice gate for the pond?", "A board will do."], "pond")
    found = memory.search("sluice gate leaks")
    assert [hit.conversation.id for hit in found] == ["talk", "pond"]
    assert (found[0].window.start, found[0].window.end) in window_spans(26)


def test_a_result_says_which_words_to_highlight(memory: Memory) -> None:
    """[0] Key Takeaways. What an interface needs to mark the match: window, message, place of the words."""
    say(memory, [*FIVE, "A cone 6 oxidation glaze."])
    shown = memory.search("oxidation glaze")[0].to_json()
    assert shown["window"] == {"start": 0, "end": 5}
    best = max(shown["messages"], key=lambda one: one["score"])
    assert best["index"] == 5
    assert [best["snippet"][start:end] for start, end in best["marks"]] == ["oxidation", "glaze"]
