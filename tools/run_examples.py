"""Runs the examples of the documents as a reader would: page by page, in a home of their own, on a narrow terminal.

python -m tools.run_examples [--write] [PAGE...]

Without `--write` it says which pages show something else than what comes out; with it the outputs are put in anew.

In a block marked `console`, lines that begin with "$ " are commands, what follows is their output. In one marked
`python` all blocks of a page are one program; a `text` block right behind one is what it prints. A line "…" in an
output stands for any number of lines; a command without an output may print anything. A command must succeed, unless
`$ echo $?` follows and shows its exit code. A page that says `<!-- examples: the sample archive -->` begins with that
archive imported; every page finds its three files in ~/Downloads.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import runpy
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import recollect
from recollect.faces.cli.main import main as command_line
from recollect.sample import write_archive

ROOT = Path(__file__).resolve().parent.parent
PREPARED = "<!-- examples: the sample archive -->"

#: What a block's line of "```" and its kind look like; other kinds are only shown.
_FENCE = re.compile(r"^```(\w*)\s*$")
_ELISION = "…"
_ENVIRONMENT = {"NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "100", "LINES": "10000", "TZ": "UTC"}
_ENVIRONMENT |= {"RECOLLECT_BACKGROUND": "0"}  # what is printed must not depend on how far a worker is
_DOWNLOADED = 1_790_000_000  # seconds since 1970: what is found is told newest first
_FOREIGN = ("RECOLLECT_", "NEO4J_", "XDG_", "CLAUDE_", "CODEX_", "OPENAI_", "ANTHROPIC_")

#: What differs from run to run, or from processor to processor: durations, sizes, ids that are made anew, scores; and
#: the blanks before them.
_VARYING = (
    (re.compile(r"\d+(?:\.\d+)? (?:ms|s|kB|MB|bytes)\b"), "#"),
    (re.compile(r"just now|\d+ (?:min|h) ago"), "#"),
    (re.compile(r"[+-]\d+\.\d\b|\d+\.\d\d(?= ')|(?<=\w{6} )\d+\.\d\d\b"), "#"),
    (re.compile(r"(?<=Remembered: recollect show )\w{6}"), "#"),
    (re.compile(r"(?:(?<=\S) {2,}|\n {3})(?=\S)"), "  "),
)


class Wrong(Exception):
    """An example that fails, or shows something else than what comes out."""


@dataclass(slots=True)
class Example:
    """One command or program: the lines that it is, those that it shows (from `begin` to `end` in the page)."""

    kind: str
    source: str
    line: int
    begin: int
    end: int
    shown: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """The documents that may hold examples."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(text: str) -> list[Example]:
    """The examples of a page, in order."""
    found: list[Example] = []
    for kind, begin, block in _blocks(text.split("\n")):
        if kind == "console":
            found += _commands(block, begin)
        elif kind == "python":
            found.append(Example(kind, "\n".join(block), begin, begin + len(block), begin + len(block)))
        elif kind == "text" and found and found[-1].kind == "python" and begin - found[-1].end in (2, 3):
            found[-1].begin, found[-1].end, found[-1].shown = begin, begin + len(block), block
    return found


def run_page(path: Path, home: Path, prepared: Path) -> list[tuple[Example, list[str]]]:
    """Runs all examples of a page in an empty home; `prepared` is a store with the sample archive in it.

    Returns each with what it printed. Raises Wrong for one that fails.
    """
    text = path.read_text(encoding="utf-8")
    outputs: list[tuple[Example, list[str]]] = []
    with _at_home(home):
        for age, download in enumerate(write_archive(home / "Downloads")):
            os.utime(download, (_DOWNLOADED - age, _DOWNLOADED - age))
        if PREPARED in text:
            store = home / ".local" / "share" / "recollect" / "memory.db"
            store.parent.mkdir(parents=True)
            shutil.copyfile(prepared, store)
        run = _Runner(home)
        todo = examples(text)
        for number, example in enumerate(todo):
            asked_next = number + 1 < len(todo) and todo[number + 1].source == "echo $?"
            try:
                printed = run(example, may_fail=asked_next)
            except Wrong as wrong:
                raise Wrong(f"{path.name}:{example.line}: {wrong}") from wrong.__cause__
            outputs.append((example, printed))
    return outputs


def agrees(example: Example, printed: list[str]) -> bool:
    """Whether what is shown is what came out."""
    if not example.shown:
        return True
    came = _words(printed)
    if _ELISION not in example.shown:
        return _words(example.shown) == came
    at = example.shown.index(_ELISION)
    head, tail = _words(example.shown[:at]), _words(example.shown[at + 1 :])
    return len(head) + len(tail) <= len(came) and came[: len(head)] == head and came[len(came) - len(tail) :] == tail


def rewritten(text: str, outputs: list[tuple[Example, list[str]]]) -> str:
    """The page with what came out; where lines were left out, as many stay before and after."""
    lines = text.split("\n")
    for example, printed in reversed(outputs):
        if agrees(example, printed):
            continue
        fresh = printed
        if _ELISION in example.shown:
            at = example.shown.index(_ELISION)
            after = len(example.shown) - at - 1
            fresh = [*printed[:at], _ELISION, *printed[len(printed) - after :]]
        lines[example.begin : example.end] = fresh
    return "\n".join(lines)


def _blocks(lines: list[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Kind, number of the first line (from 0) and lines of each block."""
    kind, begin = None, 0
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if kind is None and line.startswith("```"):
            kind, begin = (fence[1] if fence else "other"), number + 1
        elif kind is not None and line.rstrip() == "```":
            yield kind, begin, lines[begin:number]
            kind = None


def _commands(block: list[str], begin: int) -> Iterator[Example]:
    current: Example | None = None
    for number, line in enumerate(block, begin):
        if line.startswith("$ "):
            if current is not None:
                yield current
            current = Example("console", line[2:], number + 1, number + 1, number + 1)
        elif current is not None:
            current.shown.append(line)
            current.end = number + 1
    if current is not None:
        yield current


class _Runner:
    """Runs the examples of one page, one after the other."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._code = 0

    def __call__(self, example: Example, *, may_fail: bool) -> list[str]:
        """What it prints, line by line."""
        screen = _Screen()
        with redirect_stdout(screen), redirect_stderr(_Aside(screen)):
            if example.kind == "python":
                self._program(example.source)
            elif example.source == "echo $?":
                print(self._code)
            else:
                self._command(example.source)
        printed = screen.getvalue().replace(str(self._home), "~").rstrip("\n").split("\n")
        if example.source == "echo $?" and not agrees(example, printed):
            raise Wrong(f"the command before ended with {self._code}")
        if self._code and not may_fail and example.source != "echo $?":
            raise Wrong(f"{example.source} ended with {self._code}: {' '.join(printed)}")
        return printed

    def _program(self, source: str) -> None:
        self._code = 0
        try:
            exec(compile(source, "<example>", "exec"), self._names)
        except Exception as error:
            raise Wrong(f"the program raised {type(error).__name__}: {error}") from error

    def _command(self, typed: str) -> None:
        name, *words = shlex.split(typed, comments=True)
        expanded = [part for word in words for part in self._expanded(word)]
        if name == "python":
            self._script(ROOT / expanded[0], expanded[1:])
        elif name == "recollect":
            self._code = command_line(expanded)
        else:
            raise Wrong(f"{name} is not run here: mark the block sh")

    def _script(self, path: Path, arguments: list[str]) -> None:
        before, sys.argv = sys.argv, [str(path), *arguments]
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as ended:
            self._code = int(ended.code or 0)
        else:
            self._code = 0
        finally:
            sys.argv = before

    def _expanded(self, word: str) -> list[str]:
        """As a shell does with ~/ and, in the last part of such a path, *."""
        if not word.startswith("~/"):
            return [word]
        path = self._home / word[2:]
        return sorted(map(str, path.parent.glob(path.name))) if "*" in path.name else [str(path)]


class _Screen(io.StringIO):
    """A terminal, as far as the command line looks."""

    def isatty(self) -> bool:
        return True


class _Aside(io.TextIOBase):
    """Stderr: seen on the same screen, but not watched for progress."""

    def __init__(self, screen: _Screen) -> None:
        self._screen = screen

    def write(self, text: str) -> int:
        return self._screen.write(text)


@contextmanager
def _at_home(home: Path) -> Iterator[None]:
    """An environment in which everything lies below `home`, which is the current folder too."""
    before, folder = dict(os.environ), Path.cwd()
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    places = {"HOME": home, "USERPROFILE": home, "APPDATA": home / "AppData", "LOCALAPPDATA": home / "AppData"}
    os.environ.update(_ENVIRONMENT | {name: str(path) for name, path in places.items()})
    os.chdir(home)
    time.tzset()
    try:
        yield
    finally:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(before)
        time.tzset()


def _words(lines: list[str]) -> list[str]:
    """What lines say, wherever they were wrapped: the home in which examples run is longer than `~`."""
    text = "\n".join(line.rstrip() for line in lines)
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return text.split()


def main(arguments: list[str]) -> int:
    """Checks the pages, or rewrites them."""
    parser = argparse.ArgumentParser(prog="tools.run_examples", description="Runs the examples of the documents.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="put the outputs in anew")
    options = parser.parse_args(arguments)
    stale = 0
    with TemporaryDirectory() as folder:
        prepared = Path(folder) / "memory.db"
        with recollect.open(prepared, durable=False) as memory:
            memory.import_file(*write_archive(Path(folder) / "archive"))
        for number, page in enumerate(path.resolve() for path in options.pages or pages()):
            home = Path(folder) / f"home-{number}"
            home.mkdir()
            try:
                outputs = run_page(page, home, prepared)
            except Wrong as wrong:
                stale += 1
                print(wrong)
                continue
            others = [example for example, printed in outputs if not agrees(example, printed)]
            for example in others:
                print(f"{page.name}:{example.line}: {example.source.splitlines()[0]} shows something else")
            if others and options.write:
                page.write_text(rewritten(page.read_text(encoding="utf-8"), outputs), encoding="utf-8")
            else:
                stale += len(others)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
