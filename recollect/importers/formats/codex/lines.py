"""Codex's rollouts, item by item: the same words in three generations of lines, and whose they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from recollect.importers.reading.lenient import as_json, first_id, first_text, first_time, objects_of, text_of
from recollect.record import Part, PartKind, Role

JsonObject = Mapping[str, Any]

_TAGGED = re.compile(r"\s*<([A-Za-z]\w*(?: \w+)?)(?:\s[^<>]*)?>.*</\1>\s*", re.DOTALL)
_INJECTED_TAGS = frozenset(
    {"INSTRUCTIONS", "skill", "permissions instructions", "subagents", "hook", "plugins", "apps"}
)
#: The first words of tags with an underscore that Codex puts in: <environment_context>, <user_instructions> …
_INJECTED_WORDS = frozenset(
    """
    agent agents app apps collaboration context current developer editor environment hook ide image interrupted memory
    model permissions personality plan plugin plugins previous project realtime recommended review sandbox session
    shell skill skills subagent system task thread tool turn user workspace
    """.split()  # noqa: SIM905
)
_INJECTED_STARTS = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<turn_aborted>")
#: What editors and the desktop app put before a person's words, and the line that ends it.
_WRAPS, _REQUEST = ("# Context from my IDE setup:", "# Files mentioned by the user:"), "## My request for Codex:"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "developer": Role.SYSTEM, "system": Role.SYSTEM}
_ARGUMENTS = ("arguments", "input", "action", "parameters", "revised_prompt")
_EVENT_MESSAGES = {"user_message": Role.USER, "agent_message": Role.ASSISTANT}
_COMPLETED = {"UserMessage": Role.USER, "AgentMessage": Role.ASSISTANT}


class ItemKind(StrEnum):
    """What an item of a rollout is."""

    WORDS = "words"
    THOUGHT = "thought"
    CALL = "call"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class CodexItem:
    """One item. `copy` says that it comes from an event, which repeats what stands in a response item, if it does.

    `texts` are its blocks, `call` the id that a call and its output share, `name` the tool's.
    """

    kind: ItemKind
    role: Role
    texts: tuple[str, ...]
    copy: bool = False
    id: str | None = None
    time: datetime | None = None
    call: str | None = None
    name: str = ""
    parts: tuple[Part, ...] = ()
    metadata: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        return "\n\n".join(self.texts)

    def with_only(self, typed: Sequence[str], aside: Sequence[str]) -> CodexItem:
        """The item with only what was typed as its words; what stood beside is kept as told."""
        told = {**(self.metadata or {})}
        return replace(self, texts=tuple(typed), metadata=told | {"context": [*told.get("context", []), *aside]})


def read_item(line: JsonObject) -> CodexItem | None:
    """The item that a line holds, None for bookkeeping. Bare items are what the first rollouts consist of."""
    payload = line.get("payload")
    time = first_time(line, ("timestamp",))
    if not isinstance(payload, Mapping):
        return _response(line, time)
    if line.get("type") in ("response_item", "request_item"):
        return _response(payload, first_time(payload, ("timestamp",)) if time is None else time)
    if line.get("type") == "event_msg":
        return _event(payload, time)
    if line.get("type") == "compacted" and (text := text_of(payload.get("message"))):
        return CodexItem(ItemKind.WORDS, Role.SYSTEM, (text,), time=time)
    return None


def is_injected(text: str) -> bool:
    """Whether this was put into the talk under the user's name: instructions, surroundings, notices in tags."""
    if text.lstrip().startswith(_INJECTED_STARTS):
        return True
    tagged = _TAGGED.fullmatch(text)
    if tagged is None:
        return False
    first, underscore, _ = tagged[1].partition("_")
    return tagged[1] in _INJECTED_TAGS or (bool(underscore) and first.lower() in _INJECTED_WORDS)


def unwrapped(text: str) -> tuple[str, str]:
    """What a person typed of a text, and what an editor put before it ("" mostly)."""
    before, marked, request = text.partition(_REQUEST) if text.startswith(_WRAPS) else (text, "", "")
    return (request.strip(), before.strip()) if marked and request.strip() else (text, "")


def _response(payload: JsonObject, time: datetime | None) -> CodexItem | None:
    kind = text_of(payload.get("type"))
    if kind == "agent_message":
        texts, parts = _content(payload.get("content") or payload.get("message"))
        return CodexItem(ItemKind.WORDS, Role.ASSISTANT, texts, time=time, parts=parts) if texts or parts else None
    if kind == "message" or (not kind and "role" in payload and "content" in payload):
        texts, parts = _content(payload.get("content"))
        role = _ROLES.get(text_of(payload.get("role")))
        if role is None or not (texts or parts):
            return None
        return CodexItem(ItemKind.WORDS, role, texts, id=first_id(payload, ("id",)), time=time, parts=parts)
    if kind == "reasoning":
        return _thought(_content(payload.get("summary"))[0] + _content(payload.get("content"))[0], time, payload)
    if kind.endswith("_call_output") or kind == "tool_search_output":
        text, metadata, parts = _output(payload.get("output", payload.get("tools")))
        call = first_id(payload, ("call_id", "id"))
        return CodexItem(ItemKind.OUTPUT, Role.TOOL, (text,), time=time, call=call, parts=parts, metadata=metadata)
    if kind.endswith("_call"):
        name = text_of(payload.get("name")) or kind.removesuffix("_call")
        given = next((payload[key] for key in _ARGUMENTS if payload.get(key) is not None), "")
        call = first_id(payload, ("call_id", "id"))
        return CodexItem(ItemKind.CALL, Role.ASSISTANT, (as_json(given),), time=time, call=call, name=name)
    return None


def _event(payload: JsonObject, time: datetime | None) -> CodexItem | None:
    kind = text_of(payload.get("type"))
    if role := _EVENT_MESSAGES.get(kind):
        text = first_text(payload, ("message", "content", "text"))
        parts = tuple(Part(PartKind.ASSET, "image") for image in _list(payload.get("images")) if image)
        return CodexItem(ItemKind.WORDS, role, (text,), copy=True, time=time, parts=parts) if text or parts else None
    if kind == "agent_reasoning":
        return _thought(tuple(filter(None, [text_of(payload.get("text"))])), time, {}, copy=True)
    if kind == "exited_review_mode":
        text = _review(payload.get("review_output"))
        return CodexItem(ItemKind.WORDS, Role.ASSISTANT, (text,), copy=True, time=time) if text else None
    item = payload.get("item")
    if kind == "item_completed" and isinstance(item, Mapping):
        texts, parts = _content(item.get("content"))
        done = _COMPLETED.get(text_of(item.get("type")))
        if done and (texts or parts):
            return CodexItem(ItemKind.WORDS, done, texts, copy=True, id=first_id(item, ("id",)), time=time, parts=parts)
        if item.get("type") == "Plan" and (text := text_of(item.get("text"))):
            return CodexItem(ItemKind.WORDS, Role.ASSISTANT, (text,), copy=True, id=first_id(item, ("id",)), time=time)
        if item.get("type") == "Reasoning":
            return _thought(
                _content(item.get("summary_text"))[0] or _content(item.get("summary"))[0], time, {}, copy=True
            )
    return None


def _review(output: object) -> str:
    """What a review found, as it is shown: the whole, then each finding."""
    if not isinstance(output, Mapping):
        return text_of(output)
    found = (
        "\n".join(filter(None, map(text_of, (f.get("title"), f.get("body")))))
        for f in objects_of(output.get("findings"))
    )
    return "\n\n".join(filter(None, (text_of(output.get("overall_explanation")), *found)))


def _thought(
    texts: tuple[str, ...], time: datetime | None, payload: JsonObject, *, copy: bool = False
) -> CodexItem | None:
    """What can be read of a model's thinking; most of it is encrypted."""
    if not texts:
        return None
    return CodexItem(ItemKind.THOUGHT, Role.ASSISTANT, texts, copy=copy, id=first_id(payload, ("id",)), time=time)


def _content(content: object) -> tuple[tuple[str, ...], tuple[Part, ...]]:
    """The texts and the images of a content: a string, or blocks of any generation's names."""
    if isinstance(content, str):
        return ((content,) if content.strip() else ()), ()
    texts = [*filter(str.strip, (_words(block) for block in _list(content)))]
    images = (block for block in objects_of(content) if "image" in text_of(block.get("type")).lower())
    return tuple(texts), tuple(Part(PartKind.ASSET, "image") for _ in images)


def _words(block: object) -> str:
    return block if isinstance(block, str) else text_of(block.get("text")) if isinstance(block, Mapping) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _output(given: object) -> tuple[str, Mapping[str, Any] | None, tuple[Part, ...]]:
    """The words of an output, what is told of it, and its images. Some are JSON in a string around the words."""
    value: object = given
    if isinstance(given, str) and given.startswith("{"):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            value = given
    if isinstance(value, Mapping):
        words = value.get("output", value.get("content"))
        told = value.get("metadata")
        if isinstance(words, str):
            return words, told if isinstance(told, Mapping) else None, ()
        value = words if isinstance(words, list) else given
    if isinstance(value, list):
        texts, parts = _content(value)
        return "\n".join(texts) or ("" if parts else as_json(value)), None, parts
    return as_json(value), None, ()


def surroundings(line: JsonObject) -> Iterator[tuple[str, Any]]:
    """What a line tells of the session: its id, folder, model, version, branch (the same keys may come again)."""
    payload = line.get("payload")
    told = payload if isinstance(payload, Mapping) and line.get("type") in ("session_meta", "turn_context") else None
    if told is None and "payload" not in line and "role" not in line and text_of(line.get("id")):
        told = line if "instructions" in line or "git" in line or "timestamp" in line else None
    keys = ("id", "cwd", "model", "originator", "cli_version", "source", "model_provider", "forked_from_id", "git")
    for key in keys if told is not None else ():
        if told is not None and (value := told.get(key)) not in (None, "", {}):
            yield key, value
