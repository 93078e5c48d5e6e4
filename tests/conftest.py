"""What many tests share: an imported sample archive, a clean environment for the command line, a Neo4j server."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.sample import write_archive
from tests.properties import choose_profile

choose_profile()
os.environ["RECOLLECT_BACKGROUND"] = "0"  # no test leaves a process behind, unless that is what it is about

#: Variables of the machine that would change what a test sees.
_FOREIGN = (
    "NO_COLOR", "TERM", "PAGER", "COLUMNS", "LINES", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DOWNLOAD_DIR", "RECOLLECT_STORE", "RECOLLECT_NAMESPACE",
    "RECOLLECT_EMBEDDER", "RECOLLECT_COLOR", "RECOLLECT_PAGER", "RECOLLECT_LIMIT", "RECOLLECT_DURABLE",
    "RECOLLECT_DEBUG", "RECOLLECT_TRACING", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL", "RECOLLECT_MODEL", "RECOLLECT_MODEL_KEY", "RECOLLECT_RERANKER", "RECOLLECT_RERANKER_KEY",
    "NEO4J_URI", "NEO4J_USER", "NEO4J_USERNAME", "NEO4J_PASSWORD",
)  # fmt: skip


_LEFT_OUT = "Neo4j tests are left out"


@pytest.fixture(scope="session")
def sample_archive(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The three files of the sample archive. Read only."""
    return write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory, sample_archive: list[Path]) -> Path:
    """A store with the sample archive in it. For reading; a test that writes makes its own."""
    path = tmp_path_factory.mktemp("sample") / "memory.db"
    with recollect.open(path, durable=False) as memory:
        memory.import_file(*sample_archive)
    return path


@pytest.fixture(scope="session")
def derived_store(tmp_path_factory: pytest.TempPathFactory, sample_store: Path) -> Path:
    """The sample archive with everything derived from it. For reading; a test that writes copies its folder.

    Deriving takes seconds, so the processes of a run share what one of them made, each in a copy.
    """
    import fcntl

    ours = tmp_path_factory.getbasetemp()
    shared = (ours.parent if "PYTEST_XDIST_WORKER" in os.environ else ours) / "derived"
    with (shared.parent / "derived.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            made = tmp_path_factory.mktemp("deriving") / "store"
            shutil.copytree(sample_store.parent, made)
            with recollect.open(made / sample_store.name, durable=False, background=False) as memory:
                memory.upkeep.consolidate()
            made.rename(shared)
    return shutil.copytree(shared, tmp_path_factory.mktemp("derived") / "store") / sample_store.name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home in UTC, with RECOLLECT_HOME in it and nothing of this machine's environment."""
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("RECOLLECT_HOME", str(home / "recollect"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield home
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def neo4j_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Neo4j server for as long as the tests run."""
    pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")
    from tests.store import neo4j_server

    if neo4j_server.GIVEN:
        neo4j_server.claim(neo4j_server.GIVEN)
        yield neo4j_server.GIVEN
        return
    server = neo4j_server.started(tmp_path_factory.mktemp("neo4j"))
    yield server.uri
    neo4j_server.driver(server.uri).close()
    server.kill()


@pytest.fixture
def neo4j_uri(neo4j_address: str) -> Iterator[str]:
    """An empty Neo4j, for one test at a time: a given server may be shared by several processes of pytest."""
    import fcntl

    from tests.store import neo4j_server

    with (Path(tempfile.gettempdir()) / "recollect-test-neo4j.lock").open("w") as lock:
        if neo4j_server.GIVEN:
            fcntl.flock(lock, fcntl.LOCK_EX)
        neo4j_server.empty(neo4j_address)
        yield neo4j_address


@pytest.fixture
def neo4j_place(neo4j_uri: str) -> str:
    """Its address as a user gives it: with user and password in it, where there are any."""
    from tests.store import neo4j_server

    return neo4j_server.with_auth(neo4j_uri)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs a Neo4j server: by its fixture, or as the engine that a test of both is given."""
    for item in items:
        given = getattr(item, "callspec", None)
        is_engine = given is not None and any(isinstance(one, str) and one == "neo4j" for one in given.params.values())
        if is_engine or "neo4j_address" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.neo4j)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says in one line when Neo4j tests were left out, and how to run them."""
    reasons = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    left_out = [reason for reason in reasons if _LEFT_OUT in reason]
    if left_out:
        told = left_out[0][left_out[0].index(_LEFT_OUT) :].rstrip("\"')")
        terminalreporter.write_line(f"{told} ({len(left_out)} tests)")
