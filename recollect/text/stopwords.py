"""English words that are no index terms: they stand in nearly every message and tell none from another.

The forms with an apostrophe never reach the index as such; they are here so that the list can be read as English.
"""

from __future__ import annotations

_ARTICLES_AND_PRONOUNS = """
    a an the this that these those
    i me my myself we our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
"""
_VERBS = """
    am is are was were be been being do does did doing have has had having can could should would will cannot
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't let's 's
"""
_QUESTION_WORDS = "what when where which while who whom why how"
_PREPOSITIONS = """
    about above after against at before below between by down during for from in into of off on out over
    through to under until up with
"""
_CONJUNCTIONS_AND_ADVERBS = """
    and as because but if nor or than so then again further here there once only very too no not
"""
_QUANTITIES = "all any both each few more most other own same some such"

STOP_WORDS: frozenset[str] = frozenset(
    " ".join(
        (_ARTICLES_AND_PRONOUNS, _VERBS, _QUESTION_WORDS, _PREPOSITIONS, _CONJUNCTIONS_AND_ADVERBS, _QUANTITIES)
    ).split()
)
