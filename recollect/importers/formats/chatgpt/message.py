"""One node of a ChatGPT conversation as a draft: who speaks, whose words they are, what was called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.importers.base import DraftCall, DraftMessage
from recollect.importers.formats.chatgpt.canvas import written_page
from recollect.importers.formats.chatgpt.citations import links, without_marks
from recollect.importers.formats.chatgpt.content import CONTEXT_TYPES, THOUGHT_TYPES, Content, read_content
from recollect.importers.formats.chatgpt.nodes import moment
from recollect.importers.reading.lenient import first_id, first_text, rest, text_of
from recollect.record import Kind, Part, Role

_ROLES = {role.value: role for role in Role} | {"developer": Role.SYSTEM}
_NO_TOOLS = frozenset({"", "all", "user", "assistant"})
_ORDINARY = frozenset({"text", "multimodal_text"})

# What stands elsewhere in the draft, and what only ChatGPT's own page has a use for.
_KNOWN_OF_MESSAGE = frozenset({
    "id", "author", "content", "create_time", "update_time", "end_turn", "metadata", "recipient", "status", "weight",
})  # fmt: skip
_KNOWN_OF_METADATA = frozenset({
    "_cite_metadata", "attachments", "citations", "content_references", "default_model_slug", "finish_details",
    "image_results", "is_complete", "is_visually_hidden_from_conversation", "message_type", "model_slug", "parent_id",
    "request_id", "safe_urls", "search_result_groups", "serialization_metadata", "timestamp_", "turn_exchange_id",
    "user_context_message_data",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a node's conversation knows of it: its parent's key, the tool's answer below it, the model by default."""

    parent: str | None = None
    answer: Mapping[str, Any] | None = None
    answer_id: str | None = None
    model: str = ""


def is_tools(message: Mapping[str, Any] | None) -> bool:
    """Whether the message comes from a tool."""
    return message is not None and _role(message) is Role.TOOL


def read_message(
    key: str, message: Mapping[str, Any] | None, source_id: str, around: Surroundings
) -> tuple[DraftMessage, tuple[str, ...]]:
    """The draft of a node, and the content types in it that nobody knows. A node without a message is a joint."""
    if message is None:
        return DraftMessage(Role.SYSTEM, "", source_id, key, around.parent, Kind.CONTEXT), ()
    metadata = _object(message.get("metadata"))
    content = read_content(message.get("content"), metadata)
    role = _role(message)
    kind = _kind(message, metadata, role, content.type)
    text = _text(content, metadata, role, kind)
    parts = content.parts
    calls: tuple[DraftCall, ...] = ()
    if kind is Kind.TOOL and role is Role.ASSISTANT:
        text, parts, calls = _called(_recipient(message), text, parts, around)
    draft = DraftMessage(
        role=role,
        content=text if text.strip() else "",
        source_id=source_id,
        key=key,
        parent=around.parent,
        kind=kind,
        timestamp=moment(message.get("create_time")),
        model=_model(metadata, role, around),
        parts=parts,
        calls=calls,
        metadata=_told(message, metadata, content),
    )
    return draft, content.unknown


def _called(
    recipient: str, text: str, parts: tuple[Part, ...], around: Surroundings
) -> tuple[str, tuple[Part, ...], tuple[DraftCall, ...]]:
    """The words, parts and calls of a message to a tool; a page on the canvas counts as its words."""
    if not text.strip() and not parts:
        return "", (), ()
    answer = _object(around.answer.get("metadata")) if around.answer else {}
    written = written_page(recipient, text, answer)
    if written is None:
        return text, parts, (DraftCall(recipient, text, result_of=around.answer_id),)
    call = DraftCall(recipient, written.arguments, result_of=around.answer_id)
    return written.page.text, (*parts, written.page), (call,)


def _role(message: Mapping[str, Any]) -> Role:
    """The author's role; what has none, or one that nobody knows, was put in by the system."""
    author = _object(message.get("author"))
    return _ROLES.get(first_text(author, ("role",)) or text_of(message.get("role")), Role.SYSTEM)


def _kind(message: Mapping[str, Any], metadata: Mapping[str, Any], role: Role, content_type: str) -> Kind:
    if role is Role.TOOL:
        return Kind.TOOL
    if content_type in CONTEXT_TYPES or role is Role.SYSTEM:
        return Kind.CONTEXT
    if content_type in THOUGHT_TYPES:
        return Kind.REASONING
    if role is Role.ASSISTANT and _recipient(message) not in _NO_TOOLS:
        return Kind.TOOL
    if _is_hidden(message, metadata):
        return Kind.CONTEXT
    return Kind.REASONING if role is Role.ASSISTANT and message.get("channel") == "analysis" else Kind.SAID


def _is_hidden(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    marked = (
        metadata.get("is_visually_hidden_from_conversation") is True or metadata.get("is_user_system_message") is True
    )
    weight = message.get("weight")
    return marked or (isinstance(weight, int | float) and not isinstance(weight, bool) and weight == 0)


def _recipient(message: Mapping[str, Any]) -> str:
    return text_of(message.get("recipient"))


def _text(content: Content, metadata: Mapping[str, Any], role: Role, kind: Kind) -> str:
    if kind is Kind.CONTEXT and not content.text.strip():
        about = _object(metadata.get("user_context_message_data"))  # the custom instructions of 2023
        return "\n\n".join(
            filter(None, (text_of(about.get(key)) for key in ("about_user_message", "about_model_message")))
        )
    return content.text if role is Role.USER else without_marks(content.text)


def _model(metadata: Mapping[str, Any], role: Role, around: Surroundings) -> str | None:
    return (text_of(metadata.get("model_slug")) or around.model or None) if role is Role.ASSISTANT else None


def _told(message: Mapping[str, Any], metadata: Mapping[str, Any], content: Content) -> dict[str, Any]:
    """All that the source says besides, under the names that it uses."""
    author = _object(message.get("author"))
    told: dict[str, Any] = {
        **rest(message, _KNOWN_OF_MESSAGE),
        **rest(metadata, _KNOWN_OF_METADATA),
        **rest(_object(author.get("metadata")), frozenset()),
        **content.metadata,
    }
    if name := text_of(author.get("name")):
        told["author"] = name
    if content.type not in _ORDINARY:
        told["content_type"] = content.type
    if (recipient := _recipient(message)) not in ("", "all"):
        told["recipient"] = recipient
    if (status := text_of(message.get("status"))) not in ("", "finished_successfully"):
        told["status"] = status
    if _is_hidden(message, metadata):
        told["hidden"] = True
    if cited := links(metadata):
        told["citations"] = cited
    return told


def source_id_of(key: str, message: Mapping[str, Any] | None) -> str:
    """The message's own id, else that of its node."""
    return (first_id(message, ("id",)) if message else None) or key


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
