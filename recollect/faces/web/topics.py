"""Topics: what many conversations are about, and the conversations of one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from recollect.faces.http.scope import Scoped
from recollect.faces.present.knowledge import topic_as_json
from recollect.faces.web.page import page
from recollect.faces.web.spans import Span

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.memory.timeline import Band
    from recollect.record import Conversation, Message

router = APIRouter()

_TOPICS = 60
_MESSAGES = 400  # of a topic, the most typical
_ALL = 20_000
_TALKS = 40
_WIDTH, _HEIGHT = 240, 26


@dataclass(frozen=True, slots=True)
class Spark:
    """A topic over time, small: bars at x with a height, all in a picture of `width` by `height`."""

    bars: tuple[tuple[float, float], ...]
    bar: float
    width: int = _WIDTH
    height: int = _HEIGHT


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a topic: how much of it is, and the first message that is."""

    conversation: Conversation
    first: Message
    messages: int


@router.get("/topics")
def topics(request: Request, memory: Scoped, topic: str = "", when: Annotated[str, Query(alias="in")] = "") -> Response:
    """All topics, the largest first; or the conversations of one, of all time or of a month. Raises NotFound."""
    whole = memory.knowledge.timeline(_TOPICS)
    if not topic:
        return page(
            request,
            "topics.html",
            data=lambda: {"topics": [topic_as_json(band.topic) for band in whole.bands]},
            here="/timeline",
            bands=[(band, _spark(band, whole.days[0][0], whole.days[-1][0])) for band in whole.bands],
            chosen=None,
        )
    span = Span.of(when) if when else None
    messages = memory.toolbox().get_topic_messages(topic, _ALL if span else _MESSAGES)
    wanted = topic.strip().lower()
    chosen = next(
        (b for b in whole.bands if wanted in (b.topic.id.lower(), b.topic.label.lower()) or wanted in b.topic.terms),
        next((b for b in whole.bands if b.topic.id.lower().endswith(wanted)), None),
    )
    talks = _talks(memory, [m for m in messages if span is None or _within(m, span)])
    return page(
        request,
        "topics.html",
        data=lambda: {
            "topic": topic_as_json(chosen.topic) if chosen else topic,
            "messages": [message.id for message in messages],
        },
        here="/timeline",
        chosen=chosen,
        name=chosen.topic.label if chosen else topic,
        spark=_spark(chosen, whole.days[0][0], whole.days[-1][0]) if chosen and whole.days else None,
        talks=talks[:_TALKS],
        more=max(0, len(talks) - _TALKS),
        span=span,
        months=[(Span.of(month.month), month) for month in chosen.months] if chosen else [],
    )


def _within(message: Message, span: Span) -> bool:
    return message.timestamp is not None and span.since <= message.timestamp < span.after.since


def _talks(memory: Memory, messages: list[Message]) -> list[Talk]:
    """The conversations that these messages are of, in the order in which they come: the most typical first."""
    of: dict[str, list[Message]] = {}
    for message in messages:
        of.setdefault(message.conversation_id, []).append(message)
    found = [(memory.integration.conversation_named(one), group) for one, group in of.items()]
    return [Talk(talk, min(group, key=lambda m: m.position), len(group)) for talk, group in found if talk]


def _spark(band: Band, first: date, last: date) -> Spark:

    begin, end = Span.around(first).place, Span.around(last).place
    column = _WIDTH / (end - begin + 1)
    most = max((month.messages for month in band.months), default=1)
    bars = tuple(
        (
            round((Span.of(month.month).place - begin) * column, 1),
            round(max(2.0, (_HEIGHT - 2) * month.messages / most), 1),
        )
        for month in band.months
    )
    return Spark(bars, round(max(1.5, column * 0.8), 1))
