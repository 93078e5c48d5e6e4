"""Correcting facts by hand: edit, pin, merge, forget, and taking that back. Each is one change, planned like any other.

A correction is a decision about a slot (by_hand.py), wherever its claims come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.derive.facts.by_hand import BY_HAND, CORRECTS, FactsByHand, by_hand_id
from recollect.derive.facts.changes import (
    CLAIMS,
    SAME,
    ClaimChanges,
    current_hands,
    derived_claims,
    facts_in,
    merged_from,
    settled,
    slots_since,
    source_claims,
)
from recollect.derive.facts.claim import RELATIONSHIP, Provenance, slot_of
from recollect.derive.facts.fact import Fact, facts_of, is_rule
from recollect.derive.facts.instructions import check_room, rule_words, same_rule
from recollect.derive.facts.stored import (
    ENTERED,
    MARK,
    claims_of,
    entered,
    is_old,
    must_be_entered,
    old_ones,
    plan_stored,
    reworded,
    statement,
)
from recollect.derive.tasks.base import Effects, Setting
from recollect.derive.tasks.queue import Publisher, head_revision
from recollect.errors import InvalidInput, NotFound
from recollect.models.embedding import Embedder
from recollect.record import Edge, Node, NodeId, NodeKind, stable_id
from recollect.store import EdgeKey, Space, Task, View, Where
from recollect.store.transfer import every
from recollect.store.update import insist
from recollect.text.clean import clean_title

_ALL = 1_000_000_000
_SHORTEST = 4  # characters of an id, from its end
_SHOWN = ("live", "superseded")


@dataclass(frozen=True, slots=True)
class _NamedFact:
    """A fact that is named: its node, the slot and identity that it has, and what is entered for that."""

    node: Node
    slot: NodeId
    identity: str
    ledger: ClaimChanges

    def by(self, hand: FactsByHand) -> _NamedFact:
        """The same by today's digest."""
        return replace(self, identity=hand.named(self.identity))


_Plan = Callable[[View], tuple[Effects, Sequence[NodeId]]]


class Corrections:
    """Decisions of a person about facts."""

    def __init__(self, space: Space, embedder: Embedder, now: Callable[[], datetime]) -> None:
        self._space, self._publisher, self._now = space, Publisher(embedder), now

    def edit(self, name: str, content: str | None, value: str | None) -> Fact:
        """Gives a fact other words. Raises NotFound, InvalidInput where nothing is given, or too much."""
        words, told = statement(content or ""), clean_title(value or "")
        if not words and not told:
            raise InvalidInput("Nothing to change: give the new content or the new value.")

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name)
            hand = current_hands(view, [fact.slot], fact.ledger)[fact.slot]
            claims = source_claims(view, hand, fact.ledger)
            identity = hand.named(fact.identity)
            claims = [c for c in claims if c.identity == identity and c.message_id]
            if not claims:
                raise NotFound(f"No fact has the ID {name}.")
            first = next((c for c in claims if c.message_id == fact.node.id), claims[0])
            worded, new_value = reworded(first, words, told)
            now = self._now()
            if is_rule(fact.node):
                check_room(view, rule_words(worded), but=fact.node.id)
            holds = facts_of(view, [fact.node])[0].holds(now) if fact.node.state in _SHOWN else False
            fresh = hand.with_edit(identity, claims, new_value, worded, now, holds=holds)
            edit = fresh.edits[-1]
            before = next((one for one in hand.edits if one.of == edit.of), None)
            values = {one.becomes: one.value for one in (before, edit) if one and one.value and not first.settles_in}
            slots = {of: slot_of(first.entity, first.attribute, given) for of, given in values.items()}
            hands = {**current_hands(view, [fact.slot, *slots.values()], fact.ledger), fact.slot: fresh}
            if before is not None and before.becomes in slots:
                _part(hands, fact.slot, slots[before.becomes], before.becomes)
            if edit.becomes in slots:
                _join(hands, fact.slot, slots[edit.becomes], edit.becomes)
            effects = _decided(view, list(hands.values()), fact.ledger)
            return effects, _ids_with(effects, fact.slot, fresh.edits[-1].becomes) or [fact.node.id]

        return self._write(plan)[0]

    def store(self, told: Node, drawn: Callable[[NodeId], Sequence[Edge]] = lambda fact: ()) -> Fact:
        """Stores a fact that somebody tells (stored.py). Returns it, or the one that says the same already. `drawn` are
        the edges from its record to what it was drawn from.
        """

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            effects, ids = plan_stored(view, told)
            entered = next((node.id for node in effects.put if node.id == told.id), ids[0])
            return replace(effects, edges=[*effects.edges, *drawn(entered)]), ids

        return self._write(plan, begins=True)[0]

    def store_rule(self, told: Node) -> Fact:
        """Stores a rule (instructions.py), or gives the one that says the same. Raises InvalidInput where together they
        are too many.
        """
        is_confirmed = Provenance.BY_HAND in {claim.provenance for claim in claims_of(told)}

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            if (same := same_rule(view, told, is_confirmed=is_confirmed)) is not None:
                return Effects(), [same.id]
            if is_confirmed:
                check_room(view, told.text)
            return plan_stored(view, told)

        return self._write(plan, begins=True)[0]

    def shown(self, fact: str) -> NodeId:
        """The fact in which one is shown now, which may be what it was corrected to. Raises NotFound."""
        with self._space.view() as view:
            return _find(view, fact).node.id

    def forget_added(self, facts: Sequence[NodeId]) -> None:
        """Forgets relationships that were only added, with the words in which they were."""
        for fact in facts:
            with self._space.view() as view:
                found = _find(view, fact)
                hands = current_hands(view, [found.slot], found.ledger)
                meant = merged_from(hands, found.slot, hands[found.slot].named(found.identity))
                claims = derived_claims(view, list(dict.fromkeys(slot for slot, _ in meant)), found.ledger)
                told = [c.message_id for slot, of in meant for c in claims.get(slot, ()) if c.identity == of]
                records = [node.id for node in view.get(Node, list(dict.fromkeys(told))) if node.body.get(RELATIONSHIP)]
            self.forget(fact)
            self.withdraw(records)
            self._space.erase(records)

    def withdraw(self, ids: Sequence[NodeId]) -> None:
        """Takes back what the records of stored facts say, which are to be erased: facts settle without them, and
        without corrections of nothing else.
        """
        gone = frozenset(ids)

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            ledger = ClaimChanges()
            claims = view.edges(ids, (CLAIMS,), "in", limit=_ALL)
            ledger.drop(claims)
            hands = current_hands(view, sorted({edge.source_id for edge in claims}), ledger)
            return _decided(view, [hand.without_words_of(gone) for hand in hands.values() if hand.edits], ledger), []

        self._write(plan, shown=False)

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Holds on to a fact: nothing that is derived replaces it. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name)
            hand = current_hands(view, [fact.slot], fact.ledger)[fact.slot]
            identity = hand.named(fact.identity)
            if pinned and is_rule(fact.node):
                check_room(view, fact.node.text, but=fact.node.id)
            pins = hand.pins | {identity} if pinned else hand.pins - {identity}
            effects = _decided(view, [replace(hand, pins=pins)], fact.ledger)
            return effects, _ids_with(effects, fact.slot, identity) or [fact.node.id]

        return self._write(plan)[0]

    def merge(self, name: str, others: Sequence[str]) -> Fact:
        """Makes one fact of several: the first, with the proofs of all. Raises NotFound, InvalidInput."""
        if not others:
            raise InvalidInput("Name the fact to keep, and those that go into it.")

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            kept = _find(view, name)
            slot, ledger = kept.slot, kept.ledger
            merged = [_find(view, other, ledger=ledger) for other in others]
            if any(one.node.id == kept.node.id for one in merged):
                raise InvalidInput("A fact cannot be merged into itself.")
            hands = current_hands(view, [slot, *(one.slot for one in merged)], ledger)
            kept, *merged = (one.by(hands[one.slot]) for one in (kept, *merged))
            if any((one.slot, one.identity) == (slot, kept.identity) for one in merged):
                raise InvalidInput("These are the same fact at two times: what is between them keeps them apart.")
            into = hands[slot].derived_as(kept.identity)[0]
            for one in merged:
                for of in hands[one.slot].derived_as(one.identity):
                    hands[slot] = hands[slot].taking(one.slot, of, into)
                    hands[one.slot] = hands[one.slot].moving(of, slot, into)
            effects = _decided(view, list(hands.values()), ledger)
            return effects, _ids_with(effects, slot, kept.identity) or [kept.node.id]

        return self._write(plan)[0]

    def forget(self, name: str) -> NodeId:
        """Removes a fact for good, and keeps it from being drawn from the same messages again. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name)
            hands = current_hands(view, [fact.slot], fact.ledger)
            meant = merged_from(hands, fact.slot, hands[fact.slot].named(fact.identity))
            claims = derived_claims(view, list(dict.fromkeys(slot for slot, _ in meant)), fact.ledger)
            for slot, of in meant:
                messages = frozenset(claim.message_id for claim in claims.get(slot, ()) if claim.identity == of)
                hands[slot] = hands[slot].forgetting(of, messages)
            return _decided(view, list(hands.values()), fact.ledger), [fact.node.id]

        self._write(plan, shown=False)
        with self._space.view() as view:
            return _find(view, name, gone=True).node.id

    def undo(self, name: str) -> list[Fact]:
        """Takes back whatever was decided about a fact. Returns the facts that there are then. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name, gone=True)
            barred = current_hands(view, [fact.slot], fact.ledger)[fact.slot].forgotten.values()
            own = slots_since(view, {message for some in barred for message in some}).get(fact.slot, fact.slot)
            hands = current_hands(view, [own], fact.ledger)
            hand = hands[own]
            identity = hand.named(fact.identity)
            identities = hand.shown_as(identity)
            for slot, of in merged_from(hands, own, identity):
                hands[slot] = hands[slot].recalling(of)
            for (slot, of), into in hand.taken.items():
                if into in identities:
                    hands[slot] = hands[slot].staying(of)
            for of, (slot, _) in hand.moved.items():
                if of in identities:
                    hands[slot] = hands[slot].leaving(own, of)
            hands[own] = hands[own].without(identities)
            effects = _decided(view, list(hands.values()), fact.ledger)
            facts = (node for node in effects.put if node.kind is NodeKind.FACT and node.text)
            return effects, [node.id for node in facts if node.state in _SHOWN]

        return self._write(plan)

    def _write(self, plan: _Plan, *, shown: bool = True, begins: bool = False) -> list[Fact]:
        def once() -> Sequence[NodeId]:
            with self._space.view() as view:
                revision = head_revision(view)
                effects, ids = plan(view)
            self._space.write(self._publisher.change(effects, revision, begins=begins))
            return ids

        ids = insist(once, "The facts are")
        with self._space.view() as view:
            return facts_of(view, [n for n in view.get(Node, ids) if n.text]) if shown else []


def resolve_fact(view: View, name: str) -> NodeId:
    """The id of the fact that a person means by an id or the end of one, be it forgotten or not. Raises NotFound,
    InvalidInput where several are meant.
    """
    if _facts_of(view, name):
        return NodeId(name)
    ending = name.upper()
    kinds = Where(kinds=(NodeKind.FACT.value,))
    found = [n for n in every(view, Node, kinds) if n.id.upper().endswith(ending) and not n.erased]
    found = [node for node in found if node.text] or found
    if len(name) < _SHORTEST or not found:
        raise NotFound(f"No fact has the ID {name}.", hint="To see what there is: recollect facts")
    if len(found) > 1:
        raise InvalidInput(f"{name!r} matches several facts.", hint="Use more of the ID.")
    return found[0].id


def _find(view: View, id: str, *, gone: bool = False, ledger: ClaimChanges | None = None) -> _NamedFact:
    """The fact of an id, or the one that its claims are shown in now; `gone`: be it nowhere. Raises NotFound."""
    found = next(iter(_facts_of(view, id)), None)
    ledger = ledger if ledger is not None else ClaimChanges()
    if found is not None and is_old(found):
        entered(view, [found], ledger)
        claim = claims_of(ledger.records[found.id])[0]
        hand = current_hands(view, [claim.slot], ledger)[claim.slot]
        identity = next((edit.becomes for edit in hand.edits if edit.of == claim.identity), claim.identity)
        named = _NamedFact(found, claim.slot, identity, ledger)
    elif found is not None and "slot" in found.body:
        named = _NamedFact(found, NodeId(found.body["slot"]), str(found.body["identity"]), ledger)
    else:
        raise _unknown(id)
    if found.state in _SHOWN and found.text:
        return named
    hands = current_hands(view, [named.slot], ledger)
    places = [(named.slot, named.identity)]
    moved = hands[named.slot].moved.get(named.identity)
    places += [moved] if moved and not gone else []  # what was merged is taken back where it was
    for slot, of in places:
        shown = [node for node in facts_in(view, slot) if node.body.get("identity") in hands[slot].shown_as(of)]
        for node in sorted(shown, key=lambda node: node.state != "live"):
            return _NamedFact(node, slot, str(node.body["identity"]), ledger)
    if not gone and found.state != SAME:  # such a record is hidden by what is pinned, or tells an end alone
        raise _unknown(id)
    return named


def _join(hands: dict[NodeId, FactsByHand], slot: NodeId, other: NodeId, of: str) -> None:
    """Has what is told of the value of an edit, in a slot of its own, settle with the fact that was edited."""
    there = hands[other]
    if other != slot and of not in there.moved and not any(of in (one.of, one.becomes) for one in there.edits):
        hands[other] = there.moving(of, slot, of)
        joined = hands[slot].taking(other, of, of)
        hands[slot] = replace(joined, pins=joined.pins | (there.pins & {of}))


def _part(hands: dict[NodeId, FactsByHand], slot: NodeId, other: NodeId, of: str) -> None:
    """Takes that back, for another edit."""
    if hands[slot].taken.get((other, of)) == of:
        hands[slot], hands[other] = hands[slot].leaving(other, of), hands[other].staying(of)


def _unknown(id: str) -> NotFound:
    return NotFound(f"No fact has the ID {id}.", hint="Give a whole ID: resolve_fact() finds it by its end.")


def _facts_of(view: View, id: str) -> list[Node]:
    return [node for node in view.get(Node, [NodeId(id)]) if node.kind is NodeKind.FACT and not node.erased]


def _decided(view: View, hands: Sequence[FactsByHand], entered: ClaimChanges) -> Effects:
    """What follows from decisions: themselves, and the facts of their slots settled anew."""
    former = {slot: FactsByHand(slot) for hand in (*entered.hands.values(), *hands) for slot in hand.former}
    decided = {**entered.hands, **former, **{hand.slot: hand for hand in hands}}
    made = settled(view, replace(entered, hands=decided))
    nodes = {node.id: node for node in view.get(Node, [by_hand_id(slot) for slot in decided])}
    put = [hand.node() for hand in decided.values() if not hand.is_empty or by_hand_id(hand.slot) in nodes]
    edges = [edge for hand in decided.values() for edge in hand.edges()]
    words: dict[EdgeKey, Edge] = {(e.source_id, e.type, e.target_id, e.name): e for e in edges}
    stored = view.edges(list(nodes), (CORRECTS,), limit=_ALL)
    cut = [key for e in stored if (key := (e.source_id, e.type, e.target_id, e.name)) not in words]
    return Effects(put=[*made.put, *put], edges=[*made.edges, *words.values()], cut=[*made.cut, *cut])


def entered_effects(view: View, nodes: Sequence[Node], *more: Node) -> Effects:
    """What is written to have stored facts settle with all others."""
    effects = _decided(view, [], entered(view, nodes))
    return replace(effects, put=[*effects.put, *more])


def _ids_with(effects: Effects, slot: NodeId, identity: str) -> list[NodeId]:
    found = [
        node
        for node in effects.put
        if node.kind is NodeKind.FACT
        and node.state in _SHOWN
        and node.body.get("slot") == slot
        and node.body.get("identity") == identity
    ]
    return [node.id for node in sorted(found, key=lambda node: node.state != "live")][:1]


# Tasks about facts: slots that a dump brought decisions or stored facts for, and what was stored before records.

SETTLE = "settle"


def due(nodes: Iterable[Node]) -> list[Task]:
    """The tasks for decisions about facts, and for stored facts, that come in with a dump."""
    return [
        _task(node.id)
        for node in nodes
        if (node.kind is NodeKind.REPORT and node.state == BY_HAND) or must_be_entered(node)
    ]


def entering(space: Space) -> list[Task]:
    """The task for what was stored before there were records, if there is any."""
    with space.view() as view:
        return [_task(ENTERED)] if not view.get(Node, [ENTERED]) and old_ones(view) else []


def _task(subject: NodeId) -> Task:
    return Task(id=stable_id("task", SETTLE, subject), kind=SETTLE, subject=subject)


class SettleWork:
    """Settles a slot anew after a decision about it, or a stored fact, came in."""

    kind = SETTLE

    def group(self, task: Task) -> str:
        """By itself: a decision may move claims from one slot to another."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The facts of the slot as they are now."""
        if task.subject == ENTERED:
            return entered_effects(view, old_ones(view), MARK)
        nodes = view.get(Node, [task.subject]) if task.subject else []
        told = [node for node in nodes if must_be_entered(node)]
        if told:
            return entered_effects(view, told)
        slots = [NodeId(node.body["slot"]) for node in nodes if node.state == BY_HAND and not node.erased]
        if not slots:
            return Effects()
        return settled(view, ClaimChanges(hands=current_hands(view, slots)))
