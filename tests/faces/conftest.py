"""The command line, run in this process."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect.faces.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


CommandLine = Callable[..., Ran]


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Runs a command in an empty home: run("search", "words") gives its exit code, stdout and stderr."""

    def command(*arguments: str | Path, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return Ran(code, streams.out, streams.err)

    return command


Device = Callable[[str], Path]


@pytest.fixture
def device(tmp_path: Path) -> Device:
    """A device like /dev/null or /dev/full, by its name. For root it is one of the test's own: a defect of ours, with
    all rights, would put a file in the place of the machine's.
    """

    def made(name: str) -> Path:
        if os.geteuid() != 0:
            return Path("/dev") / name
        path = tmp_path / name
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, {"null": 3, "full": 7}[name]))
            path.open("wb").close()
        except OSError as problem:
            pytest.skip(f"no device can be made here: {problem}")
        return path

    return made


@pytest.fixture
def sample(run: CommandLine, sample_store: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The same, on the imported sample archive."""
    monkeypatch.setenv("RECOLLECT_STORE", str(sample_store))
    return run
