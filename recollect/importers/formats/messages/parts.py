"""What stands in one message of the OpenAI format: words, parts, calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, overload

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, DraftNotes
from recollect.importers.reading.lenient import as_json, first_id, first_text, first_time, objects_of, rest, text_of
from recollect.record import Kind, Part, PartKind, Role

_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_ASSETS = frozenset(
    {
        "image_url",
        "input_image",
        "image",
        "input_audio",
        "audio",
        "video_url",
        "file",
        "input_file",
        "image_file",
        "document",
    }
)
_THOUGHTS = frozenset({"thinking", "reasoning"})
_TOLD = frozenset({"document", "search_result"})  # whose words may stand in them


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call as a message makes it; `id` is what its result refers to."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class MessageBody:
    """What was found in a message, in order."""

    words: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    calls: list[MadeCall] = field(default_factory=list)


def read_body(message: Mapping[str, Any], told: DraftNotes) -> MessageBody:
    """Words from `content` (a string, parts, or null beside a refusal or a spoken answer), thoughts and calls."""
    body = MessageBody()
    content = message.get("content")
    if isinstance(content, str):
        body.words.append(content)
    elif isinstance(content, list):
        is_answer, before = message.get("role") == "assistant", None
        for part in content:
            many = len(body.words)
            _read_part(part, body, told)
            if is_answer and _is_text(before) and _is_text(part) and 0 < many < len(body.words):
                body.words[many - 1 :] = ["".join(body.words[many - 1 :])]  # citations cut its sentences
            before = part
    if not any(body.words):
        body.words += [text for text in (text_of(message.get("refusal")), _transcript(message)) if text]
    thought = next(
        filter(None, (text_of(message.get(key)) for key in ("reasoning_content", "reasoning", "thinking"))), ""
    )
    if thought:
        body.parts.append(Part(PartKind.REASONING, "thinking", thought))
    body.calls += _calls(message)
    return body


def _is_text(part: object) -> bool:
    return isinstance(part, str) or (isinstance(part, dict) and part.get("type") in _TEXTS)


def _read_part(part: object, body: MessageBody, told: DraftNotes) -> None:
    if isinstance(part, str):
        body.words.append(part)
    if not isinstance(part, dict):
        return
    kind = text_of(part.get("type"))
    text = next(filter(None, (text_of(part.get(key)) for key in ("text", "refusal", "stdout"))), "")
    if kind in _THOUGHTS:
        thought = text_of(part.get(kind)) or text or "\n\n".join(_inside(part.get("summary"), told).words)
        body.parts.append(Part(PartKind.REASONING, "thinking", thought))
    elif kind in _TOLD and (words := _told_words(part, told)):
        name = next(filter(None, (text_of(part.get(key)) for key in ("title", "source", "type"))), kind)
        body.parts.append(Part(PartKind.ATTACHMENT, name, words))
    elif kind in _ASSETS:
        body.parts.append(_asset(kind, part))
    elif kind == "tool_use" or kind.endswith("_tool_use"):
        body.calls.append(MadeCall(text_of(part.get("id")), text_of(part.get("name")), as_json(part.get("input"))))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        inner = _inside(part.get("content"), told)
        body.parts += [Part(PartKind.ATTACHMENT, kind, "\n\n".join(inner.words)), *inner.parts]
    elif kind == "web_search_result":
        body.words += filter(None, [" ".join(filter(None, (text_of(part.get(key)) for key in ("title", "url"))))])
    else:
        if kind not in _TEXTS:
            told.note("content parts of unknown kinds, their text kept")
        body.words += [text] if text else []


def _inside(content: object, told: DraftNotes) -> MessageBody:
    """What stands in the content of a part."""
    body = MessageBody()
    for one in content if isinstance(content, list) else [content]:
        _read_part(one, body, told)
    return body


def _told_words(part: Mapping[str, Any], told: DraftNotes) -> str:
    """The words of a document or a search result that is given as text; none of one that is a file."""
    source = part.get("source")
    if isinstance(source, dict) and source.get("type") == "text":
        return text_of(source.get("data"))
    return "\n\n".join(_inside(source.get("content") if isinstance(source, dict) else part.get("content"), told).words)


def _asset(kind: str, part: Mapping[str, Any]) -> Part:
    """A picture, sound or file: its name or address, never its bytes; a sound with what is said in it."""
    inner = part.get(kind) or part.get(kind.removeprefix("input_"))
    about: Mapping[str, Any] = inner if isinstance(inner, dict) else part
    address = text_of(part.get(kind)) or text_of(about.get("url")) or text_of(part.get("image_url"))
    names = (text_of(about.get(key)) for key in ("filename", "file_id", "title"))
    name = next(filter(None, names), "") or address
    shown = kind if not name or name.startswith("data:") else name
    return Part(PartKind.ASSET, shown, text_of(about.get("transcript")), {"type": kind})


def _transcript(message: Mapping[str, Any]) -> str:
    audio = message.get("audio")
    return text_of(audio.get("transcript")) if isinstance(audio, dict) else ""


def _calls(message: Mapping[str, Any]) -> Iterator[MadeCall]:
    for call in objects_of(message.get("tool_calls")):
        inner = call.get("function") or call.get("custom")
        about: Mapping[str, Any] = inner if isinstance(inner, dict) else call
        wanted = about.get("arguments", about.get("input"))
        yield MadeCall(text_of(call.get("id")), text_of(about.get("name")) or "tool", as_json(wanted))
    old = message.get("function_call")
    if isinstance(old, dict):
        yield MadeCall("", text_of(old.get("name")) or "tool", as_json(old.get("arguments")))


# What lists of messages have in common: a conversation with an id, a title and times, its messages in order.

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


# Whose words a message holds, where the format does not say it but the message shows it.


def said_or_done(content: str, parts: Sequence[Part], calls: Sequence[object]) -> Kind:
    """The kind of a message of one of the two sides: said, unless it holds nothing but calls, or but thoughts."""
    if content.strip() or any(part.kind is not PartKind.REASONING for part in parts):
        return Kind.SAID
    if calls:
        return Kind.TOOL
    return Kind.REASONING if parts else Kind.SAID
