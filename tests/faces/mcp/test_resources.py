"""Resources, prompts and completions."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from recollect.memory import Memory
from tests.faces.mcp.conftest import MODES, ask

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("mode", MODES)
def test_every_conversation_is_listed_once_and_can_be_read(known: Memory, mode: str) -> None:
    async def listed(client: Client) -> list[Any]:
        found, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += page.resources
            cursor = page.next_cursor
            if cursor is None:
                return found

    resources = ask(known, listed, mode=mode)
    addresses = [resource.uri for resource in resources]
    assert len(set(addresses)) == len(addresses)
    there = {row.conversation.id for row in known.conversations(limit=1_000)}
    assert {a.rpartition("/")[2] for a in addresses if "//conversation/" in a} == there
    assert {a.rpartition("/")[2] for a in addresses if "//summary/" in a} <= there

    async def read(client: Client) -> tuple[str, str]:
        conversation = next(r for r in resources if r.title == "Which wave forecast API")
        summary = next(r for r in resources if r.title == "Which wave forecast API: summary")
        texts = [(await client.read_resource(one.uri)).contents[0].text for one in (conversation, summary)]  # type: ignore[union-attr]
        return texts[0], texts[1]

    transcript, summary = ask(known, read, mode=mode)
    assert transcript.startswith('<recollect-context tool="resource" namespace="default">\n# Which wave forecast API\n')
    assert "## user, 2023-06-27 13:50" in transcript
    assert "## conversation, 2023-06-27" in summary


def test_messages_documents_and_times_can_be_read(known: Memory) -> None:
    found = known.toolbox().vector_search("wave forecast", 1)[0]
    month = next(s.period for s in known.summaries(kind="period") if s.period and s.period.startswith("month"))

    async def read(client: Client) -> list[str]:
        assert len((await client.list_resource_templates()).resource_templates) == 5
        addresses = [f"recollect://message/{found.id}", f"recollect://period/{month.split()[-1]}"]
        return [(await client.read_resource(one)).contents[0].text for one in addresses]  # type: ignore[union-attr]

    message, period = ask(known, read)
    assert "Open-Meteo" in message
    assert f"# {month.split()[-1]}" in period


@pytest.mark.parametrize("address", ["recollect://message/01JB", "recollect://nothing/x", "file:///etc/passwd", "x"])
def test_what_is_not_there_is_an_error(known: Memory, address: str) -> None:
    async def read(client: Client) -> Any:
        return await client.read_resource(address)

    with pytest.raises(MCPError):
        ask(known, read)


def test_a_long_conversation_is_read_in_parts(fresh: Memory) -> None:
    first = fresh.store_message("Begin.", title="Long")
    words = "A line of a very long protocol.\n\n" * 8_000
    fresh.store_message(words, conversation_id=first.conversation_id)

    async def read(client: Client) -> list[str]:
        parts, address = [], f"recollect://conversation/{first.conversation_id}"
        while address:
            text = (await client.read_resource(address)).contents[0].text  # type: ignore[union-attr]
            parts.append(text)
            address = text.partition("It goes on: ")[2].partition("\n")[0]
        return parts

    parts = ask(fresh, read)
    assert len(parts) > 2
    assert "".join(parts).count("A line of a very long protocol.") == 8_000


@pytest.mark.parametrize("mode", MODES)
def test_prompts_are_filled(known: Memory, mode: str) -> None:
    async def prompts(client: Client) -> dict[str, str]:
        texts = {}
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "wave forecast" for argument in prompt.arguments or ()}
            filled = await client.get_prompt(prompt.name, given)
            texts[prompt.name] = filled.messages[0].content.text  # type: ignore[union-attr]
        return texts

    texts = ask(known, prompts, mode=mode)
    assert set(texts) == {"recall", "catch_up", "decisions", "save_this"}
    assert "Open-Meteo" in texts["recall"], "what the memory holds is put into the chat"
    assert texts["recall"].endswith("wave forecast")
    assert "wave forecast" in texts["decisions"]


@pytest.mark.parametrize(("name", "given"), [("recall", {}), ("recall", {"question": " "}), ("nothing", {})])
def test_a_prompt_says_what_it_needs(known: Memory, name: str, given: dict[str, str]) -> None:
    async def get(client: Client) -> Any:
        return await client.get_prompt(name, given)

    with pytest.raises(MCPError, match=r"needs `question`|There is no prompt"):
        ask(known, get)


def test_names_are_completed(known: Memory) -> None:
    label = known.topics(1)[0].label

    async def complete(client: Client) -> tuple[list[str], list[str], list[str]]:
        topics = await client.complete(PromptReference(name="decisions"), {"name": "topic", "value": label[:4].lower()})
        reference = ResourceTemplateReference(uri="recollect://conversation/{id}")
        ids = await client.complete(reference, {"name": "id", "value": "wave forecast"})
        months = await client.complete(
            ResourceTemplateReference(uri="recollect://period/{name}"), {"name": "name", "value": "2024-0"}
        )
        return topics.completion.values, ids.completion.values, months.completion.values

    topics, ids, months = ask(known, complete)
    assert label in topics
    assert known.resolve("Which wave forecast API")[0].conversation.id in ids
    assert months
    assert all(month.startswith("2024-0") for month in months)


@pytest.mark.parametrize("name", ["%00", "%00%00", "%00A", "a%00", "%25", "%5C"])
@pytest.mark.parametrize("kind", ["conversation", "summary", "message", "document", "period"])
def test_an_address_that_names_nothing_lists_nothing(known: Memory, kind: str, name: str) -> None:
    async def read(client: Client) -> None:
        await client.read_resource(f"recollect://{kind}/{name}")

    with pytest.raises(MCPError) as caught:
        ask(known, read)
    assert "several" not in str(caught.value)
