"""Whether a text is English, and whether it is a sentence, told by small words and letters: no model is needed."""

from __future__ import annotations

from recollect.text.folding import fold
from recollect.text.stopwords import AUXILIARIES, PRONOUNS, QUESTION_WORDS, STOP_WORDS
from recollect.text.terms import words
from recollect.text.words import word_lists

_LANGUAGES = {name: frozenset(small_words) for name, small_words in word_lists("languages").items()}
_ENGLISH = frozenset(word for word in STOP_WORDS if word.isalpha()) | _LANGUAGES.pop("English")
_MAKE_A_SENTENCE = PRONOUNS | AUXILIARIES | QUESTION_WORDS
_LAST_LATIN = "\u024f"
_END_A_SENTENCE = (".", "!", "?", "。", "！", "？", "؟", "۔", "।")

_FOREIGN = tuple(_LANGUAGES.values())
#: Frequent small words of all these languages, English apart; folded.
FOREIGN_SMALL_WORDS = frozenset[str]().union(*_FOREIGN)

#: All of these, English ones too, as surface words: what no phrase begins or ends with.
SMALL_WORDS = _ENGLISH.union(*_FOREIGN)


def is_english(text: str) -> bool:
    """Whether the text is English rather than anything else.

    Its small words decide. Without any, or where they speak for both, it is English unless it has letters beyond ASCII.

    >>> is_english("nginx 502"), is_english("Wo ist mein Rad?"), is_english("What does 重跑 mean?")
    (True, False, True)
    """
    found = frozenset(words(text))
    english = len(found & _ENGLISH)
    foreign = _most_small_words(found) + sum(not fold(word).isascii() for word in text.split())
    if text.isascii():
        return foreign <= max(english, 1)  # one alone is hardly evidence: "la la land"
    if english != foreign:
        return english > foreign
    return not any(char.isalpha() and not char.isascii() for char in text)


def is_sentence(text: str) -> bool:
    """Whether somebody wrote a sentence, rather than a few words to look for.

    >>> is_sentence("when did we move"), is_sentence("Wo ist mein Rad"), is_sentence("nginx 502 on restart")
    (True, True, False)
    """
    if text.rstrip().endswith(_END_A_SENTENCE):
        return True
    found = frozenset(words(text))
    return bool(found & _MAKE_A_SENTENCE) or (not is_english(text) and _most_small_words(found) >= 2)


def is_foreign_script(text: str) -> bool:
    """Whether most letters are not Latin: the packaged models have read hardly anything else.

    >>> is_foreign_script("我的 nginx 配置文件在哪里"), is_foreign_script("What does 重跑 mean?")
    (True, False)
    """
    letters = [char for char in fold(text) if char.isalpha()]
    return 2 * sum(char > _LAST_LATIN for char in letters) > len(letters)


def _most_small_words(found: frozenset[str]) -> int:
    return max(len(found & small_words) for small_words in _FOREIGN)
