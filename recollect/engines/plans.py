"""What every engine does alike: which records a change puts, which generation its passages are for, what is checked.

An engine gives the statements; the rules stand here, once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput, NotFound, StoreError
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Message,
    Namespace,
    Node,
    NodeId,
    ToolCall,
    Turn,
    namespace_part,
    stable_id,
)
from recollect.store.change import Change, IndexChange, Record, Stale, WrongEmbedder
from recollect.store.passages import EmbedderId, Passage, QualityVectors
from recollect.store.results import Invariant, Violation

S = TypeVar("S", bound=str)


# --- putting records -------------------------------------------------------------------------------------------------
class There(NamedTuple):
    """What a change needs to know of a record that is there."""

    erased: bool
    conversation_id: NodeId | None  # of a message, and its position
    position: int | None


@dataclass(slots=True)
class Put:
    """What the records of a change do."""

    records: dict[type[Record], list[Record]] = field(default_factory=dict)  # to be written
    touched: dict[NodeId, None] = field(default_factory=dict)  # conversations, documents, nodes: revisions go up
    silenced: list[NodeId] = field(default_factory=list)  # owners that lose their passages
    retired: list[NodeId] = field(default_factory=list)  # nodes that live no more
    parents: list[NodeId] = field(default_factory=list)  # all their chunks are those in the change

    def of(self, kind: type[Any]) -> list[Any]:
        """Those of a kind."""
        return self.records.get(kind, [])


def put_plan(change: Change, there: Callable[[type[Record], NodeId], There | None]) -> Put:
    """Which records of a change are written; what was erased stays so, and all that belongs to it, unless the change
    revives it. Raises StoreError for one without its conversation, or one that would move a message.
    """
    put = Put()
    given = {(type(record), record.id): record for record in change.put}  # of several the last
    forgotten: set[NodeId] = set()

    def is_erased(kind: type[Record], id: NodeId) -> bool:
        found = None if change.revive else there(kind, id)
        return id in forgotten or (found is not None and found.erased)

    for record in sorted(given.values(), key=lambda record: isinstance(record, Chunk)):
        if isinstance(record, Message | ToolCall | Turn):
            owner = record.conversation_id
            put.touched[owner] = None
            if (Conversation, owner) not in given and there(Conversation, owner) is None:
                raise StoreError(f"Conversation {owner} does not exist: add it in the same change.")
            is_gone = is_erased(Conversation, owner)
            if isinstance(record, ToolCall):
                is_gone = is_gone or is_erased(Message, record.message_id)
            elif isinstance(record, Turn) and any(is_erased(Message, node_id) for node_id in told_of(record)):
                record = replace(record, resolved_query=None, entities=(), source_chunk_ids=())
        elif isinstance(record, Chunk):
            is_gone = any(is_erased(kind, record.parent_id) for kind in (Message, Document))
        else:
            is_gone = False
            if isinstance(record, Conversation):
                put.touched[record.id] = None
        if is_gone or (not isinstance(record, ToolCall | Turn | Chunk) and is_erased(type(record), record.id)):
            forgotten.add(record.id)
            continue
        if isinstance(record, Message):
            found = there(Message, record.id)
            if found and (found.conversation_id, found.position) != (record.conversation_id, record.position):
                raise StoreError(f"Message {record.id} already has another position: messages never move.")
        if isinstance(record, Document | Node):
            put.touched[record.id] = None
        if isinstance(record, Message | ToolCall | Document):
            put.parents.append(record.id)
        if isinstance(record, Node) and record.state != "live":
            put.retired.append(record.id)
        if getattr(record, "deleted", False) or getattr(record, "erased", False):
            put.silenced.append(record.id)
        put.records.setdefault(type(record), []).append(record)
    for mark in change.mark:
        put.silenced += mark.ids if mark.deleted else ()
        put.retired += mark.ids if mark.state not in (None, "live") else ()
    return put


def told_of(turn: Turn) -> tuple[NodeId, ...]:
    """The messages that a turn says anything of in words of its own."""
    has_words = turn.resolved_query or turn.entities or turn.source_chunk_ids
    return (turn.query_id, *turn.response_ids) if has_words else ()


def refuse_stale(expect: Mapping[NodeId, int], revisions: Callable[[NodeId], int | None]) -> None:
    """Raises Stale for what was written since a change was planned; what is not there has the revision 0."""
    stale = [planned for planned, revision in expect.items() if (revisions(planned) or 0) != revision]
    if stale:
        raise Stale(stale)


# --- generations of the index ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of what is derived for search. `key` is its number in the store, `number` that in the namespace."""

    number: int
    key: int
    embedder: EmbedderId
    built: NodeId | None = None
    wordless: bool = False  # its words were lost with a damaged full-text table


class IndexWriter(Protocol):
    """The statements by which a transaction writes what is derived for search."""

    live: Generation | None
    building: Generation | None

    def is_unindexed(self) -> bool:
        """Whether there are records of an older version, and no generation was published since."""

    def add(self, state: Literal["live", "building"], embedder: EmbedderId) -> Generation:
        """A new generation."""

    def give_up(self, generation: Generation) -> None:
        """Makes one garbage that is being built."""

    def publish(self, new: Generation, old: Generation | None) -> None:
        """Makes search read a new one; the old one is garbage, but for quality vectors that stay true."""

    def todo(self, generation: Generation) -> list[NodeId]:
        """What was written while it was being built, some of it at least."""

    def note_todo(self, generation: Generation, owners: Iterable[NodeId]) -> None:
        """Notes what was written while it was being built."""

    def note_built(self, generation: Generation, built: NodeId | None, refreshed: Sequence[NodeId]) -> None:
        """Notes how far the builder has come, and what it has done of its todo."""

    def silence(self, generation: Generation, owners: Sequence[NodeId]) -> None:
        """The passages of these owners, and of the calls of those that are messages, are found no longer."""

    def remove(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """The passages that these owners had are found no longer."""

    def add_passages(self, generation: Generation, passages: Mapping[NodeId, Sequence[Passage]]) -> None:
        """Adds passages of owners that may be found."""

    def add_quality(self, generation: Generation, rows: Sequence[QualityVectors]) -> None:
        """Adds quality vectors; what is there stays, what is dead gets none."""


def write_index(
    to: IndexWriter, change: IndexChange | None, silenced: Sequence[NodeId], retired: Sequence[NodeId]
) -> None:
    """Makes findable what a change says. First goes what it silences or retires, in every generation in use; whoever
    builds one looks at the retired again. Raises WrongEmbedder, StoreError for a generation that is gone.
    """
    if silenced or retired:
        for generation in (to.live, to.building):
            if generation is not None:
                to.silence(generation, [*silenced, *retired])
        if to.building is not None and retired:
            to.note_todo(to.building, retired)
    if change is None:
        return
    chosen, building = _target(to, change), to.building
    if building is not None and building is not chosen and change.passages:
        to.remove(building, change.passages)
        to.note_todo(building, change.passages)
    if chosen is None:
        return
    if change.passages:
        to.remove(chosen, change.passages)
        to.add_passages(chosen, change.passages)
    if change.quality:
        to.add_quality(chosen, change.quality)
    if chosen is building:
        to.note_built(chosen, change.built, change.refreshed)


def _target(to: IndexWriter, change: IndexChange) -> Generation | None:
    """The generation that a change is for: the one that it names, or the live one, which the first vectors make. None
    where there is nothing to write to: no live one, and nothing to add or all to be indexed first.
    """
    found, embedder = (to.live if change.generation is None else to.building), change.embedder
    if change.generation is not None and (found is None or found.number != change.generation):
        raise StoreError(
            f"Generation {change.generation} of the search index is no longer being built.", hint="Start again."
        )
    passages = [passage for own in change.passages.values() for passage in own]
    if passages and embedder is None:
        raise WrongEmbedder("The passages do not say which embedder made their vectors.")
    if found is None:
        if not passages or embedder is None or to.is_unindexed():
            return None
        found = to.add("live", embedder)
    if embedder is not None and embedder != found.embedder:
        raise WrongEmbedder(
            f"The vectors of this memory were made by {found.embedder}, not by {embedder}.",
            hint=f"Open it with {found.embedder.name}, or make them again: recollect reindex",
        )
    size = found.embedder.size
    if any(len(passage.vector) != size for passage in passages):
        raise WrongEmbedder(f"The vectors of this memory have {size} dimensions, these have another number.")
    return found


def take_step(
    to: IndexWriter, step: Literal["begin", "publish", "drop"], embedder: EmbedderId | None, number: int | None
) -> int:
    """Begins a generation (or goes on with an unfinished one of this embedder and recipe), publishes it, or drops it;
    returns its number, 0 for none to drop. Raises Stale while its todo is not empty, StoreError, InvalidInput.
    """
    found = to.building
    if step == "publish":
        if found is None or embedder not in (None, found.embedder) or number not in (None, found.number):
            raise StoreError("No generation of the search index is being built.", hint="Begin one first.")
        if todo := to.todo(found):
            raise Stale(todo)
        to.publish(found, to.live)
        return found.number
    if step == "begin":
        if embedder is None:
            raise InvalidInput("A generation begins with the embedder that makes its vectors.")
        if found is not None and found.embedder == embedder and not found.embedder.is_outdated:
            return found.number
    if found is not None:
        to.give_up(found)
    if step == "begin" and embedder is not None:
        return to.add("building", embedder).number
    return found.number if found is not None else 0


# --- the parts of passages -------------------------------------------------------------------------------------------
_PIECES = 1 << 16


def sessions_of(
    passages: Iterable[Passage], number: Callable[[NodeId], int], stored: Callable[[NodeId], int]
) -> dict[NodeId | None, int]:
    """By message the number of the first message of its session; `stored` tells it of those written before."""
    known: dict[NodeId | None, int] = {}
    for passage in passages:
        if passage.message_id is not None and passage.message_id not in known:  # else a further one of the same message
            session, previous = 0, passage.previous_id
            if passage.continues and previous is not None:
                session = known.get(previous) or stored(previous)
            known[passage.message_id] = session or number(passage.message_id)
    return known


def counted_pieces(before: tuple[int, bytes] | None, pieces: Iterable[bytes], sign: int) -> tuple[int, bytes] | None:
    """In how many passages each word piece stands, when those of some have come in (1) or gone (-1); None: as before.
    First is the number of passages.
    """
    changed, passages = np.zeros(_PIECES, np.int64), 0
    for raw in pieces:
        changed[np.unique(np.frombuffer(raw, np.uint16))] += sign
        passages += sign
    if not passages:
        return None
    count, counts = before or (0, np.zeros(_PIECES, np.uint32).tobytes())
    counted: NDArray[Any] = np.maximum(np.frombuffer(counts, np.uint32) + changed, 0)
    return max(0, count + passages), counted.astype(np.uint32).tobytes()


# --- upkeep ----------------------------------------------------------------------------------------------------------
_SHOWN = 20


def take_out(
    generations: Iterable[tuple[int, bool]],
    kill: Callable[[int], tuple[int, Iterable[tuple[int, int]]]],
    rewrite: Callable[[int, int, Sequence[int]], None],
) -> int:
    """Takes words out of all generations (each with whether it is live) and out of the segments: `kill` returns how
    many passages died, and the partitions and numbers of those whose words lie in segments; `rewrite` takes these out
    of a partition. Returns how many passages search could find.
    """
    findable = 0
    for generation, is_live in generations:
        killed, inside = kill(generation)
        findable += killed if is_live else 0
        numbers: dict[int, list[int]] = {}
        for partition, number in inside:
            numbers.setdefault(partition, []).append(number)
        for partition, own in numbers.items():
            rewrite(generation, partition, own)
    return findable


def require_all(ids: Sequence[NodeId], found: Container[NodeId]) -> None:
    """Raises NotFound for ids that were not found."""
    if missing := [node_id for node_id in ids if node_id not in found]:
        raise NotFound(f"Nothing has the ID {', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}.")


def goes_on(until: float, step: Callable[[], bool]) -> bool:
    """Takes steps, one at least, until that moment of `time.monotonic`, or nothing is left to do; True while it is."""
    while step():
        if time.monotonic() >= until:
            return True
    return False


def violations_of(
    invariant: Invariant, remedy: Literal["reindex", "backup"], places: Sequence[tuple[str, int]]
) -> list[Violation]:
    """At most 20 places where an invariant does not hold, each with a number, and a last line that counts the rest."""
    found = [Violation(invariant, place, number, remedy) for place, number in places[:_SHOWN]]
    if len(places) > _SHOWN:
        found.append(Violation(invariant, "and elsewhere", len(places) - _SHOWN, remedy))
    return found


def every_violation(
    record: Mapping[Invariant, S],
    index: Mapping[Invariant, S],
    asked: Callable[[Invariant, Literal["reindex", "backup"], S], list[Violation]],
) -> list[Violation]:
    """What breaks the invariants of the record, which a backup mends, and of the index, which is built anew."""
    found = [one for invariant, statement in record.items() for one in asked(invariant, "backup", statement)]
    return found + [one for invariant, statement in index.items() for one in asked(invariant, "reindex", statement)]


# --- namespaces of users as 0.2.0 named them ------------------------------------------------------------------------
# 0.2.0 wrote `user/Anna-Smith-h1g7e6` for the user id `Anna Smith`: what a namespace cannot hold became hyphens, then
# 30 bits of a digest of the id. A user whose id *is* `Anna-Smith-h1g7e6` had the same namespace, and whoever chooses
# ids finds others for it within minutes. So no request is ever given such a namespace on the strength of the id it
# brings. Whose it is follows from its name alone, once, when the store is brought to version 3: of the ids that are
# written as people write them (one sign, or a sign and a blank, where a hyphen stands), at most one in all likelihood
# has the digest; there are some 69,000 such ids for three hyphens, and 2^30 digests. If one has, the namespace is
# renamed for it. If none has, it stays what it is, and belongs to the user whose id is just that
# (docs/decisions/020-names-of-users.md).

_OLD = re.compile(r"user/(.+)-([0-9a-hjkmnp-tv-z]{6})")
#: What may have stood where 0.2.0 wrote a hyphen.
_SIGNS = ("-", *" !\"#$%&'()*,/:;<=>?[\\]^`{|}~", ", ", ": ", "; ", " - ", " (", " | ", "://")
_MOST = 3  # hyphens: with more of them, ids that only happen to have the digest are too many
_LONGEST = 60


def renamed(names: Iterable[Namespace]) -> Iterator[tuple[Namespace, Namespace]]:
    """Those of some namespaces that have another name today, with that."""
    there = set(names)
    for name in sorted(there):
        if (user := user_of(name)) is not None:
            today = Namespace(f"user/{namespace_part(user)}")
            if today not in there:
                yield name, today


def user_of(name: str) -> str | None:
    """The user id that 0.2.0 made this namespace of by changing it; None where it changed none, or too much."""
    found = _OLD.fullmatch(name)
    if found is None or found[1].count("-") > _MOST or len(found[1]) > _LONGEST:
        return None
    first, *rest = found[1].split("-")
    for signs in product(_SIGNS, repeat=len(rest)):
        user = first + "".join(sign + piece for sign, piece in zip(signs, rest, strict=True))
        if user != found[1] and stable_id("name", user)[-6:].lower() == found[2]:
            return user
    return None
