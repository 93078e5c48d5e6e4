"""Random changes that make sense for a namespace as it is: what the rule-based and the differential tests write.

Everything random comes from a `Random`, so that a seed names a change. Ids are few, so that changes meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

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
    Origin,
    Part,
    PartKind,
    Role,
    ToolCall,
    Turn,
    Version,
)
from recollect.store import Change, IndexChange, Mark, Record, Task
from recollect.store.passages import EmbedderId, Passage
from tests.store.making_passages import EMBEDDERS, FIRST, chunks_of, passages_of
from tests.store.reference_model import Model

START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
WORDS = ("heron", "tide", "proxy", "nginx", "mooring", "ciabatta", "error_42", "straße", "重跑", 'q"uo')
PEOPLE_NAMES = (None, None, "Ada", "Grace")
SOURCES = ("chatgpt", "claude")
STATES = ("live", "stale", "superseded")
TYPES = ("RELATED_TO", "MENTIONS", "odd `name`", "REPLIES_TO")

Passages = dict[NodeId, list[Passage]]


def sentence(random: Random, most: int = 5) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, most))) + random.choice(["", ".", "?"])


class Planner:
    """Plans changes of a namespace that is as the model says."""

    def __init__(self, model: Model, random: Random, now: datetime = START) -> None:
        self.model, self.random, self.now = model, random, now
        self.embedder = model.live.embedder if model.live else FIRST

    # --- conversations ----------------------------------------------------------------------------------------------
    def grow(self) -> Change:
        """A conversation with some more messages, wherever they hang; tool calls, turns, and all their passages."""
        random, model = self.random, self.model
        conversation_id = NodeId(f"Conv-{random.randint(0, 3)}")
        known = model.conversations.get(conversation_id)
        there = model.of(conversation_id)
        if known is not None and known.erased:  # all of this is ignored
            more = self._message(conversation_id, len(there), None)
            return self._with_passages([replace(self._conversation(conversation_id), leaf_id=known.leaf_id), more])
        messages: list[Message] = list(there)
        put: list[Record] = []
        for position in range(len(there), len(there) + random.choice([0, 1, 1, 2, 3] if there else [0, 1, 2, 4])):
            message = self._message(conversation_id, position, random.choice(messages).id if messages else None)
            messages.append(message)
            put += [message, *chunks_of(message.id, message.content)]
            put += self._calls(message, messages)
        fresh = [record for record in put if isinstance(record, Message)]
        leaf = random.choice(messages).id if messages else None
        conversation = replace(known or self._conversation(conversation_id), leaf_id=leaf, updated=self._time())
        marks, fresh = switched(conversation.leaf_id, messages, {m.id for m in fresh})
        put = [next((m for m in fresh if m.id == record.id), record) for record in put]
        put += self._turns(fresh)
        owners: list[Any] = [r for r in put if isinstance(r, Message | ToolCall)]
        passages = self.passages([*owners, conversation] if known is None else owners)
        return Change(
            put=[conversation, *put],
            mark=marks,
            digests={conversation_id: sentence(random)} if random.random() < 0.3 else {},
            index=IndexChange(embedder=self.embedder, passages=passages) if passages else None,
        )

    def rewrite(self) -> Change | None:
        """Messages and tool calls with other words; those that were deleted or erased too."""
        messages = self._some(self.model.messages, 2)
        put: list[Record] = []
        for message in messages:
            version = Version(message.content, self._time())
            content = "" if self.random.random() < 0.2 else sentence(self.random, 14)
            deleted = self.random.random() < 0.1
            new = replace(
                message, content=content, versions=(*message.versions, version), deleted=deleted, erased=False
            )
            put += [new, *chunks_of(new.id, content)]
        for call in self._some(self.model.calls, 1):
            put.append(replace(call, result="" if call.result_message_id else sentence(self.random)))
        return self._with_passages(put) if put else None

    def retitle(self) -> Change | None:
        """A conversation under another name, or deleted."""
        conversations = self._some(self.model.conversations, 1)
        put = [replace(c, title=sentence(self.random), deleted=self.random.random() < 0.2) for c in conversations]
        put = [replace(c, erased=False) for c in put]
        return self._with_passages(put) if put else None

    def revive(self) -> Change | None:
        """What was erased is put back, with all that it hangs on."""
        gone = [m for m in self.model.messages.values() if m.erased]
        if not gone:
            return None
        conversation_id = self.random.choice(gone).conversation_id
        back: list[Record] = [replace(self._conversation(conversation_id), leaf_id=self._leaf(conversation_id))]
        chosen = [m for m in self.model.of(conversation_id) if m.erased and self.random.random() < 0.7]
        back += [replace(self._message(conversation_id, m.position, m.parent_id), active=m.active) for m in chosen]
        return replace(self._with_passages(back), revive=True)

    def delete(self) -> Change | None:
        ids = [r.id for r in (*self._some(self.model.messages, 2), *self._some(self.model.conversations, 1))]
        ids = self.random.sample(ids, self.random.randint(1, len(ids))) if ids else ids
        return Change(mark=[Mark(ids=ids, deleted=True)]) if ids else None

    def restore(self) -> Change | None:
        """Takes deletions back, with passages."""
        records: list[Any] = [
            r for r in (*self.model.messages.values(), *self.model.conversations.values()) if r.deleted
        ]
        if not records:
            return None
        some = self.random.sample(records, min(3, len(records)))
        living = [replace(r, deleted=False) for r in some if not r.erased]
        calls = [self.model.calls[call_id] for call_id in self.model.calls_of(r.id for r in living)]
        passages = self.passages([*living, *calls])
        return Change(
            mark=[Mark(ids=[r.id for r in some], deleted=False)],
            index=IndexChange(embedder=self.embedder, passages=passages) if passages else None,
        )

    def switch(self) -> Change | None:
        """Another leaf, and what enters and leaves the path that is shown first."""
        chosen = [c for c in self.model.conversations.values() if not c.erased and self.model.of(c.id)]
        if not chosen:
            return None
        conversation = self.random.choice(chosen)
        messages = self.model.of(conversation.id)
        leaf = self.random.choice(messages).id
        return Change(put=[replace(conversation, leaf_id=leaf)], mark=switched(leaf, messages, set())[0])

    def wrong(self) -> Change:
        """What an engine shall refuse, whatever else it holds."""
        random, put = self.random, [self._conversation(NodeId("Conv-new"))]
        message = next(iter(self._some(self.model.messages, 1)), None)
        if message is not None and not self.model.is_erased(message.conversation_id) and not message.erased:
            if random.random() < 0.4:
                return Change(put=[*put, replace(message, position=message.position + 50)])
            if random.random() < 0.4:
                return Change(put=[*put, replace(message, id=NodeId("Msg-elsewhere"))])
        if random.random() < 0.5:
            return Change(put=put, mark=[Mark(ids=[NodeId("nothing")], deleted=True)])
        alone = Message(NodeId("Msg-alone"), NodeId("Conv-none"), Role.USER, "heron")
        return Change(put=[*put, alone], tasks=[Task(id=NodeId("task-0"), kind="facts")])

    # --- documents, nodes, edges ------------------------------------------------------------------------------------
    def document(self) -> Change:
        number = self.random.randint(0, 2)
        text = " ".join(sentence(self.random, 12) for _ in range(self.random.randint(1, 2)))
        source = self.random.choice(SOURCES)
        document_id = NodeId(f"doc-{number}")
        known = self.model.documents.get(document_id)
        versions = (*known.versions, Version(known.content, self._time())) if known and not known.erased else ()
        document = Document(
            document_id, source, sentence(self.random, 2), text, f"d{number}", self._maybe(), versions=versions
        )
        change = self._with_passages([document])
        return replace(change, put=[*change.put, *chunks_of(document.id, text)])

    def nodes(self) -> Change:
        """Nodes of any kind, and edges among everything."""
        nodes: list[Record] = []
        for _ in range(self.random.randint(1, 3)):
            kind, number = self.random.choice(list(NodeKind)), self.random.randint(0, 1)
            valid = sorted([self._time(), self._time()])
            nodes.append(
                Node(
                    NodeId(f"{kind}-{number}"),
                    kind,
                    self.random.choice(WORDS[:3]),
                    sentence(self.random),
                    self.random.choice(STATES),
                    self.random.choice([None, *self.model.conversations]),
                    self.random.choice([None, valid[0]]),
                    self.random.choice([None, valid[1]]),
                    self.random.randint(0, 4) / 4,
                    self.random.choice(list(Origin)),
                    "prompt 1",
                    {"count": number, "of": [sentence(self.random)]},
                )
            )
        return replace(self._with_passages(nodes), edges=self._edges())

    def edges(self) -> Change:
        """More edges, also of what is not there yet, and some fewer."""
        cut = self.random.sample(sorted(self.model.written), min(len(self.model.written), self.random.randint(0, 2)))
        return Change(
            edges=[e for e in self._edges() if (e.source_id, e.type, e.target_id, e.name) not in cut], cut=cut
        )

    def states(self) -> Change | None:
        ids = [node.id for node in self._some(self.model.nodes, 3) if not node.erased]
        return Change(mark=[Mark(ids=ids, state=self.random.choice(STATES))]) if ids else None

    def tasks(self) -> Change:
        """Tasks, some of which are there already."""
        return Change(tasks=[self._task() for _ in range(self.random.randint(1, 3))])

    # --- the index --------------------------------------------------------------------------------------------------
    def reindex_owners(self) -> Change | None:
        """The passages of some owners anew; those of what can do without go now and then."""
        owners = self._owners()
        if not owners:
            return None
        some = self.random.sample(owners, min(3, len(owners)))
        passages = self.passages(some)
        for record in some:
            if not isinstance(record, Message) and self.random.random() < 0.4:
                passages[record.id] = []
        return Change(index=IndexChange(embedder=self.embedder, passages=passages))

    def wrong_embedder(self) -> Change | None:
        """Vectors of another embedder than those of the generation, beside a record that shall not be written."""
        other = self.random.choice([e for e in EMBEDDERS if e != self.embedder])
        owners = self._owners()
        if not owners or self.model.live is None:
            return None
        passages = self.passages(owners[:1], other)
        put = [self._conversation(NodeId("Conv-new"))]
        return Change(put=put, edges=self._edges(), index=IndexChange(embedder=other, passages=passages))

    def built(self, owners: Sequence[NodeId], *, refreshed: bool = False) -> Change:
        """A part of the generation that is being built."""
        building = self.model.building
        assert building is not None
        records = [record for record in self._owners() if record.id in set(owners)]
        found: Passages = {owner: [] for owner in owners}
        passages = found | self.passages(records, building.embedder)
        return Change(
            index=IndexChange(
                embedder=building.embedder,
                passages=passages,
                generation=building.number,
                built=NodeId(f"conversations:{owners[-1]}") if owners else None,
                refreshed=owners if refreshed else (),
            )
        )

    def passages(self, records: Iterable[Any], embedder: EmbedderId | None = None) -> Passages:
        return {
            r.id: passages_of(r, self.model, embedder or self.embedder) for r in records if not isinstance(r, Chunk)
        }

    # --- parts ------------------------------------------------------------------------------------------------------
    def _with_passages(self, put: Sequence[Record]) -> Change:
        passages = self.passages(put)
        return Change(put=put, index=IndexChange(embedder=self.embedder, passages=passages))

    def _conversation(self, id: NodeId) -> Conversation:
        metadata: Mapping[str, Any] = {"folder": "x"} if self.random.random() < 0.3 else {}
        source = self.random.choice(SOURCES)
        return Conversation(
            id, source, f"Src-{id[-1]}", sentence(self.random, 3), self._maybe(), self._maybe(), metadata=metadata
        )

    def _message(self, conversation_id: NodeId, position: int, parent: NodeId | None) -> Message:
        random, kind = self.random, self.random.choices(list(Kind), [8, 1, 1, 1, 1])[0]
        content = sentence(random, 14)
        return Message(
            NodeId(f"Msg-{conversation_id[-1]}{position}"),
            conversation_id,
            random.choice(list(Role)),
            content,
            kind,
            random.choice(PEOPLE_NAMES) if kind is Kind.SAID else None,
            self._maybe(),
            parent,
            f"aB{conversation_id[-1]}-{position}" if random.random() < 0.7 else None,
            position,
            model=random.choice([None, "m-1"]),
            tokens=len(content),
            parts=(Part(PartKind.ATTACHMENT, "notes.txt", sentence(random)),) if random.random() < 0.2 else (),
            metadata={"n": position} if random.random() < 0.3 else {},
            deleted=random.random() < 0.05,
        )

    def _calls(self, message: Message, before: Sequence[Message]) -> list[Record]:
        if self.random.random() < 0.7:
            return []
        result = self.random.choice([None, *before])
        call_id = NodeId(f"Call-{message.id[4:]}")
        words = sentence(self.random) if result is None else ""
        named = result.id if result is not None else None
        return [ToolCall(call_id, message.id, message.conversation_id, "search", "{}", words, named, self._maybe())]

    def _turns(self, messages: Sequence[Message]) -> list[Record]:
        """A turn for every first of two messages."""
        found: list[Record] = []
        for message in messages:
            if message.position % 2 == 0:
                answers = [m.id for m in messages if m.position == message.position + 1]
                found.append(
                    Turn(
                        NodeId(f"Turn-{message.id[4:]}"),
                        message.conversation_id,
                        message.position // 2,
                        message.id,
                        tuple(answers),
                        self.random.choice([None, sentence(self.random)]),
                        ("Ada",) if self.random.random() < 0.3 else (),
                    )
                )
        return found

    def _edges(self) -> list[Edge]:
        ends = [
            *self.model.messages,
            *self.model.nodes,
            *self.model.documents,
            *self.model.conversations,
            *self.model.turns,
        ]
        ends = [end for end in ends if not self.model.is_erased(end)] + [NodeId("entity-0"), NodeId("topic-1")]
        found: dict[Any, Edge] = {}
        for _ in range(self.random.randint(0, 4)):
            pair = self.random.choice(ends), self.random.choice(["entity-0", "topic-1", self.random.choice(ends)])
            kind = self.random.choice(TYPES[: 4 if pair[1] in ("entity-0", "topic-1") else 3])
            properties = {"weight": self.random.randint(0, 3)} if self.random.random() < 0.5 else {}
            edge = Edge(pair[0], kind, NodeId(pair[1]), properties, self.random.choice(["", "USES", "REPLACES"]))
            found[edge.source_id, edge.type, edge.target_id, edge.name] = edge
        return list(found.values())

    def _task(self) -> Task:
        random = self.random
        subject = random.choice([None, *self.model.messages, *self.model.conversations])
        due = random.choice([None, None, self.now + timedelta(minutes=random.choice([-5, 5, 300]))])
        kind = random.choice(["facts", "summary"])
        return Task(id=NodeId(f"task-{random.randint(0, 5)}"), kind=kind, subject=subject, payload=b"\0p", due=due)

    def _owners(self) -> list[Any]:
        model = self.model
        every = (model.messages, model.calls, model.conversations, model.documents, model.nodes)
        return [record for of in every for record in of.values()]

    def _leaf(self, conversation_id: NodeId) -> NodeId | None:
        return self.model.conversations[conversation_id].leaf_id

    def _some(self, of: Mapping[NodeId, Any], most: int) -> list[Any]:
        return self.random.sample(list(of.values()), min(len(of), self.random.randint(1, most)))

    def _time(self) -> datetime:
        return START + timedelta(minutes=self.random.randint(0, 60), days=self.random.choice([0, 0, 400]))

    def _maybe(self) -> datetime | None:
        return self._time() if self.random.random() < 0.8 else None


def switched(leaf: NodeId | None, messages: Sequence[Message], fresh: set[NodeId]) -> tuple[list[Mark], list[Message]]:
    """The marks that make the path to a leaf the active one, and the fresh messages as they are then."""
    by_id, path, at = {m.id: m for m in messages}, set[NodeId](), leaf
    while at is not None:
        path.add(at)
        at = by_id[at].parent_id
    old = [m for m in messages if m.id not in fresh]
    entering, leaving = ([m.id for m in old if m.active != way and (m.id in path) is way] for way in (True, False))
    marks = [Mark(ids=ids, active=way) for way, ids in ((True, entering), (False, leaving)) if ids]
    return marks, [replace(m, active=m.id in path) for m in messages if m.id in fresh]
