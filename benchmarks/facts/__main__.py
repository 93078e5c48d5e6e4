"""`python -m benchmarks.facts`: precision and recall of the rules on the hand-made sentences, with intervals."""

from __future__ import annotations

import argparse
import math

from benchmarks.facts.sentences import PARTS, Judged, examples, judged
from recollect.derive.facts.rules.draw import draw


def run(part: str) -> list[Judged]:
    """Every example of a part, judged."""
    return [judged(example, draw(example.message, example.before)) for example in examples(part)]


def interval(hits: int, of: int) -> tuple[float, float]:
    """Wilson's interval at 95%."""
    if not of:
        return 0.0, 1.0
    z, p = 1.96, hits / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return middle - half, middle + half


def figures(results: list[Judged]) -> dict[str, int]:
    """Counts: right, wrong, missed, sentences, and those of which nothing must be drawn that are quiet."""
    quiet = [r for r in results if not r.example.must]
    return {
        "right": sum(len(r.right) for r in results),
        "wrong": sum(len(r.wrong) for r in results),
        "missed": sum(len(r.missed) for r in results),
        "sentences": len(results),
        "traps": len(quiet),
        "held": sum(not r.wrong for r in quiet),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", choices=PARTS, help="print each mistake of this part")
    shown = parser.parse_args().show
    print("| part | sentences | precision | recall | traps passed |\n|---|---|---|---|---|")
    for part in PARTS:
        results = run(part)
        n = figures(results)
        drawn, wanted = n["right"] + n["wrong"], n["right"] + n["missed"]
        print(
            f"| {part} | {n['sentences']} | {_share(n['right'], drawn)} | {_share(n['right'], wanted)} "
            f"| {n['held']} of {n['traps']} |"
        )
        if part == shown:
            for result in results:
                _mistakes(result)


def _mistakes(result: Judged) -> None:
    words = result.example.message.content
    for claim in result.wrong:
        print(f"  wrong   {words!r}: {claim.entity}|{claim.attribute}|{claim.value}|{claim.polarity}")
    for wanted in result.missed:
        print(f"  missed  {words!r}: {wanted.entity}|{wanted.attribute}|{wanted.value}")


def _share(hits: int, of: int) -> str:
    low, high = interval(hits, of)
    return f"{hits / max(of, 1):.3f} ({low:.3f} to {high:.3f}), {hits} of {of}"


if __name__ == "__main__":
    main()
