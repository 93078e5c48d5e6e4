"""Whose memory a request is about: it says so, else it is the server's own namespace."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Query, Request

from recollect.errors import NotAllowed
from recollect.faces.http.memories import Memories
from recollect.faces.http.served import Served
from recollect.memory import Memory
from recollect.record import NAMESPACE_FORM, NAMESPACE_LENGTH
from recollect.record import namespace as checked
from recollect.text.clean import header_text

HEADER = "X-Recollect-Namespace"
#: One that is empty is as one that is not named.
_FORM: dict[str, Any] = {"pattern": f"^$|{NAMESPACE_FORM}", "maxLength": NAMESPACE_LENGTH}
REACH = "recollect.reach"  #: in the scope of a request: the namespaces that it may reach, none for all


def memories(request: Request) -> Memories:
    """Those of the server that the request may reach."""
    found: Memories = request.app.state.memories
    return found.within(reach(request))


def reach(request: Request) -> tuple[str, ...]:
    """The namespaces of the token that the request shows; empty where it may reach all."""
    found: tuple[str, ...] = request.scope.get(REACH, ())
    return found


def served(request: Request) -> Served:
    """How the server is reached."""
    found: Served = request.app.state.served
    return found


def memory(
    request: Request,
    named: Annotated[
        str | None,
        Header(alias=HEADER, description="The namespace; it may hold slashes.", json_schema_extra=_FORM),
    ] = None,
    namespace: Annotated[
        str | None, Query(description="The same, where no header can be set.", json_schema_extra=_FORM)
    ] = None,
) -> Memory:
    """The memory that the request is about. Raises InvalidInput, NotAllowed."""
    if named and namespace:
        checked(namespace)
    return memories(request).of(asked_namespace(request))


def asked_namespace(request: Request) -> str | None:
    """The namespace that a request names."""
    return header_text(request.headers.get(HEADER, "")) or request.query_params.get("namespace")


def whole_store(request: Request) -> None:
    """For routes that are about more than a namespace. Raises NotAllowed for the token of one."""
    if reach(request):
        raise NotAllowed("This is not for the token of a namespace.", hint="Ask whoever runs the server.")


def who_may_name_files(request: Request) -> None:
    """For routes that read or write files of the server's machine by their path. Without a token every account of the
    machine may ask, and would reach files with the rights of who started the server. Raises HTTPException, NotAllowed.
    """
    whole_store(request)
    if not served(request).token:
        raise HTTPException(
            403,
            "Files of the server's machine are named only to a server that asks for a token: recollect serve --token. "
            "An export can be sent instead: POST /api/v1/imports/upload.",
        )


#: The dependency of routes about the whole store.
WHOLE_STORE = Depends(whole_store)

#: The dependency of routes that take paths.
NAMES_FILES = Depends(who_may_name_files)

#: What handlers take: `def search(memory: Scoped, …)`.
Scoped = Annotated[Memory, Depends(memory)]
AllMemories = Annotated[Memories, Depends(memories)]
ServedHere = Annotated[Served, Depends(served)]
