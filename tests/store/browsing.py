"""The record, asked at random: pages, records by id, edges, what stands above and around, names; beside the model."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal

from recollect.record import Chunk, Conversation, Document, Edge, Node, NodeId, ToolCall, Turn, to_microseconds
from recollect.store import View, Where
from tests.store.comparing import OLDEST, STORES, counts, records, time_of
from tests.store.reference_model import Model


def browse(view: View, model: Model, random: Random) -> None:
    """Pages of what some restriction leaves, in either order, whatever their size; any id to begin after."""
    kind = random.choice([k for k in STORES if k is not Chunk])
    where = _where(kind, model, random)
    expected = [record for record in records(model, kind) if _is_wanted(record, where)]
    if where.order == "newest":
        expected.sort(key=lambda r: (r.position if kind is Turn else time_of(r), r.id), reverse=True)
    limit, after = random.choice([1, 2, 3, 100]), None
    if where.order == "id" and random.random() < 0.3:
        after = random.choice(["", "A", "Msg-1", "Msg-12", "m", "zz", *(r.id for r in expected)])
        expected = [record for record in expected if record.id > after]
    found: list[Any] = []
    while True:
        page = view.find(kind, where, after=after, limit=limit)
        found += page.items
        assert page.next is None or len(page.items) == limit
        if page.next is None:
            break
        after = page.next
    assert found == expected, (kind.__name__, where)


def _where(kind: Any, model: Model, random: Random) -> Where:
    def maybe(value: Any, other: Any = None) -> Any:
        return value if random.random() < 0.35 else other

    order: Literal["id", "newest"] = random.choice(["id", "newest"])
    where = Where(order=order)
    if kind in (Conversation, Document):
        title = random.choice(["heron", "HERON", "Strasse", "STRASSE", "tide proxy", 'Q"U', "%"])
        where = replace(where, sources=maybe(("claude",), ()), title=maybe(title, ""))
    else:
        where = replace(where, conversation=maybe(random.choice(["Conv-0", "Conv-1", "Conv-9"])))
    if kind is Node:
        states = random.sample(["live", "stale", "gone"], 2)
        where = replace(
            where,
            kinds=maybe(("fact", "entity", "summary"), ()),
            keys=maybe(("heron", "proxy"), ()),
            states=maybe(tuple(states), ()),
            current=maybe(_moment(random)),
        )
    if kind is not Turn:
        where = replace(where, since=maybe(_moment(random)), until=maybe(_moment(random)))
    if kind not in (Turn, ToolCall):
        where = replace(where, deleted=maybe(random.random() < 0.5))
    return where


def _moment(random: Random) -> int:
    start = datetime(2025, 3, 1, 9, tzinfo=UTC).timestamp()
    return int((start + 60 * random.randint(-2, 62) + 86_400 * random.choice([0, 0, 400])) * 1_000_000)


def _is_wanted(record: Any, where: Where) -> bool:
    latest = time_of(record)
    created = getattr(record, "created", None)
    earliest = latest if created is None else to_microseconds(created)
    begins, ends = (to_microseconds(getattr(record, name, None)) for name in ("valid_from", "valid_to"))
    own = {getattr(record, "conversation_id", None)}
    return bool(
        (not where.sources or record.source in where.sources)
        and (not where.title or where.title.casefold() in record.title.casefold())
        and (where.conversation is None or where.conversation in own)
        and (not where.kinds or record.kind in where.kinds)
        and (not where.keys or record.key in where.keys)
        and (not where.states or record.state in where.states)
        and (where.since is None or latest >= where.since)
        and (where.until is None or OLDEST < earliest < where.until)
        and (
            where.current is None
            or ((begins is None or begins <= where.current) and (ends is None or where.current < ends))
        )
        and (where.deleted is None or getattr(record, "deleted", record.erased) == where.deleted)
    )


def walk(view: View, model: Model, random: Random, now: datetime) -> None:
    """Records by id, edges of a frontier, what stands above and around, names, counts of some conversations."""
    kind = random.choice(list(STORES))
    known = {record.id: record for record in records(model, kind)}
    asked = random.choices([*known, NodeId("nothing")], k=random.randint(0, 4))
    if kind is Chunk:
        parents = list(dict.fromkeys(random.choices([*model.messages, *model.documents, NodeId("nothing")], k=4)))
        chunks = sorted(known.values(), key=lambda chunk: (chunk.part, chunk.index))
        assert view.get(Chunk, parents) == [c for parent in parents for c in chunks if c.parent_id == parent]
    else:
        assert view.get(kind, asked) == [known[one] for one in asked if one in known]
    frontier = random.choices([*_everything(model), NodeId("entity-0")], k=random.randint(1, 5))
    way: Literal["out", "in"] = random.choice(["out", "in"])
    types = random.choice([(), (), ("REPLIES_TO", "HAS_TURN"), ("RELATED_TO",)])
    limit = random.choice([2, 10_000])
    edges = [e for e in all_edges(model) if (e.source_id if way == "out" else e.target_id) in frontier]
    edges = [e for e in edges if not types or e.type in types]
    edges.sort(key=lambda e: (e.type, e.source_id, e.target_id, e.name))
    assert view.edges(frontier, types, way, limit) == edges[:limit]
    if model.messages:
        message = random.choice(list(model.messages.values()))
        up, at = [], message
        while at.parent_id is not None:
            at = model.messages[at.parent_id]
            up.append(at)
        most = random.choice([1, 2, 50])
        assert view.above(message.id, most) == up[:most]
    spans = [(NodeId(f"Conv-{random.randint(0, 4)}"), low := random.randint(0, 4), low + 2) for _ in range(3)]
    assert view.around(spans) == [
        m for conversation_id, low, high in spans for m in model.of(conversation_id) if low <= m.position <= high
    ]
    some = [NodeId(f"Conv-{number}") for number in random.sample(range(5), 2)]
    assert view.counts(some) == counts(model, now, some)
    text = random.choice(
        ["Conv-1", "cOnv-1", "-1", "aB1-0", "AB1-0", "Ab1-0", "1-0", "msg-10", "MSG-1", "src-1", "%", "_1"]
    )
    assert view.named(text, limit=3) == _named(model, text)[:3], text


def _named(model: Model, text: str) -> list[NodeId]:
    """As typed, else whatever the case, else the ends of ids."""
    named: list[Any] = [*model.conversations.values(), *model.messages.values()]
    for same in (str, str.casefold):
        if whole := sorted(r.id for r in named if same(text) in (same(r.id), same(r.source_id or ""))):
            return whole
    return sorted(r.id for r in named if r.id.casefold().endswith(text.casefold()))


def _everything(model: Model) -> list[NodeId]:
    return [node_id for of in STORES.values() for node_id in getattr(model, of)]


def all_edges(model: Model) -> list[Edge]:
    """Those that are written, and those that fields say."""
    found = list(model.written.values())
    found += [Edge(m.id, "REPLIES_TO", m.parent_id) for m in model.messages.values() if m.parent_id]
    found += [Edge(call.id, "CALLED_BY", call.message_id) for call in model.calls.values()]
    found += [Edge(chunk.id, "CHUNK_OF", chunk.parent_id) for chunk in model.chunks.values()]
    for turn in model.turns.values():
        found.append(Edge(turn.conversation_id, "HAS_TURN", turn.id))
        found.append(Edge(turn.id, "HAS_QUERY", turn.query_id))
        found += [Edge(turn.id, "HAS_RESPONSE", answer) for answer in turn.response_ids]
        following = (turn.conversation_id, turn.position + 1)
        found += [
            Edge(turn.id, "NEXT_TURN", t.id)
            for t in model.turns.values()
            if (t.conversation_id, t.position) == following
        ]
    return found
