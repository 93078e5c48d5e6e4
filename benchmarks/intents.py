"""How often the rules read the intent of a question as a person does: on questions they were made on, and on others.

python -m benchmarks.intents --wrong
python -m benchmarks.intents --model anthropic:claude-haiku-5-5     reads them by that model instead, which costs
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.intervals import mean_with_bounds
from benchmarks.tables import table
from recollect.answer.intents import Intent, read_intent

QUESTIONS = Path(__file__).resolve().parent / "asked" / "intents.jsonl"

#: The rules were made on the first half; nobody looked at the other before they were done.
DEVELOPMENT, HELD_OUT = "development", "held out"


@dataclass(frozen=True, slots=True)
class Read:
    """A question, what it wants, and what the rules, or a model, say that it wants."""

    question: str
    intent: Intent
    read: Intent
    part: str

    @property
    def right(self) -> bool:
        """Whether both are the same."""
        return self.intent is self.read


def read_all(path: Path = QUESTIONS, read: Callable[[str], Intent] = read_intent) -> list[Read]:
    """Every question of the file, read by the rules unless told otherwise."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Read(r["question"], Intent(r["intent"]), read(r["question"]), r["part"]) for r in rows]


def by_model(spec: str) -> Callable[[str], Intent]:
    """What reads as `ask` has a model read; the rules, where none is named. Raises InvalidInput, ModelError."""
    from recollect.answer.ask import Remembered
    from recollect.models.language.choose import open_model

    model, remembered = open_model(spec), Remembered()
    if model is None:
        return read_intent
    return lambda question: Intent(remembered.ask(model, "intent", question).data["intent"])


def report(asked: Sequence[Read]) -> str:
    """A row an intent, the two halves beside each other."""
    rows = []
    for intent in (*Intent, None):
        cells = [intent.value if intent else "all"]
        for part in (DEVELOPMENT, HELD_OUT):
            own = [one for one in asked if one.part == part and intent in (one.intent, None)]
            told = mean_with_bounds([100.0 * one.right for one in own])
            cells += [str(len(own)), f"{told.mean:.0f} [{told.low:.0f}-{told.high:.0f}]"]
        rows.append(cells)
    return table(["intent", DEVELOPMENT, "right, %", HELD_OUT, "right, %"], rows)


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.intents", description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="the questions of the first half that are read wrong")
    parser.add_argument("--model", default="", help="the language model that reads them instead of the rules")
    options = parser.parse_args(arguments)
    asked = read_all(read=by_model(options.model))
    print(report(asked))
    if options.wrong:
        wrong = [one for one in asked if not one.right and one.part == DEVELOPMENT]
        print("\n".join(f"{one.intent.value} read as {one.read.value}: {one.question}" for one in wrong))
        mixed = Counter((one.intent.value, one.read.value) for one in asked if not one.right)
        print(", ".join(f"{a} as {b}: {n}" for (a, b), n in mixed.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
