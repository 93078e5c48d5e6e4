"""Putting records: whole, by id, so that a repeated write changes nothing. All records of a kind at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.engines.neo4j import relations
from recollect.engines.neo4j.records import LABELS, all_labels, own_label, properties
from recollect.engines.neo4j.writing import Known, Writing, labelled
from recollect.errors import NotFound, StoreError
from recollect.record import Chunk, Conversation, Document, Message, Node, NodeId, ToolCall, Turn
from recollect.store.change import Change, Mark, Record, Stale
from recollect.store.passages import FINDABLE_STATES

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
CALLS_OF = """
UNWIND $rows AS id MATCH (:Message&Node {namespace: $ns, id: id})<-[:CALLED_BY]-(t:ToolCall) RETURN t.id AS id
"""

_NUMBERED = (Conversation, Message, Document, Node)
_REVISED = (Conversation, Document, Node)

Row = dict[str, Any]


@dataclass(slots=True)
class Putting:
    """What the records of one change do to the graph."""

    writing: Writing
    change: Change
    touched: dict[NodeId, None] = field(default_factory=dict)  # whose revision is raised
    silenced: dict[NodeId, None] = field(default_factory=dict)  # owners whose passages go
    retired: dict[NodeId, None] = field(default_factory=dict)  # nodes that live no more: theirs go too

    def compare(self) -> None:
        """Looks up everything that the change speaks of. Raises Stale."""
        self._look()
        self._refuse_stale()

    def run(self) -> None:
        """Puts, marks, raises revisions. Raises NotFound, StoreError."""
        change = self.change
        given = {(type(record), record.id): record for record in change.put}.values()  # of several, the last
        kept = [self._without_words(record) for record in given if not self._is_forgotten(record)]
        for record in given:
            self._touch(record)
        self.touched.update((node_id, None) for node_id in change.digests if self.writing.known(node_id) is not None)
        made = self._put(kept)
        self.retired.update((record.id, None) for record in kept if isinstance(record, Node) and record.state != "live")
        self._link(kept, frozenset(made))
        relations.draw_waiting(self.writing, made)
        for mark in change.mark:
            self._mark(mark)
        calls = self.writing.put(CALLS_OF, list(self.silenced))
        self.silenced.update((record["id"], None) for record in calls)
        self._raise(kept, frozenset(made))

    # --- before anything is written ---------------------------------------------------------------------------------
    def _look(self) -> None:
        change = self.change
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
        self.writing.know(ids)
        self.writing.know(
            known.conversation_id
            for node_id in ids
            if (known := self.writing.known(node_id)) is not None and known.conversation_id is not None
        )

    def _refuse_stale(self) -> None:
        stale = []
        for node_id, expected in self.change.expect.items():
            known = self.writing.known(node_id)
            if ((known.revision or 0) if known else 0) != expected:
                stale.append(node_id)
        if stale:
            raise Stale(stale)

    def _is_forgotten(self, record: Record) -> bool:
        """Whether this was erased, or belongs to something that was, and shall stay so."""
        if self.change.revive:
            return False
        owners: tuple[NodeId, ...] = (record.id,)
        if isinstance(record, Message | ToolCall | Turn):
            owners += (record.conversation_id,)
        if isinstance(record, ToolCall):
            owners += (record.message_id,)
        if isinstance(record, Chunk):
            owners += (record.parent_id,)
        return any(known.erased for owner in owners if (known := self.writing.known(owner)) is not None)

    def _without_words(self, record: Record) -> Record:
        """A turn says nothing of messages that were erased; everything else is as it was given."""
        if not isinstance(record, Turn) or self.change.revive or not _has_words(record):
            return record
        messages = (self.writing.known(node_id) for node_id in (record.query_id, *record.response_ids))
        if not any(known is not None and known.erased for known in messages):
            return record
        return replace(record, resolved_query=None, entities=(), source_chunk_ids=())

    def _touch(self, record: Record) -> None:
        if isinstance(record, Message | ToolCall | Turn):
            self.touched[record.conversation_id] = None
        elif isinstance(record, Conversation) or not (isinstance(record, Chunk) or self._is_forgotten(record)):
            self.touched[record.id] = None  # chunks come with what they are of

    def _touch_known(self, id: NodeId) -> None:
        known = self.writing.known(id)
        if known is not None:
            revised = known.labels & {"Conversation", "Document", "Derived"}
            self.touched[id if revised else known.conversation_id or id] = None

    # --- records ----------------------------------------------------------------------------------------------------
    def _put(self, records: Sequence[Record]) -> list[NodeId]:
        """Puts records; returns those that are new."""
        replaced, created, made = list[Row](), list[Row](), list[NodeId]()
        messages, turns = _message_counts(records), _last_turns(records)
        roles = relations.roles(record for record in records if isinstance(record, Turn))
        for kind, label in LABELS.items():
            own = {record.id: record for record in records if isinstance(record, kind)}
            known = {
                node_id: labelled(there, label) for node_id in own if (there := self.writing.known(node_id)) is not None
            }
            for node_id, there in known.items():
                self._replaced(own[node_id], there)
                replaced.append({"id": node_id, "values": properties(own[node_id])})
            fresh = [record for node_id, record in own.items() if node_id not in known]
            numbers = self.writing.numbers(len(fresh)) if kind in _NUMBERED else None
            for at, record in enumerate(fresh):
                values = properties(record)
                if numbers is not None:
                    values["number"] = numbers[at]
                if kind in _REVISED:
                    values |= {"revision": 1, "digest": self.change.digests.get(record.id)}
                if kind is Conversation:
                    values |= {"messages": messages.get(record.id), "turn_id": turns.get(record.id)}
                labels = all_labels(record)
                if kind is Message:
                    labels += roles.get(record.id, ())
                self._made(record, values.get("number"))
                created.append({"labels": labels, "values": values})
                made.append(record.id)
        self.writing.put(REPLACE, replaced)
        self.writing.put(CREATE, created)
        return made

    def _made(self, record: Record, number: int | None) -> None:
        """Keeps what is new. Raises StoreError for a message without a conversation."""
        conversation_id = getattr(record, "conversation_id", None)
        if isinstance(record, Message | ToolCall | Turn) and self.writing.known(record.conversation_id) is None:
            raise StoreError(f"There is no conversation {conversation_id} for {record.id}.")
        self.writing.learn(
            Known(
                record.id,
                frozenset(["Node", LABELS[type(record)]]),
                number,
                conversation_id,
                getattr(record, "message_id", None),
                getattr(record, "parent_id", None),
                getattr(record, "position", None),
                deleted=getattr(record, "deleted", False),
                erased=getattr(record, "erased", False),
                findable=_is_findable(record),
                fresh=True,
            )
        )

    def _replaced(self, record: Record, there: Known) -> None:
        """Looks at what a record replaces. Raises StoreError where it would move a message."""
        if isinstance(record, Message) and (record.conversation_id, record.position) != (
            there.conversation_id,
            there.position,
        ):
            raise StoreError(
                f"Message {record.id} stands at position {there.position} of conversation {there.conversation_id},"
                f" and cannot be moved to position {record.position} of {record.conversation_id}."
            )
        if isinstance(record, Node):
            labelled(there, own_label(record.kind))
        gone = bool(getattr(record, "deleted", False) or getattr(record, "erased", False))
        if gone:
            self.silenced[record.id] = None
        self.writing.change(
            record.id,
            deleted=getattr(record, "deleted", False),
            erased=getattr(record, "erased", False),
            findable=_is_findable(record),
            message_id=getattr(record, "message_id", None),
        )

    def _link(self, kept: Sequence[Record], made: frozenset[NodeId]) -> None:
        """Draws what the fields of the records say, and removes the chunks that their owners have no more."""
        messages = [r for r in kept if isinstance(r, Message)]
        moved = [r for r in messages if r.id not in made and self._parent_of(r.id) != r.parent_id]
        for message in moved:
            self.writing.change(message.id, parent_id=message.parent_id)
        calls = [r for r in kept if isinstance(r, ToolCall)]
        turns = [r for r in kept if isinstance(r, Turn)]
        relations.unlink(self.writing, moved, [r for r in calls + turns if r.id not in made])
        relations.link(self.writing, [*moved, *(r for r in messages if r.id in made)], calls, turns, made)
        chunks = {r.id: r for r in kept if isinstance(r, Chunk)}
        self._drop_chunks(
            [r.id for r in kept if isinstance(r, Message | ToolCall | Document) and r.id not in made], chunks
        )
        self.writing.put(relations.LINK_CHUNKS, [{"id": k.id, "parent_id": k.parent_id} for k in chunks.values()])

    def _parent_of(self, id: NodeId) -> NodeId | None:
        known = self.writing.known(id)
        return known.parent_id if known else None

    def _drop_chunks(self, parents: Sequence[NodeId], chunks: Mapping[NodeId, Chunk]) -> None:
        gone = [record["id"] for record in self.writing.put(CHUNKS_OF, parents) if record["id"] not in chunks]
        self.writing.put(relations.DETACH, gone)
        self.writing.put(DELETE, gone)

    # --- marks and revisions ----------------------------------------------------------------------------------------
    def _mark(self, mark: Mark) -> None:
        of: dict[str, list[NodeId]] = {"Message": [], "Conversation": [], "Derived": []}
        for node_id in dict.fromkeys(mark.ids):
            known = self.writing.known(node_id)
            label = next((label for label in of if known is not None and label in known.labels), None)
            if label is None:
                raise NotFound(f"No message or node has the ID {node_id}.", hint="To find messages: recollect search")
            of[label].append(node_id)
            self._touch_known(node_id)
        if mark.deleted is not None:
            self._mark_deleted([*of["Message"], *of["Conversation"]], mark.deleted)
        if mark.active is not None:
            self.writing.put(MARK_ACTIVE, of["Message"], active=mark.active)
        if mark.state is not None:
            self.writing.put(MARK_STATE, of["Derived"], state=mark.state)
            for node_id in of["Derived"]:
                self.writing.change(node_id, findable=mark.state in FINDABLE_STATES)
            if mark.state != "live":
                self.retired.update(dict.fromkeys(of["Derived"]))

    def _mark_deleted(self, ids: Sequence[NodeId], deleted: bool) -> None:
        """What is erased stays deleted."""
        known = [there for node_id in ids if (there := self.writing.known(node_id)) is not None]
        living = [there.id for there in known if not there.erased]
        self.writing.put(MARK_DELETED, living, deleted=deleted)
        for node_id in living:
            self.writing.change(node_id, deleted=deleted)
        if deleted:
            self.silenced.update(dict.fromkeys(living))

    def _raise(self, kept: Sequence[Record], made: frozenset[NodeId]) -> None:
        """Raises the revisions of what was there before."""
        digests, messages = self.change.digests, _message_counts(r for r in kept if r.id in made)
        rows = [
            {"id": node_id, "digest": digests.get(node_id), "messages": messages.get(node_id)}
            for node_id in self.touched
            if node_id not in made
        ]
        self.writing.put(RAISE, rows)
        self.writing.put(LAST_TURN, [node_id for node_id in _last_turns(kept) if node_id not in made])


def _message_counts(records: Iterable[Record]) -> Mapping[NodeId, int]:
    return Counter(record.conversation_id for record in records if isinstance(record, Message))


def _last_turns(records: Iterable[Record]) -> Mapping[NodeId, NodeId]:
    """Which of these turns is the last of each conversation."""
    turns = sorted((r for r in records if isinstance(r, Turn)), key=lambda turn: (turn.position, turn.id))
    return {turn.conversation_id: turn.id for turn in turns}


def _is_findable(record: Record) -> bool:
    """Whether its state lets it have passages."""
    return not isinstance(record, Node) or record.state in FINDABLE_STATES


def _has_words(turn: Turn) -> bool:
    """Whether a turn says anything of its own about its messages."""
    return bool(turn.resolved_query or turn.entities or turn.source_chunk_ids)
