"""Attacks with the clients that people have, through the proxy and wrapped, against a model that calls tools."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from recollect.models.language.wire import OWN_CALL
from tests.faces.proxy.conftest import Proxy, serving
from tests.gateway.test_loops import _ANSWERS, assistant, called, talks, user

pytestmark = pytest.mark.long

_STEPS = 3  # that the model takes to an answer, unless the question is plain


class Model:
    """Calls a tool three times, then answers; a plain question at once."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.asked.append({"headers": {k.lower(): v for k, v in self.headers.items()}, "body": body})
                path = self.path.partition("?")[0].rstrip("/")
                text, calls, name = model.answer(body)
                is_stream = bool(body.get("stream"))
                said = (
                    b"".join(stream(path, text, calls, name))
                    if is_stream
                    else json.dumps(full(path, text, calls, name)).encode()
                )
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
                self.send_header("Set-Cookie", f"who={self.headers.get('Authorization', '')[-6:]}")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @staticmethod
    def answer(body: dict[str, Any]) -> tuple[str, list[tuple[str, str]], str]:
        items = body.get("messages") or body.get("input") or []
        items = [user(items)] if isinstance(items, str) else items
        question, results = "", 0
        for item in items:
            parts = (
                item.get("content")
                if isinstance(item.get("content"), list)
                else [{"type": "text", "text": item.get("content")}]
            )
            given = sum(part.get("type") == "tool_result" for part in parts)
            words = [part.get("text") or "" for part in parts if part.get("type") in ("text", "input_text")]
            if item.get("role") == "user" and not given and words:
                question, results = words[-1].rsplit("\n\n", 1)[-1], 0
            results += given + (item.get("role") == "tool") + str(item.get("type", "")).endswith("call_output")
        held = body.get("previous_response_id") or (body.get("thread") or {}).get("previous_message_id")
        if not question and held:
            question, _, done = held.rpartition("~")
            results += int(done)
        name = f"{question}~{results}"
        if "plain" in question or results >= _STEPS:
            return f"End of {question}", [], name
        return "", [(f"call_{question}_{results}".replace(" ", "_"), json.dumps({"k": results}))], name


def full(path: str, text: str, calls: list[tuple[str, str]], name: str) -> dict[str, Any]:
    """An answer with all that the vendors' clients check."""
    wire = "/" + path.rpartition("/v1/")[2]
    found: dict[str, Any] = dict(_ANSWERS[wire](text, tuple(calls), name))
    if wire == "/messages":
        return {
            **found,
            "role": "assistant",
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    if wire == "/responses":
        for number, item in enumerate(found["output"]):
            item |= {"id": f"{name}i{number}", "status": "completed"}
        usage = {
            "input_tokens": 1,
            "output_tokens": 1,
            "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return {
            **found,
            "object": "response",
            "created_at": 1,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": usage,
        }
    [choice] = found["choices"]
    choice |= {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}
    return {
        **found,
        "object": "chat.completion",
        "created": 1,
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _event(value: dict[str, Any]) -> bytes:
    named = f"event: {value['type']}\n" if "type" in value else ""
    return f"{named}data: {json.dumps(value)}\n\n".encode()


def stream(path: str, text: str, calls: list[tuple[str, str]], name: str) -> Iterator[bytes]:
    """The same in events."""
    whole = full(path, text, calls, name)
    if path.endswith("/messages"):
        yield _event({"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}})
        for index, block in enumerate(whole["content"]):
            is_text = block["type"] == "text"
            yield _event(
                {
                    "type": "content_block_start",
                    "index": index,
                    "content_block": {**block, **({"text": ""} if is_text else {"input": {}})},
                }
            )
            piece = (
                {"type": "text_delta", "text": block["text"]}
                if is_text
                else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            )
            yield _event({"type": "content_block_delta", "index": index, "delta": piece})
            yield _event({"type": "content_block_stop", "index": index})
        yield _event(
            {
                "type": "message_delta",
                "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
                "usage": {"output_tokens": 1},
            }
        )
        yield _event({"type": "message_stop"})
    elif path.endswith("/responses"):
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
        ]
        for index, item in enumerate(whole["output"]):
            at = {"output_index": index, "item_id": item["id"]}
            events.append(
                {
                    "type": "response.output_item.added",
                    "output_index": index,
                    "item": {**item, **({"content": []} if item["type"] == "message" else {"arguments": ""})},
                }
            )
            if item["type"] == "message":
                part = item["content"][0]
                events.append(
                    {"type": "response.content_part.added", **at, "content_index": 0, "part": {**part, "text": ""}}
                )
                events.append(
                    {"type": "response.output_text.delta", **at, "content_index": 0, "delta": text, "logprobs": []}
                )
                events.append(
                    {"type": "response.output_text.done", **at, "content_index": 0, "text": text, "logprobs": []}
                )
            else:
                events.append({"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]})
                events.append(
                    {
                        "type": "response.function_call_arguments.done",
                        **at,
                        "arguments": item["arguments"],
                        "name": "look",
                    }
                )
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": "response.completed", "response": whole})
        yield from (_event({**event, "sequence_number": number}) for number, event in enumerate(events))
    else:
        about = {"id": name, "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if calls else ""}]
        deltas += [{"content": letter} for letter in (text[:2], text[2:]) if letter]
        deltas += [
            {
                "tool_calls": [
                    {"index": n, "id": own, "type": "function", "function": {"name": "look", "arguments": given}}
                ]
            }
            for n, (own, given) in enumerate(calls)
        ]
        for delta in deltas:
            yield _event({**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event(
            {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]}
        )
        yield b"data: [DONE]\n\n"


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    found = Model()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory, model: Model) -> Iterator[Proxy]:
    with serving(tmp_path_factory.mktemp("attack"), model) as found:  # type: ignore[arg-type]
        yield found


@pytest.fixture(params=["proxy", "wrapped"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A namespace for each test."""
    return "".join(c if c.isalnum() else "-" for c in request.node.name)[-120:].strip("-")


def client(kind: type[Any], way: str, name: str, proxy: Proxy, **more: Any) -> Any:
    root = proxy.address if way == "proxy" else proxy.provider.root
    base = f"{root}/v1" if "openai" in kind.__module__ else root
    made = kind(base_url=base, api_key="sk", max_retries=0, **more)
    if way == "wrapped":
        if any(kind.__module__.startswith("httpx.") for kind in type(made._client).__mro__):
            pytest.skip("an old client, which cannot be wrapped")
        return recollect.wrap(made, proxy.memory(name))
    return made.with_options(default_headers={"X-Recollect-Namespace": name})


def is_whole(proxy: Proxy, name: str, *questions: str, steps: int = _STEPS) -> None:
    memory: Memory = proxy.memory(name)
    said = [text for question in questions for text in (question, f"End of {question}")]
    assert [[text for text in talk if not text.startswith("res")] for talk in talks(memory)] == [said]
    plain = sum("plain" in question for question in questions)
    calls = called(memory)
    assert len(calls) == steps * (len(questions) - plain)
    assert all(result.startswith("res") for *_, result in calls)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("first", ["plain hi", "loop hi"])
def test_openai_chat(proxy: Proxy, way: str, name: str, streams: bool, first: str) -> None:
    openai = pytest.importorskip("openai")
    one, items = client(openai.OpenAI, way, name, proxy), []
    for question in (first, "plain second", "loop third"):
        items.append(user(question))
        for _ in range(_STEPS + 1):
            if streams:
                with one.chat.completions.stream(model="m", messages=items) as events:
                    message = events.get_final_completion().choices[0].message
            else:
                message = one.chat.completions.create(model="m", messages=items).choices[0].message
            items.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                items[-1]["tool_calls"] = [
                    {
                        "id": c.id,
                        "type": "function",
                        "function": {"name": c.function.name, "arguments": c.function.arguments},
                    }
                    for c in message.tool_calls
                ]
                items.append({"role": "tool", "tool_call_id": call.id, "content": f"res {call.id}"})
    is_whole(proxy, name, first, "plain second", "loop third")


@pytest.mark.parametrize("how", ["held", "sent", "named"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("first", ["plain hi", "loop hi"])
def test_openai_responses(proxy: Proxy, way: str, name: str, streams: bool, first: str, how: str) -> None:
    openai = pytest.importorskip("openai")
    one, items, before = client(openai.OpenAI, way, name, proxy), [], None
    more: dict[str, Any] = {"extra_headers": {"X-Recollect-Conversation": "main"}} if how == "named" else {}
    for question in (first, "plain second", "loop third"):
        fresh: list[Any] = [user(question)]
        for _ in range(_STEPS + 1):
            items += fresh
            held = {"previous_response_id": before, "input": fresh} if how == "held" and before else {"input": items}
            if streams:
                with one.responses.stream(model="m", **held, **more) as events:
                    for _ in events:
                        pass
                    answer = events.get_final_response()
            else:
                answer = one.responses.create(model="m", **held, **more)
            before = answer.id
            items += [
                item.model_dump(exclude_none=True, exclude={"parsed_arguments", "parsed"}) for item in answer.output
            ]
            calls = [item for item in answer.output if item.type == "function_call"]
            fresh = [
                {"type": "function_call_output", "call_id": call.call_id, "output": f"res {call.call_id}"}
                for call in calls
            ]
            if not calls:
                break
    is_whole(proxy, name, first, "plain second", "loop third")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("first", ["plain hi", "loop hi"])
def test_anthropic(proxy: Proxy, way: str, name: str, streams: bool, first: str) -> None:
    anthropic = pytest.importorskip("anthropic")
    one, items = client(anthropic.Anthropic, way, name, proxy), []
    for question in (first, "plain second", "loop third"):
        items.append(user(question))
        for _ in range(_STEPS + 1):
            if streams:
                with one.messages.stream(model="m", max_tokens=9, messages=items) as events:
                    message = events.get_final_message()
            else:
                message = one.messages.create(model="m", max_tokens=9, messages=items)
            items.append({"role": "assistant", "content": message.content})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                break
            items.append(user([{"type": "tool_result", "tool_use_id": c.id, "content": f"res {c.id}"} for c in calls]))  # type: ignore[arg-type]
    is_whole(proxy, name, first, "plain second", "loop third")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("first", ["plain hi", "loop hi"])
def test_anthropics_tool_runner(proxy: Proxy, way: str, name: str, streams: bool, first: str) -> None:
    anthropic = pytest.importorskip("anthropic")

    @anthropic.beta_tool  # type: ignore[untyped-decorator]
    def look(k: int) -> str:
        """Looks."""
        return f"res {k}"

    one = client(anthropic.Anthropic, way, name, proxy)
    runner = one.beta.messages.tool_runner(
        model="m", max_tokens=9, tools=[look], messages=[user(first)], stream=streams
    )
    for message in runner:
        if streams:
            for _ in message:
                pass
    is_whole(proxy, name, first)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("how", ["list", "session", "held"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openais_agents(proxy: Proxy, way: str, name: str, streams: bool, how: str, api: str) -> None:
    openai, agents = pytest.importorskip("openai"), pytest.importorskip("agents")
    if how == "held" and api == "chat":
        pytest.skip("nothing is held")
    agents.set_tracing_disabled(True)

    @agents.function_tool  # type: ignore[untyped-decorator]
    def look(k: int) -> str:
        return f"res {k}"

    one = client(openai.AsyncOpenAI, way, name, proxy)
    kind = agents.OpenAIChatCompletionsModel if api == "chat" else agents.OpenAIResponsesModel
    agent = agents.Agent(name="a", instructions="Be.", tools=[look], model=kind(model="m", openai_client=one))
    session = {"session": agents.SQLiteSession(name)} if how == "session" else {}

    async def turn(given: Any, **more: Any) -> Any:
        if not streams:
            return await agents.Runner.run(agent, given, **more)
        run = agents.Runner.run_streamed(agent, given, **more)
        async for _ in run.stream_events():
            pass
        return run

    async def talk() -> None:
        run = await turn("loop hi", **session)
        for question in ("plain second", "loop third"):
            if how == "list":
                run = await turn([*run.to_input_list(), user(question)])
            elif how == "session":
                run = await turn(question, **session)
            else:
                run = await turn(question, previous_response_id=run.last_response_id)

    asyncio.run(talk())
    is_whole(proxy, name, "loop hi", "plain second", "loop third")


@pytest.mark.parametrize("kind", ["AsyncOpenAI", "AsyncAnthropic"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
def test_many_at_once(proxy: Proxy, way: str, name: str, kind: str, streams: bool) -> None:
    """Conversations that begin with the same words, at once, under one name of their own each or none."""
    vendor = pytest.importorskip("openai" if "OpenAI" in kind else "anthropic")
    one = client(getattr(vendor, kind), way, name, proxy)

    async def ask(items: list[Any]) -> str:
        if "OpenAI" in kind:
            if not streams:
                return str((await one.chat.completions.create(model="m", messages=items)).choices[0].message.content)
            events = await one.chat.completions.create(model="m", messages=items, stream=True)
            return "".join([event.choices[0].delta.content or "" async for event in events])
        async with one.messages.stream(model="m", max_tokens=9, messages=items) as found:
            return str(await found.get_final_text())

    async def talk(number: int) -> None:
        items: list[Any] = []
        for question in ("plain hello", f"plain {number}", f"plain {number} more"):
            items.append(user(question))
            items.append(assistant(await ask(items)))

    async def all_of_them() -> None:
        await asyncio.gather(*map(talk, range(6)))

    asyncio.run(all_of_them())
    said = [[t for q in ("plain hello", f"plain {n}", f"plain {n} more") for t in (q, f"End of {q}")] for n in range(6)]
    assert sorted(talks(proxy.memory(name))) == sorted(said)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("model_name", ["openai/m", "anthropic/claude-3-5-sonnet-20241022"])
def test_litellm(proxy: Proxy, name: str, monkeypatch: pytest.MonkeyPatch, model_name: str, streams: bool) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm")
    base = f"{proxy.address}/v1" if "openai" in model_name else proxy.address
    items: list[Any] = []
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    for question in ("loop hi", "plain second", "loop third"):
        items.append(user(question))
        for _ in range(_STEPS + 1):
            answer = litellm.completion(
                model=model_name,
                api_base=base,
                api_key="sk",
                messages=items,
                tools=tools,
                stream=streams,
                extra_headers={"X-Recollect-Namespace": name},
            )
            if streams:
                answer = litellm.stream_chunk_builder(list(answer), messages=items)
            message = answer.choices[0].message
            items.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            items += [{"role": "tool", "tool_call_id": c.id, "content": f"res {c.id}"} for c in message.tool_calls]
    is_whole(proxy, name, "loop hi", "plain second", "loop third")


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streams"])
@pytest.mark.parametrize("kind", ["openai", "anthropic", "responses"])
def test_langchain(proxy: Proxy, name: str, kind: str, streams: bool) -> None:
    module = pytest.importorskip("langchain_anthropic" if kind == "anthropic" else "langchain_openai")
    messages = pytest.importorskip("langchain_core.messages")
    headers = {"X-Recollect-Namespace": name}
    if kind == "anthropic":
        one = module.ChatAnthropic(
            model="m", api_key="sk", base_url=proxy.address, default_headers=headers, max_retries=0
        )
    else:
        one = module.ChatOpenAI(
            model="m",
            api_key="sk",
            base_url=f"{proxy.address}/v1",
            default_headers=headers,
            max_retries=0,
            use_responses_api=kind == "responses",
        )
    items: list[Any] = []
    for question in ("loop hi", "plain second", "loop third"):
        items.append(messages.HumanMessage(question))
        for _ in range(_STEPS + 1):
            if streams:
                answer = None
                for piece in one.stream(items):
                    answer = piece if answer is None else answer + piece
                assert answer is not None
            else:
                answer = one.invoke(items)
            items.append(answer)
            if not answer.tool_calls:
                break
            items += [messages.ToolMessage(f"res {c['id']}", tool_call_id=c["id"]) for c in answer.tool_calls]
    is_whole(proxy, name, "loop hi", "plain second", "loop third")


@pytest.mark.parametrize("mode", ["TOOLS", "JSON", "MD_JSON"])
def test_instructor_that_asks_again(
    proxy: Proxy, way: str, name: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai, instructor = pytest.importorskip("openai"), pytest.importorskip("instructor")
    pydantic = pytest.importorskip("pydantic")

    class look(pydantic.BaseModel):  # noqa: N801 - by this name it is called  # type: ignore[name-defined, misc]
        name: str
        age: int = pydantic.Field(ge=18)

    asked: list[Any] = []

    def answer(body: dict[str, Any]) -> tuple[str, list[tuple[str, str]], str]:
        asked.append(body)
        given = json.dumps({"name": "Ann", "age": 10 if len(asked) == 1 else 30})
        if body.get("tools"):
            return "", [(f"call{len(asked)}", given)], f"i{len(asked)}"
        return f"```json\n{given}\n```" if mode == "MD_JSON" else given, [], f"i{len(asked)}"

    monkeypatch.setattr(proxy.provider, "answer", answer)
    patch = instructor.from_openai(client(openai.OpenAI, way, name, proxy), mode=getattr(instructor.Mode, mode))
    found = patch.chat.completions.create(model="m", response_model=look, max_retries=2, messages=[user("Who is Ann?")])
    assert found.age == 30
    [talk] = talks(proxy.memory(name))
    assert sum(text.startswith("Who is Ann?") for text in talk) == 1


def test_no_cookie_or_header_of_ours_has_arrived(proxy: Proxy, model: Model) -> None:
    """After all of the others: it looks at what they sent."""
    for one in (one for one in model.asked if OWN_CALL.lower() in one["headers"]):  # a wrapped client is one client
        assert "cookie" not in one["headers"]
        assert not [name for name in one["headers"] if name.startswith("x-recollect-") and name != OWN_CALL.lower()]
