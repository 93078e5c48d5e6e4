"""ShareGPT: `conversations` (or `items`) of `{"from", "value"}`, in an array, one conversation a line, or alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from recollect.importers.base import DraftCall, DraftConversation, DraftMessage, DraftNotes
from recollect.importers.formats.messages.parts import SIDES, TIMES, Value, key, side, talk
from recollect.importers.reading.lenient import as_json, first_id, first_time, objects_of, rest, text_of
from recollect.record import Kind, Role

_CALL = "function_call"
_ROLES = {
    **SIDES,
    **dict.fromkeys(("gpt", "chatgpt", "bing", "bard"), SIDES["assistant"]),
    **dict.fromkeys(("observation", "function_response"), SIDES["tool"]),
    **dict.fromkeys((_CALL, "tool_call"), (Role.ASSISTANT, Kind.TOOL)),
}
_LISTS = ("conversations", "items")


class ShareGPT:
    """Conversations in the ShareGPT format."""

    name = "sharegpt"
    label = "ShareGPT"
    recognised = "`conversations` or `items` with `from` and `value`"
    about = """\
`conversations` (or `items`) of `{"from": …, "value": …}`: one a line, an array, or one alone; `human`, `gpt`, \
`system`, `tool`, `observation`, `function_call` and their kin.
"""

    def fits(self, value: Any) -> bool:
        """Whether its messages have `from`, at least half of them of known sides, and `value`."""
        messages = _list_of(value)
        if not messages or not all(isinstance(message, dict) for message in messages):
            return False
        whole = messages if len(messages) == 1 else messages[:-1]  # the last may be cut
        known = sum(text_of(message.get("from")).lower() in _ROLES for message in whole)
        return all(text_of(m.get("from")) and "value" in m for m in whole) and 2 * known >= len(whole)

    def draft(self, value: Any, told: DraftNotes) -> DraftConversation | None:
        """The conversation."""
        read = partial(_messages, value, told)
        return talk(value, _list_of(value), read, told, {*_LISTS, "system", "model"})


def _list_of(value: Any) -> list[Any] | None:
    lists = (value.get(name) for name in _LISTS) if isinstance(value, dict) else ()
    return next((found for found in lists if isinstance(found, list)), None)


def _messages(value: Value, told: DraftNotes, given: Sequence[Value]) -> list[DraftMessage]:
    model = text_of(value.get("model")) or None
    instructions = text_of(value.get("system"))
    messages = [DraftMessage(Role.SYSTEM, instructions, key="system", kind=Kind.CONTEXT)] if instructions else []
    following = [*given[1:], {}]
    for number, (message, after) in enumerate(zip(given, following, strict=True)):
        messages.append(_message(message, number, _is_result(after), model, told))
    return messages


def _message(
    message: Mapping[str, Any], number: int, answered: bool, model: str | None, told: DraftNotes
) -> DraftMessage:
    role, kind = side(text_of(message.get("from")).lower(), _ROLES, told)
    words = text_of(message.get("value"))
    calls = _calls(words, key(number + 1) if answered else None) if (role, kind) == _ROLES[_CALL] else ()
    return DraftMessage(
        role=role,
        content="" if calls else words,
        source_id=first_id(message, ("id",)),
        key=key(number),
        kind=kind,
        timestamp=first_time(message, TIMES),
        model=model if role is Role.ASSISTANT else None,
        calls=calls,
        metadata=rest(message, {"from", "value", "id", *TIMES}),
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
