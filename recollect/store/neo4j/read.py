"""Reading records. Every statement names the namespace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import neo4j

from recollect.record import Document, Edge, Message, Namespace, NodeId, Thread, ToolCall
from recollect.record.nodes import Chunk
from recollect.store.base import ConversationFilter, ConversationRow, Counts, End, Outline, Span, Stand
from recollect.store.neo4j import queries, records
from recollect.store.rows import unpack_metadata

Transaction = neo4j.ManagedTransaction


def stands(tx: Transaction, ns: Namespace, ids: Sequence[NodeId]) -> dict[NodeId, Stand]:
    """Revision and digest of those conversations that are there."""
    found = tx.run(queries.STANDS, ns=ns, ids=list(ids))
    return {record["id"]: Stand(record["revision"], record["digest"]) for record in found}


def thread(tx: Transaction, ns: Namespace, conversation_id: NodeId) -> Thread | None:
    """A conversation with everything in it."""
    whose = {"ns": ns, "id": conversation_id}
    found = tx.run(queries.CONVERSATION, whose).single()
    if found is None:
        return None
    messages = sorted((r["message"] for r in tx.run(queries.THREAD_MESSAGES, whose)), key=_by_position)
    calls = [records.tool_call(r["call"]) for r in tx.run(queries.THREAD_TOOL_CALLS, whose)]
    turns = [records.turn(r["turn"]) for r in tx.run(queries.THREAD_TURNS, whose)]
    parents = [m["id"] for m in messages] + [call.id for call in calls]
    return Thread(
        conversation=records.conversation(found["conversation"]),
        messages=tuple(map(records.message, messages)),
        tool_calls=tuple(sorted(calls, key=lambda call: (call.position, call.id))),
        turns=tuple(sorted(turns, key=lambda turn: (turn.position, turn.id))),
        chunks=tuple(_chunks(tx, ns, parents)),
        windows=tuple(records.window(r["window"]) for r in tx.run(queries.THREAD_WINDOWS, whose)),
    )


def end(tx: Transaction, ns: Namespace, conversation_id: NodeId) -> End | None:
    """The growing end of a conversation: a few seeks, whatever its length."""
    found = tx.run(queries.END, ns=ns, id=conversation_id).single()
    if found is None:
        return None
    return End(
        conversation=records.conversation(found["conversation"]),
        revision=found["conversation"]["revision"],
        message_count=0 if found["last"] is None else found["last"] + 1,
        leaf=records.message(found["leaf"]) if found["leaf"] else None,
        turn=records.turn(found["turn"]) if found["turn"] else None,
        window=records.window(found["window"]) if found["window"] else None,
        named=found["named"],
    )


def outlines(tx: Transaction, ns: Namespace, spans: Sequence[Span]) -> dict[NodeId, Outline]:
    """Conversations with the windows that touch a span of each."""
    return {
        record["conversation"]["id"]: Outline(
            records.conversation(record["conversation"]),
            0 if record["last"] is None else record["last"] + 1,
            tuple(sorted(map(records.window, record["windows"]), key=lambda window: window.index)),
        )
        for record in tx.run(queries.OUTLINES, ns=ns, spans=_spans(spans))
    }


def conversations(
    tx: Transaction, ns: Namespace, wanted: ConversationFilter, limit: int, offset: int
) -> list[ConversationRow]:
    """Newest first."""
    found = tx.run(
        queries.LIST_CONVERSATIONS,
        ns=ns,
        sources=list(wanted.sources) or None,
        title=wanted.title,
        since=wanted.since,
        until=wanted.until,
        limit=limit,
        offset=offset,
    )
    return [ConversationRow(records.conversation(r["conversation"]), r["messages"]) for r in found]


def conversation_ids(tx: Transaction, ns: Namespace) -> list[NodeId]:
    """All, sorted."""
    return sorted(record["id"] for record in tx.run(queries.CONVERSATION_IDS, ns=ns))


def messages(tx: Transaction, ns: Namespace, ids: Sequence[NodeId]) -> list[Message]:
    """Those that are there, in the order asked for."""
    found = [records.message(r["message"]) for r in tx.run(queries.MESSAGES, ns=ns, ids=list(dict.fromkeys(ids)))]
    by_id = {message.id: message for message in found}
    return [by_id[i] for i in ids if i in by_id]


def around(tx: Transaction, ns: Namespace, spans: Sequence[Span]) -> list[Message]:
    """The messages at these positions."""
    found = sorted(
        ((r["place"], r["message"]) for r in tx.run(queries.AROUND, ns=ns, spans=_spans(spans))),
        key=lambda placed: (placed[0], _by_position(placed[1])),
    )
    return [records.message(message) for _, message in found]


def _spans(spans: Sequence[Span]) -> list[dict[str, Any]]:
    return [{"id": conversation_id, "first": first, "last": last} for conversation_id, first, last in spans]


def ids_ending(tx: Transaction, ns: Namespace, suffix: str, limit: int) -> list[NodeId]:
    """Ids that are this, or else that end so; source ids that are this."""
    upper = suffix.upper()
    values = {"ns": ns, "upper": upper, "exact": suffix, "key": records.key(suffix), "limit": limit}
    exact = sorted(tx.run(queries.IDS_EXACT, values), key=lambda record: (record["kind"], record["number"]))
    if exact or not upper.isalnum():
        return [record["id"] for record in exact[:limit]]
    return [record["id"] for record in tx.run(queries.IDS_ENDING, values)]


def tool_calls(tx: Transaction, ns: Namespace, ids: Sequence[NodeId]) -> list[ToolCall]:
    """Those that are there, in the order asked for, with their results."""
    found = [
        records.tool_call(record["call"], record["result"])
        for record in tx.run(queries.TOOL_CALLS, ns=ns, ids=list(dict.fromkeys(ids)))
    ]
    by_id = {call.id: call for call in found}
    return [by_id[i] for i in ids if i in by_id]


def with_calls(tx: Transaction, ns: Namespace, message_ids: Sequence[NodeId]) -> list[NodeId]:
    """These messages and their tool calls: what dies with them."""
    return [*message_ids, *(record["id"] for record in tx.run(queries.CALLS_OF, ns=ns, ids=list(message_ids)))]


def document_ids(tx: Transaction, ns: Namespace) -> list[NodeId]:
    """All, sorted."""
    return sorted(record["id"] for record in tx.run(queries.DOCUMENT_IDS, ns=ns))


def documents(tx: Transaction, ns: Namespace, ids: Sequence[NodeId]) -> list[Document]:
    """Those that are there, sorted by id."""
    found = tx.run(queries.DOCUMENTS, ns=ns, ids=list(dict.fromkeys(ids)))
    return sorted((records.document(r["document"]) for r in found), key=lambda document: document.id)


def chunks(tx: Transaction, ns: Namespace, parent_id: NodeId) -> list[Chunk]:
    """The chunks of one parent."""
    return _chunks(tx, ns, [parent_id])


def edges(tx: Transaction, ns: Namespace) -> list[Edge]:
    """The edges written as such, sorted."""
    return sorted(map(_edge, tx.run(queries.EDGES, ns=ns)), key=lambda e: (e.source_id, e.type, e.target_id))


def neighbours(tx: Transaction, ns: Namespace, node_id: NodeId, types: Iterable[str], inward: bool) -> list[Edge]:
    """Edges that leave a node, or enter it."""
    wanted = set(types)
    found = map(_edge, tx.run(queries.INWARD if inward else queries.OUTWARD, ns=ns, id=node_id))
    return sorted(
        (edge for edge in found if not wanted or edge.type in wanted), key=lambda e: (e.type, e.source_id, e.target_id)
    )


def counts(tx: Transaction, ns: Namespace, space: int, conversation_ids: Sequence[NodeId] | None = None) -> Counts:
    """What is in the namespace, or in some of its conversations (documents and passages: always all)."""
    chosen = {"ns": ns, "space": space, "ids": None if conversation_ids is None else list(conversation_ids)}
    by_source = {record["source"]: record["number"] for record in tx.run(queries.COUNT_CONVERSATIONS, chosen)}
    by_kind: list[Any] = sorted(tx.run(queries.COUNT_MESSAGES, chosen), key=lambda record: str(record["kind"]))
    rest = tx.run(queries.COUNT_REST, chosen).single(strict=True)
    times = [record[edge] for record in by_kind for edge in ("first", "last") if record[edge] is not None]
    return Counts(
        conversations=sum(by_source.values()),
        messages=sum(record["number"] for record in by_kind),
        active=sum(record["active"] for record in by_kind),
        by_kind={record["kind"]: record["number"] for record in by_kind},
        by_source=by_source,
        tool_calls=rest["tool_calls"],
        attachments=sum(record["attachments"] for record in by_kind),
        documents=rest["documents"],
        turns=rest["turns"],
        chunks=rest["chunks"],
        windows=rest["windows"],
        passages=rest["passages"],
        quality=rest["quality"],
        said_passages=rest["said"],
        first=min(times, default=None),
        last=max(times, default=None),
    )


def _chunks(tx: Transaction, ns: Namespace, parents: Sequence[NodeId]) -> list[Chunk]:
    found = [records.chunk(record["chunk"]) for record in tx.run(queries.THREAD_CHUNKS, ns=ns, ids=list(parents))]
    return sorted(found, key=lambda chunk: (chunk.parent_id, chunk.part, chunk.index))


def _by_position(message: Any) -> tuple[int, int]:
    return message["position"], message["number"]


def _edge(record: Any) -> Edge:
    return Edge(record["source"], record["type"], record["target"], unpack_metadata(record["properties"]))
