"""Texts into words: the one tokeniser of index and queries, whatever the store.

Letters and digits make words, scripts part them; Latin, Cyrillic and Arabic words are stemmed. Scripts that run words
together (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) are cut into overlapping pairs of characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

import Stemmer

from recollect.text.words import word_lists

#: Letters that Unicode does not take apart, as people type them without their keyboard.
_PLAIN_LETTERS = {
    **{"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"},
    **{"ħ": "h", "ŧ": "t", "ŋ": "n", "ı": "i", "ĸ": "k", "ƒ": "f"},
    # Cyrillic й and ї are letters of their own, ё is mostly written е.
    **{"ё": "е", "ѐ": "е", "ѝ": "и"},
    # Arabic: alef with its signs, ya without dots and the Persian one, ta marbuta, the Persian kaf.
    **{"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك"},
}
_APOSTROPHES = "‘’ʼ"
_LEFT_OUT = "ـʻ"  # the Arabic tatweel stretches a word, the ʻokina is mostly left out
_SPACE_WITHOUT_WIDTH = "\u200b"

#: Combining marks that are vowels, where most others are accents or optional: Thaana, India to Tibet, kana, Indic more.
_VOWEL_SIGNS = ((0x07A6, 0x07B0), (0x0900, 0x1CFF), (0x3099, 0x309A), (0xA800, 0xABFF), (0x11000, 0x11FFF))


def fold(text: str) -> str:
    """The text in lower case and in one spelling: NFKC, accents and optional vowel points dropped, digits 0 to 9.

    ASCII keeps its punctuation; other punctuation becomes blanks, typographic apostrophes "'". The length may change.

    >>> fold("Crème BRÛLÉE, Straße ٤٢")
    'creme brulee, strasse 42'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).translate(_FOLDED)


class _FoldedCharacters(dict[int, str]):
    """What each character becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold_character(chr(code))
        return folded


_FOLDED = _FoldedCharacters()


def _fold_character(char: str) -> str:
    if char.isascii():
        return char.lower()
    if char in _APOSTROPHES:
        return "'"
    category = unicodedata.category(char)
    if category[0] == "M":
        return char if _is_vowel_sign(ord(char)) else ""
    if char in _LEFT_OUT or (category == "Cf" and char != _SPACE_WITHOUT_WIDTH):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category[0] not in "LN":
        return " "
    return "".join(_PLAIN_LETTERS.get(letter, letter) for letter in _without_accents(char.casefold()))


def _is_vowel_sign(code: int) -> bool:
    return any(first <= code <= last for first, last in _VOWEL_SIGNS)


def _without_accents(letters: str) -> str:
    """Latin and Greek letters without their marks; in other scripts a mark makes another letter."""
    if not unicodedata.name(letters[0], "").startswith(("LATIN", "GREEK")):
        return unicodedata.normalize("NFKC", letters)
    taken_apart = unicodedata.normalize("NFKD", letters)
    return "".join(part for part in taken_apart if unicodedata.category(part) != "Mn")


# English words that are no index terms: they stand in nearly every message and tell none from another.

_ENGLISH = {name: frozenset(listed) for name, listed in word_lists("english").items()}

PRONOUNS, AUXILIARIES, QUESTION_WORDS = (_ENGLISH[name] for name in ("pronouns", "auxiliaries", "question words"))
ARTICLES = _ENGLISH["articles"]
STOP_WORDS: frozenset[str] = frozenset().union(*_ENGLISH.values())


#: A longer word (base64, a key) is kept as its beginning.
LONGEST_WORD = 64

_REMEMBERED_STEMS = 200_000  # words per thread

# Scripts as ranges of folded characters, for use within [...].
_LATIN = "a-z\u00c0-\u02af\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f"
_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f"
_ARABIC = "\u0610-\u06ff\u0750-\u077f\u0860-\u08ff"
_HAN_AND_KANA = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7fb"
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"

# "and", "so", "with", "like" before the article; "for the" swallows its alef. What is left has three letters or more:
# in shorter words these letters are most likely the word's own.
_ARTICLE = re.compile("(?:[وفبك]{0,2}ال|[وف]?لل)(?=...)")
_FOR_A_SHORT_WORD = re.compile("[وف]?ل(?=ل..$)")  # "for the" before a word that begins with lam itself
_NO_ARTICLE = ("والد",)  # father, mother, parents

_ASCII_WORD = re.compile("[a-z0-9]+")
#: "c++", "c#": languages whose sign makes the name.
_SIGNED = r"(?<![^\W_]) [a-z] (?: \+\+ | \# ) (?! [a-z+\#] )"
_ASCII_WORD_OR_SIGNED = re.compile(f"{_SIGNED} | [a-z0-9]+", re.VERBOSE)
# The rest are compiled by who first reads a text that is not ASCII: large sets of characters take their time.
_WORD_OR_RUN = rf"""(?x)
      {_SIGNED}
    | (?P<run> [{_HAN_AND_KANA}]+ | [{_HANGUL}]+ | [{_SOUTH_EAST_ASIAN}]+ )
    | [0-9]*+ (?: [{_LATIN}] [{_LATIN}0-9]* | [{_CYRILLIC}] [{_CYRILLIC}0-9]* | [{_ARABIC}] [{_ARABIC}0-9]*
                | [^\x00-\x7f{_LATIN}{_CYRILLIC}{_ARABIC}{_HAN_AND_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}]
                  [^\x00-/:-\x7f{_LATIN}{_CYRILLIC}{_ARABIC}{_HAN_AND_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}]* )
    | [0-9]+
"""
_SIGNS = "".join(
    char for first, last in ((0x0E00, 0x1100), (0x1780, 0x1800), (0x3099, 0x309B), (0xA9E0, 0xAA80))
    for char in map(chr, range(first, last)) if unicodedata.category(char)[0] == "M"
)  # fmt: skip
_CHARACTER_WITH_SIGNS = f"(?s).[{_SIGNS}]*"

_LATIN_LETTER, _CYRILLIC_LETTER, _ARABIC_LETTER = (f"[{s}]" for s in (_LATIN, _CYRILLIC, _ARABIC))
_OF_UNSPACED_SCRIPT = f"[{_HAN_AND_KANA}{_HANGUL}{_SOUTH_EAST_ASIAN}]"


def terms(text: str) -> list[str]:
    """The index terms of a text, in order and as often as they occur: stemmed words without English stop words.

    >>> terms("The trains to Łódź were cancelled")
    ['train', 'lodz', 'cancel']
    """
    return stemmed(words(text))


def stemmed(surface: Iterable[str]) -> list[str]:
    """The index terms of surface words as `words` gives them."""
    stems = _stems_of_this_thread()
    return list(filter(None, map(stems.__getitem__, surface)))


def words(text: str) -> list[str]:
    """The surface words of a text in order: folded, unstemmed, stop words kept, cut where `terms` cuts.

    An English "'s" is dropped; a word of more than 64 characters is kept as its first 64.

    >>> words("Zoë's 重跑gen-itgc后 in C++")
    ['zoe', '重跑', 'gen', 'itgc', '后', 'in', 'c++']
    """
    folded = fold(text).replace("'s", "")
    if folded.isascii():
        plain = "++" not in folded and "#" not in folded
        found = (_ASCII_WORD if plain else _ASCII_WORD_OR_SIGNED).findall(folded)
    else:
        found = _words_of_any_script(folded)
    if max(map(len, found), default=0) <= LONGEST_WORD:
        return found
    return [word[:LONGEST_WORD] for word in found]


def has_unspaced_script(text: str) -> bool:
    """Whether there are characters of a script that runs words together."""
    return not text.isascii() and bool(re.search(_OF_UNSPACED_SCRIPT, text))


def _words_of_any_script(folded: str) -> list[str]:
    found: list[str] = []
    for match in re.finditer(_WORD_OR_RUN, folded):
        if match["run"]:
            found += _pairs(re.findall(_CHARACTER_WITH_SIGNS, match["run"]))
        else:
            found.append(match[0])
    return found


def _pairs(characters: Sequence[str]) -> list[str]:
    """Overlapping pairs, so that every word of two characters or more can be found; one character as it is."""
    return [a + b for a, b in pairwise(characters)] or list(characters)


_ACCUSATIVE = re.compile("(?<=....)ا$")


class _Stems(dict[str, str]):
    """The stem of each word, "" for stop words. Snowball's stemmers are not thread-safe: each thread has its own."""

    def __init__(self) -> None:
        super().__init__()
        self._english, self._russian, self._arabic = (
            Stemmer.Stemmer(language, 0)  # 0: no cache of its own beside this one
            for language in ("english", "russian", "arabic")
        )

    def __missing__(self, word: str) -> str:
        if len(self) >= _REMEMBERED_STEMS:
            self.clear()
        stem = self[word] = "" if word in STOP_WORDS else self._stem(word) or word
        return stem

    def _stem(self, word: str) -> str:
        if word.isascii() or re.search(_LATIN_LETTER, word):
            return str(self._english.stemWord(word))
        if re.search(_CYRILLIC_LETTER, word):
            return str(self._russian.stemWord(word))
        if re.search(_ARABIC_LETTER, word):
            return self._stem_arabic(without_article(word))
        return word

    def _stem_arabic(self, word: str) -> str:
        """Always stemmed as with the article: without it, Snowball takes the first letters of nouns for those of verbs.

        A ta marbuta, folded to ha, is one again meanwhile; as a ta, it stands before "my" and the like. An alef at the
        end is mostly that of an accusative.
        """
        stem = str(self._arabic.stemWord("ال" + re.sub("ه$", "ة", word))).replace("ة", "ه")
        stem = re.sub("^ال(?=..)|(?<=...)ت$", "", stem)
        return self._stem_arabic(stem[:-1]) if _ACCUSATIVE.search(stem) else stem


class _ThreadStems(threading.local):
    def __init__(self) -> None:
        self.stems = _Stems()


_THREAD = _ThreadStems()


def _stems_of_this_thread() -> _Stems:
    return _THREAD.stems


_LOOKED_AT = 200  # characters: they tell, and the patterns take the square of their number
_PUNCTUATION_AROUND = re.compile(r"""^["'“”‘’«»(]+|(?<!\()["'“”‘’«»)]+$|[,;:!?]+$|(?<=\w)\.+$""")
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]?\.?")
_IDENTIFIER = re.compile(
    r"""
      [a-z][A-Z]                                  # useState, TypeError
    | \w_+\w | ^_+\w                              # ERR_CONN_RESET, __init__
    | [A-Za-z_]\w*\.\w*[A-Za-z] | \d\.\d+\.\d     # nginx.conf, 1.2.3
    | ^\.{1,2}/? [A-Za-z][\w-]+$                  # .env, ../src
    | ^[Vv]\d+\.\d                                # v1.2
    | \w(?: :: | -> | => | == | = )\w             # foo::bar, key=value
    | \w(?: \(\) | \[\w*\] )                      # main(), rows[0]
    | ^--[A-Za-z][\w-]*(?: =.*)?$                 # --no-pager
    | ^\$\{?[A-Za-z_]                             # $HOME
    | ^(?: ~ | \.{1,2} )?/[\w.@-] | ^[A-Za-z]:\\  # /etc/hosts, ~/.ssh, C:\Users
    | [A-Za-z][\w.-]*/[\w.-]+/[\w.-] | \w\\\w     # src/app/main, app\main
    | ^[A-Za-z]+\d+[A-Za-z\d]*$                   # E0308, utf8, k8s
    | ^@[\w-]+/\w | ://                           # @types/node, https://…
    | ^[A-Za-z](?: \+\+ | \# )$                   # C++, C#
    """,
    re.VERBOSE,
)


def is_identifier(word_as_typed: str) -> bool:
    """Whether a word of a query looks like code, a file, a path or a version, to be looked for as it was typed.

    Quotes and punctuation around it do not matter.

    >>> is_identifier("useState"), is_identifier("nginx.conf?"), is_identifier("garden"), is_identifier("U.S.")
    (True, True, False, False)
    """
    word = word_as_typed.strip()[:_LOOKED_AT]
    word = _PUNCTUATION_AROUND.sub("", _PUNCTUATION_AROUND.sub("", word))
    return bool(_IDENTIFIER.search(word)) and not _ABBREVIATION.fullmatch(word)


def without_article(word: str) -> str:
    """A folded Arabic word without the article and the little words written together with it.

    "The book", "and the book" and "for the book" become "book".

    >>> [without_article(word) for word in ("الكتاب", "والكتاب", "للكتاب", "كتاب", "والدي")]
    ['كتاب', 'كتاب', 'كتاب', 'كتاب', 'والدي']
    """
    while not word.startswith(_NO_ARTICLE):
        article = _ARTICLE.match(word) or _FOR_A_SHORT_WORD.match(word)
        if article is None:
            break
        word = word[article.end() :]
    return word
