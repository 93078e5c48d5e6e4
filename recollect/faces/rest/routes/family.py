"""What all families of routes share."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from recollect.faces.http.once import WrittenOnce

#: How many are given.
Limit = Annotated[int, Query(ge=1, le=1000, description="How many are given.")]

#: Several of a name: `?source=claude&source=chatgpt`.
Several = Annotated[list[str] | None, Query(description="May be repeated.")]

WHEN = "2025-03, 2025-03-14, last spring …"
Since = Annotated[str | None, Query(description=f"From then on: {WHEN}", examples=["2025-03"])]
Until = Annotated[str | None, Query(description="Includes the day, month or year that it names.")]
Before = Annotated[str | None, Query(description="Does not.")]


def family(name: str) -> APIRouter:
    """A router whose writes are done once for each key."""
    return APIRouter(tags=[name], route_class=WrittenOnce)


def calls(*names: str) -> dict[str, Any]:
    """The calls of `Memory` that a route makes, where these are not its own name alone."""
    return {"x-calls": list(names)}
