"""What kind of memory a text is, by its words [3]."""

from __future__ import annotations

import re
from enum import StrEnum


class MemoryCategory(StrEnum):
    """The five kinds of memory."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    PROSPECTIVE = "prospective"
    WORKING = "working"


#: Of a text that is several of them, the first is the kind.
_WORDS = {
    MemoryCategory.PROCEDURAL: "step how_to procedure process method recipe instruction",
    MemoryCategory.PROSPECTIVE: "plan goal future will should todo to-do intend schedule",
    MemoryCategory.EPISODIC: "happen event occur experience observe saw notice",
}
_ENDINGS = r"(?:s|es|d|ed|ing)?"


def _pattern(words: str) -> re.Pattern[str]:
    forms = "|".join(_form(word.replace("_", " ")) for word in words.split())
    return re.compile(rf"(?<![^\W_])(?:{forms})(?![^\W_])", re.IGNORECASE)


def _form(word: str) -> str:
    last = word[-1]
    doubled = rf"(?:{last}(?:ed|ing))?" if last in "npr" else ""
    if last == "e":
        return rf"{re.escape(word[:-1])}(?:e|es|ed|ing)"
    return rf"{re.escape(word)}(?:{doubled}|{_ENDINGS})"


_PATTERNS = {category: _pattern(words) for category, words in _WORDS.items()}


class MemoryClassifier:
    """Tells the kind of a text by its words; semantic where none of them says otherwise. Never WORKING.

    A word counts in its usual forms, and only as a whole: "planned" is a plan, "plants" are not.
    """

    def classify(self, content: str, concept: str = "") -> MemoryCategory:
        """The kind of a text and the concept that it is about.

        >>> MemoryClassifier().classify("Step 1: clone the repository").value
        'procedural'
        """
        text = f"{content} {concept}"
        for category, pattern in _PATTERNS.items():
            if pattern.search(text):
                return category
        return MemoryCategory.SEMANTIC
