"""A server that is absent, restarts, is killed, refuses, only reads: a clear error soon, and nothing half-written."""

from __future__ import annotations

import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, TypeVar
from urllib.parse import quote

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import neo4j

import recollect
import recollect.ingest.importing
from recollect import StoreBusy, StoreError
from recollect.engines.neo4j import connection, writing
from recollect.engines.neo4j.connection import read_version
from recollect.engines.neo4j.engine import Neo4jStore
from recollect.memory import Handle, Memory
from tests.exports import chat, dump_of, export
from tests.processes import started
from tests.store import neo4j_server
from tests.store.builders import embedder
from tools.neo4j_server import Server

pytestmark = pytest.mark.faults

PASSWORD = "of-the-tests"
READ_ONLY = {"server.databases.default_to_read_only": "true"}
LOCKS = {"db.lock.acquisition.timeout": "1s"}
PATIENT = {"db.lock.acquisition.timeout": "10s"}
SOON = 5.0  # seconds in which everybody hears of a server that is down
LIMIT, LONG_LIMIT = 240, 900

T = TypeVar("T")


@pytest.fixture(autouse=True)
def limited(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test of this file waits forever, whatever the server does."""

    def late(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"not done within {seconds} s")

    seconds = LONG_LIMIT if request.node.get_closest_marker("long") else LIMIT
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@dataclass
class Own:
    """A server with a password, that a test may stop and kill."""

    process: Server
    settings: Mapping[str, str] = field(default_factory=dict)
    running: bool = False

    @property
    def place(self) -> str:
        return self.process.uri.replace("bolt://", f"bolt://neo4j:{PASSWORD}@")

    def run(self, settings: Mapping[str, str] | None = None) -> None:
        """Running, with these settings."""
        settings = settings or {}
        if self.running and settings != self.settings:
            self.stop()
        if not self.running:
            self.process.start(**settings)
            self.settings, self.running = settings, True

    def stop(self) -> None:
        self.process.stop()
        self.running = False

    def kill(self) -> None:
        self.process.kill()
        self.running = False

    def open(self, place: str = "") -> Memory:
        return recollect.open(place or self.place)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    server = Own(neo4j_server.started(tmp_path_factory.mktemp("faults"), PASSWORD, LOCKS), running=True)
    yield server
    server.kill()


@pytest.fixture
def server(own: Own) -> Own:
    """Running and empty."""
    own.run()
    with driver_of(own) as driver:
        eventually(lambda: driver.execute_query("MATCH (n) DETACH DELETE n"))
    return own


def driver_of(server: Own) -> neo4j.Driver:
    return neo4j.GraphDatabase.driver(server.process.uri, auth=("neo4j", PASSWORD))


@contextmanager
def told(words: str) -> Iterator[None]:
    """An error with these words and a hint."""
    with pytest.raises(StoreError, match=words) as problem:
        yield
    assert problem.value.hint
    assert PASSWORD not in str(problem.value)


@contextmanager
def told_soon(words: str) -> Iterator[None]:
    """An error with these words, within seconds."""
    began = time.monotonic()
    with told(words):
        yield
    assert time.monotonic() - began < SOON


def eventually(work: Callable[[], T], seconds: float = 20) -> T:
    """Tries again for some seconds while the server is not ready."""
    limit = time.monotonic() + seconds
    while True:
        try:
            return work()
        except (StoreError, neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError):
            if time.monotonic() > limit:
                raise
            time.sleep(0.1)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_is_absent_is_told_at_once(scheme: str) -> None:
    with told_soon("does not answer"):
        recollect.open(f"{scheme}://127.0.0.1:1")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_peer_that_says_nothing_is_told_within_seconds(scheme: str) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with told_soon("does not answer"):
            recollect.open(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")


def test_nothing_is_printed_beside_the_error(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StoreError):
        recollect.open("neo4j://127.0.0.1:1")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("told", ["3.5.35", "4.4.40", "5.9.0", "5.25.1"])
def test_a_version_that_is_too_old_is_refused(told: str) -> None:
    with pytest.raises(StoreError, match=rf"bolt://host is Neo4j {told}; Recollect needs 5.26"):
        read_version(told, "bolt://host")


@pytest.mark.parametrize("told", ["5.26.0", "5.26.30", "5.27-aura", "2025.01.0", "2026.08.1"])
def test_a_newer_version_is_welcome(told: str) -> None:
    assert read_version(told, "bolt://host")


def test_a_wrong_password_is_told_and_the_right_one_still_works(server: Own) -> None:
    with told_soon("rejected the user name or the password"):
        server.open(server.place.replace(PASSWORD, "wrong").replace("bolt:", "neo4j:"))
    with told_soon("rejected the user name or the password"):
        server.open(server.process.uri)
    server.open().close()


def test_a_first_password_has_to_be_changed(server: Own) -> None:
    with driver_of(server) as driver:
        driver.execute_query(f"CREATE USER ana SET PASSWORD '{PASSWORD}' CHANGE REQUIRED", database_="system")
    with told_soon("requires you to change the initial password"):
        server.open(server.place.replace("neo4j:", "ana:").replace("bolt:", "neo4j:"))


def test_a_password_may_hold_every_sign(server: Own) -> None:
    password = "p/#@: é%?[8"
    with driver_of(server) as driver:
        made = "CREATE USER ben SET PASSWORD $password CHANGE NOT REQUIRED"
        driver.execute_query(made, password=password, database_="system")
    with server.open(server.place.replace(f"neo4j:{PASSWORD}", f"ben:{quote(password, '')}")) as memory:
        assert memory.location == server.process.uri


def test_a_database_that_is_not_there_is_named(server: Own) -> None:
    with told_soon("has no database 'chats'"):
        server.open(f"{server.place}/chats")


def test_who_waits_for_others_is_told_and_at_last_gets_an_error_of_its_own(
    server: Own, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.5)
    told: list[str] = []
    store = Neo4jStore(server.process.uri, ("neo4j", PASSWORD), wait=1.0, on_wait=lambda: told.append("waiting"))
    with Memory(Handle(store, embedder())) as memory:
        memory.store_message("The spare key is with Ana.")  # the first write is slow
        told.clear()
        memory.store_message("The bicycle lock too.")
        assert not told
        with driver_of(server) as driver, driver.session() as session, session.begin_transaction() as other:
            other.run(writing.LOCK, ns=memory.namespace).consume()
            with pytest.raises(StoreBusy, match="have been writing"):
                memory.store_message("Nobody hears this.")
            other.rollback()
        assert told
        memory.store_message("And the lamp.")
        assert memory.upkeep.stats().messages == 3


def test_a_restart_is_survived_by_the_same_handle(server: Own) -> None:
    with server.open() as memory:
        before = memory.store_message("The spare key is with Ana.")
        server.stop()
        with told_soon("does not answer"):
            memory.search("spare key")
        with told_soon("does not answer"):
            memory.store_message("Nobody hears this.")
        server.run()
        assert eventually(lambda: memory.search("spare key")).hits
        memory.store_message("The bicycle lock too.", conversation_id=before.conversation_id)
        assert memory.upkeep.stats().messages == 2


def test_a_server_that_is_killed_in_the_middle_of_a_write_keeps_all_of_it_or_nothing(
    server: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recollect.ingest.importing, "BATCH_MESSAGES", 48)
    talks = [chat(*(f"message {i} of {n}, on tides" for i in range(24)), name=f"c{n}") for n in range(16)]
    exported = export(tmp_path / "export", talks)
    with recollect.open(tmp_path / "calm.db") as calm, server.open() as memory:
        calm.import_file(exported)
        batches = threading.Semaphore(0)
        ended: list[BaseException | None] = []

        def importing() -> None:
            try:
                memory.import_file(exported, progress=lambda _: batches.release())
                ended.append(None)
            except BaseException as problem:
                ended.append(problem)

        thread = threading.Thread(target=importing, daemon=True)
        thread.start()
        assert batches.acquire(timeout=20)
        assert batches.acquire(timeout=20)
        time.sleep(0.1)  # into the next one
        server.kill()
        thread.join(20)
        assert isinstance(ended[0], StoreError), "it was killed too late"
        server.run()
        assert eventually(memory.upkeep.check) == []
        assert 0 < memory.upkeep.stats().messages < calm.upkeep.stats().messages
        memory.import_file(exported)
        assert dump_of(memory) == dump_of(calm)
        assert memory.upkeep.check() == []


def test_a_server_that_can_only_be_read_is_searched_and_not_written(server: Own) -> None:
    with server.open() as memory:
        asked = memory.store_message("The spare key is with Ana.")
    server.run(READ_ONLY)
    with eventually(server.open) as memory:
        assert memory.search("spare key").hits
        with told("is read-only"):
            memory.store_message("Nobody writes this.", conversation_id=asked.conversation_id)
        with told("is read-only"):
            memory.delete(asked.id)
        with told("is read-only"):  # a worker ends
            memory.upkeep.work(is_over=lambda idle, attempt: idle > 0)
        assert memory.messages([asked.id]) == [asked]


@pytest.mark.parametrize("kills", [pytest.param(50, marks=pytest.mark.long)])
def test_every_message_that_was_acknowledged_is_there_once_after_many_kills(
    server: Own, kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(20261121)
    roles = [("insist", "A"), ("insist", "B"), ("give_up", "B")]
    start_quicker(server, tmp_path / "classes.jsa", monkeypatch)
    with Told([started(command, server.place, talk) for command, talk in roles]) as told:
        for _ in range(kills):
            told.wait_for(chance.randint(0, 20), 8)
            time.sleep(chance.uniform(0, 0.1))  # anywhere in a write
            server.kill()
            server.run(PATIENT)
        last = [len(ids) for ids in told.ids]
        eventually(lambda: told.require_more_than(last), 30)
    with server.open() as memory:
        assert memory.upkeep.check() == []
        acknowledged = [own for ids in told.ids for own in ids]
        there = {message.id: message for message in memory.messages(acknowledged)}
        assert set(there) == set(acknowledged)
        assert len(acknowledged) > 5 * kills, "it was hardly under load"
        for talk in "AB":
            messages = memory.conversation(talk).messages
            assert len({message.id for message in messages}) == len(messages)
            unheard = [message for message in messages if message.id not in there]
            assert len(unheard) <= kills + len(roles), "at most the ones that were under way"
    print(f"{len(acknowledged)} acknowledged, {kills} kills")


def start_quicker(server: Own, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets later starts find their classes loaded, which halves them."""
    server.stop()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-XX:ArchiveClassesAtExit={archive}")
    server.run(PATIENT)
    with eventually(server.open) as memory:
        memory.store_message("The spare key is with Ana.")
    server.stop()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-XX:SharedArchiveFile={archive} -Xshare:auto")
    server.run(PATIENT)


class Told:
    """Processes that tell what was acknowledged, a line each, until the block ends."""

    def __init__(self, processes: list[subprocess.Popen[str]]) -> None:
        self._processes = processes
        self.ids: list[list[str]] = [[] for _ in processes]
        self._threads = [
            threading.Thread(target=self._listen, args=(process, ids), daemon=True)
            for process, ids in zip(processes, self.ids, strict=True)
        ]

    def __enter__(self) -> Told:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._processes:
            process.kill()
            process.wait(10)
        for thread in self._threads:
            thread.join(10)

    def wait_for(self, more: int, seconds: float) -> None:
        """Until so many more were told by all of them together, or so long."""
        limit, enough = time.monotonic() + seconds, sum(map(len, self.ids)) + more
        while sum(map(len, self.ids)) < enough and time.monotonic() < limit:
            time.sleep(0.005)

    def require_more_than(self, counts: list[int]) -> None:
        """Raises StoreBusy until each has told more."""
        if any(len(ids) <= count for ids, count in zip(self.ids, counts, strict=True)):
            raise StoreBusy("Somebody does not write.")

    @staticmethod
    def _listen(process: subprocess.Popen[str], ids: list[str]) -> None:
        assert process.stdout is not None
        ids.extend(line.strip() for line in process.stdout if line.endswith("\n"))
