"""What many tests share: an imported sample archive, and a clean environment for the command line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.sample import write_archive

#: Variables of the machine that would change what a test sees.
_FOREIGN = (
    "NO_COLOR", "TERM", "PAGER", "COLUMNS", "LINES", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DOWNLOAD_DIR", "RECOLLECT_STORE", "RECOLLECT_NAMESPACE",
    "RECOLLECT_EMBEDDER", "RECOLLECT_COLOR", "RECOLLECT_PAGER", "RECOLLECT_LIMIT", "RECOLLECT_DURABLE",
    "RECOLLECT_DEBUG", "OPENAI_API_KEY", "OPENAI_BASE_URL",
)  # fmt: skip


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
