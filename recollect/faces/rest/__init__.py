"""REST: everything `Memory` does, under /api/v1/, described by OpenAPI."""

from __future__ import annotations

from fastapi import APIRouter

from recollect.faces.rest.routes import (
    answers,
    conversations,
    entities,
    facts,
    imports,
    removing,
    search,
    timeline,
    tools,
    topics,
    upkeep,
    worker,
)
from recollect.faces.rest.schemas.base import Problem

PREFIX = "/api/v1"

router = APIRouter(
    prefix=PREFIX,
    generate_unique_id_function=lambda route: route.name,
    responses={"default": {"description": "What is wrong, and what to do.", "model": Problem}},
)
for _family in (
    search,
    conversations,
    answers,
    facts,
    entities,
    topics,
    timeline,
    imports,
    removing,
    tools,
    worker,
    upkeep,
):
    router.include_router(_family.routes)
