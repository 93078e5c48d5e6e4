"""Text in the cells of a terminal: measured, shortened, and wrapped at words (a Chinese character takes two cells)."""

from __future__ import annotations

import re
from collections.abc import Sequence

Marks = Sequence[tuple[int, int]]

_LONGEST_CUT = 20  # characters that are given up so that a text does not end within a word

_WORD = re.compile(r"\s*\S+")
_SIGNS = "/.-_:,=&?;)|"  # behind which a long word may be broken
#: Texts of characters that all take one cell: Latin, and the signs that we print.
_PLAIN = re.compile(r"[ -~\xa0-\xac\xae-\u02ff–—‘’“”„•…€→─│▸✓✗]*")


def cell_len(text: str) -> int:
    """The cells that a text takes on a terminal."""
    if _PLAIN.fullmatch(text):
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


def _first_cells(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    if _PLAIN.fullmatch(text):
        return text[:width]
    from rich.cells import chop_cells

    return chop_cells(text, width)[0]


def padded(text: str, width: int) -> str:
    """The text filled up to a width."""
    return text + " " * max(0, width - cell_len(text))


def shortened(text: str, width: int | None) -> str:
    """The text in at most `width` cells, ending in "…" where it was cut; whole for None."""
    if width is None or cell_len(text) <= width:
        return text
    cut = _first_cells(text, max(1, width - 1))
    if not text[len(cut)].isspace() and " " in cut[-_LONGEST_CUT:]:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip() + "…"


def wrapped(text: str, width: int | None) -> list[tuple[int, int]]:
    """Where the lines of a text without line ends begin and end, so that each fits; words too long are broken."""
    if width is None:
        return [(0, len(text))]
    spans: list[tuple[int, int]] = []
    start = end = 0
    for word in _WORD.finditer(text):
        if end and cell_len(text[start : word.end()]) > width:
            spans.append((start, end))
            start = word.end() - len(word[0].lstrip())
        end = word.end()
        while cell_len(text[start:end]) > width:
            cut = start + _break(_first_cells(text[start:end], width))
            spans.append((start, cut))
            start = cut
    return [*spans, (start, end)] if end > start or not spans else spans


def _break(piece: str) -> int:
    """Where a word too long for a line is broken: behind a sign in its later half, else at the end of the line."""
    at = max(piece.rfind(sign) for sign in _SIGNS) + 1
    return at if at > len(piece) // 2 else len(piece)


def wrapped_words(text: str, width: int | None) -> list[str]:
    """The lines of a text that fit."""
    return [text[start:end] for start, end in wrapped(text, width)]


def within(marks: Marks, start: int, end: int) -> list[tuple[int, int]]:
    """The marks inside of a piece of the text, counted from its beginning; those across its ends are cut."""
    cut = ((max(a, start) - start, min(b, end) - start) for a, b in marks)
    return [(a, b) for a, b in cut if a < b]


#: A style, blanks, a line end, a character of a script without blanks, or a word. A command of ours is one word.
_TOKEN = re.compile(
    r"(?P<style>\x1b\[[\d;]*m)|(?P<end>\n)|(?P<blanks>[^\S\n]+)"
    r"|recollect [a-z]+(?: (?:--?[a-z][\w-]*|\d+|[0-9A-Z]{4,6})(?![^\s\x1b.,;:)]))*"
    r"|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60][，。、！？：；」』）]*|(?:(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60])[^\s\x1b])+"
)
#: What lines that go on stand below: behind an indent, a bullet, a number or an id at the beginning of the line.
_HANG = re.compile(r"\s*(?:(?:[-*•▸>] +|\d+\. +|\[\d+\] +|\d+  +|[0-9A-Z]{6}  +)(?=\S))?")
_FENCES = ("```", "~~~")
_PLAIN_STYLE = "\033[0m"


class Flow:
    r"""Wraps text at words as it comes, however it is cut into pieces; code between fences stays as it is.

    >>> flow = Flow(12)
    >>> flow.feed("- one two th") + flow.feed("ree four") + flow.end()
    '- one two\n  three four'
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._held = ""  # the beginning of a word
        self._fence = ""
        self._begin()

    def feed(self, text: str) -> str:
        """What can be written by now."""
        text = self._held + text
        ended = max((found.end() for found in re.finditer(r"\s", text)), default=0)
        self._held = text[ended:]
        return self._flown(text[:ended])

    def end(self) -> str:
        """The rest of the line; what comes next begins another text."""
        rest = self._flown(self._held) + "".join(token for token in self._waiting if not token.isspace())
        self._held = self._fence = ""
        self._begin()
        return rest

    def _begin(self) -> None:
        """Begins a line of the text."""
        self._line, self._style, self._column = "", "", 0
        self._waiting: list[str] = []  # blanks and styles before the next word

    def _flown(self, text: str) -> str:
        pieces: list[str] = []
        for found in _TOKEN.finditer(text):
            token = found[0]
            if found["end"]:
                pieces += [*self._waiting, token]
                self._begin()
            elif found["style"] or found["blanks"]:
                self._waiting.append(token)
            else:
                pieces.append(self._word(token))
        return "".join(pieces)

    def _word(self, word: str) -> str:
        """A word with what stands before it: blanks, or a line end where it does not fit."""
        blanks = "".join(token for token in self._waiting if token.isspace())
        styles = [token for token in self._waiting if not token.isspace()]
        before, is_first = "".join(self._waiting), not self._line.strip()
        self._waiting = []
        self._line += blanks + word
        if is_first and word[:3] in _FENCES and self._fence in ("", word[:3]):
            self._fence = "" if self._fence else word[:3]
        if not self._fence and not is_first and self._column + cell_len(blanks + word) > self._width:
            closing = "\033[0m" if self._style else ""
            reopened = "" if styles else self._style
            if styles and styles[0] == _PLAIN_STYLE:
                closing, styles = styles[0], styles[1:]
            before = f"{closing}\n{self._indent}{reopened}{''.join(styles)}"
            self._column = len(self._indent)
        else:
            self._column += cell_len(blanks)
        for token in re.findall(r"\x1b\[[\d;]*m", before):
            self._style = "" if token == _PLAIN_STYLE else token
        return before + self._broken(word)

    @property
    def _indent(self) -> str:
        """What stands before the lines that go on."""
        found = _HANG.match(self._line)
        return " " * min(cell_len(found[0]) if found else 0, self._width // 2)

    def _broken(self, word: str) -> str:
        """A word too long for a line in pieces that fit."""
        pieces = []
        while not self._fence and self._column + cell_len(word) > self._width > self._column:
            cut = _break(_first_cells(word, self._width - self._column))
            pieces.append(word[:cut])
            word, self._column = word[cut:], len(self._indent)
        self._column += cell_len(word)
        return f"\n{self._indent}".join([*pieces, word])
