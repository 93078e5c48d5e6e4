"""Every number that search is tuned by: the weights of the terms (scoring.py), and the thresholds beside them.

Fixed, rounded by hand, never fitted to single questions. `python -m benchmarks.fit` proposes others from any data
(docs/decisions/011-one-table-of-terms.md tells what was measured).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

#: No model but the static vectors: what a passage's terms count.
INSTANT: Mapping[str, float] = {
    "words": 0.40,
    "meaning": 0.39,
    "session words": 0.20,
    "session meaning": 0.32,
    "blind words": 0.28,
    "length": 0.33,
    "only speaker": 1.9,
    "first speaker": 1.6,
    "other speakers": 0.8,
    "present": 1.5,
    "asker": 1.6,
    "date": 2.5,
    "near date": 2.7,
    "title": 13.0,
    "question": -0.17,
    "answers": 0.18,
    "answer type": 0.77,
    "summary": -2.8,
    "instruction": 1.0,
    "instruction asked": 2.8,
    "preference asked": 2.8,
    "advice": 1.1,
    "never": 1.1,
    "all words": 6.0,
    "as typed": 3.0,
}

#: With MiniLM vectors and late interaction over the best of INSTANT.
QUALITY: Mapping[str, float] = INSTANT

# --- features --------------------------------------------------------------------------------------------------------
#: How much of a term a neighbour's words count towards a passage, in the order of OFFSETS.
NEIGHBOUR_SHARE = np.array([1.0, 0.8, 0.6, 0.4, 0.4], np.float32)
#: How much of a piece's likeness to a message counts towards the one after it, and before it.
LATE_BEFORE, LATE_AFTER = 0.9, 0.8
#: How much of a compound counts that holds a word of the question.
COMPOUND = 0.6
#: Cosines of titles between which meaning counts: below are titles that say nothing ("Session 5"), however they vary.
TITLE_LIKE = (0.05, 0.45)
#: Of a title that is found by its words: its share of the question, from which on it is found, and what that adds.
TITLE_SHARE, TITLE_WORDS = 0.6, 6.0
#: How much a quotation within a sentence counts of an identifier as typed.
QUOTED = 1 / 3

# --- what is looked at, and what is close ----------------------------------------------------------------------------
#: Passages of the instant mode that late interaction scores again (RANKING.md 1).
LATE_POOL = 100
#: So many token vectors that are still missing are made while the user waits.
MISSING_TOKENS = 24
#: Typed words, no sentence: at most so many terms.
FEW_TERMS = 5
#: So many passages are ranked for each result wanted; the groups are made of them.
RANKED = 50
#: Titles that are found by their words.
TITLES = 100
#: Cosine of a run of sentences from which meaning alone makes a result of a few typed words.
LIKE = 0.30
#: Share of the question's idf from which on it counts as all of it.
ALL = 0.999
#: The likelihood under which nothing close was said, and what it is made of (RANKING.md 3): the best share of the
#: words, how many of them are known, the best cosine, a constant; and the cosine of what vectors cannot read.
CLOSE, LIKELIHOOD, BLIND_COSINE = 0.15, (3.2, 1.0, 5.4, -4.6), 0.45
