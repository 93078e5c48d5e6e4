"""Facts: what is held true, and its correction by hand."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, calls, family
from recollect.faces.rest.routes.search import Query_
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.knowledge import Fact, FactEdit, FactId, FactMerge, NewFact, NewRule

routes = family("facts")

Id = Annotated[str, Path(description="A whole id.")]
When = Annotated[str | None, Query(description="What was believed then: 2025-03, 2025-03-14, last spring …")]


@routes.get("/facts", openapi_extra=calls("facts", "get_all_facts"))
def facts(
    memory: Scoped,
    cursor: Paged,
    about: Annotated[str | None, Query(description="Whom or what they concern.", examples=["Luna"])] = None,
    as_of: When = None,
    conversation: Annotated[str | None, Query(description="Only what its messages prove: an id.")] = None,
    include_past: Annotated[bool, Query(description="Also what no longer holds.")] = False,
    limit: Limit = 50,
) -> Page[Fact]:
    """What is held true, pinned facts first, then the newest."""
    found = memory.facts(about, as_of, include_past, conversation=conversation)
    items, following = cursor.page(found, limit)
    return Page[Fact].model_validate({"items": items, "next": following})


@routes.get("/facts/search")
def search_facts(memory: Scoped, query: Query_, limit: Limit = 10) -> Page[Fact]:
    """The facts that have to do with a query, best first."""
    return Page[Fact].model_validate({"items": memory.toolbox().search_facts(query, limit)})


@routes.get("/facts/resolve")
def resolve_fact(memory: Scoped, name: Annotated[str, Query(description="An id, or the end of one.")]) -> FactId:
    """The id of the fact that a person means by an id or the end of one, be it forgotten or not."""
    return FactId(id=memory.knowledge.resolve_fact(name))


@routes.post("/facts", status_code=201, dependencies=[ONCE])
def store_fact(memory: Scoped, fact: NewFact) -> Fact:
    """Stores a fact as it is told; of what has one value at a time it takes the place of what was said before."""
    return Fact.model_validate(memory.store_fact(**fact.model_dump()))


@routes.get("/rules")
def rules(
    memory: Scoped,
    offered: Annotated[bool, Query(description="What may be a rule, and waits for `PUT /facts/{id}/pin`.")] = False,
) -> Page[Fact]:
    """What the user wants of every answer, in the order in which it was told. Rules are corrected like facts."""
    return Page[Fact].model_validate({"items": memory.knowledge.rules(offered=offered)})


@routes.post("/rules", status_code=201, dependencies=[ONCE])
def add_rule(memory: Scoped, rule: NewRule) -> Fact:
    """Keeps what the user wants of every answer: it stands first in every context."""
    return Fact.model_validate(memory.knowledge.add_rule(**rule.model_dump()))


@routes.patch("/facts/{id}", dependencies=[ONCE])
def edit_fact(memory: Scoped, id: Id, edit: FactEdit) -> Fact:
    """Corrects a fact: what you say outranks what was derived, and survives a rebuild."""
    return Fact.model_validate(memory.knowledge.edit_fact(id, edit.content, value=edit.value))


@routes.put("/facts/{id}/pin", dependencies=[ONCE])
def pin_fact(memory: Scoped, id: Id) -> Fact:
    """Holds on to a fact: nothing derived replaces it."""
    return Fact.model_validate(memory.knowledge.pin_fact(id))


@routes.delete("/facts/{id}/pin", dependencies=[ONCE], openapi_extra=calls("pin_fact"))
def unpin_fact(memory: Scoped, id: Id) -> Fact:
    """Lets go of a fact that was pinned."""
    return Fact.model_validate(memory.knowledge.pin_fact(id, pinned=False))


@routes.post("/facts/{id}/merge", dependencies=[ONCE])
def merge_facts(memory: Scoped, id: Id, merge: FactMerge) -> Fact:
    """Makes one fact of several that say the same."""
    return Fact.model_validate(memory.knowledge.merge_facts(id, *merge.others))


@routes.delete("/facts/{id}", dependencies=[ONCE])
def forget_fact(memory: Scoped, id: Id) -> FactId:
    """Removes a fact; it is not drawn from the same messages again."""
    return FactId(id=memory.knowledge.forget_fact(id))


@routes.post("/facts/{id}/undo", dependencies=[ONCE])
def undo_fact(memory: Scoped, id: Id) -> Page[Fact]:
    """Takes back what was decided about a fact by hand; gives the facts that come of it."""
    return Page[Fact].model_validate({"items": memory.knowledge.undo_fact(id)})
