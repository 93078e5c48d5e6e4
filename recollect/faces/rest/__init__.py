"""REST: everything `Memory` does, under /api/v1/, described by OpenAPI."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.faces.present.results import ProblemView
from recollect.faces.rest.openapi import schema
from recollect.faces.rest.routes.answers import routes as answers
from recollect.faces.rest.routes.answers import search_routes, tools_routes
from recollect.faces.rest.routes.conversations import routes as conversations
from recollect.faces.rest.routes.imports import import_routes, removing_routes
from recollect.faces.rest.routes.knowledge import entities_routes, facts_routes, time_routes, topics_routes
from recollect.faces.rest.routes.upkeep import store_routes, work_routes

PREFIX = "/api/v1"

router = APIRouter(
    prefix=PREFIX,
    generate_unique_id_function=lambda route: route.name,
    responses={"default": {"description": "What is wrong, and what to do.", "model": schema(ProblemView)}},
)
for _family in (
    search_routes,
    conversations,
    answers,
    facts_routes,
    entities_routes,
    topics_routes,
    time_routes,
    import_routes,
    removing_routes,
    tools_routes,
    work_routes,
    store_routes,
):
    router.include_router(_family)
