"""Half of a pair that stands for one character, in whatever place of a request or an answer: nothing fails by it, what
is beside it is kept, and it goes on as it came.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.faces.proxy.conftest import Proxy
from tests.models.language.wire_server import Says

pytestmark = pytest.mark.slow

HALF = "\ud83d"
PATHS = ("chat/completions", "responses", "messages")
_SCOPE = {"X-Recollect-Namespace": "k", "X-Recollect-Conversation": "halves"}


def _request(path: str, texts: list[str], **more: Any) -> dict[str, Any]:
    """A request whose messages alternate, the first a user's."""
    said = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]
    own = {"input": said} if path == "responses" else {"messages": said, "max_tokens": 100}
    return {"model": "m", **own, **more}


def _posted(proxy: Proxy, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> httpx2.Response:
    answer = httpx2.post(
        f"{proxy.address}/v1/{path}",
        content=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **(_SCOPE if headers is None else headers)},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer


def _kept(proxy: Proxy, namespace: str = "k") -> list[str]:
    memory = proxy.memory(namespace)
    threads = [memory.conversation(row.conversation.id) for row in memory.conversations()]
    return [message.content for thread in threads for message in thread.messages]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_in_a_request_and_in_its_answer(proxy: Proxy, path: str, stream: bool) -> None:
    proxy.provider.script.extend([Says(f"The dog {HALF} barks at the moon."), Says("So it is.")])
    first = _posted(proxy, path, _request(path, [f"What does {HALF} Rex do?"], stream=stream))
    assert first.headers["X-Recollect-Stored"] == "yes"
    assert "X-Recollect-Degraded" not in first.headers
    assert r"\ud83d" in first.text, "the client gets what came"
    assert rb"What does \ud83d Rex do?" in proxy.provider.raw
    again = [f"What does {HALF} Rex do?", f"The dog {HALF} barks at the moon.", f"Does he? {HALF}"]
    second = _posted(proxy, path, _request(path, again, stream=stream))
    assert "X-Recollect-Degraded" not in second.headers
    assert _kept(proxy) == [
        "What does � Rex do?",
        "The dog � barks at the moon.",
        "Does he? �",
        "So it is.",
    ]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_message_of_nothing_else(proxy: Proxy, path: str, stream: bool) -> None:
    proxy.provider.script.extend([Says(HALF), Says("Bless you.")])
    _posted(proxy, path, _request(path, ["Say half."], stream=stream))
    answer = _posted(proxy, path, _request(path, ["Say half.", HALF, HALF], stream=stream))
    assert "X-Recollect-Degraded" not in answer.headers
    kept = _kept(proxy)
    assert kept[0] == "Say half."
    assert kept[-1] == "Bless you."


@pytest.mark.parametrize("path", PATHS)
def test_halves_of_one_character_in_two_events_are_one(proxy: Proxy, path: str) -> None:
    proxy.provider.script.append(Says("Elevenchars" + "\ud83d" + "\udc15" + " barks."))
    _posted(proxy, path, _request(path, ["What is it?"], stream=True))
    assert _kept(proxy)[-1] == "Elevenchars🐕 barks."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_in_tools_their_arguments_and_results(proxy: Proxy, path: str, stream: bool) -> None:
    proxy.provider.script.append(Says(f"I look {HALF}.", calls=(("look", json.dumps({"at": f"x{HALF}y"})),)))
    _posted(proxy, path, _request(path, ["Look."], stream=stream))
    own = "toolu_0" if path == "messages" else "call_0"
    given, found = json.dumps({"at": f"x{HALF}y"}), f"Rex {HALF} sleeps."
    if path == "responses":
        steps: list[dict[str, Any]] = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": f"I look {HALF}."},
            {"type": "function_call", "call_id": own, "name": f"look{HALF}", "arguments": given},
            {"type": "function_call_output", "call_id": own, "output": found},
        ]
        body = _request(path, [], stream=stream) | {"input": steps}
    elif path == "messages":
        use = {"type": "tool_use", "id": own, "name": f"look{HALF}", "input": json.loads(given)}
        result = {"type": "tool_result", "tool_use_id": own, "content": found}
        steps = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": [{"type": "text", "text": f"I look {HALF}."}, use]},
            {"role": "user", "content": [result]},
        ]
        body = _request(path, [], stream=stream) | {"messages": steps}
    else:
        call = {"id": own, "type": "function", "function": {"name": f"look{HALF}", "arguments": given}}
        steps = [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": f"I look {HALF}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": own, "content": found},
        ]
        body = _request(path, [], stream=stream) | {"messages": steps}
    answer = _posted(proxy, path, body)
    assert "X-Recollect-Degraded" not in answer.headers
    memory = proxy.memory("k")
    [row] = memory.conversations()
    calls = {
        call.id: call.result
        for message in memory.conversation(row.conversation.id).messages
        for call in memory.toolbox().get_tool_calls_by_message(message.id)
    }
    assert list(calls.values()) == ["Rex � sleeps."]
    assert "Noted." in _kept(proxy)


@pytest.mark.parametrize(
    "more",
    [
        {"user": f"ana{HALF}"},
        {"safety_identifier": HALF},
        {"metadata": {"user_id": f"u{HALF}"}},
        {"metadata": {"recollect_conversation": f"talk {HALF}", "recollect_namespace": "k"}},
        {"metadata": {"recollect_namespace": f"k{HALF}"}},
        {"model": f"m{HALF}", "metadata": {"recollect_namespace": "k"}},
        {f"own{HALF}": f"{HALF}", "metadata": {"recollect_namespace": "k"}},
        {"system": f"Working directory: /home/ana/{HALF}"},
        {"instructions": f"Working directory: /home/ana/{HALF}"},
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_in_what_says_whose_it_is(proxy: Proxy, path: str, more: dict[str, Any]) -> None:
    body = _request(path, ["Keep the key."]) | more
    answer = httpx2.post(
        f"{proxy.address}/v1/{path}",
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    if any(HALF in value for name, value in more.get("metadata", {}).items() if name.startswith("recollect_")):
        assert answer.status_code == 400, "no namespace and no conversation can be called so"
        assert "is not a namespace" in answer.text or "conversation" in answer.text
        return
    assert answer.status_code == 200, answer.text
    assert "X-Recollect-Degraded" not in answer.headers
    arrived = json.loads(proxy.provider.raw)
    assert all(arrived[key] == value for key, value in more.items() if key != "metadata")
    if answer.headers["X-Recollect-Stored"] == "yes":
        assert answer.headers["X-Recollect-Namespace"]
