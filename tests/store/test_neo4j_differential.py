"""Both engines, driven by the same random operations, hold and find the same: the same dump, the same features."""

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

from recollect.engines.neo4j.engine import Neo4jStore
from recollect.engines.sqlite.engine import SQLiteStore
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
    Version,
    stable_id,
)
from recollect.store import Change, IndexChange, Mark, Store, View, Where
from recollect.store.passages import CandidateQuery, Features, Filter, Partition, QualityVectors
from recollect.store.transfer import dump_lines, every
from recollect.text.terms import terms
from tests.store import neo4j_server
from tests.store.builders import DEFAULT, START, embedder, thread

WORDS = (
    "heron", "ciabatta", "tide", "lighthouse", "proxy", "nginx", "sourdough", "mooring", "Xochimilco", "Straße", "重跑",
    "error_42", 'q"uo\\te',
)  # fmt: skip
ARRAYS = (
    "bm25", "dense", "dense_z", "previous_dense_z", "windows", "length_z", "session_bm25", "session_dense",
    "session_similarity", "similarity", "holds", "there", "flags", "kinds", "who", "present", "inside", "near",
    "sought", "idf", "frequencies",
)  # fmt: skip
OPERATIONS = (
    "import", "import", "grow", "append", "append", "branch", "edit", "delete", "restore", "edge", "node", "document",
    "embed", "erase", "again", "maintain", "reindex",
)  # fmt: skip


@dataclass
class Driven:
    """One engine, and the operations on it. Everything that is random comes from the seed of the operation."""

    store: Store
    clock: int = 0
    known: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.space = self.store.space(DEFAULT)
        self.ingest = Ingest(self.space, embedder(), count_tokens, lambda: START)

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
            name = random.choice(["", "USES", "REPLACES"])
            edges = [Edge(ends[1], kind, ends[0], {"weight": seed % 3}, name), Edge(ends[1], kind, ends[1])]
            cut = (ends[1], "MENTIONS", ends[0], "USES")
            self.space.write(Change(edges=edges, cut=[cut] if seed % 4 == 0 else []))

    def do_node(self, random: Random, seed: int) -> None:
        """What edges may have waited for."""
        owner = next((c.id for c, _ in self._some(random, 1)), None)
        number = random.randint(0, 3)
        node = Node(
            stable_id("entity", number),
            [NodeKind.ENTITY, NodeKind.FACT, NodeKind.TOPIC, NodeKind.SUMMARY][number],
            WORDS[number],
            sentence(random),
            conversation_id=owner if seed % 2 else None,
            origin=Origin.SAID,
        )
        self.space.write(Change(put=[node], mark=[Mark(ids=[node.id], state="stale")] if seed % 3 == 0 else []))

    def do_document(self, random: Random, seed: int) -> None:
        text = "\n\n".join(sentence(random) for _ in range(random.choice([1, 3, 900])))
        document = Document(stable_id("document", seed % 2), "test", f"Book {seed % 2}", text, source_id=str(seed % 2))
        self.ingest.documents([(document, ())])

    def do_embed(self, random: Random, seed: int) -> None:
        with self.space.view() as view:
            texts = view.unembedded(6)
        made = np.random.default_rng(seed).normal(size=(len(texts), 384)).astype(np.float32)
        rows = [
            QualityVectors(
                text.number,
                made[i] / np.linalg.norm(made[i]),
                np.array([7, 7, 9 + i], np.uint16),
                np.full((3, 128), i, np.int8),
            )
            for i, text in enumerate(texts)
        ]
        self.space.write(Change(index=IndexChange(quality=rows)))

    def do_erase(self, random: Random, seed: int) -> None:
        for conversation, messages in self._some(random, 1):
            self.space.erase([conversation.id] if seed % 3 == 0 else [random.choice(messages).id])

    def do_again(self, random: Random, seed: int) -> None:
        """An import that takes back what was erased."""
        for number, count in self.known.items():
            self._import(number, count, seed, again=True)

    def do_maintain(self, random: Random, seed: int) -> None:
        while self.space.maintain(timedelta(seconds=5)):
            pass

    def do_reindex(self, random: Random, seed: int) -> None:
        reindex(self.space, self.ingest)

    def _import(self, number: int, count: int, seed: int, *, again: bool = False) -> None:
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
        made = thread(name, drafts, title=f"About {WORDS[number]}", linear=True, updated=moment)
        self.ingest.threads([made], again=again)

    def _some(self, random: Random, count: int) -> list[tuple[Conversation, tuple[Message, ...]]]:
        """Some conversations that are not erased, with those of their messages that are not."""
        with self.space.view() as view:
            known = [conversation for conversation in every(view, Conversation) if not conversation.erased]
            found = []
            for conversation in random.sample(known, min(count, len(known))):
                stored = view.thread(conversation.id)
                assert stored is not None
                if messages := tuple(message for message in stored.messages if not message.erased):
                    found.append((conversation, messages))
        return found

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


def ask(view: View, text: str, partition: Partition, **more: object) -> Features:
    groups = tuple(((term, 1.0),) for term in dict.fromkeys(terms(text)))
    vector = embedder().embed([text])[0]
    return view.candidates(CandidateQuery(partition, groups, vector, **more))  # type: ignore[arg-type]


def assert_same(ours: Store, theirs: Store) -> None:
    one, other = ours.space(DEFAULT), theirs.space(DEFAULT)
    assert list(dump_lines(one)) == list(dump_lines(other))
    assert one.check() == other.check() == []
    with one.view() as own, other.view() as others:
        assert own.counts() == others.counts()
        assert own.index() == others.index()
        assert own.years() == others.years()
        assert own.speakers() == others.speakers()
        newest = Where(order="newest")
        assert own.find(Conversation, newest, limit=7) == others.find(Conversation, newest, limit=7)
        assert own.find(Message, newest, limit=7) == others.find(Message, newest, limit=7)
        assert own.find(Node, newest, limit=7) == others.find(Node, newest, limit=7)
        for conversation in every(own, Conversation):
            assert_same_thread(own, others, conversation.id)
        assert_same_search(own, others)


def assert_same_thread(own: View, others: View, conversation_id: NodeId) -> None:
    end = own.end(conversation_id)
    assert end is not None
    revision = own.revisions([conversation_id])[conversation_id]
    there = others.revisions([conversation_id])[conversation_id]
    assert (revision.digest, revision.erased) == (there.digest, there.erased)
    assert others.end(conversation_id) == replace(end, revision=there.number)  # erasing raises it by pieces
    found = own.thread(conversation_id)
    assert found is not None
    nodes = [conversation_id, *(t.id for t in found.turns), *(m.id for m in found.messages[:5])]
    assert own.edges(nodes) == others.edges(nodes)
    assert own.edges(nodes, way="in") == others.edges(nodes, way="in")


def assert_same_search(own: View, others: View) -> None:
    of_ada = {"named": ("Ada",), "spans": ((20148, 20150),)}
    similar = np.ones(384, np.float32) / np.float32(384**0.5)
    for question, partition, more in (
        ("heron tide proxy", Partition.SAID, {"phrases": (("heron",),)}),
        ("error_42 重跑 Straße", Partition.SAID, {"filter": Filter(roles=("user",)), "sought": (("error", "42"),)}),
        ("lighthouse mooring", Partition.OTHER, {"excluded": (("nginx",),)}),
        ("about the heron", Partition.TITLE, {}),
        ("Ada", Partition.SAID, of_ada),
        ("heron", Partition.SAID, {"similarity": similar, "pieces": (7, 9)}),
    ):
        ours, theirs = (ask(view, question, partition, **more) for view in (own, others))
        assert_same_features(own, others, ours, theirs)


def assert_same_features(own: View, others: View, ours: Features, theirs: Features) -> None:
    assert ours.size == theirs.size
    assert ours.piece_idf == theirs.piece_idf
    texts = [replace(text, number=0) for text in own.passages(ours.passages.tolist())]
    assert texts == [replace(text, number=0) for text in others.passages(theirs.passages.tolist())]
    for name in ARRAYS:  # sums over other blocks differ in the last bit
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-5, atol=1e-5), name


def same_operations(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Calls a test with so many runs of operations, the same ones each time."""

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        runs = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 999)), min_size=12, max_size=24)
        chosen = settings(
            max_examples=examples,
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
