"""The server over standard input and output, as clients start it: one process a client, several on one store."""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from recollect.faces.mcp.calling import Context
from recollect.faces.mcp.halves import Incoming
from recollect.faces.mcp.links import ResourceLinks
from recollect.faces.mcp.server import build_server
from recollect.memory import Memory

_log = logging.getLogger("recollect.mcp")

_PATIENCE = 5.0  # seconds for what is being written when the client ends us


def serve(memory: Memory, *, tools: str, read_only: bool) -> None:
    """Serves until the client closes our input, or ends us. Nothing but the protocol reaches standard output: the SDK
    turns what else is written there towards standard error, and reads and writes UTF-8 whatever the locale.
    """
    links = ResourceLinks()

    def scope(context: Context) -> tuple[Memory, ResourceLinks]:
        return memory, links

    _end_well(memory)
    try:
        anyio.run(_serve, build_server(scope, tools=tools, read_only=read_only))
    except* BrokenPipeError:
        _log.info("The client listens no more.")


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(Incoming(incoming), outgoing, server.create_initialization_options())


def _end_well(memory: Memory) -> None:
    """Has SIGTERM and SIGINT close the memory and end the process. A thread that waits for input cannot be woken, so
    nothing gentler would end.
    """

    def end(number: int, frame: object) -> None:
        late = threading.Timer(_PATIENCE, os._exit, (128 + number,))
        late.daemon = True
        late.start()
        try:
            memory.close()
        finally:
            os._exit(128 + number if number == signal.SIGINT else 0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
