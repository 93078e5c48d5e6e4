"""The server over standard input and output, as clients start it: one process a client, several on one store."""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError
from starlette.types import Message, Receive

from recollect.faces.mcp.server import Context, build_server
from recollect.faces.mcp.tools.base import ResourceLinks
from recollect.memory import Memory

_HIGH, _LOW = rb"u[dD][89aAbB][0-9a-fA-F]{2}", rb"u[dD][c-fC-F][0-9a-fA-F]{2}"
#: What a backslash begins: both halves, one alone, or anything else.
_ESCAPE = re.compile(rb"\\(?:" + _HIGH + rb"\\" + _LOW + rb"|(" + _HIGH + rb"|" + _LOW + rb")|.)", re.DOTALL)


def whole(text: bytes) -> bytes:
    r"""JSON without escapes of halves.

    >>> whole(rb'"\ud83d and \ud83d\udc15"')
    b'"\\ufffd and \\ud83d\\udc15"'
    """
    if b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)


class Incoming:
    """The messages of a client, as the SDK reads them from a stream; those that it could not read for halves, too."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Incoming:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *problem: Any) -> bool | None:
        left: bool | None = await self._stream.__aexit__(*problem)
        return left

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _read_again(await self._stream.__anext__())

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        return _read_again(await self._stream.receive())


def _read_again(item: SessionMessage | Exception) -> SessionMessage | Exception:
    """The message, where halves were all that was wrong with it."""
    if not isinstance(item, ValidationError):
        return item
    line = next((error["input"] for error in item.errors(include_url=False) if error["type"] == "json_invalid"), None)
    if not isinstance(line, str):
        return item
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(whole(line.encode()), by_name=False))
    except ValueError:
        return item


def received_whole(receive: Receive) -> Receive:
    """The same for the body of a request."""
    parts: list[bytes] = []
    is_read = False

    async def received() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        while (message := await receive())["type"] == "http.request":
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                is_read = True
                return {**message, "body": whole(b"".join(parts))}
        is_read = True
        return message

    return received


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
