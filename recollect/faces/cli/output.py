"""What is printed: results on stdout, notes on stderr, wrapped and styled for the terminal there is."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TextIO

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


@cache
def _token() -> re.Pattern[str]:
    """A style, blanks, a line end, a character of a script without blanks, or a word. A command of ours is one word."""
    return re.compile(
        r"(?P<style>\x1b\[[\d;]*m)|(?P<end>\n)|(?P<blanks>[^\S\n]+)"
        r"|recollect [a-z]+(?: (?:--?[a-z][\w-]*|\d+|[0-9A-Z]{4,6})(?![^\s\x1b.,;:)]))*"
        r"|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60][，。、！？：；」』）]*"
        r"|(?:(?![\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60])[^\s\x1b])+"
    )


@cache
def _hang() -> re.Pattern[str]:
    """The lines after the first are indented below an indent, a bullet, a number or an id at the line's beginning."""
    return re.compile(r"\s*(?:(?:[-*•▸>] +|\d+\. +|\[\d+\] +|\d+  +|[0-9A-Z]{6}  +)(?=\S))?")


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
        for found in _token().finditer(text):
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
        found = _hang().match(self._line)
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


#: What an error calls it.
STANDARD_OUTPUT = "Standard output"

_NARROWEST = 40

#: A command of ours inside of a hint; those left out here have no use for a store or a namespace.
_COMMAND = re.compile(r"\brecollect (?=[a-z])(?!demo\b|completion\b)")

#: What a terminal would obey instead of showing: control characters other than line ends and tabs.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\ufffd") | {13: " "}

_ESCAPED = {code: f"\\u{code:04x}" for code in range(127, 160)}  #: the same in JSON, which writes the others so itself


class Symbols(NamedTuple):
    """Signs that need a terminal to look well, and their plain forms."""

    dot: str
    pointer: str
    arrow: str
    dash: str
    more: str
    ok: str
    bad: str


_TERMINAL_SYMBOLS = Symbols("·", "▸", "→", "–", "…", "✓", "✗")
_PLAIN_SYMBOLS = Symbols("-", ">", "->", "-", "...", "[ok]", "[bad]")


class Output:
    """The two streams. `width` is the terminal's, None where there is none: then nothing is cut or wrapped.

    `options` are those of this run that say which memory is meant: "--namespace work", or empty.
    """

    def __init__(self, out: TextIO, err: TextIO, *, styled: bool, width: int | None, options: str = "") -> None:
        self._out, self._err, self._options = out, err, options
        self.styled, self.width = styled, width
        self.symbols = _PLAIN_SYMBOLS if width is None else _TERMINAL_SYMBOLS
        self._flow = None if width is None else Flow(width)

    @classmethod
    def standard(cls, color: str = "auto", environment: Mapping[str, str] = os.environ, *, options: str = "") -> Output:
        """The process's own streams; `color` auto: styles on a terminal, unless NO_COLOR or TERM=dumb."""
        terminal = sys.stdout.isatty()
        silenced = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
        styled = color == "always" or (color == "auto" and terminal and not silenced)
        width = max(_NARROWEST, terminal_size()[0]) if terminal else None
        return cls(sys.stdout, sys.stderr, styled=styled, width=width, options=options)

    @property
    def height(self) -> int | None:
        """Lines of the terminal; None where there is none."""
        return terminal_size()[1] if self.width is not None else None

    @property
    def shows_progress(self) -> bool:
        """Whether somebody watches stderr."""
        return self._err.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def can_ask(self) -> bool:
        """Whether somebody is there to answer a question."""
        return sys.stdin.isatty() and self._err.isatty()

    def confirms(self, question: str) -> bool:
        """Asks; whatever is not a yes is a no."""
        self._out.flush()
        self._err.write(f"{question} [y/N] ")
        self._err.flush()
        try:
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            self._err.write("\n")
            raise
        if not answer.endswith("\n"):  # the end of the input was typed: the cursor still stands behind the question
            self._err.write("\n")
        return answer.strip().lower() in ("y", "yes")

    def hint(self, text: str) -> str:
        """A hint whose commands can be typed as they are: with the store and namespace that this run was given."""
        return _COMMAND.sub(lambda found: f"{found[0]}{self._options} ", text) if self._options else text

    def line(self, text: str = "") -> None:
        """A line of the result, wrapped at words for the width there is."""
        self._write(self._flown(text) + "\n")

    def fitted(self, text: str) -> list[str]:
        """The lines in which `line` writes a text, for what is printed page by page."""
        return self._flown(text).split("\n")

    def verbatim(self, text: str) -> None:
        """A line of the result as it is, seen at once: code, settings, and what was wrapped already."""
        self._write((self._flow.end() if self._flow else "") + text + "\n")
        self._out.flush()

    def piece(self, text: str) -> None:
        """A part of a line of the result, seen at once; the last word when it has ended."""
        self._write(text if self._flow is None else self._flow.feed(text))
        self._out.flush()

    def note(self, text: str) -> None:
        """A line beside the result: progress, notes, warnings, errors; wrapped as well."""
        self._out.flush()
        flow = None if self.width is None else Flow(self.width)
        self._err.write((flow.feed(text) + flow.end() if flow else text) + "\n")
        self._err.flush()

    def _flown(self, text: str) -> str:
        return text if self._flow is None else self._flow.feed(text) + self._flow.end()

    def document(self, value: object) -> None:
        """The one JSON document of a `--json` run; records in it are shown by their views."""
        import json

        from recollect.faces.present.views import as_json

        self._write(json.dumps(as_json(value), ensure_ascii=False, indent=2).translate(_ESCAPED) + "\n")

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
        except OSError as error:  # a disk that is full
            error.filename = STANDARD_OUTPUT
            raise

    # --- lines for the width there is -------------------------------------------------------------------------------
    def dotted(self, *parts: str) -> str:
        """Parts of a line, a dot between them; empty ones are left out."""
        return f" {self.symbols.dot} ".join(filter(None, parts))

    def gap(self, left: str, right: str) -> str:
        """What separates the left and the right end of a line: blanks, or a line end where both do not fit."""
        if self.width is None:
            return "  "
        room = self.width - cell_len(left) - cell_len(right)
        return " " * room if room >= 2 else "\n   "

    def joined(self, left: str, right: str) -> str:
        """Two sentences in a line, or the second in a line of its own, so that no command in it is cut."""
        fits = self.width is None or cell_len(left) + 1 + cell_len(right) <= self.width
        return f"{left}{' ' if fits else chr(10)}{right}"

    def more(self, shown: int, advice: str = "") -> None:
        """Says that there is more than what is shown, and how to see it."""
        self.note(f"More: add -n {2 * shown}{advice and f', or {advice}'}.")

    def row(self, id: str, facts: str, text: str) -> None:
        """A row of a list: the end of an id, facts, and a text cut to the width."""
        start = id[-6:]
        room = None if self.width is None else self.width - cell_len(f"{start}  {facts}")
        self.line(f"{start}  {self.dim(facts)}{shortened(harmless(text), room)}".rstrip())

    def in_a_row(self, label: str, commands: Sequence[str]) -> str:
        """Commands to choose from, beside each other or, where they do not fit, below each other."""
        row = label + f"  {self.symbols.dot}  ".join(commands)
        if self.width is None or cell_len(row) <= self.width:
            return row
        return label + f"\n{' ' * len(label)}".join(commands)

    def marked_lines(self, text: str, marks: Marks, width: int | None) -> Iterator[tuple[str, str]]:
        """A text line by line for a width: each plain, and with its matches marked."""
        if not self.styled:  # the brackets take room
            text, marks = self.marked(text, marks), ()
        at = 0
        for line in text.split("\n"):
            indent = 0 if width is None else min(len(line) - len(line.lstrip()), width // 2)
            for start, end in wrapped(line, None if width is None else width - indent):
                piece, blanks = line[start:end], " " * indent if start else ""
                yield blanks + piece, blanks + self.marked(piece, within(marks, at + start, at + end))
            at += len(line) + 1

    # --- styles ----------------------------------------------------------------------------------------------------
    def bold(self, text: str) -> str:
        """For titles and numbers."""
        return self._style("1", text)

    def dim(self, text: str) -> str:
        """For what may be read over."""
        return self._style("2", text)

    def colored(self, text: str) -> str:
        """For the names of speakers and commands."""
        return self._style("36", text)

    def marked(self, text: str, marks: Sequence[tuple[int, int]]) -> str:
        """The text with its matches bold and underlined, or in brackets where there are no styles."""
        opening, closing = ("\033[1;4m", "\033[0m") if self.styled else ("[", "]")
        pieces, at = [], 0
        for start, end in marks:
            pieces += [text[at:start], opening, text[start:end], closing]
            at = end
        return "".join([*pieces, text[at:]])

    def _style(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.styled and text else text


def terminal_size() -> tuple[int, int]:
    """Columns and lines: those that COLUMNS and LINES say, else the terminal's."""
    from shutil import get_terminal_size

    return get_terminal_size()


def harmless(text: str) -> str:
    """A foreign text so that a terminal shows it and does not obey it, of the same length."""
    return text.translate(_CONTROLS)


def use_utf8() -> None:
    """Makes the streams write UTF-8 whatever the locale, and never fail on a character (pipes under cp1252 did)."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
