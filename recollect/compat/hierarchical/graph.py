"""What `HierarchicalMemory` answers with: nodes, edges, and the subgraph of a question as text for a model [3]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.compat.hierarchical.classify import MemoryCategory

_UNDATED = float("inf")
_VERSUS = " vs "
_UPDATES, _DERIVES = ("SUPERSEDES", "TRANSITIONED_TO"), "DERIVES_FROM"
_Pair = tuple[str, str]


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
        facts without one come last), how values changed, what contradicts, and how the facts are related, by their
        numbers in it: the cost follows from the facts, of which each pair may be related.
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
            _titled("Relationships:", self._relationships({node.node_id: i for i, node in enumerate(nodes, 1)})),
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
        """The values of facts that contradict each other, each once; those that were superseded are in the history."""
        past = {edge.target_id for edge in self.edges if edge.relationship in _UPDATES}
        past |= {node.node_id for node in self.nodes if (node.metadata or {}).get("superseded")}
        told = {}
        for edge in self.edges:
            if (
                past.isdisjoint((edge.source_id, edge.target_id))
                and edge.metadata
                and edge.metadata.get("contradiction")
            ):
                told[edge.source_id, edge.target_id] = str(edge.metadata.get("conflicting_values", "unknown"))
        each = (_values([told[pair] for pair in pairs]) for pairs in _connected(told))
        return [f"  - WARNING: Conflicting information found: {values}" for values in each]

    def _relationships(self, numbers: Mapping[str, int]) -> list[str]:
        """A line for each run of updates, each source, and each group of facts alike."""
        lines = []
        for kind in dict.fromkeys(edge.relationship for edge in self.edges):
            edges = {(e.source_id, e.target_id): e.weight for e in self.edges if e.relationship == kind}
            if kind in _UPDATES:
                each = " -> ".join
                lines += [f"{kind}: {each(_name(i, numbers) for i in chain)}" for chain in _chains(edges)]
            elif kind == _DERIVES:
                by_source: dict[str, list[str]] = {}
                for fact, source in edges:
                    by_source.setdefault(source, []).append(fact)
                lines += [f"{kind} {_name(i, numbers)}: {_listed(some, numbers)}" for i, some in by_source.items()]
            else:
                lines += [_alike(kind, pairs, edges, numbers) for pairs in _connected(edges)]
        return [f"  - {line}" for line in lines]


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


def _values(told: Sequence[str]) -> str:
    """Pairs of values as one list, each value once."""
    values = {value for pair in told for value in pair.split(_VERSUS)}
    return (
        told[0] if len(set(told)) == 1 else _VERSUS.join(sorted(values, key=lambda one: (len(one), one), reverse=True))
    )


def _alike(kind: str, pairs: Sequence[_Pair], edges: Mapping[_Pair, float], numbers: Mapping[str, int]) -> str:
    """Facts that are related with one another, however many pairs of them."""
    least, most = (f"{of(edges[pair] for pair in pairs):.2f}" for of in (min, max))
    weight = least if least == most else f"{least} to {most}"
    return f"{kind}: {_listed([i for pair in pairs for i in pair], numbers)} (weight: {weight})"


def _connected(pairs: Iterable[_Pair]) -> list[list[_Pair]]:
    """The pairs in groups, of which no two share anything."""
    groups: list[tuple[set[str], list[_Pair]]] = []
    for pair in pairs:
        first, *others = [group for group in groups if not group[0].isdisjoint(pair)] or [(set(), [])]
        first[0].update(pair, *(ids for ids, _ in others))
        first[1].extend([*(one for _, own in others for one in own), pair])
        groups = [group for group in groups if group not in others] if others else groups
        if len(first[1]) == 1:
            groups.append(first)
    return [own for _, own in groups]


def _chains(pairs: Iterable[_Pair]) -> list[list[str]]:
    """The pairs joined where one goes on where another ends: each pair once."""
    left = list(pairs)
    ends = {target for _, target in left}
    left.sort(key=lambda pair: pair[0] in ends)
    chains = []
    while left:
        chain = list(left.pop(0))
        while following := next((pair for pair in left if pair[0] == chain[-1]), None):
            left.remove(following)
            chain.append(following[1])
        chains.append(chain)
    return chains


def _listed(ids: Iterable[str], numbers: Mapping[str, int]) -> str:
    """As in "1-3, 7": facts by their numbers, runs of them in short."""
    known = sorted({numbers[i] for i in ids if i in numbers})
    runs: list[list[int]] = []
    for one in known:
        if runs and one == runs[-1][1] + 1:
            runs[-1][1] = one
        else:
            runs.append([one, one])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return ", ".join([*shown, *dict.fromkeys(_name(i, numbers) for i in ids if i not in numbers)])


def _name(one: str, numbers: Mapping[str, int]) -> str:
    """A fact by its number; what is not in the list by the beginning of its id."""
    return str(numbers[one]) if one in numbers else f"{one[:8]}.."
