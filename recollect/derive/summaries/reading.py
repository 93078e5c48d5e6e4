"""Summaries as whoever reads them gets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.derive.summaries.nodes import COVERS, KINDS
from recollect.derive.tasks.base import LIVE
from recollect.errors import InvalidInput
from recollect.record import NOTHING, Node, NodeId, NodeKind, parse_time, to_microseconds
from recollect.store import View, Where
from recollect.store.transfer import every

_MANY = 10_000_000  # edges
_OLDEST = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What messages come down to.

    `kind` is conversation, l1 (a run of 5 to 10 exchanges), l2 (three of these), segment (a branch that is not shown),
    period (a day, a week, a month) or topic. `conversation_id` is None where it tells of several; of an l1 and an l2 of
    short conversations, `conversations` are these. `covers` are the ids of what it was made of, in order: messages, of
    an l2 its l1, of a week and a month their days. `extractive`: its sentences are quoted, no model has written it;
    `made_by` names the rules or the prompt and the model, and `version` is theirs. `parts` are what it says in pieces:
    themes, concerns, emotional_state, actions, specifics … as far as its kind has them. `block` counts the l1 and the
    l2 of a conversation, `exchanges` are those covered. `since` and `until` is the time it is about, `made` when it was
    made.
    """

    id: NodeId
    kind: str
    text: str
    covers: tuple[NodeId, ...]
    version: int
    extractive: bool
    conversation_id: NodeId | None = None
    conversations: tuple[NodeId, ...] = ()
    period: str | None = None  # as in "day 2025-03-01", "week 2025-W09", "month 2025-03"
    since: datetime | None = None
    until: datetime | None = None
    parts: Mapping[str, Any] = NOTHING
    block: int | None = None
    exchanges: int | None = None
    messages: int = 0
    made: datetime | None = None
    made_by: str = ""


def summaries(
    view: View,
    conversation_id: NodeId | None = None,
    kind: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
) -> list[Summary]:
    """The living summaries: of a conversation level by level, in its own order whatever its clock says, or all by time.
    With `since` and `before` those of what began in that time.

    Raises InvalidInput for a kind that there is not.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"{kind!r} is no kind of summary.", hint=f"One of: {', '.join(KINDS)}.")
    where = Where(
        kinds=(NodeKind.SUMMARY,),
        keys=(kind,) if kind else (),
        states=(LIVE,),
        conversation=conversation_id,
        since=to_microseconds(since),
        until=to_microseconds(before),
        deleted=False,
    )
    nodes = sorted(every(view, Node, where), key=_by_time if conversation_id is None else _by_level)
    covered: dict[NodeId, list[tuple[int, NodeId]]] = {}
    for edge in view.edges([node.id for node in nodes], (COVERS,), "out", _MANY) if nodes else ():
        covered.setdefault(edge.source_id, []).append((int(edge.properties.get("place", 0)), edge.target_id))
    return [_summary(node, [one for _, one in sorted(covered.get(node.id, ()))]) for node in nodes]


def _summary(node: Node, covers: Sequence[NodeId]) -> Summary:
    body = node.body
    return Summary(
        id=node.id,
        kind=node.key,
        text=node.text,
        covers=tuple(covers),
        version=int(body.get("version", 0)),
        extractive=bool(body.get("extractive", True)),
        conversation_id=node.conversation_id,
        conversations=tuple(body.get("conversations", ())),
        period=body.get("period"),
        since=node.valid_from,
        until=node.valid_to,
        parts=body.get("parts", NOTHING),
        block=body.get("block"),
        exchanges=body.get("exchanges"),
        messages=int(body.get("messages", 0)),
        made=parse_time(body.get("made")),
        made_by=node.made_by,
    )


def _by_time(node: Node) -> tuple[float, str, int, int, str]:
    begun = node.valid_from.timestamp() if node.valid_from else _OLDEST
    return begun, node.conversation_id or "", *_by_level(node)


def _by_level(node: Node) -> tuple[int, int, str]:
    rank = (*_RANKS, node.key).index(node.key)
    return rank, int(node.body.get("block", 0)), node.id


_RANKS = ("l1", "l2", "segment", "conversation", "topic", "period")
