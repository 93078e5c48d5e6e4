"""The answer of a model: what it is given, its words as they come, and its citations checked."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from recollect.answer.chat.events import Again, AnswerWords
from recollect.answer.chat.loop import Ended, converse
from recollect.answer.citations import Checked
from recollect.answer.evidence import Citation, Evidence, SourcePassage
from recollect.answer.extract import best_quote
from recollect.answer.intents import Intent, IntentSettings
from recollect.models.language.talk import Said, TalkingModel
from recollect.models.language.transcript import Entry, heading, material, room_for
from recollect.text.clean import marked
from recollect.text.terms import terms

_LINE = 100  # characters of a title, a relation, what a message answers
_NUMBERED = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Generated:
    """A model's answer, checked."""

    text: str
    citations: tuple[Citation, ...]
    removed: int
    unknown: bool
    ended: Ended


@cache
def system(intent: Intent) -> str:
    """What a model is told first."""
    prompts = resources.files("recollect.models.language.prompts")
    names = ("ask", f"ask_{intent.value.lower()}", "rules")
    return "\n\n".join(prompts.joinpath(f"{name}.md").read_text("utf-8").strip() for name in names)


def generate(
    model: TalkingModel,
    evidence: Evidence,
    settings: IntentSettings,
    *,
    told: str | None = None,
    before: str = "",
    name: str = "ask",
) -> Generator[AnswerWords | Again | Generated, None, None]:
    """The words of the answer as they come, and last the whole of it. Raises ModelError and its kin.

    `told` is what the model is told first, where it is not what the intent says, `before` stands above the material,
    and `name` is what it is for in the count of what was spent.
    """
    evidence = _shown(evidence, settings)
    check = Checked([passage.number for passage in evidence.passages])
    shown: list[str] = []
    asked = [Said(role="user", text="\n\n".join(filter(None, (before, prompt(evidence, settings)))))]
    first = system(evidence.intent) if told is None else told
    for event in converse(model, first, asked, None, max_tokens=settings.answer_tokens, name=name):
        match event:
            case AnswerWords(text):
                if piece := _begun(shown, check.feed(text)):
                    shown.append(piece)
                    yield AnswerWords(piece)
            case Again():
                check, shown = Checked([passage.number for passage in evidence.passages]), []
                yield event
            case Ended():
                if piece := _begun(shown, check.end()):
                    shown.append(piece)
                    yield AnswerWords(piece)
                text = "".join(shown).strip()
                if check.open_code and event.cut:
                    yield AnswerWords(f"\n{check.open_code}")
                    text += f"\n{check.open_code}"
                elif check.open_code and (read := check.reread(text)) != text:
                    yield Again("A block of code was not closed. Here it is again, checked:", asks=False)
                    yield AnswerWords(read)
                    text = read
                yield Generated(text, _cited(evidence, text, check.cited), check.removed, check.unknown, event)


def prompt(evidence: Evidence, settings: IntentSettings) -> str:
    """The material and the question. What was said carries the mark of recall, so that no proxy stores it again."""
    evidence = _shown(evidence, settings)
    entries = [Entry(p.message.id, _heading(p), p.message.content, _place(p)) for p in evidence.passages]
    parts = ["RETRIEVED MESSAGES:", material(entries, most_tokens=settings.material_tokens).text]
    if evidence.relations:
        parts += ["WHAT IS KNOWN OF THE NAMES:", *(f"| {_line(relation)}" for relation in evidence.relations)]
    return f"{marked(chr(10).join(parts))}\n\nQUESTION:\n{evidence.question}"


def _shown(evidence: Evidence, settings: IntentSettings) -> Evidence:
    """With the passages alone that there is room for: the others are not cited, and the numbers stay what they are."""
    return replace(evidence, passages=evidence.passages[: room_for(settings.material_tokens)])


def _begun(shown: Sequence[str], piece: str) -> str:
    """The piece, without blanks where nothing was shown before it."""
    return piece if shown else piece.lstrip()


def _heading(passage: SourcePassage) -> str:
    return "document" if passage.cited else heading(passage.message)


def _place(passage: SourcePassage) -> str:
    """Where it was said, and in answer to what: words of others, which stand with what was said, not in our heading."""
    if passage.cited or passage.conversation is None:
        return passage.cited
    told = f"in {_line(passage.conversation.title)!r}" if passage.conversation.title else ""
    if passage.beside is not None and passage.beside.position < passage.message.position:
        told += f"{told and ', '}in answer to {_line(passage.beside.content)!r}"
    return told


def _line(text: str) -> str:
    return " ".join(text.split())[:_LINE]


def _cited(evidence: Evidence, text: str, numbers: Sequence[int]) -> tuple[Citation, ...]:
    """Each cited passage, numbered as in the text, with its sentence that is nearest to what stands before that."""
    by_number = {passage.number: passage for passage in evidence.passages}
    before: dict[int, str] = {}
    start = 0
    for match in _NUMBERED.finditer(text):
        number = int(match[1])
        claim = text[start : match.start()]
        before[number] = f"{before.get(number, '')} {claim}"
        if claim.strip():
            start = match.end()
    asked = evidence.question
    return tuple(
        best_quote(replace(by_number[cited], number=number), frozenset(terms(before.get(number, "").strip() or asked)))
        for number, cited in enumerate(numbers, 1)
    )
