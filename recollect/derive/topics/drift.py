"""Where the talk turns to something else: pure, and decided by what came before alone [2].

A turn begins with what a user says. Where it names nothing of what the turns before it named (the Jaccard index of the
sets of entities), and hardly shares their words either, a new segment begins. Words have a say because few messages
name more than one or two things.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded, group
from recollect.record import Message, Metadata, Role
from recollect.text.terms import terms

#: How many turns before one it is compared with, and under which likeness of entities and of words it drifts.
TURNS, ENTITIES_UNDER, WORDS_UNDER = 4, 0.02, 0.05

_LEAST_WORDS = 3
_MOST = 200  # words of a turn that are remembered
_READ = 4_000  # characters of a message


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """How much two sets share: 0 to 1; of two empty ones 1.

    >>> jaccard(frozenset({1, 2}), frozenset({2, 3, 4}))
    0.25
    """
    both = len(one | other)
    return len(one & other) / both if both else 1.0


@dataclass(frozen=True, slots=True)
class TurnTopics:
    """What a turn is about: its entities and its words, as numbers."""

    entities: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()

    @classmethod
    def of(cls, message: Message) -> TurnTopics:
        """Of one message."""
        named = (group(folded(mention.name)) for mention in found_in(message.content))
        said = (term for term in terms(message.content[:_READ]) if len(term) > 3 and not term.isdigit())
        return cls(_numbers(named), _numbers(said))

    def with_more(self, other: TurnTopics) -> TurnTopics:
        """The turn with another message in it."""
        return TurnTopics(_first(self.entities, other.entities), _first(self.words, other.words))


@dataclass(slots=True)
class Drift:
    """The last turns of a segment. `takes` one message after the other."""

    turns: list[TurnTopics] = field(default_factory=list)

    @classmethod
    def read(cls, state: Sequence[Sequence[str]]) -> Drift:
        """As it was left."""
        return cls([TurnTopics(_unpacked(entities), _unpacked(words)) for entities, words in state])

    def state(self) -> list[list[str]]:
        """To go on from."""
        return [[_packed(turn.entities), _packed(turn.words)] for turn in self.turns]

    def takes(self, message: Message) -> bool:
        """Whether a new segment begins with this message."""
        fresh = TurnTopics.of(message)
        if message.role is not Role.USER and self.turns:
            self.turns[-1] = self.turns[-1].with_more(fresh)
            return False
        drifts = bool(self.turns) and self._is_elsewhere(fresh)
        self.turns = [fresh] if drifts else [*self.turns[1 - TURNS :], fresh]
        return drifts

    def _is_elsewhere(self, fresh: TurnTopics) -> bool:
        entities = frozenset[int]().union(*(turn.entities for turn in self.turns))
        words = frozenset[int]().union(*(turn.words for turn in self.turns))
        if not (fresh.entities and entities) or len(fresh.words) < _LEAST_WORDS:
            return False
        return jaccard(fresh.entities, entities) < ENTITIES_UNDER and jaccard(fresh.words, words) < WORDS_UNDER


def _numbers(words: Iterable[str]) -> frozenset[int]:
    kept = dict.fromkeys(words)
    return frozenset(zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in list(kept)[:_MOST])


def _first(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    more = sorted(other - one)[: max(0, _MOST - len(one))]
    return one | frozenset(more)


def _packed(numbers: frozenset[int]) -> str:
    return base64.b85encode(array("I", sorted(numbers)).tobytes()).decode()


def _unpacked(text: str) -> frozenset[int]:
    return frozenset(array("I", base64.b85decode(text)))


__all__ = ["ENTITIES_UNDER", "TURNS", "WORDS_UNDER", "Drift", "Metadata", "TurnTopics", "jaccard"]
