"""Deleting softly, and forgetting for good."""

from __future__ import annotations

from fastapi import Request

from recollect.faces.http.once import ONCE, answers_of
from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.writes import Counted, DeletedRow, Forgotten, Names, ToForget

routes = family("deleting and forgetting")


@routes.post("/delete", dependencies=[ONCE])
def delete(memory: Scoped, what: Names) -> Counted:
    """Deletes softly: no search or count shows it, the record keeps it."""
    return Counted(messages=memory.delete(*what.names))


@routes.get("/deleted")
def deleted(memory: Scoped, cursor: Paged, limit: Limit = 50) -> Page[DeletedRow]:
    """What was deleted softly and not forgotten, by conversation, the newest first; restoring brings it back."""
    items, following = cursor.rest(memory.deleted(limit=limit + 1, offset=cursor.offset), limit)
    return Page[DeletedRow].model_validate({"items": items, "next": following})


@routes.post("/restore", dependencies=[ONCE])
def restore(memory: Scoped, what: Names) -> Counted:
    """Takes soft deletions back."""
    return Counted(messages=memory.restore(*what.names))


@routes.post("/forget", dependencies=[ONCE])
def forget(request: Request, memory: Scoped, what: ToForget) -> Forgotten:
    """Erases for good: no table, index or file holds the words any longer, and importing does not bring them back.

    With `dry_run` it says what would go, and changes nothing.
    """
    gone = memory.forget(
        *what.names,
        sources=what.sources,
        since=what.since,
        until=what.until,
        everything=what.everything,
        dry_run=what.dry_run,
    )
    removed = not what.dry_run and any((gone.conversations, gone.messages, gone.documents, gone.nodes))
    if removed:
        answers_of(request).forget(memory.namespace)
    return Forgotten(
        removed=removed,
        conversations=gone.conversations,
        messages=gone.messages,
        documents=gone.documents,
        nodes=gone.nodes,
        touched=gone.touched,
        titles=list(gone.titles),
        derived=dict(gone.derived),
    )
