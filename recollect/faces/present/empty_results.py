"""A search that found nothing: what was searched, and what another way of asking would find."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from recollect.faces.present.names import source_label
from recollect.faces.present.times import matches, number

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.search.results.result import SearchResults
    from recollect.store import Counts


class EmptyResults:
    """What to say of it, read when it is said. `filters` are those of the search, as `Memory.search` takes them."""

    def __init__(self, memory: Memory, found: SearchResults, query: str, filters: Mapping[str, Any]) -> None:
        self._memory, self.found, self._query, self._filters = memory, found, query, filters

    @cached_property
    def stats(self) -> Counts:
        """What is in the memory."""
        return self._memory.upkeep.stats()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that could be found."""
        return not (self.stats.conversations or self.stats.documents)

    @cached_property
    def searched(self) -> str:
        """As in "402 Claude conversations"."""
        stats, sources = self.stats, self._filters.get("source", ())
        if len(sources) == 1:
            return number(
                stats.by_source.get(sources[0].lower(), 0), f"{source_label(sources[0].lower())} conversation"
            )
        conversations = number(stats.conversations, "conversation")
        return f"{conversations} and {number(stats.documents, 'document')}" if stats.documents else conversations

    @cached_property
    def meant(self) -> tuple[str, str] | None:
        """What may have been meant, and how much that finds."""
        return self._counted(self.found.suggestion or self.found.corrected or "", self._filters)

    @cached_property
    def unfiltered(self) -> tuple[str, str] | None:
        """The words without filters and operators, and how much they find."""
        from recollect.search.query.request import parse_query

        plain = parse_query(self._query).text
        return self._counted(plain, {}) if any(self._filters.values()) or plain != self._query else None

    def _counted(self, words: str, filters: Mapping[str, Any]) -> tuple[str, str] | None:
        """Words with how much a search for them finds; None for nothing."""
        found = self._memory.search(words, limit=1, facets=True, **filters) if words else None
        return (words, matches(found)) if found and found.total else None
