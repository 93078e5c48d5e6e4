"""What is erased is in no byte of any file beside the store."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.record import Edge, Node, NodeKind, Part, PartKind, Thread, Version, stable_id
from recollect.store import Change, IndexChange, Space, Task
from tests.store.builders import (
    DEFAULT,
    START,
    change_of,
    edited,
    holding,
    index_of,
    node_change,
    passages_of,
    quality_of,
    query,
    said,
    talk,
    thread,
)

pytestmark = pytest.mark.slow

CANARY = "xyzzyplugh"


def everywhere(folder: Path, words: bytes) -> dict[str, int]:
    """How often some bytes stand in each file of a folder, whatever the case."""
    found = {str(f.relative_to(folder)): f.read_bytes().lower().count(words) for f in folder.rglob("*") if f.is_file()}
    return {name: count for name, count in found.items() if count}


def canary_talk(name: str) -> Thread:
    """A conversation with the canary in everything that may hold words."""
    part = Part(PartKind.ATTACHMENT, f"{CANARY}.txt", f"file of {CANARY}", {"m": CANARY})
    messages = [
        said(f"{CANARY} number {i} of {name}", "user", minute=i, source_id=f"{name}-{i}", speaker=f"{CANARY} Smith")
        for i in range(20)
    ]
    whole = thread(name, messages, title=f"About {CANARY}", linear=True)
    grown = [
        replace(m, parts=(part,), metadata={"k": CANARY}, model=CANARY, versions=(Version(f"old {CANARY}", START),))
        for m in whole.messages
    ]
    turns = [replace(t, resolved_query=f"what of {CANARY}", entities=(CANARY,)) for t in whole.turns]
    return replace(
        whole,
        conversation=replace(whole.conversation, metadata={"k": CANARY}),
        messages=tuple(grown),
        turns=tuple(turns),
    )


def fill(space: Space) -> None:
    rng = random.Random(1)
    for i in range(30):
        texts = [" ".join(f"word{rng.randrange(3000)}" for _ in range(rng.choice([3, 30, 300]))) for _ in range(40)]
        space.write(change_of(talk(f"f{i}", *texts)))


def test_the_canary_is_in_no_byte(tmp_path: Path) -> None:
    """S13, and rows that SQLite moved between pages: segments, tail, full text, log, free pages, mapped files."""
    store = SQLiteStore(tmp_path / "memory.db")
    space = store.space(DEFAULT)
    fill(space)
    whole = canary_talk("a")
    task = Task(id=stable_id("t"), kind="k", subject=whole.messages[0].id, payload=CANARY.encode())
    edge = Edge(whole.messages[0].id, "MENTIONS", stable_id("x"), {"as": CANARY}, CANARY)
    space.write(change_of(whole, tasks=[task], edges=[edge]))
    node = Node(stable_id("n"), NodeKind.FACT, CANARY, f"about {CANARY}", conversation_id=whole.conversation.id)
    space.write(node_change(node))
    while space.maintain(timedelta(seconds=30)):
        pass
    for i in range(60):  # edits: words of dead passages lie in segments and tails
        changed, message = edited(whole, i % 20, f"{CANARY} edited {i} {'more ' * (i % 7)}")
        space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    with space.view() as view:
        space.write(Change(index=IndexChange(quality=quality_of(view.unembedded(30)))))
        view.candidates(query(CANARY))
    fill(space)
    assert everywhere(tmp_path, CANARY.encode())
    space.erase([whole.conversation.id])
    assert everywhere(tmp_path, CANARY.encode()) == {}
    assert holding(space, "word77") == holding(space, "word77")
    assert space.check() == []
    store.close()
    assert everywhere(tmp_path, CANARY.encode()) == {}


def test_a_reader_keeps_the_log_from_being_emptied_and_upkeep_ends_it(tmp_path: Path) -> None:
    store, other = SQLiteStore(tmp_path / "memory.db"), SQLiteStore(tmp_path / "memory.db")
    space = store.space(DEFAULT)
    space.write(change_of(canary_talk("a"), talk("b", "the heron stands")))
    with other.space(DEFAULT).view() as view:
        before = view.counts().messages
        space.erase([canary_talk("a").conversation.id])
        assert view.counts().messages == before
        assert not space.maintain(timedelta(seconds=1))  # nothing that can be done now
    space.maintain(timedelta(seconds=1))
    assert everywhere(tmp_path, CANARY.encode()) == {}
    assert holding(space, "heron") == ["the heron stands"]
    store.close()
    other.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_single_messages_go_and_their_neighbours_stay(tmp_path: Path, seed: int) -> None:
    """Messages of all sizes side by side on pages, edited and moved about; some of them go."""
    rng = random.Random(seed)
    store = SQLiteStore(tmp_path / "memory.db", durable=False)
    space = store.space(DEFAULT)
    names = [f"canary{i:04d}x" for i in range(300)]
    threads = [
        talk(f"t{i}", *(f"{name} " + "filler " * rng.choice([0, 5, 100, 900]) for name in names[i * 10 : i * 10 + 10]))
        for i in range(30)
    ]
    space.write(change_of(*threads))
    for _ in range(100):
        i, j = rng.randrange(30), rng.randrange(10)
        text = f"{names[i * 10 + j]} again " + "more " * rng.choice([0, 10, 400])
        threads[i], message = edited(threads[i], j, text)
        space.write(Change(put=[message], index=index_of(passages_of(threads[i], [message.id], titled=False))))
    gone = rng.sample(range(300), 60)
    space.erase([threads[i // 10].messages[i % 10].id for i in gone])
    raw = b"".join(f.read_bytes() for f in tmp_path.iterdir() if f.is_file())
    assert [names[i] for i in gone if names[i].encode() in raw] == []
    for i in sorted(set(range(300)) - set(gone))[::29]:
        assert len(holding(space, names[i])) == 1
    assert space.check() == []
    store.close()


def test_what_was_replaced_is_in_no_byte_once_it_is_purged(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "memory.db")
    space = store.space(DEFAULT)
    fill(space)
    whole = talk("a", *(f"{CANARY} number {i}" for i in range(300)))
    space.write(change_of(whole))
    while space.maintain(timedelta(seconds=30)):
        pass
    with space.view() as view:
        view.candidates(query(CANARY))
    for index in range(len(whole.messages)):
        whole, _ = edited(whole, index, f"without, number {index}")
    passages = passages_of(whole, [message.id for message in whole.messages], titled=False)
    space.write(Change(put=whole.messages, index=index_of(passages)))
    assert everywhere(tmp_path, CANARY.encode())
    space.purge()
    assert everywhere(tmp_path, CANARY.encode()) == {}
    assert holding(space, CANARY) == []
    assert len(holding(space, "without")) > 0
    assert space.check() == []
    store.close()
