"""What an export holds is found in the memory by any of its phrases: the made fixtures, with the truth beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from recollect.memory import Memory
from recollect.record import Message
from recollect.search.results.result import SearchResults
from recollect.store.passages import SAID_KINDS
from tests.exports import imported
from tests.paths import SHARED

MADE = SHARED / "fixtures" / "made"
FORMATS = ["chatgpt", "chatgpt-slim", "claude-ai", "claude-ai-2026", "claude-code", "codex", "openai-jsonl"]

#: These give their messages no ids; there the phrase itself says which message it is.
WITHOUT_IDS = {"codex", "openai-jsonl"}

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")


@dataclass(frozen=True)
class Sought:
    """A phrase, the kind of the message that holds it, and how to know that message."""

    format: str
    phrase: str
    kind: str
    beside: bool  # in what hangs on the message rather than in its words
    id: str | None

    def is_in(self, message: Message) -> bool:
        return self.phrase in message.content if self.format in WITHOUT_IDS else message.source_id == self.id


def truth(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((MADE / f"{name}.truth.json").read_text("utf-8"))
    return read


def sought(name: str) -> Iterator[Sought]:
    for conversation in truth(name)["conversations"]:
        for message in conversation["messages"]:
            for number, phrase in enumerate([message["phrase"], *message.get("also", ())]):
                if phrase:
                    yield Sought(name, phrase, message["kind"], number > 0, message["id"])


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Memory]:
    """A memory for each export, and one with all of them."""
    folder = tmp_path_factory.mktemp("made")
    exports = {name: MADE / truth(name)["path"] for name in FORMATS}
    alone = {name: imported(folder / f"{name}.db", export) for name, export in exports.items()}
    return alone | {"all": imported(folder / "all.db", *exports.values())}


def search(memory: Memory, phrase: str, kind: str = "") -> SearchResults:
    return memory.search(phrase, group_by="message", limit=5, kind=kind or ())


def missed(memory: Memory, wanted: list[Sought], kind: str = "") -> list[Sought]:
    """Those that are not the first hit for their phrase, or beside it where a result repeats an agent."""
    return [one for one in wanted if not leads(memory, search(memory, one.phrase, kind), one)]


def leads(memory: Memory, results: SearchResults, one: Sought) -> bool:
    messages = [m for hit in results for m in (hit.best.message, *memory.messages(hit.best.copies))]
    leading = takewhile(lambda message: one.is_in(message) or one.phrase in message.content, messages)
    return any(one.is_in(message) for message in leading)


def of_store(name: str) -> list[Sought]:
    return [one for each in (FORMATS if name == "all" else [name]) for one in sought(each)]


STORES = [*FORMATS, "all"]


@pytest.mark.parametrize("name", STORES)
def test_everything_that_was_said_is_the_first_hit_for_its_phrase(memories: dict[str, Memory], name: str) -> None:
    said = [one for one in of_store(name) if one.kind == "said" and not one.beside]
    assert said
    assert missed(memories[name], said) == []


@pytest.mark.parametrize("name", STORES)
def test_what_nobody_said_is_the_first_hit_when_all_is_asked_for(memories: dict[str, Memory], name: str) -> None:
    assert missed(memories[name], [one for one in of_store(name) if one.kind != "said"], kind="all") == []


@pytest.mark.parametrize("name", STORES)
def test_what_hangs_on_a_message_leads_to_it(memories: dict[str, Memory], name: str) -> None:
    """Attachments, artifacts, thinking, the results of its tools."""
    assert missed(memories[name], [one for one in of_store(name) if one.beside], kind="all") == []


@pytest.mark.parametrize("name", STORES)
def test_what_nobody_said_never_stands_before_what_was_said(memories: dict[str, Memory], name: str) -> None:
    for one in of_store(name):
        hits = [hit.best for hit in search(memories[name], one.phrase)]
        unsaid = [hit.why.found_in not in SAID_KINDS for hit in hits]
        holding = [at for at, hit in enumerate(hits) if hit.why.words and not unsaid[at]]
        assert not any(unsaid[: max(holding, default=0)]), one


@pytest.mark.parametrize("name", FORMATS)
def test_the_report_counts_what_the_export_holds(memories: dict[str, Memory], name: str, tmp_path: Path) -> None:
    counts = truth(name)["counts"]
    report = memories[name].import_file(MADE / truth(name)["path"])  # once more: nothing is new, all is counted
    assert (report.written.new, report.written.changed) == (0, 0)
    assert report.stored.conversations == report.written.same == counts["conversations"]
    assert report.stored.by_kind["said"] == sum(counts["said"].values())
    assert report.stored.messages >= counts["messages"]
    assert not [problem for problem in report.problems if problem.lost]


@pytest.mark.parametrize("name", STORES)
def test_every_invariant_holds(memories: dict[str, Memory], name: str) -> None:
    assert memories[name].upkeep.check() == []


@pytest.mark.parametrize("name", FORMATS)
def test_the_active_path_holds_what_it_should(memories: dict[str, Memory], name: str) -> None:
    memory = memories[name]
    rows = memory.conversations(limit=1000)
    messages = [message for row in rows for message in memory.conversation(row.conversation.id).messages]
    said = [message for message in messages if message.kind.value == "said" and message.active]
    assert len(said) == truth(name)["counts"]["said_on_active_path"]
