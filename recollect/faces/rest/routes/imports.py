"""Imports: of files that lie on the server's machine, or that are sent; and documents."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from recollect.errors import InvalidInput
from recollect.faces.http.events import Tell, in_events, worked
from recollect.faces.http.once import ONCE
from recollect.faces.http.received import check_room, could_not_be_kept, new_folder, under_sent_names
from recollect.faces.http.scope import NAMES_FILES, Scoped, ServedHere
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, calls, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.records import Document, DocumentRow
from recollect.faces.rest.schemas.writes import DocumentReport, DocumentsToImport, ImportReport, ToImport

routes = family("imports and documents")

_PROGRESS = "Each `progress`; last `result`, the report, or `error`. Who stops listening does not stop the import."
_EXAMPLE = 'event: progress\ndata: {"read":1024,"total":4096,"conversations":2,"messages":14}\n\n'
_LARGEST = 64 * 2**30  # bytes of an upload
_LOOK = 2**26  # bytes after which it is looked again whether there is room

Name = Annotated[str, Query(description="The name of the file.", examples=["chatgpt-export.zip"])]


@routes.post(
    "/imports", response_model=ImportReport, responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[NAMES_FILES, ONCE]
)
def import_file(request: Request, memory: Scoped, asked: ToImport) -> ImportReport | Response:
    """Imports exports that lie on the server's machine: files, folders, archives. For a server with a token."""

    def work(tell: Tell) -> ImportReport:
        report = memory.import_file(
            *asked.paths, format=asked.format, again=asked.again, progress=lambda p: tell("progress", _stand(p))
        )
        return ImportReport.model_validate(report, from_attributes=True)

    return worked(request, work, to_the_end=True)


@routes.post(
    "/imports/upload",
    response_model=ImportReport,
    responses=in_events(_PROGRESS, _EXAMPLE),
    max_body_size=_LARGEST,
    openapi_extra=calls("import_file")
    | {
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        },
    },
)
async def upload(
    request: Request,
    memory: Scoped,
    served: ServedHere,
    name: Name,
    format: str | None = None,
    again: bool = False,
) -> ImportReport | Response:
    """Imports an export that is sent as the body, as it comes. Importing the same again changes nothing."""
    check_room(served.places.data, int(request.headers.get("content-length") or 0))
    kept = await run_in_threadpool(_Sent, served.places.data, name)
    try:
        async for part in request.stream():
            await run_in_threadpool(kept.write, part)
        kept.end()
    except OSError as error:
        kept.remove()
        raise could_not_be_kept(error) from error
    except BaseException:
        kept.remove()
        raise

    def work(tell: Tell) -> ImportReport:
        with kept.there() as path:
            report = under_sent_names(
                path.parent,
                lambda: memory.import_file(
                    path, format=format, again=again, progress=lambda p: tell("progress", _stand(p))
                ),
            )
            return ImportReport.model_validate(report, from_attributes=True)

    return await run_in_threadpool(worked, request, work, to_the_end=True)


@routes.post(
    "/imports/documents",
    response_model=DocumentReport,
    responses=in_events(_PROGRESS, _EXAMPLE),
    dependencies=[NAMES_FILES, ONCE],
)
def import_documents(request: Request, memory: Scoped, asked: DocumentsToImport) -> DocumentReport | Response:
    """Imports text, Markdown, HTML and PDF files, or folders of them, that lie on the server's machine. For a server
    with a token.
    """

    def work(tell: Tell) -> DocumentReport:
        report = memory.import_documents(
            *asked.paths,
            again=asked.again,
            progress=lambda p: tell("progress", {"done": p.done, "total": p.total, "name": p.name}),
        )
        return DocumentReport.model_validate(report, from_attributes=True)

    return worked(request, work, to_the_end=True)


@routes.get("/documents")
def documents(memory: Scoped, cursor: Paged, limit: Limit = 50) -> Page[DocumentRow]:
    """The documents of the namespace."""
    items, following = cursor.page(memory.documents(), limit)
    return Page[DocumentRow].model_validate({"items": items, "next": following})


@routes.get("/document")
def document(
    memory: Scoped, name: Annotated[str, Query(description="An id, the end of one, a path or a title.")]
) -> Document:
    """A document with its text."""
    return Document.model_validate(memory.document(name))


class _Sent:
    """A file that is sent."""

    def __init__(self, data: Path, name: str) -> None:
        plain = Path(name.replace("\\", "/")).name
        if not plain.strip(". ") or not plain.isprintable() or len(plain.encode()) > 200:
            raise InvalidInput(f"{name!r} is no name of a file.", hint="As in ?name=chatgpt-export.zip")
        self._data, self._checked, self._size = data, 0, 0
        self._folder = new_folder(data)
        self._path = self._folder / plain
        self._file = os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def write(self, part: bytes) -> None:
        """The next bytes. Raises ImportProblem where there is no room for more: its length may not have been told."""
        self._file.write(part)
        self._size += len(part)
        if self._size - self._checked >= _LOOK:
            self._checked = self._size
            check_room(self._data, 0)

    def end(self) -> None:
        """There are no more."""
        self._file.close()

    def remove(self) -> None:
        """Nothing of it stays."""
        self._file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def there(self) -> Iterator[Path]:
        """The file, as long as it is needed."""
        try:
            yield self._path
        finally:
            self.remove()


def _stand(progress: Any) -> dict[str, object]:
    return {
        "label": progress.label,
        "read": progress.read,
        "total": progress.total,
        "conversations": progress.conversations,
        "messages": progress.messages,
    }
