"""Whose memory a request is about: it says so, else it is the server's own namespace."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Query, Request

from recollect.faces.http.memories import Memories
from recollect.faces.http.served import Served
from recollect.memory import Memory

HEADER = "X-Recollect-Namespace"


def memories(request: Request) -> Memories:
    """Those of the server."""
    found: Memories = request.app.state.memories
    return found


def served(request: Request) -> Served:
    """How the server is reached."""
    found: Served = request.app.state.served
    return found


def memory(
    request: Request,
    named: Annotated[str | None, Header(alias=HEADER, description="The namespace; it may hold slashes.")] = None,
    namespace: Annotated[str | None, Query(description="The same, where no header can be set.")] = None,
) -> Memory:
    """The memory that the request is about. Raises InvalidInput."""
    return memories(request).of(named or namespace)


#: What handlers take: `def search(memory: Scoped, …)`.
Scoped = Annotated[Memory, Depends(memory)]
AllMemories = Annotated[Memories, Depends(memories)]
ServedHere = Annotated[Served, Depends(served)]
