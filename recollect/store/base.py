"""The port of the stores: what an engine must do, in the words of the domain. Another engine is written from this file.

Five ideas carry it. A `Space` is *bound to one namespace*: no call can name another. Everything that changes is *one
write*: a `Change` (change.py) is one transaction, idempotent, and fails whole where somebody else has written
meanwhile. Reading happens in *one view*: a snapshot that stays still as long as its `with` lasts; what it answers is in
results.py. *Passages belong to owners* and replace what the owner had. What is derived for search has *generations*:
a new one is built beside the old and published. What a write acknowledges survives a kill.

Candidates, statistics and what is kept in memory for search are not an engine's business: it gives the rows
(`recollect.index.source.Source`), and `recollect.index` does the rest: `View.known`, `candidates`, `sharing` and
`vocabulary` are a call of it each. Methods raise StoreError and its kin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol

from recollect.record import Edge, Message, Namespace, NodeId, Thread
from recollect.store.change import Change, Lease, Record, Task
from recollect.store.passages import CandidateQuery, EmbedderId, Features, Partition, PassageText, QueryTerms
from recollect.store.results import (
    Counts,
    End,
    Erased,
    IndexInfo,
    Lost,
    Near,
    Page,
    R,
    Revision,
    Span,
    StoreInfo,
    Violation,
    Where,
)


class Vocabulary(Protocol):
    """The words that the index of a view holds, and the days on which they were said. Its calls raise IndexDamaged."""

    def compounds(self, term: str, limit: int = 12) -> list[str]:
        """Terms that begin or end with this one, most frequent first; for a single character, all that hold it."""

    def near(self, word: str, limit: int = 3) -> list[Near]:
        """Terms that may be meant by a word that no passage has, nearest first."""

    def days(self) -> dict[int, int]:
        """How many messages were said on each day, by its number since 1970."""


class View(Protocol):
    """One snapshot of a namespace. Not thread-safe; useless after its `with`."""

    @property
    def stamp(self) -> Hashable:
        """What two views of a namespace on one handle have in common only where nothing was written between them."""

    def get(self, kind: type[R], ids: Sequence[NodeId]) -> list[R]:
        """Those that are there, in order; of Chunk, those of these parents. Results that are messages are filled in."""

    def find(self, kind: type[R], where: Where, *, after: str | None = None, limit: int = 100) -> Page[R]:
        """A page of records."""

    def revisions(self, ids: Sequence[NodeId]) -> dict[NodeId, Revision]:
        """Of those conversations, documents and derived nodes that are there."""

    def kinds(self, ids: Sequence[NodeId]) -> dict[NodeId, type[Record]]:
        """What those stand for that are the ids of records."""

    def thread(self, id: NodeId) -> Thread | None:
        """A conversation with everything in it, messages by position."""

    def end(self, id: NodeId) -> End | None:
        """The growing end of a conversation."""

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""

    def around(self, spans: Sequence[Span]) -> list[Message]:
        """The messages at these positions, span by span, each in order."""

    def sizes(self, ids: Sequence[NodeId]) -> dict[NodeId, tuple[int, int]]:
        """How many messages these conversations have: those that are not deleted, and all, deleted and erased too."""

    def origins(self, numbers: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """The ids and the sources of conversations, by their numbers in `Features`."""

    def named(self, text: str, limit: int = 5) -> list[NodeId]:
        """Conversations and messages whose id or source id is this, whatever the case, or else whose id ends so."""

    def edges(
        self,
        of: Sequence[NodeId] | None,
        types: Collection[str] = (),
        way: Literal["out", "in"] = "out",
        limit: int = 10_000,
    ) -> list[Edge]:
        """The edges that leave (or enter) these nodes, written ones and those that fields say (REPLIES_TO, HAS_TURN …),
        sorted by type, source, target, name. None: all written ones, sorted by source, type, target, name, no limit.
        """

    def counts(self, of: Sequence[NodeId] | None = None) -> Counts:
        """What is in the namespace, or in some of its conversations."""

    def tasks(self, state: Literal["due", "leased", "dead"], limit: int = 100) -> list[tuple[Task, str]]:
        """Tasks with the reason of their last failure, oldest first."""

    def index(self) -> IndexInfo:
        """Which generation search reads, and what is being built."""

    def known(self, partition: Partition, terms: QueryTerms) -> Sequence[bool] | None:
        """Whether a partition holds each term or an alternative; None if it has no passages. Raises IndexDamaged."""

    def candidates(self, query: CandidateQuery) -> Features:
        """The passages that may answer, with everything that the ranker scores them by. Raises IndexDamaged."""

    def sharing(
        self, partition: Partition, terms: Sequence[str], most: int, *, kinds: Sequence[str] = (), inside: bool = False
    ) -> list[int]:
        """Numbers of passages of these kinds (none: all) that hold one of these index terms, those with the rarest and
        most of them first, then the newest. `inside`: words that contain a term count as the term. The cost grows
        neither with the index nor with how common a term is. Raises IndexDamaged.
        """

    def flagged(self, flag: int) -> list[int]:
        """Numbers of the passages that have a flag, in all partitions. Raises IndexDamaged."""

    def passages(self, numbers: Sequence[int], *, tokens: bool = False) -> list[PassageText]:
        """The texts of passages (with `tokens`: and their token vectors), in the order asked for."""

    def documents_of(self, passages: Sequence[int]) -> dict[int, tuple[NodeId, str]]:
        """By the numbers of passages that are chunks of documents, the ids and sources of these."""

    def unembedded(self, limit: int) -> list[PassageText]:
        """Passages of what was said that have no quality vectors yet, newest first."""

    def scan(self, words: Sequence[str], limit: int) -> list[Message]:
        """Living messages with these words, most of them first, then newest: slow, for when the index is damaged."""

    def speakers(self) -> list[str]:
        """The names of people who speak in messages that are not deleted, sorted."""

    def years(self) -> list[int]:
        """The years in which something was said, ascending. A damaged index is told by `candidates`, not here."""

    def vocabulary(self) -> Vocabulary:
        """The words that the index holds, and the days. Its calls raise IndexDamaged."""


class Space(Protocol):
    """One namespace of a store. Thread-safe.

    `remote`: a write mostly waits for another process, so that the next one can be prepared meanwhile.
    """

    namespace: Namespace
    remote: bool

    def write(self, change: Change) -> None:
        """Writes all or nothing; a namespace that is not there is made where the change `begins` one. Raises Stale,
        Fenced, WrongEmbedder, StoreBusy, and NotFound for a mark on nothing.
        """

    def view(self) -> AbstractContextManager[View]:
        """A snapshot to read in. Raises StoreDamaged, on leaving at the latest, where what is stored cannot be read."""

    def salvaged(self) -> AbstractContextManager[tuple[View, Lost]]:
        """A view of what can still be read where a view raises StoreDamaged, and what is lost at least. It holds the
        record; nothing in it is found by search. Raises StoreError where nothing is left.
        """

    def claim(self, worker: str, kinds: Sequence[str], most: int, lease: timedelta) -> list[Lease]:
        """Due tasks, oldest first, now held by this worker; those whose lease has run out among them. A task without
        a time is due whatever the clock says, so that one which goes back holds nothing up.
        """

    def keep(self, lease: Lease, answer: bytes) -> None:
        """Keeps what was generated before it is applied, so that no model call is paid for twice. Raises Fenced."""

    def renew(self, leases: Sequence[Lease], length: timedelta) -> list[Lease]:
        """Holds tasks for so long from now; returns the leases as they are now, without those that were lost."""

    def release(self, lease: Lease, why: str, again: datetime | None) -> None:
        """Gives a task back with the reason: due again at a time, or dead (None). Raises Fenced."""

    def revive(self, ids: Collection[NodeId] | None = None) -> int:
        """Makes dead tasks due at once, as if they had never been tried; all, or those of `ids`. Returns how many."""

    def erase(self, ids: Sequence[NodeId]) -> Erased:
        """Removes the words of messages, conversations (with all in them), documents and nodes from every table, index
        and file; the answers that are kept with tasks go too, since they may repeat them. Tombstones stay (`erased`),
        so that importing again does not bring them back. Raises NotFound.
        """

    def purge(self) -> None:
        """Removes the words of what was replaced from every table, index and file. Killed, call it again."""

    def generation(
        self, step: Literal["begin", "publish", "drop"], embedder: EmbedderId | None = None, number: int | None = None
    ) -> int:
        """Begins a generation (or goes on with an unfinished one of the same embedder), publishes it (Stale while
        `todo` is not empty; quality vectors are taken over where passages are the same), or drops it. Returns its
        number. With a `number` only that one is published, else StoreError: another may have been faster. In a
        namespace that is not there nothing is done: 0.
        """

    def maintain(self, budget: timedelta) -> bool:
        """Seals, compacts, sweeps what is left of old generations, in short transactions; True while there is more."""

    def check(self) -> list[Violation]:
        """Verifies every invariant; an empty list means that all hold. Damage is told, never raised."""


class Store(Protocol):
    """A place where graphs are kept, a namespace each. Thread-safe."""

    location: str

    def space(self, namespace: Namespace) -> Space:
        """A handle on one namespace."""

    def namespaces(self) -> list[Namespace]:
        """The namespaces that hold anything, sorted."""

    def drop(self, namespace: Namespace) -> bool:
        """Removes all of a namespace, its name too; killed in between, call it again. Whether any of it was there."""

    def info(self) -> StoreInfo:
        """Engine, schema version, size."""

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Writes a verified copy of the store in use; `progress` gets parts done and all. StoreError if it cannot."""

    def close(self) -> None:
        """Releases everything. Further calls raise StoreError."""
