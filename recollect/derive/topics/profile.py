"""What a run of messages is about: its names and most telling words, from its beginning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded
from recollect.derive.entities.wording import NEVER
from recollect.models.embedding.tokenizer import vocabulary
from recollect.record import Message
from recollect.text.language import FOREIGN_SMALL_WORDS
from recollect.text.terms import STOP_WORDS, has_unspaced_script, words

#: A profile is of so many messages at most, from the first; it changes when their number doubles, not with every one.
MOST = 16
_READ = 800  # characters of a message
_TERMS = 24
_NAME_COUNTS = 3  # a name tells more than a word

_EMPTY_TEXT = """
    like just also well really think know want need good great make made help time thing things something anything
    nothing lot more much many most some any even still back only first next last another other others both same
    would could should might must shall can't don't it's i'm i've that's let's there's here's what's you're they're
    going getting make makes making take takes taking give gives given look looks looking feel feels feeling keep
    keeps sure happy glad nice love loved sounds sound amazing awesome cool wow thanks thank please yeah yes okay
    maybe actually pretty quite very always never ever soon today tomorrow yesterday week weeks month months year
    years day days hour hours minute minutes people person someone everyone everything work works working use used
    using uses way ways new old right left best better since until while though although however because around
    about without within every each between during before after into onto upon over under again once here there
    where when which who whom whose why how this that these those them they their then than been being have having
    does doing done come came comes went gone goes say said says tell told ask asked try trying tried start started
    see seen saw find found let put set show shown seems seem one two three four five six seven eight nine ten don
    doesn didn isn wasn aren weren hasn haven wouldn couldn shouldn won ll ve re kind bit few less least own such
    example step steps based including include consider ensure important specific different might able
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())


def length(count: int) -> int:
    """How many of the first messages make the profile of a run of `count`.

    >>> [length(count) for count in (1, 3, 8, 15, 400)]
    [1, 2, 8, 8, 16]
    """
    return min(MOST, 1 << (count.bit_length() - 1)) if count else 0


def text_of(messages: Sequence[Message]) -> str:
    """The words that a profile is made of."""
    return "\n".join(message.content[:_READ] for message in messages)


def telling(messages: Sequence[Message]) -> list[str]:
    """Names and words of the messages, the most telling first."""
    names: Counter[str] = Counter()
    shown: dict[str, str] = {}
    said: Counter[str] = Counter()
    for message in messages:
        content = message.content[:_READ]
        for mention in found_in(message.content):
            if mention.start <= _READ:
                shown.setdefault(folded(mention.name), mention.name)
                names[folded(mention.name)] += 1
        said.update(word for word in words(content) if is_telling(word))
    inside = {part for name in names for part in name.split()}
    scores = {shown[name]: _NAME_COUNTS * count * 1.0 for name, count in names.items()}
    scores |= {
        word: math.sqrt(count) * rarity(word) for word, count in said.items() if word not in inside and count > 1
    }
    return sorted(scores, key=lambda term: (-scores[term], term))[:_TERMS]


def is_telling(word: str) -> bool:
    """Whether a folded word may tell what is spoken of."""
    if word.isdigit() or word in STOP_WORDS or word in _EMPTY or word in NEVER or word in FOREIGN_SMALL_WORDS:
        return False
    return len(word) > 3 or has_unspaced_script(word)


def rarity(word: str) -> float:
    """0 to 1 and a half: the packaged vocabulary stands in order of frequency."""
    return math.log10(1 + vocabulary().get(word, 20_000) / 1_000)
