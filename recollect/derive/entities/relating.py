"""Relations between entities as sums of what messages say: how many say it, and which said it last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from recollect.derive.entities.relations import SAME
from recollect.derive.entities.tally import MENTIONS, Share, shares
from recollect.record import Edge, NodeId
from recollect.store import EdgeKey, View

RELATED: Final = "RELATED_TO"
_EVIDENCE = 10  # messages that an edge names, the newest
_ALL = 10_000_000

#: Source, relation, target.
Relation = tuple[NodeId, str, NodeId]
#: A message that says so: its time (-1: unknown) and id.
Proof = tuple[int, NodeId]


def edge_key(relation: Relation) -> EdgeKey:
    """Under which key a relation is stored. That two names mean the same is an edge of its own type."""
    source, name, target = relation
    return (source, SAME, target, "") if name == SAME else (source, RELATED, target, name)


@dataclass(slots=True)
class Related:
    """What changes in relations: the messages that say them now and did not, or no longer do."""

    more: dict[Relation, set[Proof]] = field(default_factory=dict)
    less: dict[Relation, set[Proof]] = field(default_factory=dict)

    def differ(self, message: NodeId, entity: NodeId, before: Share | None, after: Share | None) -> None:
        """Takes in how what a message says of an entity has changed."""
        was = {(said, _proof(message, before)) for said in before.says} if before else set()
        now = {(said, _proof(message, after)) for said in after.says} if after else set()
        for (name, target), proof in now - was:
            self.more.setdefault((entity, name, target), set()).add(proof)
        for (name, target), proof in was - now:
            self.less.setdefault((entity, name, target), set()).add(proof)

    def effects(self, view: View, people: frozenset[NodeId], changed: Changed) -> tuple[list[Edge], list[EdgeKey]]:
        """The edges to be put and cut. `people` have relations to very many things: theirs are read from the things."""
        relations = sorted(self.more.keys() | self.less.keys())
        known = _known(view, relations, people)
        put: list[Edge] = []
        cut: list[EdgeKey] = []
        for relation in relations:
            more, less = self.more.get(relation, set()), self.less.get(relation, set())
            weight, proofs = _held(known.get(edge_key(relation)))
            weight += len(more) - len(less)
            proofs = (proofs - less) | more
            if weight > len(proofs) < _EVIDENCE:  # an older one moves up
                proofs = _all_proofs(view, relation, changed)
            if weight > 0:
                put.append(_edge(relation, weight, proofs))
            else:
                cut.append(edge_key(relation))
        return put, cut


#: Shares as they will be, by message and entity; None: gone.
Changed = Mapping[tuple[NodeId, NodeId], Share | None]


def _proof(message: NodeId, share: Share) -> Proof:
    return (-1 if share.at is None else share.at, message)


def _known(view: View, relations: Iterable[Relation], people: frozenset[NodeId]) -> dict[EdgeKey, Edge]:
    outward = sorted({source for source, _, _ in relations if source not in people})
    inward = sorted({target for source, _, target in relations if source in people})
    found = view.edges(outward, (RELATED, SAME), "out", _ALL) if outward else []
    found += view.edges(inward, (RELATED, SAME), "in", _ALL) if inward else []
    return {edge.key: edge for edge in found}


def _held(edge: Edge | None) -> tuple[int, set[Proof]]:
    if edge is None:
        return 0, set()
    properties = edge.properties
    return properties["weight"], set(zip(properties["at"], properties["evidence"], strict=True))


def _edge(relation: Relation, weight: int, proofs: Iterable[Proof]) -> Edge:
    newest = sorted(proofs, reverse=True)[:_EVIDENCE]
    properties = {"weight": weight, "evidence": [i for _, i in newest], "at": [at for at, _ in newest]}
    source, kind, target, name = edge_key(relation)
    return Edge(source, kind, target, properties, name)


def _all_proofs(view: View, relation: Relation, changed: Changed) -> set[Proof]:
    """Every message that says so, read from all mentions of the source: needed only after a newer one has gone."""
    source, name, target = relation
    there = shares(view.edges([source], (MENTIONS,), "in", _ALL))
    there = {key: share for key, share in there.items() if key not in changed}
    there |= {key: share for key, share in changed.items() if share is not None and key[1] == source}
    return {_proof(message, share) for (message, _), share in there.items() if (name, target) in share.says}
