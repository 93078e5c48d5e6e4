"""What is interrupted is gone on with: nothing that a model has answered is asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.chat.events import Words
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from tests.model.wire_server import Says, WireServer
from tests.paths import ROOT
from tests.research.conftest import PLAN, QUESTION, missing

REPORT = Says("# Report\n\nThree [1].")


def test_whoever_stops_in_the_middle_can_go_on(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN]
    stream = memory.research_stream(QUESTION, since="2023", rounds=3)
    assert next(stream).name == "planned"  # type: ignore[union-attr]
    stream.close()
    (waiting,) = memory.reports()
    assert (waiting.finished, waiting.question) == (None, QUESTION)
    assert list(memory.documents()) == []
    server.script += [missing(), REPORT]
    report = memory.research(resume=True)
    assert report.id == waiting.id
    assert report.question == QUESTION
    assert len(server.bodies) == 3
    with pytest.raises(NotFound):
        memory.research(resume=True)
    with pytest.raises(InvalidInput):
        memory.research(resume=report.id)


def test_who_stops_at_the_last_words_has_the_report_that_was_paid_for(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN, missing(), REPORT]
    stream = memory.research_stream(QUESTION)
    for event in stream:
        if isinstance(event, Words) and "## Sources" in event.text:
            break
    stream.close()
    (kept,) = memory.reports()
    assert kept.finished is not None
    assert "Three [1]." in memory.document(kept.id).content


def test_research_is_named_by_the_end_of_its_id(quiet: Memory) -> None:
    for question in (QUESTION, "sourdough hydration"):
        stream = quiet.research_stream(question)
        next(stream)
        stream.close()
    newest, first = quiet.reports()
    assert quiet.research(resume=first.id[-6:].lower()).question == QUESTION
    assert quiet.research(resume=True).question == newest.question


@pytest.mark.parametrize("at", [0, 1, 2], ids=["the plan", "what is missing", "the report"])
def test_a_kill_loses_no_answer_that_was_paid_for(store: Path, server: WireServer, at: int, home: Path) -> None:
    told = [PLAN, missing("backups", queries=(("backup restore drill", "Backups"),)), REPORT]
    server.script += [*told[:at], Says(fault="silence")]
    spec = f"openai:test@{server.root}/v1"
    code = f"import recollect; recollect.open({str(store)!r}, model={spec!r}, background=False).research({QUESTION!r})"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "OPENAI_API_KEY": "k"})
    try:
        until = time.monotonic() + 60
        while len(server.bodies) <= at and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        assert len(server.bodies) == at + 1
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    server.script.clear()
    server.script += told[at:]
    with recollect.open(store, model=spec, background=False) as memory:
        if at == 0:
            assert memory.reports() == []  # nothing was learned yet
            report = memory.research(QUESTION)
        else:
            report = memory.research(resume=True)
        assert report.known
        assert [part.heading for part in report.parts] == ["The database", "The deployment", "Backups"]
        assert memory.check() == []
    assert len(server.bodies) == len(told) + 1  # the one that was killed, and each of the others once


def test_what_is_deleted_meanwhile_is_in_no_report(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN, missing()]
    stream = memory.research_stream(QUESTION)
    for event in stream:
        if getattr(event, "name", "") == "writing":
            break
    found = set(_shown(memory))
    gone = next(iter(found))
    memory.forget(gone)
    assert memory.reports() == []  # what was learned of it goes as well
    server.script += [REPORT]
    with pytest.raises(NotFound):
        list(stream)
    assert memory.reports() == []
    assert gone not in json.dumps([document.content for document in memory.documents()])


def test_the_filters_of_the_first_run_hold(quiet: Memory) -> None:
    stream = quiet.research_stream(QUESTION, source="claude", until="2024-06")
    next(stream)
    stream.close()
    report = quiet.research(resume=True)
    assert report.citations
    assert {c.conversation.source for c in report.citations if c.conversation} == {"claude"}


def _shown(memory: Memory) -> list[Any]:
    """The messages that the research under way was made of."""
    (waiting,) = memory.reports()
    with memory._space.view() as view:
        return [edge.target_id for edge in view.edges([waiting.id], ("DERIVES_FROM",), "out")]
