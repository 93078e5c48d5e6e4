"""What was derived: facts, entities and their graph, topics, summaries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field, field_serializer, field_validator

from recollect.derive.entities.added import Adder
from recollect.faces.rest.schemas.base import Asked, Record, shown

_PROVENANCE = 'Where it comes from: "said" in messages, "stored" by a program, "by hand", "imported".'


class Proof(Record):
    """A message that proves a fact."""

    message: str = Field(validation_alias="message_id")
    quote: str
    said_by: str
    said_at: datetime | None


class StructuredValue(Record):
    """A value in figures: a dose, a test result, a sum, an amount or a date."""

    kind: str = Field(
        description="dose, result, money, date, number, or what is measured: mass, duration …", examples=["dose"]
    )
    numbers: list[int | float] = Field(description="One, or the two ends of a range.", examples=[[15]])
    unit: str = Field(examples=["mg"])
    per: str = Field(examples=["day"])
    currency: str = Field(description="An ISO code; a sign that several currencies have stays a sign.")
    of: str = Field(description="The medicine, or what was tested.", examples=["fluoxetine"])
    date: str = Field(description="A date, month or year; --05-03 has no year.", examples=["2026-05-03"])


class Fact(Record):
    """A distilled statement. `valid_…` is when it held, `known_…` when it was believed; where nobody told when it began
    or ended (`…_told`), `valid_…` is when it was said, and when something else was.
    """

    id: str
    content: str = Field(examples=["Luna is the user's dog."])
    category: str
    entity: str
    attribute: str
    value: str
    structured: StructuredValue | None
    valid_from: datetime | None
    valid_to: datetime | None
    known_from: datetime | None
    known_to: datetime | None
    since_told: bool
    until_told: bool
    last_said: datetime | None
    provenance: list[str] = Field(description="said, stored, imported, by hand.", examples=[["said"]])
    said_by: str
    confidence: float
    pinned: bool
    by_hand: bool
    current: bool
    proofs: list[Proof]
    history: list[Fact] = Field(description="The facts that it took the place of, newest first.")


class Alias(Record):
    """Another spelling of a name, and why it is taken for the same."""

    name: str
    why: str


class Entity(Record):
    """Somebody or something that messages mention, or that was added."""

    id: str
    name: str
    type: str = Field(examples=["person"])
    aliases: list[Alias]
    mentions: int
    first: datetime | None
    last: datetime | None
    pinned: bool
    by_hand: bool
    provenance: list[str] = Field(description=_PROVENANCE)


class Relation(Record):
    """That one entity stands in a relation to another. `evidence` are messages that say so, the newest first."""

    source: str
    relation: str = Field(validation_alias="name", examples=["MENTIONED_WITH"])
    target: str
    weight: int = Field(description="By how many messages.")
    evidence: list[str]
    since: datetime | None = Field(description="When it began to hold, of what a fact says.")
    until: datetime | None
    since_told: bool = Field(description="Whether somebody told when it began; else it is when it was said.")
    until_told: bool
    said: datetime | None = Field(description="When it was said last, of what a fact says.")
    current: bool
    fact: str | None = Field(description="The fact that says so; else messages do.")
    provenance: list[str] = Field(description=_PROVENANCE)


class Graph(Record):
    """What lies around an entity."""

    entity: Entity = Field(validation_alias="center")
    entities: list[Entity]
    relations: list[Relation]


class Path(Record):
    """A way from one entity to another."""

    text: str
    entities: list[str]
    relations: list[Relation]


class Paths(Record):
    """The shortest ways between two entities; where there is none, what each is next to."""

    source: Entity
    target: Entity
    paths: list[Path]
    neighbours: list[Relation]

    @field_validator("paths", mode="before")
    @classmethod
    def _in_words(cls, paths: Any) -> Any:
        return [{"text": str(path), "entities": path.entities, "relations": path.relations} for path in paths]


class Topic(Record):
    """What many conversations are about."""

    id: str
    label: str
    terms: list[str]
    segments: int
    messages: int
    first: datetime | None
    last: datetime | None
    summary: str


class Segment(Record):
    """A run of turns of a conversation about one thing. `message_id` is the first of its messages."""

    id: str
    conversation_id: str
    message_id: str
    label: str
    topic: str
    messages: int
    first: datetime | None
    last: datetime | None


class Summary(Record):
    """What messages come down to."""

    id: str
    kind: str = Field(examples=["l1"])
    text: str
    conversation_id: str | None
    conversations: list[str] = Field(description="Of an `l1` or `l2` of short conversations these, in order.")
    period: str | None
    since: datetime | None
    until: datetime | None
    covers: list[str] = Field(description="Ids of what it was made of: messages, of an `l2` its `l1`.")
    parts: Mapping[str, Any]
    block: int | None
    exchanges: int | None
    messages: int
    extractive: bool
    version: int
    made: datetime | None
    made_by: str

    @field_serializer("parts")
    def _plain(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return dict(parts)


class NewFact(Asked):
    """A fact as it is told. What is left out, rules read from `content`."""

    model_config = shown(content="Luna weighs 12 kg.", concept="weight")

    content: str = Field(examples=["Luna weighs 12 kg."])
    concept: str = Field("", description="What has one value at a time: home, job, weight …", examples=["weight"])
    entity: str = ""
    value: str = ""
    category: str = ""
    confidence: float = Field(0.9, ge=0, le=1)
    tags: list[str] = Field([])
    said_by: str = ""
    since: datetime | None = Field(None, description="When it began, if told.")
    until: datetime | None = Field(None, description="When it ended or will end, if told.")
    said_at: datetime | None = Field(None, description="When it was said; left out, now.")
    before: str = Field("", description="The value that came right after this one.")
    ended: bool = Field(False, description="It no longer holds.")


class NewRule(Asked):
    """What the user wants of every answer; one that the user did not say is offered until it is confirmed."""

    model_config = shown(text="Answer in metric units.")

    text: str = Field(examples=["Answer in metric units."])
    confirmed: bool = Field(True, description="The user said so.")
    said_by: str = "user"


class FactEdit(Asked):
    """What is right: the fact in other words, or another value."""

    model_config = shown(value="13 kg")

    content: str | None = Field(None, examples=["Luna weighs 13 kg."])
    value: str | None = Field(None, examples=["13 kg"])


class FactMerge(Asked):
    """The facts that say the same."""

    model_config = shown(others=["7Q2KAB"])

    others: list[str] = Field(min_length=1, max_length=100)


class FactId(Record):
    """The id of a fact: what corrections take, and what takes them back."""

    id: str


class NewEntity(Asked):
    """An entity that a program knows of. `sources` are ids of messages that it was drawn from."""

    model_config = shown(name="Sam Berg", type="person")

    name: str = Field(examples=["Sam Berg"])
    type: str = Field("concept", examples=["person"])
    sources: list[str] = Field([])
    provenance: Adder = "stored"


class NewRelationship(Asked):
    """A relation that a program knows of. The entities are added where they are not known."""

    model_config = shown(source="Sam Berg", relation="LIVES_IN", target="Porto")

    source: str = Field(description='A name, or "you".', examples=["Sam Berg"])
    relation: str = Field(examples=["LIVES_IN"])
    target: str = Field(examples=["Porto"])
    since: datetime | None = None
    until: datetime | None = None
    sources: list[str] = Field([], description="Ids of messages that it was drawn from.")
    provenance: Adder = "stored"


class EntityEdit(Asked):
    """What is right: another name, another type."""

    model_config = shown(new_name="PostgreSQL", type="technology")

    new_name: str | None = Field(None, examples=["PostgreSQL"])
    type: str | None = Field(None, examples=["technology"])


class EntityMerge(Asked):
    """The entity that it is another name of."""

    model_config = shown(into="Maria Lopez")

    into: str = Field(examples=["Maria Lopez"])
