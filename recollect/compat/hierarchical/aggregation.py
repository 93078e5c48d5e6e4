"""Counting and listing facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from recollect.compat.hierarchical.records import DERIVES, SIMILAR, SUPERSEDES, TRANSITIONED, concept_of
from recollect.record import Node
from recollect.store import View

_NOT_A_CONCEPT = "SUMMARY"


def aggregate(facts: Iterable[Node], query_type: str, entity_filter: str) -> dict[str, Any]:
    """What is asked of the facts; a filter is a part of the concept, whatever the case. An unknown question has the
    count 0 and says so.
    """
    if query_type == "count_total":
        return {"count": sum(1 for _ in facts), "query_type": query_type}
    if query_type in ("count_entities", "list_entities"):
        names = sorted({node.key for node in facts if node.key})
        return _counted(names, query_type)
    if query_type in ("count_concepts", "list_concepts", "count_by_concept"):
        wanted = entity_filter.lower() if query_type != "count_concepts" else ""
        counts = Counter(concept for node in facts if (concept := concept_of(node)) not in ("", _NOT_A_CONCEPT))
        kept = {concept: n for concept, n in counts.most_common() if wanted in concept.lower()}
        if query_type != "count_by_concept":
            return _counted(sorted(kept), query_type)
        return {"count": len(kept), "items": kept, "total_facts": sum(kept.values()), "query_type": query_type}
    return {"count": 0, "query_type": query_type, "error": f"Unknown query type: {query_type}"}


def statistics(view: View, agent_name: str) -> dict[str, Any]:
    """How many facts, episodes and edges an agent has."""
    from recollect.compat.hierarchical.exchange import every

    own = list(every(view))
    nodes = Counter(node.kind.value for node in own)
    ids = {node.id for node in own}
    edges = Counter(e.type for e in view.edges(None) if e.source_id in ids and e.target_id in ids)
    return {
        "agent_name": agent_name,
        "semantic_nodes": nodes["fact"],
        "episodic_nodes": nodes["episode"],
        "total_experiences": nodes["fact"] + nodes["episode"],
        "similar_to_edges": edges[SIMILAR],
        "derives_from_edges": edges[DERIVES],
        "supersedes_edges": edges[SUPERSEDES],
        "transitioned_to_edges": edges[TRANSITIONED],
    }


def _counted(items: list[str], query_type: str) -> dict[str, Any]:
    counted: dict[str, Any] = {"count": len(items), "query_type": query_type}
    return {**counted, "items": items} if query_type.startswith("list") else counted
