"""The commands `recollect worker` and `recollect tasks`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

import recollect
from recollect.derive.tasks.queue import CONVERSATION
from recollect.derive.worker import Done
from recollect.engines.sqlite.engine import SQLiteStore
from recollect.faces.present.status import task_counts
from recollect.memory.upkeep import Upkeep
from recollect.record import Namespace
from recollect.store import Space
from tests.faces.conftest import CommandLine
from tests.faces.terminal import COMMAND
from tests.paths import ROOT


@pytest.fixture
def place(home: Path) -> Path:
    return home / "recollect" / "memory.db"


def space_of(place: Path, namespace: str = "default") -> Space:
    return SQLiteStore(place).space(Namespace(namespace))


def kill_tasks(place: Path, why: str) -> list[str]:
    """As a worker that has given up."""
    space = space_of(place)
    leases = space.claim("w", [CONVERSATION], 100, timedelta(minutes=1))
    for lease in leases:
        space.release(lease, why, None)
    return [lease.task.id for lease in leases]


def test_a_worker_does_what_is_left_to_do_in_all_namespaces(run: CommandLine) -> None:
    run("remember", "The spare key is with Ana")
    run("remember", "--namespace", "work", "The release is on Monday")
    assert run("tasks").out.startswith("1 to do\n")
    assert run("worker", "--once", "--namespace", "work").out.startswith("Consolidated 1 message (")
    assert run("tasks", "--namespace", "work").out.startswith("Nothing to do now")
    assert run("tasks").out.startswith("1 to do\n")
    assert run("worker", "--once", "--json").document["messages"] == 1
    ran = run("worker", "--once")
    assert (ran.code, ran.out) == (0, "Nothing to do.\n")
    assert run("stats", "--json").document["quality"] == {"made": 1, "wanted": 1}


def test_an_interrupted_worker_does_not_say_that_nothing_is_left(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(self: Upkeep, *, stop: Event, **_: object) -> Done:
        stop.set()
        return Done()

    run("remember", "The spare key is with Ana")
    monkeypatch.setattr(Upkeep, "work", work)
    ran = run("worker", "--once")
    assert (ran.code, ran.out) == (130, "")
    assert "To continue: recollect worker --once" in ran.err


def test_without_a_memory_there_is_nothing_to_work_on(run: CommandLine) -> None:
    for words in (("worker", "--once"), ("tasks",), ("tasks", "--retry")):
        ran = run(*words)
        assert ran.code == 1
        assert ran.err.startswith("No memory ")
    assert run("worker", "--stop").out == "No background worker is running.\n"


def test_what_failed_is_listed_with_its_reason_and_tried_again_by_command(run: CommandLine, place: Path) -> None:
    run("remember", "one")
    run("remember", "two")
    first, second = kill_tasks(place, "ValueError in facts.py:12")
    ran = run("tasks")
    assert ran.out.startswith("2 failed\n")
    assert "ValueError in facts.py:12" in ran.out
    assert "recollect tasks --retry" in ran.out
    assert "2 tasks failed" in run().out
    assert "tasks that failed  2" in run("stats").out
    assert run("worker", "--once").code == 1
    assert run("tasks", "--retry", first[-6:].lower()).out.startswith("1 task will be tried again")
    assert run("tasks", "--json").document | {"tasks": 0} == {
        "due": 1,
        "leased": 0,
        "later": 0,
        "dead": 1,
        "tasks": 0,
        "more": False,
    }
    assert run("tasks", "--retry", first).code == 1  # it has not failed any more
    assert run("tasks", "--retry", "--json").document == {"retried": 1}
    assert run("tasks", "--retry").out == "No task has failed.\n"
    assert run("worker", "--once").code == 0
    assert second


def test_wrong_words_are_told(run: CommandLine) -> None:
    run("remember", "one")
    for words, said in (
        (("tasks", "7Q2KAB"), "recollect tasks --retry 7Q2KAB"),
        (("tasks", "--retry", "7Q2KAB"), "No failed task has the ID 7Q2KAB."),
        (("tasks", "-n", "0"), "0 is out of range"),
        (("worker", "--stop", "--once"), "--stop cannot be combined"),
        (("worker", "--once", "--model", "nonsense"), "nonsense"),
    ):
        ran = run(*words)
        assert ran.code
        assert said in ran.err, words


def test_what_a_model_will_take_is_told_before_it_is_asked(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        run(
            "remember", f"I moved to Porto in {2000 + number}", *(("--in", "Moves") if number else ("--title", "Moves"))
        )
    monkeypatch.setenv("RECOLLECT_DAILY_CALLS", "2")
    ran = run("worker", "--once", "--model", "openai:none@http://127.0.0.1:9/v1")
    assert re.search(r"about \d+ calls, [\d,]+ tokens to send", ran.err)
    assert re.search(r"this takes about \d days", ran.err)
    assert ran.code == 0  # nobody answers there: that waits


def test_a_long_list_is_cut(run: CommandLine) -> None:
    for number in range(4):
        run("remember", f"number {number}")
    ran = run("tasks", "-n", "2")
    assert len(ran.out.splitlines()) == 3
    assert "-n 4" in ran.err
    assert run("tasks", "-n", "2", "--json").document["more"] is True


def test_tasks_for_later_are_listed_with_the_reason(run: CommandLine, place: Path) -> None:
    run("remember", "one")
    space = space_of(place)
    (lease,) = space.claim("w", [CONVERSATION], 1, timedelta(minutes=1))
    assert run("tasks").out.startswith("1 in work\n")
    space.release(lease, "Nobody answers.", datetime.now(UTC) + timedelta(hours=1))
    ran = run("tasks")
    assert ran.out.startswith("1 to do\n")
    assert "Nobody answers." in ran.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_works_until_it_is_told_to_stop(home: Path, place: Path, number: signal.Signals) -> None:
    with recollect.open(place) as memory:
        memory.store_message("one", conversation_id="c")
        process = subprocess.Popen(
            [*COMMAND, "worker"],
            cwd=ROOT,
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for text in ("two", "three"):
            until = time.monotonic() + 60
            while (
                task_counts(memory, memory.upkeep.stats())["due"]
                or memory.upkeep.stats().quality < memory.upkeep.stats().said_passages
            ):
                assert time.monotonic() < until
                time.sleep(0.1)
            memory.store_message(text, conversation_id="c")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "Working. Ctrl-C to stop.\n")
    assert out.startswith("Consolidated ")


def test_what_cannot_work_is_said_at_once(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run("remember", "the spare key is with Ana", "--no-background")
    ran = run("worker", "--once", "--model", "anthropic:claude-haiku-5-5")
    assert (ran.code, ran.out) == (2, "")
    assert "needs an API key" in ran.err
    ran = run("worker", "--once", "--namespace", "typo")
    assert ran.code == 1
    assert "There is no namespace typo in this memory. There are: default." in " ".join(ran.err.split())
