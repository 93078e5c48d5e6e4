"""The report of a model: what it is given, its words as they come, and its citations checked (recollect.answer.ask)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache
from importlib import resources

from recollect.answer.ask.generate import Generated, generate
from recollect.answer.chat.events import Again, AnswerWords
from recollect.answer.intents import IntentSettings
from recollect.answer.research.findings import Findings
from recollect.answer.research.plan import named
from recollect.answer.research.searching import SETTINGS
from recollect.models.language.talk import TalkingModel

_MOST = 14_000  # tokens of material: more is read less well


@cache
def system() -> str:
    """What a model is told first."""
    prompts = resources.files("recollect.models.language.prompts")
    return "\n\n".join(prompts.joinpath(name).read_text("utf-8").strip() for name in ("research.md", "rules.md"))


def write(
    model: TalkingModel, question: str, findings: Findings, tokens: tuple[int, int]
) -> Generator[AnswerWords | Again | Generated, None, None]:
    """The words of the report as they come, and last the whole of it. Raises ModelError.

    `tokens` are those that the material may have, and the report.
    """
    material, answer = tokens
    settings: IntentSettings = replace(SETTINGS, material_tokens=min(material, _MOST), answer_tokens=answer)
    yield from generate(
        model,
        findings.as_evidence(question),
        settings,
        told=system(),
        before=_searches(findings),
        name="research",
    )


def _searches(findings: Findings) -> str:
    """The searches with their headings, and the numbers of what each found."""
    lines = ["SEARCHES, each with the heading of its part:"]
    passages = findings.passages
    for number, finding in enumerate(findings.of, 1):
        found = [str(passage.number) for passage in passages if number in findings.found_by(passage)]
        told = f"found {', '.join(found)}" if found else "found nothing that answers"
        lines.append(f"| {named(finding.query)} ({told})")
    return "\n".join(lines)
