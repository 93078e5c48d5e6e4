"""Facts that somebody tells as such [3], rather than in a message: said, not derived, and so in a dump.

What is told is a claim like those of messages, and settles with them. Its record is the node of a fact: `body["told"]`
keeps the claims as they were told, and what a program said beside them; all else of the node is settled (book.py).
Nodes of versions before that have no such record until they are entered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.derive.facts.by_hand import FactsByHand, FactWording
from recollect.derive.facts.changes import (
    FORGOTTEN,
    MERGED,
    TOLD,
    ClaimChanges,
    current_hands,
    derived_claims,
    facts_in,
    settled,
)
from recollect.derive.facts.claim import (
    USER,
    Category,
    Claim,
    Polarity,
    Provenance,
    attribute_key,
    canonical_attribute,
    content_of,
    entity_key,
    from_plain,
    identity_of,
    is_described,
    to_plain,
)
from recollect.derive.facts.rules.draw import draw
from recollect.derive.facts.structured import structured
from recollect.derive.tasks.base import Effects
from recollect.errors import InvalidInput
from recollect.record import (
    Message,
    Node,
    NodeId,
    NodeKind,
    Origin,
    Role,
    from_microseconds,
    stable_id,
    to_microseconds,
)
from recollect.record.ids import LATEST
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_text, clean_title
from recollect.text.terms import fold

#: The categories that a program may give facts [3]: rules are the user's own.
CATEGORIES = tuple(category.value for category in Category if category is not Category.RULE)

_MOST_CHARACTERS = 4_000  # a fact is a statement, not a text
_EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
_MOST_TOLD = 16  # times that a record keeps of the same being told again
_METADATA = "metadata"  # in the body of what HierarchicalMemory stored
_STORED_AT = "stored_at"  # in a record: when it was stored, where it is listed by that


def told_fact(
    content: str,
    *,
    concept: str,
    entity: str,
    value: str,
    category: str,
    confidence: float,
    tags: Sequence[str],
    said_by: str,
    since: datetime | None,
    until: datetime | None = None,
    said_at: datetime | None = None,
    before: str = "",
    ended: bool = False,
    now: datetime,
    id: NodeId,
) -> Node:
    """The record of a fact. Whom it is about, what of them and its value are read from its words where they are not
    given. Raises InvalidInput.
    """
    words = statement(content)
    if not words:
        raise InvalidInput("Nothing to remember: the fact is empty.")
    if category and category not in CATEGORIES:
        raise InvalidInput(f"{category!r} is no category of facts.", hint=f"One of: {', '.join(CATEGORIES)}.")
    if isinstance(confidence, bool) or not 0 < confidence <= 1:
        raise InvalidInput(f"A confidence of {confidence!r} is out of range.", hint="Use more than 0, up to 1.")
    begins, ends, said = (None if one is None else _moment(one) for one in (since, until, said_at))
    if begins is not None and ends is not None and ends < begins:
        raise InvalidInput(f"What holds since {begins.isoformat()} cannot end at {ends.isoformat()}.")
    if begins is not None and ends == begins:
        ends += timedelta.resolution  # what ended at once held, and holds no longer
    read = claim_in(words, id)
    whom = clean_title(entity) or (read.entity if read else USER)
    attribute = canonical_attribute(clean_title(concept)) if concept.strip() else (read.attribute if read else "")
    is_read = read is not None and entity_key(read.entity) == entity_key(whom) and read.attribute == attribute
    held = clean_title(value) or (read.value if read and is_read else "")
    kind = Category(category) if category else read.category if read else Category.SEMANTIC
    measured = stable_id("slot", entity_key(whom), attribute_key(attribute)) if is_measured(attribute, held) else ""
    if ended and begins is not None and ends is None:
        ends = said or now
    claim = stored_claim(
        id,
        words,
        whom,
        attribute,
        held,
        said_by=clean_title(said_by) or USER,
        said_at=said or now,
        category=kind,
        since=begins,
        until=ends,
        before=clean_title(before),
        polarity=Polarity.ENDED if ended else Polarity.IS,
        settles_in=measured,
        is_one=bool(measured),
    )
    beside = {"category": kind.value, "tags": [clean_title(tag) for tag in tags if tag.strip()]}
    return record(words, [claim], float(confidence), beside)


def is_measured(attribute: str, value: str) -> bool:
    """Whether it is an amount of an attribute that a program named, as a test result: there is one at a time."""
    told = None if not attribute or is_described(attribute) else structured(attribute, value)
    return told is not None and told.kind != "date"


def claim_in(words: str, id: NodeId) -> Claim | None:
    """What rules read in the words of a statement first."""
    return next(iter(draw(Message(id, NodeId(""), Role.USER, words))), None)


def stored_claim(id: NodeId, words: str, entity: str, attribute: str, value: str, **more: Any) -> Claim:
    """The claim that is stored under an id. Without a value it is about nothing but what it says."""
    provenance = more.pop("provenance", Provenance.STORED)
    if not value and not more.get("settles_in") and more.get("polarity") is not Polarity.ENDED:
        plain = " ".join(fold(words).split()).rstrip(".!")
        more["settles_in"] = stable_id("slot", entity_key(entity), attribute, "statement", plain)
    return Claim(
        entity=entity,
        attribute=attribute,
        value=value,
        content=words,
        message_id=id,
        start=0,
        end=0,
        quote="",
        provenance=provenance,
        **more,
    )


def record(
    words: str,
    claims: Sequence[Claim],
    score: float,
    beside: Mapping[str, Any],
    *,
    stored_at: datetime | None = None,
    origin: Origin = Origin.SAID,
) -> Node:
    """The record of claims, not settled yet. `stored_at` where it is listed by when it was stored."""
    told: dict[str, Any] = {"text": words, "claims": [to_plain(claim) for claim in claims], "score": score}
    told["beside"] = {name: value for name, value in beside.items() if name != "entity"}
    if stored_at is not None:
        told[_STORED_AT] = to_microseconds(stored_at)
    first = claims[0]
    return Node(
        first.message_id, NodeKind.FACT, key=first.entity_key, text=words, score=score, origin=origin, body={TOLD: told}
    )


def _moment(given: datetime) -> datetime:
    """A time that a fact may name, which may be before anything was said. Raises InvalidInput."""
    try:
        moment = given.replace(tzinfo=given.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        moment = LATEST
    if not _EARLIEST <= moment < LATEST:
        raise InvalidInput(
            f"No fact holds since {given.isoformat()}.", hint=f"Use a time from {_EARLIEST.year} to {LATEST.year}."
        )
    return moment


def statement(content: str) -> str:
    """The words of a fact as they are stored. Raises InvalidInput where they are too many."""
    words = clean_text(content).strip()
    if len(words) > _MOST_CHARACTERS:
        raise InvalidInput(
            f"A fact of {len(words):,} characters is too long: at most {_MOST_CHARACTERS:,}.",
            hint="Store the statement alone, and texts with store_message().",
        )
    return words


def reworded(claim: Claim, content: str, value: str) -> tuple[str, str]:
    """A fact in other words, with another value, or both; what is not given follows from the other."""
    entity, attribute, held = claim.entity, claim.attribute, claim.value
    if not content:
        named = claim.content.replace(held, value) if held and claim.content.count(held) == 1 else ""
        content = named or (content_of(entity, attribute, value) if attribute else claim.content)
    elif not value:
        read = draw(Message(claim.message_id, NodeId(""), Role.USER, content))
        drawn = (c.value for c in read if c.entity_key == entity_key(entity) and c.attribute == attribute)
        value = value_in(content, claim.content, held) or (held if held in content else next(drawn, ""))
    return content, value


def value_in(content: str, before: str, value: str) -> str:
    """The value that a new wording gives, where all else stands as it was; else nothing."""
    if not value:
        return ""
    start, _, end = before.partition(value)
    inside = len(start) + len(end)
    if content.startswith(start) and content.endswith(end) and len(content) > inside:
        return content[len(start) : len(content) - len(end)].strip()
    return ""


def plan_stored(view: View, told: Node) -> tuple[Effects, list[NodeId]]:
    """What is written of a record, and the ids by which its fact may be found, the likeliest first. What is current
    already and told again has no record of its own: that it was told is noted in the other's.
    """
    (claim,) = claims_of(told)
    slot = claim.slot
    entering = not view.get(Node, [ENTERED])
    ledger = entered(view, old_ones(view)) if entering else ClaimChanges()
    known = [replace(c, message_id=claim.message_id) for c in derived_claims(view, [slot], ledger).get(slot, ())]
    there = {node.id: node for node in facts_in(view, slot)}
    current = [n for n in there.values() if n.state == "live" and n.body["identity"] == claim.identity]
    if claim in known and current:
        return Effects(), [node.id for node in current]
    told_again = claim == replace(claim, since=None, until=None, before="", polarity=Polarity.IS)
    same = next((node for node in current if TOLD in node.body), None) if told_again else None
    if same is not None:
        kept = same.body[TOLD]
        times = [*kept["claims"], to_plain(claim)]
        times = times if len(times) <= _MOST_TOLD else [times[0], *times[2:]]
        told = replace(same, body={**same.body, TOLD: {**kept, "claims": times}})
    ledger.enter(told)
    effects = settled(view, ledger)
    if entering:
        effects = replace(effects, put=[*effects.put, MARK])
    hands = current_hands(view, [slot], ledger)
    slot, of = hands[slot].moved.get(claim.identity, (slot, claim.identity))
    names = hands[slot].shown_as(of) if slot != claim.slot else {of}
    there |= {node.id: node for node in facts_in(view, slot)}
    there |= {node.id: node for node in effects.put if node.kind is NodeKind.FACT and node.body.get("slot") == slot}
    shown = [n for n in there.values() if n.state in _SHOWN and (n.id == told.id or n.body["identity"] in names)]
    shown.sort(key=lambda n: (n.id != told.id, n.state != "live", -int(n.body.get("temporal_index") or 0)))
    return effects, [*(node.id for node in shown), told.id]


def claims_of(node: Node) -> list[Claim]:
    """The claims of a record."""
    return [from_plain(node.id, plain) for plain in node.body[TOLD]["claims"]]


# --- nodes of versions without records -------------------------------------------------------------------------------
_SHOWN, _OLD = ("live", "superseded"), ("live", "superseded", FORGOTTEN, MERGED)
_WAS = "was"  # in the body: what undoing a correction brings back


#: Written once all that was stored before has a record.
ENTERED = stable_id("facts", "entered")
MARK = Node(ENTERED, NodeKind.REPORT, state="entered")


def old_ones(view: View) -> list[Node]:
    """The stored facts that have no record, and need one."""
    facts = every(view, Node, Where(kinds=(NodeKind.FACT.value,), deleted=False))
    return [node for node in facts if is_old(node) and must_be_entered(node)]


def is_old(node: Node) -> bool:
    """Whether a fact was stored, and has no record yet."""
    return (
        node.kind is NodeKind.FACT
        and node.origin is not Origin.DERIVED
        and not node.erased
        and TOLD not in node.body
        and bool(node.text)
    )


def must_be_entered(node: Node) -> bool:
    """Whether a stored fact may settle with others, or a person decided something about it."""
    if node.kind is not NodeKind.FACT or node.origin is Origin.DERIVED or node.erased:
        return False
    return TOLD in node.body or _METADATA not in node.body or bool({_WAS, "pinned"} & node.body.keys())


def entered(view: View, nodes: Iterable[Node], ledger: ClaimChanges | None = None) -> ClaimChanges:
    """Has stored facts settle with all others: those that have no record get one, together with all that were stored of
    the same, and what was decided about them by hand becomes decisions about their slots.
    """
    found = ledger or ClaimChanges()
    waiting = {node.id: node for node in nodes}
    old: dict[NodeId, Node] = {}
    while waiting:
        node = waiting.pop(min(waiting))
        if TOLD in node.body:
            found.enter(node)
        elif is_old(node) and node.id not in old:
            old[node.id] = node
            waiting |= {other.id: other for other in _beside(view, node) if other.id not in old}
    records = {name: _recorded(node) for name, node in old.items()}
    for one in records.values():
        found.enter(one)
    slots = sorted({claims_of(one)[0].slot for one in found.records.values()})
    hands = current_hands(view, slots, found) if records else {}
    for name, node in sorted(old.items()):
        _decide(node, claims_of(records[name])[0], found.records, hands)
    found.hands |= {slot: hand for slot, hand in hands.items() if not hand.is_empty}
    return found


def _beside(view: View, node: Node) -> list[Node]:
    """The other old ones that settle with one, and the one that it was merged into."""
    into = node.body.get("merged_into")
    found = view.get(Node, [NodeId(into)]) if into else []
    if _METADATA not in node.body:
        where = Where(kinds=(NodeKind.FACT.value,), keys=(node.key,), states=_OLD, deleted=False)
        slots = {claim.slot for claim in _old_claims(node)}
        others = (other for other in every(view, Node, where) if is_old(other) and _METADATA not in other.body)
        found += [other for other in others if slots & {claim.slot for claim in _old_claims(other)}]
    return found


def _old_claims(node: Node) -> list[Claim]:
    """The claims of an old node, as it was told."""
    body, was = node.body, node.body.get(_WAS, {})
    text, value = str(was.get("text", node.text)), str(was.get("value") or body.get("value", ""))
    if _WAS in body and "value" in was:
        value = str(was["value"] or "")
    said = from_microseconds(body.get("known_from")) or node.valid_from
    own = {"settles_in": stable_id("slot", "stored", node.id)} if _METADATA in body else {}
    claim = stored_claim(
        node.id,
        text,
        str(body.get("entity", node.key)),
        str(body.get("attribute", "")),
        value,
        said_by=str(body.get("said_by", "")),
        said_at=said,
        category=Category(body["category"]) if body.get("category") in CATEGORIES else Category.SEMANTIC,
        since=node.valid_from if node.valid_from != said else None,
        turn=float(body.get("temporal_index") or 0) if own else 0.0,
        **own,
    )
    if _state(node) == "superseded" and (own or not claim.value):
        return [claim, replace(claim, polarity=Polarity.ENDED, said_at=node.valid_to or said, since=None)]
    return [claim]


def _state(node: Node) -> str:
    return str(node.body.get(_WAS, {}).get("state", "live")) if node.state in (FORGOTTEN, MERGED) else node.state


def _recorded(node: Node) -> Node:
    """An old node with its record."""
    settled_too = ("slot", "identity", "known_from", "known_to", "pinned", "by_hand", "merged_into", _WAS)
    beside = {k: v for k, v in node.body.items() if k not in (*settled_too, "attribute", "value", "said_by")}
    score = min(1.0, 2 * node.score) if _state(node) == "superseded" and 0 < node.score <= 1 else node.score
    claims = _old_claims(node)
    stored_at = node.valid_from if _METADATA in node.body else None
    made = record(claims[0].content, claims, score, beside, stored_at=stored_at, origin=node.origin)
    return replace(node, body=made.body)


def _decide(node: Node, claim: Claim, records: Mapping[NodeId, Node], hands: dict[NodeId, FactsByHand]) -> None:
    """What a person decided about an old node, as decisions about its slot."""
    hand, of = hands[claim.slot], claim.identity
    if node.body.get("by_hand") == "edit":
        value = str(node.body.get("value") or "")
        becomes = identity_of(claim.attribute, value or node.text)
        hand = replace(hand, edits=(*hand.edits, FactWording(of, becomes, value, node.text, claim.said_at, (node.id,))))
        of = becomes
    if node.body.get("pinned"):
        hand = replace(hand, pins=hand.pins | {of})
    into = records.get(NodeId(str(node.body.get("merged_into", ""))))
    if node.state == FORGOTTEN:
        hand = hand.forgetting(claim.identity, frozenset({node.id}))
    hands[claim.slot] = hand
    if node.state == MERGED and into is not None:
        to = claims_of(into)[0]
        hands[to.slot] = hands[to.slot].taking(claim.slot, claim.identity, to.identity)
        hands[claim.slot] = hands[claim.slot].moving(claim.identity, to.slot, to.identity)
