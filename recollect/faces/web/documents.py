"""A document: a file of notes or of a project, opened at the place that was found."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import Scoped
from recollect.faces.web.page import address, page
from recollect.record import REPORTS

router = APIRouter()

_LONGEST_MARK = 400  # characters of a line: some hold a whole document


@router.get("/document/{id}")
def document(request: Request, memory: Scoped, id: str, at: int = -1, to: int = -1) -> Response:
    """A document with `[at, to)` marked, without an end the line around `at`. Reports have a page of their own."""
    found = memory.document(id)
    if found.source == REPORTS:
        return RedirectResponse(address(f"/research/{found.id}", request), 303)
    start, end = _marked(found.content, at, to)
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


def _marked(text: str, at: int, to: int) -> tuple[int, int]:
    if not 0 <= at < len(text):
        return len(text), len(text)
    if to >= 0:
        return at, max(at, min(to, len(text)))
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    end = len(text) if end < 0 else end
    return (start, end) if end - start <= _LONGEST_MARK else (at, min(end, at + _LONGEST_MARK))
