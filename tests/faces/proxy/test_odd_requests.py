"""Requests that no client should send get an answer that says what is wrong."""

from __future__ import annotations

import httpx2
import pytest

from tests.faces.proxy.conftest import Proxy

BODIES = {
    "/v1/chat/completions": '{"model": "m", "messages": [{"role": "user", "content": %s}]}',
    "/v1/responses": '{"model": "m", "input": %s}',
    "/v1/messages": '{"model": "m", "max_tokens": 9, "messages": [], "metadata": %s}',
    "/api/v1/messages": '{"content": "Luna", "metadata": {"deep": %s}}',
    "/api/v1/messages/batch": '{"messages": [{"content": %s}]}',
    "/mcp": '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": %s}}',
}
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream", "x-api-key": "k"}


@pytest.mark.slow
@pytest.mark.parametrize("path", BODIES)
def test_what_is_nested_too_deeply_is_said_to_be(proxy: Proxy, path: str) -> None:
    for depth in (500, 10_000, 200_000):
        if path.startswith("/v1") and depth == 500:
            continue  # it goes on as it is: the provider may take it
        body = BODIES[path] % ("[" * depth + "]" * depth)
        answer = httpx2.post(proxy.address + path, content=body, headers=HEADERS, timeout=60)
        assert answer.status_code == 400
        assert "nested too deeply" in answer.text or "recursion limit" in answer.text
    assert proxy.memory("default").upkeep.stats().messages == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Åsa", "à", "Ünal/名前"])
def test_a_namespace_in_utf_8_is_the_same_on_every_face(proxy: Proxy, name: str) -> None:
    headers = {"X-Recollect-Namespace": name.encode()}
    body = {"content": "The boat is called Tern."}
    assert httpx2.post(f"{proxy.address}/api/v1/messages", json=body, headers=headers, timeout=60).status_code == 201
    assert proxy.memory(name).upkeep.stats().messages == 1
    page = httpx2.get(f"{proxy.address}/search", params={"q": "boat"}, headers=headers, timeout=60)
    assert page.status_code == 200
    assert "Tern" in page.text
    talk = {"model": "m", "messages": [{"role": "user", "content": "What is the boat called?"}]}
    proxied = httpx2.post(f"{proxy.address}/v1/chat/completions", json=talk, headers=headers, timeout=60)
    assert proxied.headers["X-Recollect-Context"] != "0"
