"""Claude's exports: conversations, projects and memories, in one zip, in several, or single from a browser exporter.

None of it is documented; FORMATS.md tells what was seen. A folder of zips is one export, `users.json` and the manifest
hold nobody's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.importers.base import Draft, DraftConversation, DraftDocument, DraftMessage, Entry, Problems
from recollect.importers.claude_blocks import BlockReader
from recollect.importers.json_items import Item, glimpse, items
from recollect.importers.lenient import objects_of, rest, text_of
from recollect.importers.whose import said_or_done
from recollect.record import Kind, Role, parse_time

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


class ClaudeAI:
    """Reads what Claude's apps export."""

    name = "claude"
    label = "Claude"

    def recognises(self, entry: Entry) -> bool:
        """Whether the file holds Claude conversations, projects or memories."""
        return glimpse(entry, _is_ours) is not None

    def read(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Draft]:
        """All conversations, and projects and memories as documents."""
        for entry in entries:
            head = glimpse(entry, _is_ours)
            if head is None:
                problems.lost(entry.place, "this is no Claude export")
                continue
            for item in items(entry, head, problems):
                yield from self._drafts(item, problems)

    def _drafts(self, item: Item, problems: Problems) -> Iterator[Draft]:
        value = item.value
        if not isinstance(value, dict):
            problems.lost(item.place, "there is no conversation here")
        elif _is_memory(value):
            yield from _memories(value, item.place)
        elif _is_project(value):
            yield from _project(value, item.place, problems)
        elif isinstance(value.get("chat_messages"), list) and value["chat_messages"]:
            yield self._conversation(value, item.place, problems)
        else:
            problems.note("entries without messages")

    def _conversation(self, value: Mapping[str, Any], place: str, problems: Problems) -> DraftConversation:
        title = text_of(value.get("name"))
        place = f'{place} "{title}"' if title else place
        given = objects_of(value["chat_messages"])
        if len(given) < len(value["chat_messages"]):
            problems.partial(place, f"{len(value['chat_messages']) - len(given)} of its messages cannot be read")
        linear = not any(text_of(message.get("parent_message_uuid")) for message in given)
        return DraftConversation(
            source=self.name,
            messages=_messages(given, text_of(value.get("model")), problems),
            place=place,
            source_id=text_of(value.get("uuid")) or None,
            title=title,
            created=parse_time(value.get("created_at")),
            updated=parse_time(value.get("updated_at")),
            leaf=text_of(value.get("current_leaf_message_uuid")) or None,
            linear=linear,
            metadata=rest(value, _KNOWN_OF_CONVERSATION),
        )


def _is_ours(value: Any) -> bool:
    return isinstance(value, dict) and (_is_conversation(value) or _is_project(value) or _is_memory(value))


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


def _messages(given: Sequence[Mapping[str, Any]], model: str, problems: Problems) -> list[DraftMessage]:
    reader = BlockReader(problems)
    before: str | None = None
    messages: list[DraftMessage] = []
    for number, message in enumerate(given):
        draft = _message(message, number, before, model, reader, problems)
        messages.append(draft)
        before = draft.key
    return messages


def _message(
    message: Mapping[str, Any], number: int, before: str | None, model: str, reader: BlockReader, problems: Problems
) -> DraftMessage:
    role = _ROLES.get(text_of(message.get("sender")).lower())
    if role is None:
        problems.note("messages of unknown senders, kept as context")
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
        timestamp=parse_time(message.get("created_at")),
        model=(text_of(message.get("model")) or model or None) if by_model else None,
        parts=tuple(body.parts),
        calls=tuple(body.calls),
        metadata={**rest(message, _KNOWN_OF_MESSAGE), **citations},
    )


def _parent(message: Mapping[str, Any], before: str | None) -> str | None:
    """The message's parent; where the key is missing, the message before it."""
    parent = message.get("parent_message_uuid", before)
    return parent if isinstance(parent, str) and parent not in _ROOTS else None


def _project(value: Mapping[str, Any], place: str, problems: Problems) -> Iterator[DraftDocument]:
    """The project's description and instructions as one document, and one for each of its files."""
    uuid, name = text_of(value.get("uuid")), text_of(value.get("name"))
    place = f'{place} "{name}"'
    created = parse_time(value.get("created_at"))
    about = "\n\n".join(filter(None, (text_of(value.get("description")), text_of(value.get("prompt_template")))))
    if about:
        yield DraftDocument(ClaudeAI.name, uuid, name, about, place, created, {"kind": "project"})
    docs = value.get("docs")
    for doc in docs if isinstance(docs, list) else ():
        if not isinstance(doc, dict) or not text_of(doc.get("content")):
            problems.note("project files without text")
            continue
        title = text_of(doc.get("filename"))
        yield DraftDocument(
            source=ClaudeAI.name,
            source_id=text_of(doc.get("uuid")) or f"{uuid}/{title}",
            title=title,
            content=doc["content"],
            place=place,
            created=parse_time(doc.get("created_at")) or created,
            metadata={"kind": "project file", "project": name, "project_id": uuid},
        )


def _memories(value: Mapping[str, Any], place: str) -> Iterator[DraftDocument]:
    """What Claude noted about its user: in all, and for each project."""
    account = text_of(value.get("account_uuid"))
    about_all = text_of(value.get("conversations_memory"))
    if about_all:
        yield DraftDocument(ClaudeAI.name, f"memory/{account}", "Memory", about_all, place, None, {"kind": "memory"})
    by_project = value.get("project_memories")
    for project, text in by_project.items() if isinstance(by_project, dict) else ():
        if text_of(text):
            details = {"kind": "memory", "project_id": project}
            yield DraftDocument(ClaudeAI.name, f"memory/{project}", "Project memory", text, place, None, details)
