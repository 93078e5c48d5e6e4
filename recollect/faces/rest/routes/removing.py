"""Deleting softly, and forgetting for good."""

from __future__ import annotations

from fastapi import Request

from recollect.faces.http.once import ONCE, answers_of
from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, Several, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.writes import (
    Counted,
    DeletedRow,
    Forgotten,
    Names,
    Person,
    PersonToForget,
    Secrets,
    SecretsToForget,
    TakenOut,
    ToForget,
)

routes = family("deleting and forgetting")


@routes.post("/delete", dependencies=[ONCE])
def delete(memory: Scoped, what: Names) -> Counted:
    """Deletes softly: no search or count shows it, the record keeps it."""
    return Counted(messages=memory.delete(*what.names))


@routes.get("/deleted")
def deleted(memory: Scoped, cursor: Paged, limit: Limit = 50) -> Page[DeletedRow]:
    """What was deleted softly and not forgotten, by conversation, the newest first; restoring brings it back."""
    items, following = cursor.rest(memory.upkeep.deleted(limit=limit + 1, offset=cursor.offset), limit)
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
        before=what.before,
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


@routes.get("/secrets")
def secrets(memory: Scoped, source: Several = None) -> Secrets:
    """Where keys, tokens and passwords stand in everything that is stored, or in what came from some sources; none is
    told itself. All of it is read, which takes a while.
    """
    return Secrets.model_validate({"secrets": memory.upkeep.secrets(sources=source or ())})


@routes.post("/secrets/forget", dependencies=[ONCE])
def forget_secrets(request: Request, memory: Scoped, what: SecretsToForget) -> TakenOut:
    """Takes keys, tokens and passwords out for good; the text around them stays, with `[secret: …]` in their place.

    What comes in later does not bring them back. With `dry_run` it says what would go, and changes nothing.
    """
    gone = memory.upkeep.forget_secrets(sources=what.sources, dry_run=what.dry_run)
    removed = not what.dry_run and bool(gone.secrets)
    if removed:
        answers_of(request).forget(memory.namespace)
    return TakenOut(
        removed=removed, secrets=gone.secrets, kinds=dict(gone.kinds), messages=gone.messages, others=gone.others
    )


@routes.post("/forget/person", dependencies=[ONCE])
def forget_person(request: Request, memory: Scoped, who: PersonToForget) -> Person:
    """Forgets a person under all their names: what they said, and the facts about them; with `mentions` also what
    others say of them.

    With `dry_run` it says what there is, in three groups, and changes nothing.
    """
    person = memory.forget_person(who.name, mentions=who.mentions, dry_run=who.dry_run)
    if person.removed:
        answers_of(request).forget(memory.namespace)
    return Person(
        removed=person.removed,
        names=list(person.names),
        said=[message.id for message in person.said],
        mentions=[message.id for message in person.mentions],
        documents=[document.id for document in person.documents],
        titles=list(person.titles),
        facts=list(person.facts),
        derived=dict(person.derived),
    )
