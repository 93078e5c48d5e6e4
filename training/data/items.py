"""Items as they lie in files, and the command that fills in offsets, so that writers need not count.

python -m training.data.items fill FILE...

A writer may give the words alone; `fill` rewrites the file with offsets (character positions, end exclusive):
questions: `message` and `sentence` get `start` and `end`, also in `old`;
statements: `"value": "45 mg"` becomes `"value": [17, 22, "45 mg"]`;
follow-ups: `"needed": [[0, "the blue one"]]` becomes `[[0, 12, 24, "the blue one"]]` (turn, start, end, words);
names: `"marked": "[Ilse|person] is in [Porto|place]"` becomes `text` and `spans`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data.archives import DATA, PARTS, Archive, UnknownArchive, locate, read

KINDS = ("questions", "statements", "followups", "names")
SPAN_FIELDS = ("value", "since", "until", "reason", "rejected", "replaces")

Fields = dict[str, Any]


class CannotFill(ValueError):
    """Words are not in their text, or more than once."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a file: its fields, and the place that says its part, kind and writer."""

    path: Path
    line: int
    part: str
    kind: str
    writer: str
    fields: Fields

    @property
    def place(self) -> str:
        """`file:line`, from the current folder where possible."""
        path = self.path
        return f"{path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}:{self.line}"


def files(data: Path = DATA) -> Iterator[tuple[str, str, Path]]:
    """Yield part, kind and path of every file of items."""
    for part in PARTS:
        for kind in KINDS:
            for path in sorted((data / part / kind).glob("*.jsonl")):
                yield part, kind, path


def load(data: Path = DATA) -> tuple[list[Item], list[str]]:
    """Return all items, and an error line for each line that is no JSON object."""
    items, errors = [], []
    for part, kind, path in files(data):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            item = Item(path, number, part, kind, path.stem, {})
            try:
                fields = json.loads(line)
            except ValueError as error:
                errors.append(f"{item.place}: not JSON ({error}), write one object a line")
                continue
            if isinstance(fields, dict):
                items.append(Item(path, number, part, kind, path.stem, fields))
            else:
                errors.append(f"{item.place}: not an object, write one object a line")
    return items, errors


_MARK = re.compile(r"\[([^\[\]|]+)\|([a-z]+)\]")


def unmark(marked: str) -> tuple[str, list[list[Any]]]:
    """Return the text and the spans of a text with marked names.

    >>> unmark("[Ilse|person] is in [Porto|place]")
    ('Ilse is in Porto', [[0, 4, 'person', 'Ilse'], [11, 16, 'place', 'Porto']])
    """
    text, spans, last = "", [], 0
    for mark in _MARK.finditer(marked):
        text += marked[last : mark.start()]
        spans.append([len(text), len(text) + len(mark[1]), mark[2], mark[1]])
        text += mark[1]
        last = mark.end()
    return text + marked[last:], spans


def fill(kind: str, fields: Fields, archives: dict[str, Archive], data: Path = DATA) -> Fields:
    """Return the fields with offsets. Raises CannotFill and UnknownArchive.

    Offsets that are there stay; words that stand several times need them from the writer.
    """
    filled = dict(fields)
    if kind == "names" and "marked" in filled:
        filled["text"], filled["spans"] = unmark(filled.pop("marked"))
    if kind == "followups":
        filled["needed"] = [_needed(entry, filled["turns"]) for entry in filled.get("needed", [])]
    if kind == "statements":
        for name in SPAN_FIELDS:
            if isinstance(filled.get(name), str) and filled[name]:
                filled[name] = [*_only(filled["text"], filled[name], name), filled[name]]
            elif filled.get(name) == "":
                filled[name] = None
        if filled.get("message") and "start" not in filled:
            _point(filled, filled["text"], filled["archive"], archives, data)
    if kind == "questions":
        for pointer in (filled, filled.get("old")):
            if pointer and pointer.get("message") and pointer.get("sentence") and "start" not in pointer:
                _point(pointer, pointer["sentence"], filled["archive"], archives, data)
    return filled


def _point(pointer: Fields, sentence: str, name: str, archives: dict[str, Archive], data: Path) -> None:
    if name not in archives:
        archives[name] = read(name, data)
    conversation, message = archives[name].message(pointer["message"])
    pointer["conversation"] = conversation.id
    pointer["start"], pointer["end"] = _only(message.text, sentence, f"the sentence in {message.id}")


def _needed(entry: list[Any], turns: list[Fields]) -> list[Any]:
    if len(entry) != 2:
        return entry
    turn, words = entry
    return [turn, *_only(turns[turn]["text"], words, f"the words in turn {turn}"), words]


def _only(text: str, words: str, what: str) -> tuple[int, int]:
    places = locate(text, words)
    if len(places) == 1:
        return places[0]
    problem = "not in the text" if not places else f"there {len(places)} times: give start and end of the one you mean"
    raise CannotFill(f"{what}: {words!r} is {problem}")


def fill_file(path: Path, data: Path = DATA) -> list[str]:
    """Fill in the offsets of a file; lines that cannot be filled stay as they are. Returns error lines."""
    kind, archives, errors, lines = path.parent.name, {}, [], []  # type: ignore[var-annotated]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            line = json.dumps(fill(kind, json.loads(line), archives, data), ensure_ascii=False)
        except (CannotFill, UnknownArchive, ValueError, KeyError, TypeError, IndexError) as error:
            errors.append(f"{path}:{number}: {error}")
        lines.append(line)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return errors


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.data.items", description="Fill in offsets.")
    parser.add_argument("command", choices=["fill"])
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    errors = [error for path in options.files for error in fill_file(path)]
    print(*errors, sep="\n", end="\n" if errors else "", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
