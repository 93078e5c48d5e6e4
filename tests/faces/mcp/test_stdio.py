"""`recollect mcp` as clients start it: over standard input and output, several at once on one store."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import recollect
from tests.faces.mcp.conftest import MODES, of_program, program
from tests.faces.terminal import on_a_terminal

pytestmark = pytest.mark.slow

_SAID = "Grüße aus 東京 🗼: naïve café, مرحبا"


@pytest.mark.parametrize("mode", MODES)
def test_a_client_starts_it_and_uses_it(derived_store: Path, home: Path, mode: str) -> None:
    async def use(client: Client) -> Any:
        assert client.server_info is not None
        assert client.server_info.name == "recollect"
        assert len((await client.list_tools()).tools) == 7
        return await client.call_tool("search", {"query": "which wave forecast should I pay for"})

    found = of_program(program(derived_store, home), use, mode=mode)
    first = found.structured_content["results"][0]
    assert first["title"] == "Which wave forecast API"
    assert first["url"] == f"recollect://message/{first['id']}"


def test_options_choose_the_tools_and_the_namespace(tmp_path: Path, home: Path) -> None:
    store = tmp_path / "memory.db"

    async def use(client: Client) -> tuple[int, str]:
        tools = (await client.list_tools()).tools
        kept = await client.call_tool("store_fact", {"content": "Rex is a dog."})
        return len(tools), kept.meta["recollect/namespace"]

    assert of_program(program(store, home, "--tools", "all", "--namespace", "acme/rex"), use) == (21, "acme/rex")
    with recollect.open(store, namespace="acme/rex", background=False) as memory:
        assert [fact.content for fact in memory.facts()] == ["Rex is a dog."]


@pytest.mark.parametrize("locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, {}])
def test_every_script_passes_whatever_the_locale(tmp_path: Path, home: Path, locale: dict[str, str]) -> None:
    async def use(client: Client) -> str:
        kept = await client.call_tool("remember", {"text": _SAID})
        found = await client.call_tool("fetch", {"id": kept.structured_content["id"]})
        return str(found.structured_content["text"])

    assert _SAID in of_program(program(tmp_path / "memory.db", home, **locale), use)


def _spoken(store: Path, home: Path, lines: list[str], answers: int, **environment: str) -> tuple[list[Any], str, int]:
    """What it writes to its two outputs until it has given so many answers and its input ends; and how it ends."""
    parameters = program(store, home, **environment)
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        [parameters.command, *parameters.args], env=parameters.env, encoding="utf-8", **streams
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()
        said: list[Any] = []
        while sum("id" in one for one in said) < answers:
            said.append(json.loads(process.stdout.readline()))
        out, err = process.communicate(timeout=60)
    return [*said, *map(json.loads, out.splitlines())], err, process.returncode


def _request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


_HELLO = _request(
    1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"}
)
_READY = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def test_nothing_but_the_protocol_reaches_standard_output(tmp_path: Path, home: Path) -> None:
    """With all logs on, calls that fail, and lines that are no protocol."""
    (site := tmp_path / "site").mkdir()
    (site / "sitecustomize.py").write_text("import logging; logging.basicConfig(level=logging.DEBUG)\n")
    lines = [
        _HELLO,
        _READY,
        _request(2, "tools/call", name="remember", arguments={"text": "Ana keeps the key."}),
        _request(3, "tools/call", name="nothing", arguments={}),
        "this is no JSON",
        _request(4, "nothing/at_all"),
    ]
    path = os.pathsep.join([str(site), str(Path(recollect.__file__).parents[1])])
    said, logged, code = _spoken(tmp_path / "memory.db", home, lines, 4, PYTHONPATH=path)
    assert code == 0, "it ends when its input does"
    assert all(one["jsonrpc"] == "2.0" for one in said)
    assert {one["id"] for one in said if "id" in one} == {1, 2, 3, 4}
    assert "DEBUG" in logged
    assert "Ana keeps the key" not in logged


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_loses_nothing(tmp_path: Path, home: Path, number: signal.Signals) -> None:
    parameters = program(tmp_path / "memory.db", home)
    with subprocess.Popen(
        [parameters.command, *parameters.args], env=parameters.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        remember = _request(2, "tools/call", name="remember", arguments={"text": "Ana keeps the key."})
        process.stdin.write(f"{_HELLO}\n{_READY}\n{remember}\n".encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(number)
        assert process.wait(20) == (0 if number == signal.SIGTERM else 130)
    assert {answer["id"] for answer in answers} == {1, 2}
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        assert len(memory.search("who keeps the key")) == 1


def test_several_clients_share_one_store(tmp_path: Path, home: Path) -> None:
    """Three programs write at the same time; each finds what the others wrote."""
    store, many = tmp_path / "memory.db", 8
    recollect.open(store, background=False).close()
    wrote = threading.Barrier(3)

    async def use(client: Client, own: int) -> list[bool]:
        for number in range(many):
            kept = await client.call_tool("remember", {"text": f"Client {own} keeps note number {number}."})
            assert not kept.is_error, kept.content
        await asyncio.to_thread(wrote.wait, 60)
        found = []
        for other in range(3):
            answer = await client.call_tool("search", {"query": f'"Client {other} keeps note number {many - 1}"'})
            found.append(bool(answer.structured_content["results"]))
        return found

    async def one(own: int) -> list[bool]:
        async with Client(program(store, home), read_timeout_seconds=90) as client:
            return await use(client, own)

    async def all_of_them() -> list[list[bool]]:
        return await asyncio.gather(*(one(own) for own in range(3)))

    assert asyncio.run(all_of_them()) == [[True] * 3] * 3
    with recollect.open(store, background=False) as memory:
        assert memory.upkeep.stats().messages == 3 * many
        assert not memory.upkeep.check()


def test_it_says_what_it_waits_for_where_a_person_starts_it(tmp_path: Path, home: Path) -> None:
    environment = {**os.environ, "RECOLLECT_STORE": str(tmp_path / "memory.db")}
    shown = " ".join(on_a_terminal(["mcp"], environment, typed="\x04").split())  # wherever it is wrapped
    assert "Waiting for an MCP client on standard input. To set one up: recollect mcp install" in shown


def test_a_key_that_is_merely_there_is_not_used(tmp_path: Path, home: Path) -> None:
    said, err, _ = _spoken(tmp_path / "memory.db", home, [_HELLO, _READY], 1, ANTHROPIC_API_KEY="key")
    assert len(said) == 1
    assert "ANTHROPIC_API_KEY is not used unasked." in err
    model = "openai:test@http://127.0.0.1:9/v1"
    _, err, _ = _spoken(tmp_path / "memory.db", home, [_HELLO, _READY], 1, RECOLLECT_MODEL=model)
    assert "Sending what clients ask and the messages found to 127.0.0.1:9 (test)." in err
