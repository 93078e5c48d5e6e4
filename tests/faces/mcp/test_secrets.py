"""No tool, resource, prompt or error of the server tells a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from recollect.memory import Memory
from tests.faces.mcp.conftest import ask
from tests.secret_values import GITHUB, OPENAI, parts

pytestmark = pytest.mark.slow


@pytest.fixture
def keeping(fresh: Memory) -> Memory:
    fresh.store_message(
        f"My key for the Peniche server is {OPENAI}, keep it.", conversation_id="C", id="M", title=GITHUB
    )
    fresh.store_message("Noted: it is for the Peniche server.", "assistant", conversation_id="C")
    fresh.store_fact(f"The Peniche server has the key {OPENAI}", "key", entity="Peniche server", value=OPENAI)
    fresh.upkeep.consolidate()
    return fresh


def test_nothing_that_a_client_gets_tells_a_secret(keeping: Memory) -> None:
    async def everything(client: Client) -> list[str]:
        got: list[Any] = []
        for name, arguments in (
            ("search", {"query": "key of the Peniche server"}),
            ("fetch", {"id": "M"}),
            ("fetch", {"id": "C"}),
            ("fetch", {"id": OPENAI}),
            ("context", {"text": "key of the Peniche server"}),
            ("ask", {"question": "what is the key of the Peniche server?"}),
            ("timeline", {}),
            ("search_facts", {"query": "Peniche"}),
            ("get_message_by_id", {"id": "M"}),
            ("search", {"query": "key", "nonsense": OPENAI}),
        ):
            got.append(await client.call_tool(name, arguments))
        listed = (await client.list_resources()).resources
        got.append(listed)
        got += [await client.read_resource(one.uri) for one in listed]
        got += [await client.get_prompt("recall", {"question": "key of the Peniche server"})]
        for one in got[:2]:
            json.loads(one.content[0].text)
        return [repr(one) for one in got]

    shown = ask(keeping, everything, tools="all")
    assert any("Peniche" in one for one in shown)
    for one in shown:
        for secret in (OPENAI[8:], GITHUB[4:]):
            assert not any(part in one for part in parts(secret)), one[:300]


def test_an_address_that_is_a_secret_is_not_repeated_by_the_error(keeping: Memory) -> None:
    async def wrong(client: Client) -> Any:
        return await client.read_resource(f"recollect://conversation/{OPENAI}")

    with pytest.raises(MCPError) as problem:
        ask(keeping, wrong)
    assert OPENAI not in str(problem.value)
