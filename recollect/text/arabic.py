"""Arabic words without the article and the little words that are written together with it."""

from __future__ import annotations

import re

# "and", "so", "with", "like" before the article; "for the" swallows its alef. What is left has three letters or more:
# in shorter words these letters are most likely the word's own.
_ARTICLE = re.compile("(?:[وفبك]{0,2}ال|[وف]?لل)(?=...)")
_FOR_A_SHORT_WORD = re.compile("[وف]?ل(?=ل..$)")  # "for the" before a word that begins with lam itself
_NO_ARTICLE = ("والد",)  # father, mother, parents


def without_article(word: str) -> str:
    """A folded word without its article: "the book", "and the book" and "for the book" become "book".

    >>> [without_article(word) for word in ("الكتاب", "والكتاب", "للكتاب", "كتاب", "والدي")]
    ['كتاب', 'كتاب', 'كتاب', 'كتاب', 'والدي']
    """
    while not word.startswith(_NO_ARTICLE):
        article = _ARTICLE.match(word) or _FOR_A_SHORT_WORD.match(word)
        if article is None:
            break
        word = word[article.end() :]
    return word
