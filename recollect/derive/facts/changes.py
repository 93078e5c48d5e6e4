"""Slots in the store: which claims are there, and which facts they make. Only the slots that are touched are settled.

A claim stands in the properties of an edge from its slot to its message: so the words of a message that is erased go
with it, and what a message said is found from the message. A claim that a program stored stands in the node of a fact,
its record (record.py); the edge leads there. The fact is shown in that node, so that its id stays. The cost depends on
the slots that are touched, not on how much is known of everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.entities.naming import ABOUT
from recollect.derive.facts import by_hand
from recollect.derive.facts.by_hand import BY_HAND, CORRECTS, FactsByHand, by_hand_id, slots_before, understood
from recollect.derive.facts.claim import Category, Claim, Provenance, from_plain, links, to_plain
from recollect.derive.facts.settle import SettledFact, settle
from recollect.derive.tasks.base import Effects, retired
from recollect.record import Edge, Node, NodeId, NodeKind, Origin, from_microseconds, stable_id, to_microseconds
from recollect.store import EdgeKey, View

#: The edges from slots to messages, and the state of slots.
CLAIMS, SLOT = "CLAIMS", "slot"
DERIVES_FROM, SUPERSEDES, TRANSITIONED_TO = "DERIVES_FROM", "SUPERSEDES", "TRANSITIONED_TO"
_OF_FACTS = (DERIVES_FROM, SUPERSEDES, TRANSITIONED_TO, ABOUT)

#: Names of CLAIMS edges: who made the claims.
RULES, MODEL, STORED = "rules", "model", "stored"

#: The states of records in which no fact is shown: another one says the same, and what a person decided.
SAME, FORGOTTEN, MERGED = "same", "forgotten", "merged"
#: The state of a rule that the user neither wrote nor confirmed: no search finds it, and no prompt holds it.
OFFERED = "offered"
#: In the body of a record: what was told, as it was.
TOLD = "told"

_ALL = 1_000_000_000
_AND = ", "  # between the amounts of a value
_CERTAIN, _OFTEN, _ONCE, _GUESSED, _PAST, _LEAST = 1.0, 0.95, 0.9, 0.5, 0.5, 0.1


@dataclass(slots=True)
class ClaimChanges:
    """What changes in the claims of slots: edges that are put and cut, records of what is stored, and what is decided
    by hand.
    """

    put: dict[EdgeKey, Edge] = field(default_factory=dict)
    cut: dict[EdgeKey, Edge] = field(default_factory=dict)
    hands: dict[NodeId, FactsByHand] = field(default_factory=dict)
    records: dict[NodeId, Node] = field(default_factory=dict)
    touched: set[NodeId] = field(default_factory=set)

    def touch(self, slots: Iterable[NodeId]) -> None:
        """Settles these as well: what was made stale and is found true again must live again."""
        self.touched |= set(slots)

    def add(self, claims: Iterable[Claim], maker: str, **more: str) -> None:
        """Takes claims in; those of one message and slot replace what it said there. `more` is noted beside them."""
        groups: defaultdict[tuple[NodeId, NodeId], list[Claim]] = defaultdict(list)
        for claim in claims:
            groups[claim.slot, claim.message_id].append(claim)
        for (slot, message), several in groups.items():
            edge = Edge(slot, CLAIMS, message, {"claims": [to_plain(claim) for claim in several], **more}, maker)
            self.put[_key(edge)] = edge

    def enter(self, record: Node) -> None:
        """Takes in the record of what a program stored."""
        self.records[record.id] = record
        self.add([from_plain(record.id, plain) for plain in record.body[TOLD]["claims"]], STORED)

    def drop(self, edges: Iterable[Edge]) -> None:
        """Takes back what edges say, unless it is said again."""
        for edge in edges:
            self.cut[_key(edge)] = edge

    def keep_unchanged(self, stored: Iterable[Edge]) -> None:
        """Leaves out what is stored already just so."""
        for edge in stored:
            fresh = self.put.get(_key(edge))
            if fresh is not None and dict(fresh.properties) == dict(edge.properties):
                del self.put[_key(edge)]
            elif fresh is None:
                self.cut[_key(edge)] = edge

    @property
    def slots(self) -> set[NodeId]:
        """Those that are touched."""
        gone = {key for key in self.cut if key not in self.put}
        return {key[0] for key in (*self.put, *gone)} | set(self.hands) | self.touched


def settled(view: View, ledger: ClaimChanges) -> Effects:
    """The effects of a ledger: its edges, and the facts of all slots that it touches."""
    slots = sorted(ledger.slots)
    if not slots:
        return Effects()
    claims = _claims(view, slots, ledger)
    hands = _hands(view, slots, ledger, claims)
    claims = {**_claims(view, sorted(hands.keys() - set(slots)), ledger), **claims}
    nodes = {node.id: node for node in view.get(Node, sorted(hands))}
    records = _records(view, claims, ledger)
    old_ids = [NodeId(i) for slot in hands for i in _facts_of(nodes.get(slot))]
    old = {node.id: node for node in view.get(Node, list(dict.fromkeys([*old_ids, *records])))}
    made = _MadeFacts(records)
    for slot, hand in sorted(hands.items()):
        made.add(slot, claims.get(slot, ()), hand.applied(_gathered(hand, hands, claims)), hand, nodes.get(slot))
    kept = {node.id for node in made.facts}
    left = [old[i] for i in old_ids if i in old and i not in kept]
    gone = [_gone(node) for node in left if not node.erased and TOLD not in node.body]
    put = [node for node in made.facts if old.get(node.id) != node] + [n for n in gone if old[n.id] != n] + made.slots
    edges = {_key(edge): edge for edge in made.edges}
    old_edges = {_key(e): e for e in view.edges(list(old), _OF_FACTS, limit=_ALL) if _is_ours(e, old)}
    cut = [key for key in ledger.cut if key not in ledger.put] + [key for key in old_edges if key not in edges]
    fresh = [edge for key, edge in edges.items() if _differs(edge, old_edges.get(key))]
    return Effects(put=put, edges=[*ledger.put.values(), *fresh], cut=cut)


def _is_ours(edge: Edge, facts: Mapping[NodeId, Node]) -> bool:
    """Whether settling made it: a proof with its quotation, a name, or what a fact took the place of here."""
    return "quote" in edge.properties if edge.type == DERIVES_FROM else edge.type == ABOUT or edge.target_id in facts


def current_hands(view: View, slots: Sequence[NodeId], ledger: ClaimChanges | None = None) -> dict[NodeId, FactsByHand]:
    """What is decided about these slots, and those that they were merged into or from."""
    return _hands(view, slots, ledger or ClaimChanges())


def source_claims(view: View, hand: FactsByHand, ledger: ClaimChanges) -> list[Claim]:
    """The claims of a slot in order, after a ledger, as a person corrected them."""
    hands = _hands(view, [hand.slot], ledger)
    found = hand.applied(_gathered(hand, hands, _claims(view, sorted(hands), ledger)))
    return sorted(found, key=lambda claim: claim.sort_key)


def slots_since(view: View, messages: Iterable[NodeId]) -> dict[NodeId, NodeId]:
    """Slots of version 0.2.0 with those that the claims of these messages have gone to."""
    found: dict[NodeId, NodeId] = {}
    for edge in view.edges(sorted(set(messages)), (CLAIMS,), "in", limit=_ALL):
        claims = [from_plain(edge.target_id, plain) for plain in edge.properties["claims"]]
        found |= dict.fromkeys(slots_before(edge.source_id, claims), edge.source_id)
    return found


def derived_claims(
    view: View, slots: Sequence[NodeId], ledger: ClaimChanges | None = None
) -> dict[NodeId, list[Claim]]:
    """The claims of slots as they were derived or stored, whatever was decided about them."""
    return _claims(view, slots, ledger or ClaimChanges())


def merged_from(hands: Mapping[NodeId, FactsByHand], slot: NodeId, identity: str) -> list[tuple[NodeId, str]]:
    """The slots and identities of what was derived that a fact is made of: its own, and what was merged into it."""
    found = dict.fromkeys((slot, of) for of in hands[slot].derived_as(identity))
    frontier = list(found)
    while frontier:
        taken = [key for at, of in frontier for key, into in hands[at].taken.items() if into == of]
        frontier = [key for key in taken if key not in found]
        found |= dict.fromkeys(frontier)
    return list(found)


@dataclass(slots=True)
class _MadeFacts:
    records: Mapping[NodeId, Node]
    facts: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    slots: list[Node] = field(default_factory=list)

    def add(
        self, slot: NodeId, own: Iterable[Claim], claims: Sequence[Claim], hand: FactsByHand, before: Node | None
    ) -> None:
        """The facts of a slot, as nodes and edges. `own` are the claims of the slot before anything was decided."""
        facts = settle(claims, hand.pins)
        records = {c.message_id: c for c in own if c.message_id in self.records}
        ids = _ids(slot, facts, records)
        by_fact = {id(fact): fact_id_ for fact, fact_id_ in zip(facts, ids, strict=True)}
        for index, (fact, name) in enumerate(zip(facts, ids, strict=True)):
            node = _node(slot, name, fact, index, self.records.get(name))
            self.facts.append(node)
            self.edges += [*_proofs(name, fact), *links(node)]
            if fact.replaces is not None:
                self.edges += _changed(name, fact, by_fact[id(fact.replaces)], fact.replaces, index)
        for name in sorted(records.keys() - set(ids)):
            self.facts.append(_unseen(self.records[name], slot, records[name], hand))
        mark = Node(slot, NodeKind.REPORT, state=SLOT, body={"facts": ids})
        if before != mark:
            self.slots.append(mark)


def _ids(slot: NodeId, facts: Sequence[SettledFact], records: Collection[NodeId]) -> list[NodeId]:
    """The ids of facts: that of the first record that tells them, else the same for the same claim, whoever derives it
    and however it was edited. A record of something that came up again is that of its latest time.
    """
    found: dict[int, NodeId] = {}
    taken: set[NodeId] = set()
    for at in reversed(range(len(facts))):
        fact = facts[at]
        own = [claim.message_id for claim in fact.claims if claim.message_id in records]
        names = dict.fromkeys((fact.first.edited or fact.identity, fact.identity))
        own += [stable_id("fact", slot, name, fact.run) for name in names]
        own.append(stable_id("fact", slot, fact.identity, fact.run, "again"))
        found[at] = next(name for name in own if name not in taken)
        taken.add(found[at])
    return [found[at] for at in range(len(facts))]


def _changed(name: NodeId, fact: SettledFact, older: NodeId, replaced: SettledFact, index: int) -> list[Edge]:
    """The edges that say what a fact took the place of."""
    turn, before = fact.first.turn, replaced.first.turn
    now, then = _changed_values(fact.first, replaced.first)
    change = {
        "from_value": now,
        "to_value": then,
        "turn": (int(turn) if turn == int(turn) else turn) if turn else index,
        "transition_type": "update",
    }
    why: dict[str, Any] = {}
    if turn and before:
        values = f"Updated values: {now} vs {then}"
        why = {"reason": values, "temporal_delta": f"index {before:g} -> {turn:g}"}
    return [Edge(name, SUPERSEDES, older, why), Edge(name, TRANSITIONED_TO, older, change)]


def _changed_values(newer: Claim, older: Claim) -> tuple[str, str]:
    """The values of two claims; of lists of amounts those that changed, in the order of the text."""
    now, then = newer.value.split(_AND), older.value.split(_AND)
    fresh, gone = [one for one in now if one not in then], [one for one in then if one not in now]
    if not (newer.is_one and older.is_one and fresh and gone):
        return newer.value, older.value
    return _AND.join(sorted(fresh, key=newer.content.find)), _AND.join(sorted(gone, key=older.content.find))


def _node(slot: NodeId, own: NodeId, fact: SettledFact, index: int, record: Node | None) -> Node:
    edited = next((claim for claim in fact.claims if claim.made_by == BY_HAND), None)
    messages = {claim.message_id for claim in fact.claims if claim.message_id}
    if edited or fact.pinned:
        confidence = _CERTAIN
    elif record is not None:
        confidence = float(record.body[TOLD]["score"])
    elif all(claim.said_by_assistant for claim in fact.claims):
        confidence = _GUESSED
    else:
        confidence = _OFTEN if len(messages) > 1 else _ONCE
    first = edited or next((c for c in fact.claims if record is not None and c.message_id == record.id), fact.first)
    body: dict[str, Any] = {
        "concept": first.attribute,
        "category": first.category.value,
        "tags": [],
        "entity": first.entity,
        "attribute": first.attribute,
        "value": first.value,
        "said_by": next((c.said_by for c in fact.claims if not c.said_by_assistant), first.said_by),
        "temporal_index": index,
        **(_kept(record) if record is not None else {}),
        "slot": slot,
        "identity": fact.identity,
        "known_from": to_microseconds(fact.known_from),
        "last_said": to_microseconds(fact.last_said),
        "provenance": [one.value for one in fact.provenances],
    }
    if fact.known_to is not None:
        body["known_to"] = to_microseconds(fact.known_to)
    for name, holds in (("pinned", fact.pinned), ("since_told", fact.since_told), ("until_told", fact.until_told)):
        if holds:
            body[name] = True
    if edited:
        body["by_hand"] = "edit"
    score = confidence if fact.is_live else min(confidence, max(_LEAST, round(confidence * _PAST, 3)))
    begins = fact.valid_from if record is None else _begins(record, fact)
    ends = fact.valid_to
    return Node(
        own,
        NodeKind.FACT,
        key=first.entity_key,
        text=first.content,
        state=_state(fact, edited),
        valid_from=begins,
        valid_to=max(ends, begins) if ends and begins else ends,
        score=score,
        origin=Origin.DERIVED if record is None else record.origin,
        made_by=first.made_by if record is None else "",
        body=body,
    )


def _state(fact: SettledFact, edited: Claim | None) -> str:
    if fact.category is Category.RULE and not (fact.pinned or edited or Provenance.BY_HAND in fact.provenances):
        return OFFERED
    return "live" if fact.is_live else "superseded"


def _kept(record: Node) -> dict[str, Any]:
    """What a record says beside its claims."""
    told = record.body[TOLD]
    return {**told["beside"], TOLD: told}


def _begins(record: Node, fact: SettledFact) -> datetime | None:
    """When what a record tells began; those that are listed by when they were stored keep that."""
    stored = record.body[TOLD].get("stored_at")
    return fact.valid_from if stored is None else from_microseconds(stored)


def _unseen(record: Node, slot: NodeId, claim: Claim, hand: FactsByHand) -> Node:
    """A record that shows no fact: another says the same, or a person took it away."""
    state = SAME
    if claim.message_id in hand.forgotten.get(claim.identity, ()):
        state = FORGOTTEN
    elif claim.identity in hand.moved:
        state = MERGED
    told = record.body[TOLD]
    body = {
        "entity": claim.entity,
        "attribute": claim.attribute,
        "value": claim.value,
        **_kept(record),
        "slot": slot,
        "identity": claim.identity,
        "known_from": to_microseconds(claim.said_at),
    }
    begins = from_microseconds(told["stored_at"]) if "stored_at" in told else claim.since or claim.said_at
    return replace(
        record,
        key=claim.entity_key,
        text=told["text"],
        state=state,
        valid_from=begins,
        valid_to=None,
        score=float(told["score"]),
        body=body,
    )


def _proofs(own: NodeId, fact: SettledFact) -> list[Edge]:
    """One edge for each message: the first place in it that says so."""
    edges: dict[NodeId, Edge] = {}
    for claim in fact.proofs:
        if claim.message_id and claim.provenance is Provenance.SAID and claim.message_id not in edges:
            proof = {
                "quote": claim.quote,
                "start": claim.start,
                "end": claim.end,
                "said_by": claim.said_by,
                "said_at": to_microseconds(claim.said_at),
            }
            edges[claim.message_id] = Edge(own, DERIVES_FROM, claim.message_id, proof)
    return list(edges.values())


def _hands(
    view: View, slots: Sequence[NodeId], ledger: ClaimChanges, claims: Mapping[NodeId, list[Claim]] | None = None
) -> dict[NodeId, FactsByHand]:
    """What was decided about the slots, and about those that they were merged into or from."""
    found: dict[NodeId, FactsByHand] = {}
    frontier = list(slots)
    while frontier:
        said = _claims(view, frontier, ledger) if claims is None or found else claims
        before = {slot: slots_before(slot, said.get(slot, ())) for slot in frontier}
        places = dict.fromkeys([*frontier, *(old for olds in before.values() for old in olds)])
        stored = {node.id: node for node in view.get(Node, [by_hand_id(slot) for slot in places])}
        words: defaultdict[NodeId, list[Edge]] = defaultdict(list)
        for edge in view.edges(list(stored), (CORRECTS,), limit=_ALL):
            words[edge.source_id].append(edge)
        read = {s: by_hand.read(s, stored.get(by_hand_id(s)), words[by_hand_id(s)]) for s in places}
        for slot in frontier:
            kept = understood(read[slot], [read[old] for old in before[slot]], said.get(slot, ()))
            found[slot] = ledger.hands.get(slot) or kept
        moved = {to for slot in frontier for to, _ in found[slot].moved.values()}
        taken = {of for slot in frontier for of, _ in found[slot].taken}
        frontier = sorted((moved | taken) - found.keys())
    return found


def _claims(view: View, slots: Sequence[NodeId], ledger: ClaimChanges) -> dict[NodeId, list[Claim]]:
    """The claims of slots as they are after the ledger."""
    edges = {_key(edge): edge for edge in view.edges(slots, (CLAIMS,), limit=_ALL)}
    edges = {key: edge for key, edge in edges.items() if key not in ledger.cut} | ledger.put
    claims: defaultdict[NodeId, list[Claim]] = defaultdict(list)
    for edge in edges.values():
        claims[edge.source_id] += [from_plain(edge.target_id, plain) for plain in edge.properties["claims"]]
    return claims


def _records(view: View, claims: Mapping[NodeId, list[Claim]], ledger: ClaimChanges) -> dict[NodeId, Node]:
    """The records of what was stored among these claims."""
    ids = {c.message_id for several in claims.values() for c in several if c.provenance is not Provenance.SAID}
    stored = view.get(Node, sorted(ids - ledger.records.keys()))
    return {node.id: node for node in (*stored, *ledger.records.values()) if not node.erased and TOLD in node.body}


def _gathered(
    hand: FactsByHand, hands: Mapping[NodeId, FactsByHand], claims: Mapping[NodeId, list[Claim]]
) -> list[Claim]:
    """The claims of a slot, with those that were merged into it in its own words."""
    merged = [claim for into in dict.fromkeys(hand.taken.values()) for claim in _merged(hand, into, hands, claims)]
    return [*claims.get(hand.slot, ()), *merged]


def _merged(
    hand: FactsByHand,
    into: str,
    hands: Mapping[NodeId, FactsByHand],
    claims: Mapping[NodeId, list[Claim]],
    seen: frozenset[tuple[NodeId, str]] = frozenset(),
) -> list[Claim]:
    """The claims that were merged into one of a slot, and into these before, in its words."""
    own = [claim for claim in claims.get(hand.slot, ()) if claim.identity == into]
    model = min(own, key=lambda claim: claim.sort_key, default=None)
    found: list[Claim] = []
    for (slot, of), to in hand.taken.items():
        if to == into and (slot, of) not in seen:
            said = [claim for claim in claims.get(slot, ()) if claim.identity == of]
            deeper = _merged(hands[slot], of, hands, claims, seen | {(slot, of)})
            found += [_worded_as(claim, model) for claim in (*hands[slot].remembered(said), *deeper)]
    return found


def _worded_as(claim: Claim, model: Claim | None) -> Claim:
    if model is None:
        return claim
    return replace(claim, entity=model.entity, attribute=model.attribute, value=model.value, content=model.content)


def _facts_of(node: Node | None) -> Sequence[str]:
    return () if node is None else node.body.get("facts", ())


def facts_in(view: View, slot: NodeId) -> list[Node]:
    """The facts of a slot as they were settled last, in the order in which they held."""
    return view.get(Node, [NodeId(i) for node in view.get(Node, [slot]) for i in _facts_of(node)])


def _gone(node: Node) -> Node:
    """A fact that is no more: only which slot and digest it had, for whoever takes a decision back."""
    kept = {name: node.body[name] for name in ("slot", "identity") if name in node.body}
    return replace(retired(node), body=kept)


def _key(edge: Edge) -> EdgeKey:
    return edge.source_id, edge.type, edge.target_id, edge.name


def _differs(edge: Edge, stored: Edge | None) -> bool:
    return stored is None or dict(stored.properties) != dict(edge.properties)
