"""What an import did, as JSON."""

from __future__ import annotations

from typing import Any

from recollect.faces.present.names import source_label
from recollect.ingest.importing import ImportReport
from recollect.record import iso
from recollect.store import Counts


def report_as_json(report: ImportReport, namespace: Counts) -> dict[str, Any]:
    """The document of `import --json` (docs/reference/json.md)."""
    stored, written = report.stored, report.written
    return {
        "sources": [{"label": s.label, "path": s.container, "files": s.files} for s in report.sources],
        "stored": {
            "conversations": stored.conversations,
            "messages": stored.messages,
            "active": stored.active,
            "other_branches": stored.messages - stored.active,
            "tool_calls": stored.tool_calls,
            "attachments": stored.attachments,
            "documents": report.documents,
            "kinds": dict(stored.by_kind),
            "sources": {source_label(name): count for name, count in stored.by_source.items()},
            "first": iso(stored.first),
            "last": iso(stored.last),
        },
        "written": {"new": written.new, "changed": written.changed, "same": written.same},
        "forgotten": report.forgotten,
        "apart": report.apart,
        "quality": {"made": namespace.quality, "wanted": namespace.said_passages},
        "problems": [{"place": p.place, "reason": p.reason, "lost": p.lost} for p in report.problems],
        "notes": dict(report.notes),
    }
