"""Relationships that a program or a person adds: facts like all others, which settle with what messages say."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.entity import name_of
from recollect.derive.entities.naming import YOU, entity_id, folded
from recollect.derive.entities.relations import SAME
from recollect.derive.facts.claim import (
    RELATIONSHIP,
    USER,
    Provenance,
    attribute_of,
    canonical_attribute,
    content_of,
    is_single,
    is_worded,
    relation_of,
    shown,
)
from recollect.derive.facts.rules.subjects import ONES_OWN, PEOPLE
from recollect.derive.facts.stored import claims_of, record, told_fact
from recollect.derive.graph.reader import TOGETHER
from recollect.errors import InvalidInput
from recollect.record import Node, NodeId

_NAME = re.compile(r"[^\W_]+(?:[\s_-]+[^\W_]+)*")
_LONGEST = 40  # characters of a relation's name
_SELVES = frozenset({YOU, USER, "me", "i", "myself"})
#: Types of the ends of relations, for entities that are not known yet.
_ENDS = {
    "LIVES_IN": ("person", "place"),
    "COMES_FROM": ("person", "place"),
    "LOCATED_IN": ("concept", "place"),
    "WORKS_AT": ("person", "organisation"),
    "WORKS_ON": ("person", "project"),
    "MARRIED_TO": ("person", "person"),
}


def relation_name(given: str) -> str:
    """A relation as it is called: "lives in" is LIVES_IN. Raises InvalidInput.

    >>> relation_name("depends-on")
    'DEPENDS_ON'
    """
    words = given.strip()
    if not _NAME.fullmatch(words) or len(words) > _LONGEST:
        raise InvalidInput(
            f"{given!r} is no name of a relation.",
            hint=f"Use up to {_LONGEST} letters, digits and underscores, as in LIVES_IN or DEPENDS_ON.",
        )
    name = re.sub(r"[\s_-]+", "_", words).upper()
    if name == SAME:
        raise InvalidInput("Two names of one entity are no relation.", hint="Use merge_entities().")
    if name == TOGETHER:
        raise InvalidInput(f"{TOGETHER} is read from the messages.", hint="Name how the two are related.")
    if relation_of(attribute_of(name)) is None:
        raise InvalidInput(f"{name} relates no entities.", hint="Store it as a fact, with store_fact().")
    return name


def told_relationship(
    source: str,
    relation: str,
    target: str,
    *,
    since: datetime | None,
    until: datetime | None,
    provenance: str,
    now: datetime,
    id: NodeId,
) -> Node:
    """The record of the fact that a relationship is. Raises InvalidInput."""
    name = relation_name(relation)
    entity, value = _end(source), _end(target)
    if folded(entity) == folded(value):
        raise InvalidInput(f"{source!r} cannot be related to itself.")
    attribute = canonical_attribute(attribute_of(name))
    told = told_fact(
        _content(entity, attribute, value),
        concept=attribute,
        entity=entity,
        value=value,
        category="semantic",
        confidence=0.9,
        tags=(),
        said_by="",
        since=since,
        until=until,
        now=now,
        id=id,
    )
    claims = [replace(claim, provenance=Provenance(provenance)) for claim in claims_of(told)]
    return record(told.text, claims, told.score, {"category": "semantic", "tags": [], RELATIONSHIP: True})


def types_of(relation: str) -> tuple[str, str]:
    """What its ends are, where nobody said so."""
    name = relation_name(relation)
    attribute = attribute_of(name)
    if attribute in ONES_OWN:
        return "person", "person" if re.fullmatch(PEOPLE, attribute) else "animal"
    return _ENDS.get(name, ("concept", "concept"))


def known_as(directory: Directory, given: str) -> tuple[str, bool]:
    """The name by which facts find an entity, and whether there is one already: of "NextJS" it may be "Next.js"."""
    name = _end(given)
    found = directory.find(name)
    if name == USER or found is None:
        return name, name == USER
    spellings = (name, found.name, *(alias.name for alias in found.aliases))
    return next((one for one in spellings if entity_id(one) in found.ids), directory.first_name(found) or name), True


def check_two(directory: Directory, source: str, target: str) -> None:
    """Raises InvalidInput where two names are those of one entity."""
    one, other = directory.find(source), directory.find(target)
    if one is not None and other is not None and one.id == other.id:
        raise InvalidInput(f"{source!r} and {target!r} are the same entity: {one.name}.")


def _end(given: str) -> str:
    name = name_of(given)
    return USER if folded(name) in _SELVES else name


def _content(entity: str, attribute: str, value: str) -> str:
    if is_worded(attribute) or is_single(attribute) or attribute in ONES_OWN:
        return content_of(entity, attribute, value)
    return f"{shown(entity)} {attribute} {value}."
