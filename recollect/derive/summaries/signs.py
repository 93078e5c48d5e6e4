"""Words that tell what kind of sentence it is, in the languages that most is written in: looked up, not understood.

All are surface words as `recollect.text.terms.words` gives them: folded, and of Chinese and Japanese two characters.
"""

from __future__ import annotations

from recollect.text.words import word_lists

_CALENDAR, _SIGNS = word_lists("calendar"), {name: frozenset(words) for name, words in word_lists("signs").items()}

#: Somebody speaks of themselves.
OWN = _SIGNS["own"]
OWN_SIGNS = frozenset("我咱俺私僕")

#: A day or another time is named. "May" is a word, too.
DATES = frozenset(_CALENDAR["weekdays"] + _CALENDAR["months"] + _CALENDAR["times in any language"]) - {"may"}

#: What must not be lost, whatever else is: health, danger, what holds always or never, what is decided or due.
VITAL = _SIGNS["vital"]
VITAL_BEGINNINGS = word_lists("signs")["vital beginnings"]

#: Worry, and what gives cause for it.
CONCERNS = _SIGNS["concerns"]

#: Feelings, by the word that names them in a summary.
FEELINGS = {name.removeprefix("feeling "): words for name, words in _SIGNS.items() if name.startswith("feeling ")}

#: Somebody advises, asks for something to be done, or means to do it.
ACTIONS = _SIGNS["actions"]
STRONG_ACTIONS = (
    "i'll ", "i will ", "we'll ", "we will ", "let's ", "i'm going to ", "we're going to ", "i am going to ",
    "please ", "make sure", "you should", "i'd recommend", "i recommend", "i suggest", "i'd suggest",
    "remember to", "don't forget", "remind me", "need to ", "try to ", "i plan to", "we decided to",
    "i decided to", "start with", "ich werde ", "wir werden ", "bitte ", "il faut ", "je vais ", "voy a ",
    "vamos a ", "建议", "记得", "打算", "提醒我", "我会", "我要", "请",
)  # fmt: skip

#: An assistant's sentence that begins so tells somebody what to do.
IMPERATIVES = _SIGNS["imperatives"]
