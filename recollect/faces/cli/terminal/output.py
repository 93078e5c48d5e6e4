"""Where text goes and how it looks: results on stdout, all else on stderr; styles and symbols where they are seen."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

if TYPE_CHECKING:
    from recollect.faces.cli.terminal.wrapping import Flow


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


_FANCY = Symbols("·", "▸", "→", "–", "…", "✓", "✗")
_PLAIN = Symbols("-", ">", "->", "-", "...", "[ok]", "[bad]")


class Output:
    """The two streams. `width` is the terminal's, None where there is none: then nothing is cut or wrapped.

    `options` are those of this run that say which memory is meant: "--namespace work", or empty.
    """

    def __init__(self, out: TextIO, err: TextIO, *, styled: bool, width: int | None, options: str = "") -> None:
        self._out, self._err, self._options = out, err, options
        self.styled, self.width = styled, width
        self.symbols = _PLAIN if width is None else _FANCY
        self._flow = None if width is None else _flow(width)

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
        flow = None if self.width is None else _flow(self.width)
        self._err.write((flow.feed(text) + flow.end() if flow else text) + "\n")
        self._err.flush()

    def _flown(self, text: str) -> str:
        return text if self._flow is None else self._flow.feed(text) + self._flow.end()

    def document(self, value: Mapping[str, Any]) -> None:
        """The one JSON document of a `--json` run."""
        import json

        self._write(json.dumps(value, ensure_ascii=False, indent=2).translate(_ESCAPED) + "\n")

    def _write(self, text: str) -> None:
        try:
            self._out.write(text)
        except OSError as error:  # a disk that is full
            error.filename = STANDARD_OUTPUT
            raise

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


def _flow(width: int) -> Flow:
    from recollect.faces.cli.terminal.wrapping import Flow  # for a terminal alone

    return Flow(width)
