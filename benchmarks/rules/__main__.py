"""How well rules are heard without a model: `python -m benchmarks.rules`.

Two sets of messages, each with whether it tells a rule that is to last; written by somebody who had not seen the code.
The detector was tuned on the first alone; the second was measured when that was done.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

from recollect.derive.facts.instructions import heard_rules
from recollect.record import Message, NodeId, Role


@dataclass(frozen=True, slots=True)
class Score:
    """What was offered of a set: rightly, wrongly, and what was not."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of what is offered that is a rule."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of the rules that is offered."""
        return self.right / max(1, self.right + self.missed)


def sentences(name: str) -> list[dict[str, Any]]:
    """The messages of a set: text, role, rule."""
    told: list[dict[str, Any]] = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))[
        "sentences"
    ]
    return told


def is_offered(sentence: dict[str, Any]) -> bool:
    """Whether a rule is heard in it."""
    return bool(heard_rules(Message(NodeId("m"), NodeId("c"), Role(sentence["role"]), sentence["text"])))


def score(name: str) -> Score:
    """The score of a set."""
    found = [(is_offered(one), one["rule"]) for one in sentences(name)]
    return Score(found.count((True, True)), found.count((True, False)), found.count((False, True)))


def main() -> None:
    """Prints a line for each set."""
    print("| messages | precision | recall | rightly offered | wrongly | missed |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, label in (("seen", "seen"), ("kept", "kept apart")):
        own = score(name)
        print(
            f"| {label} | {own.precision:.1%} | {own.recall:.1%} | {own.right} | {own.wrong} | {own.missed} |".replace(
                "%", " %"
            )
        )


if __name__ == "__main__":
    main()
