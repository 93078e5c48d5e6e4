"""How soon what an agent writes is found, and what following costs: `python -m benchmarks.watching [MB] [FILES]`.

Makes a project folder of so many megabytes in so many sessions, imports it, and then appends lines to one session while
it is followed. Prints the time from the end of a write until the message is in, a look at nothing new, and the memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import recollect
from benchmarks.machine import peak_memory
from recollect.watching.folders import Watched
from recollect.watching.keeping_out import KeepingOut
from recollect.watching.kept import ImportedFiles
from recollect.watching.looking import look
from recollect.watching.watcher import Round, Watcher

_TEXT = "the sexton rings seven bells in the tower of the old church at noon while the clock strikes twelve "
_APPENDED = 12


def main(megabytes: int = 100, files: int = 200) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "projects" / "-srv-shop"
        project.mkdir(parents=True)
        sessions = [_session(project, number, megabytes * 1_000_000 // files) for number in range(files)]
        with recollect.open(Path(folder) / "memory.db", background=False) as memory:
            kept = ImportedFiles(Path(folder) / "state", Path(memory.location), memory.namespace)
            keeping_out = KeepingOut.own(())
            watched = [Watched("Claude Code", project.parent)]
            began = time.perf_counter()
            done = Watcher(memory, watched, kept, keeping_out).round()
            took = time.perf_counter() - began
            count = sum(taken.report.written.messages for taken in done.taken)
            print(f"first round: {count:,} messages of {megabytes} MB in {files} sessions, {took:.1f} s")
            began = time.perf_counter()
            look(project.parent)
            print(f"a look: {1000 * (time.perf_counter() - began):.1f} ms")
            watcher = Watcher(memory, watched, kept, keeping_out)  # as after a restart
            began = time.perf_counter()
            watcher.round()
            print(f"a round without anything new: {1000 * (time.perf_counter() - began):.1f} ms")
            delays, spent = _appended(watcher, sessions[files // 2])
            print(
                f"from write to found: {', '.join(f'{delay:.2f}' for delay in delays)} s; median {median(delays):.2f} s"
            )
            print(f"an import of it: median {1000 * median(spent):.0f} ms")
            print(f"peak memory: {peak_memory() / (1 << 20):.0f} MB")


def _session(project: Path, number: int, size: int) -> Path:
    path = project / f"5e551017-0000-4000-8000-{number:012}.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        line = 0
        while stream.tell() < size:
            stream.write(_line(path.stem, line, 40 if line % 2 else 12))
            line += 1
    return path


def _line(session: str, number: int, sentences: int) -> str:
    role = "assistant" if number % 2 else "user"
    text = f"{number} {session[-4:]} " + _TEXT * sentences
    value = {
        "type": role,
        "uuid": f"{session}-{number}",
        "parentUuid": f"{session}-{number - 1}" if number else None,
        "sessionId": session,
        "cwd": "/srv/shop",
        "timestamp": f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": role, "content": text, **({"id": f"m{number}"} if number % 2 else {})},
    }
    return json.dumps(value) + "\n"


def _appended(watcher: Watcher, session: Path) -> tuple[list[float], list[float]]:
    """The seconds from each write until it was in, and what its import took."""
    stop, came = threading.Event(), threading.Semaphore(0)
    rounds: list[Round] = []

    def told(done: Round) -> None:
        rounds.append(done)
        came.release()

    thread = threading.Thread(target=watcher.run, args=(stop, told))
    thread.start()
    number = sum(1 for _ in session.open(encoding="utf-8"))
    delays = []
    for own in range(number, number + _APPENDED):
        with session.open("a", encoding="utf-8") as stream:
            stream.write(_line(session.stem, own, 5))
        began = time.perf_counter()
        came.acquire()
        delays.append(time.perf_counter() - began)
        time.sleep(0.37)
    stop.set()
    thread.join()
    return delays, [taken.seconds for done in rounds for taken in done.taken]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
