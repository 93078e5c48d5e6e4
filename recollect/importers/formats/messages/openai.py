"""Conversations as the OpenAI API takes them: `{"messages": [{"role", "content"}]}`, or such a list alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from recollect.importers.base import DraftCall, DraftConversation, DraftMessage, DraftNotes
from recollect.importers.formats.messages.parts import (
    SIDES,
    TIMES,
    MessageBody,
    Value,
    key,
    read_body,
    said_or_done,
    side,
    talk,
)
from recollect.importers.reading.lenient import first_id, first_time, rest, text_of
from recollect.record import Kind, Role

_ROLES = {**SIDES, "developer": SIDES["system"], "function": SIDES["tool"]}
_KNOWN_OF_MESSAGE = frozenset(
    {"id", "role", "content", "tool_calls", "function_call", "refusal", "reasoning", "reasoning_content", "thinking"}
    | {"model", "audio", *TIMES}
)
#: Keys by which other programs' conversations and messages, alike at first sight, betray themselves.
_FOREIGN = frozenset(
    {"mapping", "chat_messages", "conversations", "chat", "chatID", "chatTitle", "conversationId", "sessionId"}
    | {"messageId", "parentMessageId", "parentId", "childrenIds", "isCreatedByUser", "contentParts"}
)
_SAYS = frozenset({"content", "tool_calls", "function_call", "refusal"})


class OpenAIMessages:
    """Conversations in the OpenAI format, and bare lists of such messages."""

    name = "openai"
    label = "OpenAI messages"
    recognised = "`messages` with `role` and `content`"
    about = """\
`{"messages": [{"role", "content"}, …]}`: one a line, an array of them, or one alone; also bare lists of messages. \
Optional: `id`, `title`, `created`, `updated`, `model`; in a message `id`, `name` (the speaker), `timestamp` (ISO 8601 \
or epoch), `model`, `tool_calls`, `reasoning`. `content` may be text, null or a list of parts. Roles system and \
developer are context, tool and function are tool; unknown ones are kept as context.
"""

    def fits(self, value: Any) -> bool:
        """Whether at least half of its messages have known roles, all have content, and none another format's keys."""
        messages = value.get("messages") if isinstance(value, dict) else value
        if not isinstance(messages, list) or not messages or (isinstance(value, dict) and value.keys() & _FOREIGN):
            return False
        whole = messages if len(messages) == 1 else messages[:-1]  # the last may be cut
        if not all(isinstance(m, dict) and not m.keys() & _FOREIGN for m in messages):
            return False
        if not all(text_of(m.get("role")) and m.keys() & _SAYS for m in whole):
            return False
        return 2 * sum(m["role"] in _ROLES for m in whole) >= len(whole)

    def draft(self, value: Any, told: DraftNotes) -> DraftConversation | None:
        """The conversation."""
        about = value if isinstance(value, dict) else {}
        given = about.get("messages") if about else value
        return talk(value, given, partial(_messages, text_of(about.get("model")), told), told, {"messages", "model"})


def _messages(model: str, told: DraftNotes, given: Sequence[Value]) -> list[DraftMessage]:
    bodies = [read_body(message, told) for message in given]
    results = _results(given, bodies)
    return [
        _message(message, number, body, results, model, told)
        for number, (message, body) in enumerate(zip(given, bodies, strict=True))
    ]


def _message(
    message: Mapping[str, Any],
    number: int,
    body: MessageBody,
    results: Mapping[tuple[int, int], int],
    model: str,
    told: DraftNotes,
) -> DraftMessage:
    role, kind = side(text_of(message.get("role")), _ROLES, told)
    content = "\n\n".join(body.words)
    name = text_of(message.get("name"))
    person = name if kind is Kind.SAID else ""
    return DraftMessage(
        role=role,
        content=content,
        source_id=first_id(message, ("id",)),
        key=key(number),
        kind=said_or_done(content, body.parts, body.calls) if kind is Kind.SAID else kind,
        speaker=person or None,
        timestamp=first_time(message, TIMES),
        model=(text_of(message.get("model")) or model or None) if role is Role.ASSISTANT else None,
        parts=tuple(body.parts),
        calls=tuple(
            DraftCall(
                call.name,
                call.arguments,
                result_of=None if (at := results.get((number, position))) is None else key(at),
            )
            for position, call in enumerate(body.calls)
        ),
        metadata=rest(message, _KNOWN_OF_MESSAGE | {"name"} if person else _KNOWN_OF_MESSAGE),
    )


def _results(given: Sequence[Mapping[str, Any]], bodies: Sequence[MessageBody]) -> dict[tuple[int, int], int]:
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
    result: Mapping[str, Any], waiting: Sequence[tuple[int, int]], bodies: Sequence[MessageBody]
) -> tuple[int, int] | None:
    wanted, name = text_of(result.get("tool_call_id")), text_of(result.get("name"))
    if wanted:
        return next((at for at in reversed(waiting) if bodies[at[0]].calls[at[1]].id == wanted), None)
    return next((at for at in waiting if not name or bodies[at[0]].calls[at[1]].name == name), None)
