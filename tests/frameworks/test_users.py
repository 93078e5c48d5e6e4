"""Users of one adapter know nothing of each other; an `AsyncMemory` is taken wherever a `Memory` is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from recollect.frameworks import mem0
from recollect.frameworks.claude_memory import RecollectMemoryTool
from recollect.frameworks.openai_agents import RecollectSession
from recollect.frameworks.records import place
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory

HOMES = {"alice": "Leeds", "bob": "Porto"}


def by_mem0(memory: Any, user: str, text: str) -> Memory:
    adapter = mem0.Memory(memory)
    adapter.add(text, user_id=user)
    return adapter.of(user_id=user)


def by_agents(memory: Any, user: str, text: str) -> Memory:
    session = RecollectSession("thread", memory, user=user)
    asyncio.run(session.add_items([{"role": "user", "content": text}]))
    return session.memory


def by_agents_apart(memory: Any, user: str, text: str) -> Memory:
    session = RecollectSession(f"thread of {user}", memory)
    asyncio.run(session.add_items([{"role": "user", "content": text}]))
    return session.memory


def by_pydantic(memory: Any, user: str, text: str) -> Memory:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from recollect.frameworks.pydantic_ai import MessageHistory

    history = MessageHistory(memory, "thread", user=user)
    history.add([ModelRequest([UserPromptPart(text)])])
    return history.memory


def by_langgraph(memory: Any, user: str, text: str) -> Memory:
    pytest.importorskip("langgraph.store.base", reason="langgraph-checkpoint is not installed")
    from recollect.frameworks.langgraph import RecollectStore

    store = RecollectStore(memory)
    store.put(("users", user), "home", {"text": text})
    assert [item.value for item in store.search(("users", user), query=text)] == [{"text": text}]
    return store.of(("users", user))


ADAPTERS = [by_mem0, by_agents, by_agents_apart, by_pydantic, by_langgraph]


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("face", [lambda memory: memory, AsyncMemory], ids=["Memory", "AsyncMemory"])
def test_users_of_one_adapter_know_nothing_of_each_other(
    memory: Memory, adapter: Callable[[Any, str, str], Memory], face: Callable[[Memory], Any]
) -> None:
    own = {user: adapter(face(memory), user, f"I live in {home}.") for user, home in HOMES.items()}
    for user, home in HOMES.items():
        own[user].upkeep.consolidate()
        other = next(place for name, place in HOMES.items() if name != user)
        told = own[user].prepare_context("Where do I live?", None, 2_000)
        assert home in str(told)
        assert other not in str(told)
        found = own[user].search(other)
        assert not any(other in shown.message.content for hit in found for shown in hit.messages)
        assert not any(other in document.content for document in own[user].documents())
        assert all(other not in fact.content for fact in own[user].facts(include_past=True))
        if adapter is not by_langgraph:  # its items are documents, and no facts are drawn from these
            assert [fact.value for fact in own[user].facts()] == [home]
    assert memory.facts(include_past=True) == []
    assert not memory.upkeep.check()


def test_all_that_a_user_said_is_together(memory: Memory) -> None:
    by_mem0(memory, "alice", "I live in Leeds.")
    by_agents(memory, "alice", "I am allergic to nuts.")
    assert memory.beside("default/user/alice").upkeep.stats().messages == 2


def test_claudes_files_are_written_to_an_async_memory(memory: Memory) -> None:
    tool = RecollectMemoryTool(AsyncMemory(memory))
    tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "No sugar.\n"})
    assert memory.search("sugar").documents


@pytest.mark.parametrize("name", ["a/b", "ann lee", "x" * 90, "Ünal", "", "a\nb", "../bob"])
def test_any_user_has_a_namespace_of_their_own(memory: Memory, name: str) -> None:
    others = {"a-b", "ann-lee", "x" * 40, "x" * 91, "one", "..-bob", "b"}
    own = place(memory, "user", name)
    assert memory.beside(own).namespace == own
    assert own not in {place(memory, "user", other) for other in others}
    assert own.count("/") == 2


def test_nobody_can_take_the_name_that_another_was_given(memory: Memory) -> None:
    own = place(memory, "user", "o'brien@x.com")
    assert place(memory, "user", own.rpartition("/")[2]) != own


@pytest.mark.parametrize("name", ["Ann  Lee", "Ann\tLee", " Ann Lee "])
def test_blanks_in_the_name_of_a_user_lose_nothing(memory: Memory, name: str) -> None:
    adapter = mem0.Memory(memory)
    adapter.add("I live in Leeds.", user_id=name)
    assert [one["memory"] for one in adapter.get_all(filters={"user_id": name})["results"]] == ["I live in Leeds."]
    assert adapter.get_all(filters={"user_id": "Ann Lee"})["results"] == []
    adapter.delete_all(user_id=name)
    assert adapter.get_all(filters={"user_id": name})["results"] == []


def items(session: RecollectSession) -> list[Any]:
    return [item["content"] for item in asyncio.run(session.get_items())]


def test_a_session_without_a_user_stays_where_it_is(memory: Memory) -> None:
    by_agents(memory, "alice", "I live in Leeds.")
    apart, own = RecollectSession("thread", memory), RecollectSession("thread", memory, user="bob")
    asyncio.run(apart.add_items([{"role": "user", "content": "Whose am I?"}]))
    assert items(own) == []
    assert items(RecollectSession("thread", memory)) == ["Whose am I?"]
