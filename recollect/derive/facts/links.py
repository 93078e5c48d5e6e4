"""Which names a fact relates: edges by which it is found as a relation, from either end."""

from __future__ import annotations

from recollect.derive.entities.naming import ABOUT, YOU, about_id, entity_id
from recollect.derive.facts.claim import USER, Category, folded
from recollect.record import Edge, Node, NodeId

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
