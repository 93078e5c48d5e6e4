"""The searches of a round, beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import replace

from recollect.ask.evidence import Evidence
from recollect.ask.extract.signs import CHOICE
from recollect.ask.intents import Intent, Settings
from recollect.research.plan import MOST, SubQuery, asks_for_decisions, searched
from recollect.search.request import Search

#: Finds the evidence for a question (recollect.ask.evidence).
Gather = Callable[[Search, Intent, Settings], Evidence]

_CHOSEN = 1.3  # times its score

#: What each search brings: no more than a few of a conversation, so that a part is not told by one alone.
SETTINGS = Settings(passages=10, each=3)


def search_all(gather: Gather, search: Search, queries: Sequence[SubQuery]) -> Iterator[tuple[SubQuery, Evidence]]:
    """Each query with what it found, as they are done, within the filters of `search`. Raises StoreError.

    Whoever stops before the end waits for those that are under way; the others are not begun.
    """
    with ThreadPoolExecutor(MOST, "recollect-research") as pool:
        waiting = {pool.submit(copy_context().run, _one, gather, search, query): query for query in queries}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()


def _one(gather: Gather, search: Search, query: SubQuery) -> Evidence:
    asked, settings = replace(search, query=replace(search.query, text=searched(query))), SETTINGS
    if query.inside is not None:
        asked = replace(asked, filter=replace(asked.filter, conversation_ids=(query.inside,)))
        settings = replace(settings, each=settings.passages)
    evidence = gather(asked, Intent.SYNTHESIS, settings)
    return _choices_first(evidence) if asks_for_decisions(query) else evidence


def _choices_first(evidence: Evidence) -> Evidence:
    """What tells a choice is worth more where choices are wanted."""
    weighed = [
        replace(passage, score=passage.score * _CHOSEN) if CHOICE.search(passage.message.content) else passage
        for passage in evidence.passages
    ]
    ranked = sorted(weighed, key=lambda passage: -passage.score)
    return replace(evidence, passages=tuple(replace(one, number=number) for number, one in enumerate(ranked, 1)))
