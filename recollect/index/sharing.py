"""Which passages share words with a text: by the rarest of them first, at a cost that does not grow with the index.

How many passages hold a common word does not matter: of all that hold the words only so many are looked at (MOST_ROWS),
the holders of rare words before those of common ones, and of one word the newest before the older ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.index.parts import Part, distinct
from recollect.index.snapshot import Snapshot
from recollect.index.terms import Terms, encoded, term_hashes
from recollect.store.passages import KINDS, Int

#: So many rows are looked at for all words together.
MOST_ROWS = 2048

_Rows = NDArray[np.uint16]


def sharing(
    snapshot: Snapshot, terms: Sequence[str], kinds: Sequence[str], most: int, *, inside: bool = False
) -> list[int]:
    """Numbers of living passages of these kinds (none: of all) that hold one of the terms: those that hold the rarest
    and most of them first, of equal ones the newest. With `inside`, words that contain a term count as the term.
    """
    wanted = list(dict.fromkeys(terms))
    postings = [_postings(part, wanted, inside) for part in snapshot.parts]
    counts = [sum(len(own[term]) for own in postings) for term in range(len(wanted))]
    rarest = sorted((term for term in range(len(wanted)) if counts[term]), key=lambda term: counts[term])
    rows = _newest(snapshot, postings, rarest)
    if not len(rows):
        return []
    scores = np.zeros(len(rows), np.float32)
    for place, part, own, inner in snapshot.split(rows):
        narrow = inner.astype(np.uint16)
        for term in rarest:
            holders = postings[place][term]
            if len(holders):
                at = np.minimum(np.searchsorted(holders, narrow), len(holders) - 1)
                scores[own] += (holders[at] == narrow) * np.float32(np.log(1 + snapshot.size / (counts[term] + 1)))
        if part.alive is not None:
            scores[own] *= part.alive[inner]
    if kinds:
        scores *= np.isin(snapshot.gather(rows, "kind")[0], [KINDS.index(kind) for kind in kinds])
    best = np.lexsort((-rows, -scores))[:most]
    best = best[scores[best] > 0]
    return [int(number) for number in snapshot.gather(rows[best], "number")[0]]


def _newest(snapshot: Snapshot, postings: Sequence[Sequence[_Rows]], rarest: Sequence[int]) -> Int:
    """Positions of holders, of the rarest terms first and of each term the newest, until there are enough."""
    found, left = [np.zeros(0, np.int64)], MOST_ROWS
    for term in rarest:
        for place in range(len(postings) - 1, -1, -1):
            if left <= 0:
                return distinct(*found)
            some = postings[place][term][-left:]
            left -= len(some)
            found.append(some.astype(np.int64) + snapshot.parts[place].offset)
    return distinct(*found)


def _postings(part: Part, wanted: Sequence[str], inside: bool) -> list[_Rows]:
    """The rows of a part that hold each term, ascending; dead ones too. Nothing is copied: they may be many."""
    terms = part.block.terms
    found = [terms.rows[start:end] for start, end in terms.find(term_hashes(wanted))]
    if inside:
        for place, term in enumerate(wanted):
            others = [terms.rows[terms.starts[at] : terms.starts[at + 1]] for at in _containing(terms, encoded(term))]
            found[place] = np.unique(np.concatenate([found[place], *others]))
    return found


def _containing(terms: Terms, part: bytes) -> list[int]:
    """The places of the terms that contain this. What lies across two of them does not count."""
    begins = [found.start() for found in re.finditer(re.escape(part), terms.texts.tobytes())]
    places = np.searchsorted(terms.text_starts, begins, "right") - 1
    within = np.array(begins, np.int64) + len(part) <= terms.text_starts[places + 1]
    return sorted(set(places[within].tolist())) if begins else []
