"""What comes in and what goes: imports of files that lie on the server's machine, or that are sent; documents; deleting
softly, and forgetting for good.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from recollect.errors import InvalidInput
from recollect.faces.http.answers import Tell, in_events, worked
from recollect.faces.http.once import ONCE, answers_of
from recollect.faces.http.received import check_room, could_not_be_kept, new_folder, under_sent_names
from recollect.faces.http.scope import NAMES_FILES, Scoped, ServedHere
from recollect.faces.present.results import Counted, DocumentRow, DocumentView, PageView, SecretsView
from recollect.faces.present.views import as_json
from recollect.faces.rest.base import Limit, Paged, Several, calls, family
from recollect.faces.rest.bodies import DocumentsToImport, Names, PersonToForget, SecretsToForget, ToForget, ToImport
from recollect.faces.rest.openapi import schema
from recollect.ingest.documents.importing import DocumentReport
from recollect.ingest.forget import Forgotten
from recollect.ingest.importing import ImportReport
from recollect.ingest.person import Person
from recollect.ingest.secrets import TakenOut
from recollect.memory import Memory
from recollect.memory.upkeep import DeletedRow

import_routes = family("imports and documents")

_PROGRESS = "Each `progress`; last `result`, the report, or `error`. Who stops listening does not stop the import."
_EXAMPLE = 'event: progress\ndata: {"read":1024,"total":4096,"conversations":2,"messages":14}\n\n'
_LARGEST = 64 * 2**30  # bytes of an upload
_LOOK = 2**26  # bytes after which it is looked again whether there is room

Name = Annotated[str, Query(description="The name of the file.", examples=["chatgpt-export.zip"])]


@import_routes.post("/imports", responses=in_events(_PROGRESS, _EXAMPLE), dependencies=[NAMES_FILES, ONCE])
def import_file(request: Request, memory: Scoped, asked: ToImport) -> ImportReport | Response:
    """Imports exports that lie on the server's machine: files, folders, archives. For a server with a token."""

    def work(tell: Tell) -> ImportReport:
        return memory.import_file(
            *asked.paths, format=asked.format, again=asked.again, progress=partial(tell, "progress")
        )

    return worked(request, work, to_the_end=True)


@import_routes.post(
    "/imports/upload",
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
            return under_sent_names(
                path.parent,
                lambda: memory.import_file(path, format=format, again=again, progress=partial(tell, "progress")),
            )

    return await run_in_threadpool(worked, request, work, to_the_end=True)


@import_routes.post(
    "/imports/documents",
    responses=in_events(_PROGRESS, _EXAMPLE),
    dependencies=[NAMES_FILES, ONCE],
)
def import_documents(request: Request, memory: Scoped, asked: DocumentsToImport) -> DocumentReport | Response:
    """Imports text, Markdown, HTML and PDF files, or folders of them, that lie on the server's machine. For a server
    with a token.
    """

    def work(tell: Tell) -> DocumentReport:
        return memory.import_documents(*asked.paths, again=asked.again, progress=partial(tell, "progress"))

    return worked(request, work, to_the_end=True)


@import_routes.get("/documents")
def documents(memory: Scoped, cursor: Paged, limit: Limit = 50) -> PageView[DocumentRow]:
    """The documents of the namespace."""
    found = cursor.page(memory.documents(), limit)
    return PageView([DocumentRow.of(document) for document in found.items], found.next)


@import_routes.get("/document")
def document(
    memory: Scoped, name: Annotated[str, Query(description="An id, the end of one, a path or a title.")]
) -> DocumentView:
    """A document with its text."""
    return DocumentView.of(memory.document(name))


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


removing_routes = family("deleting and forgetting")


@removing_routes.post("/delete", dependencies=[ONCE])
def delete(memory: Scoped, what: Names) -> Counted:
    """Deletes softly: no search or count shows it, the record keeps it."""
    return Counted(memory.delete(*what.names))


@removing_routes.get("/deleted")
def deleted(memory: Scoped, cursor: Paged, limit: Limit = 50) -> PageView[DeletedRow]:
    """What was deleted softly and not forgotten, by conversation, the newest first; restoring brings it back."""
    return cursor.rest(memory.upkeep.deleted(limit=limit + 1, offset=cursor.offset), limit)


@removing_routes.post("/restore", dependencies=[ONCE])
def restore(memory: Scoped, what: Names) -> Counted:
    """Takes soft deletions back."""
    return Counted(memory.restore(*what.names))


@removing_routes.post("/forget", response_model=schema(Forgotten), dependencies=[ONCE])
def forget(request: Request, memory: Scoped, what: ToForget) -> dict[str, Any]:
    """Erases for good: no table, index or file holds the words any longer, and importing does not bring them back.

    With `dry_run` it says what would go, and changes nothing.
    """
    gone = memory.forget(
        *what.names,
        sources=what.sources,
        since=what.since,
        until=what.until,
        before=what.before,
        everything=what.everything,
        dry_run=what.dry_run,
    )
    removed = not what.dry_run and any((gone.conversations, gone.messages, gone.documents, gone.nodes))
    return _told(request, memory, gone, removed=removed)


@removing_routes.get("/secrets")
def secrets(memory: Scoped, source: Several = None) -> SecretsView:
    """Where keys, tokens and passwords stand in everything that is stored, or in what came from some sources; none is
    told itself. All of it is read, which takes a while.
    """
    return SecretsView(memory.upkeep.secrets(sources=source or ()))


@removing_routes.post("/secrets/forget", response_model=schema(TakenOut), dependencies=[ONCE])
def forget_secrets(request: Request, memory: Scoped, what: SecretsToForget) -> dict[str, Any]:
    """Takes keys, tokens and passwords out for good; the text around them stays, with `[secret: …]` in their place.

    What comes in later does not bring them back. With `dry_run` it says what would go, and changes nothing.
    """
    gone = memory.upkeep.forget_secrets(sources=what.sources, dry_run=what.dry_run)
    return _told(request, memory, gone, removed=not what.dry_run and bool(gone.secrets))


@removing_routes.post("/forget/person", response_model=schema(Person), dependencies=[ONCE])
def forget_person(request: Request, memory: Scoped, who: PersonToForget) -> dict[str, Any]:
    """Forgets a person under all their names: what they said, and the facts about them; with `mentions` also what
    others say of them.

    With `dry_run` it says what there is, in three groups, and changes nothing.
    """
    person = memory.forget_person(who.name, mentions=who.mentions, dry_run=who.dry_run)
    return _told(request, memory, person, removed=person.removed)


def _told(request: Request, memory: Memory, gone: Any, *, removed: bool) -> dict[str, Any]:
    """What goes; if it went, no answer repeats it."""
    if removed:
        answers_of(request).forget(memory.namespace)
    shown: dict[str, Any] = as_json(gone)
    return shown | {"removed": removed}
