"""Pydantic AI: message histories kept as conversations of the memory, and a search over all of it as an agent's tool.

from recollect.frameworks.pydantic_ai import MessageHistory, search_tool

agent = Agent(model, tools=[search_tool(memory, user="alice")])
history = MessageHistory(memory, "thread-1", user="alice")
result = agent.run_sync("And the boat?", message_history=history.messages())
history.add(result.new_messages())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessagesTypeAdapter

from recollect.frameworks.items import Items, Worded
from recollect.frameworks.records import USER, place, synced
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

#: What a part holds for a search: kinds of parts, and whose words they are.
_SAID, _THOUGHT, _CONTEXT = ("user-prompt", "text"), ("thinking",), ("system-prompt",)


class MessageHistory:
    """The messages of one conversation with an agent.

    All conversations of a `user` are in one namespace, and share what is known of them. Without one it is apart.
    """

    def __init__(self, memory: Memory | AsyncMemory, name: str, *, user: str | None = None) -> None:
        self._items = Items(memory, "pydantic-ai", name, user)

    @property
    def memory(self) -> Memory:
        """The memory that the history is kept in: of its user, or its own."""
        return self._items.memory

    @property
    def conversation_id(self) -> str:
        """The conversation of the memory that the history is."""
        return self._items.conversation_id

    def messages(self, limit: int | None = None) -> list[ModelMessage]:
        """The messages, or the last `limit` of them, oldest first: for `message_history`."""
        found: list[ModelMessage] = ModelMessagesTypeAdapter.validate_python(self._items.latest(limit))
        return found

    def add(self, messages: Sequence[ModelMessage]) -> None:
        """Appends messages: `result.new_messages()`."""
        self._items.add([_worded(item) for item in ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")])

    def pop(self) -> ModelMessage | None:
        """Takes the last message out and returns it; None where there is none. The record keeps it, deleted."""
        item = self._items.pop()
        return None if item is None else ModelMessagesTypeAdapter.validate_python([item])[0]

    def clear(self) -> None:
        """Takes all messages out. The record keeps them, deleted."""
        self._items.clear()


def search_tool(
    memory: Memory | AsyncMemory, *, user: str | None = None, max_tokens: int = 2_000
) -> Callable[[str], str]:
    """A tool for an `Agent`: searches all that is kept of a user, in at most so many tokens an answer. Without a
    `user` it searches the namespace of the memory itself.
    """
    base = synced(memory)
    own = base.beside(place(base, USER, user)) if user else base
    toolbox = own.toolbox(max_tokens=max_tokens, read_only=True)

    def search_conversations(query: str) -> str:
        """Search what was said in earlier conversations. Use it whenever the user refers to something said before.

        Args:
            query: What to look for, in a few words.
        """
        return toolbox.call("search_and_retrieve", {"query": query}).text

    return search_conversations


def _worded(item: Mapping[str, Any]) -> Worded:
    """A message with its words: those of the prompt or the answer, or else of tools, thoughts and instructions."""
    answers = item["kind"] == "response"
    role = "assistant" if answers else "user"
    for kinds, kind, who in ((_SAID, "said", role), (_THOUGHT, "reasoning", role), (_CONTEXT, "context", "system")):
        if found := "\n".join(_texts(item["parts"], kinds)):
            return Worded(item, who, found, kind, item["kind"])
    tools = "\n".join(_of_tools(item["parts"]))
    return Worded(item, "assistant" if answers else "tool", tools, "tool", item["kind"])


def _texts(parts: Iterable[Mapping[str, Any]], kinds: Sequence[str]) -> Iterator[str]:
    for part in parts:
        if part["part_kind"] in kinds:
            content = part.get("content")
            for piece in content if isinstance(content, list) else [content]:
                text = piece.get("content") if isinstance(piece, Mapping) and piece.get("kind") == "text" else piece
                if isinstance(text, str):
                    yield text


def _of_tools(parts: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for part in parts:
        named = [part.get("tool_name"), part.get("args"), part.get("content")]
        if text := " ".join(str(value) for value in named if value):
            yield text
