"""What storing a fact writes: the fact, where it comes from, and what it is like [3]; and what it claims, which settles
with all else that is known of the same (recollect.derive.facts).

Facts to compare it with come from the index, by the rarest words that they share: old ones as well as new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.compat.hierarchical.names import Compared, amounts, are_of_others, leading_name, tokens
from recollect.compat.hierarchical.records import (
    CONTRADICTION,
    DERIVES,
    SIMILAR,
    SIMILARITY,
    TRANSITIONED,
    concept_of,
    contradiction,
    index_of,
    is_own,
    told_confidence,
)
from recollect.derive.facts.changes import TOLD, ClaimChanges, settled
from recollect.derive.facts.claim import Category, Claim, Provenance, entity_key, is_single
from recollect.derive.facts.rules.draw import draw
from recollect.derive.facts.stored import CATEGORIES, record, stored_claim
from recollect.derive.tasks.base import Effects, merged
from recollect.record import Edge, Message, Node, NodeId, NodeKind, Role, stable_id
from recollect.store import Change, IndexChange, View
from recollect.store.passages import EmbedderId, Partition, Passage
from recollect.text.terms import terms

_COMPARED = 50  # facts
_TERMS, _LOOKED_AT = 64, 4096  # words of a fact by which others are looked up, among so many characters
_SAME_CONCEPT = 0.5  # so much of the words of two concepts must be the same for a fact to replace another
_LOWEST = 0.1  # confidence of what was superseded

#: Makes the passages of a node.
Passages = Callable[[Node], Sequence[Passage]]


@dataclass(slots=True)
class Plan:
    """What is to be written of a new fact: itself with its edges and, where it claims something that may settle with
    other claims, what comes of that.
    """

    fact: Node
    edges: list[Edge] = field(default_factory=list)
    settled: Effects | None = None

    @property
    def effects(self) -> Effects:
        """All of it, where there is a claim."""
        return merged([self.settled or Effects(put=[self.fact]), Effects(edges=self.edges)])

    def change(self, embedder: EmbedderId, passages: Passages) -> Change:
        """The change for a fact that settles with nothing: nobody else can have written it meanwhile."""
        index = IndexChange(embedder=embedder, passages={self.fact.id: passages(self.fact)})
        return Change(expect={self.fact.id: 0}, put=[self.fact], edges=self.edges, index=index)


def plan_fact(view: View, fact: Node) -> Plan:
    """What is written for a new fact."""
    plan = Plan(fact)
    source = fact.body.get("source_id")
    if source and any(node.kind is NodeKind.EPISODE and not node.erased for node in view.get(Node, [source])):
        plan.edges.append(Edge(fact.id, DERIVES, source, {"confidence": 1.0}))
    others = _sharing_words(view, fact, [("fact", "past"), ("fact",)] if index_of(fact) > 0 else [("fact", "past")])
    own = _compared(fact)
    for other in others[0]:
        similarity = own.similarity(_compared(other))
        if similarity > SIMILARITY:
            told = contradiction(fact, other) if similarity > CONTRADICTION else {}
            plan.edges.append(Edge(fact.id, SIMILAR, other.id, {"similarity": similarity, **told}))
    ledger = ClaimChanges()
    if claim := _settling(view, fact, others[-1], ledger):
        ledger.enter(recorded(fact, claim))
        plan.settled = settled(view, ledger)
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
    return id in nodes and id != fact.id and is_own(nodes[id])


# --- what it claims ---------------------------------------------------------------------------------------------------
def claim_of(fact: Node, provenance: Provenance = Provenance.STORED, slot: NodeId | None = None) -> Claim | None:
    """What a fact claims that may settle with other claims: the one thing that rules read in it; or the numbers of what
    has a place in time, of which one holds at a time.
    """
    index, category = index_of(fact), fact.body.get("category")
    read = draw(Message(fact.id, NodeId(""), Role.USER, fact.text))
    about = {
        "said_by": "",
        "said_at": fact.valid_from,
        "category": Category(category) if category in CATEGORIES else Category.SEMANTIC,
        "provenance": provenance,
        "turn": max(index, 0.0),
    }
    if len(read) == 1 and (index <= 0 or is_single(read[0].attribute)) and slot in (None, read[0].slot):
        one = read[0]
        times = {"since": one.since, "until": one.until, "event": one.event, "polarity": one.polarity}
        return stored_claim(fact.id, fact.text, one.entity, one.attribute, one.value, **about, **times)
    numbers = ", ".join(sorted({one.text for one in amounts(fact.text)}))
    if not numbers or (index <= 0 and slot is None):
        return None
    attribute = " ".join(word for word in concept_of(fact).lower().split() if word in _topic(fact))
    name = leading_name(fact.text, concept_of(fact))
    of = [name] if name and name not in fact.key else []  # "olympics" is what facts of many are about
    own = slot or stable_id("slot", entity_key(fact.key), attribute, *of)
    return stored_claim(fact.id, fact.text, fact.key, attribute, numbers, settles_in=own, is_one=True, **about)


def recorded(fact: Node, claim: Claim) -> Node:
    """The record of a fact and what it claims."""
    made = record(fact.text, [claim], told_confidence(fact), fact.body, stored_at=fact.valid_from, origin=fact.origin)
    return replace(made, valid_from=fact.valid_from)


def _settling(view: View, fact: Node, living: Sequence[Node], ledger: ClaimChanges) -> Claim | None:
    """What a fact claims, about the same as a living one does whose concept is almost the same."""
    claim = claim_of(fact)
    if claim is None or not claim.is_one:
        return claim
    same = [other for other in living if _is_same(fact, other)]
    index = max((index_of(other) for other in same), default=0.0)
    same = [other for other in same if index_of(other) > 0 or (index_of(fact) >= index and _is_before(fact, other))]
    slots = {str(other.body["slot"]): str(other.body.get("attribute", "")) for other in same if "slot" in other.body}
    if slots and claim.slot not in slots:
        claim = replace(claim, settles_in=min(slots), attribute=slots[min(slots)])
    for other in same:
        if TOLD not in other.body and (index_of(other) <= 0 or not slots):
            _enter_chain(view, other, claim, ledger)
    return claim


def _is_before(fact: Node, other: Node) -> bool:
    """Whether a fact without a place in time is what one with a place replaces, unless it settles with others."""
    is_free = TOLD not in other.body or any(claim.get("is_one") for claim in other.body[TOLD]["claims"])
    return is_free and bool(contradiction(fact, other))


def _enter_chain(view: View, fact: Node, claim: Claim, ledger: ClaimChanges) -> None:
    """Has an old fact, and what it took the place of, settle with a claim."""
    while fact.id not in ledger.records:
        told = claim_of(fact, slot=claim.slot)
        if told is not None:
            told = replace(told, settles_in=claim.slot, attribute=claim.attribute, is_one=True)
            whole = min(1.0, 2 * fact.score) if fact.state == "superseded" and fact.score > 0 else fact.score
            ledger.enter(recorded(replace(fact, score=whole), told))
        older = view.get(Node, [edge.target_id for edge in view.edges([fact.id], [TRANSITIONED], "out")])
        fact = next((node for node in older if TOLD not in node.body and not node.erased), fact)
        if told is None:
            return


def _topic(fact: Node) -> frozenset[str]:
    """The words of its concept but for the name."""
    return tokens(concept_of(fact)) - tokens(fact.key)


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
    if are_of_others(fact.text, other.text, concept_of(fact), concept_of(other)):
        return False
    own, others = _basic(_topic(fact)), _basic(_topic(other))
    if not fact.key or not other.key or not own or not others:
        return own == others
    return len(own & others) >= _SAME_CONCEPT * len(own | others)


def _basic(words: Iterable[str]) -> frozenset[str]:
    """Words in their basic form: "medals" as "medal"."""
    return frozenset(" ".join(terms(word)) or word for word in words)


def _compared(node: Node) -> Compared:
    return Compared.of(node.text, node.body.get("tags") or (), concept_of(node))
