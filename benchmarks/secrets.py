"""How well secrets are found: `python -m benchmarks.secrets FOLDER`.

The folder holds lines of JSON in `*.jsonl`: `text`, the `secrets` in it, `kind` ("listed": of a format that vendors
give out or in a place that tells it; "prose": a password in a sentence; "ordinary": none), `format`. A secret is found
where all of it is marked. Figures are by one core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from recollect.text.secrets import Secret, find_secrets

LISTED, PROSE, ORDINARY = "listed", "prose", "ordinary"


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The lines of all files."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.strip())


def is_found(text: str, secret: str, marks: Iterable[Secret]) -> bool:
    """Whether every occurrence of a secret is marked, by one mark or several side by side."""
    covered = bytearray(len(text))
    for mark in marks:
        covered[mark.start : mark.end] = b"\1" * (mark.end - mark.start)
    at = text.find(secret)
    while at >= 0:
        if not all(covered[at : at + len(secret)]):
            return False
        at = text.find(secret, at + 1)
    return secret in text


def measure(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """All figures."""
    find_secrets("password: warm-up-1")  # compiles the patterns
    began = time.process_time()
    marks = [find_secrets(line["text"]) for line in lines]
    took = time.process_time() - began
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    by_format: dict[str, Counter[bool]] = defaultdict(Counter)
    marked: list[tuple[str, str]] = []
    ordinary = 0
    for line, own in zip(lines, marks, strict=True):
        if line["kind"] == ORDINARY:
            ordinary += 1
            marked += [(own[0].kind, line.get("format", ""))] if own else []
            continue
        for secret in line["secrets"]:
            hit = is_found(line["text"], secret, own)
            found[line["kind"]][hit] += 1
            by_format[f"{line['kind']}: {line.get('format', '')}"][hit] += 1
    size = sum(len(line["text"].encode()) for line in lines)
    return {
        "messages": len(lines),
        "listed_found": _share(found[LISTED]),
        "listed": found[LISTED].total(),
        "ordinary_marked": len(marked) / ordinary if ordinary else None,
        "ordinary": ordinary,
        "prose_found": _share(found[PROSE]),
        "prose": found[PROSE].total(),
        "messages_a_second": len(lines) / took if took else None,
        "megabytes_a_second": size / took / 1e6 if took else None,
        "missed": {name: f"{n[False]} of {n.total()}" for name, n in sorted(by_format.items()) if n[False]},
        "marked_as": dict(Counter(kind for kind, _ in marked).most_common()),
    }


def _share(found: Counter[bool]) -> float | None:
    return found[True] / found.total() if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = measure(list(read(given.folder)))
    if given.json:
        print(json.dumps(figures, indent=1))
        return

    def percent(share: float | None) -> str:
        return "none there" if share is None else f"{share:.1%}"

    print(f"listed secrets found:      {percent(figures['listed_found'])} of {figures['listed']:,} (target: 95 %)")
    print(f"ordinary messages marked:  {percent(figures['ordinary_marked'])} of {figures['ordinary']:,} (at most 1 %)")
    print(f"passwords in prose found:  {percent(figures['prose_found'])} of {figures['prose']:,}")
    print(f"speed, one core:           {figures['messages_a_second']:,.0f} messages a second (target: 1,000), "
          f"{figures['megabytes_a_second']:.1f} MB/s")  # fmt: skip
    for name, missed in figures["missed"].items():
        print(f"  missed {missed} of {name}")
    for name, times in figures["marked_as"].items():
        print(f"  marked in ordinary messages: {name}, {times}")


if __name__ == "__main__":
    main()
