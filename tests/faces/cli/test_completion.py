"""What a shell is told could come next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from recollect.faces.cli.commands.search import _GROUPS, _KINDS, _ROLES, _SORTS
from recollect.faces.cli.help import completions
from recollect.faces.cli.parser import _MODES
from recollect.faces.present.names import source_label
from recollect.importers.registry import READERS
from recollect.search.query import request
from recollect.store.passages import DERIVED_KINDS, KINDS, ROLES
from tests.faces.conftest import CommandLine


def answers(*words: str) -> list[str]:
    return [word for word, _ in completions(words)]


def test_commands_and_options() -> None:
    assert answers("sea") == ["search"]
    assert answers("se") == ["search", "serve", "secrets"]
    assert "import" in answers("")
    assert answers("search", "--gro") == ["--group-by"]
    assert answers("--namesp") == ["--namespace"]
    assert "--why" not in answers("search", "--why", "--w")


def test_values_with_and_without_an_equals_sign() -> None:
    assert answers("search", "--sort", "") == ["relevance", "newest"]
    assert answers("search", "--sort=n") == ["--sort=newest"]
    assert answers("search", "--sort", "=", "n") == ["--sort=newest"]  # as bash takes it apart
    assert answers("search", "--role", "ass") == ["assistant"]
    assert answers("completion", "") == ["bash", "zsh", "fish", "powershell"]
    assert answers("help", "sea") == ["search"]
    assert answers("facts", "me") == ["merge"]
    assert answers("entities", "un") == ["unpin", "unmerge", "undo"]


def test_formats_are_those_that_are_read() -> None:
    assert answers("import", "--format", "") == [reader.name for reader in READERS]


def test_sources_and_namespaces_are_those_of_the_memory(sample: CommandLine, sample_store: Path, home: Path) -> None:
    assert answers("search", "x", "--source", "") == ["chatgpt", "claude", "openai"]
    assert answers("search", "--namespace", "") == ["default"]
    assert answers("--store", str(home / "none.db"), "search", "--source", "") == []


def test_a_file_is_the_shells_own_business() -> None:
    assert answers("import", "chat") == []


def test_the_choices_are_those_that_a_search_takes() -> None:
    assert set(_KINDS) == {*KINDS, "all"} - {"said", "title", *DERIVED_KINDS}
    assert _ROLES == ROLES
    assert tuple(map(get_args, (request.GroupBy, request.Mode, request.Sort))) == (_GROUPS, _MODES, _SORTS)
    assert all(source_label(reader.name) for reader in READERS)


@pytest.mark.parametrize(("shell", "line"), [("bash", "search"), ("zsh", r"search:Find"), ("fish", "search\tFind")])
def test_each_shell_gets_its_form(home: Path, shell: str, line: str) -> None:
    environment = {**os.environ, "_RECOLLECT_COMPLETE": shell}
    ran = subprocess.run([sys.executable, "-m", "recollect", "sea"], env=environment, capture_output=True, check=True)
    assert ran.stdout.decode().startswith(line)


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
def test_bash_completes_a_value(home: Path, sample_store: Path, tmp_path: Path) -> None:
    command = tmp_path / "recollect"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m recollect "$@"\n')
    command.chmod(0o755)
    script = (
        'eval "$(recollect completion bash)"\n'
        'COMP_WORDS=(recollect search x --source c); COMP_CWORD=4; _recollect; echo "${COMPREPLY[@]}"\n'
    )
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "RECOLLECT_STORE": str(sample_store),
    }
    ran = subprocess.run(["/bin/bash", "-c", script], env=environment, capture_output=True, check=True)
    assert ran.stdout.split() == [b"chatgpt", b"claude"]
