"""What a process does until it is killed: one kind of write over and over, told before and after on its output.

A line is a list of JSON: "begins" or "did", a message's id, and what state it gets by that: ["living", its words],
["deleted", its words] or ["forgotten", its words]. Imports and backups tell the path instead of an id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, cycle
from pathlib import Path

from recollect.memory import Memory


@contextmanager
def telling(id: str, *states: str) -> Iterator[None]:
    print(json.dumps(["begins", id, states]), flush=True)
    yield
    print(json.dumps(["did", id, states]), flush=True)


def words_of(name: str, number: int) -> str:
    """Words that nobody else says, as one that can be looked for in the bytes of a file."""
    return f"zx{name}n{number}zx of the tide"


def append(memory: Memory, name: str, folder: Path) -> None:
    for number in count():
        stored(memory, name, number)


def stored(memory: Memory, name: str, number: int) -> str:
    own, words = f"{name}N{number}", words_of(name, number)
    with telling(own, "living", words):
        memory.store_message(words, conversation_id=f"C{name}", id=own, title=f"Talk {name}")
    return own


def edit(memory: Memory, name: str, folder: Path) -> None:
    own = stored(memory, name, 0)
    for number in count(1):
        with telling(own, "living", words_of(name, number)):
            memory.update_message(own, words_of(name, number))


def delete(memory: Memory, name: str, folder: Path) -> None:
    for number in count():
        own = stored(memory, name, number)
        with telling(own, "deleted", words_of(name, number)):
            memory.delete(own)
        with telling(own, "living", words_of(name, number)):
            memory.restore(own)
        if number % 2:
            with telling(own, "deleted", words_of(name, number)):
                memory.delete(own)


def forget(memory: Memory, name: str, folder: Path) -> None:
    """Of each three messages of a conversation first the middle one, then the conversation with the two others."""
    for number in count():
        of = f"{name}k{number}"
        first, middle, last = (stored(memory, of, i) for i in range(3))
        with telling(middle, "forgotten", words_of(of, 1)):
            memory.forget(middle)
        print(json.dumps(["begins", first, ["forgotten", words_of(of, 0)]]), flush=True)
        with telling(last, "forgotten", words_of(of, 2)):
            memory.forget(f"C{of}")
        print(json.dumps(["did", first, ["forgotten", words_of(of, 0)]]), flush=True)


def import_(memory: Memory, name: str, folder: Path) -> None:
    for path in cycle(sorted((folder / "exports").iterdir())):
        with telling(str(path), "imported"):
            memory.import_file(path)


def reindex(memory: Memory, name: str, folder: Path) -> None:
    while True:
        memory.upkeep.reindex()


def embed(memory: Memory, name: str, folder: Path) -> None:
    for number in count():
        stored(memory, name, number)
        memory.upkeep.embed(limit=100)


def maintain(memory: Memory, name: str, folder: Path) -> None:
    while True:
        memory.upkeep.maintain()


def backup(memory: Memory, name: str, folder: Path) -> None:
    (folder / "backups").mkdir(exist_ok=True)
    for number in count():
        path = folder / "backups" / f"{name}-{number % 2}.db"
        with telling(str(path), "backed up"):
            memory.upkeep.backup(path)


KINDS: dict[str, Callable[[Memory, str, Path], None]] = {
    "append": append,
    "edit": edit,
    "delete": delete,
    "forget": forget,
    "import": import_,
    "reindex": reindex,
    "embed": embed,
    "maintain": maintain,
    "backup": backup,
}
