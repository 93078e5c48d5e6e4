"""What is kept of a model belongs to questions that are there, and the techniques are those that `ask` uses."""

from __future__ import annotations

from pathlib import Path

import recollect
from benchmarks.datasets import SAMPLE_QUESTIONS, own_set
from benchmarks.expansion import BY_RULES, WITH_MODEL, Written, digest, written


def test_what_is_written_is_for_questions_that_are_asked() -> None:
    kept = written(SAMPLE_QUESTIONS / "expansions.jsonl")
    asked = {("sample", digest(q.text)) for history in own_set().histories for q in history.questions}
    ours = {key for key in kept if key[0] == "sample"}
    assert ours
    assert ours <= asked
    assert all(made.passage and made.queries for made in kept.values())


def test_every_technique_finds(tmp_path: Path) -> None:
    made = Written("We closed the crack in the hull with epoxy.", ("rowing boat repair", "hull crack"))
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        for text in ("We chose epoxy for the crack in the hull", "The garden needs water", "The boat leaks, and sinks"):
            memory.store_message(text, title=text)
        question = "how was the boat mended, and the garden watered?"
        search = memory.handle.read_search(question, limit=30, group_by="message", mode="instant")
        alone = memory.handle.searcher(search)
        for technique in (*WITH_MODEL.values(), *BY_RULES.values()):
            found = technique(memory, question, alone, made)
            ids = [hit.best.message.id for hit in found]
            assert ids
            assert len(ids) == len(set(ids))
