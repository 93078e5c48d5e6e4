"""The deriver of facts: what messages claim, by rules or a model, proved and settled with what was claimed before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollect.derive.facts.changes import CLAIMS, MODEL, RULES, ClaimChanges, settled
from recollect.derive.facts.claim import (
    USER,
    Category,
    Claim,
    Polarity,
    canonical_attribute,
    content_of,
    entity_key,
    folded,
    from_plain,
    is_described,
    shown,
    with_ended_doses,
)
from recollect.derive.facts.instructions import heard_rules
from recollect.derive.facts.rules.draw import VERSION, draw, speaker_of
from recollect.derive.facts.rules.sentences import (
    OwnSentence,
    is_commanded,
    is_held_back,
    is_joke,
    is_said_by_another,
    own_sentences,
    taken_back,
    told_part,
)
from recollect.derive.tasks.base import Effects, ModelWork, Portion, Setting
from recollect.derive.tasks.runs import Runs, material
from recollect.models.language.base import Completion, Request
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Material
from recollect.record import Conversation, Edge, Message, Metadata, NodeId, Role
from recollect.store import Task, View
from recollect.text.quantities import quantities
from recollect.text.terms import AUXILIARIES, PRONOUNS, terms

_ENOUGH = 2  # words beside the value that make a statement, where none of them is a verb
_WORD = re.compile(r"[^\W_]+(?:(?:['’]|(?<=\d)[.,](?=\d))[^\W_]+)*")
_SPACED = re.compile(r"[A-Za-zÀ-ɏͰ-ϿЀ-ӿ0-9]")  # scripts that put blanks between words
_OF_GRAMMAR = (PRONOUNS | {word for word in AUXILIARIES if "n't" not in word and word != "cannot"}) | {"a", "an", "the"}
_DENIES = re.compile(r"\b(?:not|no|never|none|nothing|cannot|without|kein\w*|nicht|nie)\b|n['’]t\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;:.!?()\n–—]|\b(?:and|but|or|so|because|und|aber|oder)\b", re.IGNORECASE)
# Attributes that say no themselves: "I don't eat pork" states what is avoided.
_OF_DENIALS = frozenset({"avoids", "dislikes", "intolerance", "condition", "habit", "plan"})


def stated(message: Message, quote: str, attribute: str = "") -> tuple[int, int] | None:
    """Where the message states these words, whole and in its author's own voice; None where it does not."""
    words = quote.strip()
    sentences: list[OwnSentence] | None = None
    at = message.content.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        if _is_whole(message.content, at, end):
            if sentences is None:
                own = own_sentences(message.content, message.speaker, lambda label: _is_heading(label, attribute))
                sentences = list(own)
            if _is_meant(message.content, at, end, sentences):
                return at, end
        at = message.content.find(words, at + 1)
    return None


def proved(claim: Claim, message: Message) -> Claim | None:
    """The claim of a model where its message proves it, in words of the message."""
    if not claim.value:
        return claim  # the end of a dose, which follows from another claim
    place = stated(message, claim.quote, claim.attribute)
    if place is None or not proves(claim.quote, claim.value):
        return None
    if claim.polarity is Polarity.IS and _is_denied(message.content, place, claim):
        return None
    words = (claim.entity, claim.attribute, claim.value, claim.quote, claim.content)
    return replace(claim, content=worded(*words, claim.polarity))


def bears_out(message: Message, quote: str, names: Iterable[str]) -> bool:
    """Whether the message states the words, and these say something of one of the names."""
    place = stated(message, quote)
    return place is not None and not _denies(message.content, place[0]) and any(proves(quote, name) for name in names)


def proves(quote: str, value: str) -> bool:
    """Whether a quotation holds a value, and says something of it: neither a letter of it, nor the value alone."""
    if not _holds(quote, value):
        return False
    if not _SPACED.search(quote):
        return len(folded(quote)) > len(folded(value)) + 1
    of_value = set(_roots(value))
    rest = [word for word in _roots(quote) if word not in of_value]
    return len(rest) >= _ENOUGH or any(word in AUXILIARIES for word in rest) or any("'" in word for word in rest)


def is_named(entity: str, who: str, messages: Iterable[Message]) -> bool:
    """Whether somebody is the speaker, one of his own, or named in what a model was shown."""
    key = entity_key(entity)
    if key == entity_key(who):
        return True
    own = f"{entity_key(who)}'s "
    texts = [(entity_key(message.content), entity_key(message.speaker or "")) for message in messages]
    name = key.removeprefix(own)
    return any(re.search(rf"(?<!\w){re.escape(name)}", text) or key == speaker for text, speaker in texts)


def worded(entity: str, attribute: str, value: str, quote: str, content: str, polarity: Polarity) -> str:
    """What is claimed, in words of the quotation, the entity and the value; a model's words only where they are these.

    >>> worded("Heron", "temper", "shy", "is shy", "Heron is shy.", Polarity.IS)
    'Heron is shy.'
    >>> worded("Heron", "temper", "shy", "is shy", "Heron bites.", Polarity.IS)
    'Heron: is shy.'
    """
    if is_described(attribute) or set(terms(attribute)) <= set(terms(quote)):
        return content_of(entity, attribute, value, polarity)
    if polarity is Polarity.IS and _is_made_of(content, entity, value, quote):
        return content
    end = "" if quote.endswith((".", "!")) else "."
    return f"{'No longer: ' if polarity is Polarity.ENDED else ''}{shown(entity)}: {quote}{end}"


def _is_made_of(content: str, entity: str, value: str, quote: str) -> bool:
    """Whether a sentence has the words of a quotation in their order, and besides only names and grammar."""
    if bool(_DENIES.search(content)) != bool(_DENIES.search(quote)):
        return False
    left = _words(quote)
    free = {*_words(entity), *_words(value), "user", "user's"} | _OF_GRAMMAR
    for word in _words(content):
        if word in left:
            left = left[left.index(word) + 1 :]
        elif word not in free:
            return False
    return True


def _holds(quote: str, value: str) -> bool:
    """Whether a quotation has a value in whole words: "5 mg" is no part of "15 mg", of "0.5 mg" or of "-5 mg"."""
    if _WORD.search(value) and set(_roots(value)) <= set(_roots(quote)):
        return True
    words = value.lower().strip(" .,;:!?\"'")
    if not any(one.unit or one.currency for one in quantities(words)):
        words, quote = folded(value), folded(quote)
    before = r"(?<![\w.,/:+−–-])" if words[:1].isdigit() else r"(?<!\w)" if _SPACED.match(words) else ""
    behind = r"(?!\w|[.,/:]\d)" if _SPACED.match(words[-1:]) else ""
    return bool(words) and bool(re.search(f"{before}{re.escape(words)}{behind}", quote.lower()))


def _is_denied(content: str, place: tuple[int, int], claim: Claim) -> bool:
    """Whether a statement is denied before what is quoted of it, or its value within: "not allergic to nuts"."""
    start, end = place
    if _denies(content, start):
        return True
    if claim.attribute in _OF_DENIALS or not is_described(claim.attribute):
        return False
    at = content.lower().find(claim.value.lower(), start, end)
    return _denies(content[start : at if at >= 0 else end], None)


def _denies(content: str, end: int | None) -> bool:
    """Whether the clause that a text ends in says no."""
    return bool(_DENIES.search(_CLAUSES.split(content[:end])[-1]))


def _is_whole(content: str, at: int, end: int) -> bool:
    """Whether no word is cut at either end."""
    return not any(_is_within(content, edge) for edge in (at, end))


def _is_within(content: str, at: int) -> bool:
    around = content[max(0, at - 1) : at + 1]
    return len(around) == len("ab") and all(_SPACED.match(char) for char in around)


def _is_heading(label: str, attribute: str) -> bool:
    """Whether a label names what is claimed, rather than who speaks: "Allergies: nuts", "Day 3: …"."""
    words = label.split()
    return canonical_attribute(label) == attribute or any(word[0].isdigit() for word in words)


def _is_meant(content: str, at: int, end: int, sentences: Sequence[OwnSentence]) -> bool:
    covered = at
    if at < taken_back(content):
        return False
    for sentence in sentences:
        if sentence.end <= at or sentence.start >= end:
            continue
        if content[covered : max(covered, sentence.start)].strip():
            return False
        begin, stop = max(0, at - sentence.start), min(end, sentence.end) - sentence.start
        text = sentence.text
        if "¤" in text[begin:stop] or is_joke(text) or is_said_by_another(text):
            return False
        if is_held_back(text[:begin]) or is_commanded(text, begin) or stop > len(told_part(text).rstrip()) + 1:
            return False
        covered = sentence.end
    return covered > at and not content[covered:end].strip()


def _words(text: str) -> list[str]:
    return [word.replace("’", "'").lower() for word in _WORD.findall(text)]


def _roots(text: str) -> list[str]:
    """The words without their plurals, since "a peanut" is one of the peanuts; each amount in one spelling as one."""
    amounts = [one for one in quantities(text) if one.unit or one.currency]
    for one in reversed(amounts):
        text = f"{text[: one.start]} {text[one.end :]}"
    words = (word[:-1] if len(word) > len("abc") and word.endswith("s") else word for word in _words(text))
    return [*words, *(one.key for one in amounts)]


# Facts by a language model: a run of messages is asked about once, and its claims are settled like all others.

KIND = "facts"
RUNS = Runs(KIND, lambda message: speaker_of(message) is not None)

_TOLD = ("quote", "entity", "attribute", "value", "content")  # what a claim without words in any of these does not tell
_EARLIEST = 1000  # years before that are misspelt


class FactsByModel(ModelWork):
    """Claims from a run of messages with a language model."""

    kind = KIND

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask; None where the run has changed, grows on, or was asked about already."""
        run = RUNS.wanted(view, task)
        return request(KIND, material(view, run).text) if run else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The claims, settled; only those that the words of the message prove (proof.py)."""
        run = RUNS.wanted(view, task)
        if run is None:
            return Effects()
        messages = run.messages
        made_by = f"{prompt(KIND).id} {answer.model}"
        given = material(view, run)
        created = _created(view, messages[0])
        ledger = ClaimChanges()
        claims = _claims(answer.data.get("claims", ()), messages, (*run.above, *messages), given, made_by, created)
        ledger.add(with_ended_doses(claims), MODEL, run=RUNS.id(run))
        stored = view.edges([m.id for m in messages], (CLAIMS,), "in", limit=_ALL)
        ledger.keep_unchanged(edge for edge in stored if edge.name == MODEL)
        made = settled(view, ledger)
        return replace(made, put=[*made.put, RUNS.asked(run)])


def _created(view: View, message: Message) -> datetime | None:
    found = view.get(Conversation, [message.conversation_id])
    return found[0].created if found else None


def _claims(
    answers: Sequence[Mapping[str, Any]],
    messages: Sequence[Message],
    shown: Sequence[Message],
    given: Material,
    made_by: str,
    created: datetime | None,
) -> Iterator[Claim]:
    by_id = {message.id: message for message in messages}
    for said in answers:
        message = by_id.get(given.id(said["message"]) or NodeId(""))
        if message is None or not all(said[name].strip() for name in _TOLD):
            continue
        who = speaker_of(message)
        attribute = canonical_attribute(said["attribute"])
        entity, value, content = (" ".join(str(said[name]).split()) for name in ("entity", "value", "content"))
        if entity.lower() in ("user", "the user", "i", "me"):
            entity = who or USER
        place = stated(message, said["quote"], attribute)
        if place is None or (who is None and message.role is not Role.ASSISTANT):
            continue
        start, end = place
        claim = Claim(
            entity=entity,
            attribute=attribute,
            value=value,
            content=content,
            message_id=message.id,
            start=start,
            end=end,
            quote=message.content[start:end],
            said_by=who or "assistant",
            said_at=message.timestamp or created,
            order=(message.conversation_id, message.position),
            polarity=Polarity(said.get("polarity") or "is"),
            category=Category(said.get("category") or "semantic"),
            since=_day(said.get("since")),
            until=_day(said.get("until")),
            event=bool(said.get("since")) and " since " not in said["quote"],
            said_by_assistant=who is None,
            made_by=made_by,
        )
        proven = proved(claim, message) if is_named(entity, who or USER, shown) else None
        if proven is not None:
            yield proven


def _day(text: str | None) -> datetime | None:
    """An ISO date, month or year; None for anything else."""
    try:
        year, month, day, *_ = [*map(int, (text or "").split("T")[0].split("-")), 1, 1]
        return datetime(year, month, day, tzinfo=UTC) if year >= _EARLIEST else None
    except ValueError:
        return None


_ALL = 1_000_000_000
_BEFORE = 4


class Facts:
    """Facts from conversations, without a model."""

    name = "facts"
    version = VERSION

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """The claims of the messages, and the facts of every slot that they touch."""
        ledger = ClaimChanges()
        for portion in portions:
            ledger.add(claims_of(portion), RULES)
        whole = [i for p in portions if p.whole for i in (*(m.id for m in p.messages), *p.gone)]
        if whole:
            said = {i for p in portions if p.whole for i in RUNS.prefixes(p.messages)}
            stored = view.edges(whole, (CLAIMS,), "in", limit=_ALL)
            ledger.touch(edge.source_id for edge in stored)
            ledger.keep_unchanged(edge for edge in stored if edge.name == RULES)
            by_model = [edge for edge in stored if edge.name == MODEL]
            ledger.drop(edge for edge in by_model if edge.properties.get("run") not in said)
            messages = {message.id: message for portion in portions for message in portion.messages}
            for edge in by_model:
                if edge.properties.get("run") in said and edge.target_id in messages:
                    _prove_again(edge, messages[edge.target_id], ledger)
        made = settled(view, ledger)
        tasks: list[Task] = []
        states: dict[NodeId, Metadata] = {}
        for portion in portions:
            asked, states[portion.conversation.id] = RUNS.wished(view, portion, setting)
            tasks += asked
        return replace(made, tasks=tasks, states=states)


def _prove_again(edge: Edge, message: Message, ledger: ClaimChanges) -> None:
    """Keeps of what a model claimed what the message proves: an earlier version asked for less."""
    claims = [from_plain(message.id, plain) for plain in edge.properties["claims"]]
    proven = [fresh for claim in claims if (fresh := proved(claim, message)) is not None]
    if proven != claims or any(claim.slot != edge.source_id for claim in proven):
        ledger.drop([edge])
        ledger.add(proven, MODEL, run=str(edge.properties["run"]))


def claims_of(portion: Portion) -> list[Claim]:
    """The claims of the messages of a portion. A message without a time is as old as its conversation."""
    messages = [*portion.before, *portion.messages]
    created = portion.conversation.created
    claims: list[Claim] = []
    for at in range(len(portion.before), len(messages)):
        message, before = messages[at], messages[max(0, at - _BEFORE) : at]
        drawn = [*with_ended_doses(draw(message, before)), *heard_rules(message, before)]
        claims += [claim if claim.said_at else replace(claim, said_at=created) for claim in drawn]
    return claims
