"""What lists of messages have in common: a conversation with an id, a title and times, its messages in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, overload

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, DraftNotes
from recollect.importers.reading.lenient import first_id, first_text, first_time, objects_of, rest
from recollect.record import Kind, Role

Value = Mapping[str, Any]

#: Who speaks, by the names that formats have for the sides.
SIDES = {
    "user": (Role.USER, Kind.SAID),
    "human": (Role.USER, Kind.SAID),
    "assistant": (Role.ASSISTANT, Kind.SAID),
    "model": (Role.ASSISTANT, Kind.SAID),
    "system": (Role.SYSTEM, Kind.CONTEXT),
    "tool": (Role.TOOL, Kind.TOOL),
}
UNKNOWN = (Role.SYSTEM, Kind.CONTEXT)

TIMES = ("timestamp", "created_at", "create_time", "created")
_IDS, _TITLES = ("id", "conversation_id"), ("title", "name")
_CREATED = ("created", "created_at", "create_time", "timestamp", "date")
_UPDATED = ("updated", "updated_at", "update_time")


def talk(
    value: Any,
    given: object,
    read: Callable[[Sequence[Value]], Sequence[DraftMessage]],
    told: DraftNotes,
    known: Set[str],
) -> DraftConversation | None:
    """The conversation of a value in which `given` is the list of messages; what is not `known` goes into metadata."""
    if not isinstance(given, list):
        raise ImportProblem("there are no messages here")
    messages = objects_of(given)
    if len(messages) < len(given):
        told.partial(f"{len(given) - len(messages)} of its messages cannot be read")
    if not messages:
        return None
    about: Value = value if isinstance(value, dict) else {}
    return DraftConversation(
        messages=read(messages),
        source_id=first_id(about, _IDS),
        title=first_text(about, _TITLES),
        created=first_time(about, _CREATED),
        updated=first_time(about, _UPDATED),
        linear=True,
        metadata=rest(about, {*known, *_IDS, *_TITLES, *_CREATED, *_UPDATED}),
    )


def side(name: str, sides: Mapping[str, tuple[Role, Kind]], told: DraftNotes) -> tuple[Role, Kind]:
    """The role and kind of a side; an unknown one is kept as context, and told."""
    if name not in sides:
        told.note("messages of unknown roles, kept as context")
    return sides.get(name, UNKNOWN)


@overload
def key(number: int) -> str: ...
@overload
def key(number: None) -> None: ...
def key(number: int | None) -> str | None:
    """The key of a message in a list, by its place there."""
    return None if number is None else f"#{number}"
