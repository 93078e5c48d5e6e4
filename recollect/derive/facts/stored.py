"""Facts that somebody tells as such [3], rather than in a message: said, not derived, and so in a dump.

Of what has one value at a time, the new value takes the place of the one that was stored before it. What was derived
from messages is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.derive.facts.book import SUPERSEDES, TRANSITIONED_TO
from recollect.derive.facts.claim import USER, canonical_attribute, entity_key, identity_of, is_single
from recollect.derive.facts.links import links
from recollect.derive.facts.phrase import content_of
from recollect.derive.facts.rules.draw import draw
from recollect.derive.tasks.base import Effects
from recollect.errors import InvalidInput
from recollect.record import Edge, Message, Node, NodeId, NodeKind, Origin, Role, to_microseconds
from recollect.record.time import LATEST
from recollect.store import View, Where
from recollect.store.transfer import every
from recollect.text.clean import clean_text, clean_title

#: The categories of facts [3].
CATEGORIES = ("semantic", "episodic", "procedural", "prospective", "working")

_MOST_CHARACTERS = 4_000  # a fact is a statement, not a text
_EARLIEST = datetime(1000, 1, 1, tzinfo=UTC)
_PAST = 0.5  # of its confidence keeps what no longer holds


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
    now: datetime,
    id: NodeId,
) -> Node:
    """The node of a fact. Whom it is about, what of them and its value are read from its words where they are not
    given. Raises InvalidInput.
    """
    words = statement(content)
    if not words:
        raise InvalidInput("Nothing to remember: the fact is empty.")
    if category and category not in CATEGORIES:
        raise InvalidInput(f"{category!r} is no category of facts.", hint=f"One of: {', '.join(CATEGORIES)}.")
    if isinstance(confidence, bool) or not 0 < confidence <= 1:
        raise InvalidInput(f"A confidence of {confidence!r} is out of range.", hint="Use more than 0, up to 1.")
    read = next(iter(draw(Message(id, NodeId(""), Role.USER, words))), None)
    whom = clean_title(entity) or (read.entity if read else USER)
    attribute = canonical_attribute(clean_title(concept)) if concept.strip() else (read.attribute if read else "")
    is_read = read is not None and entity_key(read.entity) == entity_key(whom) and read.attribute == attribute
    held = clean_title(value) or (read.value if read and is_read else "")
    moment = now if since is None else _beginning(since)
    body = {
        "concept": attribute,
        "category": category or (read.category.value if read else "semantic"),
        "tags": [clean_title(tag) for tag in tags if tag.strip()],
        "entity": whom,
        "attribute": attribute,
        "value": held,
        "said_by": clean_title(said_by) or USER,
        "known_from": to_microseconds(now),
    }
    return Node(
        id,
        NodeKind.FACT,
        key=entity_key(whom),
        text=words,
        valid_from=moment,
        score=float(confidence),
        origin=Origin.SAID,
        body=body,
    )


def _beginning(since: datetime) -> datetime:
    """When a fact began to hold, which may be before anything was said. Raises InvalidInput."""
    try:
        moment = since.replace(tzinfo=since.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        moment = LATEST
    if not _EARLIEST <= moment < LATEST:
        raise InvalidInput(
            f"No fact holds since {since.isoformat()}.", hint=f"Use a time from {_EARLIEST.year} to {LATEST.year}."
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


def reworded(node: Node, content: str, value: str) -> Node:
    """A stored fact in other words, with another value, or both; what is not given follows from the other."""
    entity, attribute, held = (str(node.body.get(name, "")) for name in ("entity", "attribute", "value"))
    if not content:
        named = node.text.replace(held, value) if held and node.text.count(held) == 1 else ""
        content = named or (content_of(entity, attribute, value) if attribute else node.text)
    elif not value:
        read = draw(Message(node.id, NodeId(""), Role.USER, content))
        drawn = (c.value for c in read if c.entity_key == entity_key(entity) and c.attribute == attribute)
        value = value_in(content, node.text, held) or (held if held in content else next(drawn, ""))
    return replace(node, text=content, body={**node.body, "value": value})


def value_in(content: str, before: str, value: str) -> str:
    """The value that a new wording gives, where all else stands as it was; else nothing."""
    start, _, end = before.partition(value)
    inside = len(start) + len(end)
    if value and content.startswith(start) and content.endswith(end) and len(content) > inside:
        return content[len(start) : len(content) - len(end)].strip()
    return ""


def plan_stored(view: View, told: Node, now: datetime) -> tuple[Effects, list[NodeId]]:
    """What is written of a fact, and its id; of one that is stored already nothing is."""
    where = Where(kinds=(NodeKind.FACT.value,), keys=(told.key,), states=("live",), deleted=False)
    stored = [node for node in every(view, Node, where) if "slot" not in node.body and node.origin is Origin.SAID]
    same = next((node for node in stored if _says(node) == _says(told)), None)
    if same is not None:
        return Effects(), [same.id]
    attribute = told.body["attribute"]
    older = [n for n in stored if is_single(attribute) and told.body["value"] and n.body.get("attribute") == attribute]
    edges = [*links_of(told), *(edge for node in older for edge in _edges(told, node))]
    return Effects(put=[*(_past(node, told, now) for node in older), told], edges=edges), [told.id]


def links_of(node: Node) -> list[Edge]:
    """The edges from a stored fact to what it relates."""
    return links(node.id, *(str(node.body.get(name, "")) for name in ("entity", "attribute", "value")))


def _says(node: Node) -> tuple[str, ...]:
    """What makes it the same statement, whatever its case and spacing."""
    attribute, value = str(node.body.get("attribute", "")), str(node.body.get("value", ""))
    if attribute and value:
        return attribute, identity_of(attribute, value)
    return (" ".join(node.text.casefold().split()).rstrip(".!"),)


def _past(node: Node, told: Node, now: datetime) -> Node:
    """A fact that no longer holds since another was told."""
    ends = max((m for m in (told.valid_from, node.valid_from) if m), default=None)
    body = {**node.body, "known_to": to_microseconds(now)}
    return replace(node, state="superseded", valid_to=ends, score=round(node.score * _PAST, 3), body=body)


def _edges(told: Node, older: Node) -> list[Edge]:
    change = {
        "from_value": told.body["value"],
        "to_value": older.body.get("value", ""),
        "turn": 0,
        "transition_type": "update",
    }
    return [Edge(told.id, SUPERSEDES, older.id), Edge(told.id, TRANSITIONED_TO, older.id, change)]
