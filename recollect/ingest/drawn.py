"""Reports are drawn from messages and documents, and edges say so: what becomes of these becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.record import HIDDEN, REPORTS, Document, Message, NodeId
from recollect.store import View

#: The edge from a report to what it was made of.
DRAWN_FROM = "DERIVES_FROM"

_WITHDRAWN = "withdrawn"  # in the metadata of a report that was made of something deleted
_ALL = 1_000_000


def reports_on(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports that were made of messages, and those that were made of such reports."""
    found: dict[NodeId, Document] = {}
    ids = list(message_ids)
    while ids:
        made = [edge.source_id for edge in view.edges(ids, (DRAWN_FROM,), "in", _ALL)]
        fresh = view.get(Document, [one for one in dict.fromkeys(made) if one not in found])
        reports = {one.id: one for one in fresh if one.source == REPORTS and not one.erased}
        found |= reports
        ids = list(reports)
    return list(found.values())


def withdrawn(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports made of messages that are deleted: hidden, for as long as one of these is."""
    return [
        replace(document, metadata={**document.metadata, HIDDEN: True, _WITHDRAWN: True})
        for document in reports_on(view, message_ids)
        if not document.hidden
    ]


def back(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports that nothing is missing from any more, once these messages are there again."""
    there: set[NodeId] = set(message_ids)
    waiting = [document for document in reports_on(view, message_ids) if document.metadata.get(_WITHDRAWN)]
    found: list[Document] = []
    while whole := [document for document in waiting if not _lost(view, document.id) - there]:
        there.update(document.id for document in whole)
        waiting = [document for document in waiting if document.id not in there]
        for document in whole:
            kept = {name: value for name, value in document.metadata.items() if name not in (HIDDEN, _WITHDRAWN)}
            found.append(replace(document, metadata=kept))
    return found


def _lost(view: View, report: NodeId) -> set[NodeId]:
    """What it was made of and is deleted, or hidden."""
    made_of = [edge.target_id for edge in view.edges([report], (DRAWN_FROM,), "out", _ALL)]
    messages = {one.id for one in view.get(Message, made_of) if one.deleted}
    return messages | {one.id for one in view.get(Document, made_of) if one.hidden}
