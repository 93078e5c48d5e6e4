"""Facts, entities and topics as JSON: the same from the terminal and from the pages (docs/reference/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.record import iso

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.fact import Fact
    from recollect.derive.graph.reader import Relation
    from recollect.derive.topics.reading import Topic


def entity_as_json(entity: Entity) -> dict[str, Any]:
    """An entity as JSON."""
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "aliases": [{"name": alias.name, "why": alias.why} for alias in entity.aliases],
        "mentions": entity.mentions,
        "first": iso(entity.first),
        "last": iso(entity.last),
        "pinned": entity.pinned,
        "by_hand": entity.by_hand,
        "provenance": list(entity.provenance),
    }


def fact_as_json(fact: Fact) -> dict[str, Any]:
    """A fact as JSON."""
    return {
        "id": fact.id,
        "content": fact.content,
        "category": fact.category,
        "entity": fact.entity,
        "attribute": fact.attribute,
        "value": fact.value,
        "structured": fact.structured.as_json() if fact.structured else None,
        "valid_from": iso(fact.valid_from),
        "valid_to": iso(fact.valid_to),
        "known_from": iso(fact.known_from),
        "known_to": iso(fact.known_to),
        "since_told": fact.since_told,
        "until_told": fact.until_told,
        "last_said": iso(fact.last_said),
        "provenance": list(fact.provenance),
        "said_by": fact.said_by,
        "confidence": fact.confidence,
        "pinned": fact.pinned,
        "by_hand": fact.by_hand,
        "current": fact.current,
        "proofs": [
            {"message": p.message_id, "quote": p.quote, "said_by": p.said_by, "said_at": iso(p.said_at)}
            for p in fact.proofs
        ],
        "history": [fact_as_json(older) for older in fact.history],
    }


def relation_as_json(relation: Relation) -> dict[str, Any]:
    """A relation as JSON."""
    return {
        "source": relation.source,
        "relation": relation.name,
        "target": relation.target,
        "weight": relation.weight,
        "evidence": list(relation.evidence),
        "since": iso(relation.since),
        "until": iso(relation.until),
        "since_told": relation.since_told,
        "until_told": relation.until_told,
        "said": iso(relation.said),
        "current": relation.current,
        "fact": relation.fact,
        "provenance": list(relation.provenance),
    }


def topic_as_json(topic: Topic) -> dict[str, Any]:
    """A topic as JSON."""
    return {
        "id": topic.id,
        "label": topic.label,
        "terms": list(topic.terms),
        "segments": topic.segments,
        "messages": topic.messages,
        "first": iso(topic.first),
        "last": iso(topic.last),
        "summary": topic.summary,
    }
