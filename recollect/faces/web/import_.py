"""Import: a file that is dropped, read while one looks on, and told as the terminal tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from recollect.errors import InvalidInput
from recollect.faces.http.received import under_sent_names
from recollect.faces.http.scope import WHOLE_STORE, Scoped, reach, served
from recollect.faces.present.found import newer_than, tilde
from recollect.faces.present.imports import report_as_json
from recollect.faces.present.state import State
from recollect.faces.web.live import drawn_by, run_address
from recollect.faces.web.page import address, fragments, page
from recollect.faces.web.runs import Run, runs_of
from recollect.faces.web.uploads import received, removed_after
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.importers.found import Found
    from recollect.ingest.importing import ImportReport, Progress
    from recollect.memory import Memory
    from recollect.store import Counts

router = APIRouter()

_PARTS = ("progress", "report")
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
    data = report_as_json(run.result.report, run.result.counts) if run.result else {"running": run.ended is None}
    return page(request, "imported.html", data=data, **_view(request, run))


def not_yet_in(request: Request, memory: Memory, counts: Counts) -> Sequence[Found]:
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
) -> Any:
    state = state_of(request, memory)

    def read(tell: Callable[[Any], None]) -> ImportReport:
        return memory.import_file(*paths, again=again, progress=tell)

    def work(tell: Callable[[Any], None]) -> Imported:
        with held():
            report = under_sent_names(sent, lambda: read(tell)) if sent else read(tell)
        state.remember_import(utc_now(), report.problems)
        return Imported(report, memory.upkeep.stats())

    return work


def _view(request: Request, run: Run) -> dict[str, Any]:
    """What the template shows of an import."""
    last: Progress | None = run.events[-1].event if run.events else None
    found: Imported | None = run.result
    left = rate = 0.0
    if last is not None and run.seconds > 0.5:
        rate = last.messages / run.seconds
        left = run.seconds * (last.total - last.read) / max(1, last.read)
    return {
        "run": run,
        "title": run.title,
        "running": run.ended is None,
        "last": last,
        "rate": rate,
        "left": left,
        "done": found,
        "problems": found.report.problems[:_PROBLEMS] if found else (),
        "problem": run.problem,
        "stopped": run.stopped,
        "events": run_address(request, run, "events"),
        "stop": run_address(request, run, "stop"),
    }


def _parts(request: Request, run: Run) -> Mapping[str, str]:
    return fragments(request, "imported.html", _PARTS, **_view(request, run))


def _where(request: Request, run: Run) -> str:
    return address(f"/import/{run.id}", request)


drawn_by("import", _parts, _where)
