"""Calls of a client, done in threads: the memory waits for disks and models, the server for nobody."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import BaseModel

from recollect.answer.tools.base import read_arguments
from recollect.errors import RecollectError
from recollect.faces.mcp.links import ResourceLinks
from recollect.faces.mcp.tools.base import ServerCall, ServerReply, ServerTool
from recollect.memory import Memory

_AT_ONCE = 32  # calls that are worked on; further ones wait
_NAMESPACE = "recollect/namespace"

_log = logging.getLogger("recollect.mcp")

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

#: Whose memory a request is about, and how what is in it is addressed.
Scope = Callable[[Context], tuple[Memory, ResourceLinks]]
#: What a client may be told of an error.
Public = Callable[[RecollectError], RecollectError]


class CallHandler:
    """Does what clients ask of a memory."""

    def __init__(self, scope: Scope, tools: tuple[ServerTool, ...], public: Public) -> None:
        self._scope, self._public = scope, public
        self._tools = {tool.name: tool for tool in tools}
        self._threads = anyio.CapacityLimiter(_AT_ONCE)

    async def tool(self, context: Context, name: str, arguments: Mapping[str, Any] | None) -> CallToolResult:
        """Calls a tool. What is wrong with a call is an answer that says what would be right, for the model to read;
        a tool that is not there is an error of the client, and raises MCPError.
        """
        tool = self._tools.get(name)
        if tool is None:
            near = get_close_matches(name, self._tools, 1, 0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise MCPError(INVALID_PARAMS, f"There is no tool {name[:80]!r}.{meant}")
        try:
            given = read_arguments(tool.arguments, arguments)
            called = partial(_called, tool, given, _client_of(context), frozenset(self._tools), _teller(context))
            return await self._in_thread(context, called)
        except RecollectError as problem:
            return _answer(ServerReply(f"{tool.name}: {self._public(problem)}", is_error=True))
        except MCPError:
            raise
        except Exception as bug:
            _log.exception("The tool %s failed", tool.name)
            text = f"{tool.name}: something went wrong inside Recollect ({type(bug).__name__})."
            return _answer(ServerReply(text, is_error=True))

    async def read(self, context: Context, reading: Callable[[Memory, ResourceLinks], T]) -> T:
        """What a reading of the memory gives. Raises MCPError."""
        try:
            return await self._in_thread(context, lambda memory, links: _discreet(reading(memory, links), memory))
        except RecollectError as problem:
            told = self._public(problem)
            raise MCPError(INVALID_PARAMS, str(told), {"code": told.code, "hint": told.hint}) from problem
        except MCPError:
            raise
        except Exception as bug:
            _log.exception("A request failed: %s", context.method)
            raise MCPError(INTERNAL_ERROR, f"Something went wrong inside Recollect ({type(bug).__name__}).") from bug

    async def _in_thread(self, context: Context, work: Callable[[Memory, ResourceLinks], T]) -> T:
        def done() -> T:
            memory, links = self._scope(context)
            try:
                return work(memory, links)
            except RecollectError as problem:  # it may quote what was asked, titles and names
                problem.message, problem.hint = memory.integration.masked((problem.message, problem.hint))
                raise

        return await anyio.to_thread.run_sync(done, abandon_on_cancel=True, limiter=self._threads)


def _called(
    tool: ServerTool,
    given: Mapping[str, Any],
    client: str,
    offers: frozenset[str],
    tell: Callable[[str], None],
    memory: Memory,
    links: ResourceLinks,
) -> CallToolResult:
    call = ServerCall(memory, links, lambda step: tell(memory.integration.masked(step)), client, offers)
    return _answer(tool.run(call, **given).masked(memory.integration.masked), str(memory.namespace))


def _discreet(found: T, memory: Memory) -> T:
    """What was read, without secrets: models of pydantic, alone or in lists and tuples, and texts."""
    if isinstance(found, BaseModel):
        plain = found.model_dump()
        masked = memory.integration.masked(plain)
        return found if masked == plain else type(found).model_validate(masked)
    if isinstance(found, list | tuple):
        return type(found)(_discreet(one, memory) for one in found)
    return memory.integration.masked(found)


def _answer(reply: ServerReply, namespace: str = "") -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=reply.text)],
        structured_content=None if reply.structured is None else dict(reply.structured),
        is_error=reply.is_error,
        _meta={_NAMESPACE: namespace} if namespace else None,
    )


def _teller(context: Context) -> Callable[[str], None]:
    """Reports steps to a client that asked for progress; one that is gone is told nothing."""
    told = 0

    def tell(step: str) -> None:
        nonlocal told
        told += 1
        try:
            anyio.from_thread.run(context.session.report_progress, float(told), None, step)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, RuntimeError):
            _log.debug("Nobody waits for progress any more")

    return tell


def _client_of(context: Context) -> str:
    """What the client calls itself."""
    params = context.session.client_params
    return params.client_info.name[:80] if params is not None and params.client_info is not None else ""
