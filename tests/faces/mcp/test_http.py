"""The same over streamable HTTP, behind the guard of `recollect serve`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.faces.mcp.conftest import MODES, connected

pytestmark = pytest.mark.slow

Listening = Callable[..., str]

_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
_ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", MODES)
def test_a_client_uses_it(derived_store: Path, listening: Listening, mode: str) -> None:
    address = listening(derived_store)
    steps: list[str | None] = []

    async def use(client: Client) -> tuple[Any, Any]:
        async def step(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message)

        found = await client.call_tool("search", {"query": "which wave forecast should I pay for"})
        question = {"question": "why did I choose Next.js?"}
        return found, await client.call_tool("ask", question, progress_callback=step)

    found, answer = connected(Client(f"{address}/mcp", mode=mode), use)
    assert found.structured_content["results"][0]["url"].startswith(f"{address}/c/")
    assert answer.structured_content["known"]
    assert len(steps) >= 2


def test_the_address_chooses_the_tools_and_the_namespace(derived_store: Path, listening: Listening) -> None:
    address = listening(derived_store)

    async def tools(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    async def search(client: Client) -> Any:
        return (await client.call_tool("search", {"query": "wave forecast"})).structured_content

    assert len(connected(Client(f"{address}/mcp"), tools)) == 7
    assert len(connected(Client(f"{address}/mcp?tools=all"), tools)) == 21
    assert connected(Client(f"{address}/mcp?read_only"), tools) == ["search", "fetch", "context", "ask", "timeline"]
    elsewhere = connected(Client(f"{address}/mcp?namespace=acme/rex"), search)
    assert elsewhere["namespace"] == "acme/rex"
    assert elsewhere["results"] == []
    wrong = httpx2.post(f"{address}/mcp?tools=some", json=_CALL)
    assert wrong.status_code == 400
    assert wrong.json()["code"] == "invalid_input"


def test_a_header_chooses_the_namespace_for_each_request(tmp_path: Path, listening: Listening) -> None:
    address = listening(tmp_path / "memory.db")

    async def remember(client: Client) -> Any:
        kept = await client.call_tool("remember", {"text": "Rex loves chicken."})
        found = await client.call_tool("search", {"query": "chicken"})
        return kept.structured_content, found.structured_content["results"]

    http = httpx2.AsyncClient(headers={"X-Recollect-Namespace": "acme/rex"}, follow_redirects=True)
    kept, found = connected(Client(streamable_http_client(f"{address}/mcp", http_client=http)), remember)
    assert kept["namespace"] == "acme/rex"
    assert kept["url"].partition("?")[2].startswith("at=")
    assert "namespace=acme%2Frex" in kept["url"]
    assert len(found) == 1

    async def search(client: Client) -> Any:
        return (await client.call_tool("search", {"query": "chicken"})).structured_content["results"]

    assert connected(Client(f"{address}/mcp"), search) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Content-Type": "text/plain"},
    ],
)
def test_pages_and_names_of_others_are_refused(tmp_path: Path, listening: Listening, headers: dict[str, str]) -> None:
    address = listening(tmp_path / "memory.db")
    answer = httpx2.post(f"{address}/mcp", json=_CALL, headers=_ACCEPT | headers)
    assert answer.status_code in (400, 403, 421)
    assert "tools" not in answer.text


def test_a_token_is_asked_for_where_there_is_one(tmp_path: Path, listening: Listening) -> None:
    address = listening(tmp_path / "memory.db", token="s" * 40)
    assert httpx2.post(f"{address}/mcp", json=_CALL, headers=_ACCEPT).status_code == 401

    async def tools(client: Client) -> int:
        return len((await client.list_tools()).tools)

    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {'s' * 40}"})
    assert connected(Client(streamable_http_client(f"{address}/mcp", http_client=http)), tools) == 7


def test_only_requests_are_answered(tmp_path: Path, listening: Listening) -> None:
    """A stream that is left open for what never comes would keep the server from ending."""
    address = listening(tmp_path / "memory.db")
    for method in ("GET", "DELETE", "PUT"):
        answer = httpx2.request(method, f"{address}/mcp", headers={"Accept": "text/event-stream"})
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "POST"
        assert "recollect mcp install" in answer.json()["hint"]


def test_many_clients_at_once(tmp_path: Path, listening: Listening) -> None:
    address, many = listening(tmp_path / "memory.db"), 12

    async def one(own: int) -> bool:
        async with Client(f"{address}/mcp", mode=MODES[own % 2], read_timeout_seconds=60) as client:
            kept = await client.call_tool("remember", {"text": f"Client {own} was here."})
            found = await client.call_tool("fetch", {"id": kept.structured_content["id"]})
            return f"Client {own} was here." in found.structured_content["text"]

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(one(own) for own in range(many)))

    assert asyncio.run(all_of_them()) == [True] * many
