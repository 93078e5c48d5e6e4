"""Both engines, driven by the same random operations, hold and find the same to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

from recollect.embedding.tokenizer import count_tokens
from recollect.importers.base import DraftCall, DraftMessage
from recollect.ingest import Ingest
from recollect.record import Document, Edge, Kind, Message, NodeId, Part, PartKind, Role, Version, stable_id
from recollect.store import ConversationFilter, Store
from recollect.store.neo4j.engine import Neo4jStore
from recollect.store.passages import Filter, Lane, Probe, Signals
from recollect.store.sqlite.engine import SQLiteStore
from recollect.store.transfer import dump_lines
from recollect.text.terms import terms
from tests.store import neo4j_server
from tests.store.builders import DEFAULT, START, embedder, thread

WORDS = (
    "heron", "ciabatta", "tide", "lighthouse", "proxy", "nginx", "sourdough", "mooring", "Xochimilco", "Straße", "重跑",
    "error_42", 'q"uo\\te',
)  # fmt: skip
ROWS = ("bm25", "dense", "dense_z", "previous_dense_z", "windows", "length_z", "sitting_bm25", "sitting_dense", "holds")
OPERATIONS = ("import", "import", "grow", "append", "append", "branch", "edit", "delete", "restore", "edge", "document",
              "settle", "rebuild")  # fmt: skip


@dataclass
class Driven:
    """One engine, and the operations on it. Everything that is random comes from the seed of the operation."""

    store: Store
    clock: int = 0
    known: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ingest = Ingest(self.store, DEFAULT, embedder(), count_tokens)

    def run(self, operation: str, seed: int) -> None:
        self.clock += 1
        getattr(self, f"do_{operation}")(Random(seed), seed)

    def do_import(self, random: Random, seed: int) -> None:
        number = seed % 4
        self.known[number] = max(self.known.get(number, 0), random.randint(1, 14))
        self._import(number, self.known[number], seed)

    def do_grow(self, random: Random, seed: int) -> None:
        for number in list(self.known):
            self.known[number] += random.randint(0, 3)
            self._import(number, self.known[number], seed)

    def do_append(self, random: Random, seed: int) -> None:
        for conversation, _ in self._some(random, 1):
            role = random.choice([Role.USER, Role.ASSISTANT])
            self.ingest.append(conversation, self._message(conversation.id, role, random, None))

    def do_branch(self, random: Random, seed: int) -> None:
        for conversation, messages in self._some(random, 1):
            parent = random.choice(messages).id
            self.ingest.append(conversation, self._message(conversation.id, Role.ASSISTANT, random, parent))

    def do_edit(self, random: Random, seed: int) -> None:
        for _, messages in self._some(random, 1):
            moment = START + timedelta(days=2, minutes=self.clock)
            self.ingest.edit(random.choice(messages).id, sentence(random), Version("", moment))

    def do_delete(self, random: Random, seed: int) -> None:
        for _, messages in self._some(random, 2):
            self.ingest.delete([random.choice(messages).id])

    def do_restore(self, random: Random, seed: int) -> None:
        for _, messages in self._some(random, 4):
            self.ingest.restore([m.id for m in messages if m.deleted])

    def do_edge(self, random: Random, seed: int) -> None:
        for _, messages in self._some(random, 1):
            ends = [stable_id("entity", random.randint(0, 3)), random.choice(messages).id]
            kind = random.choice(["MENTIONS", "RELATED_TO", "REPLIES_TO", "odd `name`"])
            self.ingest.edges([Edge(ends[1], kind, ends[0], {"weight": seed % 3}), Edge(ends[1], kind, ends[1])])

    def do_document(self, random: Random, seed: int) -> None:
        text = "\n\n".join(sentence(random) for _ in range(random.choice([1, 3, 900])))
        document = Document(stable_id("document", seed % 2), "test", f"Book {seed % 2}", text, source_id=str(seed % 2))
        self.ingest.documents([(document, ())])

    def do_settle(self, random: Random, seed: int) -> None:
        self.store.settle(DEFAULT)

    def do_rebuild(self, random: Random, seed: int) -> None:
        self.store.clear_passages(DEFAULT)
        self.ingest = Ingest(self.store, DEFAULT, embedder(), count_tokens)
        self.ingest.reindex()

    def _import(self, number: int, count: int, seed: int) -> None:
        name, people = f"c{number}", number == 3
        drafts = []
        for i in range(count):
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
        moment = START + timedelta(days=1, minutes=self.clock)
        self.ingest.threads([thread(name, drafts, title=f"About {WORDS[number]}", linear=True, updated=moment)])

    def _some(self, random: Random, count: int):  # type: ignore[no-untyped-def]
        ids = self.store.conversation_ids(DEFAULT)
        for conversation_id in random.sample(ids, min(count, len(ids))):
            stored = self.store.thread(DEFAULT, conversation_id)
            assert stored is not None
            if stored.messages:
                yield stored.conversation, stored.messages

    def _message(self, owner: NodeId, role: Role, random: Random, parent: NodeId | None) -> Message:
        text = sentence(random)
        moment = START + timedelta(days=3, minutes=self.clock)
        return Message(
            stable_id("live", self.clock),
            owner,
            role,
            text,
            timestamp=moment,
            parent_id=parent,
            tokens=count_tokens(text),
        )


def sentence(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(2, 9))) + random.choice(
        [".", "?", ". And so on."]
    )


def ask(store: Store, text: str, lane: Lane, **more: object) -> Signals:
    groups = tuple(((term, 1.0),) for term in dict.fromkeys(terms(text)))
    return store.signals(DEFAULT, Probe(lane, groups, embedder().embed([text])[0], **more))  # type: ignore[arg-type]


def assert_same(ours: Store, theirs: Store) -> None:
    assert list(dump_lines(ours, DEFAULT)) == list(dump_lines(theirs, DEFAULT))
    assert ours.counts(DEFAULT) == theirs.counts(DEFAULT)
    assert ours.check() == theirs.check() == []
    everything = ConversationFilter()
    assert ours.conversations(DEFAULT, everything, limit=9) == theirs.conversations(DEFAULT, everything, limit=9)
    for conversation_id in ours.conversation_ids(DEFAULT):
        assert ours.end(DEFAULT, conversation_id) == theirs.end(DEFAULT, conversation_id)
        own = ours.thread(DEFAULT, conversation_id)
        assert own is not None
        for node in (conversation_id, *(t.id for t in own.turns), *(m.id for m in own.messages[:5])):
            for inward in (False, True):
                assert ours.neighbours(DEFAULT, node, inward=inward) == theirs.neighbours(DEFAULT, node, inward=inward)
    for question, lane, more in (
        ("heron tide proxy", Lane.SAID, {"phrases": (("heron",),)}),
        ("error_42 重跑 Straße", Lane.SAID, {"filter": Filter(roles=("user",)), "sought": (("error", "42"),)}),
        ("lighthouse mooring", Lane.OTHER, {"excluded": (("nginx",),)}),
        ("about the heron", Lane.TITLE, {}),
        (
            "Ada",
            Lane.SAID,
            {"speaker": "Ada", "speaker_weight": 1.0, "spans": ((20148, 20150),), "span_weights": (1, 2)},
        ),
    ):
        assert_same_signals(ours, theirs, lambda s, q=question, w=lane, m=more: ask(s, q, w, **m))  # type: ignore[misc]


def assert_same_signals(ours: Store, theirs: Store, search: Callable[[Store], Signals]) -> None:
    own, other = search(ours), search(theirs)
    assert own.size == other.size
    texts = [replace(text, number=0) for text in ours.passage_texts(DEFAULT, own.passages.tolist())]
    assert texts == [replace(text, number=0) for text in theirs.passage_texts(DEFAULT, other.passages.tolist())]
    for name in (*ROWS, "there", "flags", "kinds", "speaker", "dates", "sought", "idf", "frequencies"):
        assert np.array_equal(getattr(own, name), getattr(other, name)), name


def same_operations(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with so many runs of operations, the same ones each time."""

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        runs = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 999)), min_size=12, max_size=24)
        chosen = settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,),
        )
        return chosen(given(runs)(test))

    return decorated


@same_operations(2)
def test_the_same_operations_leave_the_same(
    neo4j_uri: str, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int]]
) -> None:
    run_on_both(neo4j_uri, tmp_path_factory.mktemp("same"), operations)


@pytest.mark.long
@same_operations(40)
def test_the_same_operations_leave_the_same_however_many(
    neo4j_uri: str, tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int]]
) -> None:
    run_on_both(neo4j_uri, tmp_path_factory.mktemp("same"), operations)


def run_on_both(neo4j_uri: str, folder: Path, operations: list[tuple[str, int]]) -> None:
    neo4j_server.empty(neo4j_uri)
    engines = [
        Driven(SQLiteStore(folder / "memory.db", durable=False)),
        Driven(Neo4jStore(neo4j_uri, neo4j_server.auth())),
    ]
    for engine in engines:
        engine.run("import", 3)
        for operation, seed in operations:
            engine.run(operation, seed)
    assert_same(engines[0].store, engines[1].store)
    for engine in engines:
        engine.store.close()
