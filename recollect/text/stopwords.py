"""English words that are no index terms: they stand in nearly every message and tell none from another."""

from __future__ import annotations

from recollect.text.words import word_lists

_ENGLISH = {name: frozenset(words) for name, words in word_lists("english").items()}

PRONOUNS, AUXILIARIES, QUESTION_WORDS = (_ENGLISH[name] for name in ("pronouns", "auxiliaries", "question words"))
ARTICLES = _ENGLISH["articles"]
STOP_WORDS: frozenset[str] = frozenset().union(*_ENGLISH.values())
