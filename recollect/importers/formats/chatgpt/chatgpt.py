"""ChatGPT: the export that comes by mail, whole or in shards, and single conversations of its web page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from recollect.errors import ImportProblem
from recollect.importers.base import DraftConversation, DraftMessage, Entry, Piece, Problems
from recollect.importers.formats.chatgpt.message import Surroundings, is_tools, read_message, source_id_of
from recollect.importers.formats.chatgpt.nodes import Node, Tree, message_of, moment, read_tree
from recollect.importers.reading.json_items import list_items
from recollect.importers.reading.lenient import first_id, rest, text_of

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
