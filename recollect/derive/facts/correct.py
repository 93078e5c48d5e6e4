"""Correcting facts by hand: edit, pin, merge, forget, and taking that back. Each is one change, planned like any other.

Facts that came from messages are corrected by a decision about their slot (by_hand.py); those that somebody stored as
such are changed themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.derive.facts.book import (
    CLAIMS,
    DERIVES_FROM,
    Ledger,
    current_hands,
    derived_claims,
    merged_from,
    settled,
    source_claims,
)
from recollect.derive.facts.by_hand import CORRECTS, ByHand, by_hand_id
from recollect.derive.facts.claim import identity_of
from recollect.derive.facts.fact import Fact, facts_of
from recollect.derive.facts.phrase import content_of
from recollect.derive.facts.stored import links_of, plan_stored, reworded, statement, value_in
from recollect.derive.tasks.base import Effects
from recollect.derive.tasks.publish import Publisher, head_revision
from recollect.errors import InvalidInput, NotFound, StoreBusy
from recollect.models.embedding import Embedder
from recollect.record import Edge, Node, NodeId, NodeKind, Origin
from recollect.store import EdgeKey, Space, Stale, View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_title

_PATIENCE = 30.0
_ALL = 1_000_000_000
_SHORTEST = 4  # characters of an id, from its end
_FORGOTTEN, _MERGED = "forgotten", "merged"
_WAS = "was"  # in the body of a stored fact: what undoing a correction brings back


@dataclass(frozen=True, slots=True)
class _Named:
    """A fact that is named: its node, and the slot and identity that it has if it came from messages."""

    node: Node

    @property
    def slot(self) -> NodeId | None:
        slot = self.node.body.get("slot")
        return NodeId(slot) if slot else None

    @property
    def identity(self) -> str:
        return str(self.node.body.get("identity", ""))


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
            if fact.slot is None:
                return _itself(fact, reworded(fact.node, words, told)), [fact.node.id]
            hand = current_hands(view, [fact.slot])[fact.slot]
            claims = [c for c in source_claims(view, hand) if c.identity == fact.identity and c.message_id]
            if not claims:
                raise NotFound(f"No fact has the ID {name}.")
            first = claims[0]
            new_value = told or value_in(words, first.content, first.value) or first.value
            worded = words or content_of(first.entity, first.attribute, new_value)
            fresh = hand.with_edit(fact.identity, claims, new_value, worded, self._now())
            identity = identity_of(first.attribute, new_value)
            effects = _decided(view, [fresh])
            return effects, _ids_with(effects, fact.slot, identity) or [fact.node.id]

        return self._write(plan)[0]

    def store(self, told: Node) -> Fact:
        """Stores a fact that somebody tells (stored.py). Returns it, or the one that says the same already."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            return plan_stored(view, told, self._now())

        return self._write(plan, begins=True)[0]

    def pin(self, name: str, *, pinned: bool = True) -> Fact:
        """Holds on to a fact: nothing that is derived replaces it. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name)
            if fact.slot is None:
                node = replace(fact.node, body={**fact.node.body, "pinned": pinned})
                return Effects(put=[node]), [node.id]
            hand = current_hands(view, [fact.slot])[fact.slot]
            pins = hand.pins | {fact.identity} if pinned else hand.pins - {fact.identity}
            effects = _decided(view, [replace(hand, pins=pins)])
            return effects, _ids_with(effects, fact.slot, fact.identity) or [fact.node.id]

        return self._write(plan)[0]

    def merge(self, name: str, others: Sequence[str]) -> Fact:
        """Makes one fact of several: the first, with the proofs of all. Raises NotFound, InvalidInput."""
        if not others:
            raise InvalidInput("Name the fact to keep, and those that go into it.")

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            kept, merged = _find(view, name), [_find(view, other) for other in others]
            if any(one.node.id == kept.node.id for one in merged):
                raise InvalidInput("A fact cannot be merged into itself.")
            slot = kept.slot
            if slot is None or any(one.slot is None for one in merged):
                return _merged_stored(view, kept, merged), [kept.node.id]
            hands = current_hands(view, [slot, *(one.slot for one in merged if one.slot)])
            if any((one.slot, one.identity) == (slot, kept.identity) for one in merged):
                raise InvalidInput("These are the same fact at two times: what is between them keeps them apart.")
            into = hands[slot].derived_as(kept.identity)[0]
            for one in merged:
                assert one.slot is not None
                for of in hands[one.slot].derived_as(one.identity):
                    hands[slot] = hands[slot].taking(one.slot, of, into)
                    hands[one.slot] = hands[one.slot].moving(of, slot, into)
            effects = _decided(view, list(hands.values()))
            return effects, _ids_with(effects, slot, kept.identity) or [kept.node.id]

        return self._write(plan)[0]

    def forget(self, name: str) -> NodeId:
        """Removes a fact for good, and keeps it from being drawn from the same messages again. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name)
            if fact.slot is None:
                return Effects(put=[_away(fact.node, _FORGOTTEN)]), [fact.node.id]
            hands = current_hands(view, [fact.slot])
            meant = merged_from(hands, fact.slot, fact.identity)
            claims = derived_claims(view, list(dict.fromkeys(slot for slot, _ in meant)))
            for slot, of in meant:
                messages = frozenset(claim.message_id for claim in claims.get(slot, ()) if claim.identity == of)
                hands[slot] = hands[slot].forgetting(of, messages)
            return _decided(view, list(hands.values())), [fact.node.id]

        self._write(plan, shown=False)
        with self._space.view() as view:
            return _find(view, name, gone=True).node.id

    def undo(self, name: str) -> list[Fact]:
        """Takes back whatever was decided about a fact. Returns the facts that there are then. Raises NotFound."""

        def plan(view: View) -> tuple[Effects, list[NodeId]]:
            fact = _find(view, name, gone=True)
            if fact.slot is None:
                return Effects(put=[_as_stored(fact.node)]), [fact.node.id]
            hands = current_hands(view, [fact.slot])
            hand = hands[fact.slot]
            identities = hand.shown_as(fact.identity)
            for slot, of in merged_from(hands, fact.slot, fact.identity):
                hands[slot] = hands[slot].recalling(of)
            for (slot, of), into in hand.taken.items():
                if into in identities:
                    hands[slot] = hands[slot].staying(of)
            for of, (slot, _) in hand.moved.items():
                if of in identities:
                    hands[slot] = hands[slot].leaving(fact.slot, of)
            hands[fact.slot] = hands[fact.slot].without(identities)
            effects = _decided(view, list(hands.values()))
            return effects, [node.id for node in effects.put if node.kind is NodeKind.FACT and node.text]

        return self._write(plan)

    def _write(self, plan: _Plan, *, shown: bool = True, begins: bool = False) -> list[Fact]:
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit:
            with self._space.view() as view:
                revision = head_revision(view)
                effects, ids = plan(view)
            try:
                self._space.write(self._publisher.change(effects, revision, begins=begins))
            except Stale:
                continue
            with self._space.view() as view:
                return facts_of(view, [n for n in view.get(Node, ids) if n.text]) if shown else []
        raise StoreBusy("The facts are being changed by others all the time.", hint="Try again.")


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


def _find(view: View, id: str, *, gone: bool = False) -> _Named:
    """The fact of an id. Raises NotFound."""
    found = [node for node in _facts_of(view, id) if gone or node.text]
    if not found:
        raise NotFound(f"No fact has the ID {id}.", hint="Give a whole ID: resolve_fact() finds it by its end.")
    return _Named(found[0])


def _facts_of(view: View, id: str) -> list[Node]:
    return [node for node in view.get(Node, [NodeId(id)]) if node.kind is NodeKind.FACT and not node.erased]


def _decided(view: View, hands: Sequence[ByHand]) -> Effects:
    """What follows from decisions: themselves, and the facts of their slots settled anew."""
    ledger = Ledger(hands={hand.slot: hand for hand in hands})
    made = settled(view, ledger)
    nodes = {node.id: node for node in view.get(Node, [by_hand_id(hand.slot) for hand in hands])}
    put = [hand.node() for hand in hands if not hand.is_empty or by_hand_id(hand.slot) in nodes]
    words: dict[EdgeKey, Edge] = {(e.source_id, e.type, e.target_id, e.name): e for hand in hands for e in hand.edges()}
    stored = view.edges(list(nodes), (CORRECTS,), limit=_ALL)
    cut = [key for e in stored if (key := (e.source_id, e.type, e.target_id, e.name)) not in words]
    return Effects(put=[*made.put, *put], edges=[*made.edges, *words.values()], cut=[*made.cut, *cut])


def _ids_with(effects: Effects, slot: NodeId, identity: str) -> list[NodeId]:
    found = [
        node
        for node in effects.put
        if node.kind is NodeKind.FACT
        and node.text
        and node.body.get("slot") == slot
        and node.body.get("identity") == identity
    ]
    return [node.id for node in sorted(found, key=lambda node: node.state != "live")][:1]


def _itself(fact: _Named, fresh: Node) -> Effects:
    node = fact.node
    words = {"text": node.text, "value": node.body.get("value"), "by_hand": node.body.get("by_hand")}
    body = {**fresh.body, "by_hand": "edit", _WAS: {**words, **node.body.get(_WAS, {})}}
    return Effects(put=[replace(fresh, body=body, origin=Origin.SAID)], edges=links_of(fresh))


def _away(node: Node, state: str, **more: str) -> Node:
    """A stored fact that is not shown any more."""
    was = {**node.body.get(_WAS, {}), "state": node.state}
    return replace(node, state=state, body={**node.body, **more, _WAS: was})


def _as_stored(node: Node) -> Node:
    """A stored fact as it was before anybody corrected it. What came to replace it still does."""
    was = node.body.get(_WAS, {})
    told = {**node.body, **{name: was[name] for name in ("value", "by_hand") if name in was}}
    body = {key: one for key, one in told.items() if key not in ("pinned", "merged_into", _WAS) and one is not None}
    state = was.get("state", "live") if node.state in (_FORGOTTEN, _MERGED) else node.state
    return replace(node, text=was.get("text", node.text), state=state, body=body)


def _merged_stored(view: View, kept: _Named, merged: Sequence[_Named]) -> Effects:
    """Facts that were stored as such: the proofs go over, and the others say where they went."""
    if any(one.slot is not None for one in (kept, *merged)):
        raise InvalidInput("A fact that was stored by hand and one that came from messages cannot be merged.")
    proofs = view.edges([one.node.id for one in merged], (DERIVES_FROM,), limit=_ALL)
    edges = [replace(edge, source_id=kept.node.id) for edge in proofs]
    put = [_away(one.node, _MERGED, merged_into=kept.node.id) for one in merged]
    return Effects(put=put, edges=edges)


__all__ = ["CLAIMS", "Corrections", "resolve_fact"]
