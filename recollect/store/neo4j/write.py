"""Writing records: every statement puts by id, so that a repeated write changes nothing. All rows of a kind at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString, TypeVar

import neo4j

from recollect.errors import NotFound
from recollect.record import Document, Edge, Namespace, NodeId
from recollect.record.nodes import Chunk
from recollect.store.base import StaleChange, ThreadChange
from recollect.store.neo4j import queries, records
from recollect.store.rows import pack

ROWS = 1000  # a statement: the best size measured

#: Relations that fields say; an edge of such a name that is written is not drawn among them.
OF_FIELDS = frozenset({
    "REPLIES_TO", "CALLED_BY", "CHUNK_OF", "HAS_TURN", "NEXT_TURN", "HAS_QUERY", "HAS_RESPONSE", "HAS_WINDOW",
    "PASSAGE_OF", "QUALITY_OF",
})  # fmt: skip
_DRAWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")

T = TypeVar("T")


@dataclass(slots=True)
class Writing:
    """One transaction on a namespace, its node locked. Numbers are given out here, and kept by `finish`."""

    tx: neo4j.ManagedTransaction
    namespace: Namespace
    space: int
    next: int
    rows: list[int]
    sealed: list[int]
    embedder: str | None
    changed: int = 0
    conversations: dict[NodeId, int] = field(default_factory=dict)  # numbers of those that are written
    fresh: dict[NodeId, tuple[int, int]] = field(default_factory=dict)  # of new messages: own number, conversation's

    @classmethod
    def begin(cls, tx: neo4j.ManagedTransaction, namespace: Namespace) -> Writing:
        """Takes the lock; the namespace is made at first use."""
        found = tx.run(queries.LOCK, ns=namespace).single()
        if found is None:
            tx.run(queries.ADD_NAMESPACE, ns=namespace).consume()
            found = tx.run(queries.LOCK, ns=namespace).single(strict=True)
        return cls(
            tx, namespace, found["space"], found["next"], list(found["rows"]), list(found["sealed"]), found["embedder"]
        )

    def numbers(self, count: int) -> range:
        """So many numbers that nothing in this namespace has."""
        first, self.next = self.next, self.next + count
        return range(first, self.next)

    def put(self, statement: LiteralString, rows: Sequence[Any], name: str = "rows", **values: Any) -> list[Any]:
        """Runs a statement over many rows, in pieces; nothing without any. Returns the records."""
        found: list[Any] = []
        for piece in pieces(rows):
            result = self.tx.run(statement, {"ns": self.namespace, "space": self.space, name: piece, **values})
            found += list(result)
        return found

    def finish(self) -> None:
        """Keeps where the numbers stand."""
        self.tx.run(
            queries.ADVANCE, ns=self.namespace, next=self.next, rows=self.rows, sealed=self.sealed, changed=self.changed
        ).consume()


def pieces(rows: Sequence[T], size: int = ROWS) -> Iterator[Sequence[T]]:
    """Rows in runs of a size that one statement takes."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def put_changes(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    """Writes the changes of conversations. Raises StaleChange where one was planned on another revision."""
    if not changes:
        return
    _refuse_stale(writing, changes)
    for change in changes:
        if not change.base_revision:
            writing.conversations[change.conversation.id] = writing.numbers(1)[0]
    writing.put(
        queries.PUT_CONVERSATIONS,
        [
            {
                "id": change.conversation.id,
                "number": writing.conversations[change.conversation.id],
                "values": records.conversation_values(change.conversation, change.digest),
            }
            for change in changes
        ],
    )
    _put_messages(writing, changes)
    _put_tool_calls(writing, changes)
    _put_turns(writing, changes)
    put_chunks(
        writing,
        [chunk for change in changes for chunk in change.chunks],
        cleared=[m.id for change in changes for m in change.edited],
    )
    _put_windows(writing, changes)


def put_documents(writing: Writing, documents: Iterable[Document]) -> None:
    """Writes documents; an equal id is replaced, and loses its chunks."""
    documents = list(documents)
    writing.put(queries.CLEAR_CHUNKS, [d.id for d in documents], "ids")
    writing.put(
        queries.PUT_DOCUMENTS,
        [
            {"id": d.id, "source": d.source, "source_id": d.source_id, "values": records.document_values(d)}
            for d in documents
        ],
    )


def put_chunks(writing: Writing, chunks: Sequence[Chunk], cleared: Iterable[NodeId] = ()) -> None:
    """Writes the chunks of parents; those that these parents, or the cleared ones, had before are gone."""
    writing.put(queries.CLEAR_CHUNKS, sorted({*cleared, *(chunk.parent_id for chunk in chunks)}), "ids")
    writing.put(queries.PUT_CHUNKS, [{"id": c.id, "values": records.chunk_values(c)} for c in chunks])
    writing.put(queries.LINK_CHUNKS, [c.id for c in chunks], "ids")


def put_edges(writing: Writing, edges: Iterable[Edge]) -> None:
    """Writes edges; an equal one gets the new properties."""
    rows = [
        {"source_id": e.source_id, "type": e.type, "target_id": e.target_id, "properties": pack(dict(e.properties))}
        for e in edges
    ]
    writing.put(queries.PUT_EDGES, rows)
    drawn = [r for r in rows if r["type"] not in OF_FIELDS and _DRAWABLE.fullmatch(str(r["type"]))]
    writing.put(queries.DRAW_EDGES, drawn)


def mark_deleted(writing: Writing, ids: Sequence[NodeId], deleted: bool) -> None:
    """Raises NotFound if one of them is not there."""
    found = writing.put(queries.MARK_DELETED, list(dict.fromkeys(ids)), "ids", deleted=deleted)
    missing = set(ids) - {record["id"] for record in found}
    if missing:
        raise NotFound(f"There is no message {min(missing)}.")
    writing.put(queries.BUMP_CONVERSATIONS, sorted({record["conversation_id"] for record in found}), "ids")


def _refuse_stale(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    ids = [change.conversation.id for change in changes]
    found = writing.put(queries.STANDS, ids, "ids")
    stored = {record["id"]: record["revision"] for record in found}
    writing.conversations.update({record["id"]: record["number"] for record in found})
    stale = [c.conversation.id for c in changes if stored.get(c.conversation.id, 0) != c.base_revision]
    if stale:
        raise StaleChange(stale)


def _put_messages(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    added = [(change.conversation.id, message) for change in changes for message in change.added]
    numbers = writing.numbers(len(added))
    writing.fresh.update(
        {m.id: (number, writing.conversations[owner]) for (owner, m), number in zip(added, numbers, strict=True)}
    )
    there = writing.put(
        queries.ADD_MESSAGES,
        [
            {"id": m.id, "conversation_id": owner, "number": number, "values": records.message_values(m)}
            for (owner, m), number in zip(added, numbers, strict=True)
        ],
    )
    for record in there:
        del writing.fresh[record["id"]]
    edited = [message for change in changes for message in change.edited]
    writing.put(queries.UNLINK_REPLIES, [m.id for m in edited], "ids")
    writing.put(queries.EDIT_MESSAGES, [{"id": m.id, "values": records.message_values(m)} for m in edited])
    linked = [m.id for m in edited] + [m.id for _, m in added]
    writing.put(queries.LINK_REPLIES, linked, "ids")
    moved = [p for change in changes for p in change.moved]
    writing.put(queries.MOVE_MESSAGES, [{"id": p.id, "position": p.position, "active": p.active} for p in moved])


def _put_tool_calls(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    calls = [(change.conversation.id, call) for change in changes for call in change.tool_calls]
    writing.put(
        queries.PUT_TOOL_CALLS,
        [{"id": t.id, "conversation_id": owner, "values": records.tool_call_values(t)} for owner, t in calls],
    )
    ids = [t.id for _, t in calls]
    writing.put(queries.UNLINK_TOOL_CALLS, [t.id for c in changes if c.base_revision for t in c.tool_calls], "ids")
    writing.put(queries.LINK_TOOL_CALLS, ids, "ids")


def _put_turns(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    turns = [(change.conversation.id, turn) for change in changes for turn in change.turns]
    writing.put(
        queries.PUT_TURNS,
        [{"id": t.id, "conversation_id": owner, "values": records.turn_values(t)} for owner, t in turns],
    )
    ids = [t.id for _, t in turns]
    known = [t.id for change in changes if change.base_revision for t in change.turns]
    writing.put(queries.UNLINK_TURNS, known, "ids")
    writing.put(queries.LINK_TURNS, ids, "ids")
    writing.put(queries.LINK_TURNS_BEFORE, ids, "ids")
    writing.put(queries.LINK_TURNS_AFTER, known, "ids")
    writing.put(queries.LINK_QUERIES, ids, "ids")
    answers = [{"id": t.id, "message_id": message_id} for _, t in turns for message_id in t.response_ids]
    writing.put(queries.LINK_RESPONSES, answers)


def _put_windows(writing: Writing, changes: Sequence[ThreadChange]) -> None:
    writing.put(
        queries.PUT_WINDOWS,
        [
            {"conversation_id": change.conversation.id, "index": w.index, "start": w.start, "end": w.end}
            for change in changes
            for w in change.windows
        ],
    )
    cut = [
        {"id": change.conversation.id, "count": change.window_count}
        for change in changes
        if change.window_count is not None
    ]
    writing.put(queries.CUT_WINDOWS, cut)
