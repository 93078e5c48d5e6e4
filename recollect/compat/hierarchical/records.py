"""Facts and episodes as nodes of the store, and as what `HierarchicalMemory` shows of them."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from numbers import Real
from typing import Any

from recollect.compat.hierarchical.classify import MemoryCategory
from recollect.compat.hierarchical.contradiction import detect_contradiction
from recollect.compat.hierarchical.graph import KnowledgeEdge, KnowledgeNode, number
from recollect.compat.hierarchical.names import are_of_others, extract_entity_name
from recollect.derive.facts.changes import SAME, TOLD
from recollect.errors import InvalidInput
from recollect.record import Edge, Node, NodeId, NodeKind, Origin, parse_time
from recollect.text.clean import clean_metadata, clean_text

SIMILAR, DERIVES, SUPERSEDES, TRANSITIONED = "SIMILAR_TO", "DERIVES_FROM", "SUPERSEDES", "TRANSITIONED_TO"
EDGES = (SIMILAR, DERIVES, SUPERSEDES, TRANSITIONED)
STATES = ("live", "superseded", SAME)
#: Facts that are more alike than this are linked; those much more so are compared for contradictions.
SIMILARITY, CONTRADICTION = 0.3, 0.5
_OF_CONTRADICTIONS = ("contradiction", "conflicting_values")


def is_own(node: Node) -> bool:
    """Whether a fact or episode was stored through this class, or a fact of it was."""
    return node.kind is NodeKind.EPISODE or (node.kind is NodeKind.FACT and "metadata" in node.body)


def told_confidence(node: Node) -> float:
    """The confidence that a fact was stored with."""
    return float(node.body[TOLD]["score"]) if TOLD in node.body else node.score


def told_score(confidence: object) -> float:
    """A confidence as a program gives it. Raises InvalidInput."""
    if not isinstance(confidence, Real) or isinstance(confidence, bool) or not 0 <= float(confidence) <= 1:
        raise InvalidInput(
            f"A confidence of {confidence!r} is out of range.", hint="Use a number from 0 to 1, such as 0.8."
        )
    return float(confidence)


def told_category(category: object) -> MemoryCategory:
    """A category as a program gives it. Raises InvalidInput."""
    try:
        return MemoryCategory(str(category))
    except ValueError:
        known = ", ".join(MemoryCategory)
        raise InvalidInput(f"{str(category)!r} is no category.", hint=f"One of: {known}.") from None


def new_id() -> NodeId:
    """As users know them: a UUID."""
    return NodeId(str(uuid.uuid4()))


def fact_node(
    content: str,
    concept: str,
    confidence: float,
    category: MemoryCategory,
    source_id: str,
    tags: Iterable[str],
    metadata: Mapping[str, Any],
    created: datetime,
    *,
    id: str = "",
    created_at: str = "",
    entity: str | None = None,
) -> Node:
    """A fact as it is stored: its words as they were given, without blanks around them. Raises ValueError."""
    content, concept = clean_text(content).strip(), clean_text(concept)
    if not content:
        raise ValueError("content cannot be empty")
    score = float(confidence)
    if not math.isfinite(score):
        raise ValueError(f"confidence must be a number, got: {confidence!r}")
    name = extract_entity_name(content, concept) if entity is None else entity
    plain = clean_metadata({"category": MemoryCategory(category).value, **metadata})
    return Node(
        id=NodeId(id) if id else new_id(),
        kind=NodeKind.FACT,
        key=name,
        text=content,
        valid_from=created,
        score=score,
        origin=Origin.SAID,
        body={
            "concept": concept,
            "category": plain["category"],
            "entity": name,
            "tags": [clean_text(str(tag)) for tag in tags],
            "source_id": source_id,
            "created_at": created_at or written(created),
            "temporal_index": number(plain.get("temporal_index")),
            "metadata": plain,
        },
    )


def episode_node(content: str, source_label: str, created: datetime, *, id: str = "", created_at: str = "") -> Node:
    """An episode as it is stored. Raises ValueError."""
    content = clean_text(content).strip()
    if not content:
        raise ValueError("content cannot be empty")
    body = {"source_label": clean_text(source_label), "created_at": created_at or written(created)}
    return Node(
        id=NodeId(id) if id else new_id(),
        kind=NodeKind.EPISODE,
        text=content,
        valid_from=created,
        origin=Origin.SAID,
        body=body,
    )


def knowledge(node: Node) -> KnowledgeNode:
    """A fact as it is shown."""
    metadata = dict(node.body.get("metadata") or {})
    return KnowledgeNode(
        node_id=node.id,
        category=category_of(metadata.get("category")),
        content=node.text,
        concept=concept_of(node),
        confidence=node.score,
        source_id=node.body.get("source_id") or "",
        created_at=node.body.get("created_at") or (written(node.valid_from) if node.valid_from else ""),
        tags=list(node.body.get("tags") or ()),
        metadata=metadata,
    )


def knowledge_edge(edge: Edge) -> KnowledgeEdge:
    """A relation as it is shown: its weight is the similarity, where it is one."""
    metadata = dict(edge.properties)
    weight = metadata.pop("similarity", 1.0)
    return KnowledgeEdge(edge.source_id, edge.target_id, edge.type, float(weight), metadata)


def up_to_date(edge: Edge, nodes: Mapping[NodeId, Node]) -> Edge:
    """A relation by what its facts say now: once one was corrected, they contradict each other in other values, or no
    longer.
    """
    newer, older = nodes.get(edge.source_id), nodes.get(edge.target_id)
    if edge.type != SIMILAR or newer is None or older is None or not any("by_hand" in n.body for n in (newer, older)):
        return edge
    kept = {name: value for name, value in edge.properties.items() if name not in _OF_CONTRADICTIONS}
    compared = kept.get("similarity", 1.0) > CONTRADICTION
    return replace(edge, properties={**kept, **(contradiction(newer, older) if compared else {})})


def contradiction(newer: Node, older: Node) -> dict[str, Any]:
    """What two facts about the same contradict each other in."""
    if are_of_others(newer.text, older.text, concept_of(newer), concept_of(older)):
        return {}
    return detect_contradiction(newer.text, older.text, concept_of(newer), concept_of(older))


def as_dict(node: KnowledgeNode) -> dict[str, Any]:
    """A fact as `search_facts` and `get_all_facts` give it."""
    return {
        "content": node.content,
        "concept": node.concept,
        "confidence": node.confidence,
        "node_id": node.node_id,
        "source_id": node.source_id,
        "tags": node.tags,
        "metadata": node.metadata,
        "created_at": node.created_at,
    }


def concept_of(node: Node) -> str:
    """The concept of a fact."""
    return str(node.body.get("concept") or "")


def index_of(node: Node) -> float:
    """The place of a fact in time, 0: it has none."""
    return number(node.body.get("temporal_index"))


def category_of(value: object) -> MemoryCategory:
    """A category by its value; semantic for any other."""
    try:
        return MemoryCategory(str(value))
    except ValueError:
        return MemoryCategory.SEMANTIC


def written(moment: datetime) -> str:
    """A time as users know it: ISO 8601 in UTC, without a zone."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def read(text: object, otherwise: datetime) -> datetime:
    """A time that was written so."""
    return parse_time(text) or otherwise
