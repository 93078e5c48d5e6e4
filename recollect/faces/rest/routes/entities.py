"""Entities: who and what is spoken of, how they are related, and their correction by hand.

A name may hold any characters, so it is a parameter and no part of the path.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, calls, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.knowledge import (
    Entity,
    EntityEdit,
    EntityMerge,
    Graph,
    NewEntity,
    NewRelationship,
    Paths,
    Relation,
)
from recollect.faces.rest.schemas.records import Message

routes = family("entities")

Name = Annotated[str, Query(description="Any of its spellings.", examples=["Maria Lopez"])]
Past = Annotated[bool, Query(description="Also relations that no longer hold.")]


@routes.get("/entities")
def entities(
    memory: Scoped,
    cursor: Paged,
    type: Annotated[str | None, Query(description="As in person, place, technology.")] = None,
    limit: Limit = 50,
) -> Page[Entity]:
    """The people, places, tools and other names that messages mention, the most salient first."""
    found = memory.entities(type=type, limit=cursor.offset + limit + 1)
    items, following = cursor.page(found, limit)
    return Page[Entity].model_validate({"items": items, "next": following})


@routes.post("/entities", status_code=201, dependencies=[ONCE])
def add_entity(memory: Scoped, entity: NewEntity) -> Entity:
    """Adds an entity that a program knows of; the same again is the same."""
    return Entity.model_validate(memory.knowledge.add_entity(**entity.model_dump()))


@routes.post("/relationships", status_code=201, dependencies=[ONCE])
def add_relationship(memory: Scoped, relationship: NewRelationship) -> Relation:
    """Adds a relation between two entities: a fact that settles with what messages say. The same again is the same."""
    return Relation.model_validate(memory.knowledge.add_relationship(**relationship.model_dump()))


@routes.get("/entity")
def entity(memory: Scoped, name: Name) -> Entity:
    """The entity of a name."""
    return Entity.model_validate(memory.knowledge.entity(name))


@routes.patch("/entity", dependencies=[ONCE])
def edit_entity(memory: Scoped, name: Name, edit: EntityEdit) -> Entity:
    """Corrects the name or type of an entity."""
    return Entity.model_validate(memory.knowledge.edit_entity(name, edit.new_name, type=edit.type))


@routes.delete("/entity", dependencies=[ONCE])
def forget_entity(memory: Scoped, name: Name) -> Entity:
    """Shows an entity no longer; the messages that mention it stay."""
    return Entity.model_validate(memory.knowledge.forget_entity(name))


@routes.put("/entity/pin", dependencies=[ONCE])
def pin_entity(memory: Scoped, name: Name) -> Entity:
    """Lists an entity first, and keeps it even where nothing mentions it any more."""
    return Entity.model_validate(memory.knowledge.pin_entity(name))


@routes.delete("/entity/pin", dependencies=[ONCE], openapi_extra=calls("pin_entity"))
def unpin_entity(memory: Scoped, name: Name) -> Entity:
    """Takes that back."""
    return Entity.model_validate(memory.knowledge.pin_entity(name, pinned=False))


@routes.post("/entity/merge", dependencies=[ONCE])
def merge_entities(memory: Scoped, name: Name, merge: EntityMerge) -> Entity:
    """Takes an entity for another name of a second, which is given."""
    return Entity.model_validate(memory.knowledge.merge_entities(name, merge.into))


@routes.post("/entity/unmerge", dependencies=[ONCE])
def unmerge_entity(memory: Scoped, name: Name) -> Entity:
    """Takes a name out of the entity that it was merged into."""
    return Entity.model_validate(memory.knowledge.unmerge_entity(name))


@routes.post("/entity/undo", dependencies=[ONCE])
def undo_entity(memory: Scoped, name: Name) -> Entity:
    """Takes back what was said of an entity by hand."""
    return Entity.model_validate(memory.knowledge.undo_entity(name))


@routes.get("/entity/mentions")
def mentions(
    memory: Scoped,
    name: Name,
    other: Annotated[str | None, Query(description="Only what mentions this one as well.")] = None,
    limit: Limit = 50,
) -> Page[Message]:
    """The messages that mention an entity, or two of them together, the newest first."""
    return Page[Message].model_validate({"items": memory.knowledge.mentions(name, other, limit)})


@routes.get("/graph")
def graph(
    memory: Scoped,
    name: Name,
    depth: Annotated[int, Query(ge=1, le=3, description="Steps around it.")] = 1,
    limit: Annotated[int, Query(ge=1, le=1000, description="Entities at most.")] = 150,
    include_past: Past = False,
) -> Graph:
    """What lies around an entity: others, and the relations among them with their evidence and validity."""
    return Graph.model_validate(memory.knowledge.graph(name, depth, limit, include_past=include_past))


@routes.get("/paths")
def paths(memory: Scoped, source: Name, target: Name, include_past: Past = False) -> Paths:
    """The shortest ways between two entities; neighbours where there is none."""
    return Paths.model_validate(memory.knowledge.paths(source, target, include_past=include_past))
