"""Decisions about facts from the time of version 0.2.0, which told amounts by their spelling.

A pin on "0.5 kg" has the digest of these words, and now "500 g" is the same value. What claims were called then follows
from their words, so that decisions are found and understood; they are written by today's digests when they change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.derive.facts.by_hand import FactsByHand, FactWording
from recollect.derive.facts.claim import Claim, attribute_key, identity_before, identity_of, slot_before
from recollect.record import NodeId


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
