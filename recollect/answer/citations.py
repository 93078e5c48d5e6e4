"""Every citation is checked: a number in an answer stands for a message that was retrieved, or it is taken out.

What is kept is numbered anew, in the order in which it is cited. Models write [2], [1, 3], [2-4], 【2】, [[2]],
[Message 2] and [Message 2, Message 3]. What stands in code is left as it is. The check works on a stream: only brackets
and code of one line wait for their ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

_OPEN, _CLOSE = "[【［", "]】］"
_LONGEST = 80  # characters of a citation
_FENCE = 3  # ticks that begin code of several lines
_FARTHEST = 2_000  # characters that wait for the end of a link, or of code on one line
#: What may stand before each number. Blanks are taken at once: there is one way to read a text, or none.
_BEFORE = r"""\s*+ (?: (?: messages?|msgs?|sources?|references?|refs?|citations?|passages?|see
      | nachricht(?:en)?|quellen?|fuentes?|mensajes? )\b [.:]? | 消息|来源 )? \s*+ [\^#]? \s*+"""
_CITATION = re.compile(
    rf"""{_BEFORE} \d{{1,3}}
    (?: \s*+ (?: (?:[,;，；、]\s*+)? (?:and|or|&) | [,;，；、–—-] | to ) {_BEFORE} \d{{1,3}} )*
    \s*+ (?:†[^\]】］]*)? \s*+""",
    re.IGNORECASE | re.VERBOSE,
)
_RANGE = re.compile(rf"(\d{{1,3}}) \s*+ (?:[-–—]|to) {_BEFORE} (\d{{1,3}}) | (\d{{1,3}})", re.IGNORECASE | re.VERBOSE)
_MARK = re.compile(
    r"^(?P<ticks>`{3,})[^\n]*\n.*?(?:^(?P=ticks)`*[ \t]*$|\Z)|\[(?P<number>\d{1,3})\]", re.DOTALL | re.MULTILINE
)
_ADDRESS = re.compile(r"\(\s*(?:<|//|/|#|\?|www\.|[a-z][a-z0-9+.-]*:)", re.IGNORECASE)
_NONE = re.compile(r"\s*none\s*", re.IGNORECASE)
_WIDEST = 20  # numbers of a range


class Checked:
    """The words of an answer with the citations in it checked.

    After the last word, `cited` are the numbers that the model cited, in order: the first of them stands in the answer
    as [1]. `removed` counts those that stood for nothing, and `unknown` says that the model found no answer ("[none]").
    Code stays as it is: a block until it is closed, and what stands between ticks on one line. A citation is no link,
    whatever the model puts behind it.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._blank, self._held = "", ""  # blanks, and a bracket behind them that is not closed yet
        self._target: str | None = None  # round brackets behind a citation; "" where they may begin
        self._code, self._opening, self._last = (
            "",
            0,
            0,
        )  # code of a line; ticks that began it, and at its end
        self._block, self._closing, self._inner = 0, 0, list[str]()  # the same of a block, and what is in it
        self._begins = True  # whether only blanks stand before, on this line
        self._began = True  # whether that was so before the bracket, or the ticks
        self.cited: list[int] = []
        self.removed = 0
        self.unknown = False

    def feed(self, words: str) -> str:
        """What of the answer so far can be shown."""
        return "".join(map(self._next, words))

    def end(self) -> str:
        """What was held back, at the end of the answer."""
        shown = self._unpaired() if self._pair_half_closed else ""
        while self._target or self._code:
            shown += self._unlinked() if self._target else self._uncoded()
        self._target = None
        self._block = 0 if self._block and self._closing >= self._block else self._block
        rest, self._held = self._waited() + self._held, ""
        return shown + rest

    @property
    def open_code(self) -> str:
        """The ticks of a block that was never closed, where there is one: what stands in it was shown unchecked."""
        return "`" * self._block

    def reread(self, text: str) -> str:
        """The whole text that was shown, with what stands in a block that was never closed checked like the rest."""
        while self._block:
            inner = "".join(self._inner).rstrip()
            self._block, self._closing, self._inner = 0, 0, []
            text = text.rstrip().removesuffix(inner) + self.feed(inner) + self.end()
        return text

    def _next(self, character: str) -> str:
        shown = self._shown(character)
        self._begins = character == "\n" or (self._begins and character in " \t")
        return shown

    def _shown(self, character: str) -> str:
        """What is shown because of one more character. A blank waits: it goes with the citation behind it."""
        if self._block:
            return self._in_block(character)
        if self._code:
            return self._in_code(character)
        if self._target is not None:
            return self._behind(character)
        if self._held:
            return self._inside(character)
        if character == " ":
            self._blank += character
            return ""
        if character in _OPEN:
            self._held, self._began = character, self._begins
            return ""
        if character == "`":
            self._code, self._opening, self._last, self._began = character, 0, 1, self._begins
            return self._waited()
        return self._waited() + character

    def _waited(self) -> str:
        blank, self._blank = self._blank, ""
        return blank

    # --- brackets ---------------------------------------------------------------------------------------------------
    def _inside(self, character: str) -> str:
        """The same within a bracket, or within a pair of them: [[9]]."""
        if self._pair_half_closed and character not in _CLOSE:
            return self._unpaired() + self._shown(character)
        if character in _CLOSE:
            self._held += character
            if self._pair_half_closed:
                return ""
            whole, self._held = self._held, ""
            inside = whole[2:-2] if whole[1] in _OPEN else whole[1:-1]
            read = self._read(inside, whole)
            self._target = "" if _CITATION.fullmatch(inside) else None
            blank = self._waited()
            return blank + read if read else ""
        if character in _OPEN and len(self._held) == 1:
            self._held += character
            return ""
        if character in _OPEN or character in "\n`" or len(self._held) > _LONGEST:
            shown, self._held = self._waited() + self._held, ""
            return shown + self._shown(character)
        self._held += character
        return ""

    @property
    def _pair_half_closed(self) -> bool:
        """Whether [[9] is held, which the next character may make a pair."""
        held = self._held
        return len(held) > 2 and held[1] in _OPEN and held[-1] in _CLOSE and held[-2] not in _CLOSE

    def _unpaired(self) -> str:
        """What was held as a pair and is none: the second bracket stands for itself."""
        held, self._held = self._held, ""
        return self._waited() + held[0] + "".join(map(self._shown, held[1:]))

    def _behind(self, character: str) -> str:
        """The same behind a citation: neither a link nor the definition of one is made of it."""
        if not self._target:
            self._target = "(" if character == "(" else None
            if character == ":" and self._began:
                return " :"
            return "" if self._target else self._shown(character)
        if character == "\n" or len(self._target) > _FARTHEST:
            return self._unlinked() + self._shown(character)
        self._target += character
        return self._unlinked() if self._target.count("(") == self._target.count(")") else ""

    def _unlinked(self) -> str:
        """Round brackets behind a citation: the address of a link goes, words stay, apart from it."""
        told, self._target = self._target or "", None
        return "" if _ADDRESS.match(told) else " " + "".join(map(self._shown, told))

    # --- code -------------------------------------------------------------------------------------------------------
    def _in_code(self, character: str) -> str:
        """The same behind ticks: code of this line, where they are closed on it, or a block that begins."""
        if character == "`":
            self._code, self._last = self._code + character, self._last + 1
            return ""
        if not self._opening:
            self._opening = self._last
        elif self._last == self._opening:
            return self._coded() + self._shown(character)
        self._last = 0
        if character == "\n":
            told = self._code[self._opening :]
            if self._opening >= _FENCE and "`" not in told and (self._began or not told.strip().count(" ")):
                self._block, self._closing, self._inner = self._opening, 0, []
                return self._coded() + character
        if character == "\n" or len(self._code) > _FARTHEST:
            return self._uncoded() + self._shown(character)
        self._code += character
        return ""

    def _coded(self) -> str:
        """Code, as it was written."""
        told, self._code = self._code, ""
        return told

    def _uncoded(self) -> str:
        """What ticks that were not closed stood before: no code."""
        told, opening = self._code, self._opening or self._last
        self._code = ""
        if self._opening and self._last == self._opening:
            return told  # closed by the last of it
        self._begins = False
        return told[:opening] + "".join(map(self._shown, told[opening:]))

    def _in_block(self, character: str) -> str:
        """The same in a block: ticks at the beginning of a line close it."""
        if character == "`" and (self._begins or self._closing):
            self._closing += 1
        elif self._closing >= self._block:
            self._block = 0
            return self._shown(character)
        else:
            self._closing = 0
        self._inner.append(character)
        return character

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


class _Uncited(Checked):
    """The words of an answer without the citations of what is known; any other number in brackets stays."""

    def _read(self, inside: str, whole: str) -> str:
        if not _CITATION.fullmatch(inside):
            return whole
        named = list(dict.fromkeys(_numbers(inside)))
        left = [number for number in named if number not in self._known]
        return whole if left == named else "".join(f"[{number}]" for number in left)


def uncited(text: str, known: Collection[int]) -> str:
    """An answer without its citations of these numbers, which mean something beside their sources alone.

    >>> uncited("Luna eats duck [2], no chicken [1, 3]: `dishes[1]`.", {1, 2, 3})
    'Luna eats duck, no chicken: `dishes[1]`.'
    """
    words = _Uncited(known)
    return words.feed(text) + words.end()


def cited_in(text: str, known: Collection[int]) -> list[int]:
    """Which of these numbers an answer cites, in order."""
    words = Checked(known)
    words.reread(words.feed(text) + words.end())
    return words.cited


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
