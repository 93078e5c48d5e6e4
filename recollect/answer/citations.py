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
#: Blanks, and what comes behind them: ticks, a bracket that opens, the end of the line, or words.
_PIECE = re.compile(rf"( *)(`+|[{re.escape(_OPEN)}]|\n|[^ `\n{re.escape(_OPEN)}]+|)")
_INSIDE = re.compile(rf"[^\n`{re.escape(_OPEN)}{re.escape(_CLOSE)}]{{0,{_LONGEST}}}")
_TICKS = re.compile(r"([ \t]*)(`*)")
_OPEN_NEXT, _CLOSE_NEXT = frozenset(_OPEN), frozenset(_CLOSE)
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
        self._held = ""  # what more words may make a citation, a link or code
        self._begins = True  # whether only blanks stand before it on its line
        self._block, self._inner = 0, ""  # ticks that began a block of code, and what is in it
        self.cited: list[int] = []
        self.removed = 0
        self.unknown = False

    def feed(self, words: str) -> str:
        """What of the answer so far can be shown."""
        self._held += words
        return self._shown(ended=False)

    def end(self) -> str:
        """What was held back, at the end of the answer."""
        return self._shown(ended=True)

    @property
    def open_code(self) -> str:
        """The ticks of a block that was never closed, where there is one: what stands in it was shown unchecked."""
        return "`" * self._block

    def reread(self, text: str) -> str:
        """The whole text that was shown, with what stands in a block that was never closed checked like the rest."""
        while self._block:
            inner = self._inner.rstrip()
            self._block, self._inner = 0, ""
            text = text.rstrip().removesuffix(inner) + self.feed(inner) + self.end()
        return text

    def _shown(self, *, ended: bool) -> str:
        """What of the held text needs no more words to be understood. A blank goes with the citation behind it."""
        shown, text, at = list[str](), self._held, 0
        while at < len(text):
            found = self._in_block(text, at, ended) if self._block else self._next(text, at, ended)
            if found is None:
                break
            piece, end = found
            _, newline, line = text[at:end].rpartition("\n")
            self._begins = (self._begins or bool(newline)) and not line.strip(" \t")
            shown.append(piece)
            at = end
        self._held = text[at:]
        return "".join(shown)

    def _in_block(self, text: str, at: int, ended: bool) -> tuple[str, int] | None:
        """A line of code, or some of it; ticks at the beginning of one may close the block."""
        ticks = _TICKS.match(text, at) if self._begins else None
        if ticks and ticks.end() == len(text) and not ended:
            return None
        if ticks and len(ticks[2]) >= self._block:
            self._block = 0
            return ticks[0], ticks.end()
        end = text.find("\n", at) + 1 or len(text)
        self._inner += text[at:end]
        return text[at:end], end

    def _next(self, text: str, at: int, ended: bool) -> tuple[str, int] | None:
        """What comes next as it is shown, and where that ends; None where it depends on words still to come."""
        match = _PIECE.match(text, at)
        assert match is not None
        blanks, what, end = match[1], match[2], match.end()
        if what[:1] == "`":
            return self._code(text, match, ended)
        if what in _OPEN and what:
            return self._bracket(text, blanks, match.start(2), ended)
        return (blanks + what, end) if what or ended else None

    def _code(self, text: str, match: re.Match[str], ended: bool) -> tuple[str, int] | None:
        """Code of one line, the first line of a block, or ticks that are not closed: no code."""
        ticks, end = len(match[2]), match.end()
        newline = text.find("\n", end)
        line = text[end : newline if newline >= 0 else len(text)]
        close = re.search(rf"(?<!`)`{{{ticks}}}(?!`)", line)
        is_open = newline < 0 and not ended and len(line) < _FARTHEST
        if is_open and (close is None or end + close.end() == len(text)):
            return None
        if close is not None:
            return text[match.start() : end + close.end()], end + close.end()
        began = self._begins and not match[1].strip(" ")
        if newline >= 0 and ticks >= _FENCE and "`" not in line and (began or not line.strip().count(" ")):
            self._block, self._inner = ticks, ""
            return text[match.start() : newline + 1], newline + 1
        return match[0], end

    def _bracket(self, text: str, blanks: str, at: int, ended: bool) -> tuple[str, int] | None:
        """A citation, or a bracket as it is; a pair of them ([[9]]) is one."""
        is_pair = text[at + 1 : at + 2] in _OPEN_NEXT
        inside = _INSIDE.match(text, at + 1 + is_pair)
        assert inside is not None
        end = inside.end()
        if end == len(text) and not ended:
            return None
        if text[end : end + 1] not in _CLOSE_NEXT:
            return blanks + text[at:end], end
        if is_pair and end + 1 == len(text) and not ended:
            return None
        if is_pair and text[end + 1 : end + 2] not in _CLOSE_NEXT:
            return blanks + text[at], at + 1
        end += 1 + is_pair
        if not _CITATION.fullmatch(inside[0]):
            read = self._read(inside[0], text[at:end])
            return (blanks + read if read else ""), end
        behind = self._behind(text, end, ended)
        if behind is None:
            return None
        read = self._read(inside[0], text[at:end])
        return (blanks + read if read else "") + behind[0], behind[1]

    def _behind(self, text: str, at: int, ended: bool) -> tuple[str, int] | None:
        """What stands behind a citation: neither a link nor the definition of one is made of it."""
        if at == len(text):
            return ("", at) if ended else None
        if text[at] == ":" and self._begins:
            return " :", at + 1
        if text[at] != "(":
            return "", at
        depth, end = 0, at
        for end in range(at, min(len(text), at + _FARTHEST)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if not depth or text[end] == "\n":
                break
        else:
            if not ended and len(text) < at + _FARTHEST:
                return None
            end = min(len(text), at + _FARTHEST)
        end += not depth
        return ("", end) if _ADDRESS.match(text, at, end) else (" ", at)

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
