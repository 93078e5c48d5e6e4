"""How a program that knows a shell runs a command of ours, on the memory of this run."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from recollect.faces.cli.setup.launch import memory_arguments, passed_on, program
from recollect.memory.settings import Settings


def shell_line(settings: Settings, *words: str, environment: Mapping[str, str] = os.environ) -> str:
    """The line for a POSIX shell, which agents use on Windows too."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in passed_on(environment).items()]
    command = [*program(), *words, *memory_arguments(settings)]
    return " ".join([*variables, *(shlex.quote(_plain(word)) for word in command)])


def _plain(word: str) -> str:
    return word.replace("\\", "/") if os.name == "nt" else word
