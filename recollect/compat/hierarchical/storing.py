"""What storing a fact writes: the fact, where it comes from, what it replaces, and what it is like [3].

Facts to compare it with come from the index, by the rarest words that they share: old ones as well as new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.compat.hierarchical.contradiction import detect_contradiction
from recollect.compat.hierarchical.records import (
    DERIVES,
    SIMILAR,
    SUPERSEDES,
    TRANSITIONED,
    concept_of,
    index_of,
)
from recollect.compat.hierarchical.similarity import Compared, tokens
from recollect.record import Edge, Node, NodeId, NodeKind, stable_id
from recollect.store import Change, EdgeKey, IndexChange, View
from recollect.store.passages import EmbedderId, Partition, Passage
from recollect.text.terms import terms

#: Facts that are more alike than this are linked; those much more so are compared for contradictions.
SIMILARITY, CONTRADICTION = 0.3, 0.5

_COMPARED = 50  # facts
_TERMS, _LOOKED_AT = 64, 4096  # words of a fact by which others are looked up, among so many characters
_SAME_CONCEPT = 0.5  # so much of the words of two concepts must be the same for a fact to replace another
_LOWEST = 0.1  # confidence of what was superseded

#: Written with every fact that has a place in time, so that two of them cannot be stored without seeing each other.
_TURN = Node(stable_id("hierarchical", "turn"), NodeKind.REPORT, key="hierarchical:turn")

#: Makes the passages of a node.
Passages = Callable[[Node], Sequence[Passage]]


@dataclass(slots=True)
class Plan:
    """A change in the making."""

    put: dict[NodeId, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    cut: list[EdgeKey] = field(default_factory=list)
    planned_on: dict[NodeId, None] = field(default_factory=dict)

    def change(self, view: View, embedder: EmbedderId, passages: Passages) -> Change:
        """The change, which is refused where one of the facts that it was planned on has changed since."""
        revisions = view.revisions(list(self.planned_on))
        return Change(
            expect={i: revisions[i].number if i in revisions else 0 for i in self.planned_on},
            put=list(self.put.values()),
            edges=self.edges,
            cut=self.cut,
            index=IndexChange(embedder=embedder, passages={node.id: passages(node) for node in self.put.values()}),
        )


def plan_fact(view: View, fact: Node) -> Plan:
    """What is written for a new fact."""
    plan = Plan(put={fact.id: fact}, planned_on={fact.id: None})
    source = fact.body.get("source_id")
    if source and any(node.kind is NodeKind.EPISODE and not node.erased for node in view.get(Node, [source])):
        plan.edges.append(Edge(fact.id, DERIVES, source, {"confidence": 1.0}))
    others = _sharing_words(view, fact, [("fact", "past"), ("fact",)] if index_of(fact) > 0 else [("fact", "past")])
    if index_of(fact) > 0:
        _place_in_time(view, fact, others[-1], plan)
    own = _compared(fact)
    for other in others[0]:
        similarity = own.similarity(_compared(other))
        if similarity > SIMILARITY:
            told = _contradiction(fact, other) if similarity > CONTRADICTION else {}
            plan.edges.append(Edge(fact.id, SIMILAR, other.id, {"similarity": similarity, **told}))
    return plan


def _sharing_words(view: View, fact: Node, of_kinds: Sequence[tuple[str, ...]]) -> list[list[Node]]:
    """Facts of some kinds that share words with this one, those with the rarest and most of them first, then newest;
    and the same for further kinds.
    """
    wanted = list(dict.fromkeys(terms(f"{concept_of(fact)} {fact.text[:_LOOKED_AT]}")))[:_TERMS]
    found = [view.sharing(Partition.DERIVED, wanted, _COMPARED, kinds=kinds) for kinds in of_kinds]
    every = list(dict.fromkeys(number for numbers in found for number in numbers))
    owners = {text.number: text.owner_id for text in view.passages(every)}
    nodes = {node.id: node for node in view.get(Node, list(dict.fromkeys(owners.values())))}
    return [
        [
            nodes[i]
            for i in dict.fromkeys(owners[number] for number in numbers if number in owners)
            if _is_other(i, nodes, fact)
        ]
        for numbers in found
    ]


def _is_other(id: NodeId, nodes: Mapping[NodeId, Node], fact: Node) -> bool:
    return id in nodes and id != fact.id and nodes[id].kind is NodeKind.FACT


# --- in time ----------------------------------------------------------------------------------------------------------
def _place_in_time(view: View, fact: Node, living: Sequence[Node], plan: Plan) -> None:
    """A newer fact about the same, with other numbers, supersedes the older one; the newer may be stored first."""
    plan.put[_TURN.id] = _TURN
    plan.planned_on[_TURN.id] = None
    current = [other for other in living if index_of(other) > 0 and _is_same(fact, other)]
    for older in current:
        if index_of(older) < index_of(fact):
            _supersede(plan, plan.put[fact.id], older)
    later = [other for other in current if index_of(other) > index_of(fact)]
    if later:
        _put_between(view, fact, min(later, key=index_of), plan)


def _put_between(view: View, fact: Node, newer: Node, plan: Plan) -> None:
    """A fact that comes late takes its place in the chain that leads down from a newer one."""
    while True:
        older = _before(view, newer)
        further = [node for node in older if index_of(node) > index_of(fact)]
        if not further:
            break
        newer = max(further, key=index_of)
    if not _contradiction(newer, fact):
        return
    for node in older:
        if index_of(node) < index_of(fact) and _contradiction(fact, node):
            plan.cut += [(newer.id, kind, node.id, "") for kind in (SUPERSEDES, TRANSITIONED)]
            _supersede(plan, plan.put[fact.id], node)
    plan.planned_on[newer.id] = None
    plan.put.setdefault(newer.id, newer)  # raises its revision: another one may come in between at the same time
    _supersede(plan, newer, plan.put[fact.id])


def _before(view: View, newer: Node) -> list[Node]:
    found = view.edges([newer.id], [TRANSITIONED], "out")
    return view.get(Node, [edge.target_id for edge in found])


def _supersede(plan: Plan, newer: Node, older: Node) -> None:
    told = _contradiction(newer, older)
    if not told:
        return
    values = told["conflicting_values"]
    own, _, other = values.partition(" vs ")
    delta = f"index {index_of(older):g} -> {index_of(newer):g}"
    plan.edges += [
        Edge(newer.id, SUPERSEDES, older.id, {"reason": f"Updated values: {values}", "temporal_delta": delta}),
        Edge(
            newer.id,
            TRANSITIONED,
            older.id,
            {"from_value": own, "to_value": other, "turn": _whole(index_of(newer)), "transition_type": "update"},
        ),
    ]
    plan.planned_on[older.id] = None
    if older.state == "live":
        plan.put[older.id] = superseded(older, newer)


def superseded(older: Node, newer: Node | None) -> Node:
    """A fact that holds no longer: less is to be thought of it."""
    lowered = min(older.score, max(_LOWEST, older.score / 2))
    until = newer.valid_from if newer else None
    if until is not None and older.valid_from is not None:
        until = max(until, older.valid_from)
    return replace(older, state="superseded", score=lowered, valid_to=until)


def _is_same(fact: Node, other: Node) -> bool:
    """Whether two facts are about the same of the same: one entity, and mostly one concept beside its name."""
    if fact.key and other.key and fact.key != other.key:
        return False
    own, others = (tokens(concept_of(node)) - tokens(node.key) for node in (fact, other))
    if not fact.key or not other.key or not own or not others:
        return own == others
    return len(own & others) >= _SAME_CONCEPT * len(own | others)


def _contradiction(newer: Node, older: Node) -> dict[str, str]:
    return detect_contradiction(newer.text, older.text, concept_of(newer), concept_of(older))


def _compared(node: Node) -> Compared:
    return Compared.of(node.text, node.body.get("tags") or (), concept_of(node))


def _whole(index: float) -> int | float:
    return int(index) if index == int(index) else index
