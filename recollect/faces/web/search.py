"""Search: what is remembered of it, typed; the messages, shown, as one types."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import page

router = APIRouter()


@router.get("/search")
def search(request: Request, memory: Scoped, q: str = "") -> Response:
    """Results, grouped by conversation."""
    found = memory.search(q) if q.strip() else None
    return page(request, "search.html", fragment="results", data=found and found.to_json, found=found, q=q)
