"""One spelling for what readers take for the same: lower case, no accents, plain digits, for every script."""

from __future__ import annotations

import unicodedata

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
