"""The sample conversations, and the exports that ChatGPT, Claude and an OpenAI client would have made of them.

So the demo goes the way of everyone's own archive, through the real importers. Message ids are kept as source ids.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

_ZIP_DATE = (2026, 1, 1, 0, 0, 0)  # equal archives, byte for byte, whenever they are made


@dataclass(frozen=True, slots=True)
class SampleMessage:
    """One message; `role` is user or assistant, `timestamp` ISO 8601, `name` a person's in a talk between people."""

    id: str
    role: str
    timestamp: str
    content: str
    name: str | None


@dataclass(frozen=True, slots=True)
class SampleConversation:
    """One conversation; `source` is chatgpt, claude or openai, `created` ISO 8601."""

    id: str
    source: str
    title: str
    created: str
    model: str
    messages: tuple[SampleMessage, ...]


@lru_cache(maxsize=1)
def conversations() -> tuple[SampleConversation, ...]:
    """All sample conversations, in the order of the packaged files."""
    parts = sorted(
        (part for part in files(__package__).iterdir() if part.name.startswith("part-")), key=lambda part: part.name
    )
    return tuple(_conversation(orjson.loads(line)) for part in parts for line in part.read_bytes().splitlines())


def write_archive(folder: Path) -> list[Path]:
    """Writes a ChatGPT export, a Claude export and a file of OpenAI messages into a folder; returns the three paths."""
    folder.mkdir(parents=True, exist_ok=True)
    of_source = {name: [c for c in conversations() if c.source == name] for name in ("chatgpt", "claude", "openai")}
    chatgpt, claude, openai = (
        folder / name for name in ("chatgpt-export.zip", "claude-export.zip", "openai-messages.jsonl")
    )
    _write_zip(chatgpt, {"conversations.json": [_as_chatgpt(c) for c in of_source["chatgpt"]], "user.json": {}})
    _write_zip(claude, {"conversations.json": [_as_claude(c) for c in of_source["claude"]], "users.json": []})
    openai.write_bytes(b"".join(orjson.dumps(_as_openai(c)) + b"\n" for c in of_source["openai"]))
    return [chatgpt, claude, openai]


def _conversation(plain: dict[str, Any]) -> SampleConversation:
    messages = tuple(
        SampleMessage(m["id"], m["role"], m["timestamp"], m["content"], m.get("name")) for m in plain["messages"]
    )
    return SampleConversation(plain["id"], plain["source"], plain["title"], plain["created"], plain["model"], messages)


def _write_zip(path: Path, members: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in members.items():
            member = zipfile.ZipInfo(name, _ZIP_DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, orjson.dumps(value))


def _as_chatgpt(conversation: SampleConversation) -> dict[str, Any]:
    """A mapping of nodes: a root without a message, then one branch, as ChatGPT writes it."""
    root = f"{conversation.id}-root"
    ids = [root, *(message.id for message in conversation.messages)]
    nodes: dict[str, Any] = {root: {"id": root, "message": None, "parent": None, "children": ids[1:2]}}
    for number, message in enumerate(conversation.messages, 1):
        nodes[message.id] = {
            "id": message.id,
            "message": _chatgpt_message(message, conversation.model),
            "parent": ids[number - 1],
            "children": ids[number + 1 : number + 2],
        }
    return {
        "title": conversation.title,
        "create_time": _seconds(conversation.created),
        "update_time": _seconds(conversation.messages[-1].timestamp),
        "mapping": nodes,
        "current_node": ids[-1],
        "conversation_id": conversation.id,
        "id": conversation.id,
        "default_model_slug": conversation.model,
    }


def _chatgpt_message(message: SampleMessage, model: str) -> dict[str, Any]:
    return {
        "id": message.id,
        "author": {"role": message.role, "name": None, "metadata": {}},
        "create_time": _seconds(message.timestamp),
        "content": {"content_type": "text", "parts": [message.content]},
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {"model_slug": model} if message.role == "assistant" else {},
        "recipient": "all",
    }


def _as_claude(conversation: SampleConversation) -> dict[str, Any]:
    return {
        "uuid": conversation.id,
        "name": conversation.title,
        "created_at": conversation.created,
        "updated_at": conversation.messages[-1].timestamp,
        "account": {"uuid": "sample"},
        "chat_messages": list(_claude_messages(conversation.messages)),
    }


def _claude_messages(messages: Sequence[SampleMessage]) -> Iterator[dict[str, Any]]:
    for message in messages:
        yield {
            "uuid": message.id,
            "text": message.content,
            "content": [{"type": "text", "text": message.content}],
            "sender": "human" if message.role == "user" else "assistant",
            "created_at": message.timestamp,
            "updated_at": message.timestamp,
            "attachments": [],
            "files": [],
        }


def _as_openai(conversation: SampleConversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "title": conversation.title,
        "created": conversation.created,
        "messages": [
            {"id": m.id, "role": m.role, "name": m.name, "content": m.content, "timestamp": m.timestamp}
            for m in conversation.messages
        ],
    }


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
