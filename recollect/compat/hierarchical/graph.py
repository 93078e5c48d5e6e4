"""What `HierarchicalMemory` answers with: nodes, edges, and the subgraph of a question as text for a model [3]."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from recollect.compat.hierarchical.classify import MemoryCategory

_UNDATED = float("inf")


@dataclass
class KnowledgeNode:
    """A fact. `created_at` is ISO 8601 in UTC; `metadata` holds the category, what was given as temporal metadata, and
    in a subgraph `source_label`, `chain_position` ("first", "intermediate", "latest") and what superseded it.
    """

    node_id: str
    category: MemoryCategory
    content: str
    concept: str
    confidence: float = 0.8
    source_id: str = ""
    created_at: str = ""
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class KnowledgeEdge:
    """A relation: SIMILAR_TO, DERIVES_FROM, SUPERSEDES or TRANSITIONED_TO."""

    source_id: str
    target_id: str
    relationship: str
    weight: float = 1.0
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class KnowledgeSubgraph:
    """What was found for a query."""

    nodes: list[KnowledgeNode] = field(default_factory=list)
    edges: list[KnowledgeEdge] = field(default_factory=list)
    query: str = ""

    def to_llm_context(self, chronological: bool = False) -> str:
        """The subgraph as a text for a language model: facts by confidence, or by `temporal_index` (then by creation;
        facts without one come last), how values changed, what contradicts, and how the facts are related.
        """
        if not self.nodes:
            return "No relevant knowledge found."
        nodes = sorted(self.nodes, key=_moment) if chronological else sorted(self.nodes, key=lambda n: -n.confidence)
        sections = [
            [f"Knowledge graph context for: {self.query}"],
            ["Facts (in chronological order):" if chronological else "Facts:"]
            + [f"  {i}. {_fact_line(node, chronological)}" for i, node in enumerate(nodes, 1)],
            _titled("Transition history:", self._transitions()),
            _titled("Contradictions detected:", self._contradictions()),
            _titled("Relationships:", [_edge_line(edge) for edge in self.edges]),
        ]
        return "\n\n".join("\n".join(lines) for lines in sections if lines)

    def _transitions(self) -> list[str]:
        edges = [edge for edge in self.edges if edge.relationship == "TRANSITIONED_TO"]
        return [
            f"  - {edge.metadata.get('to_value', '?')} -> {edge.metadata.get('from_value', '?')}"
            f" (turn {edge.metadata.get('turn', '?')})"
            for edge in sorted(edges, key=lambda edge: number(edge.metadata.get("turn")))
        ]

    def _contradictions(self) -> list[str]:
        told = [edge.metadata.get("conflicting_values", "unknown") for edge in self.edges if _contradicts(edge)]
        return [f"  - WARNING: Conflicting information found: {values}" for values in sorted(set(told), key=str)]


def number(value: object) -> float:
    """A number as it was given, whatever else was given: then 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return 0.0
    return value


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if lines else []


def _moment(node: KnowledgeNode) -> tuple[float, str]:
    index = (node.metadata or {}).get("temporal_index")
    return (_UNDATED if index is None else number(index), node.created_at or "")


def _fact_line(node: KnowledgeNode, chronological: bool) -> str:
    metadata, marks = node.metadata or {}, [f"[{node.concept}]"]
    if chronological and metadata.get("source_date"):
        marks.append(f"[Date: {metadata['source_date']}]")
    elif chronological and metadata.get("temporal_order"):
        marks.append(f"[Time: {metadata['temporal_order']}]")
    if metadata.get("source_label"):
        marks.append(f"[Source: {metadata['source_label']}]")
    if metadata.get("chain_position"):
        marks.append(f"[{metadata['chain_position']}]")
    return f"{' '.join(marks)} {node.content} (confidence: {node.confidence:.1f})"


def _edge_line(edge: KnowledgeEdge) -> str:
    return f"  - {edge.source_id[:8]}.. {edge.relationship} {edge.target_id[:8]}.. (weight: {edge.weight:.2f})"


def _contradicts(edge: KnowledgeEdge) -> bool:
    return bool(edge.metadata and edge.metadata.get("contradiction"))
