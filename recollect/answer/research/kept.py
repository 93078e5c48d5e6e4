"""A report as it is kept in the memory, with the messages and documents that it cites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.answer.evidence import Citation
from recollect.answer.research.report import Report
from recollect.answer.research.saving import KEPT
from recollect.models.language.usage import Usage
from recollect.record import Conversation, Document, Message, NodeId, Role
from recollect.store import View


def report_of(view: View, document: Document) -> Report:
    """The report that a document is. Of what was deleted since, no citation is left."""
    kept = document.metadata[KEPT]
    assert document.created is not None
    return Report(
        id=document.id,
        question=kept["question"],
        title=document.title,
        text=document.content,
        known=bool(kept.get("known", True)),
        created=document.created,
        citations=_citations(view, kept.get("cited", ())),
        missing=tuple(kept["missing"]),
        planned_by=kept["planned_by"],
        model=kept.get("model"),
        usage=Usage(*kept["usage"]),
        cost=kept["cost"] if kept["usage"][0] else None,
    )


def _citations(view: View, cited: Sequence[Sequence[Any]]) -> tuple[Citation, ...]:
    ids = [NodeId(of) for _, of, *_ in cited]
    messages: Mapping[str, Message] = {m.id: m for m in view.get(Message, ids) if not (m.deleted or m.erased)}
    conversations = {
        c.id: c for c in view.get(Conversation, list(dict.fromkeys(m.conversation_id for m in messages.values())))
    }
    documents = {d.id: d for d in view.get(Document, ids) if not (d.hidden or d.erased)}
    made = []
    for number, of, start, end, named in cited:
        if of in messages:
            message = messages[of]
            made.append(Citation(number, message, conversations.get(message.conversation_id), start, end))
        elif of in documents:
            of_document = Message(NodeId(of), NodeId(""), Role.USER, documents[of].content)
            made.append(Citation(number, of_document, None, start, end, named))
    return tuple(made)
