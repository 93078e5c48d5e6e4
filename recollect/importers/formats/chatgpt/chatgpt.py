"""ChatGPT: the export that comes by mail, whole or in shards, and single conversations of its web page."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import DraftCall, DraftConversation, DraftMessage, Entry, Piece, Problems
from recollect.importers.formats.chatgpt.content import (
    CONTEXT_TYPES,
    THOUGHT_TYPES,
    Content,
    links,
    read_content,
    without_marks,
    written_page,
)
from recollect.importers.reading.json_reader import list_items
from recollect.importers.reading.lenient import first_id, first_text, rest, text_of, time_of
from recollect.record import Kind, Part, Role, to_microseconds

_LATEST = 1e20

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tree:
    """The nodes' keys in the order in which siblings stand, the key of each one's parent, and names for keys.

    `linear`: no node names another; then the order is that of the mapping.
    """

    order: tuple[str, ...]
    parents: Mapping[str, str | None]
    names: Mapping[str, str]
    linear: bool

    def below(self) -> dict[str | None, list[str]]:
        """The children of each key, in order."""
        found: dict[str | None, list[str]] = {}
        for at, key in enumerate(self.order):
            parent = (self.order[at - 1] if at else None) if self.linear else self.parents[key]
            found.setdefault(parent, []).append(key)
        return found


def read_tree(nodes: Mapping[str, Node]) -> Tree:
    """The tree that the nodes of a mapping make."""
    names = _names(nodes)
    parents = _parents(nodes, names)
    linear = len(nodes) > 1 and not any(parents.values())
    order = tuple(nodes) if linear else _by_time(nodes, parents)
    return Tree(order, parents, names, linear)


def message_of(node: Node) -> Mapping[str, Any] | None:
    """The message of a node, None where it has none."""
    message = node.get("message")
    return message if isinstance(message, dict) else None


def moment(value: object) -> datetime | None:
    """A time as ChatGPT writes it, in seconds; None also for numbers that no clock shows."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return time_of(value)
    return time_of(value) if isinstance(value, int | float) and abs(value) < _LATEST else None


def _names(nodes: Mapping[str, Node]) -> dict[str, str]:
    """What a node may be called by: its key, its own id, its message's id, the earlier before the later."""
    names = {key: key for key in nodes}
    for key, node in nodes.items():
        if own := first_id(node, ("id",)):
            names.setdefault(own, key)
    for key, node in nodes.items():
        if own := first_id(message_of(node) or {}, ("id",)):
            names.setdefault(own, key)
    return names


def _parents(nodes: Mapping[str, Node], names: Mapping[str, str]) -> dict[str, str | None]:
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        children = node.get("children")
        for child in children if isinstance(children, list) else ():
            if isinstance(child, str) and child in names:
                claimed.setdefault(names[child], key)
    return {key: _parent(key, node, names, claimed) for key, node in nodes.items()}


def _parent(key: str, node: Node, names: Mapping[str, str], claimed: Mapping[str, str]) -> str | None:
    if "parent" in node and node["parent"] is None:
        return None
    named = names.get(first_id(node, ("parent",)) or "")
    if named is None or named == key:
        named = claimed.get(key)
    return None if named == key else named


def _by_time(nodes: Mapping[str, Node], parents: Mapping[str, str | None]) -> tuple[str, ...]:
    """The keys by time. A node without a time has that of what comes below it, else of what stands before it."""
    times = {key: time for key, node in nodes.items() if (time := _time(node)) is not None}
    inherited: dict[str, int] = {}
    for key, time in times.items():
        above = parents[key]
        while above is not None and above not in times and inherited.get(above, math.inf) > time:
            inherited[above] = time
            above = parents[above]
    last = 0
    ranks: dict[str, int] = {}
    for key in nodes:
        ranks[key] = last = times.get(key, inherited.get(key, last))
    return tuple(sorted(nodes, key=ranks.__getitem__))


def _time(node: Node) -> int | None:
    return to_microseconds(moment((message_of(node) or {}).get("create_time")))


# One node of a ChatGPT conversation as a draft: who speaks, whose words they are, what was called.

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


# What else is in the zip: settings, votes, links, and all conversations once more as a page.
_BESIDE = frozenset({
    "chat.html", "export_manifest.json", "group_chats.json", "message_feedback.json", "model_comparisons.json",
    "shared_conversations.json", "shopping.json", "sora.json", "user.json", "user_settings.json",
})  # fmt: skip
_HEAD, _LONG_HEAD = 1 << 16, 1 << 21  # a long head where the first conversations are shells
_MAPPING = re.compile(rb'"mapping"\s*:\s*\{')
_NODE = (re.compile(rb'"message"\s*:'), re.compile(rb'"author"\s*:\s*\{'), re.compile(rb'"role"\s*:\s*"'))
_MAYBE = re.compile(rb'"(?:mapping|conversation_id|current_node|default_model_slug|create_time)"\s*:')

# What stands elsewhere in the draft, and what only ChatGPT's own page has a use for.
_KNOWN = frozenset({
    "async_status", "blocked_urls", "conversation_id", "create_time", "current_node", "disabled_tool_ids", "id",
    "mapping", "moderation_results", "plugin_ids", "safe_urls", "title", "update_time",
})  # fmt: skip


_ABOUT = """\
- **Files**: the zip as it came, `conversations.json`, shards (`conversations-000.json` …), an object with \
`conversations`, one conversation alone. `chat.html` and the other files beside are not read (it repeats \
everything).
- **Tree**: all branches (edits, regenerations), built from `parent`; `children` only where a parent is missing. \
The active path ends at `current_node`, or at the newest leaf. Several beginnings and orphans are kept.
- **Said**: text and multimodal text of user and assistant. Citation marks are taken out of answers, their links \
kept in `metadata`.
- **Context**: custom instructions, memory, system messages, whatever is hidden (weight 0, visually hidden).
- **Reasoning**: `thoughts`, `reasoning_recap`, the channel `analysis`.
- **Tool**: code sent to a tool with its arguments, execution output, browsing, web pages; the result is linked to \
its call. A canvas page is an artifact.
- **Parts**: images, sound and video by name (with the prompt of a generated image), attached files by name, and \
their text where there is any.
- **Not read**: the bytes of files; votes, shared links, group chats and settings.
"""


class ChatGPT:
    """Reads `conversations.json`, its shards, an object with `conversations`, a bare array or one conversation."""

    name = "chatgpt"
    label = "ChatGPT"
    recognised = "a `mapping` of nodes whose messages have authors with roles"
    about = _ABOUT

    def recognises(self, entry: Entry) -> bool:
        """Whether the file holds conversations as trees of nodes whose messages have authors with roles."""
        if entry.name.lower() in _BESIDE:
            return False
        try:
            head = entry.peek(_HEAD)
            if not head.lstrip().startswith((b"[", b"{")):
                return False
            return _holds_nodes(head) or (
                len(head) == _HEAD and bool(_MAYBE.search(head)) and _holds_nodes(entry.peek(_LONG_HEAD))
            )
        except (ImportProblem, OSError):
            return False

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """One for each conversation; see `Importer.pieces`."""
        for entry in entries:
            try:
                for item in list_items(entry, problems):
                    yield Piece(item.place, partial(_conversation, item.value, item.place, problems))
            except (ImportProblem, OSError) as problem:
                problems.lost(entry.place, str(problem))


def _holds_nodes(head: bytes) -> bool:
    mapping = _MAPPING.search(head)
    return mapping is not None and all(sign.search(head, mapping.end()) for sign in _NODE)


def _conversation(value: Any, place: str, problems: Problems) -> Iterator[DraftConversation]:
    """The draft of one entry; none for shells (folders, projects), which are counted."""
    if not isinstance(value, dict):
        raise ImportProblem("it is no conversation")
    title = text_of(value.get("title"))
    place = f'{place} "{title[:60]}"' if title else place
    nodes = _nodes(value, place, problems)
    tree = read_tree(nodes)
    messages = list(_messages(nodes, tree, value, problems))
    if not any(message.content or message.parts or message.calls for message in messages):
        problems.note("entries without messages")
        return
    yield DraftConversation(
        source=ChatGPT.name,
        messages=messages,
        place=place,
        source_id=first_id(value, ("conversation_id", "id")),
        title=title,
        created=moment(value.get("create_time")),
        updated=moment(value.get("update_time")),
        leaf=tree.names.get(text_of(value.get("current_node"))),
        linear=tree.linear,
        metadata={key: it for key, it in rest(value, _KNOWN).items() if it is not False},
    )


def _nodes(value: Mapping[str, Any], place: str, problems: Problems) -> dict[str, Node]:
    """The nodes that can be read; the others are told."""
    mapping = value.get("mapping")
    if mapping is None:
        return {}
    if not isinstance(mapping, dict):
        problems.partial(place, "its messages are not where they belong")
        return {}
    nodes: dict[str, Node] = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    unread = len(mapping) - len(nodes)
    unread += sum(node.get("message") is not None and message_of(node) is None for node in nodes.values())
    if unread:
        problems.partial(place, f"{unread} of its messages cannot be read")
    return nodes


def _messages(
    nodes: Mapping[str, Node], tree: Tree, conversation: Mapping[str, Any], problems: Problems
) -> Iterator[DraftMessage]:
    below = tree.below()
    model = text_of(conversation.get("default_model_slug"))
    for key in tree.order:
        message = message_of(nodes[key])
        answering = next((child for child in below.get(key, ()) if is_tools(message_of(nodes[child]))), None)
        answer = message_of(nodes[answering]) if answering else None
        around = Surroundings(
            parent=None if tree.linear else tree.parents[key],
            answer=answer,
            answer_id=source_id_of(answering, answer) if answering else None,
            model=model,
        )
        draft, unknown = read_message(key, message, source_id_of(key, message), around)
        for kind in unknown:
            problems.note(f"content of type {kind}, kept as text")
        yield draft
