"""The application: what the faces answer, behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from starlette.middleware.body_limit import RequestBodyLimitMiddleware

from recollect.faces import proxy, rest, web
from recollect.faces.http.received import sweep
from recollect.faces.http.scope import Memories, Served
from recollect.faces.mcp import http as mcp
from recollect.faces.rest import openapi
from recollect.faces.server.guard import Guard, install
from recollect.version import VERSION

_THREADS = 64  # in which memories are read and written
_MOST_BODY = 2_000_000  # bytes; who takes more says so by its route

#: What FastAPI would tell of its own accord, were an exporter set up in the environment: nothing.
_SILENT = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}

#: What all applications of a process share: FastAPI works out each route at the first request, which takes a while.
_faces = APIRouter()
for _face in (rest, proxy, mcp, web):
    _faces.include_router(_face.router)


def build(memories: Memories, served: Served) -> FastAPI:
    """The application over these memories, which are closed when it shuts down."""
    app = FastAPI(
        title="Recollect",
        version=VERSION,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        routes=_faces.routes,
        lifespan=_lifespan,
        telemetry=_SILENT,  # type: ignore[arg-type]
    )
    app.state.memories, app.state.served = memories, served
    install(app)
    openapi.install(app, asks_token=bool(served.all_tokens))
    app.add_middleware(RequestBodyLimitMiddleware, max_body_size=_MOST_BODY)
    app.add_middleware(Guard, served=served)  # around the other, whose refusals it tells
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[Mapping[str, Any]]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    async with AsyncExitStack() as stack:
        stack.push_async_callback(anyio.to_thread.run_sync, app.state.memories.close)
        await anyio.to_thread.run_sync(sweep, app.state.served.places.data)
        async with _faces.lifespan_context(app) as state:
            yield state or {}
