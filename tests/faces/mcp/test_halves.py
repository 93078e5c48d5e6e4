"""Half of a pair that stands for one character in a call, and clients that are gone: answered, and ended well."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.faces.mcp.stdio import whole
from tests.faces.mcp.conftest import program
from tests.faces.mcp.test_stdio import _HELLO, _READY, _request, _spoken
from tests.properties import examples

_CALL: dict[str, Any] = {"name": "remember", "arguments": {"text": "Ana \ud83d keeps 🗼 the key \\ud83d."}}
_KEPT = "Ana � keeps 🗼 the key \\ud83d."


@settings(max_examples=examples(200))
@given(st.text(st.sampled_from(["\ud83d", "\udc15", "🐕", "\\", '"', *"ud83a", "\n"]), max_size=12))
def test_halves_are_replaced_and_nothing_else(text: str) -> None:
    sent = json.dumps({"text": text}).encode()
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert json.loads(whole(sent))["text"] == expected


def test_a_call_with_half_a_character_is_answered(tmp_path: Path, home: Path) -> None:
    lines = [_HELLO, _READY, _request(2, "tools/call", **_CALL)]
    said, _, code = _spoken(tmp_path / "memory.db", home, lines, 2)
    assert code == 0
    assert {one["id"] for one in said if "id" in one} == {1, 2}
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        assert [hit.best.message.content for hit in memory.search("who keeps the key")] == [_KEPT]


def test_so_it_is_over_http(tmp_path: Path, listening: Callable[..., str]) -> None:
    address = listening(tmp_path / "memory.db")
    answer = httpx2.post(
        f"{address}/mcp",
        content=_request(2, "tools/call", **_CALL),
        headers={"Accept": "application/json, text/event-stream", "Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        assert [hit.best.message.content for hit in memory.search("who keeps the key")] == [_KEPT]


def test_a_client_that_listens_no_more_is_no_fault(tmp_path: Path, home: Path) -> None:
    parameters = program(tmp_path / "memory.db", home)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([parameters.command, *parameters.args], env=parameters.env, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(f"{_HELLO}\n{_READY}\n".encode())
        process.stdin.flush()
        _, logged = process.communicate(timeout=30)
    assert process.returncode == 0
    assert b"went wrong" not in logged
