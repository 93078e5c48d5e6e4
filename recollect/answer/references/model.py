"""References resolved by a language model, and its answer held to what was said: it may put names in, not words of its own.

It is asked only where a question may refer to something at all. Where it fails, or makes something up, the rules decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.answer.references.candidates import TurnText
from recollect.answer.references.rules import Neighbours, Reference, Resolution, may_refer
from recollect.answer.references.rules import resolve as by_rules
from recollect.errors import ModelError
from recollect.models.language.base import LanguageModel
from recollect.models.language.prompts import request
from recollect.models.language.transcript import Entry, material
from recollect.record import NodeId
from recollect.text.terms import STOP_WORDS

_READ = 1_200  # characters of a message
_MOST_TOKENS = 2_500
_LONGER = 200  # characters, beside twice the question
_WORD = re.compile(r"[^\W_]+")
_REFERS = frozenset(
    "it its he him his she her hers they them their theirs there this that these those one ones what how about and so".split()
)
_STEM = 4  # letters by which a word is known again: "scales" is "scale"


def resolve(
    question: str, lines: Sequence[TurnText], model: LanguageModel | None, neighbours: Neighbours | None = None
) -> Resolution:
    """The question made whole, by the model where there is one and it is worth asking, else by rules."""
    if model is not None and lines and may_refer(question):
        try:
            answer = model.complete(request("references", _text(question, lines)))
        except ModelError:
            return by_rules(question, lines, neighbours)
        whole = " ".join(str(answer.data["whole"]).split())
        if whole == " ".join(question.split()):
            return Resolution(question, question)
        if _is_faithful(whole, question, lines):
            said = tuple(Reference(one["said"], one["meant"]) for one in answer.data["references"])
            return Resolution(question, whole, said, answer.model)
    return by_rules(question, lines, neighbours)


def _text(question: str, lines: Sequence[TurnText]) -> str:
    entries = [
        Entry(NodeId(str(number)), "user" if line.is_user else "assistant", line.text[:_READ])
        for number, line in enumerate(lines)
    ]
    entries.append(Entry(NodeId("question"), "user, the question", question))
    return material(entries, most_tokens=_MOST_TOKENS).text


def _is_faithful(whole: str, question: str, lines: Sequence[TurnText]) -> bool:
    """Whether nothing of the question is lost, and nothing new but what was said before."""
    if len(whole) > 2 * len(question) + _LONGER:
        return False
    asked, told = _words(question), _words(whole)
    heard = asked.union(*(_words(line.text) for line in lines))
    return asked - _REFERS <= told and told - heard <= STOP_WORDS


def _words(text: str) -> set[str]:
    """Words by their beginnings; small words as they are."""
    return {word if word in STOP_WORDS | _REFERS else word[:_STEM] for word in map(str.lower, _WORD.findall(text))}
