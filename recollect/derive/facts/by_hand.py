"""What a person decided about facts: edits, pins, merges, and what is to be forgotten. One node a slot, without words.

It is said, not derived: it is in a dump, survives a rebuild, and is applied whenever its slot is settled. The words of
an edit stand in edges to the messages that it corrects, so that they go when the last of these is erased. Facts are
named by digests of what they say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.facts.claim import (
    Claim,
    Polarity,
    Provenance,
    attribute_key,
    dated,
    identity_before,
    identity_of,
    slot_before,
)
from recollect.record import Edge, Node, NodeId, NodeKind, Origin, from_microseconds, stable_id, to_microseconds

#: The state of such nodes, and the type of the edges that hold the words of edits.
BY_HAND, CORRECTS = "by hand", "CORRECTS"


@dataclass(frozen=True, slots=True)
class FactWording:
    """A fact in other words. `of` is the identity of what was derived, `becomes` what it is now; `at` is when it was
    corrected, and `holds` says that it held then. `keeps`: the fact keeps its id, as edits did not in version 0.2.
    """

    of: str
    becomes: str
    value: str
    content: str
    at: datetime | None
    messages: tuple[NodeId, ...] = ()
    holds: bool = True
    keeps: bool = False

    def corrects(self, claim: Claim) -> bool:
        """Whether it is about a claim of its identity: not about one that tells of a time after it, and came later."""
        is_later = claim.since is not None and self.at is not None and claim.since > self.at
        return not is_later or claim.message_id in self.messages


@dataclass(frozen=True, slots=True)
class FactsByHand:
    """All that a person decided about the facts of a slot.

    `forgotten`: identities with the messages that they are not to be drawn from; `moved`: identities with the slot and
    identity that they were merged into; `taken`: (slot, identity) that were merged into an identity of this one.
    `former` are slots of version 0.2.0 whose decisions these are too, `names` the digests of then by those of now
    (former.py).
    """

    slot: NodeId
    pins: frozenset[str] = frozenset()
    forgotten: Mapping[str, frozenset[NodeId]] = field(default_factory=dict)
    moved: Mapping[str, tuple[NodeId, str]] = field(default_factory=dict)
    taken: Mapping[tuple[NodeId, str], str] = field(default_factory=dict)
    edits: tuple[FactWording, ...] = ()
    former: tuple[NodeId, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was decided."""
        return not (self.pins or self.forgotten or self.moved or self.taken or self.edits)

    def named(self, digest: str) -> str:
        """The digest of now, of one that may be of then."""
        return self.names.get(digest, digest)

    def node(self) -> Node:
        """As it is stored."""
        body: dict[str, Any] = {
            "slot": self.slot,
            "pins": sorted(self.pins),
            "forgotten": {of: sorted(messages) for of, messages in sorted(self.forgotten.items())},
            "moved": {of: list(to) for of, to in sorted(self.moved.items())},
            "taken": [[*of, into] for of, into in sorted(self.taken.items())],
        }
        return Node(by_hand_id(self.slot), NodeKind.REPORT, state=BY_HAND, origin=Origin.SAID, body=body)

    def edges(self) -> list[Edge]:
        """The words of its edits."""
        return [
            Edge(
                by_hand_id(self.slot),
                CORRECTS,
                message,
                {"value": edit.value, "content": edit.content, "at": to_microseconds(edit.at), "becomes": edit.becomes}
                | ({} if edit.holds else {"holds": False})
                | ({"keeps": True} if edit.keeps else {}),
                edit.of,
            )
            for edit in self.edits
            for message in edit.messages
        ]

    def remembered(self, claims: Iterable[Claim]) -> list[Claim]:
        """The claims without those that are not to be drawn from their messages."""
        return [claim for claim in claims if claim.message_id not in self.forgotten.get(claim.identity, ())]

    def derived_as(self, identity: str) -> list[str]:
        """The identities of what was derived that are shown as this one: what was edited to it, and itself."""
        return [*sorted({edit.of for edit in self.edits if edit.becomes == identity} - {identity}), identity]

    def shown_as(self, identity: str) -> frozenset[str]:
        """All identities that a fact has had: what was derived, and what that was edited to."""
        derived = self.derived_as(identity)
        return frozenset((*derived, *(edit.becomes for edit in self.edits if edit.of in derived)))

    def applied(self, claims: Iterable[Claim]) -> list[Claim]:
        """The claims as they count after what was decided. Those of `taken` must be among them, in the words of this
        slot already.
        """
        kept: list[Claim] = []
        corrections = {edit.of: edit for edit in self.edits}
        corrected: defaultdict[str, list[Claim]] = defaultdict(list)
        for claim in self.remembered(claims):
            if claim.identity in self.moved:
                continue
            edit = corrections.get(claim.identity)
            if edit is not None and edit.corrects(claim):
                claim = replace(
                    claim, value=edit.value, content=edit.content, made_by=BY_HAND, edited=edit.of if edit.keeps else ""
                )
                corrected[edit.of].append(claim)
            kept.append(claim)
        for of, claims_ in corrected.items():
            claim, at = claims_[0], corrections[of].at if corrections[of].holds else None
            if claim.polarity is Polarity.IS and at is not None:
                until = _end_of((c for c in claims_ if c.said_at is None or c.said_at <= at), at)
                plain = replace(claim, since=None, until=until, turn=0.0, event=False, provenance=Provenance.BY_HAND)
                kept.append(replace(plain, said_at=at, order=("", 0), message_id=NodeId("")))
        return kept

    def with_edit(
        self, of: str, claims: Sequence[Claim], value: str, content: str, at: datetime, *, holds: bool = True
    ) -> FactsByHand:
        """Another wording of a fact; an edit of an edit corrects what was derived. `holds`: it is what holds now, and
        so outranks whatever is said of the time until then.
        """
        before = next((edit for edit in self.edits if edit.becomes == of), None)
        messages = tuple(sorted({claim.message_id for claim in claims if claim.message_id}))
        becomes = identity_of(claims[0].attribute, value or content)
        fresh = FactWording(before.of if before else of, becomes, value, content, at, messages, holds, keeps=True)
        pins = (self.pins - {of}) | {becomes} if of in self.pins else self.pins
        return replace(self, pins=pins, edits=(*(e for e in self.edits if e.of != fresh.of), fresh))

    def without_words_of(self, messages: frozenset[NodeId]) -> FactsByHand:
        """Without edits of nothing but these."""
        left = ((edit, tuple(one for one in edit.messages if one not in messages)) for edit in self.edits)
        return replace(self, edits=tuple(replace(edit, messages=kept) for edit, kept in left if kept))

    def taking(self, slot: NodeId, of: str, into: str) -> FactsByHand:
        """One of another slot is merged into one of this."""
        return replace(self, taken={**self.taken, (slot, of): into})

    def leaving(self, slot: NodeId, of: str) -> FactsByHand:
        """It is no longer."""
        return replace(self, taken={key: into for key, into in self.taken.items() if key != (slot, of)})

    def moving(self, of: str, slot: NodeId, into: str) -> FactsByHand:
        """One of this slot is merged into one of another."""
        return replace(self, moved={**self.moved, of: (slot, into)})

    def staying(self, of: str) -> FactsByHand:
        """It is no longer."""
        return replace(self, moved={name: to for name, to in self.moved.items() if name != of})

    def forgetting(self, of: str, messages: frozenset[NodeId]) -> FactsByHand:
        """One is not to be drawn from these messages."""
        known = self.forgotten.get(of, frozenset())
        return replace(self, forgotten={**self.forgotten, of: known | messages})

    def recalling(self, of: str) -> FactsByHand:
        """It may be drawn from all messages again."""
        return replace(self, forgotten={name: messages for name, messages in self.forgotten.items() if name != of})

    def without(self, identities: frozenset[str]) -> FactsByHand:
        """Nothing decided about these any more (the identities of what was derived, or of what it was edited to)."""
        return replace(
            self,
            pins=self.pins - identities,
            forgotten={of: messages for of, messages in self.forgotten.items() if of not in identities},
            moved={of: to for of, to in self.moved.items() if of not in identities},
            taken={of: into for of, into in self.taken.items() if into not in identities},
            edits=tuple(edit for edit in self.edits if edit.of not in identities),
        )


def _end_of(claims: Iterable[Claim], at: datetime) -> datetime | None:
    """When what holds at a time will have ended, as it was told last."""
    last = max(claims, key=lambda claim: claim.sort_key, default=None)
    until = None if last is None else dated(last).until
    return until if until is not None and until > at else None


def by_hand_id(slot: NodeId) -> NodeId:
    """The id of what was decided about a slot."""
    return stable_id("facts by hand", slot)


def read(slot: NodeId, node: Node | None, edges: Iterable[Edge]) -> FactsByHand:
    """The inverse of `node` and `edges`."""
    if node is None or node.erased:
        return FactsByHand(slot)
    edits: dict[str, FactWording] = {}
    for edge in sorted(edges, key=lambda edge: (edge.name, edge.target_id)):
        words = edge.properties
        before = edits.get(edge.name)
        messages = (*(before.messages if before else ()), edge.target_id)
        told = (words["becomes"], words["value"], words["content"], from_microseconds(words["at"]))
        edits[edge.name] = FactWording(edge.name, *told, messages, words.get("holds", True), words.get("keeps", False))
    body = node.body
    return FactsByHand(
        slot,
        pins=frozenset(body.get("pins", ())),
        forgotten={of: frozenset(messages) for of, messages in body.get("forgotten", {}).items()},
        moved={of: (NodeId(to[0]), to[1]) for of, to in body.get("moved", {}).items()},
        taken={(NodeId(slot_), of): into for slot_, of, into in body.get("taken", ())},
        edits=tuple(edits.values()),
    )


# Decisions about facts from the time of version 0.2.0, which told amounts by their spelling.


def slots_before(slot: NodeId, claims: Iterable[Claim]) -> list[NodeId]:
    """Where decisions about claims of a slot were kept, if elsewhere."""
    there = {(claim.entity, claim.attribute, claim.value) for claim in claims}
    return sorted({slot_before(*words) for words in there if _may_differ(*words[1:])} - {slot})


def understood(hand: FactsByHand, older: Sequence[FactsByHand], claims: Iterable[Claim]) -> FactsByHand:
    """The decisions about a slot with those of its former slots, by today's digests."""
    hands = [hand, *older]
    said = {(claim.attribute, claim.value) for claim in claims}
    said |= {(attribute, edit.value) for attribute, _ in tuple(said) for one in hands for edit in one.edits}
    pairs = ((identity_before(*words), identity_of(*words)) for words in sorted(said) if _may_differ(*words))
    names = {before: now for before, now in pairs if before != now}
    joined = hand
    for one in older:
        joined = _joined(joined, one)
    return renamed(joined, names)


def renamed(hand: FactsByHand, names: Mapping[str, str]) -> FactsByHand:
    """The decisions by other digests, where these have others."""
    if not names and not hand.former:
        return hand
    forgotten: dict[str, frozenset[NodeId]] = {}
    for of, messages in hand.forgotten.items():
        forgotten[names.get(of, of)] = forgotten.get(names.get(of, of), frozenset()) | messages
    edits: dict[str, FactWording] = {}
    for edit in sorted(hand.edits, key=lambda edit: (edit.at is not None, edit.at)):
        fresh = replace(edit, of=names.get(edit.of, edit.of), becomes=names.get(edit.becomes, edit.becomes))
        same = edits.get(fresh.of)
        corrected = {*fresh.messages, *(same.messages if same else ())}
        edits[fresh.of] = replace(fresh, messages=tuple(sorted(corrected)))
    return replace(
        hand,
        pins=frozenset(names.get(pin, pin) for pin in hand.pins),
        forgotten=forgotten,
        moved={names.get(of, of): (slot, names.get(into, into)) for of, (slot, into) in hand.moved.items()},
        taken={(slot, names.get(of, of)): names.get(into, into) for (slot, of), into in hand.taken.items()},
        edits=tuple(edits.values()),
        names={**hand.names, **names},
    )


def _may_differ(attribute: str, value: str) -> bool:
    return attribute != attribute_key(attribute) or any(map(str.isdigit, value))


def _joined(hand: FactsByHand, older: FactsByHand) -> FactsByHand:
    forgotten = {of: hand.forgotten.get(of, frozenset()) | messages for of, messages in older.forgotten.items()}
    return replace(
        hand,
        pins=hand.pins | older.pins,
        forgotten={**hand.forgotten, **forgotten},
        moved={**older.moved, **hand.moved},
        taken={**older.taken, **hand.taken},
        edits=(*older.edits, *hand.edits),
        former=(*hand.former, older.slot),
    )
