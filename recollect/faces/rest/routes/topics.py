"""Topics and summaries: what conversations come down to."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from recollect.faces.http.scope import Scoped
from recollect.faces.rest.cursors import Paged
from recollect.faces.rest.routes.family import Limit, calls, family
from recollect.faces.rest.schemas.base import Page
from recollect.faces.rest.schemas.knowledge import Summary, Topic
from recollect.faces.rest.schemas.records import Cluster, Message

routes = family("topics and summaries")


@routes.get("/topics")
def topics(memory: Scoped, cursor: Paged, limit: Limit = 50) -> Page[Topic]:
    """What many conversations are about, the largest first, each with its period."""
    items, following = cursor.page(memory.topics(cursor.offset + limit + 1), limit)
    return Page[Topic].model_validate({"items": items, "next": following})


@routes.get("/topics/messages")
def get_topic_messages(
    memory: Scoped,
    cursor: Paged,
    topic: Annotated[str, Query(description="A label, a term of it, or an id.")],
    limit: Limit = 50,
) -> Page[Message]:
    """The messages of a topic, the most typical first."""
    items, following = cursor.page(memory.toolbox().get_topic_messages(topic, cursor.offset + limit + 1), limit)
    return Page[Message].model_validate({"items": items, "next": following})


@routes.get("/cluster", openapi_extra=calls("get_cluster", "cluster_summary"))
def get_cluster(
    memory: Scoped,
    cursor: Paged,
    id: Annotated[str, Query(description="A cluster that a context names: of a topic, or by ids of messages.")],
    limit: Limit = 50,
) -> Cluster:
    """The messages of a topic; those of several ids with commas between; or those nearest in meaning to one. With the
    first of them comes what all of it comes down to.
    """
    items, following = cursor.page(memory.toolbox().get_cluster(id, cursor.offset + limit + 1), limit)
    summary = "" if cursor.offset else memory.toolbox().cluster_summary(id)
    return Cluster.model_validate({"items": items, "next": following, "summary": summary})


@routes.get("/summaries")
def summaries(
    memory: Scoped,
    cursor: Paged,
    conversation_id: str | None = None,
    kind: Literal["conversation", "l1", "l2", "segment", "period", "topic"] | None = None,
    limit: Limit = 50,
) -> Page[Summary]:
    """What messages come down to, by time: of a conversation, or of all."""
    items, following = cursor.page(memory.summaries(conversation_id, kind), limit)
    return Page[Summary].model_validate({"items": items, "next": following})
