"""References resolved without a model. What is not certain enough stays as it was: a wrong name is worse than a pronoun.

Each expression is put to what was spoken of, the most salient first [2]; the type must fit, and the best must be well
ahead of the next. Where it is not, neighbours in the graph of entities decide: beside "iPhone" Apple is the company.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recollect.answer.references.anaphora import Anaphor, Wants, anaphora, completed
from recollect.answer.references.candidates import Referent, TurnText, candidates
from recollect.derive.entities.message import found_in
from recollect.errors import ModelError
from recollect.models.language.base import LanguageModel
from recollect.models.language.prompts import request
from recollect.models.language.transcript import TranscriptEntry, material
from recollect.record import NodeId
from recollect.text.language import is_english
from recollect.text.terms import STOP_WORDS, words

#: How far the best candidate must be ahead of the next.
MARGIN = 1.15
#: How many messages back an expression may reach.
REACH = 4

#: How near names are to others in the graph: the others' names in, a weight for each of the first out.
Neighbours = Callable[[Sequence[str], Sequence[str]], Sequence[float]]

_ONE_FOR_MANY = {"do": "does", "are": "is", "were": "was", "have": "has", "don't": "doesn't", "aren't": "isn't"}


@dataclass(frozen=True, slots=True)
class Reference:
    """An expression of a question and what it stands for."""

    said: str
    meant: str
    is_entity: bool = True


@dataclass(frozen=True, slots=True)
class Resolution:
    """A question made whole, or as it was. `by` says who did it: rules, or a model; empty where nothing was done."""

    question: str
    text: str
    references: tuple[Reference, ...] = field(default=())
    by: str = ""

    @property
    def changed(self) -> bool:
        """Whether it says more than it did."""
        return self.text != self.question


def resolve_by_rules(question: str, lines: Sequence[TurnText], neighbours: Neighbours | None = None) -> Resolution:
    """The question with what its references stand for, by what was said before it; else as it was."""
    as_it_was = Resolution(question, question)
    if not lines or not _reads_english(question, lines):
        return as_it_was
    expressions = anaphora(question)
    if not expressions:
        found = completed(question, lines)
        if found is None:
            return as_it_was
        return Resolution(question, found.text, (Reference(found.said, found.meant, is_entity=False),), "rules")
    known = candidates(lines)
    said: dict[tuple[Wants, frozenset[str]], Referent | None] = {}
    places: list[tuple[Anaphor, Referent]] = []
    for one in expressions:
        key = (one.wants, one.types)
        if key not in said:
            said[key] = _meant(one, known, question, neighbours)
        if (meant := said[key]) is not None:
            places.append((one, meant))
    if not places:
        return as_it_was
    text = question
    for one, meant in reversed(places):
        text = _put(text, one, meant)
    references = tuple(Reference(question[a.start : a.end], c.name, c.is_named) for a, c in places)
    return Resolution(question, text, references, "rules")


def may_refer(question: str) -> bool:
    """Whether a question may stand for more than it says: what a model is asked about. Cheap, and rather too often.

    >>> may_refer("What about Europe?"), may_refer("What is the capital of Portugal?")
    (True, False)
    """
    if len(question) > 600:
        return False
    if _MAY.search(question):
        return True
    told = [word for word in words(question) if word not in STOP_WORDS]
    return len(told) < 2 or (len(question.split()) <= 4 and not _ASKS.match(question)) or not is_english(question)


_MAY = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|there|this|that|these|those|one|ones|former|latter|same|"
    r"other|others|both|either|another|so)\b|^\W*(?:and|but|or|what about|how about|then|also|why|when|where|how)\b"
    r"(?=.{0,40}$)|\bthe (?:first|second|third|last|next|previous|company|project|city|place|book|app|tool|team)\b",
    re.IGNORECASE,
)


_ASKS = re.compile(
    r"(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|will|should|has|have)\b", re.IGNORECASE
)


def _reads_english(question: str, lines: Sequence[TurnText]) -> bool:
    return is_english(question) or is_english(" ".join([question, *(line.text[:200] for line in lines[-2:])]))


def _meant(one: Anaphor, known: Sequence[Referent], question: str, neighbours: Neighbours | None) -> Referent | None:
    """The candidate that an expression stands for, where one is well ahead of the others."""
    named = {mention.name for mention in found_in(question)}
    fitting = [c for c in known if c.last < REACH and c.name not in named and _fits(one, c)]
    if one.wants is Wants.THING and any(c.is_named for c in fitting):
        fitting = [c for c in fitting if c.is_named]
        things = [c for c in fitting if c.type not in ("place", "event")]
        fitting = things or fitting
    if one.wants in (Wants.HE, Wants.SHE) and any(c.type == "person" and c.is_named for c in fitting):
        fitting = [c for c in fitting if c.type == "person" or not c.is_named or c.man or c.woman]
    if not fitting:
        return None
    best, *others = fitting
    if one.wants is Wants.THING and any(_may_be(c) and best.score < c.score for c in known):
        return None
    if not others or best.score >= MARGIN * others[0].score:
        return best
    if neighbours is not None and len(named) > 0:
        close = [c for c in fitting if c.score * MARGIN > best.score]
        weights = neighbours([c.name for c in close], sorted(named))
        ranked = sorted(zip(weights, close, strict=True), key=lambda pair: -pair[0])
        if ranked[0][0] > 0 and ranked[0][0] > 2 * ranked[1][0]:
            return ranked[0][1]
    return None


def _may_be(candidate: Referent) -> bool:
    """Whether it may be a thing as well as a person: nothing tells but that it is written like a full name."""
    return candidate.last < REACH and candidate.type == "concept" and candidate.is_named and candidate.is_person


def _fits(one: Anaphor, candidate: Referent) -> bool:
    """Whether an expression can stand for a candidate."""
    match one.wants:
        case Wants.HE:
            return (candidate.is_person or candidate.type == "animal") and not candidate.woman and not candidate.plural
        case Wants.SHE:
            return (candidate.is_person or candidate.type == "animal") and not candidate.man and not candidate.plural
        case Wants.THING:
            return candidate.type not in ("person", "people") and not candidate.plural and not candidate.is_person
        case Wants.GROUP:
            if candidate.type in ("people", "organisation"):
                return True
            return candidate.plural
        case Wants.PLACE:
            return candidate.type == "place"
        case Wants.TYPED:
            if candidate.type in one.types:
                return True
            vague = candidate.type == "concept" and candidate.is_named and len(candidate.lines) > 1
            return vague and bool(one.types & {"work", "organisation", "substance"})


def _put(text: str, one: Anaphor, meant: Referent) -> str:
    """The question with a name in the place of an expression."""
    name = meant.name
    before, after = text[: one.start], text[one.end :]
    if one.wants is Wants.PLACE:
        return f"{before}{'' if re.search(r'(?:in|to|from|near|at) $', before) else 'in '}{name}{after}"
    if meant.plural and meant.is_named and meant.type != "people":
        name = f"the {name}"
    if one.wants is Wants.GROUP and meant.type == "organisation" and not one.possessive:
        before = re.sub(r"\b(do|are|were|have|don't|aren't) $", lambda m: f"{_one(m[1])} ", before, flags=re.IGNORECASE)
    if one.possessive:
        name = f"{name}'" if meant.plural and name.endswith("s") else f"{name}'s"
    if not before.strip():
        name = name[0].upper() + name[1:]
    return f"{before}{name}{after}"


def _one(verb: str) -> str:
    """The verb for one, where "they" was a company: "do they" becomes "does Acme"."""
    single = _ONE_FOR_MANY[verb.lower()]
    return single.capitalize() if verb[0].isupper() else single


# References resolved by a language model, and its answer held to what was said: it may put names in, not words of
# its own.

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
            return resolve_by_rules(question, lines, neighbours)
        whole = " ".join(str(answer.data["whole"]).split())
        if whole == " ".join(question.split()):
            return Resolution(question, question)
        if _is_faithful(whole, question, lines):
            said = tuple(Reference(one["said"], one["meant"]) for one in answer.data["references"])
            return Resolution(question, whole, said, answer.model)
    return resolve_by_rules(question, lines, neighbours)


def _text(question: str, lines: Sequence[TurnText]) -> str:
    entries = [
        TranscriptEntry(NodeId(str(number)), "user" if line.is_user else "assistant", line.text[:_READ])
        for number, line in enumerate(lines)
    ]
    entries.append(TranscriptEntry(NodeId("question"), "user, the question", question))
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
