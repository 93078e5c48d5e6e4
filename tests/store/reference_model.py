"""What the port promises, in plain Python: one namespace as dictionaries. The engines are compared with it.

A `Model` never changes: writing gives another one, so that a snapshot is the model of that moment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from recollect.errors import NotFound, StoreError
from recollect.record import (
    NOTHING,
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    ToolCall,
    Turn,
)
from recollect.store import Change, EdgeKey, Fenced, IndexChange, Lease, Mark, Stale, Task, WrongEmbedder
from recollect.store.passages import FINDABLE_STATES, EmbedderId, Passage

#: A passage as both sides know it: its owner, and where in it the passage stands.
PassageKey = tuple[NodeId, int, int]


#: When a task without a time was due.
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Held:
    """A task and how it stands."""

    task: Task
    order: int
    ready: datetime
    worker: str | None = None
    fence: int | None = None
    attempt: int = 0
    why: str = ""
    answer: bytes | None = None
    dead: bool = False

    def state(self, now: datetime) -> Literal["due", "leased", "dead"]:
        if self.dead:
            return "dead"
        return "leased" if self.worker is not None and self.ready > now else "due"


@dataclass(frozen=True)
class Known:
    """A passage in the index, in the order of writing."""

    order: int
    passage: Passage
    quality: bool = False

    @property
    def key(self) -> PassageKey:
        return self.passage.owner_id, self.passage.part, self.passage.start


@dataclass(frozen=True)
class Generation:
    number: int
    embedder: EmbedderId
    passages: Mapping[NodeId, tuple[Known, ...]] = field(default_factory=dict)
    built: NodeId | None = None
    todo: frozenset[NodeId] = frozenset()

    def without(self, owners: Iterable[NodeId]) -> Generation:
        gone = set(owners)
        return replace(self, passages={owner: known for owner, known in self.passages.items() if owner not in gone})

    def living(self) -> list[Known]:
        return [known for own in self.passages.values() for known in own]


@dataclass
class Model:
    """A namespace. Only `copy`, and the methods that begin with an underscore, change one."""

    conversations: dict[NodeId, Conversation] = field(default_factory=dict)
    messages: dict[NodeId, Message] = field(default_factory=dict)
    calls: dict[NodeId, ToolCall] = field(default_factory=dict)
    turns: dict[NodeId, Turn] = field(default_factory=dict)
    chunks: dict[NodeId, Chunk] = field(default_factory=dict)
    documents: dict[NodeId, Document] = field(default_factory=dict)
    nodes: dict[NodeId, Node] = field(default_factory=dict)
    revisions: dict[NodeId, int] = field(default_factory=dict)
    digests: dict[NodeId, str] = field(default_factory=dict)
    written: dict[EdgeKey, Edge] = field(default_factory=dict)
    tasks: dict[NodeId, Held] = field(default_factory=dict)
    live: Generation | None = None
    building: Generation | None = None
    generations: int = 0  # that ever began
    order: int = 0  # counts tasks and passages

    def copy(self) -> Model:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Model(**{name: dict(value) if isinstance(value, dict) else value for name, value in values.items()})

    # --- what is there ----------------------------------------------------------------------------------------------
    def holds_anything(self) -> bool:
        return bool(self.conversations or self.documents or self.nodes or self.written or self.tasks)

    def of(self, conversation_id: NodeId) -> list[Message]:
        own = [m for m in self.messages.values() if m.conversation_id == conversation_id]
        return sorted(own, key=lambda m: m.position)

    def calls_of(self, message_ids: Iterable[NodeId]) -> list[NodeId]:
        wanted = set(message_ids)
        return [call.id for call in self.calls.values() if call.message_id in wanted]

    def chunks_of(self, parents: Iterable[NodeId]) -> list[NodeId]:
        wanted = set(parents)
        return [chunk.id for chunk in self.chunks.values() if chunk.parent_id in wanted]

    def is_living(self, owner: NodeId) -> bool:
        """Whether it may have passages."""
        if owner in self.calls:
            return not self.messages[self.calls[owner].message_id].deleted
        record: Any = self.messages.get(owner) or self.conversations.get(owner)
        if record is not None:
            return not record.deleted and not record.erased
        whole: Any = self.documents.get(owner) or self.nodes.get(owner)
        return whole is not None and not whole.erased and getattr(whole, "state", "live") in FINDABLE_STATES

    # --- one change -------------------------------------------------------------------------------------------------
    def write(self, change: Change) -> Model:
        """Raises what an engine shall raise."""
        stale = [node_id for node_id, number in change.expect.items() if self.revisions.get(node_id, 0) != number]
        if stale:
            raise Stale(stale)
        after = self.copy()
        for lease in change.leases:
            self._require(lease)
            del after.tasks[lease.task.id]
        touched, silent, retired = after._put(change)
        for mark in change.mark:
            touched |= after._mark(mark)
            silent |= set(mark.ids) if mark.deleted else set()
            retired |= {i for i in mark.ids if i in after.nodes} if mark.state not in (None, "live") else set()
        after._silence(silent | retired)
        if after.building is not None:
            after.building = replace(after.building, todo=after.building.todo | retired)
        after.written |= {
            (e.source_id, e.type, e.target_id, e.name): e
            for e in change.edges
            if not (after.is_erased(e.source_id) or after.is_erased(e.target_id))
        }
        for key in change.cut:
            after.written.pop(key, None)
        touched |= {node_id for node_id in change.digests if node_id in after.conversations}
        for node_id in touched:
            after.revisions[node_id] = after.revisions.get(node_id, 0) + 1
            after.digests.pop(node_id, None)
        after.digests |= {
            node_id: digest for node_id, digest in change.digests.items() if node_id in after.conversations
        }
        if change.index is not None:
            after._index(change.index)
        for task in change.tasks:
            after.order += 1
            after.tasks.setdefault(task.id, Held(task, after.order, task.due or LONG_AGO))
        return after

    def _put(self, change: Change) -> tuple[set[NodeId], set[NodeId], set[NodeId]]:
        """Returns whose revision is raised, what has lost its words, and which nodes live no more."""
        kept, touched, silent, retired = not change.revive, set[NodeId](), set[NodeId](), set[NodeId]()
        of: dict[type, list[Any]] = {}
        for record in change.put:
            of.setdefault(type(record), []).append(record)
        ignored: set[NodeId] = set()
        for conversation in of.get(Conversation, ()):
            touched.add(conversation.id)
            there = self.conversations.get(conversation.id)
            if there is None or not (there.erased and kept):
                self.conversations[conversation.id] = conversation
                silent |= {conversation.id} if conversation.deleted else set()
        for record in (*of.get(Message, ()), *of.get(ToolCall, ()), *of.get(Turn, ())):
            touched.add(record.conversation_id)
            if record.conversation_id not in self.conversations:
                raise StoreError("no conversation")
            if self.conversations[record.conversation_id].erased and kept:
                ignored.add(record.id)
        for message in of.get(Message, ()):
            known = self.messages.get(message.id)
            if message.id in ignored or (known is not None and known.erased and kept):
                ignored.add(message.id)
                continue
            place = (message.conversation_id, message.position)
            for other in self.messages.values():
                if ((other.conversation_id, other.position) == place) != (other.id == message.id):
                    raise StoreError("a message never moves")
            self.messages[message.id] = message
            silent |= {message.id} if message.deleted else set()
        for call in of.get(ToolCall, ()):
            if call.message_id in ignored:
                ignored.add(call.id)
            elif call.id not in ignored and not (self.messages[call.message_id].erased and kept):
                self.calls[call.id] = call
        for turn in of.get(Turn, ()):
            if turn.id not in ignored:
                erased = any(self.messages[node_id].erased for node_id in (turn.query_id, *turn.response_ids))
                self.turns[turn.id] = without_words(turn) if erased and kept else turn
        for record in (*of.get(Document, ()), *of.get(Node, ())):
            whole: dict[NodeId, Any] = self.documents if isinstance(record, Document) else self.nodes
            if record.id in whole and whole[record.id].erased and kept:
                ignored.add(record.id)
                continue
            whole[record.id] = record
            touched.add(record.id)
            retired |= {record.id} if getattr(record, "state", "live") != "live" else set()
        parents = {r.id for kind in (Message, ToolCall, Document) for r in of.get(kind, ())} - ignored
        for node_id in self.chunks_of(parents):
            del self.chunks[node_id]
        self.chunks |= {chunk.id: chunk for chunk in of.get(Chunk, ()) if chunk.parent_id in parents}
        return touched, silent, retired

    def _mark(self, mark: Mark) -> set[NodeId]:
        touched: set[NodeId] = set()
        for node_id in mark.ids:
            changed = {"deleted": mark.deleted, "active": mark.active}
            changes: dict[str, Any] = {name: value for name, value in changed.items() if value is not None}
            if message := self.messages.get(node_id):
                changes["deleted"] = message.erased or changes.get("deleted", message.deleted)
                self.messages[node_id] = replace(message, **changes)
                touched.add(message.conversation_id)
            elif conversation := self.conversations.get(node_id):
                deleted = conversation.erased or changes.get("deleted", conversation.deleted)
                self.conversations[node_id] = replace(conversation, deleted=deleted)
                touched.add(node_id)
            elif node := self.nodes.get(node_id):
                self.nodes[node_id] = replace(node, state=mark.state or node.state)
                touched.add(node_id)
            else:
                raise NotFound(node_id)
        return touched

    def _silence(self, ids: Iterable[NodeId]) -> None:
        owners = [*ids, *self.calls_of(ids)]
        self.live = self.live and self.live.without(owners)
        self.building = self.building and self.building.without(owners)

    # --- the index --------------------------------------------------------------------------------------------------
    def _index(self, change: IndexChange) -> None:
        adds = any(change.passages.values())
        aside = change.generation is not None and (self.live is None or self.live.number != change.generation)
        chosen = self.building if aside else self.live
        if aside and (chosen is None or chosen.number != change.generation):
            raise StoreError("no such generation")
        if chosen is None and adds and change.embedder is not None:
            self.generations += 1
            chosen = self.live = Generation(self.generations, change.embedder)
        if chosen is not None and change.embedder not in (None, chosen.embedder):
            raise WrongEmbedder("another embedder")
        if not aside and self.building is not None:
            todo = self.building.todo | set(change.passages)
            self.building = replace(self.building.without(change.passages), todo=todo)
        if chosen is None:
            return
        passages = dict(chosen.passages)
        for owner, own in change.passages.items():
            passages.pop(owner, None)
            if own and self.is_living(owner):
                passages[owner] = tuple(Known(self.order + i, p) for i, p in enumerate(own))
                self.order += len(own)
        chosen = replace(chosen, passages=passages)
        if aside:
            todo = chosen.todo - set(change.refreshed)
            self.building = replace(chosen, todo=todo, built=change.built or chosen.built)
        else:
            self.live = chosen

    def embed(self, keys: Iterable[PassageKey]) -> Model:
        """Quality vectors for these passages."""
        wanted, after = set(keys), self.copy()
        assert after.live is not None
        passages = {
            owner: tuple(replace(known, quality=known.quality or known.key in wanted) for known in own)
            for owner, own in after.live.passages.items()
        }
        after.live = replace(after.live, passages=passages)
        return after

    def begin(self, embedder: EmbedderId) -> Model:
        after = self.copy()
        if self.building is None or self.building.embedder != embedder:
            after.generations += 1
            after.building = Generation(after.generations, embedder)
        return after

    def publish(self) -> Model:
        if self.building is None:
            raise StoreError("nothing is being built")
        if self.building.todo:
            raise Stale(sorted(self.building.todo))
        after = self.copy()
        old = {(known.key, known.passage.end): known.quality for known in self.live.living()} if self.live else {}
        passages = {
            owner: tuple(replace(known, quality=old.get((known.key, known.passage.end), False)) for known in own)
            for owner, own in self.building.passages.items()
        }
        after.live, after.building = replace(self.building, passages=passages, built=None), None
        return after

    def drop(self) -> Model:
        after = self.copy()
        after.building = None
        return after

    # --- tasks ------------------------------------------------------------------------------------------------------
    def due(self, kinds: Sequence[str], most: int, now: datetime) -> list[Held]:
        """What `claim` gives."""
        found = [
            held for held in self.tasks.values() if not held.dead and held.ready <= now and held.task.kind in kinds
        ]
        return sorted(found, key=lambda held: (held.ready, held.order))[:most]

    def claim(self, leases: Sequence[Lease], worker: str) -> Model:
        """What an engine has claimed is held; the fences are the engine's."""
        after = self.copy()
        for lease in leases:
            held = after.tasks[lease.task.id]
            after.tasks[lease.task.id] = replace(
                held, worker=worker, fence=lease.fence, ready=lease.until, attempt=held.attempt + 1
            )
        return after

    def keep(self, lease: Lease, answer: bytes) -> Model:
        after = self.copy()
        after.tasks[lease.task.id] = replace(self._require(lease), answer=answer)
        return after

    def renew(self, leases: Sequence[Lease], until: datetime) -> tuple[Model, list[Lease]]:
        """What is still held, for longer."""
        after, kept = self.copy(), []
        for lease in leases:
            held = after.tasks.get(lease.task.id)
            if held is not None and held.worker is not None and held.fence == lease.fence:
                after.tasks[lease.task.id] = replace(held, ready=until)
                kept.append(replace(lease, until=until))
        return after, kept

    def revive(self, ids: Collection[NodeId] | None) -> tuple[Model, int]:
        """Dead tasks are due, as if they had never been tried."""
        after = self.copy()
        dead = [i for i, held in self.tasks.items() if held.dead and (ids is None or i in ids)]
        after.tasks |= {i: replace(after.tasks[i], dead=False, attempt=0, ready=LONG_AGO) for i in dead}
        return after, len(dead)

    def release(self, lease: Lease, why: str, again: datetime | None) -> Model:
        after, held = self.copy(), self._require(lease)
        after.tasks[lease.task.id] = replace(
            held, worker=None, fence=None, why=why, dead=again is None, ready=again or held.ready
        )
        return after

    def _require(self, lease: Lease) -> Held:
        held = self.tasks.get(lease.task.id)
        if held is None or held.worker is None or held.fence != lease.fence:
            raise Fenced(lease)
        return held

    # --- erasing ----------------------------------------------------------------------------------------------------
    def erase(self, ids: Sequence[NodeId]) -> Model:
        """The revisions are left: the engine says them. Raises NotFound."""
        for node_id in ids:
            if not any(node_id in of for of in (self.messages, self.conversations, self.documents, self.nodes)):
                raise NotFound(node_id)
        after, gone = self.copy(), set(ids)
        within: list[Message | Node] = [*self.messages.values(), *self.nodes.values()]
        gone |= {r.id for r in within if r.conversation_id in gone and not self.is_erased(r.conversation_id)}
        gone = {node_id for node_id in gone if not self.is_erased(node_id)}
        calls = self.calls_of(gone)
        chunks = self.chunks_of([*gone, *calls])
        turns = [turn.id for turn in self.turns.values() if turn.conversation_id in gone]
        after._silence(gone)
        for node_id in gone:
            for of in (after.messages, after.conversations, after.documents, after.nodes):
                if node_id in of:
                    of[node_id] = tombstone(of[node_id])  # type: ignore[index]
            if node_id in after.messages or node_id in after.conversations:
                after.digests.pop(
                    after.messages[node_id].conversation_id if node_id in after.messages else node_id, None
                )
        for turn in self.turns.values():
            if gone & {turn.query_id, *turn.response_ids}:
                after.turns[turn.id] = without_words(turn)
        after.calls = {node_id: call for node_id, call in self.calls.items() if node_id not in calls}
        after.chunks = {node_id: chunk for node_id, chunk in self.chunks.items() if node_id not in chunks}
        after.turns = {node_id: turn for node_id, turn in after.turns.items() if node_id not in turns}
        loose = {*gone, *calls, *chunks, *turns}
        after.written = {key: e for key, e in self.written.items() if not loose & {e.source_id, e.target_id}}
        after.tasks = {node_id: held for node_id, held in self.tasks.items() if held.task.subject not in loose}
        if loose:
            after.tasks = {node_id: replace(held, answer=None) for node_id, held in after.tasks.items()}
        return after

    def is_erased(self, node_id: NodeId) -> bool:
        for of in (self.messages, self.conversations, self.documents, self.nodes):
            if node_id in of:
                return of[node_id].erased  # type: ignore[index, no-any-return]
        return False


def without_words(turn: Turn) -> Turn:
    return replace(turn, resolved_query=None, entities=(), source_chunk_ids=())


def tombstone(record: Any) -> Any:
    """What is left of what was erased."""
    if isinstance(record, Message):
        return Message(
            record.id,
            record.conversation_id,
            record.role,
            "",
            record.kind,
            parent_id=record.parent_id,
            source_id=record.source_id,
            position=record.position,
            active=record.active,
            deleted=True,
            erased=True,
        )
    if isinstance(record, Conversation):
        kept = {"leaf_id": record.leaf_id, "deleted": True, "erased": True}
        return Conversation(record.id, record.source, record.source_id, **kept)  # type: ignore[arg-type]
    if isinstance(record, Document):
        return Document(record.id, record.source, "", "", record.source_id, erased=True)
    return replace(record, key="", text="", body=NOTHING, valid_from=None, valid_to=None, score=0.0, erased=True)
