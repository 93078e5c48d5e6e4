"""The same server over streamable HTTP, at /mcp of `recollect serve`.

It keeps no sessions: a restart breaks nobody, and any number of clients share what there is. The SDK is loaded beside
the start of the server, which need not wait for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import InvalidInput
from recollect.faces.http.answers import problem, told
from recollect.faces.http.scope import asked_namespace
from recollect.faces.mcp import CORE, SETS, missing_sdk

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from recollect.faces.http.scope import Memories, Served
    from recollect.faces.mcp.server import Context
    from recollect.faces.mcp.tools.base import ResourceLinks
    from recollect.memory import Memory

PATH = "/mcp"

_TRUE = ("1", "true", "yes", "on", "")

#: Which tools, and whether those that write are left out.
_Choice = tuple[str, bool]


class _Endpoint:
    """Passes requests on to the server that the application has at the time."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        served: _Serving = scope["app"].state.mcp
        await served.ready.wait()
        assert served.app is not None
        await served.app(scope, receive, send)


class _Serving:
    """A server once it is loaded."""

    def __init__(self) -> None:
        self.ready = anyio.Event()
        self.app: ASGIApp | None = None

    async def run(self, memories: Memories, served: Served) -> None:
        """Loads the servers and runs them, until it is cancelled. Without the SDK it says so to whoever asks."""
        if (missing := missing_sdk()) is not None:
            self.app = problem(501, missing.message, hint=missing.hint)
            self.ready.set()
            return
        managers = await anyio.to_thread.run_sync(_managers, memories, served)
        async with AsyncExitStack() as stack:
            for manager in managers.values():
                await stack.enter_async_context(manager.run())
            self.app = partial(_pass_on, managers)
            self.ready.set()
            await anyio.sleep_forever()


async def _pass_on(
    managers: dict[_Choice, StreamableHTTPSessionManager], scope: Scope, receive: Receive, send: Send
) -> None:
    """To the server with the tools that the address asks for. Only requests are answered: nothing is ever sent unasked,
    so a stream that a client leaves open for that would only keep the server from ending.
    """
    if scope["method"] != "POST":
        hint = "An MCP client posts to this address: recollect mcp install sets one up."
        refused = problem(405, "There is nothing to read here.", hint=hint, headers={"Allow": "POST"})
        await refused(scope, receive, send)
        return
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    which = query.get("tools", [CORE])[-1]
    read_only = "read_only" in query and query["read_only"][-1].lower() in _TRUE
    if which not in SETS:
        wrong = told(InvalidInput(f"There is no set of tools {which[:40]!r}.", hint=f"Use one of: {', '.join(SETS)}."))
        await wrong(scope, receive, send)
    else:
        from recollect.faces.mcp.stdio import received_whole

        await managers[which, read_only].handle_request(scope, received_whole(receive), send)


def _managers(memories: Memories, served: Served) -> dict[_Choice, StreamableHTTPSessionManager]:
    """A server for each choice of tools, without sessions. The SDK checks Host and Origin once more."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from recollect.faces.http.scope import memories as reached
    from recollect.faces.mcp.server import build_server
    from recollect.faces.mcp.tools.base import ResourceLinks

    def scope(context: Context) -> tuple[Memory, ResourceLinks]:
        request = context.request
        assert request is not None
        named = asked_namespace(request)
        memory = reached(request).of(named)
        apart = "" if memory is memories.main else str(memory.namespace)
        return memory, ResourceLinks(f"{request.url.scheme}://{request.url.netloc}", apart)

    security = TransportSecuritySettings(allowed_hosts=sorted(served.hosts), allowed_origins=sorted(served.origins))
    return {
        (which, read_only): StreamableHTTPSessionManager(
            build_server(scope, tools=which, read_only=read_only, public=served.public),
            stateless=True,
            security_settings=security,
        )
        for which, read_only in product(SETS, (False, True))
    }


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.mcp = serving = _Serving()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serving.run, app.state.memories, app.state.served)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()


router = APIRouter(lifespan=_lifespan)
router.routes.append(Route(PATH, endpoint=_Endpoint(), include_in_schema=False))
