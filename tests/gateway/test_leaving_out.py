"""What is said while recording is paused, or is marked as not to be recorded: it is answered from the memory, and
stays out when the client sends it again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.gateway.exchange import Endless, ProxiedExchange
from recollect.gateway.wires import COMPLETIONS
from recollect.memory import Memory
from recollect.memory.recording import Recording
from recollect.record import Kind

UNNAMED = {"x-recollect-namespace": "default"}
NAMED = UNNAMED | {"x-recollect-conversation": "garden"}
SECRET = "This is nobody's business."


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path / "recording.db")


@pytest.fixture
def endless(memory: Memory, recording: Recording) -> Endless:
    return Endless(lambda _: memory, recording=recording)


class Client:
    """Sends all that was said with each question, as most do."""

    def __init__(self, endless: Endless, headers: dict[str, str]) -> None:
        self.endless, self.headers = endless, headers
        self.said: list[dict[str, Any]] = []

    def asks(
        self, text: str, answer: str, calls: list[dict[str, Any]] | None = None, **headers: str
    ) -> ProxiedExchange:
        return self.sends({"role": "user", "content": text}, answer, calls, **headers)

    def sends(
        self, line: dict[str, Any], answer: str, calls: list[dict[str, Any]] | None = None, **headers: str
    ) -> ProxiedExchange:
        self.said.append(line)
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        exchange = self.endless.begin(COMPLETIONS, {"messages": self.said, "model": "m"}, self.headers | told)
        message = {"role": "assistant", "content": answer} | ({"tool_calls": calls} if calls else {})
        exchange.hear_whole({"id": "a", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        exchange.keep()
        assert not exchange.degraded
        self.said.append(message)
        return exchange


def kept(memory: Memory) -> list[str]:
    rows = [memory.conversation(row.conversation.id) for row in memory.conversations()]
    return [m.content for thread in rows for m in thread.messages if m.kind is Kind.SAID]


@pytest.mark.parametrize("headers", [UNNAMED, NAMED])
def test_what_is_said_in_a_pause_stays_out_though_the_talk_goes_on(
    memory: Memory, recording: Recording, endless: Endless, headers: dict[str, str]
) -> None:
    client = Client(endless, headers)
    client.asks("Does it rain in Porto?", "It pours.")
    recording.pause()
    assert client.asks(SECRET, "I see: nobody's.").headers["X-Recollect-Stored"] == "no"
    client.asks("More of that.", "No more of nobody's.")
    recording.resume()
    client.endless = Endless(lambda _: memory, recording=recording)  # after a restart as well
    assert client.asks("And in Faro?", "It shines.").headers["X-Recollect-Stored"] == "yes"
    client.asks("And in Braga?", "It drips.")
    assert kept(memory) == [
        "Does it rain in Porto?", "It pours.", "And in Faro?", "It shines.", "And in Braga?", "It drips."
    ]  # fmt: skip


@pytest.mark.parametrize("headers", [UNNAMED, NAMED])
def test_a_talk_that_began_in_a_pause_is_recorded_from_its_end_on(
    memory: Memory, recording: Recording, endless: Endless, headers: dict[str, str]
) -> None:
    recording.pause()
    client = Client(endless, headers)
    client.asks(SECRET, "I see: nobody's.")
    recording.resume()
    client.asks("Does it rain in Porto?", "It pours.")
    assert kept(memory) == ["Does it rain in Porto?", "It pours."]


def test_what_a_tool_finds_for_a_question_of_a_pause_stays_out_with_it(
    memory: Memory, recording: Recording, endless: Endless
) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "nobody"}'}}
    recording.pause()
    client = Client(endless, UNNAMED)
    client.asks(SECRET, "", [call])
    recording.resume()
    client.sends({"role": "tool", "tool_call_id": "call_1", "content": "nobody's numbers"}, "They are nobody's.")
    client.asks("Does it rain in Porto?", "It pours.")
    assert kept(memory) == ["Does it rain in Porto?", "It pours."]
    [row] = memory.conversations()
    assert "nobody" not in str(memory.conversation(row.conversation.id))


def test_an_answer_that_comes_when_it_is_paused_is_not_recorded(
    memory: Memory, recording: Recording, endless: Endless
) -> None:
    exchange = endless.begin(COMPLETIONS, {"messages": [{"role": "user", "content": SECRET}]}, UNNAMED)
    recording.pause()
    exchange.hear_whole({"choices": [{"index": 0, "message": {"role": "assistant", "content": "I see."}}]})
    exchange.keep()
    assert kept(memory) == []
    assert exchange.headers["X-Recollect-Stored"] == "no"


def test_what_is_marked_stays_out_when_the_mark_is_gone(memory: Memory, endless: Endless) -> None:
    client = Client(endless, UNNAMED)
    client.asks(SECRET, "I see: nobody's.", x_recollect_store="no")
    client.asks("Does it rain in Porto?", "It pours.")
    assert kept(memory) == ["Does it rain in Porto?", "It pours."]


def test_the_variable_keeps_out_what_a_program_says(
    memory: Memory, endless: Endless, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_RECORD", "no")
    Client(endless, UNNAMED).asks(SECRET, "I see: nobody's.")
    assert kept(memory) == []


def test_other_talks_that_begin_alike_are_recorded(memory: Memory, recording: Recording, endless: Endless) -> None:
    recording.pause()
    Client(endless, UNNAMED).asks("Hello", "Hello! Is it about nobody?")
    recording.resume()
    Client(endless, UNNAMED).asks("Hello", "Hello! How may I help?")
    assert kept(memory) == ["Hello", "Hello! How may I help?"]


def test_the_same_asked_again_after_a_pause_is_asked_now(
    memory: Memory, recording: Recording, endless: Endless
) -> None:
    recording.pause()
    Client(endless, NAMED).asks("Yes", "Done.")
    recording.resume()
    Client(endless, NAMED).asks("Yes", "Done again.")
    assert kept(memory) == ["Yes", "Done again."]


def test_a_pause_that_cannot_be_read_is_one(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "recording.db").write_bytes(b"no database" * 100)
    endless = Endless(lambda _: memory, recording=Recording(tmp_path / "recording.db"))
    exchange = endless.begin(COMPLETIONS, {"messages": [{"role": "user", "content": SECRET}]}, UNNAMED)
    exchange.hear_whole({"choices": [{"index": 0, "message": {"role": "assistant", "content": "I see."}}]})
    exchange.keep()
    assert "paused" in exchange.degraded
    assert kept(memory) == []
