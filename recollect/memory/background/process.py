"""Starting, finding and stopping the background worker of a store."""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from recollect.errors import RecollectError
from recollect.memory.settings import Places, load_settings, own_places
from recollect.runtime.files import Address, Place

try:
    import fcntl
except ImportError:  # Windows, where there is no background worker
    fcntl = None  # type: ignore[assignment]

#: Whether there can be background workers on this machine.
AVAILABLE = fcntl is not None


_TRIES, _MOMENT = 5, 0.02  # seconds


class Taken(Exception):
    """Another process has it."""


class Lock:
    """Holds the lock for as long as the `with` lasts; the file names the process. Raises Taken, OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def __enter__(self) -> Lock:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(handle)
        except BaseException:
            os.close(handle)
            raise
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _take(handle: int) -> None:
    """Who only looks whether somebody has it, has it for a moment himself: so it is tried some times."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_MOMENT)
    raise Taken


def ring(path: Path) -> None:
    """Tells who holds the lock that there is something new."""
    now = time.time_ns()
    with suppress(OSError):
        os.utime(path, ns=(now, now))


def rung(path: Path) -> int:
    """When it was rung last, as a number that changes."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def holder(path: Path) -> int | None:
    """The process that holds the lock, 0 where it has not said its number yet; None where nobody does."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said = os.pread(handle, 32, 0).strip()
        return int(said) if said.isdigit() else 0
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def is_working(place: Place, state: Path) -> bool:
    """Whether a worker of this machine is at work on this store."""
    return holder(lock_file(place, state)) is not None


def lock_file(place: Place, state: Path) -> Path:
    """Beside the file of a store; for a server in the state folder of this machine."""
    if isinstance(place, Path):
        return place.with_name(place.name + "-worker")
    return state / f"worker-{hashlib.blake2b(str(place).encode(), digest_size=8).hexdigest()}"


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


# When a handle leaves a worker behind: some seconds after it has written, and when it is closed.

_AFTER = 5.0  # seconds after the first write, and between two starts


class Starter:
    """Of one handle. `wanted` None: as the settings say. Nothing that goes wrong here reaches who writes."""

    def __init__(self, place: Place, *, embedder: str, durable: bool, wanted: bool | None = None) -> None:
        self._place, self._embedder, self._durable, self._wanted = place, embedder, durable, wanted
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._written = False

    def wrote(self) -> None:
        """Something was written: there is work."""
        if self._wanted is False:
            return
        with self._lock:
            self._written = True
            if self._timer is None:
                self._timer = threading.Timer(_AFTER, self._start)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """The handle is closed; what was written since the last start is work for somebody else."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        self._start()

    def _start(self) -> None:
        with self._lock:
            written, self._written, self._timer = self._written, False, None
        if not written:
            return
        try:
            if self._wanted is None:
                self._wanted = load_settings().background
            if self._wanted:
                start(self._place, embedder=self._embedder, durable=self._durable)
        except (RecollectError, OSError, RuntimeError) as problem:  # RuntimeError: Python is ending, or has no home
            _log.info("No background worker: %s", problem)
