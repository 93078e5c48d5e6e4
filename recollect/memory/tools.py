"""What a model's tools do, as calls [4]: open messages, pieces and tool calls by id, walk, search and load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.memory.context import Contexts
from recollect.memory.handle import writes
from recollect.memory.reading import Reading
from recollect.memory.timelines import Timelines
from recollect.record import Message, ToolCall
from recollect.runtime.tracing import one_record, records, traced

if TYPE_CHECKING:
    from recollect.answer.tools import Toolbox
    from recollect.answer.tools.base import FoundText
    from recollect.derive.facts.fact import Fact

_MOST, _FURTHEST = 1000, 10**9


class Tools(Reading, Contexts, Timelines):
    """The tools, as Python calls; `toolbox` hands them to a model."""

    def toolbox(self, *, max_tokens: int = 4_500, read_only: bool = False) -> Toolbox:
        """The tools for a model: their schemas, and a dispatcher of its calls. No answer has more than `max_tokens`.

        With `read_only` those that write are left out. Raises InvalidInput for too small a limit.
        """
        from recollect.answer.tools import Toolbox

        return Toolbox(self, max_tokens=max_tokens, read_only=read_only)

    def get_message_by_id(self, id: str) -> Message:
        """A message, or the piece of a long one, by its id. Raises NotFound, also for what was deleted."""
        from recollect.answer.tools import opening

        with self._space.view() as view:
            return opening.find_message(view, id)

    def get_messages_by_ids(self, ids: Iterable[str]) -> list[Message]:
        """Those messages and pieces that are there and were not deleted, in the order asked for."""
        from recollect.answer.tools import opening

        with self._space.view() as view:
            return opening.find_messages(view, list(ids))

    def get_message_with_chunks(self, id: str) -> list[Message]:
        """A long message as its pieces (`MessageChunk`), in order; a short one as it is. Raises NotFound."""
        from recollect.answer.tools import opening

        with self._space.view() as view:
            return opening.with_chunks(view, id)

    def get_conversation_thread(self, message_id: str, depth: int = 5) -> list[Message]:
        """What was said around a message, up to `depth` messages before and after it; of a conversation's id its
        beginning. Raises NotFound, InvalidInput.
        """
        from recollect.answer.tools import opening

        with self._space.view() as view:
            return opening.thread(view, message_id, _between(depth, 0, _MOST, "depth"))

    def get_period_messages(self, period: str, limit: int = 50, offset: int = 0) -> list[Message]:
        """What was said in a time: today, this_week, last_month, 2025-03, "2025-03-01 to 2025-03-14". The newest
        `limit` messages, in order of time; `offset` leaves out as many of the newest. Raises InvalidInput.
        """
        from recollect.answer.tools import opening

        many, left_out = _between(limit, 1, _MOST, "limit"), _between(offset, 0, _FURTHEST, "offset")
        with self._space.view() as view:
            return opening.period(view, period, self._clock().date(), limit=many, offset=left_out)

    def get_tool_call(self, id: str) -> ToolCall:
        """A tool call with its result, by its own id, that of its result, or of a piece of that. Raises NotFound."""
        from recollect.answer.tools import opening
        from recollect.errors import NotFound

        with self._space.view() as view:
            found = opening.find_tool_calls(view, [id])
        if not found:
            raise NotFound(f"No tool call has the ID {id}.")
        return found[0]

    def get_tool_calls_by_message(self, message_id: str) -> list[ToolCall]:
        """The tool calls of a message with their results, in order. Raises NotFound."""
        from recollect.answer.tools import opening

        with self._space.view() as view:
            return opening.tool_calls_of(view, message_id)

    @traced("search_memory", records, query=True)
    def vector_search(
        self, query: str, limit: int = 10, offset: int = 0, *, include_tool_calls: bool = True
    ) -> list[FoundText]:
        """The index of what a query finds: each hit with an id that opens it, an excerpt, and what it costs in tokens;
        documents that clearly answer stand behind the first few.

        The query may hold filters, as that of `search`. Raises InvalidInput.
        """
        from recollect.answer.tools.finding import SAID, WITH_TOOL_CALLS, found_texts
        from recollect.search.query.request import Filters, read_search
        from recollect.search.results.result import MOST_DOCUMENTS

        first, many = _between(offset, 0, _FURTHEST, "offset"), _between(limit, 1, _MOST, "limit")
        kinds = WITH_TOOL_CALLS if include_tool_calls else SAID
        search = read_search(
            query,
            Filters(kind=kinds),
            limit=min(max(first + many, MOST_DOCUMENTS), _MOST),
            group_by="message",
            now=self._clock(),
            find_conversations=self._conversation_ids,
            check_sources=self._sources,
        )
        search = replace(search, with_documents=True, with_reports=False)
        results = self._searcher(search)
        while len(results) < first + many and results.next is not None:  # further than a search goes at once
            page = self._searcher(replace(search, limit=_MOST, offset=results.next))
            results = replace(results, hits=(*results.hits, *page.hits), next=page.next)
        with self._space.view() as view:
            return found_texts(view, results)[first : first + many]

    def search_and_retrieve(self, query: str, auto_limit: int = 5) -> list[Message]:
        """What a query finds, loaded at once: whole messages, of long ones the piece that fits, and where there is room
        its other pieces that do. Raises InvalidInput.
        """
        from recollect.answer.tools.finding import texts_to_load

        return self.get_messages_by_ids(texts_to_load(self.vector_search(query, auto_limit), auto_limit))

    @traced("search_memory", records, query=True)
    def search_facts(self, query: str, limit: int = 10) -> list[Fact]:
        """The facts that have to do with a query, best first. Raises InvalidInput."""
        from recollect.derive.facts.fact import facts_of
        from recollect.search.query.request import read_search

        search = read_search(
            query,
            limit=_between(limit, 1, _MOST, "limit"),
            now=self._clock(),
            find_conversations=self._conversation_ids,
            check_sources=self._sources,
        )
        nodes = self._searcher.facts(search)
        with self._space.view() as view:
            return facts_of(view, nodes)

    @traced("upsert_memory", one_record)
    @writes
    def store_fact(
        self,
        content: str,
        concept: str = "",
        *,
        entity: str = "",
        value: str = "",
        category: str = "",
        confidence: float = 0.9,
        tags: Sequence[str] = (),
        said_by: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        said_at: datetime | None = None,
        before: str = "",
        ended: bool = False,
    ) -> Fact:
        """Stores a fact as it is told [3]. It settles with what messages say: of what has one value at a time
        (`concept`: home, job, weight …) it takes the place of what was said before; the same again is the same fact.
        What is left out, rules read from `content`.

        It is evidence for the time at which it was said, `said_at` (now), or for as long as is told: it holds `since`
        a time, or held `until` one. What held `before` another value takes its place in the history, and what is
        `ended` holds no longer. Raises InvalidInput.
        """
        from recollect.derive.facts.stored import told_fact

        told = told_fact(
            content,
            concept=concept,
            entity=entity,
            value=value,
            category=category,
            confidence=confidence,
            tags=tags,
            said_by=said_by,
            since=since,
            until=until,
            said_at=said_at,
            before=before,
            ended=ended,
            now=self._clock(),
            id=self._ids(),
        )
        return self._corrections.store(self._as_left(told))

    def get_all_facts(self, limit: int = 50, offset: int = 0) -> list[Fact]:
        """What is held true, pinned facts first, then the newest. Raises InvalidInput."""
        first = _between(offset, 0, _FURTHEST, "offset")
        return self.facts()[first : first + _between(limit, 1, _MOST, "limit")]


def _between(value: int, lowest: int, highest: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise InvalidInput(f"{name}: {value!r} is out of range.", hint=f"Use {lowest} to {highest}.")
    return value
