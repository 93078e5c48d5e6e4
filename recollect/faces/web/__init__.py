"""The web pages, rendered on the server: search, conversations, answers, graph, timeline, facts, import, status.

Every state is an address, works without a script, and answers `Accept: application/json`. No page asks anything of
another host. Each page is one file with a router of its own, included here.
"""

from __future__ import annotations

from fastapi import APIRouter

from recollect.faces.web import (
    ask,
    conversation,
    documents,
    entities,
    facts,
    files,
    forgetting,
    given,
    graph,
    home,
    import_,
    live,
    research,
    search,
    status,
    story,
    timeline,
    topics,
)

_PARTS = (files, home, search, conversation, ask, research, facts, timeline, topics, graph, entities, story)
_UPKEEP = (import_, status, given, forgetting, documents, live)

router = APIRouter(include_in_schema=False)
for part in (*_PARTS, *_UPKEEP):
    router.include_router(part.router)
