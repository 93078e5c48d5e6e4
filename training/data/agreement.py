"""How well two readers agree, by kind.

python -m training.data.agreement sample --part P --kind K [--seed 7] > FILE     items without their labels
python -m training.data.agreement [--table]                                      what `second/*.jsonl` agree on

A second reader answers a fifth of each kind without seeing the first labels, in `training/data/second/READER.jsonl`:
questions   {"id": ..., "message": "id or null", "conversation": "id, for topics"}
statements  {"id": ..., "kind": ..., "value": "the words or null"}
followups   {"id": ..., "needed": [[turn, "words"], ...]}
names       {"id": ..., "marked": "[Ilse|person] is in [Porto|place]"}
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.archives import DATA, PARTS
from training.data.check import normalise, tokens
from training.data.items import KINDS, Fields, Item, load, unmark

SHARE = 0.2

#: Fields that the second reader sees.
SHOWN = {
    "questions": ("id", "language", "archive", "question"),
    "statements": ("id", "language", "before", "text"),
    "followups": ("id", "language", "turns", "question"),
    "names": ("id", "language", "text"),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of agreement: a share between 0 and 1 (kappa: -1 to 1), and the number of items behind it."""

    what: str
    value: float
    items: int


def sample(items: Iterable[Item], part: str, kind: str, seed: int = 7) -> list[Fields]:
    """Return a fifth of a part's items of a kind without their labels, the same for the same seed."""
    mine = sorted((item for item in items if (item.part, item.kind) == (part, kind)), key=lambda i: i.fields["id"])
    chosen = random.Random(f"{seed}-{part}-{kind}").sample(mine, round(len(mine) * SHARE)) if mine else []
    return [{name: item.fields[name] for name in SHOWN[kind]} for item in chosen]


def agreement(items: Iterable[Item], second: Iterable[Fields]) -> list[Figure]:
    """Compare the second reader's answers with the items of the same ids. Raises KeyError for an unknown id."""
    first = {item.fields["id"]: item for item in items}
    pairs: dict[str, list[tuple[Fields, Fields]]] = {kind: [] for kind in KINDS}
    for answer in second:
        item = first[answer["id"]]
        pairs[item.kind].append((item.fields, answer))
    figures: list[Figure] = []
    for kind, compare in (
        ("questions", _questions), ("statements", _statements), ("followups", _followups), ("names", _names)
    ):  # fmt: skip
        if pairs[kind]:
            figures += compare(pairs[kind])
    return figures


def _questions(pairs: Sequence[tuple[Fields, Fields]]) -> list[Figure]:
    figures = [Figure("questions: answering message", _mean(_same_message(a, b) for a, b in pairs), len(pairs))]
    for kind in sorted({a["kind"] for a, _ in pairs}):
        mine = [_same_message(a, b) for a, b in pairs if a["kind"] == kind]
        figures.append(Figure(f"questions, {kind}: answering message", _mean(mine), len(mine)))
    return figures


def _same_message(first: Fields, second: Fields) -> bool:
    if first["kind"] == "topic":
        return bool(second.get("conversation") == first["conversation"])
    if first["kind"] == "none":
        return not second.get("message")
    answering = first["old"] if first.get("asks") == "before" else first
    return second.get("message") in (answering["message"], *first.get("also", []))


def _statements(pairs: Sequence[tuple[Fields, Fields]]) -> list[Figure]:
    both = [(a, b) for a, b in pairs if a["kind"] != "none" and b.get("kind") == a["kind"]]
    return [
        Figure("statements: kind", _mean(a["kind"] == b.get("kind") for a, b in pairs), len(pairs)),
        Figure("statements: kind, kappa", kappa([(a["kind"], str(b.get("kind"))) for a, b in pairs]), len(pairs)),
        Figure("statements: value, token F1", _mean(_word_f1(_words(a), _words(b)) for a, b in both), len(both)),
    ]


def _words(fields: Fields) -> Counter[str]:
    value = fields.get("value")
    words = value[2] if isinstance(value, list) else value or ""
    return Counter(tokens(normalise(words)))


def _followups(pairs: Sequence[tuple[Fields, Fields]]) -> list[Figure]:
    either = [(a, b) for a, b in pairs if a["needed"] or b.get("needed")]
    return [
        Figure("followups: none needed", _mean(bool(a["needed"]) == bool(b.get("needed")) for a, b in pairs),
               len(pairs)),
        Figure("followups: words, token F1", _mean(_word_f1(_needed(a), _needed(b)) for a, b in either), len(either)),
    ]  # fmt: skip


def _needed(fields: Fields) -> Counter[str]:
    return Counter(
        f"{entry[0]} {word}" for entry in fields.get("needed") or [] for word in tokens(normalise(entry[-1]))
    )


def _names(pairs: Sequence[tuple[Fields, Fields]]) -> list[Figure]:
    shared = here = there = 0
    for a, b in pairs:
        spans = b["spans"] if "spans" in b else unmark(b["marked"])[1]
        one, other = ({tuple(span[:3]) for span in side} for side in (a["spans"], spans))
        shared, here, there = shared + len(one & other), here + len(one), there + len(other)
    value = 2 * shared / (here + there) if here + there else 1.0
    return [Figure("names: strict F1", value, len(pairs))]


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa: agreement beyond chance.

    >>> kappa([("a", "a"), ("b", "b"), ("a", "b"), ("b", "a")])
    0.0
    """
    if not pairs:
        return 0.0
    observed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def _word_f1(one: Counter[str], other: Counter[str]) -> float:
    shared = sum((one & other).values())
    return 2 * shared / (sum(one.values()) + sum(other.values())) if one or other else 1.0


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def read_second(folder: Path) -> list[Fields]:
    """Read all answers of second readers."""
    paths = sorted(folder.glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.data.agreement", description="Agreement of two readers.")
    parser.add_argument("--table", action="store_true", help="print a Markdown table for README.md")
    parser.add_argument("--data", type=Path, default=DATA, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command")
    draw = commands.add_parser("sample", help="items without labels for a second reader")
    draw.add_argument("--part", choices=PARTS, required=True)
    draw.add_argument("--kind", choices=KINDS, required=True)
    draw.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    items, errors = load(options.data)
    if errors:
        print(*errors, sep="\n", file=sys.stderr)
        return 1
    if options.command == "sample":
        for fields in sample(items, options.part, options.kind, options.seed):
            print(json.dumps(fields, ensure_ascii=False))
        return 0
    try:
        figures = agreement(items, read_second(options.data / "second"))
    except KeyError as error:
        print(f"second/: no item has the id {error}; was it deleted?", file=sys.stderr)
        return 1
    if options.table:
        print("| | agreement | items |", "|---|--:|--:|", sep="\n")
    for figure in figures:
        line = (figure.what, f"{figure.value:.2f}", str(figure.items))
        print("| " + " | ".join(line) + " |" if options.table else "  ".join(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
