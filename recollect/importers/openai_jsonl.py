"""Conversations as the OpenAI API takes them: `{"messages": [{"role", "content"}]}`, one a line, in an array or alone.

Beside the API's own keys a conversation may have `id`, `title` and `created`, a message `id`, `name` (who speaks) and
`timestamp` (ISO 8601 or epoch).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.importers.base import Draft, DraftCall, DraftConversation, DraftMessage, Entry, Problems
from recollect.importers.json_items import Item, glimpse, items
from recollect.importers.lenient import first_id, first_text, first_time, objects_of, rest, text_of
from recollect.importers.openai_parts import Body, read_body
from recollect.importers.whose import said_or_done
from recollect.record import Kind, Role

_ROLES = {
    "user": (Role.USER, Kind.SAID),
    "human": (Role.USER, Kind.SAID),
    "assistant": (Role.ASSISTANT, Kind.SAID),
    "model": (Role.ASSISTANT, Kind.SAID),
    "system": (Role.SYSTEM, Kind.CONTEXT),
    "developer": (Role.SYSTEM, Kind.CONTEXT),
    "tool": (Role.TOOL, Kind.TOOL),
    "function": (Role.TOOL, Kind.TOOL),
}
_IDS, _TITLES = ("id", "conversation_id"), ("title", "name")
_CREATED = ("created", "created_at", "create_time", "timestamp", "date")
_UPDATED = ("updated", "updated_at", "update_time")
_TIMES = ("timestamp", "created_at", "create_time", "created")
_KNOWN_OF_CONVERSATION = frozenset({"messages", "model", *_IDS, *_TITLES, *_CREATED, *_UPDATED})
_KNOWN_OF_MESSAGE = frozenset(
    {"id", "role", "content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content"}
    | {"model", "audio", *_TIMES}
)
#: Keys by which other programs' conversations and messages, alike at first sight, betray themselves.
_FOREIGN = frozenset(
    {"mapping", "chat_messages", "conversations", "chat", "chatID", "chatTitle", "conversationId", "sessionId"}
    | {"messageId", "parentMessageId", "parentId", "childrenIds", "isCreatedByUser", "contentParts"}
)


class OpenAIMessages:
    """Reads conversations in the OpenAI format."""

    name = "openai"
    label = "OpenAI messages"

    def recognises(self, entry: Entry) -> bool:
        """Whether the file holds `messages` with roles and content, and none of another format's keys."""
        return glimpse(entry, _fits) is not None

    def read(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Draft]:
        """All conversations, in the order of the files."""
        for entry in entries:
            head = glimpse(entry, _fits)
            if head is None:
                problems.lost(entry.place, "there are no conversations in the OpenAI format here")
                continue
            for item in items(entry, head, problems):
                yield from self._conversation(item, problems)

    def _conversation(self, item: Item, problems: Problems) -> Iterator[DraftConversation]:
        value = item.value
        given = value.get("messages") if isinstance(value, dict) else None
        if not isinstance(given, list):
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
            messages=_messages(readable, text_of(value.get("model")), problems),
            place=place,
            source_id=first_id(value, _IDS),
            title=title,
            created=first_time(value, _CREATED),
            updated=first_time(value, _UPDATED),
            linear=True,
            metadata=rest(value, _KNOWN_OF_CONVERSATION),
        )


def _fits(value: Any) -> bool:
    """Whether this is a conversation in the OpenAI format, as far as it is seen: the last message may be cut."""
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages or value.keys() & _FOREIGN:
        return False
    return all(_is_message(message) for message in messages[:-1]) and _may_be_message(messages[-1])


def _is_message(message: Any) -> bool:
    return _may_be_message(message) and bool(message.keys() & {"content", "tool_calls", "function_call", "refusal"})


def _may_be_message(message: Any) -> bool:
    return isinstance(message, dict) and text_of(message.get("role")) in _ROLES and not message.keys() & _FOREIGN


def _messages(given: Sequence[Mapping[str, Any]], model: str, problems: Problems) -> list[DraftMessage]:
    bodies = [read_body(message, problems) for message in given]
    results = _results(given, bodies)
    return [
        _message(message, number, body, results, model, problems)
        for number, (message, body) in enumerate(zip(given, bodies, strict=True))
    ]


def _message(
    message: Mapping[str, Any],
    number: int,
    body: Body,
    results: Mapping[tuple[int, int], int],
    model: str,
    problems: Problems,
) -> DraftMessage:
    role, kind = _ROLES.get(text_of(message.get("role")), (Role.SYSTEM, Kind.CONTEXT))
    if text_of(message.get("role")) not in _ROLES:
        problems.note("messages of unknown roles, kept as context")
    content = "\n\n".join(body.words)
    name = text_of(message.get("name"))
    person = name if kind is Kind.SAID else ""
    return DraftMessage(
        role=role,
        content=content,
        source_id=first_id(message, ("id",)),
        key=_key(number),
        kind=said_or_done(content, body.parts, body.calls) if kind is Kind.SAID else kind,
        speaker=person or None,
        timestamp=first_time(message, _TIMES),
        model=(text_of(message.get("model")) or model or None) if role is Role.ASSISTANT else None,
        parts=tuple(body.parts),
        calls=tuple(
            DraftCall(call.name, call.arguments, result_of=_key_of(results.get((number, position))))
            for position, call in enumerate(body.calls)
        ),
        metadata=rest(message, _KNOWN_OF_MESSAGE | {"name"} if person else _KNOWN_OF_MESSAGE),
    )


def _results(given: Sequence[Mapping[str, Any]], bodies: Sequence[Body]) -> dict[tuple[int, int], int]:
    """For each answered call (the numbers of its message and within it) the number of the message with its result.

    By the call's id, the newest open call first, since ids are used again; without an id by name, in order.
    """
    results: dict[tuple[int, int], int] = {}
    waiting: list[tuple[int, int]] = []
    for number, (message, body) in enumerate(zip(given, bodies, strict=True)):
        waiting += [(number, position) for position in range(len(body.calls))]
        if message.get("role") not in ("tool", "function"):
            continue
        found = _answered(message, waiting, bodies)
        if found is not None:
            waiting.remove(found)
            results[found] = number
    return results


def _answered(
    result: Mapping[str, Any], waiting: Sequence[tuple[int, int]], bodies: Sequence[Body]
) -> tuple[int, int] | None:
    wanted, name = text_of(result.get("tool_call_id")), text_of(result.get("name"))
    if wanted:
        return next((at for at in reversed(waiting) if bodies[at[0]].calls[at[1]].id == wanted), None)
    return next((at for at in waiting if not name or bodies[at[0]].calls[at[1]].name == name), None)


def _key(number: int) -> str:
    return f"#{number}"


def _key_of(number: int | None) -> str | None:
    return None if number is None else _key(number)
