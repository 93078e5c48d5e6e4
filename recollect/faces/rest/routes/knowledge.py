"""What is derived: facts, entities and how they are related, topics and summaries, the memory by time; with corrections
by hand. A name may hold any characters, so it is a parameter and no part of the path.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from recollect.derive.entities.entity import Entity
from recollect.derive.facts.fact import Fact
from recollect.derive.graph.reader import Graph, Paths, Relation
from recollect.derive.summaries.reading import Summary
from recollect.derive.topics.reading import Topic
from recollect.faces.http.once import ONCE
from recollect.faces.http.scope import Scoped
from recollect.faces.present.results import ClusterView, FactId, PageView
from recollect.faces.rest.base import Limit, Paged, SearchQuery, calls, family
from recollect.faces.rest.bodies import (
    EntityEdit,
    EntityMerge,
    FactEdit,
    FactMerge,
    NewEntity,
    NewFact,
    NewRelationship,
    NewRule,
)
from recollect.memory.knowledge import Day, Timeline
from recollect.record import Message

facts_routes = family("facts")

Id = Annotated[str, Path(description="A whole id.")]
When = Annotated[str | None, Query(description="What was believed then: 2025-03, 2025-03-14, last spring …")]


@facts_routes.get("/facts", openapi_extra=calls("facts", "get_all_facts"))
def facts(
    memory: Scoped,
    cursor: Paged,
    about: Annotated[str | None, Query(description="Whom or what they concern.", examples=["Luna"])] = None,
    as_of: When = None,
    conversation: Annotated[str | None, Query(description="Only what its messages prove: an id.")] = None,
    include_past: Annotated[bool, Query(description="Also what no longer holds.")] = False,
    limit: Limit = 50,
) -> PageView[Fact]:
    """What is held true, pinned facts first, then the newest."""
    found = memory.facts(about, as_of, include_past, conversation=conversation)
    return cursor.page(found, limit)


@facts_routes.get("/facts/search")
def search_facts(memory: Scoped, query: SearchQuery, limit: Limit = 10) -> PageView[Fact]:
    """The facts that have to do with a query, best first."""
    return PageView(memory.toolbox().search_facts(query, limit))


@facts_routes.get("/facts/resolve")
def resolve_fact(memory: Scoped, name: Annotated[str, Query(description="An id, or the end of one.")]) -> FactId:
    """The id of the fact that a person means by an id or the end of one, be it forgotten or not."""
    return FactId(memory.knowledge.resolve_fact(name))


@facts_routes.post("/facts", status_code=201, dependencies=[ONCE])
def store_fact(memory: Scoped, fact: NewFact) -> Fact:
    """Stores a fact as it is told; of what has one value at a time it takes the place of what was said before."""
    return memory.store_fact(**fact.model_dump())


@facts_routes.get("/rules")
def rules(
    memory: Scoped,
    offered: Annotated[bool, Query(description="What may be a rule, and waits for `PUT /facts/{id}/pin`.")] = False,
) -> PageView[Fact]:
    """What the user wants of every answer, in the order in which it was told. Rules are corrected like facts."""
    return PageView(memory.knowledge.rules(offered=offered))


@facts_routes.post("/rules", status_code=201, dependencies=[ONCE])
def add_rule(memory: Scoped, rule: NewRule) -> Fact:
    """Keeps what the user wants of every answer: it stands first in every context."""
    return memory.knowledge.add_rule(**rule.model_dump())


@facts_routes.patch("/facts/{id}", dependencies=[ONCE])
def edit_fact(memory: Scoped, id: Id, edit: FactEdit) -> Fact:
    """Corrects a fact: what you say outranks what was derived, and survives a rebuild."""
    return memory.knowledge.edit_fact(id, edit.content, value=edit.value)


@facts_routes.put("/facts/{id}/pin", dependencies=[ONCE])
def pin_fact(memory: Scoped, id: Id) -> Fact:
    """Holds on to a fact: nothing derived replaces it."""
    return memory.knowledge.pin_fact(id)


@facts_routes.delete("/facts/{id}/pin", dependencies=[ONCE], openapi_extra=calls("pin_fact"))
def unpin_fact(memory: Scoped, id: Id) -> Fact:
    """Lets go of a fact that was pinned."""
    return memory.knowledge.pin_fact(id, pinned=False)


@facts_routes.post("/facts/{id}/merge", dependencies=[ONCE])
def merge_facts(memory: Scoped, id: Id, merge: FactMerge) -> Fact:
    """Makes one fact of several that say the same."""
    return memory.knowledge.merge_facts(id, *merge.others)


@facts_routes.delete("/facts/{id}", dependencies=[ONCE])
def forget_fact(memory: Scoped, id: Id) -> FactId:
    """Removes a fact; it is not drawn from the same messages again."""
    return FactId(memory.knowledge.forget_fact(id))


@facts_routes.post("/facts/{id}/undo", dependencies=[ONCE])
def undo_fact(memory: Scoped, id: Id) -> PageView[Fact]:
    """Takes back what was decided about a fact by hand; gives the facts that come of it."""
    return PageView(memory.knowledge.undo_fact(id))


entities_routes = family("entities")

Name = Annotated[str, Query(description="Any of its spellings.", examples=["Maria Lopez"])]
Past = Annotated[bool, Query(description="Also relations that no longer hold.")]


@entities_routes.get("/entities")
def entities(
    memory: Scoped,
    cursor: Paged,
    type: Annotated[str | None, Query(description="As in person, place, technology.")] = None,
    limit: Limit = 50,
) -> PageView[Entity]:
    """The people, places, tools and other names that messages mention, the most salient first."""
    found = memory.entities(type=type, limit=cursor.offset + limit + 1)
    return cursor.page(found, limit)


@entities_routes.post("/entities", status_code=201, dependencies=[ONCE])
def add_entity(memory: Scoped, entity: NewEntity) -> Entity:
    """Adds an entity that a program knows of; the same again is the same."""
    return memory.knowledge.add_entity(**entity.model_dump())


@entities_routes.post("/relationships", status_code=201, dependencies=[ONCE])
def add_relationship(memory: Scoped, relationship: NewRelationship) -> Relation:
    """Adds a relation between two entities: a fact that settles with what messages say. The same again is the same."""
    return memory.knowledge.add_relationship(**relationship.model_dump())


@entities_routes.get("/entity")
def entity(memory: Scoped, name: Name) -> Entity:
    """The entity of a name."""
    return memory.knowledge.entity(name)


@entities_routes.patch("/entity", dependencies=[ONCE])
def edit_entity(memory: Scoped, name: Name, edit: EntityEdit) -> Entity:
    """Corrects the name or type of an entity."""
    return memory.knowledge.edit_entity(name, edit.new_name, type=edit.type)


@entities_routes.delete("/entity", dependencies=[ONCE])
def forget_entity(memory: Scoped, name: Name) -> Entity:
    """Shows an entity no longer; the messages that mention it stay."""
    return memory.knowledge.forget_entity(name)


@entities_routes.put("/entity/pin", dependencies=[ONCE])
def pin_entity(memory: Scoped, name: Name) -> Entity:
    """Lists an entity first, and keeps it even where nothing mentions it any more."""
    return memory.knowledge.pin_entity(name)


@entities_routes.delete("/entity/pin", dependencies=[ONCE], openapi_extra=calls("pin_entity"))
def unpin_entity(memory: Scoped, name: Name) -> Entity:
    """Takes that back."""
    return memory.knowledge.pin_entity(name, pinned=False)


@entities_routes.post("/entity/merge", dependencies=[ONCE])
def merge_entities(memory: Scoped, name: Name, merge: EntityMerge) -> Entity:
    """Takes an entity for another name of a second, which is given."""
    return memory.knowledge.merge_entities(name, merge.into)


@entities_routes.post("/entity/unmerge", dependencies=[ONCE])
def unmerge_entity(memory: Scoped, name: Name) -> Entity:
    """Takes a name out of the entity that it was merged into."""
    return memory.knowledge.unmerge_entity(name)


@entities_routes.post("/entity/undo", dependencies=[ONCE])
def undo_entity(memory: Scoped, name: Name) -> Entity:
    """Takes back what was said of an entity by hand."""
    return memory.knowledge.undo_entity(name)


@entities_routes.get("/entity/mentions")
def mentions(
    memory: Scoped,
    name: Name,
    other: Annotated[str | None, Query(description="Only what mentions this one as well.")] = None,
    limit: Limit = 50,
) -> PageView[Message]:
    """The messages that mention an entity, or two of them together, the newest first."""
    return PageView(memory.knowledge.mentions(name, other, limit))


@entities_routes.get("/graph")
def graph(
    memory: Scoped,
    name: Name,
    depth: Annotated[int, Query(ge=1, le=3, description="Steps around it.")] = 1,
    limit: Annotated[int, Query(ge=1, le=1000, description="Entities at most.")] = 150,
    include_past: Past = False,
) -> Graph:
    """What lies around an entity: others, and the relations among them with their evidence and validity."""
    return memory.knowledge.graph(name, depth, limit, include_past=include_past)


@entities_routes.get("/paths")
def paths(memory: Scoped, source: Name, target: Name, include_past: Past = False) -> Paths:
    """The shortest ways between two entities; neighbours where there is none."""
    return memory.knowledge.paths(source, target, include_past=include_past)


topics_routes = family("topics and summaries")


@topics_routes.get("/topics")
def topics(memory: Scoped, cursor: Paged, limit: Limit = 50) -> PageView[Topic]:
    """What many conversations are about, the largest first, each with its period."""
    return cursor.page(memory.topics(cursor.offset + limit + 1), limit)


@topics_routes.get("/topics/messages")
def get_topic_messages(
    memory: Scoped,
    cursor: Paged,
    topic: Annotated[str, Query(description="A label, a term of it, or an id.")],
    limit: Limit = 50,
) -> PageView[Message]:
    """The messages of a topic, the most typical first."""
    return cursor.page(memory.toolbox().get_topic_messages(topic, cursor.offset + limit + 1), limit)


@topics_routes.get("/cluster", openapi_extra=calls("get_cluster", "cluster_summary"))
def get_cluster(
    memory: Scoped,
    cursor: Paged,
    id: Annotated[str, Query(description="A cluster that a context names: of a topic, or by ids of messages.")],
    limit: Limit = 50,
) -> ClusterView:
    """The messages of a topic; those of several ids with commas between; or those nearest in meaning to one. With the
    first of them comes what all of it comes down to.
    """
    found = cursor.page(memory.toolbox().get_cluster(id, cursor.offset + limit + 1), limit)
    return ClusterView(found.items, found.next, "" if cursor.offset else memory.toolbox().cluster_summary(id))


@topics_routes.get("/summaries")
def summaries(
    memory: Scoped,
    cursor: Paged,
    conversation_id: str | None = None,
    kind: Literal["conversation", "l1", "l2", "segment", "period", "topic"] | None = None,
    limit: Limit = 50,
) -> PageView[Summary]:
    """What messages come down to, by time: of a conversation, or of all."""
    return cursor.page(memory.summaries(conversation_id, kind), limit)


time_routes = family("time")

Period = Annotated[str, Query(description="today, this_week, last_month, 2025-03 …", examples=["2025-03"])]


@time_routes.get("/timeline")
def timeline(
    memory: Scoped, topics: Annotated[int, Query(ge=0, le=100, description="The largest ones, as bands.")] = 12
) -> Timeline:
    """How much was said on each day, and the largest topics by month."""
    return memory.knowledge.timeline(topics)


@time_routes.get("/days")
def days(memory: Scoped, period: Period) -> PageView[Day]:
    """The days of a time on which something was said, the newest first, each with its conversations."""
    return PageView(memory.knowledge.days(period))


@time_routes.get("/period")
def get_period_messages(
    memory: Scoped,
    cursor: Paged,
    period: Period,
    limit: Annotated[int, Query(ge=1, le=999)] = 50,
) -> PageView[Message]:
    """What was said in a time: the newest messages first in pages, each in order of time."""
    found = memory.toolbox().get_period_messages(period, limit + 1, cursor.offset)
    following = cursor.following(cursor.offset + limit if len(found) > limit else None)
    return PageView(found[-limit:], following)
