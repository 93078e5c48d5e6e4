"""Passages: what search looks at, derived from messages, parts, tool calls and documents; and what it is told of them.

The index has partitions. SAID holds what people and models said, with the attachments and artifacts that hang on it;
OTHER what is not chat text (tool output, reasoning, context, agents among themselves); TITLE the titles of
conversations; DERIVED the words of derived nodes; DOCUMENT files. Each partition has its own statistics, so that tool
output does not blur the words of people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.record import NodeId

Float = NDArray[np.float32]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

#: How passages are made, counted up whenever the same text would give another passage: other terms, flags or cuts,
#: other vectors of a packaged embedder. 2: no vector for what a model cannot spell; C++ and C# are terms of their own;
#: Arabic words without their article. 3: documents have their own partition, and vectors of their runs of sentences.
#: 4: those that hold a secret are flagged. 5: more forms of secrets are known.
RECIPE = 5
_RECIPE_MARK = " recipe@"

#: Neighbours in reading order whose words count towards a passage: itself, before, after, two before, two after.
OFFSETS = (0, -1, 1, -2, 2)


class Partition(IntEnum):
    """What is ranked together."""

    SAID = 0
    OTHER = 1
    TITLE = 2
    DERIVED = 3
    DOCUMENT = 4


class Owner(IntEnum):
    """What a passage leads to."""

    MESSAGE = 0
    TOOL_CALL = 1
    DOCUMENT = 2
    CONVERSATION = 3  # by its title
    NODE = 4  # derived


#: The kinds of passages, by number; new ones go to the end. The first three make up the partition SAID, the last three
#: DERIVED: facts that hold, summaries, and facts that held once.
KINDS = (
    *("said", "attachment", "artifact"),
    *("reasoning", "tool", "context", "subagent", "document"),
    "title",
    *("fact", "summary", "past"),
)
SAID_KINDS, DERIVED_KINDS = KINDS[:3], KINDS[9:]

#: The states of derived nodes that may have passages. Another state takes them away.
FINDABLE_STATES = ("live", "superseded", "same")

#: Bits of `Passage.flags` above those of `recollect.text.language`.
PEOPLE = 1 << 14  # in a session of people with names
ROLES = ("user", "assistant", "system", "tool")
ROLE_SHIFT = 16  # two bits: the role's place in ROLES


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that can be found. Texts of up to 4,000 tokens are one passage, longer ones one per chunk.

    `terms` are index terms with their counts, `words` the surface words joined by blanks (phrases, identifiers).
    `vector` is a unit vector (d,), `windows` unit vectors (n, d) of runs of three sentences. `previous_id` is the
    message before in reading order, `continues` says whether both lie in one session.
    """

    owner: Owner
    owner_id: NodeId
    message_id: NodeId | None
    conversation_id: NodeId | None
    partition: Partition
    kind: str
    role: str
    speaker: str | None
    timestamp: int | None
    part: int
    chunk: int
    start: int
    end: int
    terms: Mapping[str, int]
    words: str
    flags: int
    vector: Float
    windows: Float
    previous_id: NodeId | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class EmbedderId:
    """Which embedder made vectors: its name, and their size. Only vectors of the same one can be compared.

    `recipe` is the count of RECIPE with which the passages were made; those of an earlier one can still be compared.
    """

    name: str
    size: int
    recipe: int = field(default=RECIPE, compare=False)

    @property
    def is_outdated(self) -> bool:
        """Whether the passages would be made otherwise today: search uses them, but a reindex improves it."""
        return self.recipe < RECIPE

    @property
    def stored(self) -> str:
        """How a generation that begins today keeps the name."""
        return f"{self.name}{_RECIPE_MARK}{RECIPE}"

    @classmethod
    def read(cls, stored: str, size: int) -> EmbedderId:
        """The same from the store. Before recipes were counted there was the name alone."""
        name, mark, recipe = stored.rpartition(_RECIPE_MARK)
        return cls(name, size, int(recipe)) if mark else cls(stored, size, 1)

    def __str__(self) -> str:
        return f"{self.name} ({self.size})"


@dataclass(frozen=True, slots=True)
class TokenRows:
    """The stored word pieces of a passage (t,) and their vectors (t, 128) int8."""

    pieces: NDArray[np.uint16]
    tokens: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage with its text: number, what it leads to, where in the owner's text it stands.

    `active` says whether its message lies on the path that is shown first.
    """

    number: int
    owner: Owner
    owner_id: NodeId
    message_id: NodeId | None
    conversation_id: NodeId | None
    active: bool
    part: int
    start: int
    text: str
    tokens: TokenRows | None = None


@dataclass(frozen=True, slots=True)
class QualityVectors:
    """What the quality mode needs of a passage: a unit vector (384,), word pieces (t,), their vectors (t, 128) int8."""

    passage: int
    vector: Float
    pieces: NDArray[np.uint16]
    tokens: NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Filter:
    """What may be found. Empty means: no restriction. Times are microseconds, `until` excluded."""

    roles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    conversation_ids: tuple[NodeId, ...] | None = None
    since: int | None = None
    until: int | None = None


#: Query terms as (term, weight), each group the alternatives of one.
QueryTerms = tuple[tuple[tuple[str, float], ...], ...]


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """A question as the store is asked it.

    `terms` are (term, weight) in groups: the alternatives of one query term stand in one group. Those of weight 1 are
    forms of the same word and counted together; others (compounds) weigh less. `phrases` must all occur, `excluded`
    must not; each is a tuple of surface words. `sought` phrases (identifiers as typed) need not occur:
    `Features.sought` says where they do.
    `named` are the people that the question names, in its order. `spans` are ranges of days since 1970. `pool` is how
    many passages are scored in full: the best, or with `newest` the newest of those that hold a word. With `by_words`
    only those that hold a word may be found, and they are chosen by their words, not by their meaning: much quicker
    among very many. `conversations` (numbers as in `Features.conversations`) are the only ones to look in.
    `passages` (numbers as in `Features.passages`, of the same view) are scored in full, whatever else there is.
    `similarity` is the question's vector in the space of the quality vectors, where these shall be used. `vectors` asks
    for those of the pool.
    """

    partition: Partition
    terms: QueryTerms
    vector: Float
    similarity: Float | None = None
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    sought: tuple[tuple[str, ...], ...] = ()
    filter: Filter = field(default_factory=Filter)
    conversations: tuple[int, ...] | None = None
    passages: tuple[int, ...] | None = None
    named: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    newest: bool = False
    by_words: bool = False
    pool: int = 600
    pieces: tuple[int, ...] = ()
    vectors: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Passages (n,) as columns; numbers and indexes as in `Features`. `leads` sorts them: the higher, the sooner."""

    passages: Int
    messages: Int
    conversations: Int
    kinds: NDArray[np.uint8]
    times: Int
    roles: Int  # index in ROLES
    leads: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.passages)

    def take(self, at: Int | Bool) -> Rows:
        """Some of them."""
        return Rows(*(getattr(self, f.name)[at] for f in fields(self)))

    @classmethod
    def joined(cls, *several: Rows) -> Rows:
        """Several, one after the other."""
        return cls(*(np.concatenate([getattr(rows, f.name) for rows in several]) for f in fields(cls)))


class Matches(Protocol):
    """All passages that may be found and hold a word of the query, in the pool or not; without terms, all that may be
    found. Each is computed when it is first asked for.
    """

    @property
    def conversations(self) -> Int:
        """Their conversations, each once, ascending."""

    @property
    def rows(self) -> Rows:
        """They themselves. Their leads are what candidates are chosen by; with `newest`, the times."""

    def within(self, conversations: Int) -> Rows:
        """Those of some conversations."""

    @property
    def shares(self) -> Float:
        """How much of the query's idf each of the rows holds (n,)."""


@dataclass(frozen=True, slots=True)
class Features:
    """The pool of a question, n passages, and what the ranker scores them by.

    z-scores are over the whole partition of the namespace. Arrays with a second axis of five follow OFFSETS; `there`
    says which neighbours exist. `holds[i, o, t]` is how much of term t the neighbour o of passage i holds (0 to 1).
    """

    passages: Int  # (n,) numbers, for passage_texts and token_rows
    neighbours: Int  # (n, 5) numbers of the neighbours, -1 where there is none
    messages: Int  # (n,) equal numbers for passages of one message, 0: of none
    conversations: Int  # (n,) equal numbers for passages of one conversation, 0: of none
    kinds: NDArray[np.uint8]  # (n,) index in KINDS
    times: Int  # (n,) microseconds, 0 or less where it is not known
    flags: Int  # (n,)
    idf: Float  # (t,)
    holds: Float  # (n, 5, t)
    there: Bool  # (n, 5)
    bm25: Float  # (n, 5) z of BM25, k1 = 2, b = 1
    dense: Float  # (n,) cosine of the whole passage
    dense_z: Float  # (n,)
    previous_dense_z: Float  # (n,) 0 where there is none
    previous_asks: Bool  # (n,) the message before ends with a question mark
    windows: Float  # (n,) best cosine over runs of three sentences
    length_z: Float  # (n,) z of ln(1 + number of terms)
    who: Int  # (n,) which of the named people speaks: 1 the first, 2 the second ..., 0 none of them
    present: Int  # (n,) how many of the named people speak in the passage's conversation
    inside: Float  # (n,) 1 on a day that the question names
    near: Float  # (n,) 1 there too, falling with the distance from such a day
    session_bm25: Float  # (n,) mean of the session's three best z
    session_dense: Float
    session_similarity: Float  # zeros without quality vectors
    similarity: Float  # (n,) z of the quality vectors' cosine; zeros without
    sought: Bool  # (n,) holds one of the sought phrases
    size: int  # passages in the partition of the namespace
    whole: bool  # all passages that may be found are in the pool; with `newest`, all of them that hold a word
    frequencies: Int  # (t,) passages that hold each query term or one of its alternatives
    quality: bool  # whether quality vectors were used
    piece_idf: Mapping[int, float]  # idf of the asked word pieces, with quality vectors
    relevant: int = 0  # passages that may be found and are nearer to the question than the average one
    vectors: Float | None = None  # (n, d) unit vectors of the passages, where `CandidateQuery.vectors` asks for them
    matches: Matches | None = None  # all that hold a word; None: there is nothing

    def __len__(self) -> int:
        return len(self.passages)

    @classmethod
    def none(cls, terms: int) -> Features:
        """Of a partition that holds nothing, for a question of so many terms."""
        shapes = {"neighbours": (0, 5), "holds": (0, 5, terms), "there": (0, 5), "bm25": (0, 5)}
        empty: dict[str, Any] = {name: np.zeros(shapes.get(name, 0), kind) for name, kind in _KINDS_OF_ARRAYS.items()}
        return cls(
            **empty,
            idf=np.zeros(terms, np.float32),
            frequencies=np.zeros(terms, np.int64),
            size=0,
            whole=True,
            quality=False,
            piece_idf={},
        )

    def take(self, at: Int) -> Features:
        """Some of the passages."""
        return replace(self, **{name: own[at] for name in _OF_PASSAGES if (own := getattr(self, name)) is not None})


_OF_ALL = ("idf", "size", "whole", "frequencies", "quality", "piece_idf", "relevant", "matches")
_OF_PASSAGES = tuple(f.name for f in fields(Features) if f.name not in _OF_ALL)
_ARRAYS: dict[str, type[np.generic]] = {
    "Int": np.int64,
    "Float": np.float32,
    "Bool": np.bool_,
    "NDArray[np.uint8]": np.uint8,
}
_KINDS_OF_ARRAYS = {
    f.name: _ARRAYS[str(f.type)] for f in fields(Features) if f.name in _OF_PASSAGES and f.name != "vectors"
}
