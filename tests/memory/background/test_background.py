"""The worker that writing leaves behind: one a store, gone when nothing is due, and harmless whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.errors import InvalidInput
from recollect.faces.present.status import task_counts
from recollect.memory.background import process as background
from recollect.memory.background.process import (
    Lock,
    Starter,
    Taken,
    _is_python,
    environment_of,
    holder,
    is_working,
    lock_file,
    ring,
    rung,
)
from recollect.memory.settings import own_places
from recollect.runtime.files import read_address
from tests.faces.terminal import COMMAND
from tests.paths import ROOT

pytestmark = pytest.mark.slow

_HOLDS = """
import sys, time
from pathlib import Path
from recollect.memory.background.process import Lock
with Lock(Path(sys.argv[1])):
    time.sleep(60)
"""
_PATIENCE = 60.0  # seconds, on a slow machine


def until(what: Callable[[], bool], seconds: float = _PATIENCE) -> None:
    """Waits for something that a process does."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def workers(place: Path) -> list[int]:
    """The processes that work on a store, by what their environment says."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and b"recollect.memory.background" in (entry / "cmdline").read_bytes():
                names = (entry / "environ").read_bytes().split(b"\0")
                found += [int(entry.name)] if f"RECOLLECT_STORE={place}".encode() in names else []
        except OSError:
            continue
    return found


@pytest.fixture
def place(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A store's place in an empty home, where writing leaves workers behind; none outlives the test."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("processes are found in /proc")
    monkeypatch.setenv("RECOLLECT_BACKGROUND", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    store = tmp_path / "kept" / "memory.db"
    yield store
    for number in workers(store):
        os.kill(number, signal.SIGKILL)
    until(lambda: not workers(store))


def written(place: Path, *texts: str, background: bool | None = None) -> None:
    with recollect.open(place, background=background) as memory:
        for text in texts:
            memory.store_message(text, conversation_id="c")


def is_done(place: Path) -> bool:
    """Whether nothing is left to do, and nobody is doing it."""
    if workers(place):
        return False
    with recollect.open(place, background=False) as memory:
        counts = memory.upkeep.stats()
        left = task_counts(memory, counts)
    return not left["due"] and not left["leased"] and counts.quality == counts.said_passages > 0


def test_writing_leaves_a_worker_that_does_everything_and_ends(place: Path) -> None:
    written(place, "I am allergic to penicillin.", "The spare key is with Ana.")
    until(lambda: bool(workers(place)))
    until(lambda: is_working(place, own_places().state))
    (number,) = workers(place)
    assert os.getpriority(os.PRIO_PROCESS, number) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    assert os.getsid(number) != os.getsid(0)
    assert holder(lock_file(place, own_places().state)) == number
    until(lambda: is_done(place))
    assert not is_working(place, own_places().state)
    log = (own_places().state / "worker.log").read_text(encoding="utf-8")
    assert "messages=2" in log
    assert "penicillin" not in log


def test_the_command_line_leaves_one_as_well(place: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "RECOLLECT_STORE": str(place)}

    def command(*words: str) -> str:
        ran = subprocess.run([*COMMAND, *words], env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
        return ran.stdout + ran.stderr

    command("remember", "The spare key is with Ana", "--no-background")
    assert workers(place) == []
    assert "worker idle: 1 task to do" in command()
    command("remember", "The spare key is with Ana")
    until(lambda: is_working(place, own_places().state))
    assert "worker at work" in command()
    until(lambda: is_done(place))
    assert "worker idle\n" in command().replace(" - ", "\n")
    assert "quality mode: built" in command()


def test_none_is_left_where_it_is_not_wanted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(place, "one", background=False)
    with recollect.open(place) as memory:
        assert memory.search("one")
    monkeypatch.setenv("RECOLLECT_BACKGROUND", "0")
    written(place, "two")
    time.sleep(0.5)
    assert workers(place) == []
    written(place, "three", background=True)
    until(lambda: bool(workers(place)))


def test_a_handle_that_stays_open_leaves_one_after_some_seconds(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.memory.background.process._AFTER", 0.3)
    with recollect.open(place) as memory:
        memory.store_message("one", conversation_id="c")
        assert workers(place) == []
        until(lambda: is_done(place))
        memory.store_message("two", conversation_id="c")
        until(lambda: bool(workers(place)))
        until(lambda: is_done(place))


def test_of_two_that_are_started_at_once_one_stays(place: Path) -> None:
    written(place, "one", background=False)
    for _ in range(4):
        until(lambda: background.start(place))
    until(lambda: len(workers(place)) == 1)
    until(lambda: is_working(place, own_places().state))
    assert not background.start(place)  # it is there already
    until(lambda: is_done(place))


def test_killed_at_any_moment_the_next_one_goes_on(place: Path) -> None:
    written(place, *(f"message {n} of the tide" for n in range(300)), background=False)
    for seconds in (0.2, 1.2, 1.5, 1.8, 2.2, 2.6):
        until(lambda: background.start(place))
        time.sleep(seconds)
        for number in workers(place):
            os.kill(number, signal.SIGKILL)
        until(lambda: not workers(place))
        with recollect.open(place, background=False) as memory:
            assert memory.upkeep.check() == []
    until(lambda: background.start(place))
    until(lambda: is_working(place, own_places().state))


@pytest.mark.long
def test_what_a_killed_one_held_is_taken_over(place: Path) -> None:
    written(place, *(f"message {n} of the tide" for n in range(100)), background=False)
    until(lambda: background.start(place))
    until(lambda: is_working(place, own_places().state))
    time.sleep(1.0)
    os.kill(workers(place)[0], signal.SIGKILL)
    until(lambda: not workers(place))
    until(lambda: background.start(place))
    until(lambda: is_done(place), 300)


def test_it_hears_of_what_is_written_while_it_is_about_to_go(place: Path) -> None:
    written(place, "one")
    until(lambda: is_working(place, own_places().state))
    number = workers(place)[0]
    for text in ("two", "three", "four"):
        time.sleep(1.7)
        written(place, text)
    assert workers(place) == [number]  # the same one: nobody else was started
    until(lambda: is_done(place))


def test_it_ends_when_the_store_is_removed_and_makes_no_new_one(place: Path) -> None:
    written(place, *(f"message {n} of the tide" for n in range(400)))
    until(lambda: is_working(place, own_places().state))
    time.sleep(1.0)
    shutil.rmtree(place.parent, ignore_errors=True)
    until(lambda: not workers(place))
    assert not place.exists()


def test_a_store_that_is_gone_at_once_is_never_touched(place: Path) -> None:
    written(place, "one")
    shutil.rmtree(place.parent)  # raises where anybody else puts something there
    until(lambda: not workers(place))
    assert not place.parent.exists()


def test_another_store_at_its_place_is_left_alone(place: Path) -> None:
    written(place, *(f"message {n} of the tide" for n in range(400)))
    until(lambda: is_working(place, own_places().state))
    for file in place.parent.glob("memory.db*"):
        if file.is_file() and not file.name.endswith("-worker"):
            file.unlink()
    written(place, "another one", background=False)
    until(lambda: not workers(place))
    with recollect.open(place, background=False) as memory:
        assert memory.upkeep.stats().messages == 1
        assert memory.upkeep.check() == []


def test_it_is_told_to_stop_and_stops(place: Path) -> None:
    written(place, *(f"message {n} of the tide" for n in range(400)))
    until(lambda: is_working(place, own_places().state))
    assert background.stop(place)
    until(lambda: not workers(place))
    assert background.stop(place)  # there is none
    with recollect.open(place, background=False) as memory:
        assert memory.upkeep.check() == []
        assert dict(memory.upkeep.stats().tasks).get("leased", 0) == 0  # what it held it gave back


def test_a_backup_is_restored_although_one_is_at_work(place: Path, tmp_path: Path) -> None:
    written(place, "kept words", background=False)
    with recollect.open(place, background=False) as memory:
        memory.upkeep.backup(tmp_path / "copy.db")
    written(place, *(f"message {n} of the tide" for n in range(400)))
    until(lambda: is_working(place, own_places().state))
    recollect.restore(tmp_path / "copy.db", place, replace=True)
    with recollect.open(place, background=False) as memory:
        assert memory.upkeep.stats().messages == 1


# --- in this process -----------------------------------------------------------------------------------------------


def test_a_lock_has_one_holder_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert holder(path) is None
    with Lock(path):
        assert holder(path) == os.getpid()
        with pytest.raises(Taken), Lock(path):
            raise AssertionError
    assert holder(path) is None
    process = subprocess.Popen([sys.executable, "-c", _HOLDS, str(path)], cwd=ROOT)
    until(lambda: holder(path) == process.pid)
    process.kill()
    process.wait()
    assert holder(path) is None
    with Lock(path):
        before = rung(path)
        ring(path)
        assert rung(path) != before


def test_a_password_stands_in_no_command_line_and_the_path_is_that_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    told = environment_of(read_address("neo4j://me:secret@host:7687/db"), "static", durable=False)
    assert told["RECOLLECT_STORE"] == "neo4j://host:7687/db"
    assert (told["NEO4J_USER"], told["NEO4J_PASSWORD"], told["RECOLLECT_DURABLE"]) == ("me", "secret", "false")
    assert told["PYTHONPATH"].split(os.pathsep) == [str(ROOT), str(Path("somewhere").absolute())]


def test_a_worker_has_no_threads_of_numpy_unless_somebody_asked_for_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert environment_of(tmp_path / "memory.db", "static", durable=True)["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "4")
    assert environment_of(tmp_path / "memory.db", "static", durable=True)["OPENBLAS_NUM_THREADS"] == "4"


@pytest.mark.parametrize(
    ("executable", "fits"), [("/usr/bin/python3.11", True), ("/opt/app/uwsgi", False), ("", False)]
)
def test_only_python_is_started(executable: str, fits: bool) -> None:
    assert _is_python(executable) is fits


def test_nothing_that_goes_wrong_reaches_who_writes(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> object:
        raise InvalidInput("config.toml: unknown setting")

    with monkeypatch.context() as patch:
        patch.setattr("recollect.memory.background.process.load_settings", broken)
        written(place, "one")
    monkeypatch.setattr("recollect.memory.background.process._SHELL", str(tmp_path / "no shell"))
    starter = Starter(place, embedder="static", durable=True, wanted=True)
    starter.wrote()
    starter.close()
    starter.close()
    assert workers(place) == []
