"""Every citation is checked: a number in an answer stands for a message that was retrieved, or it is taken out.

What is kept is numbered anew, in the order in which it is cited. Models write [2], [1, 3], [2-4] and 【2】. What stands
in code is left as it is. The check works on a stream: only an opening bracket waits for its end.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

_OPEN, _CLOSE = "[【", "]】"
_LONGEST = 40  # characters of a citation
_FENCE = 3  # ticks that begin code of several lines
_CITATION = re.compile(r"\s*\^?\s*\d{1,3}(?:\s*(?:[,;]|-|–|to|and)\s*\^?\s*\d{1,3})*\s*(?:†[^\]】]*)?\s*")
_RANGE = re.compile(r"(\d{1,3})\s*[-–]\s*(\d{1,3})|(\d{1,3})")
_MARK = re.compile(
    r"^(?P<ticks>`{3,})[^\n]*\n.*?(?:^(?P=ticks)`*[ \t]*$|\Z)|\[(?P<number>\d{1,3})\]", re.DOTALL | re.MULTILINE
)
_NONE = re.compile(r"\s*none\s*", re.IGNORECASE)
_WIDEST = 20  # numbers of a range


class Checked:
    """The words of an answer with the citations in it checked.

    After the last word, `cited` are the numbers that the model cited, in order: the first of them stands in the answer
    as [1]. `removed` counts those that stood for nothing, and `unknown` says that the model found no answer ("[none]").
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._held, self._blank, self._ticks, self._code = "", "", "", ""
        self.cited: list[int] = []
        self.removed = 0
        self.unknown = False

    def feed(self, words: str) -> str:
        """What of the answer so far can be shown."""
        return "".join(map(self._shown, words))

    def end(self) -> str:
        """What was held back, at the end of the answer."""
        rest = self._blank + self._held + self._ticks
        self._held = self._blank = self._ticks = ""
        return rest

    def _shown(self, character: str) -> str:
        """What is shown because of one more character. A blank waits: it goes with the citation behind it."""
        if self._held:
            return self._inside(character)
        if character == "`":
            self._ticks += character
            return self._waited()
        shown = self._fence() if self._ticks else ""
        if character == " ":
            self._blank += character
        elif character in _OPEN and not self._code:
            self._held = character
        else:
            if character == "\n" and len(self._code) < _FENCE:
                self._code = ""  # a line ends what only one tick began
            shown += self._waited() + character
        return shown

    def _inside(self, character: str) -> str:
        """The same within a bracket."""
        if character in _CLOSE:
            read = self._read(self._held[1:], self._held + character)
            self._held = ""
            blank = self._waited()
            return blank + read if read else ""
        if character in _OPEN or character in "\n`" or len(self._held) > _LONGEST:
            shown, self._held = self._waited() + self._held, ""
            return shown + self._shown(character)
        self._held += character
        return ""

    def _waited(self) -> str:
        blank, self._blank = self._blank, ""
        return blank

    def _fence(self) -> str:
        """Ticks begin code, or end what the same ticks began."""
        ticks, self._ticks = self._ticks, ""
        if not self._code:
            self._code = ticks
        elif len(ticks) >= len(self._code):
            self._code = ""
        return ticks

    def _read(self, inside: str, whole: str) -> str:
        """A bracket that is closed: as it is, or with the numbers that stand for something."""
        if _NONE.fullmatch(inside):
            self.unknown = self.unknown or not self.cited
            return ""
        if not _CITATION.fullmatch(inside):
            return whole
        named = list(dict.fromkeys(_numbers(inside)))
        kept = [number for number in named if number in self._known]
        self.removed += len(named) - len(kept)
        self.cited += [number for number in kept if number not in self.cited]
        return "".join(f"[{self.cited.index(number) + 1}]" for number in kept)


def _numbers(inside: str) -> Iterator[int]:
    for match in _RANGE.finditer(inside.partition("†")[0]):
        if match[3]:
            yield int(match[3])
        else:
            first, last = int(match[1]), int(match[2])
            yield from range(first, last + 1) if 0 <= last - first < _WIDEST else (first, last)


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """The text with these numbers in the place of those; code is left as it is."""

    def mark(found: re.Match[str]) -> str:
        number = found["number"]
        return found[0] if number is None else f"[{numbers.get(int(number), int(number))}]"

    return _MARK.sub(mark, text)
