"""The first page: search where something is remembered, else how to begin; the sample; which memory is looked at."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from recollect.faces.http.scope import AllMemories, Scoped, ServedHere, reach
from recollect.faces.web.page import PAGES, address, page, scope_of

router = APIRouter()

#: The namespace of the sample archive.
SAMPLE = "sample"
#: What can be asked of it, which it answers.
EXAMPLES = ("stripe webhook", "how wet was that dough", "why did we choose Postgres over Redis for the job queue")

_JUMPS = 12


@router.get("/")
def home(request: Request, memory: Scoped, served: ServedHere) -> Response:
    """Search; in an empty memory, how to begin."""
    if memory.conversations(limit=1) or any(True for _ in memory.documents()):
        return RedirectResponse(address("/search", request), 303)
    from recollect.faces.present.found import found_labels
    from recollect.importers.found import found_on_this_machine

    found = [] if reach(request) else found_on_this_machine(Path.home(), os.environ)
    told = found_labels(found) if found else ""
    data = {"empty": True, "namespace": scope_of(request), "found": told}
    return page(request, "empty.html", data=data, here="/search", found=told, examples=EXAMPLES)


@router.post("/sample")
def open_sample(memories: AllMemories) -> Response:
    """The sample archive in a namespace of its own, apart from what is one's own."""
    memory = memories.of(SAMPLE)
    if not memory.conversations(limit=1):
        from recollect.sample import write_archive

        with tempfile.TemporaryDirectory(prefix="recollect-sample-") as folder:
            memory.import_file(*write_archive(Path(folder)), again=True)
    return RedirectResponse(f"/search?namespace={SAMPLE}", 303)


@router.post("/sample/remove")
def remove_sample(memories: AllMemories) -> Response:
    """Forgets the sample, and nothing else."""
    memories.of(SAMPLE).forget(everything=True)
    return RedirectResponse("/", 303)


@router.get("/scope")
def scope(request: Request, memories: AllMemories) -> Response:
    """The namespaces that can be looked at."""
    names = list(dict.fromkeys([*memories.names(), scope_of(request)]))
    main = str(memories.main.namespace)
    return page(
        request, "scope.html", data={"namespaces": names}, fragment="names", here="-", names=names, main_name=main
    )


@router.get("/palette")
def palette(request: Request, memory: Scoped, q: str = "") -> Response:
    """Conversations by their titles, and pages by their names: where one can jump to."""
    words = " ".join(q.split())
    rows = memory.conversations(title=words, limit=_JUMPS)
    pages = [(at, name) for at, name, _ in PAGES if words and name.casefold().startswith(words.casefold())]
    data = [{"id": row.conversation.id, "title": row.conversation.title} for row in rows]
    return page(request, "jump.html", data=data, fragment="options", here="-", rows=rows, jumps=pages, q=words)


@router.get("/export/{name:path}")
def export(request: Request, memory: Scoped, name: str) -> Response:
    """A conversation as Markdown, to keep."""
    from recollect.faces.web.export import as_markdown

    thread = memory.conversation(name.removesuffix(".md"))
    headers = {"Content-Disposition": 'attachment; filename="conversation.md"'}
    return Response(as_markdown(thread), headers=headers, media_type="text/markdown; charset=utf-8")
