"""What was put into a request can be looked up: by ids, the newest of a namespace, without what was forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import recollect
from recollect.ingest.requested import MOST, Given, Requested, keep
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.record import NodeId, utc_now
from tests.coherent import assert_coherent


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


def asked(memory: Memory, text: str = "Which pot?", **about: str) -> None:
    memory.integration.record_request("mcp", memory.prepare_context(text).parts, text=text, **about)


def test_the_newest_is_told_first_with_parts_tokens_and_ids(memory: Memory) -> None:
    said = memory.store_message("The spare key is under the third pot.", conversation_id="Pots")
    context = memory.prepare_context("Which pot?")
    asked(memory, "Which pot?")
    memory.integration.record_request("proxy", context.parts, conversation_id="Pots", message_id=said.id)
    newest, before = memory.integration.requests()
    assert (newest.by, newest.conversation_id, newest.message_id) == ("proxy", "Pots", said.id)
    assert newest.text == said.content
    assert (before.by, before.conversation_id, before.message_id, before.text) == ("mcp", None, None, "Which pot?")
    part = next(part for part in newest.parts if said.id in part.ids)
    assert part.tokens == next(one.tokens for one in context.parts if one.name == part.name)
    assert newest.tokens == sum(part.tokens for part in context.parts if part.name not in ("guide", "asked"))
    assert_coherent(memory)


def test_it_is_bounded(memory: Memory) -> None:
    memory.store_message("The tide comes at six.")
    now = utc_now()
    for number in range(MOST + 7):
        at = now + timedelta(seconds=number)
        keep(memory.handle.space, Requested(at=at, by="mcp", parts=(Given("facts", number),)))
    found = memory.integration.requests(1_000)
    assert [one.tokens for one in found] == list(range(MOST + 6, 6, -1))
    assert_coherent(memory)


def test_what_is_forgotten_leaves_it(memory: Memory) -> None:
    first = memory.store_message("The spare key is under the third pot.", conversation_id="Pots")
    other = memory.store_message("The pot on the left is blue.", conversation_id="Blue")
    asked(memory, "Where is the spare key, under the third pot?")
    context = memory.prepare_context("Which pot?")
    memory.integration.record_request("proxy", context.parts, message_id=other.id)
    memory.integration.record_request("proxy", [Given("relevant", 9, (other.id,))], message_id=other.id)
    memory.forget(first.id)
    (left,) = memory.integration.requests()
    assert left.ids == [other.id]
    with memory.handle.space.view() as view:
        assert not view.get(recollect.record.Message, [first.id])[0].content
    asked(memory)
    assert len(memory.integration.requests()) == 2, "its place is taken again"


def test_namespaces_know_nothing_of_each_other(memory: Memory) -> None:
    memory.store_message("The tide comes at six.")
    asked(memory)
    assert memory.beside("other").integration.requests() == []


def test_nothing_is_recorded_while_recording_is_paused(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.store_message("The tide comes at six.")
    Recording.own().pause()
    asked(memory)
    assert memory.integration.requests() == []
    Recording.own().resume()
    monkeypatch.setenv("RECOLLECT_RECORD", "no")
    asked(memory)
    assert memory.integration.requests() == []


def test_no_secret_is_kept_with_it(memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    memory.store_message("The tide comes at six.")
    asked(memory, f"What was the tide, token {secret}?")
    assert secret not in memory.integration.requests()[0].text


@pytest.mark.parametrize("before", ["postgres://app:", "password: ", "OPENAI_API_KEY=sk-proj-"])
def test_nothing_of_a_secret_is_told_where_a_text_is_cut(memory: Memory, before: str) -> None:
    secret = "q8Zr2kLm9TtVw3XyA1b2C3d4E5f6G7h8"
    told = [
        memory.store_message(f"{'so it is ' * 20}"[:at] + f" {before}{secret}@db.internal, and more").id
        for at in range(80, 116)
    ]
    memory.integration.record_request("mcp", [Given("relevant", 9, tuple(told))])
    (request,) = memory.integration.requests()
    assert len(request.items) == len(told)
    assert not [item.text for item in request.items.values() if secret[:3] in item.text]


def test_a_deleted_message_stays_named(memory: Memory) -> None:
    said = memory.store_message("The tide comes at six.", conversation_id="Sea")
    memory.integration.record_request("chat", [Given("relevant", 9, (said.id, NodeId("GONE")))])
    assert memory.integration.requests()[0].items[said.id].is_used
    memory.delete(said.id)
    (request,) = memory.integration.requests()
    assert request.ids == [said.id]
    assert not request.items[said.id].is_used
