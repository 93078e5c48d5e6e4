"""Every citation is checked: a number in an answer stands for a message that was retrieved, or it is taken out.

What is kept is numbered anew, in the order in which it is cited. Models write [2], [1, 3], [2-4] and 【2】. What stands
in code is left as it is. The check works on a stream: only an opening bracket waits for its end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_OPEN, _CLOSE = "[【", "]】"
_LONGEST = 40  # characters of a citation
_CITATION = re.compile(r"\s*\^?\s*\d{1,3}(?:\s*(?:[,;]|-|–|to|and)\s*\^?\s*\d{1,3})*\s*(?:†[^\]】]*)?\s*")
_RANGE = re.compile(r"(\d{1,3})\s*[-–]\s*(\d{1,3})|(\d{1,3})")
_NONE = re.compile(r"\s*none\s*", re.IGNORECASE)
_WIDEST = 20  # numbers of a range


class Checked:
    """The words of an answer with the citations in it checked.

    After the last word, `cited` are the numbers that the model cited, in order: the first of them stands in the answer
    as [1]. `removed` counts those that stood for nothing, and `unknown` says that the model found no answer ("[none]").
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known, self._held, self._code, self._ticks, self._blank = frozenset(known), "", "", "", False
        self.cited: list[int] = []
        self.removed = 0
        self.unknown = False

    def feed(self, words: str) -> str:
        """What of the answer so far can be shown."""
        return "".join(self._shown(words))

    def end(self) -> str:
        """What was held back, at the end of the answer."""
        rest, self._held = self._held + self._ticks, ""
        self._ticks = ""
        return rest

    def _shown(self, words: str) -> Iterator[str]:
        for character in words:
            if self._held:
                self._held += character
                if character in _CLOSE:
                    yield self._read()
                elif character in "\n`" or len(self._held) > _LONGEST or character in _OPEN:
                    held, self._held = self._held, ""
                    if character in _OPEN:
                        held, self._held = held[:-1], character
                    yield held
            elif character == "`":
                self._ticks += character
            else:
                if self._ticks:
                    yield self._fence()
                if character in _OPEN and not self._code:
                    self._held = character
                elif character == "\n" and self._code and len(self._code) < 3:
                    self._code = ""  # a line ends what only one tick began
                    yield character
                else:
                    yield character

    def _fence(self) -> str:
        """Ticks begin code, or end what the same ticks began."""
        ticks, self._ticks = self._ticks, ""
        if not self._code:
            self._code = ticks
        elif len(ticks) >= len(self._code):
            self._code = ""
        return ticks

    def _read(self) -> str:
        """A bracket that is closed: as it is, or with the numbers that stand for something."""
        held, self._held = self._held, ""
        inside = held[1:-1]
        if _NONE.fullmatch(inside):
            self.unknown = self.unknown or not self.cited
            return ""
        if not _CITATION.fullmatch(inside):
            return held
        kept: list[int] = []
        for number in _numbers(inside):
            if number in self._known:
                kept.append(number)
            else:
                self.removed += 1
        self.cited += [number for number in kept if number not in self.cited]
        return "".join(f"[{self.cited.index(number) + 1}]" for number in dict.fromkeys(kept))


def _numbers(inside: str) -> Iterator[int]:
    for match in _RANGE.finditer(inside.partition("†")[0]):
        if match[3]:
            yield int(match[3])
        else:
            first, last = int(match[1]), int(match[2])
            yield from range(first, last + 1) if 0 <= last - first < _WIDEST else (first, last)
