"""What a client is to start: the command with its arguments and variables, for the memory of this run."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recollect.memory.settings import Settings
from recollect.runtime.files import Address

#: Variables by which the memory of this run is found, and read as it was made; clients do not pass them on.
_PASSED_ON = ("RECOLLECT_HOME", "RECOLLECT_EMBEDDER", "RECOLLECT_MODEL", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
#: Folders among the parents of what `uvx` runs: they are emptied at times.
_PASSING = ("archive-v0", "builds-v0", "environments-v2")


@dataclass(frozen=True, slots=True)
class Launch:
    """A program with its arguments, and the variables that it needs."""

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def launch_of(
    settings: Settings, *, tools: str, read_only: bool, model: str | None, environment: Mapping[str, str]
) -> Launch:
    """What starts `recollect mcp` on the memory of these settings. Secrets are not in it: they stay where they are."""
    command, *arguments = program()
    arguments += ["mcp", *memory_arguments(settings)]
    if tools != "core":
        arguments += ["--tools", tools]
    if read_only:
        arguments.append("--read-only")
    if model:
        arguments += ["--model", model]
    return Launch(command, tuple(arguments), passed_on(environment))


def memory_arguments(settings: Settings) -> list[str]:
    """The options that name the memory of these settings, where it is not the one that is found without."""
    arguments: list[str] = []
    place = settings.store
    if _was_told(settings, "store") or isinstance(place, Address):  # whose name may stand in a variable
        arguments += ["--store", str(place.absolute() if isinstance(place, Path) else place)]
    if _was_told(settings, "namespace"):
        arguments += ["--namespace", str(settings.namespace)]
    return arguments


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that whoever starts us must set for it."""
    return {name: environment[name] for name in _PASSED_ON if environment.get(name)}


def _was_told(settings: Settings, name: str) -> bool:
    """Whether a flag or a variable of this run says it, which a client would not repeat."""
    return settings.origins[name].startswith(("--", "RECOLLECT_"))


def program() -> list[str]:
    """The program that runs, by a path that stays: clients know neither the shell's PATH nor its environments."""
    own = Path(sys.executable).parent / ("recollect.exe" if os.name == "nt" else "recollect")
    if any(part in _PASSING for part in own.parts):
        runner = shutil.which("uvx")
        return [runner or "uvx", "recollect"]
    found = shutil.which("recollect")
    if found and own.exists() and Path(found).resolve() == own.resolve():
        return [str(Path(found).absolute())]  # as pipx and uv tool link it, not what the link leads to
    if own.exists():
        return [str(own)]
    return [sys.executable, "-m", "recollect"]


# How a program that knows a shell runs a command of ours, on the memory of this run.


def shell_line(settings: Settings, *words: str, environment: Mapping[str, str] = os.environ) -> str:
    """The line for a POSIX shell, which agents use on Windows too."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in passed_on(environment).items()]
    command = [*program(), *words, *memory_arguments(settings)]
    return " ".join([*variables, *(shlex.quote(_posix(word)) for word in command)])


def _posix(word: str) -> str:
    return word.replace("\\", "/") if os.name == "nt" else word
