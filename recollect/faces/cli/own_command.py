"""How another program runs a command of ours: on the memory of this run, wherever it is started from."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping

from recollect.faces.cli.session import Session


def own_command(session: Session, *words: str, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The program and its arguments, each a word. What this run was told by flags and variables is among them, since
    who starts it may have another environment; the password of a server is not.
    """
    found = shutil.which("recollect", path=environment.get("PATH"))
    program = [os.path.abspath(found)] if found else [sys.executable, "-m", "recollect"]  # noqa: PTH100
    settings, options = session.settings, []
    if settings.origins["store"] != "default" or environment.get("RECOLLECT_HOME"):
        options += ["--store", str(session.store)]
    if settings.origins["namespace"] != "default":
        options += ["--namespace", settings.namespace]
    return [*program, *words, *options]


def as_line(command: list[str]) -> str:
    """A command as a line for the shell that agents use, which is a POSIX one on Windows too."""
    return shlex.join(word.replace("\\", "/") if os.name == "nt" else word for word in command)
