"""What the end-to-end tests import and open: small exports of our own making, archives, and memories on disk."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.engines.sqlite.engine import SQLiteStore
from recollect.ingest.importing import Progress
from recollect.memory import Handle, Memory
from recollect.record import Message, reading_order
from tests.store.builders import embedder

START = 1_740_000_000.0  # epoch seconds: February 2025

Json = Mapping[str, Any]


def opened(path: Path, *, wait: float = 20.0) -> Memory:
    """The memory in this file, as another process would open it."""
    return Memory(Handle(SQLiteStore(path, wait=wait, durable=False), embedder()))


def imported(path: Path, *exports: Path, progress: Callable[[Progress], None] | None = None) -> Memory:
    """A memory with these exports in it, one import each."""
    memory = opened(path)
    for export in exports:
        memory.import_file(export, progress=progress)
    return memory


def dump_of(memory: Memory) -> bytes:
    """Everything that is in it, as `recollect export` writes it."""
    target = io.BytesIO()
    memory.export(target)
    return target.getvalue()


def messages_of(memory: Memory) -> list[Message]:
    """All messages, conversation by conversation in the order of creation, in reading order."""
    rows = sorted(memory.conversations(limit=10_000), key=lambda row: row.conversation.source_id or "")
    threads = (memory.conversation(row.conversation.id) for row in rows)
    return [message for thread in threads for message in reading_order(thread.messages)]


def tree_of(memory: Memory) -> list[Any]:
    """Everything that was said and how it hangs together, without the order in which it came."""
    trees = []
    for row in memory.conversations(limit=10_000):
        thread = memory.conversation(row.conversation.id)
        messages = {m.id: replace(m, position=0) for m in thread.messages}
        turns = {turn.query_id: sorted(turn.response_ids) for turn in thread.turns}
        trees.append((thread.conversation, messages, turns, set(thread.tool_calls), set(thread.chunks)))
    return sorted(trees, key=lambda tree: tree[0].id)


def texts_of(memory: Memory) -> list[str]:
    return [message.content for message in messages_of(memory)]


def first_hit(memory: Memory, query: str, **options: Any) -> Message | None:
    results = memory.search(query, group_by="message", limit=5, **options)
    return results[0].best.message if results else None


# --- ChatGPT -------------------------------------------------------------------------------------------------------


def node(key: str, parent: str | None, text: str, role: str = "user", *, minute: float = 0, **message: Any) -> Json:
    """A node of a ChatGPT conversation; further keys go into its message."""
    said = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": START + 60 * minute,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {"model_slug": "gpt-4o"} if role == "assistant" else {},
        "recipient": "all",
    }
    return {"id": key, "parent": parent, "children": [], "message": {**said, **message}}


def tree(*nodes: Json, name: str = "c", title: str | None = "Bread", updated: float = START, **more: Any) -> Json:
    """A ChatGPT conversation of these nodes; the last is the end of its active path."""
    mapping = {one["id"]: one for one in nodes}
    for one in nodes:
        if one["parent"] in mapping:
            mapping[one["parent"]]["children"].append(one["id"])
    leaf = {"current_node": nodes[-1]["id"]} if nodes else {}
    named = {"id": name, "conversation_id": name, "title": title, "create_time": START, "update_time": updated}
    return {**named, **leaf, "mapping": mapping, **more}


def chat(*texts: str, name: str = "c", **more: Any) -> Json:
    """A ChatGPT conversation of alternating user and assistant messages, "c-0", "c-1" and so on."""
    nodes = [
        node(f"{name}-{i}", f"{name}-{i - 1}" if i else None, text, "assistant" if i % 2 else "user", minute=i)
        for i, text in enumerate(texts)
    ]
    return tree(*nodes, name=name, **more)


# --- files ---------------------------------------------------------------------------------------------------------


def as_bytes(value: Any) -> bytes:
    """Bytes and text as they are, anything else as JSON."""
    text = value if isinstance(value, str | bytes) else json.dumps(value)
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def file(path: Path, value: Any) -> Path:
    """A file that holds a value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(value))
    return path


def archive(path: Path, members: Mapping[str, Any], *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip with members by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as target:
        for name, value in members.items():
            target.writestr(name, as_bytes(value))
    return path


def lines(*values: Any) -> bytes:
    """JSON Lines."""
    return b"".join(as_bytes(value) + b"\n" for value in values)


def export(path: Path, conversations: Sequence[Json]) -> Path:
    """A ChatGPT export: conversations.json."""
    return file(path / "conversations.json", list(conversations))
