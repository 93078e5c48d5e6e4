"""`recollect stats`: what is in the memory, counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.parser import Command
from recollect.faces.cli.terminal.session import Session

if TYPE_CHECKING:
    from recollect.models.language.budget import Spent
    from recollect.store import Counts, IndexInfo

_TASKS = {"due": "tasks to do", "leased": "tasks in work", "later": "tasks for later", "dead": "tasks that failed"}
_DERIVED = {
    "fact": "facts",
    "past": "  past",
    "entity": "entities",
    "topic": "topics",
    "segment": "segments",
    "summary": "summaries",
    "episode": "episodes",
}


def stats(session: Session) -> int:
    """Count what is in the memory, by kind and by source.

    Where a language model was asked, it also shows how often, and what it cost.
    """
    from recollect.faces.cli.views.pausing import tell_pause
    from recollect.faces.present.pausing import pause_words
    from recollect.faces.present.working import task_counts
    from recollect.models.language.budget import FILE, Ledger

    memory = session.existing_memory()
    counts, index = memory.upkeep.stats(), memory.upkeep.index()
    ledger = Ledger(session.places.data / FILE)
    spent = ledger.spent(memory.location, memory.namespace)
    facts: dict[str, Any] = {
        "store": memory.location,
        "namespace": memory.namespace,
        "namespaces": list(memory.upkeep.namespaces()),
        "bytes": memory.upkeep.info().bytes or None,
        "embedder": index.embedder.name if index.embedder else None,
        "tasks": task_counts(memory, counts),
    }
    if session.json:
        building = {"rebuilding": index.building is not None}
        facts["paused"] = bool(pause_words())
        session.out.document(facts | _as_json(counts) | {"index": building, "models": _spent_as_json(spent)})
        return 0
    for name, value in _rows(facts, counts, index, session.out.symbols.dash):
        session.out.line(f"{name:<18} {value}")
    for name, value in _spent_rows(spent, ledger.spent(memory.location, memory.namespace, today=True)):
        session.out.line(f"{name:<18} {value}")
    tell_pause(session)
    return 0


def _spent_rows(spent: list[Spent], today: list[Spent]) -> Iterator[tuple[str, str]]:
    """What models were asked for this namespace, and what it cost; nothing where none ever was."""
    if not spent:
        return
    yield "model calls", _sum(spent)
    yield "  today", _sum(today)
    for kind in sorted({row.kind for row in spent}):
        yield f"  {kind}", _sum([row for row in spent if row.kind == kind])


def _sum(rows: list[Spent]) -> str:
    calls, tokens = sum(row.calls for row in rows), sum(row.input_tokens + row.output_tokens for row in rows)
    unpriced = sum(row.unpriced for row in rows)
    cost = f"${sum(row.cost for row in rows):.4f}" if unpriced < calls or not calls else ""
    rest = f"{unpriced:,} without a known price" if unpriced else ""
    return ", ".join(filter(None, (f"{calls:,} ({tokens:,} tokens)", cost, rest)))


def _spent_as_json(spent: list[Spent]) -> list[dict[str, Any]]:
    from dataclasses import asdict

    return [asdict(row) for row in spent]


def _rows(facts: dict[str, Any], counts: Counts, index: IndexInfo, dash: str) -> Iterator[tuple[str, str]]:
    from recollect.faces.present.indexed import index_state
    from recollect.faces.present.names import source_label
    from recollect.faces.present.times import day, percent, size

    yield "store", facts["store"] + (f" ({size(facts['bytes'])})" if facts["bytes"] else "")
    others = [name for name in facts["namespaces"] if name != facts["namespace"]]
    yield "namespace", facts["namespace"] + (f" (others: {', '.join(others)})" if others else "")
    yield "conversations", f"{counts.conversations:,}"
    for source, count in sorted(counts.by_source.items(), key=lambda item: -item[1]):
        yield f"  {source_label(source)}", f"{count:,}"
    yield "messages", f"{counts.messages:,}"
    yield "  active path", f"{counts.active:,}"
    yield "  other branches", f"{counts.messages - counts.active:,}"
    for kind, count in sorted(counts.by_kind.items(), key=lambda item: -item[1]):
        yield f"  {kind}", f"{count:,}"
    for name in ("tool_calls", "attachments", "documents", "turns", "chunks", "passages"):
        yield name.replace("_", " "), f"{getattr(counts, name):,}"
    yield from ((name, f"{counts.by_node[kind]:,}") for kind, name in _DERIVED.items() if counts.by_node.get(kind))
    yield "quality vectors", f"{counts.quality:,} ({percent(counts.quality, counts.said_passages)})"
    yield from ((_TASKS[state], f"{count:,}") for state, count in facts["tasks"].items() if count)
    yield "embedder", facts["embedder"] or "none yet"
    if state := index_state(index, counts.messages):
        yield "search index", state
    first, last = counts.first, counts.last
    if first and last:
        yield "time", f"{day(first)} {dash} {day(last)}"


def _as_json(counts: Counts) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "conversations": counts.conversations,
        "messages": counts.messages,
        "active": counts.active,
        "other_branches": counts.messages - counts.active,
        "kinds": dict(counts.by_kind),
        "sources": dict(counts.by_source),
        "tool_calls": counts.tool_calls,
        "attachments": counts.attachments,
        "documents": counts.documents,
        "turns": counts.turns,
        "chunks": counts.chunks,
        "passages": counts.passages,
        "derived": dict(counts.by_node),
        "quality": {"made": counts.quality, "wanted": counts.said_passages},
        "first": iso(counts.first),
        "last": iso(counts.last),
    }


COMMAND = Command(
    stats,
    ("recollect stats", "recollect stats --json"),
)
