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
    """The reports that were made of messages."""
    made = view.edges(list(message_ids), (DRAWN_FROM,), "in", _ALL) if message_ids else []
    found = view.get(Document, list(dict.fromkeys(edge.source_id for edge in made)))
    return [document for document in found if document.source == REPORTS and not document.erased]


def withdrawn(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports made of messages that are deleted: hidden, for as long as one of these is."""
    return [
        replace(document, metadata={**document.metadata, HIDDEN: True, _WITHDRAWN: True})
        for document in reports_on(view, message_ids)
        if not document.hidden
    ]


def back(view: View, message_ids: Sequence[NodeId]) -> list[Document]:
    """The reports that nothing is missing from any more, once these messages are there again."""
    found: list[Document] = []
    for document in reports_on(view, message_ids):
        made_of = [edge.target_id for edge in view.edges([document.id], (DRAWN_FROM,), "out", _ALL)]
        lost = [one for one in view.get(Message, made_of) if one.deleted and one.id not in set(message_ids)]
        if document.metadata.get(_WITHDRAWN) and not lost:
            kept = {name: value for name, value in document.metadata.items() if name not in (HIDDEN, _WITHDRAWN)}
            found.append(replace(document, metadata=kept))
    return found
