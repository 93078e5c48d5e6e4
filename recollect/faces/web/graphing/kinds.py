"""What kinds of names a picture tells apart, by shape, colour and direction; and how relations are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EntityGroup:
    """Names that are drawn alike. `heading` is where they lie, in degrees, from the right against the clock."""

    name: str
    label: str
    several: str
    types: tuple[str, ...]
    heading: float


#: In the order in which they go round the middle.
ENTITY_GROUPS = (
    EntityGroup("project", "project, organisation", "projects and organisations", ("project", "organisation"), 90),
    EntityGroup("person", "person, animal", "people and animals", ("person", "animal"), 180),
    EntityGroup("place", "place", "places", ("place",), 270),
    EntityGroup("other", "other name", "other names", ("concept", "event"), 315),
    EntityGroup("thing", "tool, product, work", "tools, products and works", ("technology", "product", "work"), 20),
)
_OF_TYPE: Mapping[str, EntityGroup] = {one: kind for kind in ENTITY_GROUPS for one in kind.types}
_OTHER = ENTITY_GROUPS[3]

TOGETHER = "MENTIONED_WITH"
_WORDS = {TOGETHER: "with", "MARRIED_TO": "married to", "OWNED_BY": "owned by"}
#: The same from the other end.
_INVERSE = {
    TOGETHER: "with",
    "USES": "used by",
    "CHOSE": "chosen by",
    "REJECTED": "rejected by",
    "LIKES": "liked by",
    "DISLIKES": "disliked by",
    "PREFERS": "preferred by",
    "OWNS": "owned by",
    "OWNED_BY": "owns",
    "TAKES": "taken by",
    "SPEAKS": "spoken by",
    "STUDIES": "studied by",
    "COMES_FROM": "origin of",
    "WORKS_ON": "worked on by",
    "CREATED": "created by",
    "REPLACES": "replaced by",
    "IMPROVES": "improved by",
    "SUPPORTS": "supported by",
    "CAUSES": "caused by",
    "PART_OF": "has the part",
    "LOCATED_IN": "place of",
    "LIVES_IN": "home of",
    "WORKS_AT": "employs",
    "IS_A": "for example",
    "KNOWS": "knows",
    "MARRIED_TO": "married to",
}
#: Relations that say no.
NOT = frozenset({"REJECTED", "DISLIKES"})


def group_of(type: str) -> EntityGroup:
    """The kind of a type of entity."""
    return _OF_TYPE.get(type, _OTHER)


def relation_words(relation: str, *, backwards: bool = False) -> str:
    """A relation in words, from its source or (`backwards`) from its target.

    >>> worded("PART_OF"), worded("USES", backwards=True), worded("BROTHER", backwards=True)
    ('part of', 'used by', 'brother of')
    """
    plain = _WORDS.get(relation, relation.replace("_", " ").lower())
    return _INVERSE.get(relation, f"{plain} of") if backwards else plain
