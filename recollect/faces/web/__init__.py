"""The web pages, rendered on the server: search, conversations, answers, graph, timeline, facts, import, status.

Every state is an address, works without a script, and answers `Accept: application/json`. No page asks anything of
another host. The pages of a domain are one file of `pages/` with a router, included here.
"""

from __future__ import annotations

from fastapi import APIRouter

from recollect.faces.web import page, runs
from recollect.faces.web.pages import (
    answers,
    conversation,
    forgetting,
    home,
    importing,
    knowledge,
    search,
    summaries,
    timeline,
)

_PAGES = (home, search, conversation, answers, knowledge, timeline, summaries, importing, forgetting)

router = APIRouter(include_in_schema=False)
for part in (page, *_PAGES, runs):
    router.include_router(part.router)
