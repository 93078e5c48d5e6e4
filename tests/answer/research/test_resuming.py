"""What is interrupted is gone on with: nothing that a model has answered is asked again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.answer.research.saving import LENGTH
from recollect.answer.results import AnswerWords, Report
from recollect.errors import InvalidInput, NotFound
from recollect.memory import Memory
from recollect.record import Document
from tests.answer.research.conftest import PLAN, QUESTION, missing
from tests.exports import dump_of
from tests.models.language.wire_server import Says, WireServer
from tests.paths import ROOT

pytestmark = pytest.mark.slow

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
        if isinstance(event, AnswerWords) and "## Sources" in event.text:
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
        assert memory.upkeep.check() == []
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
    assert not any(gone.encode() in line for line in dump_of(memory).splitlines() if b'"type":"document"' in line)


def test_the_filters_of_the_first_run_hold(quiet: Memory) -> None:
    stream = quiet.research_stream(QUESTION, source="claude", until="2024-06")
    next(stream)
    stream.close()
    report = quiet.research(resume=True)
    assert report.citations
    assert {c.conversation.source for c in report.citations if c.conversation} == {"claude"}


def test_the_limits_that_are_given_hold_for_what_is_gone_on_with(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN]
    _begun(memory, rounds=3)
    server.script += [REPORT]
    report = memory.research(resume=True, rounds=1)
    assert len(server.bodies) == 2  # nothing was looked for again
    assert report.usage.calls == 2


def test_without_others_the_limits_of_the_first_run_hold(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN]
    _begun(memory, rounds=1)
    server.script += [REPORT]
    memory.research(resume=True)
    assert len(server.bodies) == 2


def test_another_question_and_other_filters_are_refused(quiet: Memory) -> None:
    _begun(quiet)
    for given in ({"source": "claude"}, {"since": "2024"}, {"mode": "instant"}, {"question": "sourdough"}):
        with pytest.raises(InvalidInput, match="begun with"):
            quiet.research(resume=True, **given)  # type: ignore[arg-type]
    assert quiet.research(resume=True).known


def test_dates_are_told_from_the_day_of_the_first_run(store: Path) -> None:
    now = [datetime(2024, 2, 10, tzinfo=UTC)]
    with recollect.open(store, background=False) as memory:
        memory.handle.clock = lambda: now[0]
        _begun(memory, since="last month")
        now[0] += timedelta(minutes=1)
        _begun(memory, "sourdough hydration since:yesterday")
        now[0] = datetime(2026, 2, 10, tzinfo=UTC)
        newest, first = memory.reports()
        for saved, begins in ((first, datetime(2024, 1, 1)), (newest, datetime(2024, 2, 9))):
            run = memory._answering.desk.unfinished(saved.id)
            assert (
                memory._answering.research_search(run).filter.since
                == begins.replace(tzinfo=UTC).timestamp() * 1_000_000
            )


def test_one_at_a_time_goes_on_so_that_nothing_is_paid_for_twice(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN]
    stream = memory.research_stream(QUESTION)
    next(stream)
    (working,) = memory.reports()
    assert working.under_way
    for resume in (True, working.id):
        with pytest.raises(InvalidInput, match="at work"):
            memory.research(resume=resume)
    assert len(server.bodies) == 1
    stream.close()
    (waiting,) = memory.reports()
    assert not waiting.under_way
    server.script += [missing(), REPORT]
    assert memory.research(resume=True).known


def test_two_that_resume_at_once_pay_once(memory: Memory, server: WireServer) -> None:
    server.script += [PLAN]
    _begun(memory)
    server.script += [missing(), REPORT]
    together = threading.Barrier(2)

    def go_on() -> str:
        together.wait()
        try:
            return memory.research(resume=True).title
        except (InvalidInput, NotFound) as problem:
            return type(problem).__name__

    with ThreadPoolExecutor(2) as pool:
        came = [one.result() for one in [pool.submit(go_on), pool.submit(go_on)]]
    assert "Database against deployment" in came
    assert len(server.bodies) == 3


def test_who_was_overtaken_writes_nothing(memory: Memory, server: WireServer) -> None:
    now = [datetime(2026, 2, 10, tzinfo=UTC)]
    memory.handle.clock = lambda: now[0]
    server.script += [PLAN]
    stream = memory.research_stream(QUESTION)
    next(stream)
    now[0] += 2 * LENGTH  # as if it had slept
    other = memory.research_stream(resume=True)
    next(other)
    server.script += [missing()]
    with pytest.raises(InvalidInput, match="at work"):
        list(stream)
    server.script += [missing(), REPORT]
    *_, report = other
    assert isinstance(report, Report)
    assert memory.document(report.id).content == report.text


def test_a_claim_is_renewed_while_the_work_goes_on(
    memory: Memory, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.answer.research.saving.LENGTH", timedelta(seconds=3))
    server.script += [PLAN]
    stream = memory.research_stream(QUESTION)
    next(stream)
    held, until = _held(memory), time.monotonic() + 60
    while _held(memory) == held and time.monotonic() < until:
        time.sleep(0.1)
    assert _held(memory)[0] == held[0]
    assert _held(memory)[1] > held[1]
    stream.close()
    assert not memory.reports()[0].under_way


def test_what_is_not_finished_is_forgotten_by_its_name(quiet: Memory) -> None:
    _begun(quiet)
    (waiting,) = quiet.reports()
    for name in (waiting.id[-6:], waiting.title):
        assert quiet.document(name, hidden_reports=True).id == waiting.id
    assert quiet.forget(waiting.id).documents == 1
    assert quiet.reports() == []
    assert quiet.upkeep.check() == []


def _begun(memory: Memory, question: str = QUESTION, **options: Any) -> None:
    """Research that was stopped after its plan."""
    stream = memory.research_stream(question, **options)
    next(stream)
    stream.close()


def _held(memory: Memory) -> Any:
    (waiting,) = memory.reports()
    with memory.handle.space.view() as view:
        (document,) = view.get(Document, [waiting.id])
    return document.metadata["research"]["held"]


def _shown(memory: Memory) -> list[Any]:
    """The messages that the research under way was made of."""
    (waiting,) = memory.reports()
    with memory.handle.space.view() as view:
        return [edge.target_id for edge in view.edges([waiting.id], ("DERIVES_FROM",), "out")]
