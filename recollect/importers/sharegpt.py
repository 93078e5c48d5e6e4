"""ShareGPT: `conversations` (or `items`) of `{"from", "value"}`, in an array, one conversation a line, or alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.importers.base import Draft, DraftCall, DraftConversation, DraftMessage, Entry, Problems
from recollect.importers.json_items import Item, glimpse, items
from recollect.importers.lenient import as_json, first_id, first_text, first_time, objects_of, rest, text_of
from recollect.record import Kind, Role

_CALL = "function_call"
_ROLES = {
    "human": (Role.USER, Kind.SAID),
    "user": (Role.USER, Kind.SAID),
    "gpt": (Role.ASSISTANT, Kind.SAID),
    "chatgpt": (Role.ASSISTANT, Kind.SAID),
    "assistant": (Role.ASSISTANT, Kind.SAID),
    "model": (Role.ASSISTANT, Kind.SAID),
    "bing": (Role.ASSISTANT, Kind.SAID),
    "bard": (Role.ASSISTANT, Kind.SAID),
    "system": (Role.SYSTEM, Kind.CONTEXT),
    "tool": (Role.TOOL, Kind.TOOL),
    "observation": (Role.TOOL, Kind.TOOL),
    "function_response": (Role.TOOL, Kind.TOOL),
    _CALL: (Role.ASSISTANT, Kind.TOOL),
    "tool_call": (Role.ASSISTANT, Kind.TOOL),
}
_LISTS = ("conversations", "items")
_IDS, _TITLES = ("id", "conversation_id"), ("title", "name")
_CREATED = ("created", "created_at", "create_time", "timestamp", "date")
_UPDATED = ("updated", "updated_at", "update_time")
_TIMES = ("timestamp", "created_at", "create_time")
_KNOWN = frozenset({*_LISTS, *_IDS, *_TITLES, *_CREATED, *_UPDATED, "system", "model"})
_KNOWN_OF_MESSAGE = frozenset({"from", "value", "id", *_TIMES})


class ShareGPT:
    """Reads conversations in the ShareGPT format."""

    name = "sharegpt"
    label = "ShareGPT"

    def recognises(self, entry: Entry) -> bool:
        """Whether the file holds conversations whose messages have `from` and `value`."""
        return glimpse(entry, _fits) is not None

    def read(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Draft]:
        """All conversations, in the order of the files."""
        for entry in entries:
            head = glimpse(entry, _fits)
            if head is None:
                problems.lost(entry.place, "there are no conversations in the ShareGPT format here")
                continue
            for item in items(entry, head, problems):
                yield from self._conversation(item, problems)

    def _conversation(self, item: Item, problems: Problems) -> Iterator[DraftConversation]:
        value = item.value
        given = _message_list(value) if isinstance(value, dict) else None
        if given is None:
            problems.lost(item.place, "there are no messages here")
            return
        title = first_text(value, _TITLES)
        place = f'{item.place} "{title}"' if title else item.place
        readable = objects_of(given)
        if len(readable) < len(given):
            problems.partial(place, f"{len(given) - len(readable)} of its messages cannot be read")
        if not readable:
            problems.note("entries without messages")
            return
        yield DraftConversation(
            source=self.name,
            messages=_messages(value, readable, problems),
            place=place,
            source_id=first_id(value, _IDS),
            title=title,
            created=first_time(value, _CREATED),
            updated=first_time(value, _UPDATED),
            linear=True,
            metadata=rest(value, _KNOWN),
        )


def _message_list(value: Mapping[str, Any]) -> list[Any] | None:
    return next((found for key in _LISTS if isinstance(found := value.get(key), list)), None)


def _fits(value: Any) -> bool:
    """Whether this is a conversation in the ShareGPT format, as far as it is seen: the last message may be cut."""
    messages = _message_list(value) if isinstance(value, dict) else None
    if not messages or not all(isinstance(message, dict) for message in messages):
        return False
    *whole, last = messages
    return all("value" in message for message in whole) and all(
        text_of(message.get("from")).lower() in _ROLES for message in (*whole, last)
    )


def _messages(value: Mapping[str, Any], given: Sequence[Mapping[str, Any]], problems: Problems) -> list[DraftMessage]:
    model = text_of(value.get("model")) or None
    instructions = text_of(value.get("system"))
    messages = [DraftMessage(Role.SYSTEM, instructions, key="system", kind=Kind.CONTEXT)] if instructions else []
    following = [*given[1:], {}]
    for number, (message, after) in enumerate(zip(given, following, strict=True)):
        messages.append(_message(message, number, _is_result(after), model, problems))
    return messages


def _message(
    message: Mapping[str, Any], number: int, answered: bool, model: str | None, problems: Problems
) -> DraftMessage:
    speaker = text_of(message.get("from")).lower()
    if speaker not in _ROLES:
        problems.note("messages of unknown senders, kept as context")
    role, kind = _ROLES.get(speaker, (Role.SYSTEM, Kind.CONTEXT))
    words = text_of(message.get("value"))
    calls = _calls(words, f"#{number + 1}" if answered else None) if (role, kind) == _ROLES[_CALL] else ()
    return DraftMessage(
        role=role,
        content="" if calls else words,
        source_id=first_id(message, ("id",)),
        key=f"#{number}",
        kind=kind,
        timestamp=first_time(message, _TIMES),
        model=model if role is Role.ASSISTANT else None,
        calls=calls,
        metadata=rest(message, _KNOWN_OF_MESSAGE),
    )


def _is_result(message: Mapping[str, Any]) -> bool:
    return _ROLES.get(text_of(message.get("from")).lower()) == (Role.TOOL, Kind.TOOL)


def _calls(words: str, result: str | None) -> tuple[DraftCall, ...]:
    """The calls that a `function_call` holds as JSON, one or a list; what follows is the result of the last."""
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        return ()
    wanted = objects_of(found if isinstance(found, list) else [found])
    return tuple(
        DraftCall(
            name=text_of(call.get("name")) or "function",
            arguments=as_json(call.get("arguments", call.get("parameters"))),
            result_of=result if number == len(wanted) - 1 else None,
        )
        for number, call in enumerate(wanted)
    )
