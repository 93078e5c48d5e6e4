"""The engine on a Neo4j server: many processes and machines at once. A façade over the modules beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import neo4j
import numpy as np

from recollect.errors import StoreError
from recollect.record import Document, Edge, Message, Namespace, NodeId, Thread, ToolCall
from recollect.record.nodes import Chunk
from recollect.store import pool
from recollect.store.base import (
    Batch,
    ConversationFilter,
    ConversationRow,
    Counts,
    End,
    Outline,
    Span,
    Stand,
    Violation,
)
from recollect.store.neo4j import index, queries, read, search_queries, texts, write
from recollect.store.neo4j.candidates import LaneReader
from recollect.store.neo4j.check import violations
from recollect.store.neo4j.connection import Server
from recollect.store.neo4j.lane import LoadedLane, State, read_state
from recollect.store.neo4j.schema import Schema
from recollect.store.neo4j.write import Writing
from recollect.store.passages import Lane, PassageText, Probe, QualityVectors, Signals, TokenRows
from recollect.store.resident import Loaded
from recollect.store.vocabulary import spelled

_NOTHING = State(space=-1, changes=0, rows=(0, 0, 0), sealed=(0, 0, 0), embedder=None)
_TOKEN_WIDTH = 128

T = TypeVar("T")
Transaction = neo4j.ManagedTransaction


class Neo4jStore:
    """Implements `recollect.store.base.Store` on a server. Raises StoreError within seconds where there is none."""

    def __init__(
        self,
        address: str,
        auth: tuple[str, str] | None = None,
        *,
        wait: float = 120.0,
        on_wait: Callable[[], None] | None = None,
    ) -> None:
        self._server = Server(address, auth, wait=wait, on_wait=on_wait)
        self.location = self._server.location
        self._schema = Schema(self._server)
        self._lanes: Loaded[LoadedLane] = Loaded()
        self._lock = threading.RLock()
        self._local = threading.local()

    def close(self) -> None:
        """Closes all connections."""
        self._lanes.clear()
        self._server.close()

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything, sorted."""
        return self._server.read(lambda tx: sorted(Namespace(r["name"]) for r in tx.run(queries.NAMESPACES)))

    # --- writing ---------------------------------------------------------------------------------------------------
    def write(self, namespace: Namespace, batch: Batch) -> None:
        """Writes a batch in one transaction."""
        if batch.passages:
            self._schema.ensure_vectors(len(batch.passages[0].vector))

        def work(writing: Writing) -> None:
            write.put_changes(writing, batch.changes)
            write.put_documents(writing, batch.documents)
            write.put_chunks(writing, batch.chunks)
            write.put_edges(writing, batch.edges)
            if batch.reindexed:
                index.kill_passages(writing, batch.reindexed)
            index.add_passages(writing, batch.passages)

        self._writing(namespace, work)

    def set_deleted(self, namespace: Namespace, message_ids: Sequence[NodeId], deleted: bool) -> None:
        """Deletes softly or restores."""

        def work(writing: Writing) -> None:
            write.mark_deleted(writing, message_ids, deleted)
            if deleted:
                index.kill_passages(writing, read.with_calls(writing.tx, namespace, message_ids))

        self._writing(namespace, work)

    # --- reading ---------------------------------------------------------------------------------------------------
    def stands(self, namespace: Namespace, conversation_ids: Sequence[NodeId]) -> dict[NodeId, Stand]:
        """Revisions and digests."""
        return self._server.read(lambda tx: read.stands(tx, namespace, conversation_ids))

    def thread(self, namespace: Namespace, conversation_id: NodeId) -> Thread | None:
        """A whole conversation."""
        return self._server.read(lambda tx: read.thread(tx, namespace, conversation_id))

    def end(self, namespace: Namespace, conversation_id: NodeId) -> End | None:
        """The growing end of a conversation."""
        return self._server.read(lambda tx: read.end(tx, namespace, conversation_id))

    def outlines(self, namespace: Namespace, spans: Sequence[Span]) -> dict[NodeId, Outline]:
        """In order."""
        return self._server.read(lambda tx: read.outlines(tx, namespace, spans))

    def conversations(
        self, namespace: Namespace, wanted: ConversationFilter, *, limit: int, offset: int = 0
    ) -> list[ConversationRow]:
        """Newest first."""
        return self._server.read(lambda tx: read.conversations(tx, namespace, wanted, limit, offset))

    def conversation_ids(self, namespace: Namespace) -> list[NodeId]:
        """All, sorted."""
        return self._server.read(lambda tx: read.conversation_ids(tx, namespace))

    def messages(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[Message]:
        """By id."""
        return self._server.read(lambda tx: read.messages(tx, namespace, ids)) if ids else []

    def around(self, namespace: Namespace, spans: Sequence[Span]) -> list[Message]:
        """By position."""
        return self._server.read(lambda tx: read.around(tx, namespace, spans))

    def ids_ending(self, namespace: Namespace, suffix: str, limit: int = 5) -> list[NodeId]:
        """By short id."""
        return self._server.read(lambda tx: read.ids_ending(tx, namespace, suffix, limit))

    def tool_calls(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[ToolCall]:
        """By id, with results."""
        return self._server.read(lambda tx: read.tool_calls(tx, namespace, ids)) if ids else []

    def documents(self, namespace: Namespace, ids: Sequence[NodeId] | None = None) -> Iterator[Document]:
        """All, sorted by id, or those asked for."""
        wanted = self._server.read(lambda tx: read.document_ids(tx, namespace)) if ids is None else ids
        for document_id in wanted:  # one at a time: they may be large, and no transaction stays open between them
            one = [document_id]
            yield from self._server.read(lambda tx, one=one: read.documents(tx, namespace, one))  # type: ignore[misc]

    def document_chunks(self, namespace: Namespace, document_id: NodeId) -> list[Chunk]:
        """In order."""
        return self._server.read(lambda tx: read.chunks(tx, namespace, document_id))

    def edges(self, namespace: Namespace) -> Iterator[Edge]:
        """The written ones, sorted."""
        return iter(self._server.read(lambda tx: read.edges(tx, namespace)))

    def neighbours(
        self, namespace: Namespace, node_id: NodeId, types: Iterable[str] = (), *, inward: bool = False
    ) -> list[Edge]:
        """Edges of a node, written and said by fields."""
        wanted = tuple(types)
        return self._server.read(lambda tx: read.neighbours(tx, namespace, node_id, wanted, inward))

    def counts(self, namespace: Namespace, conversation_ids: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace, or in some of its conversations."""
        return self._within(namespace, lambda tx, state: read.counts(tx, namespace, state.space, conversation_ids))

    def at_once(self, work: Callable[[], T]) -> T:
        """In one transaction; its statements still see what others commit meanwhile."""
        return self._server.read(lambda _: work())

    # --- search ----------------------------------------------------------------------------------------------------
    def signals(self, namespace: Namespace, probe: Probe) -> Signals:
        """The pool of a question."""
        return self._on_lane(
            namespace, probe.lane, lambda tx, lane: pool.signals(lane, LaneReader(tx, namespace, lane), probe)
        )

    def speakers(self, namespace: Namespace) -> list[str]:
        """Names of people, sorted."""

        def work(tx: Transaction, state: State) -> list[str]:
            return sorted(record["name"] for record in tx.run(search_queries.SPEAKERS, space=state.space))

        return self._within(namespace, work)

    def years(self, namespace: Namespace) -> list[int]:
        """Years of messages, ascending."""
        return self._on_lane(namespace, Lane.SAID, lambda _, lane: lane.years)

    def similar_terms(self, namespace: Namespace, term: str, *, limit: int = 12) -> list[str]:
        """Compounds that begin or end with a term."""
        return self._on_lane(namespace, Lane.SAID, lambda _, lane: lane.vocabulary().compounds(term, limit))

    def nearest_word(self, namespace: Namespace, word: str) -> str | None:
        """A word that is spelled nearly so."""

        def work(tx: Transaction, lane: LoadedLane) -> str | None:
            term = lane.vocabulary().nearest(word)
            if term is None:
                return None
            rows, _ = lane.postings(term)
            holding = texts.passage_texts(tx, lane.space, lane.columns["num"][rows[:1]].tolist())
            return spelled(term, (text.text for text in holding))

        return self._on_lane(namespace, Lane.SAID, work)

    def passage_texts(self, namespace: Namespace, passages: Sequence[int]) -> list[PassageText]:
        """Texts by passage number."""
        if not len(passages):
            return []
        return self._within(namespace, lambda tx, state: texts.passage_texts(tx, state.space, passages))

    # --- vectors ---------------------------------------------------------------------------------------------------
    def embedder(self, namespace: Namespace) -> str | None:
        """The name stored with the vectors."""
        return self._within(namespace, lambda _, state: state.embedder)

    def set_embedder(self, namespace: Namespace, name: str) -> None:
        """Records it, unless another one's vectors are there."""
        if self.embedder(namespace) == name:
            return  # a read-only member is no obstacle

        def work(writing: Writing) -> None:
            if writing.embedder not in (None, name):
                raise StoreError(
                    f"The vectors of {namespace} were made by {writing.embedder}, not by {name}.",
                    hint=f"Open it with {writing.embedder}, or make them again: recollect embed --again",
                )
            writing.tx.run(queries.SET_EMBEDDER, ns=namespace, embedder=name).consume()

        self._writing(namespace, work)

    def clear_passages(self, namespace: Namespace) -> None:
        """Throws away what is derived for search: at once for every reader, from the disk piece by piece."""

        def work(tx: Transaction) -> int:
            old = Writing.begin(tx, namespace).space
            tx.run(queries.NEW_SPACE, ns=namespace).consume()
            return old

        space = self._server.write(work)
        for sweep in (
            search_queries.SWEEP_PASSAGES,
            search_queries.SWEEP_QUALITY,
            search_queries.SWEEP_SEGMENTS,
            search_queries.SWEEP_SPEAKERS,
            search_queries.SWEEP_PIECES,
        ):
            self._server.run(sweep, space=space)

    def has_quality(self, namespace: Namespace) -> bool:
        """Whether any passage has quality vectors."""

        def work(tx: Transaction, state: State) -> bool:
            return tx.run(search_queries.HAS_QUALITY, space=state.space).peek() is not None

        return self._within(namespace, work)

    def without_quality(self, namespace: Namespace, limit: int) -> list[PassageText]:
        """Said passages to embed, newest first."""

        def work(tx: Transaction, state: State) -> list[PassageText]:
            return texts.passage_texts(tx, state.space, texts.without_quality(tx, state.space, limit))

        return self._within(namespace, work)

    def store_quality(self, namespace: Namespace, rows: Sequence[QualityVectors]) -> None:
        """Stores quality vectors."""
        self._writing(namespace, lambda writing: index.add_quality(writing, rows))

    def token_rows(self, namespace: Namespace, passages: Sequence[int]) -> dict[int, TokenRows]:
        """Token vectors by passage number."""

        def work(tx: Transaction, state: State) -> dict[int, TokenRows]:
            wanted = [int(number) for number in passages]
            return {
                record["number"]: TokenRows(
                    np.frombuffer(record["pieces"], np.uint16),
                    np.frombuffer(record["tokens"], np.int8).reshape(-1, _TOKEN_WIDTH),
                )
                for record in tx.run(search_queries.TOKENS, space=state.space, numbers=wanted)
            }

        return self._within(namespace, work)

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def settle(self, namespace: Namespace) -> None:
        """Seals what was written one by one."""
        self._writing(namespace, index.settle)

    def check(self, namespace: Namespace | None = None) -> list[Violation]:
        """Verifies every invariant."""
        if namespace is not None:
            return self._server.read(lambda tx: violations(tx, namespace))
        every = self._server.read(lambda tx: sorted(Namespace(r["name"]) for r in tx.run(queries.ALL_NAMESPACES)))
        return [violation for name in every for violation in self.check(name)]

    def size(self) -> int:
        """Bytes on the server's disk, all databases' stores and logs; 0 where it does not tell."""
        return 0

    # --- inside ----------------------------------------------------------------------------------------------------
    def _writing(self, namespace: Namespace, work: Callable[[Writing], None]) -> None:
        """One transaction with the namespace locked; its numbers are kept at the end."""

        def whole(tx: Transaction) -> None:
            with self._server.waiting():
                writing = Writing.begin(tx, namespace)
            work(writing)
            writing.finish()

        self._server.write(whole)

    def _within(self, namespace: Namespace, work: Callable[[Transaction, State], T]) -> T:
        return self._server.read(lambda tx: work(tx, self._state(tx, namespace)))

    def _state(self, tx: Transaction, namespace: Namespace) -> State:
        """Where the namespace stands, looked up once a transaction."""
        known: tuple[Transaction, Namespace, State] | None = getattr(self._local, "state", None)
        if known is None or known[0] is not tx or known[1] != namespace:
            known = self._local.state = (tx, namespace, read_state(tx, namespace) or _NOTHING)
        return known[2]

    def _on_lane(self, namespace: Namespace, lane: Lane, work: Callable[[Transaction, LoadedLane], T]) -> T:
        """Lends an up-to-date lane to one search at a time."""

        def whole(tx: Transaction, state: State) -> T:
            return work(tx, self._loaded(tx, state, lane))

        with self._lock:
            return self._within(namespace, whole)

    def _loaded(self, tx: Transaction, state: State, lane: Lane) -> LoadedLane:
        loaded = self._lanes.take(state.space, lane)
        if loaded is None:
            loaded = LoadedLane(tx, state, lane)
        else:
            loaded.refresh(tx, state)
        if state is not _NOTHING:
            self._lanes.keep(state.space, lane, loaded)
        return loaded
