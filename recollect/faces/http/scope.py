"""Whose memory a request is about: it says so, else it is the server's own namespace."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, HTTPException, Query, Request

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


def who_may_name_files(request: Request) -> None:
    """For routes that read or write files of the server's machine by their path. Without a token every account of the
    machine may ask, and would reach files with the rights of who started the server. Raises HTTPException.
    """
    if not served(request).token:
        raise HTTPException(
            403,
            "Files of the server's machine are named only to a server that asks for a token: recollect serve --token. "
            "An export can be sent instead: POST /api/v1/imports/upload.",
        )


#: The dependency of routes that take paths.
NAMES_FILES = Depends(who_may_name_files)

#: What handlers take: `def search(memory: Scoped, …)`.
Scoped = Annotated[Memory, Depends(memory)]
AllMemories = Annotated[Memories, Depends(memories)]
ServedHere = Annotated[Served, Depends(served)]
