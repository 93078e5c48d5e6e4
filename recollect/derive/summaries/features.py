"""What tells of a sentence how much it is worth keeping: where it stands, what it is about, and what is exact in it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.derive.summaries.signs import DATES, OWN, OWN_SIGNS, VITAL, VITAL_BEGINNINGS
from recollect.models.embedding.base import Vectors


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence as it was said: of which message (by its place among those given), where in it, by whom."""

    text: str
    message: int
    place: int
    of: int  # sentences of that message
    answer: bool  # an assistant's
    terms: frozenset[str]
    columns: tuple[float, ...]  # what it tells by itself: own_columns


#: The columns of `features`, in order.
FEATURES = (
    "length", "short", "central", "off its message", "first", "last", "rare", "density", "numbers", "date", "names",
    "question", "own", "answer", "vital",
)  # fmt: skip

_NUMBER = re.compile(r"\d+")
_CLOCK_OR_YEAR = re.compile(r"\b\d{1,2}:\d\d\b|\b(?:19|20)\d\d\b|\d[月日号]")
#: A capital inside of a sentence, a quoted name, an identifier: what is called something.
_NAME = re.compile(
    r"(?<=[a-z0-9,;:'’)] )[A-ZÀ-Þ][\w'’-]+|[“\"「『《][^”\"」』》]{2,40}[”\"」』》]|[a-z][A-Z]|\w[._/]\w"
)
_AMOUNT = re.compile(r"\d ?(?:mg|ml|mcg|µg|kg|km|cm|mm|gb|mb|%|€|\$|g\b)|[€$£¥] ?\d")
_QUESTION = ("?", "？", "؟")


def is_vital(text: str, surface: frozenset[str]) -> bool:
    """Whether a sentence holds what must not be lost: an allergy, a dose, a date that is due, a decision."""
    if not VITAL.isdisjoint(surface) or _AMOUNT.search(text):
        return True
    return any(word.startswith(VITAL_BEGINNINGS) for word in surface)


def own_columns(text: str, terms: frozenset[str], surface: frozenset[str]) -> tuple[float, ...]:
    """What a sentence tells by itself, in the order of FEATURES; 0 where others have to be known."""
    length = len(text) if text.isascii() else len(text) + 1.5 * sum(char >= "\u2e80" for char in text)
    return (
        min(math.log1p(length) / 5, 1.2),
        float(length < 30),
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        len(terms) / (1 + length / 8),
        min(len(_NUMBER.findall(text)), 4) / 4,
        float(not DATES.isdisjoint(surface) or bool(_CLOCK_OR_YEAR.search(text))),
        min(len(_NAME.findall(text)), 3) / 3,
        float(text.endswith(_QUESTION)),
        float(not OWN.isdisjoint(surface) or not OWN_SIGNS.isdisjoint(text)),
        0.0,
        float(is_vital(text, surface)),
    )


def features(found: Sequence[Candidate], vectors: Vectors) -> NDArray[np.float64]:
    """A row a sentence, a column for each of FEATURES, from the sentences and their vectors."""
    table = np.array([one.columns for one in found], np.float64).reshape(len(found), len(FEATURES))
    table[:, 2], table[:, 3] = _places(found, vectors)
    table[:, 4] = [one.place == 0 for one in found]
    table[:, 5] = [one.place == one.of - 1 and one.of > 1 for one in found]
    table[:, 6] = _rarities(found)
    table[:, 13] = [one.answer for one in found]
    return table


def _rarities(found: Sequence[Candidate]) -> list[float]:
    """How rare the terms of each sentence are among all sentences, on the average."""
    often = Counter(term for one in found for term in one.terms)
    count = len(found)
    scale = 1 / math.log(count + 1) if count else 0.0
    rarity = {term: math.log(count / number) * scale for term, number in often.items()}
    return [math.fsum(rarity[term] for term in one.terms) / max(len(one.terms), 1) for one in found]


def _places(found: Sequence[Candidate], vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How near each sentence is to the centre of all, and how far from that of its message."""
    if not found:
        return np.zeros(0), np.zeros(0)
    numbers = np.array([one.message for one in found])
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    own = np.repeat(np.add.reduceat(vectors, starts, axis=0), np.diff(starts, append=len(found)), axis=0)
    within = np.einsum("ij,ij->i", vectors, own) / np.maximum(np.linalg.norm(own, axis=1), 1e-9)
    centre = vectors.sum(axis=0)
    central = vectors @ centre / max(float(np.linalg.norm(centre)), 1e-9)
    return central.astype(np.float64), 1 - within.astype(np.float64)
