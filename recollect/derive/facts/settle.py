"""From claims to facts: what held when, and what replaced it. Pure, and the same in whatever order claims came.

Each claim of a slot (claim.py) is evidence for times: what is said to hold held when that was said; what is told to
have begun, or to have ended, did so then. In the order of these times, whenever they were told, the same value goes on;
of what has one value at a time, another value closes the one before it; of what has several, each goes on until
something ends it ("sold", "no longer"). What was said without a time comes before all else, in the order of saying.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from recollect.derive.facts.claim import (
    Category,
    Claim,
    Polarity,
    Provenance,
    attribute_key,
    dated,
    folded,
    identity_of,
    is_single,
)
from recollect.record import from_microseconds, to_microseconds

_STANCES = ("likes", "dislikes")
_LONG_AGO = -(1 << 62)


@dataclass(slots=True)
class SettledFact:
    """A fact as its claims make it. `claims` prove it, in the order in which they were said; `run` counts the times
    that the value came up again.

    `valid_from` and `valid_to` say when it held: as somebody told (`since_told`, `until_told`), else from when it is
    known to have held, and until another value is. `known_from` and `known_to` say when it was believed. `replaces`:
    the fact that it took the place of.
    """

    claims: list[Claim]
    run: int = 0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    known_to: datetime | None = None
    since_told: bool = False
    until_told: bool = False
    closed: bool = False
    replaces: SettledFact | None = None
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
    def known_from(self) -> datetime | None:
        """When it was first said; None where that is not known."""
        moments = [claim.said_at for claim in self.claims]
        return None if None in moments else min(moment for moment in moments if moment is not None)

    @property
    def last_said(self) -> datetime | None:
        """When it was said last, as far as that is known."""
        return max((claim.said_at for claim in self.claims if claim.said_at is not None), default=None)

    @property
    def is_open(self) -> bool:
        """Whether it holds to this day, for all that was said."""
        return not self.closed

    @property
    def is_live(self) -> bool:
        """Whether it may hold: it is open, or ends at a time that was still to come when that was told."""
        if not self.closed or self.first.polarity is Polarity.ENDED:
            return not self.closed
        return (
            self.until_told and self.valid_to is not None and (self.known_to is None or self.known_to < self.valid_to)
        )

    @property
    def proofs(self) -> list[Claim]:
        """All claims that say something of it, those that ended it too."""
        return sorted([*self.claims, *self.ended_by], key=lambda claim: claim.sort_key)

    @property
    def category(self) -> Category:
        """That of its first claim."""
        return self.first.category

    @property
    def provenances(self) -> tuple[Provenance, ...]:
        """Where its claims come from, each once."""
        found = {claim.provenance for claim in self.claims}
        return tuple(one for one in Provenance if one in found)


class _Said(NamedTuple):
    """A claim with the time at which it was said."""

    at: int
    claim: Claim


class _Kind(Enum):
    """What happens at a moment."""

    HOLDS = "holds"
    END = "end"  # of what the claim itself tells the end of; before all else that happens then
    ENDED = "ended"


class _Moment(NamedTuple):
    """What a claim is evidence of at a time. `turn`: its place in the order of saying."""

    at: int
    kind: _Kind
    turn: int
    claim: Claim
    told: bool  # somebody told this time


def settle(claims: Iterable[Claim], pins: Iterable[str] = ()) -> list[SettledFact]:
    """The facts that the claims of one slot make, in the order in which they held. `pins` are identities of facts that
    a person holds on to: nothing that comes later replaces them.
    """
    ordered = _not_called_off(_corrected(_trusted(_in_order(claims))))
    if not ordered:
        return []
    pinned = frozenset(pins)
    first = ordered[0].claim
    one = is_single(first.attribute) or first.attribute in _STANCES or any(said.claim.is_one for said in ordered)
    moments = sorted(_moments(ordered, one), key=lambda moment: (moment.at, moment.kind is not _Kind.END, moment.turn))
    facts = _sweep(_held(moments, pinned, one), one)
    if not any(fact.identity in pinned for fact in facts):
        facts = _with_earlier(facts, [said.claim for said in ordered if _is_only_before(said.claim)], one)
    _close(facts, one)
    runs: dict[str, int] = {}
    for fact in facts:
        fact.run = runs.get(fact.identity, 0)
        runs[fact.identity] = fact.run + 1
        fact.pinned = fact.identity in pinned
    return facts


# --- which claims count --------------------------------------------------------------------------------------------
def _in_order(claims: Iterable[Claim]) -> list[_Said]:
    """The claims in the order in which they were said. Where a program says which comes before which, it was said no
    later than what comes after it.
    """
    ordered = sorted(map(dated, claims), key=lambda claim: claim.sort_key)
    found = [_Said(_at(claim.said_at), claim) for claim in ordered if not claim.turn]
    latest = 1 << 62
    for claim in sorted((claim for claim in ordered if claim.turn), key=lambda c: (c.turn, c.sort_key), reverse=True):
        latest = min(latest, _at(claim.said_at))
        found.append(_Said(latest, claim))
    return sorted(found, key=lambda said: (said.at, said.claim.turn, said.claim.sort_key))


def _trusted(ordered: list[_Said]) -> list[_Said]:
    """What an assistant says counts only where nobody else says anything, or the same."""
    told = {said.claim.identity for said in ordered if not said.claim.said_by_assistant}
    if not told:
        return ordered
    return [said for said in ordered if not said.claim.said_by_assistant or said.claim.identity in told]


def _corrected(ordered: list[_Said]) -> list[_Said]:
    """With the right values for what was said by mistake until it was corrected."""
    found: list[_Said] = []
    for said in ordered:
        right = said.claim
        if right.corrects:
            wrong = identity_of(right.attribute, right.corrects)
            found = [
                _Said(at, replace(c, value=right.value, content=right.content) if c.identity == wrong else c)
                for at, c in found
            ]
        found.append(said)
    return found


def _not_called_off(ordered: list[_Said]) -> list[_Said]:
    """Without what was ended before it began."""
    gone: set[int] = set()
    for turn, (at, end) in enumerate(ordered):
        if end.polarity is Polarity.ENDED and at != _LONG_AGO:
            planned = [
                i
                for i, (_, c) in enumerate(ordered[:turn])
                if c.polarity is Polarity.IS and c.since is not None and _at(c.since) > at and _ends(end, c)
            ]
            gone |= {*planned, turn} if planned else set()
    return [said for turn, said in enumerate(ordered) if turn not in gone]


def _is_only_before(claim: Claim) -> bool:
    """Whether all that is known of when it held is what came next."""
    return bool(claim.before) and claim.since is None and claim.until is None and claim.polarity is Polarity.IS


# --- what they are evidence of ---------------------------------------------------------------------------------------
def _moments(ordered: Sequence[_Said], one: bool) -> list[_Moment]:
    found: list[_Moment] = []
    latest = _LONG_AGO  # what was said last is later than this
    for turn, (said, claim) in enumerate(ordered):
        if _is_only_before(claim):
            continue
        if claim.polarity is Polarity.ENDED:
            found += _ended(claim, turn, said, latest, found)
            told = claim.until or claim.since
        else:
            found = [m for m in found if not (one and _is_outdated(m, claim, said))]
            others = [m for m in found if one and m.claim.identity != claim.identity]
            found += _holding(claim, turn, said, latest, others)
            told = claim.since
        latest = max(latest, said, _at(told))
    return [_joined(moment, ordered) if one else moment for moment in found]


def _is_outdated(moment: _Moment, claim: Claim, said: int) -> bool:
    """Whether a value that was said to hold had been replaced by then, as is told now: both say since when."""
    before, other = _at(moment.claim.since), moment.claim.identity != claim.identity
    lasts = not (claim.event or claim.before) and (claim.until is None or _at(claim.until) > said)
    is_said = moment.kind is _Kind.HOLDS and not moment.told
    return other and is_said and lasts and _LONG_AGO < before < _at(claim.since) <= moment.at


def _holding(claim: Claim, turn: int, said: int, latest: int, others: Sequence[_Moment]) -> list[_Moment]:
    """What is evidence that a value held. `others` are moments of other values that were told before."""
    since, until = _at(claim.since), _at(claim.until)
    is_said, is_past = said != _LONG_AGO, bool(claim.until) and until <= said
    lasts = not (is_past or claim.before or claim.event) and since <= said

    def holds(at: int, told: bool = False) -> _Moment:
        return _Moment(at, _Kind.HOLDS, turn, claim, told)

    found: list[_Moment] = []
    if claim.since:
        denied = (m for m in others if lasts and m.kind is _Kind.HOLDS and not m.told and since < m.at <= said)
        found += [] if any(denied) else [holds(since, told=True)]
    elif is_past:
        found.append(holds(until - 1))
    elif not is_said:
        found.append(holds(min(latest, until - 1) if claim.until else latest))
    elif not lasts:
        found.append(holds(said))
    if lasts and is_said:
        found.append(holds(said))
    if claim.until:
        found.append(_Moment(until, _Kind.END, turn, claim, told=True))
    return found


def _ended(claim: Claim, turn: int, said: int, latest: int, before: Sequence[_Moment]) -> list[_Moment]:
    """What is evidence that a value ended: no earlier than the last time that it was said to hold until then."""
    told = claim.until or claim.since
    end = _at(told) if told else said if said != _LONG_AGO else latest
    held = [m.at for m in before if m.kind is _Kind.HOLDS and _ends(claim, m.claim)]
    end = max([end, *(at for at in held if said == _LONG_AGO or at <= said)])
    found = [_Moment(end, _Kind.ENDED, turn, claim, told is not None)]
    if claim.since and claim.until:
        found.append(_Moment(_at(claim.since), _Kind.HOLDS, turn, claim, told=True))
    return found


def _joined(moment: _Moment, ordered: Sequence[_Said]) -> _Moment:
    """What is said without a time is said of the time that is told of the same later, if of nothing else between."""
    own = moment.claim
    if moment.at != _LONG_AGO or moment.kind is not _Kind.HOLDS:
        return moment
    for at, later in ordered[moment.turn + 1 :]:
        if at != _LONG_AGO or later.polarity is Polarity.ENDED or later.before:
            continue
        if later.identity == own.identity and later.since is not None:
            return moment._replace(at=_at(later.since))
        if later.identity != own.identity and later.since is None:
            break
    return moment


def _held(moments: list[_Moment], pinned: frozenset[str], one: bool) -> list[_Moment]:
    """The moments without those that would replace what is pinned, or end it."""
    if not pinned:
        return moments
    held = {m.claim.identity for m in moments if m.claim.polarity is Polarity.IS} & pinned
    if not one:
        return [m for m in moments if m.kind is not _Kind.ENDED or m.claim.identity not in held]
    later = [m for m in moments if m.claim.identity in held and m.claim.polarity is Polarity.IS]
    return [*moments[: moments.index(later[0])], *later] if later else moments


# --- what that makes -------------------------------------------------------------------------------------------------
def _sweep(moments: Sequence[_Moment], one: bool) -> list[SettledFact]:
    facts: list[SettledFact] = []
    newest: dict[int, int] = {}  # of each fact the place of the claim that was said last
    for moment in moments:
        claim = moment.claim
        open_ones = [fact for fact in facts if not fact.closed]
        same = next((fact for fact in open_ones if fact.identity == claim.identity), None)
        if moment.kind is _Kind.HOLDS:
            if same is None:
                for fact in open_ones if one else ():
                    fact.closed = True
                same = _begun(moment)
                facts.append(same)
            elif claim not in same.claims:
                same.claims.append(claim)
            same.since_told = same.since_told or (moment.told and _moment(moment.at) == same.valid_from)
            newest[id(same)] = max(moment.turn, newest.get(id(same), 0))
        elif moment.kind is _Kind.END:
            if same is not None and newest[id(same)] == moment.turn:
                _end(same, moment)
                same.known_to = claim.said_at if same.valid_to and _is_past(claim) else None
        else:
            met = [fact for fact in open_ones if _ends(claim, fact.first)]
            for fact in met:
                _end(fact, moment)
                fact.known_to = claim.said_at
                fact.ended_by += [] if claim in fact.claims else [claim]
            if claim.value and not met and not any(_ends(claim, fact.first) for fact in facts):
                past = SettledFact([claim], closed=True, known_to=claim.said_at)
                past.valid_to, past.until_told = _moment(moment.at), moment.told
                facts.append(past)
    for fact in facts:
        fact.claims.sort(key=lambda claim: (claim.polarity is Polarity.ENDED, claim.sort_key))
    return facts


def _begun(moment: _Moment) -> SettledFact:
    return SettledFact([moment.claim], valid_from=_moment(moment.at), since_told=moment.told)


def _end(fact: SettledFact, moment: _Moment) -> None:
    fact.closed = True
    fact.valid_to, fact.until_told = _moment(moment.at), moment.told


def _is_past(claim: Claim) -> bool:
    return claim.said_at is not None and claim.until is not None and claim.until <= claim.said_at


def _with_earlier(facts: list[SettledFact], earlier: Sequence[Claim], one: bool) -> list[SettledFact]:
    """With what is only known to have come before another value."""
    left = list(earlier)
    while left:
        placed = next(
            (c for c in left if any(f.identity == identity_of(c.attribute, c.before) for f in facts)), left[0]
        )
        left.remove(placed)
        after = identity_of(placed.attribute, placed.before)
        at = next((i for i, fact in enumerate(facts) if fact.identity == after), 0)
        same = facts[at - 1] if at and one else next((f for f in facts if f.identity == placed.identity), None)
        if same is not None and same.identity == placed.identity:
            same.claims.append(placed)
            same.claims.sort(key=lambda claim: (claim.polarity is Polarity.ENDED, claim.sort_key))
        else:
            facts.insert(at, SettledFact([placed], closed=True, known_to=placed.said_at))
    return facts


def _close(facts: Sequence[SettledFact], one: bool) -> None:
    """Says of each fact what it replaces, and of what was replaced until when it held, and was believed."""
    for at, fact in enumerate(facts):
        before = facts[:at] if one else [other for other in facts[:at] if other.identity == fact.identity]
        fact.replaces = before[-1] if before else None
    for at, fact in enumerate(facts):
        others = [other for other in facts[at + 1 :] if other.identity != fact.identity]
        later = [claim.said_at for other in others for claim in other.claims]
        following = next((other for other in facts[at + 1 :] if other.first.polarity is Polarity.IS), None)
        if fact.closed and one and fact.valid_to is None and following is not None:
            fact.valid_to, fact.until_told = following.valid_from, following.since_told
            fact.known_to = None if None in later else min((m for m in later if m is not None), default=None)
        if fact.known_to is not None and fact.known_from is not None:
            fact.known_to = max(fact.known_to, fact.known_from)


def _ends(claim: Claim, held: Claim) -> bool:
    """Whether an ending means this value: the same, a part of its name, or whatever there is."""
    if not claim.value:
        return True
    if attribute_key(claim.attribute) != attribute_key(held.attribute):
        return False
    ended, value = set(folded(claim.value).split()), set(folded(held.value).split())
    return claim.identity == held.identity or ended <= value or value <= ended


def _at(moment: datetime | None) -> int:
    found = to_microseconds(moment)
    return _LONG_AGO if found is None else found


def _moment(at: int) -> datetime | None:
    return None if at <= _LONG_AGO else from_microseconds(at)
