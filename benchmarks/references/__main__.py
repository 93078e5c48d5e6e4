"""Measures reference resolution: what needs no change must stay as it is, and what is resolved must be right.

The rules were tuned on `tuning.jsonl` alone. Half of each set has nothing to resolve.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from recollect.answer.references.candidates import TurnText
from recollect.answer.references.rules import resolve_by_rules

FOLDER = Path(__file__).parent
SETS = ("tuning", "held_out")
_BEHIND = 12  # messages before a question


@dataclass(frozen=True)
class Dialogue:
    """A question after some messages. `whole` is the question made whole, None where nothing is to be resolved; `must`
    are the words that it cannot be right without.
    """

    id: str
    lines: list[TurnText]
    question: str
    whole: str | None
    must: list[str]

    def is_right(self, text: str) -> bool:
        """Whether it names what is meant, and hardly anything else: no answer that merely repeats all that was said."""
        if self.whole is None:
            return text == self.question
        near = len(text) <= 1.6 * len(self.whole) + 20
        return near and all(word.lower() in text.lower() for word in self.must)


@dataclass
class Score:
    """Counts of a set."""

    left: int = 0  # rightly as they were
    disturbed: list[tuple[Dialogue, str]] = field(default_factory=list)
    right: int = 0
    exact: int = 0
    wrong: list[tuple[Dialogue, str]] = field(default_factory=list)
    missed: list[Dialogue] = field(default_factory=list)

    @property
    def unneeded(self) -> int:
        """Dialogues with nothing to resolve."""
        return self.left + len(self.disturbed)

    @property
    def needed(self) -> int:
        """Dialogues with something to resolve."""
        return self.right + len(self.wrong) + len(self.missed)

    @property
    def changed(self) -> int:
        """Questions that were changed."""
        return self.right + len(self.wrong) + len(self.disturbed)


def dialogues(name: str) -> list[Dialogue]:
    """A set, one of SETS."""
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [
        Dialogue(
            row["id"],
            [TurnText(role == "user", text) for role, text in row["said"]],
            row["question"],
            row["whole"],
            row["must"],
        )
        for row in rows
    ]


def measure(found: list[Dialogue], resolved: Callable[[str, list[TurnText]], str]) -> Score:
    """How a way of resolving does on a set."""
    score = Score()
    for dialogue in found:
        text = resolved(dialogue.question, dialogue.lines)
        right = dialogue.is_right(text)
        if dialogue.whole is None:
            if right:
                score.left += 1
            else:
                score.disturbed.append((dialogue, text))
        elif text == dialogue.question:
            score.missed.append(dialogue)
        elif right:
            score.right += 1
            score.exact += text == dialogue.whole
        else:
            score.wrong.append((dialogue, text))
    return score


def main() -> None:
    """Prints the table, and with --show what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", nargs="*", type=Path, default=[], help="conversation sets whose questions are whole")
    parser.add_argument("--show", choices=SETS, help="print what went wrong in this set")
    asked = parser.parse_args()
    print("| set | nothing to resolve: left alone | to resolve: right | to the word | wrong | missed | right changes |")
    print("|---|---|---|---|---|---|---|")
    for name in SETS:
        score = measure(dialogues(name), lambda question, lines: resolve_by_rules(question, lines).text)
        share = f"{score.right / score.changed:.0%}" if score.changed else "-"
        print(
            f"| {name} | {score.left} of {score.unneeded} | {score.right} of {score.needed} | {score.exact} | "
            f"{len(score.wrong)} | {len(score.missed)} | {share} |"
        )
        if name == asked.show:
            for dialogue, text in score.disturbed + score.wrong:
                print(f"  {dialogue.id} {dialogue.question!r} -> {text!r}")
            for dialogue in score.missed:
                print(f"  {dialogue.id} {dialogue.question!r} missed, {dialogue.whole!r}")
    for path in asked.whole:
        questions, changed = disturbed(path)
        print(f"{path.stem}: {changed} of {questions} questions that are whole were changed")


def disturbed(path: Path) -> tuple[int, int]:
    """How many questions of a conversation set there are, and how many are changed behind messages that have nothing
    to do with them. They are whole: none should be.
    """
    chance, asked, changed = random.Random(3), 0, 0
    for conversation in json.loads(path.read_text("utf-8"))["conversations"]:
        lines = [TurnText(message.get("role") == "user", message["content"]) for message in conversation["messages"]]
        for question in conversation["questions"]:
            at = chance.randrange(_BEHIND, len(lines))
            asked += 1
            changed += resolve_by_rules(question["question"], lines[at - _BEHIND : at]).changed
    return asked, changed


if __name__ == "__main__":
    main()
