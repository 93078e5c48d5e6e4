"""What is particular to this engine: what it keeps of the index, what it leaves behind, what moves while it is read."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import neo4j

from recollect.engines.neo4j import maintain, source
from recollect.engines.neo4j.engine import Neo4jStore
from recollect.engines.neo4j.source import Neo4jSource
from recollect.engines.neo4j.writing import Writing
from recollect.errors import NotFound, StoreError
from recollect.ingest import Ingest
from recollect.ingest.reindex import reindex
from recollect.memory import Handle, Memory
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Edge, Message, Namespace, Node, NodeId, NodeKind, Version, namespace, namespace_part
from recollect.store import Change, Erased, Fenced, IndexChange, IndexDamaged, Invariant, Mark, Space, Stale, Task
from recollect.store.passages import CandidateQuery, Partition, QualityVectors
from recollect.store.results import Lost
from recollect.store.transfer import dump
from recollect.text.terms import terms
from tests.store import neo4j_server
from tests.store.builders import DEFAULT, START, branched, embedder, talk

ELSEWHERE = namespace("acme/luna")
CANARY = "quagga"
SOON = timedelta(seconds=30)

Opened = Callable[[], Neo4jStore]


@pytest.fixture
def open_store(neo4j_uri: str) -> Iterator[Opened]:
    """Opens the server anew at each call, as another process would."""
    stores: list[Neo4jStore] = []

    def open_one() -> Neo4jStore:
        stores.append(Neo4jStore(neo4j_uri, neo4j_server.auth(), wait=5.0, clock=lambda: START))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Opened) -> Neo4jStore:
    return open_store()


@pytest.fixture
def session(neo4j_uri: str) -> Iterator[neo4j.Session]:
    with neo4j_server.driver(neo4j_uri).session() as session:
        yield session


def ingest(store: Neo4jStore, into: Namespace = DEFAULT) -> Ingest:
    return Ingest(store.space(into), embedder(), count_tokens, lambda: START)


def maintained(space: Space) -> None:
    while space.maintain(SOON):
        pass


def count_of(session: neo4j.Session, label: str) -> int:
    return int(session.run(f"MATCH (n:{label}) RETURN count(n) AS number").single(strict=True)["number"])


def holding(space: Space, text: str, partition: Partition = Partition.SAID) -> list[str]:
    """The passages that hold every term of a text."""
    groups = tuple(((term, 1.0),) for term in terms(text))
    with space.view() as view:
        features = view.candidates(CandidateQuery(partition, groups, embedder().embed([text])[0]))
        whole = np.flatnonzero((features.holds[:, 0, :] > 0).all(axis=1))
        return [found.text for found in view.passages(features.passages[whole].tolist())]


def few(monkeypatch: pytest.MonkeyPatch, rows: int = 8, settled: int = 3, deaths: int = 4) -> None:
    """Segments of a few rows."""
    monkeypatch.setattr(maintain, "SEGMENT_ROWS", rows)
    monkeypatch.setattr(maintain, "SETTLED_ROWS", settled)
    monkeypatch.setattr(maintain, "_FEW_DEATHS", deaths)


# --- S21: nothing is kept that no query reads -----------------------------------------------------------------------


def test_the_vector_of_a_passage_stands_in_one_place(
    store: Neo4jStore, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch)
    ingest(store).threads([talk("a", *(f"the heron stands {i}" for i in range(20)), title="")])
    assert vectors_of(session) == {"Tail": 20}
    maintained(store.space(DEFAULT))
    assert vectors_of(session) == {"IndexSegment": 20}
    assert holding(store.space(DEFAULT), "heron 7") == ["the heron stands 7"]


def test_upkeep_that_finds_nothing_to_do_writes_nothing(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch)
    space = store.space(DEFAULT)
    assert not space.maintain(timedelta(0))  # nothing was ever written
    ingest(store).threads([talk("a", *(f"the heron stands {i}" for i in range(20)))])
    with space.view() as view:
        before = view.stamp
    maintained(space)
    with space.view() as view:
        after = view.stamp
    assert after != before
    assert not space.maintain(timedelta(seconds=5))
    with space.view() as view:
        assert view.stamp == after


def test_a_batch_of_conversations_is_written_in_few_statements(
    store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    into = ingest(store)
    into.threads([talk("a", "the heron", "stands")])
    statements = list[str]()
    run = neo4j.ManagedTransaction.run

    def counted(tx: neo4j.ManagedTransaction, query: Any, *args: Any, **values: Any) -> neo4j.Result:
        statements.append(query)
        return run(tx, query, *args, **values)

    monkeypatch.setattr(neo4j.ManagedTransaction, "run", counted)
    into.threads([branched(), talk("b", *(f"the heron stands {i}" for i in range(1500)))])
    assert len(statements) <= 12, statements


def vectors_of(session: neo4j.Session) -> dict[str, int]:
    """In how many rows of which nodes the vectors of passages stand; none anywhere as a list of numbers."""
    nodes = [(r["label"], r["n"]) for r in session.run("MATCH (n) RETURN labels(n)[0] AS label, properties(n) AS n")]
    assert not [label for label, node in nodes if any(isinstance(value, list) for value in node.values())]
    found: dict[str, int] = {}
    for label, node in nodes:
        if label in ("Tail", "IndexSegment"):
            found[label] = found.get(label, 0) + node["size"]
        large = [name for name, value in node.items() if isinstance(value, bytes | bytearray) and len(value) >= 256]
        assert label in ("Tail", "IndexSegment") or not large, (label, large)
    return found


def test_what_is_erased_leaves_the_tail_at_once_and_what_died_is_not_sealed(
    store: Neo4jStore, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch)
    space, whole = store.space(DEFAULT), talk("a", CANARY, "the heron stands", "a zebra", "it waits")
    ingest(store).threads([whole])
    space.erase([whole.messages[0].id])
    (tail,) = [bytes(r["terms"]) for r in session.run("MATCH (t:Tail {partition: 0}) RETURN t.terms AS terms")]
    assert CANARY.encode() not in tail
    ingest(store).delete([whole.messages[2].id])
    assert holding(space, "zebra") == []
    assert space.check() == []
    maintained(space)
    assert [r["n"] for r in session.run("MATCH (s:IndexSegment {partition: 0}) RETURN s.size AS n")] == [2]
    assert space.check() == []
    assert holding(space, "heron") == ["the heron stands"]


def test_what_is_derived_hangs_on_nothing(store: Neo4jStore, session: neo4j.Session) -> None:
    """No relationship is written that no query reads."""
    ingest(store).threads([branched()])
    assert session.run("MATCH (:Passage)-[x]-() RETURN count(x) AS number").single(strict=True)["number"] == 0
    kinds = {r["type"] for r in session.run("MATCH ()-[x]->() RETURN DISTINCT type(x) AS type")}
    assert kinds == {"HAS_TURN", "NEXT_TURN", "HAS_QUERY", "HAS_RESPONSE", "REPLIES_TO", "CALLED_BY"}


# --- S8: partitions ---------------------------------------------------------------------------------------------------


class Further(IntEnum):
    """A partition that a later version may have."""

    NOTES = 7


def test_a_further_partition_needs_no_migration(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch)
    space = store.space(DEFAULT)
    whole = talk("a", "the heron stands", "it waits", "it flies")
    ingest(store).threads([whole])
    made = ingest(store).thread_passages(whole, [m.id for m in whole.messages], titled=False)
    noted = {owner: [replace(p, partition=Further.NOTES) for p in own] for owner, own in made.items()}
    embedded = ingest(store).embedder_id
    space.write(Change(index=IndexChange(embedder=embedded, passages=noted)))  # type: ignore[arg-type]
    assert holding(space, "heron", Further.NOTES) == ["the heron stands"]  # type: ignore[arg-type]
    maintained(space)
    assert holding(space, "heron", Further.NOTES) == ["the heron stands"]  # type: ignore[arg-type]
    assert space.check() == []


# --- S9: what a generation leaves behind ------------------------------------------------------------------------------


def test_what_a_generation_leaves_is_known_until_it_is_swept(
    open_store: Opened, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintain, "_SWEPT", 2)
    store = open_store()
    ingest(store).threads([branched()])
    once = count_of(session, "Passage")
    reindex(store.space(DEFAULT), ingest(store))
    assert count_of(session, "Passage") == 2 * once
    assert holding(store.space(DEFAULT), "focaccia percent") == ["Focaccia, at 85 percent."]
    store.close()
    for step in range(100):  # each step is another process, which may be killed after it
        again = open_store().space(DEFAULT)
        assert again.check() == []
        if not again.maintain(timedelta(0)):
            break
        assert step < 90
    assert count_of(session, "Passage") == once
    assert count_of(session, "Generation") == 1
    spaces = {r["space"] for r in session.run("MATCH (n) WHERE n.space IS NOT NULL RETURN DISTINCT n.space AS space")}
    assert len(spaces) == 1


def test_check_sees_what_belongs_to_no_generation(store: Neo4jStore, session: neo4j.Session) -> None:
    ingest(store).threads([branched()])
    reindex(store.space(DEFAULT), ingest(store))
    session.run("MATCH (g:Generation {state: 'garbage'}) DELETE g").consume()
    assert [v.invariant for v in store.space(DEFAULT).check()] == [Invariant.NOTHING_LEFT]


# --- S14, S15: whose it is --------------------------------------------------------------------------------------------


def test_numbers_of_one_namespace_say_nothing_in_another(store: Neo4jStore) -> None:
    ingest(store).threads([talk("a", "the heron stands", CANARY)])
    ingest(store, ELSEWHERE).threads([talk("b", "nothing of note", "nothing else")])
    with store.space(DEFAULT).view() as view:
        numbers = [text.number for text in view.unembedded(9)]
    vectors = [
        QualityVectors(n, np.ones(384, np.float32) / 20, np.array([7], np.uint16), np.ones((1, 128), np.int8))
        for n in numbers
    ]
    store.space(DEFAULT).write(Change(index=IndexChange(quality=vectors)))
    with store.space(ELSEWHERE).view() as view:
        theirs = view.passages(range(1, 100), tokens=True)
        assert {text.text for text in theirs} == {"nothing of note", "nothing else", "b"}
        assert [text.tokens for text in theirs] == [None] * 3
        assert not view.index().quality


def test_an_id_is_found_in_the_case_it_was_given(store: Neo4jStore) -> None:
    whole = talk("a", "one")
    own = replace(whole.conversation, id=NodeId("chat-1"))
    store.space(DEFAULT).write(Change(put=[own]))
    with store.space(DEFAULT).view() as view:
        assert [view.named(text) for text in ("chat-1", "CHAT-1", "Chat-1", "t-1")] == [["chat-1"]] * 4


def test_an_id_stands_for_one_thing(store: Neo4jStore) -> None:
    space, whole = store.space(DEFAULT), talk("a", "one")
    ingest(store).threads([whole])
    with pytest.raises(StoreError, match="is that of a Message"):
        space.write(Change(put=[Node(whole.messages[0].id, NodeKind.FACT)]))


# --- erasing ----------------------------------------------------------------------------------------------------------


def test_no_word_of_what_was_erased_is_in_any_property(
    neo4j_uri: str, store: Neo4jStore, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch)
    space, whole = store.space(DEFAULT), talk("a", f"Where is the {CANARY}?", f"The {CANARY} is here.", "Good.")
    ingest(store).threads([whole, talk("b", *(f"heron {i}" for i in range(20)))])
    maintained(space)
    first, second = whole.messages[0].id, whole.messages[1].id
    ingest(store).edit(first, f"Where is that {CANARY}s?", Version("", START))  # the old wording lies in a segment
    reindex(space, ingest(store))  # and in a generation that nobody has swept
    fact = Node(NodeId("f"), NodeKind.FACT, CANARY, f"A {CANARY}", conversation_id=whole.conversation.id)
    edges = [Edge(fact.id, "ABOUT", first, {"quote": CANARY}), Edge(first, "MENTIONS", NodeId(CANARY))]
    tasks = [Task(id=NodeId("t"), kind="k", subject=first, payload=CANARY.encode())]
    space.write(Change(put=[fact], edges=edges, tasks=tasks))
    assert CANARY.encode() in neo4j_server.everything(neo4j_uri)
    assert space.erase([first, second, fact.id]) == Erased(messages=2, nodes=1, passages=2)
    assert CANARY.encode() not in neo4j_server.everything(neo4j_uri)
    found = session.run("CALL db.index.fulltext.queryNodes('passage_words', $word) YIELD node RETURN node", word=CANARY)
    assert list(found) == []
    assert space.check() == []
    assert holding(space, "heron 7") == ["heron 7"]


def test_erasing_that_is_interrupted_goes_on(
    neo4j_uri: str, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintain, "_PIECE", 3)
    monkeypatch.setattr(maintain, "_TOGETHER", 1)
    space = store.space(DEFAULT)
    talks = [talk(f"t{n}", *(f"{CANARY} {i}" for i in range(5)), title=CANARY) for n in range(3)]
    ingest(store).threads(talks)
    ids = [whole.conversation.id for whole in talks]
    pieces = 0

    def killed(*arguments: Any) -> Erased:
        nonlocal pieces
        pieces += 1
        if pieces == 3:
            raise KeyboardInterrupt
        return whole_piece(*arguments)

    whole_piece = maintain._erase
    with monkeypatch.context() as patch:
        patch.setattr(maintain, "_erase", killed)
        with pytest.raises(KeyboardInterrupt):
            space.erase(ids)
    assert space.check() == []
    with space.view() as view:
        assert view.counts().messages == 10
    assert space.erase(ids) == Erased(conversations=2, messages=10, passages=12)
    assert CANARY.encode() not in neo4j_server.everything(neo4j_uri)
    assert space.erase(ids) == Erased()


def test_erasing_what_is_not_there_erases_nothing(store: Neo4jStore) -> None:
    whole = talk("a", "one")
    ingest(store).threads([whole])
    with pytest.raises(NotFound):
        store.space(DEFAULT).erase([whole.messages[0].id, NodeId("nothing")])
    with store.space(DEFAULT).view() as view:
        assert view.counts().messages == 1


# --- what moves while it is read --------------------------------------------------------------------------------------


def test_rows_that_are_sealed_while_they_are_read_are_not_lost(
    open_store: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch)
    reader, other = open_store().space(DEFAULT), open_store()
    ingest(other).threads([talk("a", *(f"the heron stands {i}" for i in range(20)))])
    read_segments, moved = Neo4jSource.segments, []

    def moving(source: Neo4jSource) -> Any:
        found = read_segments(source)
        if not moved:
            moved.append(True)
            maintained(other.space(DEFAULT))
        return found

    monkeypatch.setattr(Neo4jSource, "segments", moving)
    assert len(holding(reader, "heron")) == 20
    assert moved
    assert len(holding(reader, "heron")) == 20


def test_a_state_is_believed_when_all_of_it_is_in_sight(store: Neo4jStore, neo4j_uri: str) -> None:
    """What an index leads to comes into sight after the properties of nodes that are known."""
    space = store.space(DEFAULT)
    ingest(store).threads([talk("a", *(f"the heron stands {i}" for i in range(20)))])
    counted(neo4j_uri, 1)
    later = threading.Timer(0.3, counted, (neo4j_uri, -1))
    later.start()
    began = time.monotonic()
    assert len(holding(space, "heron")) == 20
    assert time.monotonic() - began > 0.2
    later.join()


def test_what_was_seen_is_remembered_of_few_namespaces(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """I5: a process may use any number of them."""
    monkeypatch.setattr(source, "_MOST_SEEN", 4)
    names = [namespace(f"people/{number}") for number in range(6)]
    for number, name in enumerate(names):
        ingest(store, name).threads([talk("a", f"the heron stands {number}")])
    for number, name in enumerate([*names, *names]):
        assert holding(store.space(name), "heron") == [f"the heron stands {number % 6}"]
        assert len(store.seen) <= 4


def counted(uri: str, more: int) -> None:
    """The state of what was said speaks of so many more rows."""
    with neo4j_server.driver(uri).session() as session:
        session.run("MATCH (x:Partition {partition: 0}) SET x.tail_rows = x.tail_rows + $more", more=more).consume()


def test_rows_that_are_gone_are_told(
    store: Neo4jStore, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_PATIENCE", 0.1)
    ingest(store).threads([talk("a", "the heron stands")])
    session.run("MATCH (t:Tail {partition: 0}) DELETE t").consume()
    with pytest.raises(IndexDamaged, match="missing"):
        holding(store.space(DEFAULT), "heron")
    told = store.space(DEFAULT).check()
    assert {(v.invariant, v.remedy) for v in told} == {(Invariant.IN_ONE_PLACE, "reindex")}


def test_what_is_planned_on_a_message_that_is_written_meanwhile_is_stale(open_store: Opened) -> None:
    """S3: whatever is asked first, the revision is not newer than the words."""
    space, other = open_store().space(DEFAULT), open_store()
    whole = talk("a", "the heron stands", "it waits")
    conversation, first = whole.conversation.id, whole.messages[0].id
    ingest(other).threads([whole])
    for number, read in enumerate(
        (
            lambda view: view.get(Message, [first]),
            lambda view: view.thread(conversation),
            lambda view: view.end(conversation),
        )
    ):
        with space.view() as view:
            read(view)
            ingest(other).edit(first, f"the egret stands {number}", Version("", START))
            planned = view.revisions([conversation])[conversation].number
        with pytest.raises(Stale):
            space.write(Change(expect={conversation: planned}))


def test_a_view_answers_again_what_it_has_answered(open_store: Opened) -> None:
    space, other = open_store().space(DEFAULT), open_store()
    whole = talk("a", "the heron stands", "it waits")
    ingest(other).threads([whole])
    asked = CandidateQuery(Partition.SAID, ((("heron", 1.0),),), embedder().embed(["heron"])[0])
    with space.view() as view:
        before = view.get(Message, [whole.messages[0].id]), view.end(whole.conversation.id), view.candidates(asked).size
        ingest(other).edit(whole.messages[0].id, "the egret stands", Version("", START))
        ingest(other).threads([talk("b", "another heron")])
        assert before == (
            view.get(Message, [whole.messages[0].id]),
            view.end(whole.conversation.id),
            view.candidates(asked).size,
        )
    assert sorted(holding(space, "stands")) == ["the egret stands"]


def test_deaths_are_compacted_away(store: Neo4jStore, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch)
    space, whole = store.space(DEFAULT), talk("a", *(f"{CANARY} {i}" for i in range(12)))
    ingest(store).threads([whole])
    maintained(space)
    assert holding(space, CANARY)
    ingest(store).delete([m.id for m in whole.messages[:6]])
    assert count_of(session, "Death") == 6
    maintained(space)
    assert count_of(session, "Death") == 0
    assert sum(r["n"] for r in session.run("MATCH (s:IndexSegment {partition: 0}) RETURN s.size AS n")) == 6
    assert len(holding(space, CANARY)) == 6
    assert space.check() == []


@pytest.mark.parametrize("damage", ["s.data = s.data[..-1]", "s.data = null"])
def test_a_damaged_segment_is_told_and_mended_by_another_generation(
    open_store: Opened, session: neo4j.Session, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    few(monkeypatch)
    store = open_store()
    ingest(store).threads([talk("a", *(f"the heron stands {i}" for i in range(9)))])
    maintained(store.space(DEFAULT))
    data = session.run("MATCH (s:IndexSegment) RETURN s.data AS data LIMIT 1").single(strict=True)["data"]
    broken = None if "null" in damage else bytes(data)[:-1]
    session.run("MATCH (s:IndexSegment) SET s.data = $broken", broken=broken).consume()
    fresh = open_store()
    space = fresh.space(DEFAULT)
    with pytest.raises(IndexDamaged):
        holding(space, "heron")
    told = space.check()
    assert {(v.invariant, v.remedy) for v in told} == {(Invariant.SEGMENTS_READABLE, "reindex")}
    with space.view() as view:
        assert len(view.scan(["heron"], 20)) == 9
    reindex(space, ingest(fresh))
    maintained(space)
    assert len(holding(space, "heron")) == 9
    assert space.check() == []


# --- edges, tasks, the rest -------------------------------------------------------------------------------------------


def test_an_edge_waits_for_its_ends_and_is_drawn_then(store: Neo4jStore, session: neo4j.Session) -> None:
    space = store.space(DEFAULT)
    late, later = NodeId("late"), NodeId("later")
    edge = Edge(late, "RELATED_TO", later, {"weight": 1}, "USES")
    space.write(Change(edges=[edge, replace(edge, name="REPLACES"), Edge(late, "odd `name`", later)]))
    assert (count_of(session, "Edge"), drawn(session)) == (3, [])
    space.write(Change(put=[Node(late, NodeKind.ENTITY)]))
    assert (count_of(session, "Edge"), drawn(session)) == (3, [])
    space.write(Change(put=[Node(later, NodeKind.ENTITY)]))
    assert (count_of(session, "Edge"), drawn(session)) == (1, ["REPLACES", "USES"])
    with space.view() as view:
        assert len(view.edges(None)) == len(view.edges([late])) == len(view.edges([later], way="in")) == 3
    space.write(Change(cut=[(late, "RELATED_TO", later, "USES"), (late, "odd `name`", later, "")]))
    assert (count_of(session, "Edge"), drawn(session)) == (0, ["REPLACES"])
    assert space.check() == []


def drawn(session: neo4j.Session) -> list[str]:
    return sorted(r["name"] for r in session.run("MATCH ()-[x:RELATED_TO]->() RETURN x.name AS name"))


def test_an_edge_at_a_piece_of_text_survives_its_rewording(store: Neo4jStore) -> None:
    space = store.space(DEFAULT)
    text = "\n\n".join(f"Paragraph {i} speaks of tides at some length, as harbour books do." for i in range(900))
    whole = talk("a", text, "Thanks.")
    ingest(store).threads([whole])
    edge = Edge(NodeId("fact"), "SOURCED_FROM", whole.chunks[-1].id)
    space.write(Change(put=[Node(NodeId("fact"), NodeKind.FACT)], edges=[edge]))
    ingest(store).edit(whole.messages[0].id, "Short.", Version("", START))
    with space.view() as view:
        assert view.edges(None) == [edge]
    ingest(store).edit(whole.messages[0].id, text, Version("", START))
    with space.view() as view:
        assert view.edges([NodeId("fact")]) == [edge]
    assert space.check() == []


def test_many_edges_are_few_statements(store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """S18: a transaction for all of them, a statement for a thousand."""
    space, nodes = store.space(DEFAULT), [Node(NodeId(f"n{i}"), NodeKind.ENTITY) for i in range(60)]
    space.write(Change(put=nodes))
    statements = 0
    run = neo4j.ManagedTransaction.run

    def counted(*arguments: Any, **values: Any) -> Any:
        nonlocal statements
        statements += 1
        return run(*arguments, **values)

    monkeypatch.setattr(neo4j.ManagedTransaction, "run", counted)
    space.write(Change(edges=[Edge(a.id, "MENTIONS", b.id) for a in nodes for b in nodes]))
    assert statements < 12
    with space.view() as view:
        assert len(view.edges(None)) == 3600


def test_a_worker_of_a_task_that_was_done_and_put_anew_is_fenced_off(store: Neo4jStore) -> None:
    space, task = store.space(DEFAULT), Task(id=NodeId("t"), kind="k")
    space.write(Change(tasks=[task]))
    (late,) = space.claim("first", ["k"], 1, timedelta(0))
    (other,) = space.claim("second", ["k"], 1, timedelta(minutes=1))
    space.write(Change(leases=[other]))
    space.write(Change(tasks=[task]))
    (third,) = space.claim("third", ["k"], 1, timedelta(minutes=1))
    assert len({late.fence, other.fence, third.fence}) == 3
    with pytest.raises(Fenced):
        space.write(Change(leases=[late]))


def test_asking_makes_no_namespace(store: Neo4jStore, session: neo4j.Session) -> None:
    space = store.space(DEFAULT)
    assert space.claim("w", ["k"], 1, SOON) == []
    assert not space.maintain(SOON)
    assert space.check() == []
    assert count_of(session, "Namespace") == 0


def test_a_copy_is_made_on_the_server(store: Neo4jStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="neo4j-admin"):
        store.backup(tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_nothing(neo4j_uri: str, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = talk("a", "one", "two")
    ingest(store).threads([whole])
    before = neo4j_server.everything(neo4j_uri)
    monkeypatch.setattr(Writing, "finish", lambda writing: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        store.space(DEFAULT).write(Change(mark=[Mark(ids=[whole.messages[0].id], deleted=True)]))
    assert sorted(neo4j_server.everything(neo4j_uri)) == sorted(before)


def test_a_damaged_record_costs_itself_alone(store: Neo4jStore, session: neo4j.Session) -> None:
    space = store.space(DEFAULT)
    one, other = talk("a", "the heron stands", "it waits", "it dives"), talk("b", "a zebra", "it runs")
    ingest(store).threads([one, other])
    session.run("MATCH (m:Message {id: $id}) SET m.role = 'nonsense'", id=one.messages[1].id).consume()
    target = io.BytesIO()
    dumped = dump(space, target)
    assert dumped.lost == Lost(messages=1)
    assert dumped.count["conversations"] == 2
    assert dumped.count["messages"] == 4
    assert b"it dives" in target.getvalue()
    assert isinstance(space.check(), list)


def test_live_calls_of_an_older_version_move_to_the_message_that_called(
    store: Neo4jStore, neo4j_uri: str, session: neo4j.Session
) -> None:
    with Memory(Handle(store, embedder(), DEFAULT)) as memory:
        asked = memory.store_message("How is the wind?")
        calls = memory.integration.store_tool_calls(
            [{"name": n, "arguments": "{}", "result": f"{n} 7"} for n in "ab"], asked.id
        )
        session.run(
            "MATCH (t:ToolCall)-[x:CALLED_BY]->() MATCH (r:Message {id: t.result_message_id}) "
            "DELETE x MERGE (t)-[:CALLED_BY]->(r) SET t.message_id = r.id"
        ).consume()
        session.run("MATCH (s:Schema) SET s.version = 2").consume()
        again = Neo4jStore(neo4j_uri, neo4j_server.auth())
        assert [call.message_id for call in memory.integration.tool_calls([call.id for call in calls])] == [
            asked.id
        ] * 2
        assert again.space(DEFAULT).check() == []
        again.close()


def test_users_of_an_older_version_have_their_names_of_today(
    store: Neo4jStore, neo4j_uri: str, session: neo4j.Session
) -> None:
    old, today = Namespace("user/Anna-Smith-h1g7e6"), Namespace(f"user/{namespace_part('Anna Smith')}")
    with Memory(Handle(store, embedder(), old)) as memory:
        memory.store_message("My boat is called Tern. I live in Porto.")
        memory.upkeep.consolidate()
        memory.beside("user/customer-104233").store_message("Nobody else's.")
        facts = [fact.content for fact in memory.facts()]
        assert facts
        session.run("MATCH (s:Schema) SET s.version = 2").consume()
        again = Neo4jStore(neo4j_uri, neo4j_server.auth())
        assert again.namespaces() == ["user/Anna-Smith~6d39zy8jnnh5t86vhzevh1g7e6", "user/customer-104233"]
        with Memory(Handle(again, embedder(), today)) as found:
            assert [fact.content for fact in found.facts()] == facts
            assert found.search("boat").hits
            assert found.upkeep.check() == []
            assert found.beside(old).upkeep.stats().messages == 0
            assert session.run("MATCH (x) WHERE x.namespace = $old RETURN count(x) AS n", old=old).single()["n"] == 0
