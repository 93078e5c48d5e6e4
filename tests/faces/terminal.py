"""A terminal of 24 lines, and 80 columns unless others are given, with somebody who types."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

import pytest

COMMAND = [sys.executable, "-c", "from recollect.faces.cli.main import run; run()"]


def on_a_terminal(arguments: Sequence[str], environment: Mapping[str, str], typed: str = "", columns: int = 80) -> str:
    """What a command writes to a terminal, with what was typed echoed into it."""
    return typed_into(arguments, environment, typed, columns)[1]


def typed_into(
    arguments: Sequence[str], environment: Mapping[str, str], typed: str, columns: int = 80
) -> tuple[int, str]:
    """The exit code too. What is typed waits in the terminal from the beginning."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(ours, typed.encode())
    with subprocess.Popen(
        [*COMMAND, *arguments], env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the last of the other side is closed
                break
            if not piece:
                break
            pieces.append(piece)
        process.wait(timeout=30)
    os.close(ours)
    return process.returncode, b"".join(pieces).decode().replace("\r\n", "\n")
