"""A claim: what one place of a message says of something, or a program stored of it. Facts are settled from claims
(settle.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from recollect.derive.entities.naming import ABOUT, YOU, about_id, entity_id
from recollect.record import Edge, Node, NodeId, from_microseconds, stable_id, to_microseconds
from recollect.text.terms import fold

if TYPE_CHECKING:
    from recollect.derive.facts.structured import Structured


#: Who the user is in facts: the one who talks with assistants, where no name is given.
USER = "user"
#: What does harm where it is forgotten, whoever it is about: health, and whom to call; and the doses of medicines.
VITAL = frozenset({"allergy", "intolerance", "avoids", "condition", "diet", "medication", "emergency contact"})
DOSE = "dose"


class Polarity(StrEnum):
    """What a claim does to its fact."""

    IS = "is"
    ENDED = "ended"  # "no longer", "stopped", "sold", "used to"


class Provenance(StrEnum):
    """Where a claim comes from."""

    SAID = "said"  # in a message
    STORED = "stored"  # by a program, as a fact
    IMPORTED = "imported"  # as a fact of another memory
    BY_HAND = "by hand"


class Category(StrEnum):
    """The categories of seed 3, and that of rules: what the user wants of every answer (instructions.py)."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    PROSPECTIVE = "prospective"
    WORKING = "working"
    RULE = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim with its proof: `quote` is `content[start:end]` of the message, word for word. `message_id` is the
    message, or the record of what was stored.

    `since` and `until` are told ("in May"), None where they are not; of what has ended, `until` is when. What holds
    since a time holds when that is said; an `event` ("moved in May") is known to hold when it happened alone. `before`
    is the value that came right after this one, `corrects` one that was a mistake and never held. `order` sorts what
    was said at the same time; `turn` is the place that a program gives it among others, 0 for none.

    `settles_in` is the slot, where it does not follow from attribute and value; `is_one` says that there is one value
    of it at a time. `edited` is the identity that it had before a person corrected it.
    """

    entity: str
    attribute: str
    value: str
    content: str
    message_id: NodeId
    start: int
    end: int
    quote: str
    said_by: str
    said_at: datetime | None = None
    order: tuple[str, int] = ("", 0)  # the conversation's id, the position in it
    polarity: Polarity = Polarity.IS
    category: Category = Category.SEMANTIC
    since: datetime | None = None
    until: datetime | None = None
    said_by_assistant: bool = False
    made_by: str = ""
    provenance: Provenance = Provenance.SAID
    event: bool = False
    before: str = ""
    corrects: str = ""
    turn: float = 0.0
    settles_in: str = ""
    is_one: bool = False
    edited: str = ""

    @property
    def entity_key(self) -> str:
        """What facts about the entity are looked up by."""
        return entity_key(self.entity)

    @property
    def slot(self) -> NodeId:
        """What is settled together: an attribute that has one value at a time, or else one of its values."""
        return NodeId(self.settles_in) if self.settles_in else slot_of(self.entity, self.attribute, self.value)

    @property
    def identity(self) -> str:
        """What makes it the same claim as another of its slot, without its words: its value, or else what it says."""
        if not self.value and (self.polarity is Polarity.IS or self.settles_in):
            return identity_of(self.attribute, self.content)
        return identity_of(self.attribute, self.value)

    @property
    def structured(self) -> Structured | None:
        """The value in figures: a dose, a test result, a sum, an amount, a date; None where it is words."""
        from recollect.derive.facts.structured import structured

        return structured(self.attribute, self.value)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """The order in which claims were made, the same wherever they come from."""
        said = _LONG_AGO if self.said_at is None else to_microseconds(self.said_at)
        place = (said, *self.order, self.turn, self.start, self.quote.find(self.value), self.message_id)
        told = (_LONG_AGO if moment is None else to_microseconds(moment) for moment in (self.since, self.until))
        what = (self.attribute, self.identity, self.polarity.value, *told, self.event, self.before, self.corrects)
        return (*place, *what, self.content, self.said_by_assistant, self.made_by)


def dated(claim: Claim) -> Claim:
    """The claim; a plan is made until its day, be it told as the day from which it holds."""
    if claim.attribute not in _PLANS or claim.since is None or claim.until is not None:
        return claim
    return replace(claim, since=None, until=claim.since + timedelta(days=1))


def entity_key(name: str) -> str:
    """The name of an entity, folded.

    >>> entity_key("Luna "), entity_key("User's Dog")
    ('luna', "user's dog")
    """
    return " ".join(name.lower().split())


def is_vital(attribute: str) -> bool:
    """Whether it does harm where it is forgotten, whoever it is about.

    >>> is_vital("allergy"), is_vital("dose of enalapril"), is_vital("home")
    (True, True, False)
    """
    return attribute in VITAL or attribute.startswith(f"{DOSE} of ")


def with_ended_doses(claims: Iterable[Claim]) -> Iterator[Claim]:
    """The claims, and for each medicine that is stopped that its dose has ended, whatever it was."""
    for claim in claims:
        yield claim
        if claim.attribute == "medication" and claim.polarity is Polarity.ENDED:
            told = claim.structured
            yield replace(claim, attribute=f"{DOSE} of {told.of if told and told.of else claim.value}", value="")


def slot_of(entity: str, attribute: str, value: str) -> NodeId:
    """The id of what is settled together, whatever the case of the attribute. It holds no words."""
    return _slot(entity, attribute_key(attribute), attribute, _plain(value))


def identity_of(attribute: str, value: str) -> str:
    """A digest of a value: equal for spellings that differ in case, accents, articles, number and units alone.

    >>> identity_of("weight", "0.5 kg") == identity_of("weight", "500 g")
    True
    """
    return str(stable_id("value", attribute_key(attribute), _plain(value)))


def slot_before(entity: str, attribute: str, value: str) -> NodeId:
    """The slot up to version 0.2.0, by which decisions of that time are found: amounts were told by their spelling."""
    return _slot(entity, attribute, attribute, _singular(folded(value)))


def identity_before(attribute: str, value: str) -> str:
    """The digest up to version 0.2.0."""
    return str(stable_id("value", attribute, _singular(folded(value))))


def attribute_key(attribute: str) -> str:
    """What attributes are compared by: the dose of Enalapril is that of enalapril."""
    return " ".join(attribute.lower().split())


def _slot(entity: str, key: str, attribute: str, value: str) -> NodeId:
    if attribute in _STANCES:
        return stable_id("slot", entity_key(entity), "taste", value)
    if is_single(attribute) or attribute in _FEW:
        return stable_id("slot", entity_key(entity), key)
    return stable_id("slot", entity_key(entity), key, value)


def _plain(value: str) -> str:
    """A value as it is compared, with amounts in one spelling."""
    if any(map(str.isdigit, value)):
        from recollect.text.quantities import in_one_spelling

        value = in_one_spelling(value)
    return _singular(folded(value))


def canonical_attribute(name: str) -> str:
    """One name for what models call differently.

    >>> canonical_attribute("Occupation"), canonical_attribute("favorite color")
    ('job', 'favourite colour')
    """
    plain = " ".join(name.lower().replace("_", " ").split())
    plain = plain.replace("favorite", "favourite").replace("color", "colour").removesuffix(" name")
    return _SAME.get(plain, plain)


def _singular(value: str) -> str:
    """Peanuts are the same allergy as peanut."""
    return value[:-1] if len(value) > 3 and value.endswith("s") and not value.endswith(("ss", "us", "is")) else value


def folded(value: str) -> str:
    """The value without case, accents, and an article before it."""
    words = fold(value).replace("’", "'").strip(" .,;:!?\"'").split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words)


def is_single(attribute: str) -> bool:
    """Whether something has one value of this attribute at a time: a new one closes the old one's validity."""
    return attribute in _SINGLE or attribute.startswith(_SINGLE_BEGINNINGS)


def is_described(attribute: str) -> bool:
    """Whether it is one of the attributes that facts usually have, rather than a model's own word."""
    known = VITAL | _STANCES | _SINGLE | _FEW | frozenset(_SAME.values())
    return attribute in known or attribute.startswith(_SINGLE_BEGINNINGS)


_LONG_AGO = -(1 << 62)  # before all times, in microseconds
_ARTICLES = frozenset({"a", "an", "the", "my", "our"})
_STANCES = frozenset({"likes", "dislikes"})
_PLANS = ("plan", "appointment")
_SINGLE = frozenset(
    """home|job|employer|age|birthday|birth year|name|diet|from|wife|husband|spouse|partner|girlfriend|boyfriend|fiancé
    |fiancée|mother|father|mom|mum|dad|blood type|weight|height|marital status|phone number|email|anniversary|status
    |location|address|deadline|budget|price|owner|salary|rent""".replace("\n    ", "").split("|")
)
_SAME = {
    "": "name",
    **dict.fromkeys(("residence", "lives in", "city", "place of residence", "home city", "current city"), "home"),
    **dict.fromkeys(("occupation", "profession", "job title", "role", "position", "work"), "job"),
    **dict.fromkeys(("company", "workplace", "works at", "works for"), "employer"),
    **dict.fromkeys(("allergies", "allergic to"), "allergy"),
    **dict.fromkeys(("date of birth", "birth date", "birthdate"), "birthday"),
    **dict.fromkeys(("like", "hobby", "hobbies", "interest", "interests", "enjoys"), "likes"),
    **dict.fromkeys(("dislike", "hates"), "dislikes"),
    **dict.fromkeys(("medical condition", "diagnosis", "health condition", "illness"), "condition"),
    **dict.fromkeys(("possession", "has", "vehicle", "car"), "owns"),
    **dict.fromkeys(("hometown", "origin", "home country"), "from"),
    **dict.fromkeys(("preference", "preferences", "prefer"), "prefers"),
    **dict.fromkeys(("plans", "intention", "goal"), "plan"),
    **dict.fromkeys(("languages", "language"), "speaks"),
    **dict.fromkeys(("medications", "medicine", "takes"), "medication"),
}
# Of these there are few at a time, and one can end by a part of its name ("sold my Civic"): settled together.
_FEW = frozenset({"owns", "uses", "medication", "condition", "avoids", "project"})
_SINGLE_BEGINNINGS = ("favourite ", "dose of ", "version of ", "number of ", "name of ")


#: What few claims have.
_SELDOM = ("event", "before", "corrects", "turn", "settles_in", "is_one")


def to_plain(claim: Claim) -> dict[str, Any]:
    """A claim as JSON values, without what its edge and its message already say."""
    plain: dict[str, Any] = {
        "entity": claim.entity,
        "attribute": claim.attribute,
        "value": claim.value,
        "content": claim.content,
        "start": claim.start,
        "end": claim.end,
        "quote": claim.quote,
        "said_by": claim.said_by,
        "said_at": to_microseconds(claim.said_at),
        "order": list(claim.order),
    }
    if claim.polarity is not Polarity.IS:
        plain["polarity"] = claim.polarity.value
    if claim.category is not Category.SEMANTIC:
        plain["category"] = claim.category.value
    for name, moment in (("since", claim.since), ("until", claim.until)):
        if moment is not None:
            plain[name] = to_microseconds(moment)
    if claim.said_by_assistant:
        plain["said_by_assistant"] = True
    if claim.made_by:
        plain["made_by"] = claim.made_by
    if claim.provenance is not Provenance.SAID:
        plain["provenance"] = claim.provenance.value
    for name in _SELDOM:
        if value := getattr(claim, name):
            plain[name] = value
    return plain


def from_plain(message_id: NodeId, plain: Mapping[str, Any]) -> Claim:
    """The inverse of `to_plain`."""
    return Claim(
        entity=plain["entity"],
        attribute=plain["attribute"],
        value=plain["value"],
        content=plain["content"],
        message_id=message_id,
        start=plain["start"],
        end=plain["end"],
        quote=plain["quote"],
        said_by=plain["said_by"],
        said_at=from_microseconds(plain.get("said_at")),
        order=(plain["order"][0], plain["order"][1]),
        polarity=Polarity(plain.get("polarity", Polarity.IS)),
        category=Category(plain.get("category", Category.SEMANTIC)),
        since=from_microseconds(plain.get("since")),
        until=from_microseconds(plain.get("until")),
        said_by_assistant=plain.get("said_by_assistant", False),
        made_by=plain.get("made_by", ""),
        provenance=Provenance(plain.get("provenance", Provenance.SAID)),
        **{name: plain[name] for name in _SELDOM if name in plain},
    )


# A claim as a sentence that is understood by itself.

_SENTENCES = {
    "allergy": "{who} is allergic to {value}",
    "intolerance": "{who} is {value} intolerant",
    "avoids": "{who} avoids {value}",
    "condition": "{who} has {value}",
    "diet": "{who} is {value}",
    "medication": "{who} takes {value}",
    "weight": "{who} weighs {value}",
    "height": "{who} is {value} tall",
    "age": "{who} is {value} old",
    "birthday": "{who} was born on {value}",
    "birth year": "{who} was born in {value}",
    "home": "{who} lives in {value}",
    "from": "{who} comes from {value}",
    "marital status": "{who} is {value}",
    "spouse": "{who} is married to {value}",
    "speaks": "{who} speaks {value}",
    "employer": "{who} works for {value}",
    "studies": "{who} studies {value}",
    "likes": "{who} likes {value}",
    "dislikes": "{who} dislikes {value}",
    "prefers": "{who} prefers {value}",
    "uses": "{who} uses {value}",
    "project": "{who} works on {value}",
    "appointment": "{who} has {value}",
    "habit": "Habit of {who}: {value}",
    "plan": "Plan of {who}: {value}",
}


def shown(entity: str) -> str:
    """An entity at the beginning of a sentence.

    >>> shown("user"), shown("user's dog"), shown("Luna")
    ('The user', "The user's dog", 'Luna')
    """
    return f"The {entity}" if entity == USER or entity.startswith(f"{USER}'s ") else entity


def _article(value: str) -> str:
    """The article that stands before one thing; none before several, or where there is one.

    >>> _article("old van"), _article("2019 Honda Civic"), _article("horses")
    ('an ', 'a ', '')
    """
    last = value.split()[-1].lower()
    if last.endswith("s") and not last.endswith("ss"):
        return ""
    return "an " if value[0].lower() in "aeiou" else "a "


def is_worded(attribute: str) -> bool:
    """Whether there is a sentence of its own for an attribute."""
    return attribute in _SENTENCES or attribute == "owns"


def content_of(entity: str, attribute: str, value: str, polarity: Polarity = Polarity.IS) -> str:
    """The claim in words.

    >>> content_of("Luna", "allergy", "chicken")
    'Luna is allergic to chicken.'
    >>> content_of("user", "favourite colour", "green")
    "The user's favourite colour is green."
    >>> content_of("user", "home", "York", Polarity.ENDED)
    'No longer: The user lives in York.'
    """
    who = shown(entity)
    if attribute == "age" and value.isdigit():
        value = f"{value} years"
    if attribute == "birthday" and not any(part.isdigit() and len(part) == 4 for part in value.split()):
        text = f"{who}'s birthday is {value}"
    elif attribute == "habit" or attribute == "plan":
        text = _SENTENCES[attribute].format(
            who=who[0].lower() + who[1:] if who.startswith("The ") else who, value=value
        )
    elif attribute == "owns":
        text = f"{who} has {_article(value)}{value}"
    elif attribute in _SENTENCES:
        text = _SENTENCES[attribute].format(who=who, value=value)
    else:
        text = f"{who}'s {attribute} is {value}"
    return f"{'No longer: ' if polarity is Polarity.ENDED else ''}{text}."


# Which names a fact relates: edges by which it is found as a relation, from either end.

#: In the body of a record: that it was added as a relationship.
RELATIONSHIP = "relationship"
#: How relations are called that facts hold; one of another attribute is called like it.
_NAMES = {
    "home": "LIVES_IN",
    "location": "LOCATED_IN",
    "from": "COMES_FROM",
    "employer": "WORKS_AT",
    "project": "WORKS_ON",
    "spouse": "MARRIED_TO",
    "owner": "OWNED_BY",
    "medication": "TAKES",
}
_ATTRIBUTES = {name: attribute for attribute, name in _NAMES.items()}
# Their values name nothing that stands by itself.
_PLAIN = frozenset(
    {"name", "age", "birthday", "plan", "habit", "appointment", "diet", "weight", "height", "dose", "status", "price"}
)
_LONGEST = 120  # characters of a name


def relation_of(attribute: str) -> str | None:
    """The relation that a fact with this attribute is, where its value names an entity.

    >>> relation_of("home"), relation_of("sister"), relation_of("favourite band"), relation_of("dose of enalapril")
    ('LIVES_IN', 'SISTER', 'FAVOURITE_BAND', None)
    """
    words = attribute.split()
    if not words or _PLAIN.intersection(words):
        return None
    return _NAMES.get(attribute) or "_".join(words).upper()


def attribute_of(relation: str) -> str:
    """The attribute of facts that are such a relation.

    >>> attribute_of("LIVES_IN"), attribute_of("DEPENDS_ON")
    ('home', 'depends on')
    """
    return _ATTRIBUTES.get(relation) or relation.replace("_", " ").lower()


def ends(name: str) -> tuple[NodeId, ...]:
    """The entities that a name in a fact may mean, the likeliest first."""
    if name == USER:
        return (entity_id(YOU),)
    return tuple(dict.fromkeys((entity_id(name), entity_id(folded(name) or name))))


def links(fact: Node) -> list[Edge]:
    """The edges from a fact to what it relates; none of a fact that is no relation."""
    if fact.body.get("category") == Category.RULE.value:
        return []
    entity, attribute, value = (str(fact.body.get(name, "")) for name in ("entity", "attribute", "value"))
    if relation_of(attribute) is None or not value or len(value) > _LONGEST:
        return []
    return [Edge(fact.id, ABOUT, about_id(end)) for end in dict.fromkeys((*ends(entity), *ends(value)))]
