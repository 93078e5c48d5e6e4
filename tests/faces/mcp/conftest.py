"""A consolidated sample archive behind the server, and clients of the SDK."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

import recollect
from recollect.faces.mcp.server import build_server
from recollect.faces.mcp.tools.base import ResourceLinks
from recollect.memory import Memory

#: Both eras of the protocol: a handshake (to 2025-11-25), and each request for itself (from 2026-07-28).
MODES = ("legacy", "auto")

T = TypeVar("T")
Asked = Callable[[Client], Awaitable[T]]


@pytest.fixture(scope="session")
def known(derived_store: Path) -> Iterator[Memory]:
    """A handle on it."""
    with recollect.open(derived_store, durable=False, background=False) as memory:
        yield memory


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Memory]:
    """An empty memory, to write to."""
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


def ask(memory: Memory, asked: Asked[T], *, mode: str = "auto", base: str = "", **options: Any) -> T:
    """What a client gets of a server in this process."""

    server = build_server(lambda context: (memory, ResourceLinks(base)), **options)
    return connected(Client(server, mode=mode), asked)


def connected(client: Client, asked: Asked[T]) -> T:
    """What a client gets. An error is raised as it is, out of the groups in which the client's tasks wrap it."""

    async def run() -> T | MCPError:
        async with client as connection:
            try:
                return await asked(connection)
            except MCPError as problem:
                return problem

    result = asyncio.run(run())
    if isinstance(result, MCPError):
        raise result
    return result


def program(store: Path, home: Path, *arguments: str, **environment: str) -> StdioServerParameters:
    """`recollect mcp` as a client starts it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollect", "mcp", "--store", str(store), *arguments],
        env={**os.environ, "RECOLLECT_HOME": str(home), "RECOLLECT_BACKGROUND": "0", **environment},
    )


def of_program(parameters: StdioServerParameters, asked: Asked[T], *, mode: str = "auto") -> T:
    """What a client gets of it over standard input and output."""

    return connected(Client(parameters, mode=mode, read_timeout_seconds=60), asked)


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a server on a free port of the loopback: `listening(memory, token="")` gives its address."""
    from recollect.faces.http.scope import Memories, Served
    from recollect.faces.server.app import build
    from recollect.faces.server.server import HttpServer, listen
    from recollect.memory.settings import load_settings, places

    started: list[tuple[Any, threading.Thread]] = []

    def start(store: Path, **options: Any) -> str:
        memory = recollect.open(store, durable=False, background=False)
        where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
        socket = listen("127.0.0.1", 0)
        served = Served(load_settings(environment={}, where=where), where, port=socket.getsockname()[1], **options)
        up = threading.Event()
        server = HttpServer(build(Memories(memory), served), up.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
        thread.start()
        assert up.wait(30)
        started.append((server, thread))
        return served.address

    yield start
    for server, thread in started:
        server.should_exit = True
        thread.join(30)


def texts(results: Sequence[Any]) -> str:
    """The words of content blocks."""
    return "\n".join(block.text for block in results)
