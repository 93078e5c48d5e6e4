"""The web pages: search, conversations, and what was derived from them, as pages that the server draws.

Every state is an address, works without a script, and answers `Accept: application/json`. No page asks anything of
another host. Each page is one file with a router of its own, included here.
"""

from __future__ import annotations

from fastapi import APIRouter

from recollect.faces.web import conversation, files, home, search

router = APIRouter(include_in_schema=False)
for part in (files, home, search, conversation):
    router.include_router(part.router)
