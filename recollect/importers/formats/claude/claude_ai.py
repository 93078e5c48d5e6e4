"""Claude's exports: conversations, projects and memories, in one zip, in several, or single from a browser exporter.

None of it is documented; FORMATS.md tells what was seen. A folder of zips is one export, `users.json` and the manifest
hold nobody's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import Draft, DraftConversation, DraftDocument, DraftMessage, DraftNotes
from recollect.importers.formats.claude.blocks import BlockReader
from recollect.importers.formats.messages.parts import said_or_done
from recollect.importers.reading.lenient import objects_of, rest, text_of, time_of
from recollect.record import Kind, Role

_ROOTS = frozenset({"", "00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000"})
_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_FOREIGN = frozenset({"mapping", "conversationId"})
_PROJECT_KEYS = frozenset({"docs", "prompt_template", "is_private", "is_starter_project", "creator"})
_KNOWN_OF_CONVERSATION = frozenset(
    {"uuid", "name", "created_at", "updated_at", "account", "chat_messages", "current_leaf_message_uuid"}
)
_KNOWN_OF_MESSAGE = frozenset(
    {"uuid", "text", "content", "sender", "created_at", "updated_at", "attachments", "files", "files_v2"}
    | {"parent_message_uuid", "index", "model"}
)


_ABOUT = """\
- **Files**: one zip or several (a folder of them is one export), `conversations.json`, `projects.json` or \
`projects/*.json`, `memories.json`, single conversations of browser exporters.
- **Tree**: by `parent_message_uuid`, where it is there; else in order.
- **Words**: `content` first, `text` only where it holds none; never both. The sentence about blocks that are not \
supported is nobody's.
- **Parts**: thinking (reasoning), artifacts (also as the tags of 2024), attachments with their extracted text, \
files by name.
- **Tool calls** with results, paired by id, or by order where there is none.
- **Documents**: each project's description and instructions, its files, and Claude's memory of you. Nothing in \
the export says which conversation belongs to which project.
"""


class ClaudeAI:
    """Reads what Claude's apps export."""

    name = "claude"
    label = "Claude"
    recognised = "`chat_messages` with senders; projects; memories"
    about = _ABOUT

    def fits(self, value: Any) -> bool:
        """Whether it is a conversation, a project or Claude's memory."""
        return isinstance(value, dict) and (_is_conversation(value) or _is_project(value) or _is_memory(value))

    def draft(self, value: Any, told: DraftNotes) -> Draft | Iterable[Draft] | None:
        """A conversation; a project or a memory as documents."""
        if not isinstance(value, dict):
            raise ImportProblem("there is no conversation here")
        if _is_memory(value):
            return _memories(value)
        if _is_project(value):
            return _project(value, told)
        given = value.get("chat_messages")
        return _conversation(value, given, told) if isinstance(given, list) and given else None


def _conversation(value: Mapping[str, Any], messages: Sequence[Any], told: DraftNotes) -> DraftConversation:
    given = objects_of(messages)
    if len(given) < len(messages):
        told.partial(f"{len(messages) - len(given)} of its messages cannot be read")
    return DraftConversation(
        messages=_messages(given, text_of(value.get("model")), told),
        source_id=text_of(value.get("uuid")) or None,
        title=text_of(value.get("name")),
        created=time_of(value.get("created_at")),
        updated=time_of(value.get("updated_at")),
        leaf=text_of(value.get("current_leaf_message_uuid")) or None,
        linear=not any(text_of(message.get("parent_message_uuid")) for message in given),
        metadata=rest(value, _KNOWN_OF_CONVERSATION),
    )


def _is_conversation(value: Mapping[str, Any]) -> bool:
    """Judged by the conversation's own keys or, where the head of the file ends before them, by its messages'."""
    messages = value.get("chat_messages")
    if not isinstance(messages, list) or value.keys() & _FOREIGN:
        return False
    given = objects_of(messages)
    if any("role" in message and "sender" not in message for message in given):
        return False
    return len(value.keys() & _KNOWN_OF_CONVERSATION) > 2 or any(
        {"uuid", "sender"} <= message.keys() for message in given
    )


def _is_project(value: Mapping[str, Any]) -> bool:
    named = isinstance(value.get("uuid"), str) and "name" in value
    return named and "chat_messages" not in value and len(value.keys() & _PROJECT_KEYS) > 1


def _is_memory(value: Mapping[str, Any]) -> bool:
    return len(value.keys() & {"conversations_memory", "project_memories", "account_uuid"}) > 1


def _messages(given: Sequence[Mapping[str, Any]], model: str, told: DraftNotes) -> list[DraftMessage]:
    reader = BlockReader(told)
    before: str | None = None
    messages: list[DraftMessage] = []
    for number, message in enumerate(given):
        draft = _message(message, number, before, model, reader, told)
        messages.append(draft)
        before = draft.key
    return messages


def _message(
    message: Mapping[str, Any], number: int, before: str | None, model: str, reader: BlockReader, told: DraftNotes
) -> DraftMessage:
    role = _ROLES.get(text_of(message.get("sender")).lower())
    if role is None:
        told.note("messages of unknown senders, kept as context")
    by_model = role is Role.ASSISTANT
    words, body = reader.read(message, by_model=by_model)
    uuid = text_of(message.get("uuid"))
    citations = {"citations": body.citations} if body.citations else {}
    return DraftMessage(
        role=role or Role.SYSTEM,
        content=words,
        source_id=uuid or None,
        key=uuid or f"#{number}",
        parent=_parent(message, before),
        kind=said_or_done(words, body.parts, body.calls) if role else Kind.CONTEXT,
        timestamp=time_of(message.get("created_at")),
        model=(text_of(message.get("model")) or model or None) if by_model else None,
        parts=tuple(body.parts),
        calls=tuple(body.calls),
        metadata={**rest(message, _KNOWN_OF_MESSAGE), **citations},
    )


def _parent(message: Mapping[str, Any], before: str | None) -> str | None:
    """The message's parent; where the key is missing, the message before it."""
    parent = message.get("parent_message_uuid", before)
    return parent if isinstance(parent, str) and parent not in _ROOTS else None


def _project(value: Mapping[str, Any], told: DraftNotes) -> Iterator[DraftDocument]:
    """The project's description and instructions as one document, and one for each of its files."""
    uuid, name = text_of(value.get("uuid")), text_of(value.get("name"))
    created = time_of(value.get("created_at"))
    about = "\n\n".join(filter(None, (text_of(value.get("description")), text_of(value.get("prompt_template")))))
    if about:
        yield DraftDocument(uuid, name, about, created=created, metadata={"kind": "project"})
    docs = value.get("docs")
    for doc in docs if isinstance(docs, list) else ():
        if not isinstance(doc, dict) or not text_of(doc.get("content")):
            told.note("project files without text")
            continue
        title = text_of(doc.get("filename"))
        yield DraftDocument(
            source_id=text_of(doc.get("uuid")) or f"{uuid}/{title}",
            title=title,
            content=doc["content"],
            created=time_of(doc.get("created_at")) or created,
            metadata={"kind": "project file", "project": name, "project_id": uuid},
        )


def _memories(value: Mapping[str, Any]) -> Iterator[DraftDocument]:
    """What Claude noted about its user: in all, and for each project."""
    account = text_of(value.get("account_uuid"))
    if about_all := text_of(value.get("conversations_memory")):
        yield DraftDocument(f"memory/{account}", "Memory", about_all, metadata={"kind": "memory"})
    by_project = value.get("project_memories")
    for project, text in by_project.items() if isinstance(by_project, dict) else ():
        if text_of(text):
            details = {"kind": "memory", "project_id": project}
            yield DraftDocument(f"memory/{project}", "Project memory", text, metadata=details)
