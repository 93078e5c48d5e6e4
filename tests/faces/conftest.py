"""The command line, run in this process."""

from __future__ import annotations

import io
import json
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
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        streams = capsys.readouterr()
        return Ran(code, streams.out, streams.err)

    return command


@pytest.fixture
def sample(run: CommandLine, sample_store: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The same, on the imported sample archive."""
    monkeypatch.setenv("RECOLLECT_STORE", str(sample_store))
    return run
