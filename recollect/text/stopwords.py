"""English words that are no index terms: they stand in nearly every message and tell none from another.

The forms with an apostrophe never reach the index as such; they are here so that the list can be read as English.
"""

from __future__ import annotations

_PRONOUNS = """
    i me my myself we our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
"""
_AUXILIARIES = """
    am is are was were be been being do does did doing have has had having can could should would will cannot
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't let's 's
"""
_QUESTION_WORDS = "what when where which while who whom why how"
_ARTICLES = "a an the this that these those"
_PREPOSITIONS = """
    about above after against at before below between by down during for from in into of off on out over
    through to under until up with
"""
_CONJUNCTIONS_AND_ADVERBS = """
    and as because but if nor or than so then again further here there once only very too no not
"""
_QUANTITIES = "all any both each few more most other own same some such"

PRONOUNS: frozenset[str] = frozenset(_PRONOUNS.split())
AUXILIARIES: frozenset[str] = frozenset(_AUXILIARIES.split())
QUESTION_WORDS: frozenset[str] = frozenset(_QUESTION_WORDS.split())

STOP_WORDS: frozenset[str] = PRONOUNS.union(
    AUXILIARIES,
    QUESTION_WORDS,
    _ARTICLES.split(),
    _PREPOSITIONS.split(),
    _CONJUNCTIONS_AND_ADVERBS.split(),
    _QUANTITIES.split(),
)
