"""The Session of the OpenAI Agents SDK: items come back as they were given; what is taken out stays in the record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from recollect.frameworks.items import Items, Worded
from recollect.frameworks.openai_agents import RecollectSession
from recollect.ingest import Ingest
from recollect.memory import Memory

ITEMS: list[Any] = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "Where is the boat?"},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "\0\ud800 not text"},
    {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"what": "boat"}'},
    {"type": "function_call_output", "call_id": "c", "output": "pier 9, behind the crane"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "At pier nine.", "annotations": []}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "http://there.invalid/a.png"}]},
    {"role": "user", "content": ""},
    {"type": "web_search_call", "id": "w", "status": "completed", "big": 2**70, "small": 0.1},
]


@pytest.fixture
def session(memory: Memory) -> RecollectSession:
    return RecollectSession("user-7", memory)


def test_items_come_back_as_they_were_given(session: RecollectSession) -> None:
    async def talk() -> None:
        assert await session.get_items() == []
        await session.add_items(ITEMS[:4])
        await session.add_items([])
        await session.add_items(ITEMS[4:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(3) == ITEMS[-3:]
        assert await session.get_items(0) == []

    asyncio.run(talk())


def test_items_go_in_together_or_not_at_all(session: RecollectSession) -> None:
    async def talk() -> None:
        with pytest.raises(TypeError):
            await session.add_items([*ITEMS[:2], {"role": "user", "content": object()}])
        assert await session.get_items() == []

    asyncio.run(talk())


def test_the_last_item_is_popped_and_all_are_cleared(session: RecollectSession) -> None:
    async def talk() -> None:
        await session.add_items(ITEMS)
        assert await session.pop_item() == ITEMS[-1]
        assert await session.get_items() == ITEMS[:-1]
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]

    asyncio.run(talk())
    kept = session.memory.conversation(session.conversation_id).messages
    assert [message.deleted for message in kept] == [True] * len(ITEMS) + [False]
    assert not session.memory.upkeep.check()


def test_what_was_said_is_found_as_said_and_tools_on_request(session: RecollectSession) -> None:
    asyncio.run(session.add_items(ITEMS))
    assert session.memory.search("pier nine")[0].best.message.content == "At pier nine."
    assert session.memory.search("behind the crane", kind="tool").hits
    kinds = [message.kind.value for message in session.memory.conversation(session.conversation_id).messages]
    assert kinds == ["context", "said", "reasoning", "tool", "tool", "said", "said", "said", "tool"]


def test_sessions_are_apart_and_outlast_their_objects(session: RecollectSession, memory: Memory) -> None:
    async def talk() -> None:
        await session.add_items(ITEMS[:2])
        assert await RecollectSession("user-8", memory).get_items() == []
        assert await RecollectSession("user-7", memory).get_items() == ITEMS[:2]

    asyncio.run(talk())


def test_a_long_session_is_read_from_its_end(session: RecollectSession) -> None:
    items: list[Any] = [{"role": "user", "content": f"Number {n}."} for n in range(250)]

    async def talk() -> None:
        await session.add_items(items)
        assert await session.get_items(120) == items[-120:]
        assert await session.get_items() == items

    asyncio.run(talk())


def test_an_agent_goes_on_where_it_was(memory: Memory) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    testing = pytest.importorskip("agents.testing")

    async def talk() -> None:
        model = testing.ScriptedModel([[testing.assistant_message("At pier nine.")]])
        agent = agents.Agent(name="harbour", model=model)
        config = agents.RunConfig(tracing_disabled=True)
        session = RecollectSession("user-7", memory)
        assert isinstance(session, agents.memory.Session)
        await agents.Runner.run(agent, "Where is the boat?", session=session, run_config=config)
        again = testing.ScriptedModel([[testing.assistant_message("Behind the crane.")]])
        session = RecollectSession("user-7", memory, session_settings=agents.memory.SessionSettings(limit=2))
        await agents.Runner.run(agent.clone(model=again), "Where there?", session=session, run_config=config)
        asked = again.first_call.input
        assert [item["role"] for item in asked] == ["user", "assistant", "user"]
        assert asked[0]["content"] == "Where is the boat?"

    asyncio.run(talk())


def test_no_item_is_popped_twice(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (RecollectSession("both", memory) for _ in range(2))
    asyncio.run(one.add_items([{"role": "user", "content": text} for text in ("first", "last")]))
    delete, popped = Ingest.delete, []

    def late(self: Ingest, ids: Any) -> int:
        if not popped:
            popped.append(None)
            popped[0] = asyncio.run(other.pop_item())
        return delete(self, ids)

    def pop() -> Any:
        return asyncio.run(one.pop_item())

    monkeypatch.setattr(Ingest, "delete", late)
    assert [item["content"] for item in (pop(), popped[0])] == ["first", "last"]
    assert pop() is None


def test_an_item_has_the_words_that_its_message_was_given_later(session: RecollectSession) -> None:
    parts = [{"type": "output_text", "text": "It is 1234,", "annotations": []}, {"type": "output_text", "text": "yes."}]
    given: list[Any] = [{"role": "user", "content": "My PIN is 1234."}, {"role": "assistant", "content": parts}]
    asyncio.run(session.add_items([*given, *given]))
    for message in session.memory.conversation(session.conversation_id).messages[:2]:
        session.memory.update_message(message.id, "Redacted.")
    assert asyncio.run(session.get_items()) == [
        {"role": "user", "content": "Redacted."},
        {"role": "assistant", "content": [parts[0] | {"text": "Redacted."}, parts[1] | {"text": ""}]},
        *given,
    ]


def test_what_of_an_item_its_words_are_not_stays_as_it_is(memory: Memory) -> None:
    def request(said: str) -> dict[str, Any]:
        asked = {"part_kind": "user-prompt", "content": [said, {"kind": "image-url", "url": "http://there.invalid"}]}
        return {"kind": "request", "parts": [{"part_kind": "system-prompt", "content": "Be brief."}, asked]}

    items = Items(memory, "any", "one")
    items.add([Worded(request("My PIN is 1234."), "user", "My PIN is 1234.")])
    (message,) = items.memory.conversation(items.conversation_id).messages
    items.memory.update_message(message.id, "Redacted.")
    items.memory.update_message(message.id, "Redacted again.")
    assert items.latest() == [request("Redacted again.")]
