"""One engine, driven by random operations as the façade does them: imports, live writing, upkeep, forgetting.

Everything random comes from the seed of an operation and from what is stored, so that two engines do the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from zlib import crc32

import numpy as np

from recollect.importers.base import DraftCall, DraftMessage
from recollect.ingest import Ingest
from recollect.ingest.reindex import reindex
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import (
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
    Thread,
    ToolCall,
    Turn,
    Version,
    stable_id,
)
from recollect.store import Change, IndexChange, Lease, Mark, Store, Task, Where
from recollect.store.passages import QualityVectors
from tests.store.builders import DEFAULT, START, embedder, thread

WORDS = (
    "heron", "ciabatta", "tide", "lighthouse", "proxy", "nginx", "sourdough", "mooring", "Xochimilco", "Straße", "重跑",
    "error_42", 'q"uo\\te',
)  # fmt: skip
OPERATIONS = (
    "import", "import", "grow", "append", "append", "branch", "edit", "delete", "restore", "nodes", "nodes", "mark",
    "document", "embed", "tasks", "work", "forget", "again", "maintain", "reindex", "begin",
)  # fmt: skip
EVERYTHING = 10_000


def sentence(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(2, 9))) + random.choice(
        [".", "?", ". And so on."]
    )


@dataclass
class Driven:
    """A store and the operations on it."""

    store: Store
    minutes: int = 0
    known: dict[int, int] = field(default_factory=dict)
    leases: list[Lease] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = self.store.space(DEFAULT)
        self.ingest = Ingest(self.space, embedder(), count_tokens, self.now)

    def now(self) -> datetime:
        return START + timedelta(days=2, minutes=self.minutes)

    def run(self, operation: str, seed: int) -> None:
        self.minutes += 1
        getattr(self, f"do_{operation}")(Random(seed), seed)

    # --- what a façade writes ---------------------------------------------------------------------------------------
    def do_import(self, random: Random, seed: int) -> None:
        number = seed % 4
        self.known[number] = max(self.known.get(number, 0), random.randint(1, 14))
        self._import(number, self.known[number], seed)

    def do_grow(self, random: Random, seed: int) -> None:
        for number in list(self.known):
            self.known[number] += random.randint(0, 3)
            self._import(number, self.known[number], seed)

    def do_again(self, random: Random, seed: int) -> None:
        """What was forgotten comes back, where it was imported."""
        for number in list(self.known):
            self._import(number, self.known[number], seed, again=True)

    def do_append(self, random: Random, seed: int) -> None:
        for found in self._some(random, 1):
            role = random.choice([Role.USER, Role.ASSISTANT])
            self.ingest.append(found.conversation, self._message(found, role, random, None))

    def do_branch(self, random: Random, seed: int) -> None:
        for found in self._some(random, 1):
            parent = random.choice(found.messages).id
            self.ingest.append(found.conversation, self._message(found, Role.ASSISTANT, random, parent))

    def do_edit(self, random: Random, seed: int) -> None:
        for found in self._some(random, 1):
            chosen = random.choice(found.messages)
            if not chosen.erased:
                self.ingest.edit(chosen.id, sentence(random), Version("", self.now()))

    def do_delete(self, random: Random, seed: int) -> None:
        for found in self._some(random, 2):
            chosen = random.choice(found.messages)
            if not chosen.erased:
                self.ingest.delete([chosen.id])

    def do_restore(self, random: Random, seed: int) -> None:
        for found in self._some(random, 4):
            self.ingest.restore([m.id for m in found.messages if m.deleted and not m.erased])

    def do_document(self, random: Random, seed: int) -> None:
        text = "\n\n".join(sentence(random) for _ in range(random.choice([1, 3, 900])))
        document = Document(stable_id("document", seed % 2), "test", f"Book {seed % 2}", text, source_id=str(seed % 2))
        self.ingest.documents([(document, ())])

    # --- nodes, edges, tasks ----------------------------------------------------------------------------------------
    def do_nodes(self, random: Random, seed: int) -> None:
        """Nodes of each kind, with edges of several names; an edge less."""
        nodes = [
            Node(
                stable_id("node", kind, seed % 2),
                kind,
                random.choice(WORDS),
                sentence(random),
                random.choice(["live", "stale"]),
                random.choice([None, *(c.id for c in self._conversations())]),
                random.choice([None, START + timedelta(minutes=seed)]),
                random.choice([None, START + timedelta(days=seed)]),
                random.random(),
                random.choice(list(Origin)),
                "prompt 2",
                {"facts": [sentence(random)], "n": seed},
            )
            for kind in random.sample(list(NodeKind), 3)
        ]
        with self.space.view() as view:
            ends = [node.id for node in nodes] + [stable_id("entity", random.randint(0, 3))]
            ends += [m.id for found in self._some(random, 1) for m in found.messages[:2] if not m.erased]
            edges = view.edges(None)
        self.space.write(
            Change(
                put=nodes,
                edges=[
                    Edge(
                        random.choice(ends),
                        random.choice(["RELATED_TO", "MENTIONS", "odd `name`"]),
                        random.choice(ends),
                        {"weight": seed % 3},
                        random.choice(["", "USES"]),
                    )
                    for _ in range(3)
                ],
                cut=[(e.source_id, e.type, e.target_id, e.name) for e in random.sample(edges, min(1, len(edges)))],
            )
        )

    def do_mark(self, random: Random, seed: int) -> None:
        with self.space.view() as view:
            nodes = [node.id for node in view.find(Node, Where(deleted=False), limit=EVERYTHING).items]
        self.space.write(Change(mark=[Mark(ids=random.sample(nodes, min(2, len(nodes))), state="superseded")]))

    def do_tasks(self, random: Random, seed: int) -> None:
        subjects = [None, *(c.id for c in self._conversations())]
        due = random.choice([None, self.now() + timedelta(minutes=random.randint(-9, 9))])
        names = [NodeId(f"task {random.randint(0, 5)}") for _ in range(3)]
        self.space.write(
            Change(tasks=[Task(id=i, kind="facts", subject=random.choice(subjects), due=due) for i in names])
        )

    def do_work(self, random: Random, seed: int) -> None:
        """Claims tasks; keeps, gives back or ends some of them."""
        for lease in self.space.claim("worker", ["facts"], 3, timedelta(minutes=random.randint(1, 9))):
            what = random.choice(["hold", "keep", "again", "dead", "done"])
            if what == "keep":
                self.space.keep(lease, sentence(random).encode())
            elif what == "done":
                self.space.write(Change(leases=[lease]))
            elif what != "hold":
                again = self.now() + timedelta(minutes=3) if what == "again" else None
                self.space.release(lease, what, again)

    # --- upkeep -----------------------------------------------------------------------------------------------------
    def do_embed(self, random: Random, seed: int) -> None:
        """Quality vectors that follow from the texts."""
        with self.space.view() as view:
            texts = view.unembedded(random.randint(1, 20))
        rows = []
        for text in texts:
            made = np.random.default_rng(crc32(text.text.encode()))
            vector = made.normal(size=384).astype(np.float32)
            pieces = made.integers(0, 50, 5).astype(np.uint16)
            tokens = made.integers(-90, 90, (5, 128)).astype(np.int8)
            rows.append(QualityVectors(text.number, vector / np.linalg.norm(vector), pieces, tokens))
        self.space.write(Change(index=IndexChange(quality=rows)))

    def do_forget(self, random: Random, seed: int) -> None:
        ids: list[NodeId] = []
        for found in self._some(random, 1):
            ids += [found.conversation.id] if seed % 3 == 0 else [m.id for m in random.sample(found.messages, 1)]
        with self.space.view() as view:
            for kind in (Document, Node):
                whole = view.find(kind, Where(), limit=EVERYTHING).items
                ids += [r.id for r in random.sample(whole, min(len(whole), seed % 2))]  # type: ignore[attr-defined]
        self.space.erase(ids)

    def do_maintain(self, random: Random, seed: int) -> None:
        for _ in range(random.randint(1, 30)):
            if not self.space.maintain(timedelta(0)):
                return

    def do_reindex(self, random: Random, seed: int) -> None:
        reindex(self.space, self.ingest)

    def do_begin(self, random: Random, seed: int) -> None:
        """An index is begun and left; what is written meanwhile is to be done for it, too."""
        self.space.generation("begin", self.ingest.embedder_id)

    # --- parts ------------------------------------------------------------------------------------------------------
    def _import(self, number: int, size: int, seed: int, *, again: bool = False) -> None:
        name, people = f"c{number}", number == 3
        drafts = []
        for i in range(size):
            random = Random(f"{number} {i} {seed % 2}")  # two wordings: an import may edit
            hidden = random.random() < 0.15
            drafts.append(
                DraftMessage(
                    Role.TOOL if hidden else (Role.ASSISTANT if i % 2 else Role.USER),
                    sentence(random),
                    timestamp=START + timedelta(minutes=i, hours=7 * (i // 6), days=number),
                    source_id=f"{name}-{i}",
                    speaker=("Ada", "Grace")[i % 2] if people else None,
                    kind=Kind.TOOL if hidden else Kind.SAID,
                    calls=(DraftCall("search", sentence(random), result=sentence(random)),) if hidden else (),
                    parts=(Part(PartKind.ATTACHMENT, "notes.txt", sentence(random)),) if random.random() < 0.1 else (),
                )
            )
        title, moment = f"About {WORDS[number]}", START + timedelta(days=1, minutes=self.minutes)
        self.ingest.threads([thread(name, drafts, title=title, linear=True, updated=moment)], again=again)

    def _conversations(self) -> list[Conversation]:
        with self.space.view() as view:
            return view.find(Conversation, Where(), limit=EVERYTHING).items

    def _some(self, random: Random, most: int) -> Iterator[Thread]:
        living = [c.id for c in self._conversations() if not c.erased]
        for conversation_id in random.sample(living, min(most, len(living))):
            with self.space.view() as view:
                found = view.thread(conversation_id)
            assert found is not None
            if found.messages:
                yield found

    def _message(self, found: Thread, role: Role, random: Random, parent: NodeId | None) -> Message:
        text = sentence(random)
        return Message(
            stable_id("live", self.minutes),
            found.conversation.id,
            role,
            text,
            timestamp=START + timedelta(days=3, minutes=self.minutes),
            parent_id=parent,
            tokens=count_tokens(text),
        )


#: All that can be listed.
LISTED = (Conversation, Message, ToolCall, Turn, Document, Node)
