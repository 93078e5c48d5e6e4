"""Streamed calls of tools, cut into pieces at any byte: what the client gets is what came, and all of it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from recollect.gateway.events import Events
from recollect.gateway.talk import HeardAnswer
from recollect.gateway.wires import COMPLETIONS, MESSAGES, RESPONSES, Wire
from recollect.record import Kind
from tests.faces.proxy.conftest import Proxy
from tests.gateway.upstream import _events
from tests.models.language.wire_server import Says

_CALLS = (
    ("look", json.dumps({"at": 'Grüße 🐕 \\ "x"'}, ensure_ascii=False)),
    ("wait", "{}"),
    ("look", json.dumps({"at": [1, {"b": None}], "long": "x" * 300})),
)
_WIRES = [("/v1/chat/completions", COMPLETIONS), ("/v1/responses", RESPONSES), ("/v1/messages", MESSAGES)]


def _pieces(raw: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(raw), size):
        yield raw[start : start + size]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1_000_000])
@pytest.mark.parametrize(("path", "wire"), _WIRES, ids=["completions", "responses", "messages"])
def test_calls_are_heard_whole_wherever_the_stream_is_cut(path: str, wire: Wire, size: int, line_end: bytes) -> None:
    told = Says("I look at both. 🐕", calls=_CALLS)
    raw = b"".join(_events(path, told)).replace(b"\n", line_end)
    heard, events = HeardAnswer(), Events()
    for piece in _pieces(raw, size):
        for event in events.feed(piece):
            wire.hear(event, heard)
    assert heard.is_whole
    assert heard.text == told.text
    calls = [(name, json.loads("".join(pieces) or "{}")) for _, name, *pieces in heard.calls.values()]
    assert calls == [(name, json.loads(given)) for name, given in _CALLS]
    assert len({own for own, *_ in heard.calls.values()}) == len(_CALLS)


def _steps(path: str, steps: list[list[tuple[str, str, str, str]]]) -> list[dict[str, Any]]:
    """A question, and rounds of calls (id, name, arguments, result), as a client sends them back."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "Is the kettle hot?"}]
    for calls in steps:
        if path == "responses":
            said += [
                {"type": "function_call", "call_id": own, "name": name, "arguments": given}
                for own, name, given, _ in calls
            ]
            said += [{"type": "function_call_output", "call_id": own, "output": found} for own, *_, found in calls]
        elif path == "messages":
            use = [
                {"type": "tool_use", "id": own, "name": name, "input": json.loads(given)}
                for own, name, given, _ in calls
            ]
            results = [{"type": "tool_result", "tool_use_id": own, "content": found} for own, *_, found in calls]
            said += [{"role": "assistant", "content": use}, {"role": "user", "content": results}]
        else:
            functions = [
                {"id": own, "type": "function", "function": {"name": name, "arguments": given}}
                for own, name, given, _ in calls
            ]
            said.append({"role": "assistant", "content": None, "tool_calls": functions})
            said += [{"role": "tool", "tool_call_id": own, "content": found} for own, *_, found in calls]
    return said


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages"])
def test_ids_that_come_again_in_each_step_lose_no_call(proxy: Proxy, path: str) -> None:
    """Servers on one's own machine count their calls anew in every answer."""
    steps = [
        [("call_0", "heat", "{}", "On."), ("call_1", "look", '{"at": "kettle"}', "40 degrees")],
        [("call_0", "wait", '{"minutes": 1}', "Waited.")],
        [("call_0", "wait", '{"minutes": 1}', "Waited again."), ("call_1", "look", '{"at": "kettle"}', "90 degrees")],
    ]
    scope = {"X-Recollect-Namespace": "k", "X-Recollect-Conversation": "kettle"}
    for done in range(len(steps) + 1):  # all that was before is sent again with every step
        said = _steps(path, steps[:done])
        body: dict[str, Any] = {"model": "m", "input" if path == "responses" else "messages": said}
        calls = tuple((name, given) for _, name, given, _ in steps[done]) if done < len(steps) else ()
        proxy.provider.script.append(Says("" if calls else "It is.", calls=calls))
        answer = httpx2.post(
            f"{proxy.address}/v1/{path}", json={**body, "max_tokens": 99, "stream": True}, headers=scope
        )
        assert answer.status_code == 200
    memory = proxy.memory("k")
    [row] = memory.conversations()
    thread = memory.conversation(row.conversation.id)
    texts = {message.id: message.content for message in thread.messages}
    of_result = {call.result_message_id: call for call in thread.tool_calls}
    kept = [(of_result[m.id].name, of_result[m.id].arguments, m.content) for m in thread.messages if m.id in of_result]
    assert kept == [(name, given, found) for step in steps for _, name, given, found in step]
    assert [texts[m.id] for m in thread.messages if m.kind is Kind.SAID] == ["Is the kettle hot?", "It is."]
