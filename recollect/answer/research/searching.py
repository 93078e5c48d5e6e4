"""The searches of a round, beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import replace

from recollect.answer.evidence import Evidence, evidence_of
from recollect.answer.intents import Intent, IntentSettings
from recollect.answer.research.plan import SubQuery
from recollect.search.query.parts import MOST, concrete
from recollect.search.query.request import Search
from recollect.search.several import Find
from recollect.store import Space

#: What each search brings: no more than a few of a conversation, so that a part is not told by one alone.
SETTINGS = IntentSettings(passages=10, each=3)


def search_all(
    find: Find, space: Space, search: Search, queries: Sequence[SubQuery]
) -> Iterator[tuple[SubQuery, Evidence]]:
    """Each query with what it found, as they are done, within the filters of `search`. Raises StoreError.

    Whoever stops before the end waits for those that are under way; the others are not begun.
    """
    with ThreadPoolExecutor(MOST, "recollect-research") as pool:
        waiting = {pool.submit(copy_context().run, _one, find, space, search, query): query for query in queries}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()


def _one(find: Find, space: Space, search: Search, query: SubQuery) -> Evidence:
    asked, settings = replace(search, query=replace(search.query, text=concrete(query.text))), SETTINGS
    if query.inside is not None:
        asked = replace(asked, filter=replace(asked.filter, conversation_ids=(query.inside,)))
        settings = replace(settings, each=settings.passages)
    return evidence_of(find, space, asked, Intent.SYNTHESIS if query.inside is not None else Intent.QA, settings)
