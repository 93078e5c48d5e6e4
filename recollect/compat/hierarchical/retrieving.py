"""From a question to the facts that may answer it, with what is like them and what they replaced [3]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from recollect.compat.hierarchical.names import names_in
from recollect.compat.hierarchical.records import (
    DERIVES,
    EDGES,
    SIMILAR,
    STATES,
    SUPERSEDES,
    TRANSITIONED,
    KnowledgeNode,
    KnowledgeSubgraph,
    concept_of,
    is_own,
    knowledge,
    knowledge_edge,
    up_to_date,
)
from recollect.record import Edge, Node, NodeId, NodeKind
from recollect.store import View
from recollect.store.passages import Partition
from recollect.text.terms import has_unspaced_script, terms, words

_SHORTEST = 3  # characters of what is found within a word
_LOOKED_UP, _FEWEST = 3, 60  # facts for each one wanted, and at least
_MARKS = ".,;:!?()[]{}\"'`"
_ALL_EDGES = 1_000_000
#: What a fact counts that is like one that was found, and one that came before or after it.
_LIKE, _NEXT = 0.5, 0.98


@dataclass(slots=True)
class _RetrievedFacts:
    """Facts by id with how much they count."""

    nodes: dict[NodeId, Node] = field(default_factory=dict)
    scores: dict[NodeId, float] = field(default_factory=dict)

    def add(self, node: Node, score: float) -> bool:
        """Whether it is new; of two scores the higher one counts."""
        new = node.id not in self.nodes
        self.nodes[node.id] = node
        self.scores[node.id] = max(score, self.scores.get(node.id, score))
        return new

    def best(self, most: int) -> list[Node]:
        """By score, then the newest first."""
        newest = sorted(self.nodes.values(), key=_created, reverse=True)
        return sorted(newest, key=lambda node: -self.scores[node.id])[:most]


def retrieve(view: View, query: str, max_nodes: int, threshold: float, depth: int) -> KnowledgeSubgraph:
    """The subgraph of a question: keywords and names, 1 hop (or more) of similar facts, chains of values, edges."""
    found, keywords = _RetrievedFacts(), keywords_of(query)
    room = max(_LOOKED_UP * max_nodes, _FEWEST)
    for name in names_in(query):
        for node in of_entity(view, name, room):
            found.add(node, _relevance(node, keywords))
    for node in holding(view, keywords, room):
        found.add(node, _relevance(node, keywords))
    seeds = found.best(max_nodes)
    _add_similar(view, found, seeds, threshold, depth, max_nodes)
    _add_chains(view, found, found.best(max_nodes), max_nodes)
    chosen = found.best(max_nodes)
    nodes = [knowledge(node) for node in chosen]
    ids = [node.id for node in chosen]
    edges = [
        edge
        for edge in view.edges(ids, EDGES, "out", _ALL_EDGES)
        if (
            (edge.type == DERIVES and "quote" not in edge.properties)
            or (edge.target_id in found.nodes and edge.target_id in set(ids))
        )
        and (edge.type != SIMILAR or _similarity(edge) >= threshold)
    ]
    attach_sources(view, nodes)
    attach_positions(view, nodes)
    return KnowledgeSubgraph(nodes, [knowledge_edge(up_to_date(edge, found.nodes)) for edge in edges], query)


def keywords_of(query: str) -> list[str]:
    """The words of a question in lower case, without marks around them: of short ones those that say something.

    >>> keywords_of("Is Go the best in 東京?")
    ['go', 'the', 'best', '東京']
    """
    found = (word.strip(_MARKS) for word in query.lower().split())
    return list(dict.fromkeys(word for word in found if len(word) >= _SHORTEST or terms(word)))


def holding(view: View, keywords: Collection[str], most: int) -> list[Node]:
    """Facts that hold one of these in content or concept, be it within a word: those with the rarest and most first."""
    stems = [term for word in keywords for term in terms(word)]
    parts = [word for word in keywords if terms(word) and not _is_short(word)]
    numbers = view.sharing(Partition.DERIVED, stems, most, kinds=("fact", "past"))
    if len(numbers) < most:
        numbers += view.sharing(Partition.DERIVED, parts, most, kinds=("fact", "past"), inside=True)
    return _facts(view, numbers)[:most]


def of_entity(view: View, name: str, most: int) -> list[Node]:
    """Facts about an entity, by its name or a part of it."""
    wanted = terms(name)
    numbers = view.sharing(Partition.DERIVED, wanted, most, kinds=("fact", "past")) if wanted else []
    return [node for node in _facts(view, numbers) if name in node.key]


def _facts(view: View, numbers: Iterable[int]) -> list[Node]:
    owners = dict.fromkeys(text.owner_id for text in view.passages(list(dict.fromkeys(numbers))))
    return [node for node in view.get(Node, list(owners)) if _is_shown(node)]


def _is_shown(node: Node) -> bool:
    return node.kind is NodeKind.FACT and is_own(node) and node.state in STATES and not node.erased


def _relevance(node: Node, keywords: Collection[str]) -> float:
    """Confidence, and how many of the keywords its content holds."""
    content, whole = node.text.lower(), set(words(node.text)) if any(map(_is_short, keywords)) else set()
    held = sum(word in (whole if _is_short(word) else content) for word in keywords)
    return node.score * (0.5 + 0.5 * held / max(len(keywords), 1))


def _is_short(word: str) -> bool:
    """Whether a word is so short that it stands within others by chance: "uk" in "Ukraine"."""
    return len(word) < _SHORTEST and not has_unspaced_script(word)


def _add_similar(
    view: View, found: _RetrievedFacts, seeds: list[Node], threshold: float, depth: int, most: int
) -> None:
    frontier = [node.id for node in seeds]
    for _ in range(depth):
        reached: dict[NodeId, float] = {}
        for way in ("out", "in"):
            for edge in view.edges(frontier, [SIMILAR], way, _ALL_EDGES):
                here, there = (edge.source_id, edge.target_id) if way == "out" else (edge.target_id, edge.source_id)
                if _similarity(edge) >= threshold and there not in found.nodes:
                    score = _LIKE * found.scores[here] * _similarity(edge)
                    reached[there] = max(score, reached.get(there, score))
        best = sorted(reached, key=lambda i: -reached[i])[:most]
        added = [node for node in view.get(Node, best) if _is_shown(node)]
        for node in added:
            found.add(node, reached[node.id])
        frontier = [node.id for node in added]
        if not frontier:
            return


def _add_chains(view: View, found: _RetrievedFacts, begin: list[Node], most: int) -> None:
    """What came before and after, as far as there is room."""
    frontier = [node.id for node in begin]
    for _ in range(most):
        reached: dict[NodeId, float] = {}
        for way in ("out", "in"):
            for edge in view.edges(frontier, [SUPERSEDES, TRANSITIONED], way, _ALL_EDGES):
                here, there = (edge.source_id, edge.target_id) if way == "out" else (edge.target_id, edge.source_id)
                score = _NEXT * found.scores[here]
                if score > found.scores.get(there, -1.0):
                    reached[there] = max(score, reached.get(there, score))
        added = [node for node in view.get(Node, list(reached)[: 4 * most]) if _is_shown(node)]
        for node in added:
            found.add(node, reached[node.id])
        frontier = [node.id for node in added]
        if not frontier:
            return


def attach_sources(view: View, nodes: list[KnowledgeNode]) -> None:
    """Says of each fact what its source is called."""
    sources = view.get(Node, [NodeId(i) for i in dict.fromkeys(node.source_id for node in nodes) if i])
    labels = {source.id: source.body.get("source_label") for source in sources if source.kind is NodeKind.EPISODE}
    for node in nodes:
        if label := labels.get(NodeId(node.source_id)):
            node.metadata["source_label"] = label


def attach_positions(view: View, nodes: list[KnowledgeNode]) -> None:
    """Says of each fact in a chain where in it it stands, and what superseded it."""
    ids = [NodeId(node.node_id) for node in nodes]
    newer: dict[str, Edge] = {}
    for edge in view.edges(ids, [SUPERSEDES], "in", _ALL_EDGES):
        newer.setdefault(edge.target_id, edge)
    replaces = {edge.source_id for edge in view.edges(ids, [SUPERSEDES], "out", _ALL_EDGES)}
    for node in nodes:
        by = newer.get(node.node_id)
        if by is not None:
            node.metadata["chain_position"] = "intermediate" if node.node_id in replaces else "first"
            node.metadata["superseded"] = True
            node.metadata["superseded_by"] = by.source_id
            node.metadata["supersede_reason"] = by.properties.get("reason", "")
        elif node.node_id in replaces:
            node.metadata["chain_position"] = "latest"


def _similarity(edge: Edge) -> float:
    return float(edge.properties.get("similarity", 1.0))


def _created(node: Node) -> tuple[float, str]:
    return (node.valid_from.timestamp() if node.valid_from else 0.0, node.id)


# Counting and listing facts.

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
