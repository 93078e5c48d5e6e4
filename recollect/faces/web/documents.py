"""A document: a file of notes or of a project, opened at the place that was found."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import address, page
from recollect.record import REPORTS

router = APIRouter()


@router.get("/document/{id}")
def document(request: Request, memory: Scoped, id: str, at: int = -1, to: int = -1) -> Response:
    """A document with `[at, to)` marked. Reports have a page of their own."""
    found = memory.document(id)
    if found.source == REPORTS:
        return RedirectResponse(address(f"/research/{found.id}", request), 303)
    start = at if 0 <= at < len(found.content) else len(found.content)
    end = max(start, min(to, len(found.content)))
    return page(
        request,
        "document.html",
        here="/search",
        data=lambda: {"id": found.id, "title": found.title, "source": found.source, "content": found.content},
        document=found,
        before=found.content[:start],
        marked_words=found.content[start:end],
        after=found.content[end:],
    )
