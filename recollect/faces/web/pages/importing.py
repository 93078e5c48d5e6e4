"""Import: files that are dropped on the page, or found on this machine, and the report."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from fastapi import APIRouter, Form
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from recollect.errors import InvalidInput
from recollect.faces.http.received import check_room, could_not_be_kept, new_folder, under_sent_names
from recollect.faces.http.scope import WHOLE_STORE, Scoped, reach, served
from recollect.faces.present.results import import_document
from recollect.faces.present.state import State
from recollect.faces.present.status import newer_than, tilde
from recollect.faces.web.page import address, page
from recollect.faces.web.runs import RUN_PAGES, RunPage, WebRun, Work, run_view, runs_of
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.importers.found import FoundSource
    from recollect.ingest.importing import ImportReport, Progress
    from recollect.memory import Memory
    from recollect.store import Counts


_MOST_FILES = 20_000
_LONGEST_FIELD = 10_000  # bytes
_LONGEST_NAME = 120  # characters of a part of a path
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


@dataclass(slots=True)
class Upload:
    """What was sent: files and folders as they were named, and the fields beside them."""

    folder: Path
    paths: list[Path] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What a person calls it."""
        if not self.paths:
            return ""
        return self.paths[0].name + (f" and {len(self.paths) - 1:,} more" if self.paths[1:] else "")

    def remove(self) -> None:
        """Removes all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)


async def received(request: Request, data: Path) -> Upload:
    """The upload of a multipart form, once it is whole. Raises InvalidInput, ImportProblem where there is no room."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidInput("No file was sent.", hint="Choose one, or drop it on the page.")
    check_room(data, int(request.headers.get("content-length") or 0))
    upload = Upload(await run_in_threadpool(new_folder, data))
    taker = _Taker(upload)
    parser = MultipartParser(boundary, taker.callbacks)  # type: ignore[arg-type]
    try:
        async for chunk in request.stream():
            await run_in_threadpool(parser.write, chunk)
        await run_in_threadpool(parser.finalize)
    except (FormParserError, ClientDisconnect) as problem:
        await run_in_threadpool(taker.abandon)
        raise InvalidInput("The file did not arrive whole.", hint="Send it again.") from problem
    except OSError as problem:
        await run_in_threadpool(taker.abandon)
        raise could_not_be_kept(problem) from problem
    except BaseException:
        taker.abandon()
        raise
    return upload


class _Taker:
    """Takes the parts of a form as they come."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._header, self._value = b"", b""
        self._options: dict[bytes, bytes] = {}
        self._stream: BinaryIO | None = None
        self._field = bytearray()
        self._files = 0
        self.callbacks = {
            "on_part_begin": self._part_begins,
            "on_header_field": self._header_comes,
            "on_header_value": self._value_comes,
            "on_header_end": self._header_ends,
            "on_headers_finished": self._headers_end,
            "on_part_data": self._data_comes,
            "on_part_end": self._part_ends,
        }

    def abandon(self) -> None:
        """Nothing of it is kept."""
        if self._stream is not None:
            self._stream.close()
        self._upload.remove()

    def _part_begins(self) -> None:
        self._options, self._field, self._header, self._value = {}, bytearray(), b"", b""

    def _header_comes(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _value_comes(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ends(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, self._options = parse_options_header(self._value)
        self._header, self._value = b"", b""

    def _headers_end(self) -> None:
        name = self._options.get(b"filename")
        if not name:  # a field, or a file that nobody chose
            return
        self._files += 1
        if self._files > _MOST_FILES:
            raise InvalidInput(f"More than {_MOST_FILES:,} files cannot be sent at once.", hint="Send a zip of them.")
        parts = safe_parts(name.decode("utf-8", "replace"))
        target = self._upload.folder.joinpath(*parts)
        if target.exists() or not target.parent.resolve().is_relative_to(self._upload.folder.resolve()):
            target = self._upload.folder / f"{self._files}" / parts[-1]
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stream = target.open("xb")
        top = self._upload.folder / target.relative_to(self._upload.folder).parts[0]
        if top not in self._upload.paths:
            self._upload.paths.append(top)

    def _data_comes(self, data: bytes, start: int, end: int) -> None:
        if self._stream is not None:
            self._stream.write(data[start:end])
        elif len(self._field) + end - start <= _LONGEST_FIELD:
            self._field += data[start:end]

    def _part_ends(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        elif b"filename" not in self._options:
            name = self._options.get(b"name", b"").decode("utf-8", "replace")
            self._upload.fields[name] = self._field.decode("utf-8", "replace")


def safe_parts(name: str) -> list[str]:
    r"""The parts of a path as a browser names it, without anything that would lead out of a folder.

    >>> safe_parts("../../etc/passwd")
    ['etc', 'passwd']
    >>> safe_parts("C:\\exports\\chat.zip")
    ['C_', 'exports', 'chat.zip']
    """
    parts = [_FORBIDDEN.sub("_", part).strip(" .") for part in name.replace("\\", "/").split("/")]
    return [_shortened(part) for part in parts if part] or ["file"]


def _shortened(part: str) -> str:
    """A name that every file system takes: the ending stays, it may tell the format."""
    stem, dot, ending = part.rpartition(".")
    room = _LONGEST_NAME - len(ending) - 1
    return part if len(part.encode()) <= 2 * _LONGEST_NAME else f"{stem[: max(1, room // 2)]}{dot}{ending[-20:]}"


@contextmanager
def removed_after(upload: Upload) -> Iterator[Upload]:
    """The files for as long as they are read."""
    try:
        yield upload
    finally:
        upload.remove()


router = APIRouter()

_LARGEST = 1 << 50  # bytes; the limit is the room on the disk
_PROBLEMS = 200  # that a page lists


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: its report, and all that is in the memory afterwards."""

    report: ImportReport
    counts: Counts


@router.get("/import")
def import_(request: Request, memory: Scoped) -> Response:
    """Where a file is dropped; what is being read, what was, and what else lies on this machine."""
    counts = memory.upkeep.stats()
    runs = list(reversed(runs_of(request).all("import", str(memory.namespace))))
    found = not_yet_in(request, memory, counts)
    return page(
        request,
        "import.html",
        data=lambda: {
            "found": [{"label": one.label, "path": str(one.path), "files": one.files} for one in found],
            "imports": [{"title": run.title, "began": run.began, "ended": run.ended} for run in runs],
        },
        counts=counts,
        runs=[(run, _where(request, run)) for run in runs[:8]],
        found=[(one, tilde(one.path)) for one in found],
    )


@router.post("/import", max_body_size=_LARGEST)
async def upload(request: Request, memory: Scoped) -> Response:
    """Takes files, and begins to read them."""
    sent = await received(request, served(request).places.data)
    if not sent.paths:
        await run_in_threadpool(sent.remove)
        raise InvalidInput("No file was sent.", hint="Choose one, or drop it on the page.")
    again = sent.fields.get("again") == "yes"
    work = _work(request, memory, sent.paths, lambda: removed_after(sent), sent.folder, again=again)
    run = runs_of(request).begin("import", str(memory.namespace), sent.folder.name, sent.title, work)
    return RedirectResponse(_where(request, run), 303)


@router.post("/import/found", dependencies=[WHOLE_STORE])
def import_found(request: Request, memory: Scoped, path: Annotated[str, Form()]) -> Response:
    """Reads what was found on this machine: that, and no other path."""
    found = next((one for one in not_yet_in(request, memory, memory.upkeep.stats()) if str(one.path) == path), None)
    if found is None:
        raise InvalidInput("That is not among what was found on this machine.", hint="Look at the page again.")
    work = _work(request, memory, [found.path], lambda: nullcontext())
    title = f"{found.label}, {tilde(found.path)}"
    run = runs_of(request).begin("import", str(memory.namespace), path, title, work)
    return RedirectResponse(_where(request, run), 303)


@router.get("/import/{id}")
def under_way(request: Request, memory: Scoped, id: str) -> Response:
    """An import as it goes, and its report."""
    run = runs_of(request).get(id, str(memory.namespace))
    run.wait(0.1)
    data = import_document(run.result.report, run.result.counts) if run.result else {"running": run.ended is None}
    return page(request, "imported.html", data=data, **_view(request, run))


def not_yet_in(request: Request, memory: Memory, counts: Counts) -> Sequence[FoundSource]:
    """What lies on the machine and is newer than the last import; nothing for the token of a namespace."""
    return [] if reach(request) else newer_than(state_of(request, memory).last_import(), counts)


def state_of(request: Request, memory: Memory) -> State:
    """What is remembered of the last import, as the terminal remembers it."""
    here = served(request)
    return State.of(here.places.state, here.settings.store, str(memory.namespace))


def _work(
    request: Request,
    memory: Memory,
    paths: Sequence[Path],
    held: Callable[[], AbstractContextManager[Any]],
    sent: Path | None = None,
    *,
    again: bool = False,
) -> Work:
    state = state_of(request, memory)

    def read(tell: Callable[[Any], None]) -> ImportReport:
        return memory.import_file(*paths, again=again, progress=tell)

    def work(tell: Callable[[Any], None]) -> Imported:
        with held():
            report = under_sent_names(sent, lambda: read(tell)) if sent else read(tell)
        state.remember_import(utc_now(), report.problems)
        return Imported(report, memory.upkeep.stats())

    return work


def _view(request: Request, run: WebRun) -> dict[str, Any]:
    """What the template shows of an import."""
    last: Progress | None = run.events[-1].event if run.events else None
    found: Imported | None = run.result
    left = rate = 0.0
    if last is not None and run.seconds > 0.5:
        rate = last.messages / run.seconds
        left = run.seconds * (last.total - last.read) / max(1, last.read)
    problems = found.report.problems[:_PROBLEMS] if found else ()
    return run_view(request, run, last=last, rate=rate, left=left, problems=problems)


def _where(request: Request, run: WebRun) -> str:
    return address(f"/import/{run.id}", request)


RUN_PAGES["import"] = RunPage("imported.html", ("progress", "report"), _view, _where)
