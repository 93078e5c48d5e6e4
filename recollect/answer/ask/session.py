"""From a question to its answer: understood, searched, and answered by a model or by the best of what was said [0].

A model that fails is replaced: the answer is the extract then, with a note that says so.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from recollect.answer.ask.answer import AskAnswer, AskEvent, Step
from recollect.answer.ask.generate import Generated, generate
from recollect.answer.ask.understand import Remembered, Understood, understand, widened
from recollect.answer.chat.events import Again, AnswerWords
from recollect.answer.chat.loop import failure, usage_of
from recollect.answer.evidence import Evidence, evidence_of
from recollect.answer.extract import Draft, extract, nearest
from recollect.answer.intents import SETTINGS, Intent
from recollect.errors import ModelError
from recollect.models.language.base import LanguageModel
from recollect.models.language.talk import talking
from recollect.models.language.usage import total_cost
from recollect.search.query.request import Search
from recollect.search.several import Find
from recollect.store import Space

UNKNOWN = "Your conversations do not say."


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions about what `find` searches in a space."""

    find: Find
    space: Space
    remembered: Remembered = field(default_factory=Remembered)

    def events(
        self, search: Search, model: LanguageModel | None, intent: Intent | None = None
    ) -> Generator[AskEvent, None, None]:
        """The steps, the words of a model's answer as they come, and last the answer.

        Raises StoreError; a model that cannot talk is refused before anything is searched (ModelNotReady).
        """
        began = time.perf_counter()
        model = talking(model, "an answer") if model is not None else None
        question, quick = search.query.text, search.mode == "instant"
        understood = understand(question, model, self.remembered, intent=intent, quick=quick)
        chosen = understood.intent
        yield Step("understood", understood.told)
        evidence = evidence_of(widened(self.find, understood), self.space, search, chosen, SETTINGS[chosen])
        passages = f"{evidence.searched:,} passage{'' if evidence.searched == 1 else 's'}"
        yield Step("searched", f"{passages}, {len(evidence.passages)} may answer")
        if model is None or evidence.nothing_from is not None or not evidence.passages:
            answer = _extracted(replace(evidence, notes=(*evidence.notes, *understood.notes)))
            yield _took(_counted(answer, understood), began)
            return
        yield Step("answering", model.name)
        shown = False
        try:
            for event in generate(model, evidence, SETTINGS[chosen]):
                if isinstance(event, Generated):
                    noted = replace(evidence, notes=(*evidence.notes, *understood.notes))
                    yield _took(_counted(_generated(noted, event), understood), began)
                else:
                    shown = shown or isinstance(event, AnswerWords)
                    yield event
            return
        except ModelError as problem:
            failed = problem
        if shown:
            yield Again("The model broke off.", asks=False)
        noted = replace(evidence, notes=(*evidence.notes, failure(failed, "This answer quotes your conversations.")))
        answer = replace(_extracted(noted), usage=usage_of(failed))
        yield _took(_counted(answer, understood), began)


def _extracted(evidence: Evidence) -> AskAnswer:
    return _answer(evidence, extract(evidence)) if evidence.known else _unknown(evidence)


def _answer(evidence: Evidence, draft: Draft) -> AskAnswer:
    return AskAnswer(
        question=evidence.question,
        intent=evidence.intent,
        known=True,
        text=draft.text,
        citations=draft.citations,
        likelihood=evidence.likelihood,
        notes=evidence.notes,
    )


def _unknown(evidence: Evidence) -> AskAnswer:
    """Nothing answers: what is nearest is told, and nothing is made of it."""
    near = nearest(evidence)
    told = f"{UNKNOWN} Nearest:" if evidence.nothing_from is None else str(evidence.nothing_from)
    text = f"{told}\n{near.text}" if near.citations else told.removesuffix(" Nearest:")
    return replace(_answer(evidence, Draft(text, near.citations)), known=False)


def _generated(evidence: Evidence, made: Generated) -> AskAnswer:
    notes = list(evidence.notes)
    if made.removed:
        told = "1 citation" if made.removed == 1 else f"{made.removed} citations"
        notes.append(f"{told} of the model pointed to nothing that was retrieved: removed.")
    if not made.citations and not made.unknown:
        notes.append("The answer cites no message, so that nothing proves it.")
    if made.ended.cut:
        notes.append("The answer was cut off at the limit of its tokens.")
    draft = Draft(made.text or UNKNOWN, made.citations)
    return replace(
        _answer(evidence, draft),
        known=not made.unknown and bool(made.citations),
        model=made.ended.model,
        usage=made.ended.usage,
        cost=made.ended.cost,
        removed=made.removed,
        notes=tuple(notes),
    )


def _counted(answer: AskAnswer, understood: Understood) -> AskAnswer:
    """The answer with what understanding the question took."""
    both = ((answer.usage, answer.cost), (understood.usage, understood.cost))
    costs = [cost for usage, cost in both if usage.calls]
    return replace(answer, usage=answer.usage + understood.usage, cost=total_cost(costs) if costs else None)


def _took(answer: AskAnswer, began: float) -> AskAnswer:
    return replace(answer, took_ms=(time.perf_counter() - began) * 1000)
