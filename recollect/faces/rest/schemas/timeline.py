"""The memory by time."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import Field, field_validator

from recollect.faces.rest.schemas.base import Record
from recollect.faces.rest.schemas.knowledge import Topic


class DayCount(Record):
    """How much was said on a day, in UTC."""

    day: date
    messages: int


class TopicMonth(Record):
    """How much of a topic began in a month."""

    month: str = Field(examples=["2025-03"])
    messages: int
    conversations: int


class Band(Record):
    """A topic over time: the months in which something of it began, in order."""

    topic: Topic
    months: list[TopicMonth]


class Timeline(Record):
    """All that was said, by time."""

    days: list[DayCount]
    undated: int = Field(description="Messages without a time.")
    bands: list[Band]

    @field_validator("days", mode="before")
    @classmethod
    def _counted(cls, days: Any) -> Any:
        return [{"day": day, "messages": messages} for day, messages in days]


class DayRow(Record):
    """What was said of a conversation on a day."""

    conversation_id: str
    title: str
    source: str
    first: str = Field(description="The id of the earliest of these messages.")
    messages: int


class Day(Record):
    """The conversations of a day, in the order in which they were begun that day."""

    day: date
    messages: int
    rows: list[DayRow]

    @field_validator("rows", mode="before")
    @classmethod
    def _flat(cls, rows: Any) -> Any:
        return [
            {
                "conversation_id": row.conversation.id,
                "title": row.conversation.title,
                "source": row.conversation.source,
                "first": row.first,
                "messages": row.messages,
            }
            for row in rows
        ]
