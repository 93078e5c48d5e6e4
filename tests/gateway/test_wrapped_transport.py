"""How a wrapped client's requests travel: what is no talk as it is, nothing of one client with another's."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.gateway.exchange import Endless
from recollect.gateway.wires import RESPONSES
from recollect.memory import Memory
from tests.faces.proxy.plain import Plain, begin, chunk, drop, plain, whole

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

ASKED: list[Any] = [{"role": "user", "content": "What must Rex not eat?"}]
ANSWER = (
    b'{"id": "c", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Chicken."}}]}'
)


@pytest.fixture
def server() -> Iterator[Plain]:
    with plain() as found:
        found.answer = lambda handler: whole(handler, ANSWER)
        yield found


def client(server: Plain, kind: str = "OpenAI", **more: Any) -> Any:
    if "Anthropic" in kind:
        return getattr(anthropic, kind)(base_url=server.root, api_key="k", max_retries=0, **more)
    return getattr(openai, kind)(base_url=f"{server.root}/v1", api_key="k", max_retries=0, **more)


def told(wrapped: Any) -> str:
    """What an answer says of the memory."""
    raw = wrapped.chat.completions.with_raw_response.create(model="m", messages=ASKED)
    return str(raw.headers["x-recollect-stored"])


def test_what_was_stored_is_told(memory: Memory, server: Plain) -> None:
    wrapped = recollect.wrap(client(server), memory)
    server.answer = lambda handler: whole(handler, b'{"id": "c", "choices": []}')
    assert told(wrapped) == "no"
    server.answer = lambda handler: whole(handler, b"{}", 400)
    with pytest.raises(openai.BadRequestError) as refused:
        told(wrapped)
    assert refused.value.response.headers["x-recollect-stored"] == "no"
    assert not memory.conversations()
    server.answer = lambda handler: whole(handler, ANSWER)
    assert told(wrapped) == "yes"
    assert len(memory.conversations()) == 1


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_uploads_and_downloads_pass_as_they_are(memory: Memory, server: Plain, kind: str) -> None:
    content = os.urandom(2_000_000)
    made = b'{"id": "f1", "object": "file"}'
    server.answer = lambda handler: whole(handler, made if handler.command == "POST" else content)
    wrapped = recollect.wrap(client(server, kind), memory)

    async def both() -> bytes:
        assert (await wrapped.files.create(file=("a", content), purpose="batch")).id == "f1"
        return bytes((await wrapped.files.content("f1")).content)

    if kind == "OpenAI":
        assert wrapped.files.create(file=("a", content), purpose="batch").id == "f1"
        found = bytes(wrapped.files.content("f1").content)
    else:
        found = asyncio.run(both())
    assert hashlib.sha256(found).digest() == hashlib.sha256(content).digest()
    assert server.asked[0].size > len(content)
    assert server.asked[0].headers["content-length"] == str(server.asked[0].size)


def test_cookies_stay_with_the_copy_that_was_given_them(memory: Memory, server: Plain) -> None:
    """Two namespaces on one client: what one of them is given does not go with the requests of the other."""
    shared = client(server)
    alice, bob = (recollect.wrap(shared, memory.beside(name)) for name in ("alice", "bob"))
    server.answer = lambda handler: whole(handler, ANSWER, Set_Cookie="session=of-alice; Path=/")
    told(alice)
    server.answer = lambda handler: (
        whole(handler, b"", 307, Location="/v1/chat/completions/")
        if not handler.path.endswith("/")
        else whole(handler, ANSWER)
    )
    server.asked.clear()
    told(bob)
    assert len(server.asked) == 2  # redirected
    assert not [asked for asked in server.asked if "cookie" in asked.headers]
    told(alice)
    assert server.last.headers["cookie"] == "session=of-alice"


def test_a_redirect_to_another_host_does_not_take_the_key_along(memory: Memory, server: Plain) -> None:
    with plain() as elsewhere:
        elsewhere.answer = lambda handler: whole(handler, ANSWER)
        other = elsewhere.root.replace("127.0.0.1", "localhost")
        server.answer = lambda handler: whole(handler, b"", 307, Location=f"{other}/v1/chat/completions")
        assert told(recollect.wrap(client(server), memory)) == "yes"
        assert "authorization" not in elsewhere.last.headers
        assert not [name for name in elsewhere.last.headers if name.startswith("x-recollect")]
    assert len(memory.conversations()) == 1


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_an_answer_that_is_no_talk_comes_as_it_is_spoken(memory: Memory, server: Plain, kind: str) -> None:
    def speaks(handler: Any) -> None:
        begin(handler, Content_Type="audio/mpeg")
        for piece in (b"one", b"two", b""):
            chunk(handler, piece)

    server.answer = speaks
    wrapped = recollect.wrap(client(server, kind), memory)
    asked = {"model": "t", "voice": "v", "input": "Hello"}

    async def awaited() -> bytes:
        async with wrapped.audio.speech.with_streaming_response.create(**asked) as answer:
            return b"".join([piece async for piece in answer.iter_bytes()])

    if kind == "OpenAI":
        with wrapped.audio.speech.with_streaming_response.create(**asked) as answer:
            found = b"".join(answer.iter_bytes())
    else:
        found = asyncio.run(awaited())
    assert found == b"onetwo"


def test_a_dropped_connection_is_tried_again(memory: Memory, server: Plain) -> None:
    server.answer = lambda handler: drop(handler) if len(server.asked) == 1 else whole(handler, ANSWER)
    assert told(recollect.wrap(client(server).with_options(max_retries=1), memory)) == "yes"
    [row] = memory.conversations()
    assert row.messages == 2


def test_nothing_of_a_memory_behind_is_told_as_of_this_one(memory: Memory, server: Plain) -> None:
    server.answer = lambda handler: whole(handler, ANSWER, X_Recollect_Left_Out="99", X_Recollect_Stored="no")
    wrapped = recollect.wrap(client(server), memory)
    raw = wrapped.chat.completions.with_raw_response.create(model="m", messages=ASKED)
    assert raw.headers.get_list("x-recollect-stored") == ["yes"]
    assert "x-recollect-left-out" not in raw.headers


def test_a_stream_is_kept_whatever_it_is_called(memory: Memory, server: Plain) -> None:
    def speaks(handler: Any) -> None:
        begin(handler, Content_Type="text/plain")
        said = b'{"choices": [{"index": 0, "delta": {"content": "Chicken."}, "finish_reason": "stop"}]}'
        for piece in (b"data: " + said + b"\n\n", b"data: [DONE]\n\n", b""):
            chunk(handler, piece)

    server.answer = speaks
    stream = recollect.wrap(client(server), memory).chat.completions.create(model="m", messages=ASKED, stream=True)
    assert [one.choices[0].delta.content for one in stream] == ["Chicken."]
    [row] = memory.conversations()
    assert row.messages == 2


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
@pytest.mark.parametrize("content", [b"[1, 2]", b'"Hello"', b"no JSON", b"", b"null"])
def test_a_body_that_is_no_object_passes_as_it_is(memory: Memory, server: Plain, kind: str, content: bytes) -> None:
    wrapped = recollect.wrap(client(server, kind), memory)
    url = f"{server.root}/v1/chat/completions"
    if kind == "OpenAI":
        answer = wrapped._client.post(url, content=content)
    else:
        answer = asyncio.run(wrapped._client.post(url, content=content))
    assert answer.content == ANSWER
    assert server.last.digest == hashlib.sha256(content).hexdigest()
    assert "x-recollect-stored" not in answer.headers


def test_a_body_that_is_compressed_passes_as_it_is(memory: Memory, server: Plain) -> None:
    content = gzip.compress(b'{"messages": []}')
    wrapped = recollect.wrap(client(server), memory)
    url = f"{server.root}/v1/chat/completions"
    assert wrapped._client.post(url, content=content, headers={"Content-Encoding": "gzip"}).content == ANSWER
    assert server.last.digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_one_object_that_answers_for_a_stream_is_stored(memory: Memory, server: Plain, kind: str) -> None:
    def speaks(handler: Any) -> None:
        begin(handler, Content_Type="text/event-stream")
        for piece in (ANSWER[:20], ANSWER[20:], b""):
            chunk(handler, piece)

    server.answer = speaks
    wrapped = recollect.wrap(client(server, kind), memory)
    body, url = {"model": "m", "messages": ASKED, "stream": True}, f"{server.root}/v1/chat/completions"
    answer = (
        wrapped._client.post(url, json=body) if kind == "OpenAI" else asyncio.run(wrapped._client.post(url, json=body))
    )
    assert (answer.content, answer.headers["x-recollect-stored"]) == (ANSWER, "yes")
    [row] = memory.conversations()
    assert row.messages == 2


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_an_answer_made_in_the_background_is_stored_when_it_is_fetched(
    memory: Memory, server: Plain, kind: str
) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Chicken."}]}
    done = {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [said]}
    queued = {**done, "status": "queued", "output": []}
    server.answer = lambda handler: whole(handler, json.dumps(done if handler.command == "GET" else queued).encode())
    responses = recollect.wrap(client(server, kind), memory).responses.with_raw_response

    async def awaited() -> list[str]:
        begun = await responses.create(model="m", input="What must Rex not eat?", background=True)
        found = await responses.retrieve("resp_1")
        return [begun.headers["x-recollect-stored"], found.headers["x-recollect-stored"]]

    if kind == "OpenAI":
        begun = responses.create(model="m", input="What must Rex not eat?", background=True)
        told = [begun.headers["x-recollect-stored"], responses.retrieve("resp_1").headers["x-recollect-stored"]]
    else:
        told = asyncio.run(awaited())
    assert told == ["no", "yes"]
    [row] = memory.conversations()
    assert [m.content for m in memory.latest(row.conversation.id)] == ["What must Rex not eat?", "Chicken."]


def test_nobody_fetches_the_answer_of_a_namespace_that_he_may_not_reach(memory: Memory) -> None:
    endless, headers = Endless(lambda _: memory), {"x-recollect-namespace": "acme"}
    exchange = endless.begin(RESPONSES, {"input": "Hello", "background": True}, headers, upstream="u")
    exchange.answered(b'{"id": "resp_1", "status": "queued", "output": []}', is_success=True)
    path = "/v1/responses/resp_1"
    assert endless.fetched(path, {}, "u", within=["other"]) is None
    assert endless.fetched(path, {}, "v") is None
    assert endless.fetched(path, {}, "u", within=["acme"]) is not None
