"""Starting, finding and stopping the background worker of a store."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from recollect.memory.background.lock import AVAILABLE, holder, lock_file, ring
from recollect.memory.settings import Places, own_places
from recollect.runtime.files import Address, Place

#: What the worker is told of the store, beside its own settings.
STORE, EMBEDDER, DURABLE = "RECOLLECT_STORE", "RECOLLECT_EMBEDDER", "RECOLLECT_DURABLE"

_SHELL = "/bin/sh"
_LEAVE_IT = 'exec 0</dev/null 1>/dev/null 2>>"$0"; "$@" &'  # its parent is then the system, which takes note of its end
_LOOK = 0.05  # seconds

_log = logging.getLogger("recollect.background")


def start(place: Place, *, embedder: str = "static", durable: bool = True, where: Places | None = None) -> bool:
    """Leaves a worker behind where none is at work; it outlives this process. Returns whether it was started.

    What cannot be started is noted in the log and no more: everything that a worker does can be done later.
    """
    if not AVAILABLE or not _is_python(sys.executable):
        return False
    path = lock_file(place, (where or own_places()).state)
    ring(path)  # before looking: who is about to go looks again when it hears that
    if holder(path) is not None:
        return False
    return leave_behind(["-m", "recollect.memory.background"], environment_of(place, embedder, durable=durable))


def leave_behind(arguments: Sequence[str], environment: Mapping[str, str], log: str = os.devnull) -> bool:
    """Starts Python with these arguments as a process that outlives this one; returns whether it was started. What it
    writes to standard error is added to the file `log`.
    """
    if not AVAILABLE or not _is_python(sys.executable):
        return False
    command = [sys.executable, "-P", *arguments]
    try:
        subprocess.run(
            [_SHELL, "-c", _LEAVE_IT, log, *command],
            env=environment,
            cwd="/",
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as problem:
        _log.info("No process in the background: %s", problem)
        return False
    return True


def stop(place: Place, *, wait: float = 30.0, where: Places | None = None) -> bool:
    """Tells the worker of this store to stop, and waits for it. Returns whether none is at work any more."""
    path = lock_file(place, (where or own_places()).state)
    until = time.monotonic() + wait
    while (number := holder(path)) is not None:
        if number:
            with suppress(OSError):
                os.kill(number, signal.SIGTERM)
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK)
    return True


def environment_of(place: Place, embedder: str, *, durable: bool) -> dict[str, str]:
    """That of this process, with what makes another find the store and its own code. Secrets are not on its command
    line, which everybody on the machine can read.
    """
    package = Path(__file__).absolute().parents[3]
    paths = [str(package), *(str(Path(p).absolute()) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
    found = {**os.environ, STORE: str(place), EMBEDDER: embedder, DURABLE: str(durable).lower()}
    found.setdefault("OPENBLAS_NUM_THREADS", "1")  # as on the command line: threads of numpy's spin on other cores
    found["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    if isinstance(place, Address) and place.user:
        found["NEO4J_USER"] = place.user
    if isinstance(place, Address) and place.password:
        found["NEO4J_PASSWORD"] = place.password
    return found


def _is_python(executable: str | None) -> bool:
    """Not the program of somebody else that Python was built into: it would be started once more."""
    if not executable or getattr(sys, "frozen", False):
        return False
    return Path(executable).name.lower().startswith(("python", "pypy"))
