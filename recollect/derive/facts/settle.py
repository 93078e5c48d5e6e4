"""From claims to facts: what holds, since when, and what it replaced. Pure, and the same in whatever order claims came.

The claims of one slot (claim.py) are read in the order in which they were said. The same claim again is another proof
of the same fact. Of what has one value at a time, another value closes the validity of the one before it; of what has
several, each has a validity of its own, until something ends it ("sold", "no longer").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from recollect.derive.facts.claim import Category, Claim, Polarity, attribute_key, folded, is_single


@dataclass(slots=True)
class Settled:
    """A fact as its claims make it. `claims` prove it, in order; `run` counts the times that the value came up again.

    `valid_from` and `valid_to` say when it held, `known_from` and `known_to` when it was believed. `replaces`: the
    fact that it took the place of.
    """

    claims: list[Claim]
    run: int = 0
    valid_to: datetime | None = None
    known_to: datetime | None = None
    replaces: Settled | None = None
    pinned: bool = False
    ended_by: list[Claim] = field(default_factory=list)

    @property
    def first(self) -> Claim:
        """The claim that it is worded by."""
        return self.claims[0]

    @property
    def identity(self) -> str:
        """What is claimed, as a digest."""
        return self.first.identity

    @property
    def valid_from(self) -> datetime | None:
        """When it began to hold: as told, or when it was first said."""
        told = [claim.since for claim in self.claims if claim.since is not None]
        if self.first.polarity is Polarity.ENDED:
            return None
        return min(told) if told else self.known_from

    @property
    def known_from(self) -> datetime | None:
        """When it was first said."""
        return self.first.said_at

    @property
    def is_open(self) -> bool:
        """Whether it holds to this day, for all that was said."""
        return self.valid_to is None and self.known_to is None and self.first.polarity is Polarity.IS

    @property
    def proofs(self) -> list[Claim]:
        """All claims that say something of it, those that ended it too."""
        return sorted([*self.claims, *self.ended_by], key=lambda claim: claim.sort_key)

    @property
    def category(self) -> Category:
        """That of its first claim."""
        return self.first.category


def settle(claims: Iterable[Claim], pins: Iterable[str] = ()) -> list[Settled]:
    """The facts that the claims of one slot make, in the order in which they came up. `pins` are identities of facts
    that a person holds on to: nothing that is said later replaces them.
    """
    ordered = _trusted(sorted(claims, key=lambda claim: claim.sort_key))
    if not ordered:
        return []
    pinned = frozenset(pins)
    if is_single(ordered[0].attribute) or ordered[0].attribute in ("likes", "dislikes"):
        facts = _one_at_a_time(_held(ordered, pinned))
    else:
        facts = _several([c for c in ordered if c.polarity is Polarity.IS or c.identity not in pinned])
    runs: dict[str, int] = {}
    for fact in facts:
        fact.run = runs.get(fact.identity, 0)
        runs[fact.identity] = fact.run + 1
        fact.pinned = fact.identity in pinned
    return facts


def _trusted(ordered: list[Claim]) -> list[Claim]:
    """What an assistant says counts only where nobody else says anything, or the same."""
    said = {claim.identity for claim in ordered if not claim.said_by_assistant}
    if not said:
        return ordered
    return [claim for claim in ordered if not claim.said_by_assistant or claim.identity in said]


def _held(ordered: list[Claim], pinned: frozenset[str]) -> list[Claim]:
    """The claims without those that would replace what is pinned."""
    at = next((i for i, claim in enumerate(ordered) if claim.identity in pinned), None)
    if at is None:
        return ordered
    kept = [claim for claim in ordered[at:] if claim.identity in pinned and claim.polarity is Polarity.IS]
    return ordered[:at] + kept


def _one_at_a_time(ordered: list[Claim]) -> list[Settled]:
    facts: list[Settled] = []
    current: Settled | None = None
    for claim in ordered:
        if claim.polarity is Polarity.ENDED:
            if current is not None and current.is_open and _ends(claim, current):
                _end(current, claim)
            elif claim.value and not any(_ends(claim, fact) for fact in facts):
                facts.append(_past(claim))
        elif current is not None and current.is_open and current.identity == claim.identity:
            current.claims.append(claim)
        elif current is not None and _is_earlier(claim, current):
            facts.append(Settled([claim], valid_to=current.valid_from, known_to=claim.said_at))
        else:
            fresh = Settled([claim], replaces=current)
            if current is not None and current.is_open:
                current.valid_to = _later(fresh.valid_from, current.valid_from)
                current.known_to = claim.said_at
            facts.append(fresh)
            current = fresh
    return facts


def _several(ordered: list[Claim]) -> list[Settled]:
    facts: list[Settled] = []
    for claim in ordered:
        open_ones = [fact for fact in facts if fact.is_open]
        if claim.polarity is Polarity.ENDED:
            met = [fact for fact in open_ones if _ends(claim, fact)]
            for fact in met:
                _end(fact, claim)
            if not met and not any(_ends(claim, fact) for fact in facts):
                facts.append(_past(claim))
            continue
        same = next((fact for fact in open_ones if fact.identity == claim.identity), None)
        if same is not None:
            same.claims.append(claim)
        else:
            before = [fact for fact in facts if fact.identity == claim.identity]
            facts.append(Settled([claim], replaces=before[-1] if before else None))
    return facts


def _past(claim: Claim) -> Settled:
    """What is known only by its end."""
    return Settled([claim], valid_to=claim.since or claim.said_at, known_to=claim.said_at)


def _end(fact: Settled, claim: Claim) -> None:
    fact.valid_to = _later(claim.since or claim.said_at, fact.valid_from)
    fact.known_to = claim.said_at
    fact.ended_by.append(claim)


def _ends(claim: Claim, fact: Settled) -> bool:
    """Whether an ending means this fact: the same value, a part of its name, or whatever there is."""
    if not claim.value:
        return True
    ended, value = set(folded(claim.value).split()), set(folded(fact.first.value).split())
    if attribute_key(claim.attribute) != attribute_key(fact.first.attribute):
        return False
    return claim.identity == fact.identity or ended <= value or value <= ended


def _is_earlier(claim: Claim, current: Settled) -> bool:
    """Whether a claim tells of a time before that of the current fact: both say since when."""
    told = [c.since for c in current.claims if c.since is not None]
    return claim.since is not None and bool(told) and claim.since < min(told) and claim.since != claim.said_at


def _later(moment: datetime | None, other: datetime | None) -> datetime | None:
    if moment is None or other is None:
        return moment or other
    return max(moment, other)


def reworded(claim: Claim, **changes: Any) -> Claim:
    """The claim with other words, as a person corrected it."""
    return replace(claim, **changes)
