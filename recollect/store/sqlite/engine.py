"""The embedded engine: one SQLite file, several processes at once. A façade over the modules beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import numpy as np
import orjson

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
from recollect.store.passages import Lane, PassageText, Probe, QualityVectors, Signals, TokenRows
from recollect.store.resident import Loaded
from recollect.store.sqlite import index, read, texts, write
from recollect.store.sqlite.candidates import CorpusReader
from recollect.store.sqlite.check import violations
from recollect.store.sqlite.connection import Database
from recollect.store.sqlite.corpus import Corpus
from recollect.store.vocabulary import spelled

T = TypeVar("T")

NAMESPACES = """
SELECT name FROM namespace n WHERE EXISTS (SELECT 1 FROM conversation c WHERE c.ns = n.ns)
    OR EXISTS (SELECT 1 FROM document d WHERE d.ns = n.ns) ORDER BY name
"""
FIND_NAMESPACE = "SELECT ns FROM namespace WHERE name = ?"
EMBEDDER = "SELECT embedder FROM namespace WHERE ns = ?"
SET_EMBEDDER = "UPDATE namespace SET embedder = ? WHERE ns = ?"
SPEAKERS = "SELECT name FROM speaker WHERE ns = ? ORDER BY name"
HAS_QUALITY = "SELECT EXISTS (SELECT 1 FROM quality_vector WHERE ns = ?)"
TOKENS = "SELECT num, pieces, vectors FROM quality_token WHERE num IN (SELECT value FROM json_each(?))"
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
OPTIMIZE = "PRAGMA optimize"

_NOWHERE = -1  # the number of a namespace that holds nothing yet
_TOKEN_WIDTH = 128


class SQLiteStore:
    """Implements `recollect.store.base.Store` on one file."""

    def __init__(
        self, path: Path, *, wait: float = 120.0, on_wait: Callable[[], None] | None = None, durable: bool = True
    ) -> None:
        self.location = str(path)
        self._database = Database(path, wait=wait, on_wait=on_wait, durable=durable)
        self._corpora: Loaded[Corpus] = Loaded()
        self._lock = threading.RLock()

    def close(self) -> None:
        """Closes all connections."""
        self._corpora.clear()
        self._database.close()

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything, sorted."""
        with self._database.reading() as connection:
            return [row[0] for row in connection.execute(NAMESPACES)]

    # --- writing ---------------------------------------------------------------------------------------------------
    def write(self, namespace: Namespace, batch: Batch) -> None:
        """Writes a batch in one transaction."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, namespace)
            write.put_changes(connection, ns, batch.changes)
            write.put_documents(connection, ns, batch.documents)
            write.put_chunks(connection, ns, batch.chunks)
            write.put_edges(connection, ns, batch.edges)
            if batch.reindexed:
                index.kill_passages(connection, ns, batch.reindexed)
            index.add_passages(connection, ns, batch.passages)

    def set_deleted(self, namespace: Namespace, message_ids: Sequence[NodeId], deleted: bool) -> None:
        """Deletes softly or restores."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, namespace)
            write.mark_deleted(connection, ns, message_ids, deleted)
            if deleted:
                index.kill_passages(connection, ns, read.with_calls(connection, ns, message_ids))

    # --- reading ---------------------------------------------------------------------------------------------------
    def stands(self, namespace: Namespace, conversation_ids: Sequence[NodeId]) -> dict[NodeId, Stand]:
        """Revisions and digests."""
        with self._within(namespace) as (connection, ns):
            return read.stands(connection, ns, conversation_ids)

    def thread(self, namespace: Namespace, conversation_id: NodeId) -> Thread | None:
        """A whole conversation."""
        with self._within(namespace) as (connection, ns):
            return read.thread(connection, ns, conversation_id)

    def end(self, namespace: Namespace, conversation_id: NodeId) -> End | None:
        """The growing end of a conversation."""
        with self._within(namespace) as (connection, ns):
            return read.end(connection, ns, conversation_id)

    def outlines(self, namespace: Namespace, spans: Sequence[Span]) -> dict[NodeId, Outline]:
        """Conversations with the windows of a span."""
        with self._within(namespace) as (connection, ns):
            return read.outlines(connection, ns, spans)

    def conversations(
        self, namespace: Namespace, wanted: ConversationFilter, *, limit: int, offset: int = 0
    ) -> list[ConversationRow]:
        """Newest first."""
        with self._within(namespace) as (connection, ns):
            return read.conversations(connection, ns, wanted, limit, offset)

    def conversation_ids(self, namespace: Namespace) -> list[NodeId]:
        """All, sorted."""
        with self._within(namespace) as (connection, ns):
            return read.conversation_ids(connection, ns)

    def messages(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[Message]:
        """By id."""
        with self._within(namespace) as (connection, ns):
            return read.messages(connection, ns, ids)

    def around(self, namespace: Namespace, spans: Sequence[Span]) -> list[Message]:
        """By position."""
        with self._within(namespace) as (connection, ns):
            return read.around(connection, ns, spans)

    def ids_ending(self, namespace: Namespace, suffix: str, limit: int = 5) -> list[NodeId]:
        """By short id."""
        with self._within(namespace) as (connection, ns):
            return read.ids_ending(connection, ns, suffix, limit)

    def tool_calls(self, namespace: Namespace, ids: Sequence[NodeId]) -> list[ToolCall]:
        """By id, with results."""
        with self._within(namespace) as (connection, ns):
            return read.tool_calls(connection, ns, ids)

    def documents(self, namespace: Namespace, ids: Sequence[NodeId] | None = None) -> Iterator[Document]:
        """All, sorted by id, or those asked for."""
        with self._within(namespace) as (connection, ns):
            wanted = read.document_ids(connection, ns) if ids is None else ids
        for document_id in wanted:  # one at a time: they may be large, and no transaction stays open between them
            with self._within(namespace) as (connection, ns):
                found = read.documents(connection, ns, [document_id])
            yield from found

    def document_chunks(self, namespace: Namespace, document_id: NodeId) -> list[Chunk]:
        """In order."""
        with self._within(namespace) as (connection, ns):
            return read.chunks(connection, ns, document_id)

    def edges(self, namespace: Namespace) -> Iterator[Edge]:
        """The written ones, sorted."""
        with self._within(namespace) as (connection, ns):
            found = read.edges(connection, ns)
        return iter(found)

    def neighbours(
        self, namespace: Namespace, node_id: NodeId, types: Iterable[str] = (), *, inward: bool = False
    ) -> list[Edge]:
        """Edges of a node, written and said by fields."""
        with self._within(namespace) as (connection, ns):
            return read.neighbours(connection, ns, node_id, types, inward)

    def counts(self, namespace: Namespace, conversation_ids: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace, or in some of its conversations."""
        with self._within(namespace) as (connection, ns):
            return read.counts(connection, ns, conversation_ids)

    def at_once(self, work: Callable[[], T]) -> T:
        """In one view of the file."""
        with self._database.reading():
            return work()

    # --- search ----------------------------------------------------------------------------------------------------
    def signals(self, namespace: Namespace, probe: Probe) -> Signals:
        """The pool of a question."""
        with self._corpus(namespace, probe.lane) as (connection, corpus):
            return pool.signals(corpus, CorpusReader(connection, corpus), probe)

    def speakers(self, namespace: Namespace) -> list[str]:
        """Names of people, sorted."""
        with self._within(namespace) as (connection, ns):
            return [row[0] for row in connection.execute(SPEAKERS, (ns,))]

    def years(self, namespace: Namespace) -> list[int]:
        """Years of messages, ascending."""
        with self._corpus(namespace, Lane.SAID) as (_, corpus):
            return corpus.years

    def similar_terms(self, namespace: Namespace, term: str, *, limit: int = 12) -> list[str]:
        """Compounds that begin or end with a term."""
        with self._corpus(namespace, Lane.SAID) as (connection, corpus):
            return corpus.vocabulary(connection).compounds(term, limit)

    def nearest_word(self, namespace: Namespace, word: str) -> str | None:
        """A word that is spelled nearly so."""
        with self._corpus(namespace, Lane.SAID) as (connection, corpus):
            term = corpus.vocabulary(connection).nearest(word)
            if term is None:
                return None
            rows, _ = corpus.postings(connection, term)
            holding = texts.passage_texts(connection, corpus.ns, [int(n) for n in corpus.columns["num"][rows[:1]]])
            return spelled(term, (text.text for text in holding))

    def passage_texts(self, namespace: Namespace, passages: Sequence[int]) -> list[PassageText]:
        """Texts by passage number."""
        with self._within(namespace) as (connection, ns):
            return texts.passage_texts(connection, ns, passages)

    # --- vectors ---------------------------------------------------------------------------------------------------
    def embedder(self, namespace: Namespace) -> str | None:
        """The name stored with the vectors."""
        with self._within(namespace) as (connection, ns):
            row = connection.execute(EMBEDDER, (ns,)).fetchone()
            return row[0] if row else None

    def set_embedder(self, namespace: Namespace, name: str) -> None:
        """Records it, unless another one's vectors are there."""
        with self._database.writing() as connection:
            ns = write.namespace_number(connection, namespace)
            known = connection.execute(EMBEDDER, (ns,)).get
            if known not in (None, name):
                raise StoreError(
                    f"The vectors of {namespace} were made by {known}, not by {name}.",
                    hint=f"Open it with {known}, or make them again: recollect embed --again",
                )
            connection.execute(SET_EMBEDDER, (name, ns))

    def clear_passages(self, namespace: Namespace) -> None:
        """Throws away what is derived for search."""
        with self._database.writing() as connection:
            index.clear(connection, write.namespace_number(connection, namespace))

    def has_quality(self, namespace: Namespace) -> bool:
        """Whether any passage has quality vectors."""
        with self._within(namespace) as (connection, ns):
            return bool(connection.execute(HAS_QUALITY, (ns,)).get)

    def without_quality(self, namespace: Namespace, limit: int) -> list[PassageText]:
        """Said passages to embed, newest first."""
        with self._within(namespace) as (connection, ns):
            return texts.passage_texts(connection, ns, texts.without_quality(connection, ns, limit))

    def store_quality(self, namespace: Namespace, rows: Sequence[QualityVectors]) -> None:
        """Stores quality vectors."""
        with self._database.writing() as connection:
            index.add_quality(connection, write.namespace_number(connection, namespace), rows)

    def token_rows(self, namespace: Namespace, passages: Sequence[int]) -> dict[int, TokenRows]:
        """Token vectors by passage number."""
        with self._within(namespace) as (connection, _):
            found = connection.execute(TOKENS, (orjson.dumps([int(p) for p in passages]).decode(),))
            return {
                num: TokenRows(
                    np.frombuffer(pieces, np.uint16), np.frombuffer(vectors, np.int8).reshape(-1, _TOKEN_WIDTH)
                )
                for num, pieces, vectors in found
            }

    # --- upkeep ----------------------------------------------------------------------------------------------------
    def settle(self, namespace: Namespace) -> None:
        """Seals what was written one by one."""
        with self._database.writing() as connection:
            index.settle(connection, write.namespace_number(connection, namespace))
        self._database.connection().execute(OPTIMIZE)
        self._database.connection().execute(CHECKPOINT)

    def check(self, namespace: Namespace | None = None) -> list[Violation]:
        """Verifies every invariant."""
        with self._database.reading() as connection:
            wanted = None if namespace is None else connection.execute(FIND_NAMESPACE, (namespace,)).get or _NOWHERE
            return violations(connection, wanted)

    def size(self) -> int:
        """Bytes on disk, the write-ahead log included."""
        path = self._database.path
        files = (path, path.with_name(path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    # --- inside ----------------------------------------------------------------------------------------------------
    @contextmanager
    def _within(self, namespace: Namespace) -> Iterator[tuple[apsw.Connection, int]]:
        with self._database.reading() as connection:
            found = connection.execute(FIND_NAMESPACE, (namespace,)).get
            yield connection, _NOWHERE if found is None else found

    @contextmanager
    def _corpus(self, namespace: Namespace, lane: Lane) -> Iterator[tuple[apsw.Connection, Corpus]]:
        with self._lock, self._within(namespace) as (connection, ns):
            corpus = self._corpora.take(ns, lane)
            if corpus is None:
                corpus = Corpus(connection, ns, lane)
            else:
                corpus.refresh(connection)
            if ns != _NOWHERE:
                self._corpora.keep(ns, lane, corpus)
            yield connection, corpus
