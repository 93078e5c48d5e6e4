"""A memory, the folders of two agents, and who follows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.watching.exclusions import KeepingOut, Patterns
from recollect.watching.imported_files import ImportedFiles, Watched
from recollect.watching.watcher import Watcher


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False) as memory:
        yield memory


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    return tmp_path / "claude" / "projects"


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    return tmp_path / "codex" / "sessions"


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path / "recording.db")


@pytest.fixture
def keeping_out(recording: Recording) -> KeepingOut:
    return KeepingOut(Patterns((), Path("/home/me")), recording)


@pytest.fixture
def follow(
    memory: Memory, projects: Path, rollouts: Path, tmp_path: Path, keeping_out: KeepingOut
) -> Callable[[], Watcher]:
    """Makes a watcher that knows what those before it have kept, as after a restart."""

    def made() -> Watcher:
        folders = [Watched("Claude Code", projects), Watched("Codex", rollouts)]
        kept = ImportedFiles(tmp_path / "state", Path(memory.location), memory.namespace)
        return Watcher(memory, folders, kept, keeping_out, clock=lambda: 0.0)

    return made


@pytest.fixture
def watcher(follow: Callable[[], Watcher]) -> Watcher:
    return follow()
