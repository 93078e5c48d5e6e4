"""Putting records: whole, by id, so that a repeated write changes nothing. All records of a kind at once.

A property of a node is named like the field. Relations that fields say are drawn as relationships. A written edge is a
relationship with a `name` where both its ends are there and its type can be drawn. Until then, and else, it is an
`Edge` node: it may be written before its ends, or be about something that is no node. One of a type that fields say
stays apart from these, as a node.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from recollect.engines import plans
from recollect.engines.codec import decode, encode, names, pack
from recollect.engines.neo4j.writing import KnownNode, Writing, labelled
from recollect.errors import NotFound, StoreDamaged
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Node,
    NodeId,
    NodeKind,
    PartKind,
    ToolCall,
    Turn,
)
from recollect.store.change import Change, EdgeKey, Mark, Record
from recollect.store.passages import FINDABLE_STATES
from recollect.store.results import OF_FIELDS, Lost

LINK = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id}) MATCH (b:Node {namespace: $ns, id: r.target_id})
CREATE (a)-[:$(r.type)]->(b)
"""
UNLINK_REPLIES = "UNWIND $rows AS id MATCH (m:Node {namespace: $ns, id: id})-[x:REPLIES_TO]->() DELETE x"
# Of tool calls and turns.
UNLINK = """
UNWIND $rows AS id
MATCH (n:Node {namespace: $ns, id: id})-[x:CALLED_BY|HAS_TURN|HAS_QUERY|HAS_RESPONSE|NEXT_TURN]-()
DELETE x
"""
LINK_CHUNKS = """
UNWIND $rows AS r MATCH (k:Node {namespace: $ns, id: r.id}) MATCH (p:Node {namespace: $ns, id: r.parent_id})
MERGE (k)-[:CHUNK_OF]->(p)
"""
FIND_BESIDE = """
UNWIND $rows AS r MATCH (t:Turn)
WHERE t.namespace = $ns AND t.conversation_id = r.conversation_id AND t.position = r.position
RETURN r.id AS id, r.position AS position, t.id AS beside
"""
ADD_ROLES = "UNWIND $rows AS r MATCH (m:Node {namespace: $ns, id: r.id}) SET m:$(r.roles)"
DRAW = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id}) MATCH (b:Node {namespace: $ns, id: r.target_id})
MERGE (a)-[x:$(r.type) {name: r.name}]->(b) SET x.properties = r.properties
RETURN r.at AS at
"""
KEEP = """
UNWIND $rows AS r
MERGE (e:Edge {namespace: $ns, source_id: r.source_id, type: r.type, target_id: r.target_id, name: r.name})
SET e.properties = r.properties, e.drawable = r.drawable
"""
WAITING = """
UNWIND $rows AS id
CALL (id) {
    MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = id AND e.type IS NOT NULL AND e.target_id IS NOT NULL
      AND e.name IS NOT NULL RETURN e
    UNION MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = id RETURN e
}
WITH DISTINCT e WHERE e.drawable
MATCH (:Node {namespace: $ns, id: e.source_id}) MATCH (:Node {namespace: $ns, id: e.target_id})
RETURN e.source_id AS source_id, e.type AS type, e.target_id AS target_id, e.name AS name, e.properties AS properties
"""
CUT_KEPT = """
UNWIND $rows AS r
MATCH (e:Edge {namespace: $ns, source_id: r.source_id, type: r.type, target_id: r.target_id, name: r.name}) DELETE e
"""
CUT_DRAWN = """
UNWIND $rows AS r
MATCH (a:Node {namespace: $ns, id: r.source_id})-[x]->(b:Node {namespace: $ns, id: r.target_id})
WHERE type(x) = r.type AND x.name = r.name DELETE x
"""
# Before a node goes: the edges that were written about it are kept, as before it came.
DETACH = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id})-[x]-() WHERE x.name IS NOT NULL
WITH DISTINCT x
MERGE (e:Edge {namespace: $ns, source_id: startNode(x).id, type: type(x), target_id: endNode(x).id, name: x.name})
SET e.properties = x.properties, e.drawable = true
"""
# What is erased keeps no edges at all but those that fields say.
CUT_ALL_DRAWN = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id})-[x]-() WHERE x.name IS NOT NULL DELETE x
"""
CUT_ALL_KEPT = """
UNWIND $rows AS id
CALL (id) {
    MATCH (e:Edge) WHERE e.namespace = $ns AND e.source_id = id AND e.type IS NOT NULL AND e.target_id IS NOT NULL
      AND e.name IS NOT NULL RETURN e
    UNION MATCH (e:Edge) WHERE e.namespace = $ns AND e.target_id = id RETURN e
}
WITH DISTINCT e DELETE e
"""

_DRAWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def roles(turns: Iterable[Turn]) -> Mapping[NodeId, Sequence[str]]:
    """The labels that turns give to messages."""
    found: dict[NodeId, dict[str, None]] = {}
    for turn in turns:
        found.setdefault(turn.query_id, {})["Query"] = None
        for node_id in turn.response_ids:
            found.setdefault(node_id, {})["Response"] = None
    return {node_id: list(own) for node_id, own in found.items()}


def unlink(writing: Writing, messages: Sequence[Message], others: Sequence[ToolCall | Turn]) -> None:
    """Removes what was drawn before of messages that answer another one now, and of calls and turns."""
    writing.put(UNLINK_REPLIES, [message.id for message in messages])
    writing.put(UNLINK, [record.id for record in others])


def link(
    writing: Writing,
    messages: Sequence[Message],
    calls: Sequence[ToolCall],
    turns: Sequence[Turn],
    made: Collection[NodeId],
) -> None:
    """Draws what messages answer, which message each call belongs to, and turns: to their conversation, to each other,
    to query and responses. `made`: the nodes that are new.
    """
    ends = [(message.id, "REPLIES_TO", message.parent_id) for message in messages if message.parent_id]
    ends += [(call.id, "CALLED_BY", call.message_id) for call in calls]
    ends += [(turn.id, "HAS_QUERY", turn.query_id) for turn in turns]
    ends += [(turn.id, "HAS_RESPONSE", node_id) for turn in turns for node_id in turn.response_ids]
    ends = [end for end in ends if _is_there(writing, end[2], "Message")]
    owned = [turn for turn in turns if _is_there(writing, turn.conversation_id, "Conversation")]
    ends += [(turn.conversation_id, "HAS_TURN", turn.id) for turn in owned]
    ends += [(node_id, "NEXT_TURN", beside) for node_id, beside in _following(writing, turns, made)]
    writing.put(LINK, [{"source_id": a, "type": kind, "target_id": b} for a, kind, b in ends])
    known = {i: own for i, own in roles(turns).items() if i not in made and _is_there(writing, i, "Message")}
    writing.put(ADD_ROLES, [{"id": node_id, "roles": own} for node_id, own in known.items()])


def _is_there(writing: Writing, id: NodeId, label: str) -> bool:
    known = writing.known(id)
    return known is not None and label in known.labels


def _following(writing: Writing, turns: Sequence[Turn], made: Collection[NodeId]) -> list[tuple[NodeId, NodeId]]:
    """Which turn follows which, where one of the two is one of these."""
    here = {(turn.conversation_id, turn.position): turn.id for turn in turns}
    pairs = {(node_id, here[owner, at + 1]) for (owner, at), node_id in here.items() if (owner, at + 1) in here}
    sought = [
        {"id": turn.id, "conversation_id": turn.conversation_id, "position": at}
        for turn in turns
        if turn.conversation_id not in made
        for at in (turn.position - 1, turn.position + 1)
        if at >= 0 and (turn.conversation_id, at) not in here
    ]
    position = {turn.id: turn.position for turn in turns}
    for record in writing.put(FIND_BESIDE, sought):
        ends = record["id"], record["beside"]
        pairs.add(ends if record["position"] > position[record["id"]] else (ends[1], ends[0]))
    return sorted(pairs)


def put_edges(writing: Writing, edges: Sequence[Edge]) -> None:
    """Writes edges; an equal one gets the new properties. None of what was erased, which they may tell of."""
    writing.know([end for edge in edges for end in (edge.source_id, edge.target_id)])
    rows = [
        {
            "at": at,
            "source_id": edge.source_id,
            "type": edge.type,
            "target_id": edge.target_id,
            "name": edge.name,
            "properties": pack(dict(edge.properties)),
            "drawable": edge.type not in OF_FIELDS and bool(_DRAWABLE.fullmatch(edge.type)),
        }
        for at, edge in enumerate({edge.key: edge for edge in edges}.values())
        if not (_is_erased(writing, edge.source_id) or _is_erased(writing, edge.target_id))
    ]
    drawn = {record["at"] for record in writing.put(DRAW, [row for row in rows if row["drawable"]])}
    writing.put(KEEP, [row for row in rows if row["at"] not in drawn])


def _is_erased(writing: Writing, id: NodeId) -> bool:
    known = writing.known(id)
    return known is not None and known.erased


def draw_waiting(writing: Writing, ids: Sequence[NodeId]) -> None:
    """Draws the edges that waited for these nodes."""
    if not writing.waiting:
        return
    found = {
        tuple(r[name] for name in ("source_id", "type", "target_id", "name")): r for r in writing.put(WAITING, ids)
    }
    rows = [{"at": at, **dict(record)} for at, record in enumerate(found.values())]
    writing.put(DRAW, rows)
    writing.put(CUT_KEPT, rows)


def cut_edges(writing: Writing, keys: Iterable[EdgeKey]) -> None:
    """Removes edges by their keys; one that is not there is no matter."""
    rows = [{"source_id": a, "type": kind, "target_id": b, "name": name} for a, kind, b, name in keys]
    writing.put(CUT_KEPT, rows)
    writing.put(CUT_DRAWN, rows)


T = TypeVar("T")
Properties = Mapping[str, Any]

#: The label of each kind of record; of a derived node it is DERIVED, beside its own (`own_label`).
LABELS: Mapping[type[Any], str] = {
    Conversation: "Conversation",
    Message: "Message",
    ToolCall: "ToolCall",
    Turn: "Turn",
    Chunk: "Chunk",
    Document: "Document",
    Node: "Derived",
}

_FLAGS = frozenset({"active", "deleted", "erased"})  # true and false in the graph, for whoever asks it
_LONGEST_KEY = 500


def own_label(kind: NodeKind) -> str:
    """The label of a kind of derived node: Summary, Fact …"""
    return kind.value.capitalize()


def all_labels(record: Record) -> list[str]:
    """The labels that the node of a record is made with."""
    own = LABELS[type(record)]
    if isinstance(record, Node):
        return ["Node", own, own_label(record.kind)]
    return ["Node", own, "Session"] if isinstance(record, Conversation) else ["Node", own]


def key(text: str | None) -> str | None:
    """What stands for a text in an index: itself, or of a long one its fingerprint (an index takes 8,000 bytes)."""
    if text is None or len(text) <= _LONGEST_KEY:
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def source_key(source_id: str | None) -> str | None:
    """What source ids are looked up by, whatever their case."""
    return key(source_id.casefold()) if source_id is not None else None


def properties(record: Record) -> dict[str, Any]:
    """All that is set when a record is put; what is None is removed."""
    found: dict[str, Any] = dict(zip(names(type(record)), encode(record), strict=True))
    for name in _FLAGS & found.keys():
        found[name] = bool(found[name])
    if isinstance(record, Message):
        found["source_key"] = source_key(record.source_id)
        # Only messages of people with names have this property, and so only they are in its index.
        found["named"] = True if record.speaker is not None and record.kind is Kind.SAID else None
        found["attachments"] = sum(part.kind is not PartKind.REASONING for part in record.parts) or None
    elif isinstance(record, Conversation):
        found["source_key"] = source_key(record.source_id)
        found["folded"] = record.title.casefold()
    elif isinstance(record, Document):
        found["folded"] = record.title.casefold()
    elif isinstance(record, Node):
        found["short_key"] = key(record.key)
    return found


def readable(kind: type[T], nodes: Iterable[Properties], lost: Lost | None) -> list[T]:
    """Records, without those that are damaged where `lost` counts them. Raises StoreDamaged where nothing does."""
    found: list[T] = []
    for node in nodes:
        try:
            found.append(record(kind, node))
        except StoreDamaged:
            if lost is None:
                raise
            lost.count(kind)
    return found


def record(kind: type[T], node: Properties) -> T:
    """The inverse."""
    return decode(kind, [node.get(name) for name in names(kind)])


CREATE = "UNWIND $rows AS r CREATE (n:$(r.labels)) SET n = r.values, n.namespace = $ns"
REPLACE = "UNWIND $rows AS r MATCH (n:Node {namespace: $ns, id: r.id}) SET n += r.values"
CHUNKS_OF = """
UNWIND $rows AS id MATCH (k:Chunk) WHERE k.namespace = $ns AND k.parent_id = id RETURN k.id AS id
"""
DELETE = "UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id}) DETACH DELETE n"
# A conversation has its messages counted, and its last turn named: by these a reader tells whether it sees all of it.
RAISE = """
UNWIND $rows AS r MATCH (n:Node {namespace: $ns, id: r.id})
SET n.revision = coalesce(n.revision, 0) + 1, n.digest = r.digest,
    n.messages = coalesce(n.messages + r.messages, n.messages, r.messages)
"""
LAST_TURN = """
UNWIND $rows AS id MATCH (n:Conversation&Node {namespace: $ns, id: id})
CALL (n) {
    MATCH (t:Turn) WHERE t.namespace = $ns AND t.conversation_id = n.id AND t.position >= 0
    RETURN t.id AS last ORDER BY t.namespace DESC, t.conversation_id DESC, t.position DESC, t.id DESC LIMIT 1
}
SET n.turn_id = last
"""
MARK_DELETED = """
UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id}) SET n.deleted = $deleted
"""
MARK_ACTIVE = "UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id}) SET n.active = $active"
MARK_STATE = "UNWIND $rows AS id MATCH (n:Node {namespace: $ns, id: id}) SET n.state = $state"

_NUMBERED = (Conversation, Message, Document, Node)
_REVISED = (Conversation, Document, Node)

Row = dict[str, Any]


class Putting:
    """What the records of one change do to the graph. `put` is planned by `run`."""

    def __init__(self, writing: Writing, change: Change) -> None:
        self._writing, self._change, self.put = writing, change, plans.Put()

    def compare(self) -> None:
        """Looks up everything that the change speaks of. Raises Stale."""
        change = self._change
        ids: dict[NodeId, None] = dict.fromkeys([*change.expect, *change.digests])
        for record in change.put:
            ids[record.id] = None
            if isinstance(record, Message | ToolCall | Turn):
                ids[record.conversation_id] = None
            if isinstance(record, ToolCall):
                ids[record.message_id] = None
            if isinstance(record, Message | Chunk) and record.parent_id is not None:
                ids[record.parent_id] = None
            if isinstance(record, Turn):
                ids.update(dict.fromkeys([record.query_id, *record.response_ids]))
        for mark in change.mark:
            ids.update(dict.fromkeys(mark.ids))
        self._writing.know(ids)
        known = [there for node_id in ids if (there := self._writing.known(node_id)) is not None]
        self._writing.know(there.conversation_id for there in known if there.conversation_id is not None)
        revisions = {there.id: there.revision for there in known}
        plans.refuse_stale(change.expect, revisions.get)

    def run(self) -> None:
        """Puts, marks, raises revisions. Raises NotFound, StoreError."""
        change = self._change
        self.put = plans.put_plan(change, self._there)
        kept = [record for records in self.put.records.values() for record in records]
        touched = self.put.touched
        touched |= {node_id: None for node_id in change.digests if self._writing.known(node_id) is not None}
        made = frozenset(self._put())
        self._link(kept, made)
        draw_waiting(self._writing, list(made))
        for mark in change.mark:
            touched |= dict.fromkeys(self._mark(mark))
        messages = _message_counts(r for r in self.put.of(Message) if r.id in made)
        rows = [
            {"id": node_id, "digest": change.digests.get(node_id), "messages": messages.get(node_id)}
            for node_id in touched
            if node_id not in made
        ]
        self._writing.put(RAISE, rows)
        last_turns = _last_turns(self.put.of(Turn))
        self._writing.put(LAST_TURN, [node_id for node_id in last_turns if node_id not in made])

    def _there(self, kind: type[Record], id: NodeId) -> plans.There | None:
        known = self._writing.known(id)
        return plans.There(known.erased, known.conversation_id, known.position) if known else None

    # --- records ----------------------------------------------------------------------------------------------------
    def _put(self) -> list[NodeId]:
        """Puts records; returns those that are new."""
        replaced, created, made = list[Row](), list[Row](), list[NodeId]()
        messages, turns = _message_counts(self.put.of(Message)), _last_turns(self.put.of(Turn))
        labels_of = roles(self.put.of(Turn))
        for kind, label in LABELS.items():
            fresh = []
            for record in self.put.of(kind):
                there = self._writing.known(record.id)
                if there is None:
                    fresh.append(record)
                    continue
                labelled(there, label)
                if isinstance(record, Node):
                    labelled(there, own_label(record.kind))
                replaced.append({"id": record.id, "values": properties(record)})
                self._writing.change(record.id, message_id=getattr(record, "message_id", None), **_state(record))
            numbers = self._writing.numbers(len(fresh)) if kind in _NUMBERED else None
            for at, record in enumerate(fresh):
                values = properties(record)
                if numbers is not None:
                    values["number"] = numbers[at]
                if kind in _REVISED:
                    values |= {"revision": 1, "digest": self._change.digests.get(record.id)}
                if kind is Conversation:
                    values |= {"messages": messages.get(record.id), "turn_id": turns.get(record.id)}
                self._writing.learn(
                    KnownNode(
                        record.id,
                        frozenset(["Node", label]),
                        values.get("number"),
                        getattr(record, "conversation_id", None),
                        getattr(record, "message_id", None),
                        getattr(record, "parent_id", None),
                        getattr(record, "position", None),
                        fresh=True,
                        **_state(record),
                    )
                )
                labels = all_labels(record) + list(labels_of.get(record.id, ()) if kind is Message else ())
                created.append({"labels": labels, "values": values})
                made.append(record.id)
        self._writing.put(REPLACE, replaced)
        self._writing.put(CREATE, created)
        return made

    def _link(self, kept: Sequence[Record], made: frozenset[NodeId]) -> None:
        """Draws what the fields of the records say, and removes the chunks that their owners have no more."""
        moved = []
        for message in self.put.of(Message):
            known = self._writing.known(message.id)
            if message.id not in made and known is not None and known.parent_id != message.parent_id:
                moved.append(message)
                self._writing.change(message.id, parent_id=message.parent_id)
        calls, turns, chunks = self.put.of(ToolCall), self.put.of(Turn), self.put.of(Chunk)
        unlink(self._writing, moved, [r for r in calls + turns if r.id not in made])
        linked = [*moved, *(r for r in self.put.of(Message) if r.id in made)]
        link(self._writing, linked, calls, turns, made)
        there = {chunk.id for chunk in chunks}
        old = self._writing.put(CHUNKS_OF, [parent for parent in self.put.parents if parent not in made])
        gone = [record["id"] for record in old if record["id"] not in there]
        self._writing.put(DETACH, gone)
        self._writing.put(DELETE, gone)
        self._writing.put(LINK_CHUNKS, [{"id": k.id, "parent_id": k.parent_id} for k in chunks])

    # --- marks -------------------------------------------------------------------------------------------------------
    def _mark(self, mark: Mark) -> list[NodeId]:
        """Marks; returns whose revisions go up. What is erased stays deleted."""
        of: dict[str, list[KnownNode]] = {"Message": [], "Conversation": [], "Derived": []}
        for node_id in dict.fromkeys(mark.ids):
            known = self._writing.known(node_id)
            label = next((label for label in of if known is not None and label in known.labels), None)
            if known is None or label is None:
                raise NotFound(f"No message or node has the ID {node_id}.", hint="To find messages: recollect search")
            of[label].append(known)
        derived = [known.id for known in of["Derived"]]
        if mark.deleted is not None:
            living = [known.id for known in of["Message"] + of["Conversation"] if not known.erased]
            self._writing.put(MARK_DELETED, living, deleted=mark.deleted)
            for node_id in living:
                self._writing.change(node_id, deleted=mark.deleted)
        if mark.active is not None:
            self._writing.put(MARK_ACTIVE, [known.id for known in of["Message"]], active=mark.active)
        if mark.state is not None:
            self._writing.put(MARK_STATE, derived, state=mark.state)
            for node_id in derived:
                self._writing.change(node_id, findable=mark.state in FINDABLE_STATES)
        owners = [known.conversation_id or known.id for known in of["Message"]]
        return [*owners, *(known.id for known in of["Conversation"]), *derived]


def _state(record: Record) -> dict[str, bool]:
    """What decides whether a record may have passages."""
    return {
        "deleted": getattr(record, "deleted", False),
        "erased": getattr(record, "erased", False),
        "findable": not isinstance(record, Node) or record.state in FINDABLE_STATES,
    }


def _message_counts(messages: Iterable[Message]) -> Mapping[NodeId, int]:
    return Counter(message.conversation_id for message in messages)


def _last_turns(turns: Iterable[Turn]) -> Mapping[NodeId, NodeId]:
    """Which of these turns is the last of each conversation."""
    ordered = sorted(turns, key=lambda turn: (turn.position, turn.id))
    return {turn.conversation_id: turn.id for turn in ordered}
