"""Other processes for the tests that need some: `python -m tests.processes COMMAND PLACE …` does one thing to a store.

Each says "ready" once it has loaded everything, so that a test measures what it does and not how long Python starts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import apsw

from benchmarks.machine import peak_memory
from benchmarks.worker import MadeUp
from recollect.engines import open_store
from recollect.errors import StoreError
from recollect.memory import Handle, Memory
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import stable_id
from tests.answer.chat.parrot import Parrot
from tests.paths import ROOT
from tests.working import KINDS


def started(command: str, store: str | Path, *arguments: str | Path) -> subprocess.Popen[str]:
    """A process that is ready for its work, which it begins now."""
    words = [sys.executable, "-m", "tests.processes", command, str(store), *map(str, arguments)]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    if (said := process.stdout.readline()) != "ready\n":
        raise RuntimeError(f"{said}{process.communicate()[1]}")
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    return process


def finished(process: subprocess.Popen[str], timeout: float = 600) -> list[str]:
    """What it has printed, line by line. Raises where it failed."""
    printed, errors = process.communicate(timeout=timeout)
    if process.returncode:
        raise RuntimeError(errors)
    return printed.splitlines()


def say(line: object) -> None:
    print(line, flush=True)


def do_import(memory: Memory, path: str) -> None:
    """Imports, and tells what it took: seconds, messages, the most memory ever, in MB."""
    began = time.perf_counter()
    report = memory.import_file(path)
    most = peak_memory() / (1 << 20)
    say(json.dumps({"seconds": time.perf_counter() - began, "messages": report.stored.messages, "mb": most}))


def do_append(memory: Memory, conversation: str) -> None:
    """Appends until somebody stops it, and tells each message that was stored."""
    for number in count():
        say(memory.store_message(f"message {number} of the tide", conversation_id=conversation).id)


def do_insist(memory: Memory, conversation: str) -> None:
    """Appends like that, each message again until it is stored; between two tries it waits for the server."""
    for number in count():
        own = stable_id("insist", conversation, number)
        while True:
            try:
                memory.store_message(f"message {number} of {conversation}", conversation_id=conversation, id=own)
                break
            except StoreError:
                time.sleep(0.1)
        say(own)


def do_give_up(memory: Memory, conversation: str) -> None:
    """Appends like that, and what fails is not tried again."""
    for number in count():
        try:
            say(memory.store_message(f"message {number} of {conversation}", conversation_id=conversation).id)
        except StoreError:
            time.sleep(0.1)


def do_search(memory: Memory, *queries: str) -> None:
    """Searches until so many conversations are there, the best hit read whole; tells the searches and the hits."""
    enough, *asked = queries
    searches = hits = 0
    for query in asked * 1000:
        results = memory.search(query, group_by="message", limit=20)
        assert all(hit.best.message.content for hit in results)
        if results:
            assert results[0].best.message in memory.conversation(results[0].conversation.id).messages
        searches, hits = searches + 1, hits + len(results)
        if memory.upkeep.stats().conversations >= int(enough):
            break
    say(json.dumps({"searches": searches, "hits": hits}))


def do_hold(memory: Memory, seconds: str) -> None:
    """Holds the right to write."""
    connection = apsw.Connection(memory.location)
    connection.execute("BEGIN IMMEDIATE")
    say("held")
    time.sleep(float(seconds))
    connection.close()


def do_chat(memory: Memory, conversation: str) -> None:
    """Chats until somebody stops it, and tells each answer that was stored."""
    memory.handle.asked_model = Parrot()
    for number in count():
        say(memory.chat(conversation, f"Luna asks number {number}: what can Luna eat?").answer_id)


def do_work(memory: Memory, kind: str, name: str, folder: str) -> None:
    """Writes of one kind, until somebody stops it (`tests.working`)."""
    KINDS[kind](memory, name, Path(folder))


COMMANDS: dict[str, Callable[..., None]] = {
    "import": do_import,
    "append": do_append,
    "insist": do_insist,
    "give_up": do_give_up,
    "search": do_search,
    "hold": do_hold,
    "work": do_work,
    "chat": do_chat,
}


def main(command: str, store: str, *arguments: str) -> None:
    embedder = StaticEmbedder()
    embedder.embed(["warm"])
    with Memory(Handle(open_store(store), embedder, quality=MadeUp)) as memory:
        say("ready")
        sys.stdin.readline()
        COMMANDS[command](memory, *arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
