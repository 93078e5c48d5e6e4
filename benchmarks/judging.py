"""A judge of answers: a model that says whether an answer states what the known one does.

What it is told is prompts/judge.toml. Whoever changes that file raises its version, which is printed with the figures.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from recollect.models.language.base import LanguageModel, Prompt, Request
from recollect.models.language.transcript import Entry, material
from recollect.models.language.usage import Usage
from recollect.record import NodeId

FILE = Path(__file__).resolve().parent / "prompts" / "judge.toml"
_MOST_TOKENS = 4_000  # of question and answers


class Verdict(StrEnum):
    """What becomes of a question. The last two are not said by a judge: no answer came, or no verdict on it."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"
    SILENT = "silent"
    FAILED = "failed"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason, and what the judge took for it."""

    verdict: Verdict
    reason: str
    usage: Usage
    cost: float | None


def judge(model: LanguageModel, question: str, known: str, answer: str) -> Judgement:
    """What a model says of an answer, the known one beside it. Raises ModelError."""
    said = model.complete(request(question, known, answer))
    usage = Usage(said.calls, said.input_tokens, said.output_tokens)
    return Judgement(Verdict(said.data["verdict"]), said.data["reason"], usage, said.cost)


def request(question: str, known: str, answer: str) -> Request:
    """The call; all three are data, behind bars."""
    told = (("the QUESTION", question), ("the KNOWN ANSWER", known), ("the ANSWER TO JUDGE", answer))
    entries = [Entry(NodeId(heading), heading, text) for heading, text in told]
    text = material(entries, most_tokens=_MOST_TOKENS).text
    return Request(prompt=prompt(), text=text, max_tokens=_file()["max_tokens"])


@cache
def prompt() -> Prompt:
    """What the judge is told."""
    found = _file()
    return Prompt(
        name="judge",
        version=found["version"],
        system=found["system"].strip(),
        schema=json.loads(found["schema"]),
        example=json.loads(found["example"]),
    )


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
