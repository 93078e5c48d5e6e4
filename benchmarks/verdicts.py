"""Answers with the verdicts on them, and the file that keeps them, so that nothing is paid for twice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.judging import Verdict
from recollect.models.language.usage import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True)
class Judged:
    """A question of a set, what was answered, and the verdict. `is_cited`: an answering message is among the citations.

    `usage` and `cost` are those of the answer, `judging` and `judging_cost` those of the verdict.
    """

    data: str
    question: str
    verdict: Verdict
    reason: str
    answer: str = ""
    intent: str = ""
    is_cited: bool = False
    usage: Usage = NOTHING_USED
    cost: float | None = None
    milliseconds: float = 0.0
    judging: Usage = NOTHING_USED
    judging_cost: float | None = None

    def with_verdict(self, verdict: Verdict, reason: str, usage: Usage, cost: float | None) -> Judged:
        """The same, judged."""
        return replace(self, verdict=verdict, reason=reason, judging=usage, judging_cost=cost)


@dataclass(slots=True)
class Kept:
    """Rows in a file, those of one `run`: the model, the judge, its prompt, the mode. Without a path nothing is kept.

    What was not judged, or failed, is not kept: it is asked again.
    """

    path: Path | None
    run: Sequence[str]
    _rows: dict[tuple[str, str], Judged] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            row = _whole(line)
            if row is not None and row["run"] == list(self.run):
                one = _read(row)
                self._rows[one.data, one.question] = one

    def get(self, data: str, question: str) -> Judged | None:
        """What is kept of a question."""
        return self._rows.get((data, question))

    def add(self, row: Judged) -> None:
        """Keeps it at once."""
        if self.path is None or row.verdict in (Verdict.FAILED, Verdict.UNJUDGED):
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"run": list(self.run), **_told(row)}, ensure_ascii=False) + "\n")


def _whole(line: str) -> dict[str, Any] | None:
    """A line of the file; None for what a kill left half written."""
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return row


def _told(row: Judged) -> dict[str, Any]:
    told = {name: getattr(row, name) for name in Judged.__dataclass_fields__}
    return told | {name: _counts(told[name]) for name in ("usage", "judging")}


def _read(row: Mapping[str, Any]) -> Judged:
    given = {name: row[name] for name in Judged.__dataclass_fields__}
    usages = {name: Usage(*row[name]) for name in ("usage", "judging")}
    return Judged(**{**given, **usages, "verdict": Verdict(row["verdict"])})


def _counts(usage: Usage) -> list[int]:
    return [usage.calls, usage.input_tokens, usage.output_tokens]
