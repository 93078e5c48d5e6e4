"""`InfiniteChatStorage` as the Infinite Chat specification uses it, on a file and on a server."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import recollect
from infinite_chat import InfiniteChatStorage
from recollect.errors import InvalidInput, NotFound
from recollect.text.clean import cut_recall

LONG = "\n\n".join(f"Finding {i}: rotate the refresh token of client {i} every {i % 31} days." for i in range(12_000))


def ran(program: str, **names: Any) -> dict[str, Any]:
    """The names after a program that awaits at its top, as a notebook runs it."""
    code = compile(program, "<specification>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def run() -> None:
        made = eval(code, names)
        if isinstance(made, Coroutine):
            await made
        await names["chat"].close()

    asyncio.run(run())
    return names


#: The calls of the specification's example, on whatever is configured.
EXAMPLE = """
import os
from infinite_chat import InfiniteChatStorage
chat = InfiniteChatStorage(
    neo4j_uri=uri,
    neo4j_auth=auth,
    openai_key=os.getenv("NO_SUCH_KEY"),
    index_config={
        "snippet_length": 100,
        "max_index_tokens": 10000,
        "recent_window_size": 10,
        "chunk_threshold": 4000,
        "include_tool_calls": True
    }
)
message_id = await chat.store_message(
    content="What's our API authentication strategy?",
    role='user',
    parent_id=parent_id
)
tool_call_id = await chat.store_tool_call(
    tool_name='web_search',
    arguments={'query': 'OAuth2 best practices'},
    result=large_search_result,
    message_id=message_id
)
context = await chat.prepare_context(
    "Tell me about our authentication decisions"
)
message = await chat.get_message_with_chunks(message_id)
call = await chat.get_tool_call(tool_call_id)
calls = await chat.get_tool_calls_by_message(message_id)
found = await chat.vector_search("refresh token of client 7007", 3)
opened = await chat.get_message_by_id(found[0].id)
"""


def assert_done(names: dict[str, Any]) -> None:
    assert names["message"][0].content == "What's our API authentication strategy?"
    assert names["message"][0].role == "user"
    assert isinstance(names["context"], str)
    assert "What's our API authentication strategy?" in names["context"]
    call = names["call"]
    assert (call.tool_name, json.loads(call.arguments)) == ("web_search", {"query": "OAuth2 best practices"})
    assert json.loads(call.result) == names["large_search_result"]
    assert call.message_id == names["message_id"]
    assert names["calls"] == [call]
    best = names["found"][0]
    assert (best.type, best.is_chunk) == ("tool_call", True)
    assert "client 7007 " in names["opened"].content
    assert names["opened"].chunk_parent_id != names["message_id"]


def test_the_example_runs_on_the_configured_store(home: Path) -> None:
    names = ran(EXAMPLE, uri=None, auth=None, parent_id=None, large_search_result={"text": LONG})
    assert_done(names)
    with recollect.open() as memory:  # it is the memory that everything else sees
        assert memory.conversations()[0].conversation.title == "Infinite chat"
        assert memory.upkeep.check() == []


def test_the_example_runs_on_neo4j(neo4j_place: str) -> None:
    from recollect.runtime.files import read_address

    address = read_address(neo4j_place)
    auth = (address.user or "neo4j", address.password) if address.password else None
    uri = str(address)
    assert_done(ran(EXAMPLE, uri=uri, auth=auth, parent_id=None, large_search_result={"text": LONG}))


def test_every_call_of_the_specification_is_there() -> None:
    wanted = {
        *("store_message", "store_tool_call", "update_message", "prepare_context", "get_message_by_id"),
        *("get_messages_by_ids", "get_message_with_chunks", "vector_search", "get_cluster", "get_period_messages"),
        *("get_conversation_thread", "get_tool_call", "get_tool_calls_by_message", "search_and_retrieve"),
    }
    assert all(inspect.iscoroutinefunction(getattr(InfiniteChatStorage, name)) for name in wanted)
    assert recollect.InfiniteChatStorage is InfiniteChatStorage


def test_a_conversation_goes_on_is_edited_and_chunked_as_configured(tmp_path: Path) -> None:
    async def talk() -> None:
        chat = InfiniteChatStorage(path=tmp_path / "memory.db", index_config={"chunk_threshold": 500})
        first = await chat.store_message("Which tokens do we use?", metadata={"by": "Ana"})
        second = await chat.store_message(LONG[:9_000], "assistant")
        branch = await chat.store_message("Opaque ones.", "assistant", first)
        assert (await chat.get_message_by_id(second)).parent_id == first
        assert (await chat.get_message_by_id(branch)).parent_id == first
        assert (await chat.get_message_by_id(first)).metadata == {"by": "Ana"}
        pieces = await chat.get_message_with_chunks(second)
        assert len(pieces) > 4
        assert [piece.chunk_index for piece in pieces] == list(range(len(pieces)))
        assert all(piece.is_chunk and piece.chunk_parent_id == second for piece in pieces)
        found = await chat.vector_search("refresh token of client 77", 1)
        assert found[0].is_chunk
        assert found[0].id in {piece.id for piece in pieces}
        with pytest.raises(InvalidInput, match="is a chunk of"):
            await chat.update_message(pieces[0].id, "other words")
        await chat.update_message(second, "JWT, rotated daily.")
        (edited,) = await chat.get_message_with_chunks(second)
        assert (edited.id, edited.content, edited.is_chunk) == (second, "JWT, rotated daily.", False)
        assert [m.id for m in await chat.get_conversation_thread(first)] == [first, branch]
        assert "JWT" in (await chat.search_and_retrieve("JWT rotated daily", 1))[0].content
        await chat.delete_message(second)
        with pytest.raises(NotFound, match="was deleted"):
            await chat.get_message_by_id(second)
        await chat.restore_message(second)
        assert [m.id for m in await chat.get_period_messages("today")] == [first, second, branch]
        context = await chat.prepare_context("And now?")
        assert cut_recall(f"Before.\n{context}\nAfter.") != f"Before.\n{context}\nAfter."
        assert second[-8:] in await chat.call_tool("vector_search", {"query": "JWT rotated daily"})
        assert len(await chat.tools("openai")) == 14
        await chat.close()

    asyncio.run(talk())


def test_a_context_before_anything_was_said(tmp_path: Path) -> None:
    async def asked() -> str:
        async with InfiniteChatStorage(path=tmp_path / "memory.db") as chat:
            return await chat.prepare_context("Hello?")

    assert isinstance(asyncio.run(asked()), str)


def test_tool_calls_are_left_out_where_so_configured(tmp_path: Path) -> None:
    async def found(include: bool) -> list[str]:
        async with InfiniteChatStorage(path=tmp_path / "m.db", index_config={"includeToolCalls": include}) as chat:
            asked = await chat.store_message("What does the sextant say?")
            await chat.store_tool_call("sextant.read", {}, "The brass sextant says 38 degrees.", asked)
            return [one.type for one in await chat.vector_search("brass sextant degrees")]

    assert "tool_call" in asyncio.run(found(True))
    assert "tool_call" not in asyncio.run(found(False))


def test_chunks_share_as_much_as_configured(tmp_path: Path) -> None:
    async def pieces(**config: int) -> list[str]:
        chat = InfiniteChatStorage(path=tmp_path / f"{len(config)}.db", index_config={"chunk_threshold": 500, **config})
        found = await chat.get_message_with_chunks(await chat.store_message(LONG[:9_000]))
        await chat.close()
        return [piece.content for piece in found]

    apart, usual = asyncio.run(pieces(chunkOverlap=0)), asyncio.run(pieces())
    assert "".join(apart) == LONG[:9_000]
    assert sum(map(len, usual)) > 9_000


@pytest.mark.parametrize(
    "config",
    [
        {"snippet_size": 3},
        {"chunk_threshold": "many"},
        {"max_index_tokens": 0},
        {"chunk_overlap": -1},
        {"chunk_threshold": 400, "chunk_overlap": 200},
    ],
)
def test_settings_that_there_are_not_are_refused_at_once(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        InfiniteChatStorage(index_config=config)


def test_the_environment_sets_what_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEX_CHUNK_THRESHOLD", "600")
    monkeypatch.setenv("INDEX_CHUNK_OVERLAP", "120")
    chat = InfiniteChatStorage(path=tmp_path / "memory.db", index_config={"snippet_length": 50})
    config = chat.index_config
    assert (config.chunk_threshold, config.chunk_overlap, config.snippet_length) == (600, 120, 50)


def test_a_model_of_embeddings_in_the_environment_sends_no_text_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in [("MODEL", "text-embedding-3-small"), ("DIMENSIONS", "1536")]:
        monkeypatch.setenv(f"EMBEDDING_{name}", value)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")  # nobody answers there
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")

    async def talk() -> str:
        async with InfiniteChatStorage(path=tmp_path / "memory.db", openai_key="sk-none") as chat:
            await chat.store_message("The brass sextant says 38 degrees.")
            return (await chat.vector_search("brass sextant"))[0].snippet

    assert "38 degrees" in asyncio.run(talk())


def test_a_conversation_writes_to_no_other_and_a_namespace_sees_no_other(tmp_path: Path) -> None:
    async def talk() -> None:
        place = {"path": tmp_path / "memory.db", "background": False}
        alice = InfiniteChatStorage(**place, conversation_id="alice")
        bob = InfiniteChatStorage(**place, conversation_id="bob")
        apart = InfiniteChatStorage(**place, namespace="eve")
        said = await alice.store_message("The harbour password is heron.", "user")
        own = await bob.store_message("Which password is it?", "user")
        writes: list[Callable[[], Awaitable[object]]] = [
            lambda: bob.update_message(said, "The harbour password is crow."),
            lambda: bob.delete_message(said),
            lambda: bob.delete_message("alice"),
            lambda: bob.store_message("It is crow.", "assistant", said),
            lambda: bob.store_tool_call("look", {}, "crow", said),
        ]
        for write in writes:
            with pytest.raises(NotFound):
                await write()
        await alice.delete_message(said)
        with pytest.raises(NotFound):
            await bob.restore_message(said)
        await alice.restore_message(said)
        assert (await alice.get_message_by_id(said)).content == "The harbour password is heron."
        assert [found.id for found in await bob.vector_search("harbour")] == [said]
        assert await apart.vector_search("harbour") == []
        assert "heron" not in await apart.prepare_context("Which is the harbour password?")
        await bob.store_message("It is heron.", "assistant", own)
        for chat in (alice, bob, apart):
            await chat.close()

    asyncio.run(talk())
