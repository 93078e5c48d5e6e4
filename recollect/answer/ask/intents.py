"""What kind of answer a question wants [0]: each kind has its own retrieval and its own prompt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recollect.answer.ask import wishes
from recollect.errors import InvalidInput
from recollect.search.query.phrasing import without_opening
from recollect.text.terms import words


class Intent(StrEnum):
    """The five kinds of questions of [0]."""

    RETRIEVAL = "RETRIEVAL"  # find a conversation
    QA = "QA"
    DECISION = "DECISION"  # why something was chosen
    CODE_LOOKUP = "CODE_LOOKUP"
    SYNTHESIS = "SYNTHESIS"  # summarise, compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an intent is served. `passages` may answer, at most `each` of one conversation; a model is given
    `material_tokens` of them and answers in at most `answer_tokens`. With a model it is searched for what an answer may
    be like (`hyde`), and by so many other `wordings` of the question.
    """

    passages: int = 8
    each: int = 8
    material_tokens: int = 5_000
    answer_tokens: int = 700
    hyde: bool = True
    wordings: int = 2


SETTINGS: dict[Intent, Settings] = {
    Intent.RETRIEVAL: Settings(passages=10, each=3, answer_tokens=500, hyde=False),
    Intent.QA: Settings(),
    Intent.DECISION: Settings(passages=10, material_tokens=6_000),
    Intent.CODE_LOOKUP: Settings(passages=6, material_tokens=8_000, answer_tokens=2_000),
    Intent.SYNTHESIS: Settings(
        passages=16, each=4, material_tokens=10_000, answer_tokens=1_500, hyde=False, wordings=4
    ),
}


def read_intent(question: str) -> Intent:
    """The kind of a question, by its words; QA where they say nothing else."""
    asked = without_opening(" ".join(question[:_LOOKED_AT].split()))
    return next((intent for intent, signs in _RULES if signs.search(asked)), Intent.QA)


def sought(question: str, intent: Intent) -> str:
    """What is looked for: of "which chat was it where we talked about the boiler" the boiler."""
    if intent is not Intent.RETRIEVAL:
        return question
    left = wishes.FIND.sub("", question).strip(" ?!.,:")
    return left if words(left) else question


def named_intent(name: str | None) -> Intent | None:
    """The intent of a name, in any case; None for none. Raises InvalidInput."""
    if name is None:
        return None
    try:
        return Intent(name.upper().replace("-", "_"))
    except ValueError:
        raise InvalidInput(f"There is no intent {name!r}.", hint=f"Use one of: {', '.join(Intent).lower()}.") from None


_LOOKED_AT = 600  # characters: what is longer was pasted

#: The first that fits; a wish for an overview is plain at the beginning of a question, and less so within it.
_RULES = (
    (Intent.SYNTHESIS, wishes.OVERVIEW),
    (Intent.RETRIEVAL, wishes.TALK),
    (Intent.CODE_LOOKUP, wishes.CODE),
    (Intent.DECISION, wishes.REASONS),
    (Intent.SYNTHESIS, wishes.DEVELOPMENT),
)
