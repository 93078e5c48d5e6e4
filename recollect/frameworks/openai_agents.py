"""OpenAI Agents SDK: a `Session`, so that an agent's history is one conversation of the memory.

from agents import Agent, Runner
from recollect.frameworks.openai_agents import RecollectSession

session = RecollectSession("thread-1", recollect.open(), user="alice")
await Runner.run(agent, "What did we say about the boat?", session=session)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recollect.frameworks.items import Items, Worded
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory.session_settings import SessionSettings

_SPEAKERS = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class RecollectSession:
    """The items of one session. Popping and clearing take them out of the session; the record keeps them, deleted.

    All sessions of a `user` are in one namespace, and share what is known of them. Without one the session is apart.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory | AsyncMemory,
        *,
        user: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id, self.session_settings = session_id, session_settings
        self._items = Items(memory, "openai-agents", session_id, user)

    @property
    def memory(self) -> Memory:
        """The memory that the session is kept in: of its user, or its own."""
        return self._items.memory

    @property
    def conversation_id(self) -> str:
        """The conversation of the memory that the session is."""
        return self._items.conversation_id

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, or the latest `limit` of them, oldest first; the limit is that of the settings unless given."""
        if limit is None and self.session_settings is not None:
            settings: Any = self.session_settings
            limit = settings.get("limit") if isinstance(settings, Mapping) else settings.limit
        return await asyncio.to_thread(self._items.latest, limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items."""
        await asyncio.to_thread(self._items.add, [_worded(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item out and returns it; None where there is none."""
        return await asyncio.to_thread(self._items.pop)

    async def clear_session(self) -> None:
        """Takes all items out."""
        await asyncio.to_thread(self._items.clear)


def _worded(item: Any) -> Worded:
    """An item of the Responses API with its words."""
    kind = item.get("type") or "message"
    if kind == "message" and "role" in item:
        role = _SPEAKERS.get(str(item["role"]), "system")
        return Worded(item, role, _text(item.get("content")), "context" if role == "system" else "said", "message")
    if kind == "reasoning":
        return Worded(item, "assistant", _text([*item.get("summary", ()), *(item.get("content") or ())]), kind, kind)
    if kind.endswith("_output"):
        return Worded(item, "tool", _text(item.get("output")), "tool", kind)
    named = " ".join(str(item[key]) for key in ("name", "arguments", "query", "code", "input") if item.get(key))
    return Worded(item, "assistant", named, "tool", kind)


def _text(content: Any) -> str:
    """The words of a content: a text, or parts of which some have one."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(filter(None, map(_text, content)))
    if isinstance(content, Mapping):
        found = content.get("text") or content.get("refusal") or ""
        return found if isinstance(found, str) else json.dumps(found)
    return ""
