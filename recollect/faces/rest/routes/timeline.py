"""The memory by time: months and days, and what was said then."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.records import Message
from recollect.faces.rest.schemas.timeline import Day, Timeline

routes = family("time")

Period = Annotated[str, Query(description="today, this_week, last_month, 2025-03 …", examples=["2025-03"])]


@routes.get("/timeline")
def timeline(
    memory: Scoped, topics: Annotated[int, Query(ge=0, le=100, description="The largest ones, as bands.")] = 12
) -> Timeline:
    """How much was said on each day, and the largest topics by month."""
    return Timeline.model_validate(memory.knowledge.timeline(topics))


@routes.get("/days")
def days(memory: Scoped, period: Period) -> Page[Day]:
    """The days of a time on which something was said, the newest first, each with its conversations."""
    return Page[Day].model_validate({"items": memory.knowledge.days(period)})


@routes.get("/period")
def get_period_messages(
    memory: Scoped,
    cursor: Paged,
    period: Period,
    limit: Annotated[int, Query(ge=1, le=999)] = 50,
) -> Page[Message]:
    """What was said in a time: the newest messages first in pages, each in order of time."""
    found = memory.toolbox().get_period_messages(period, limit + 1, cursor.offset)
    following = cursor.following(cursor.offset + limit if len(found) > limit else None)
    return Page[Message].model_validate({"items": found[-limit:], "next": following})
