"""Every number that search is tuned by: the weights of the terms (scoring.py), and the thresholds beside them.

Fixed, rounded by hand, never fitted to single questions. `python -m benchmarks.fit` proposes others from any data
(docs/decisions/011-one-table-of-terms.md tells what was measured).
"""

from __future__ import annotations

import numpy as np

#: No model but the static vectors.
INSTANT: dict[str, float] = {
    "words": 0.40,
    "meaning": 0.50,
    "session words": 0.25,
    "session meaning": 0.35,
    "words alone": 0.28,
    "speaker": 2.4,
    "present": 0.9,
    "length": 0.33,
    "asker": 1.5,
    "date": 2.6,
    "order": 3.0,
    "title": 10.0,
    "answers": 0.25,
    "answer type": 0.8,
    "question": -0.2,
    "request": 3.5,
    "all words": 6.0,
    "as typed": 3.0,
}

#: With MiniLM vectors and late interaction over the best of INSTANT.
QUALITY: dict[str, float] = INSTANT | {
    "words": 0.27,
    "meaning": 0.15,
    "session words": 0.06,
    "session meaning": 0.55,
    "speaker": 2.2,
    "present": 1.0,
    "length": 0.10,
    "asker": 1.2,
    "date": 2.4,
    "title": 7.0,
    "answers": 0.12,
    "answer type": 0.65,
    "question": -0.28,
    "request": 5.0,
    "late": 0.15,
    "late around": 0.60,
}

# --- features --------------------------------------------------------------------------------------------------------
#: How much of a term a neighbour's words count towards a passage, in the order of OFFSETS.
NEIGHBOUR_SHARE = np.array([1.0, 0.8, 0.6, 0.4, 0.4], np.float32)
#: How much of a piece's likeness to a message counts towards the one after it, and before it.
LATE_BEFORE, LATE_AFTER = 0.9, 0.8
#: How much the first of several named people counts of the only one, and how much a later one.
FIRST_OF_SEVERAL, NAMED_LATER = 0.85, 0.4
#: Of a question for the first or the last of several times: how much below the best score what matches may be, and what
#: each sitting counts of the one before it in time.
IN_ORDER, NEXT_IN_ORDER = 2.5, 0.5
#: How much likeness to the message before counts if that asked nothing.
NO_QUESTION = 0.2
#: How much of a compound counts that holds a word of the question.
COMPOUND = 0.6
#: Cosines of titles between which meaning counts: below are titles that say nothing ("Session 5"), however they vary.
TITLE_LIKE = (0.05, 0.45)
#: Of a title that is found by its words: its share of the question, from which on it is found, and what that adds.
TITLE_SHARE, TITLE_WORDS = 0.3, 6.0
#: How much a quotation within a sentence counts of an identifier as typed.
QUOTED = 1 / 3

# --- what is looked at, and what is close ----------------------------------------------------------------------------
#: Passages of the instant mode that late interaction scores again (RANKING.md 1).
LATE_POOL = 100
#: Messages that a re-ranker reads, and the weight of its word, in standard deviations of what it says of them.
RERANK_POOL, RERANKED = 32, 1.5
#: So many token vectors that are still missing are made while the user waits.
MISSING_TOKENS = 24
#: Typed words, no sentence: at most so many terms.
FEW_TERMS = 5
#: So many passages are ranked for each result wanted; the groups are made of them.
RANKED = 50
#: So many of the best are results of a sentence even if they neither hold a word of it nor come near to its meaning.
NEAREST = 200
#: How far the vector of a question is moved towards those of texts that an answer may be like (HyDE).
LIKE_SHARE = 0.5
#: Titles that are found by their words.
TITLES = 100
#: Of what was derived: how many are looked at; the share of the question's idf from which on one answers, or the cosine
#: from which on it does with any word of it.
DERIVED_POOL, DERIVED_SHARE, DERIVED_CLOSE = 100, 0.7, 0.45
#: The same of documents that are shown beside messages.
DOCUMENT_SHARE, DOCUMENT_CLOSE = 0.7, 0.40
#: Cosine of a run of sentences from which meaning alone makes a result of a few typed words.
LIKE = 0.30
#: Share of the idf of a word that is nowhere from which on a word is rare: in fewer passages than the root of all.
RARE = 0.5
#: Share of the question's idf from which on it counts as all of it.
ALL = 0.999
#: The closeness under which nothing close was said, and what it is made of (RANKING.md 3): the best share of the
#: words, how many of them are known, the best cosine, a constant; and the cosine of what vectors cannot read.
CLOSE, LIKELIHOOD, BLIND_COSINE = 0.15, (3.2, 1.0, 5.4, -4.6), 0.45

# --- whether an answer is there at all (known.py) --------------------------------------------------------------------
#: How much the cosine of a run of sentences counts of the share of words.
RUN_FOR_WORDS = 1.5
#: Passages from which on a score and the rarity of a word tell something by themselves.
TELLING_SIZE = 100
#: How much ahead the only conversation is taken to be: halfway between what is usual with an answer and without.
ONE_CONVERSATION, LATE_ONE_CONVERSATION = 4.0, 0.05
#: The weights of its signs, fitted by `python -m benchmarks.unanswered --fit`.
KNOWN_INSTANT: dict[str, float] = {
    "known": 1.95,
    "rarity": -2.2,
    "near": 1.05,
    "best ten": 0.13,
    "ahead": 0.23,
    "constant": -3.4,
}
KNOWN_QUALITY: dict[str, float] = {
    "known": 1.65,
    "rarity": -2.15,
    "near": 0.5,
    "best ten": 0.13,
    "ahead": 0.19,
    "late together": 4.0,
    "late ahead": 3.6,
    "constant": -5.13,
}
#: The likelihood under which `ask` says that the conversations do not say. It is right in more than nine of ten cases,
#: where as many questions have an answer as have none.
KNOWN = 0.25

# --- whether anything is handed out unasked (known.py, fit) ----------------------------------------------------------
#: The weight of the mean cosine of all passages beside the signs of the instant mode, and the sum below which nothing
#: fits. Chosen on the development sets and the seen half of `benchmarks/unasked` (docs/explanation/context.md).
WHOLE_ARCHIVE, FITS = 10.0, -2.0
#: Terms up to which a text says little by itself, and the cosine from which on it fits all the same; the length of a
#: passage (as a z-score) up to which that is no sign: the nearest to a greeting are greetings.
SAYS_LITTLE, FITS_BY_MEANING, SAYS_NO_MORE = 2, 0.5, -1.5
