"""Facts and episodes as nodes of the store, and as what `HierarchicalMemory` shows of them."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from numbers import Real
from typing import Any

from recollect.compat.hierarchical.names import MemoryCategory, are_of_others, detect_contradiction, extract_entity_name
from recollect.derive.facts.changes import SAME, TOLD
from recollect.errors import InvalidInput
from recollect.record import Edge, Node, NodeId, NodeKind, Origin, parse_time
from recollect.text.clean import clean_metadata, clean_text

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
