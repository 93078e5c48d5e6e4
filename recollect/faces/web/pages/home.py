"""The first page, the status page, and what the newest requests of models were given."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from recollect.faces.http.scope import AllMemories, Scoped, ServedHere, reach, served
from recollect.faces.present.names import source_label
from recollect.faces.present.status import index_state, pause_words, task_counts
from recollect.faces.web.page import PAGES, address, page, scope_of
from recollect.faces.web.pages.importing import not_yet_in, state_of
from recollect.faces.web.runs import WebRun, runs_of
from recollect.memory.background.process import is_working
from recollect.models.language.budget import FILE, SpendingLog, Spent
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.importers.found import FoundSource
    from recollect.memory import Memory
    from recollect.memory.upkeep import Probe
    from recollect.store import Counts, Task


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
    from recollect.faces.present.status import found_labels
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
    from recollect.faces.web.pages.conversation import as_markdown

    thread = memory.conversation(name.removesuffix(".md"))
    headers = {"Content-Disposition": 'attachment; filename="conversation.md"'}
    return Response(as_markdown(thread), headers=headers, media_type="text/markdown; charset=utf-8")


_FRESH, _PATIENCE = 30.0, 0.3  # seconds for which a probe counts, and that the page waits for one
_TASKS = 10_000  # that are looked at
_SHOWN = 20  # failed ones that are listed
_WORK = {
    "conversation": "conversations to go through",
    "facts": "facts, by the model",
    "entities": "names, by the model",
    "conversation_summary": "summaries, by the model",
    "l1": "summaries, by the model",
    "l2": "summaries, by the model",
    "period": "summaries of days and weeks",
    "topic": "summaries of topics",
}
_ASKED = {"ask": "questions", "research": "research", "chat": "chats"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """Work of one kind: how much of it waits, is for later, or has failed."""

    name: str
    due: int
    later: int
    dead: int


@dataclass(frozen=True, slots=True)
class SpendingRow:
    """What was spent on one kind of work."""

    name: str
    calls: int
    tokens: int
    cost: float
    unpriced: int


@router.get("/status")
def status(request: Request, memory: Scoped) -> Response:
    """How things are."""
    counts, index = memory.upkeep.stats(), memory.upkeep.index()
    found = not_yet_in(request, memory, counts)
    here, tasks = served(request), task_counts(memory, counts)
    paused, probing = pause_words(), _probing(request, memory)
    probe, trouble = probing.result, probing.problem
    working = is_working(here.settings.store, here.places.state)
    month = utc_now().date().replace(day=1)
    ledger = SpendingLog(here.places.data / FILE)
    spent = ledger.spent(memory.location, str(memory.namespace), since=month)
    ever = ledger.spent(memory.location, str(memory.namespace))
    location, size = (None, None) if reach(request) else (memory.location, memory.upkeep.info().bytes or None)
    return page(
        request,
        "status.html",
        fragment="state",
        data=lambda: {
            "store": location,
            "bytes": size,
            "paused": bool(paused),
            **_document(memory, counts, tasks, probe, found, working=working, spent=ever),
        },
        paused=paused,
        counts=counts,
        sources=sorted(counts.by_source.items(), key=lambda item: (-item[1], item[0])),
        index=index,
        index_state=index_state(index, counts.messages),
        quality_done=0 < counts.said_passages <= counts.quality,
        tasks=tasks,
        waiting=list(_waiting(memory)),
        cut={state for state, count in counts.tasks.items() if count > _TASKS},
        failed=memory.upkeep.tasks("dead", limit=_SHOWN),
        working=working,
        probe=probe,
        trouble=trouble,
        found=found,
        size=size,
        location=location,
        month=f"{month:%B}",
        rows=_rows(spent),
        total=sum(row.cost for row in spent),
        today=sum(row.cost for row in ledger.spent(memory.location, str(memory.namespace), today=True)),
        backlog=memory.upkeep.backlog(),
        settings=here.settings,
        model=here.model,
        work_words=_WORK,
        last_import=state_of(request, memory).last_import(),
    )


@router.post("/status/retry")
def retry(request: Request, memory: Scoped, id: Annotated[str, Form()] = "") -> Response:
    """Has what failed tried again: one task, or all."""
    memory.upkeep.retry(id) if id else memory.upkeep.retry()
    return RedirectResponse(address("/status", request), 303)


def _probing(request: Request, memory: Memory) -> WebRun:
    """A search for what is certainly there; the page does not wait for one that takes long."""
    return runs_of(request).fresh(
        "probe", str(memory.namespace), lambda tell: memory.upkeep.probe(), seconds=_FRESH, patience=_PATIENCE
    )


def _waiting(memory: Memory) -> Iterator[Waiting]:
    """What is to be done, by kind of work."""
    now = utc_now()
    counted: dict[str, Counter[str]] = {state: Counter() for state in ("due", "later", "dead")}
    for task, _ in memory.upkeep.tasks("due", limit=_TASKS):
        counted["later" if task.due is not None and task.due > now else "due"][_named(task)] += 1
    for task, _ in memory.upkeep.tasks("leased", limit=_TASKS):
        counted["due"][_named(task)] += 1
    for task, _ in memory.upkeep.tasks("dead", limit=_TASKS):
        counted["dead"][_named(task)] += 1
    for name in sorted({name for of in counted.values() for name in of}):
        yield Waiting(name, counted["due"][name], counted["later"][name], counted["dead"][name])


def _named(task: Task) -> str:
    return _WORK.get(task.kind, task.kind)


def _rows(spent: Sequence[Spent]) -> list[SpendingRow]:
    """What was asked for by a person, kind by kind, and what was done in the background."""
    of: dict[str, list[Spent]] = {}
    for one in spent:
        of.setdefault(_ASKED.get(one.kind.split("_")[0], "in the background"), []).append(one)
    return [
        SpendingRow(
            name,
            sum(one.calls for one in some),
            sum(one.input_tokens + one.output_tokens for one in some),
            sum(one.cost for one in some),
            sum(one.unpriced for one in some),
        )
        for name, some in sorted(of.items(), key=lambda item: item[0] == "in the background")
    ]


def _document(
    memory: Memory,
    counts: Counts,
    tasks: dict[str, int],
    probe: Probe | None,
    found: Sequence[FoundSource],
    *,
    working: bool,
    spent: Sequence[Spent],
) -> dict[str, Any]:
    return {
        "namespace": str(memory.namespace),
        "conversations": counts.conversations,
        "messages": counts.messages,
        "sources": {source_label(name): count for name, count in counts.by_source.items()},
        "derived": dict(counts.by_node),
        "quality": {"made": counts.quality, "wanted": counts.said_passages},
        "worker": {"working": working, **tasks},
        "search": None if probe is None else {"well": probe.well, "took_ms": round(probe.took_ms, 1)},
        "found": [{"label": one.label, "path": str(one.path), "files": one.files} for one in found],
        "models": [{"kind": one.kind, "model": one.model, "calls": one.calls, "cost": one.cost} for one in spent],
    }


_GIVEN_SHOWN = 50  # requests
_BY = {"proxy": "a client of the proxy", "wrap": "a wrapped client", "mcp": "a client of MCP", "hook": "a coding agent"}


@router.get("/given")
def given(request: Request, memory: Scoped, forgotten: str = "") -> Response:
    """What the newest requests were given, each line with where it comes from."""
    requests = memory.integration.requests(_GIVEN_SHOWN)
    ids = {own for one in requests for own in (*one.ids, one.message_id) if own}
    return page(
        request,
        "given.html",
        data=lambda: {"requests": requests},
        requests=requests,
        opens={message.id: message.conversation_id for message in memory.messages(sorted(ids))},
        by=_BY,
        forgotten=forgotten if forgotten.isalnum() else "",
    )
