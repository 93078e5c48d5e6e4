"""What the tools do, as Python calls [4]: open messages, pieces and tool calls by id, walk, search and load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recollect.answer.tools import opening
from recollect.answer.tools.base import FoundText
from recollect.errors import InvalidInput, NotFound
from recollect.record import Chunk, Kind, Message, Namespace, NodeId, Role, ToolCall, to_microseconds
from recollect.runtime.arguments import checked_arguments
from recollect.runtime.tracing import records, traced
from recollect.search.query.request import Filters
from recollect.search.results.result import MOST_DOCUMENTS, DocumentHit, MessageHit, SearchResults, behind_first
from recollect.store import Space, View

if TYPE_CHECKING:
    from recollect.derive.facts.fact import Fact
    from recollect.models.embedding import Embedder, TokenEmbedder
    from recollect.search.find import Searcher
    from recollect.search.query.request import Search

_MOST, _FURTHEST = 1000, 10**9
_EPOCH, _UNDATED = date(1970, 1, 1).toordinal(), -1
_TYPICAL = 40  # messages of a cluster that its summary is made of where there is none

#: What is searched: what was said, and the tool output where that is wanted.
SAID, WITH_TOOL_CALLS = ("said",), ("said", "tool")

MESSAGE, TOOL_CALL, DOCUMENT = "message", "tool_call", "document"

M = TypeVar("M")


# ruff: noqa: D102  # what these protocols name is described where it is done: in recollect/memory


class Shared(Protocol):
    """What a memory's parts share, as far as the tools use it."""

    namespace: Namespace
    clock: Callable[[], datetime]
    make_quality: Callable[[], TokenEmbedder]

    @property
    def space(self) -> Space: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def searcher(self) -> Searcher: ...
    def read_search(self, query: str, filters: Filters, *, now: datetime | None = ..., **options: Any) -> Search: ...
    def masked(self, value: M, *, spoken: str = ...) -> M: ...


class Remembers(Protocol):
    """A memory, as far as the tools use it."""

    @property
    def handle(self) -> Shared: ...
    def facts(self) -> list[Fact]: ...
    def store_fact(
        self,
        content: str,
        concept: str = ...,
        *,
        entity: str = ...,
        value: str = ...,
        category: str = ...,
        said_by: str = ...,
        since: datetime | None = ...,
        until: datetime | None = ...,
        ended: bool = ...,
    ) -> Fact: ...


@checked_arguments
class ToolCalls:
    """The calls of a memory's tools. Thread-safe."""

    def __init__(self, memory: Remembers) -> None:
        self._memory, self.handle = memory, memory.handle
        self.store_fact = memory.store_fact

    def get_message_by_id(self, id: str) -> Message:
        """A message, or the piece of a long one, by its id. Raises NotFound, also for what was deleted."""
        with self.handle.space.view() as view:
            return opening.find_message(view, id)

    def get_messages_by_ids(self, ids: Iterable[str]) -> list[Message]:
        """Those messages and pieces that are there and were not deleted, in the order asked for."""
        with self.handle.space.view() as view:
            return opening.find_messages(view, list(ids))

    def get_message_with_chunks(self, id: str) -> list[Message]:
        """A long message as its pieces (`MessageChunk`), in order; a short one as it is. Raises NotFound."""
        with self.handle.space.view() as view:
            return opening.with_chunks(view, id)

    def get_conversation_thread(self, message_id: str, depth: int = 5) -> list[Message]:
        """What was said around a message, up to `depth` messages before and after it; of a conversation's id its
        beginning. Raises NotFound, InvalidInput.
        """
        with self.handle.space.view() as view:
            return opening.thread(view, message_id, _between(depth, 0, _MOST, "depth"))

    def get_period_messages(self, period: str, limit: int = 50, offset: int = 0) -> list[Message]:
        """What was said in a time: today, this_week, last_month, 2025-03, "2025-03-01 to 2025-03-14". The newest
        `limit` messages, in order of time; `offset` leaves out as many of the newest. Raises InvalidInput.
        """
        many, left_out = _between(limit, 1, _MOST, "limit"), _between(offset, 0, _FURTHEST, "offset")
        with self.handle.space.view() as view:
            return opening.period(view, period, self.handle.clock().date(), limit=many, offset=left_out)

    def nothing_said(self, period: str) -> str:
        """What to say of a time in which nothing was said. Raises InvalidInput."""
        with self.handle.space.view() as view:
            days = [date.fromordinal(_EPOCH + day) for day in view.vocabulary().days() if day != _UNDATED]
        return opening.nothing_said(days, period, self.handle.clock().date())

    def get_topic_messages(self, topic: str, limit: int = 50) -> list[Message]:
        """The messages of a topic by its label, a term of it or its id, the most typical first [4]. Raises NotFound."""
        from recollect.derive.topics import reading

        with self.handle.space.view() as view:
            return reading.messages_of(view, reading.named(view, topic), limit)

    def get_cluster(self, cluster_id: str, limit: int = 50) -> list[Message]:
        """The messages of a cluster that a context names: those of a topic, by its id, label or a term of it; those
        whose ids, or the ends of them, are given with commas between; or those nearest in meaning to one message,
        itself first [4]. Raises NotFound.
        """
        from recollect.context.result import BETWEEN
        from recollect.models.embedding import is_remote
        from recollect.runtime.processes import turn
        from recollect.search.recalling import alike

        shared = self.handle
        try:
            return self.get_topic_messages(cluster_id, limit)
        except NotFound:
            with turn(waits=is_remote(shared.embedder)), shared.space.view() as view:
                found = _called(view, cluster_id.strip())
                if not found and BETWEEN in cluster_id:
                    each = (_called(view, code) for part in cluster_id.split(BETWEEN) if (code := part.strip(" []")))
                    if members := list({m.id: m for some in each for m in some}.values()):
                        return members[:limit]
                if len(found) != 1:
                    raise
                today = shared.clock().date()
                return alike(view, found[0], shared.embedder, shared.make_quality, today, limit)

    def cluster_summary(self, cluster_id: str) -> str:
        """What a cluster comes down to: the summary of its topic, else an extract of its most typical messages. Raises
        NotFound.
        """
        from recollect.derive.summaries.works import topic_text
        from recollect.derive.topics.reading import named
        from recollect.models.embedding.static import StaticEmbedder

        with self.handle.space.view() as view, suppress(NotFound):
            if summary := named(view, cluster_id).summary:
                return summary
        typical = self.get_cluster(cluster_id, _TYPICAL)
        typical.sort(key=lambda m: (to_microseconds(m.timestamp) or 0, m.conversation_id, m.position))
        return topic_text(typical, StaticEmbedder())

    def get_tool_call(self, id: str) -> ToolCall:
        """A tool call with its result, by its own id, that of its result, or of a piece of that. Raises NotFound."""
        with self.handle.space.view() as view:
            found = opening.find_tool_calls(view, [id])
        if not found:
            raise NotFound(f"No tool call has the ID {id}.")
        return found[0]

    def get_tool_calls_by_message(self, message_id: str) -> list[ToolCall]:
        """The tool calls of a message with their results, in order. Raises NotFound."""
        with self.handle.space.view() as view:
            return opening.tool_calls_of(view, message_id)

    @traced("search_memory", records, query=True)
    def vector_search(
        self, query: str, limit: int = 10, offset: int = 0, *, include_tool_calls: bool = True
    ) -> list[FoundText]:
        """The index of what a query finds: each hit with an id that opens it, an excerpt, and what it costs in tokens;
        documents that clearly answer stand behind the first few.

        The query may hold filters, as that of `search`. Raises InvalidInput.
        """
        first, many = _between(offset, 0, _FURTHEST, "offset"), _between(limit, 1, _MOST, "limit")
        search = self.handle.read_search(
            query,
            Filters(kind=WITH_TOOL_CALLS if include_tool_calls else SAID),
            limit=min(max(first + many, MOST_DOCUMENTS), _MOST),
            group_by="message",
        )
        search = replace(search, with_documents=True, with_reports=False)
        results = self.handle.searcher(search)
        while len(results) < first + many and results.next is not None:  # further than a search goes at once
            page = self.handle.searcher(replace(search, limit=_MOST, offset=results.next))
            results = replace(results, hits=(*results.hits, *page.hits), next=page.next)
        with self.handle.space.view() as view:
            return found_texts(view, results)[first : first + many]

    def search_and_retrieve(self, query: str, auto_limit: int = 5) -> list[Message]:
        """What a query finds, loaded at once: whole messages, of long ones the piece that fits, and where there is room
        its other pieces that do. Raises InvalidInput.
        """
        return self.get_messages_by_ids(texts_to_load(self.vector_search(query, auto_limit), auto_limit))

    @traced("search_memory", records, query=True)
    def search_facts(self, query: str, limit: int = 10) -> list[Fact]:
        """The facts that have to do with a query, best first. Raises InvalidInput."""
        from recollect.derive.facts.fact import facts_of

        search = self.handle.read_search(query, Filters(), limit=_between(limit, 1, _MOST, "limit"))
        nodes = self.handle.searcher.facts(search)
        with self.handle.space.view() as view:
            return facts_of(view, nodes)

    def get_all_facts(self, limit: int = 50, offset: int = 0) -> list[Fact]:
        """What is held true, pinned facts first, then the newest. Raises InvalidInput."""
        first = _between(offset, 0, _FURTHEST, "offset")
        return self._memory.facts()[first : first + _between(limit, 1, _MOST, "limit")]


def _between(value: int, lowest: int, highest: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise InvalidInput(f"{name}: {value!r} is out of range.", hint=f"Use {lowest} to {highest}.")
    return value


def _called(view: View, text: str) -> list[Message]:
    """The messages of an id or the end of one that can be read: more than one only where it names several."""
    return [m for m in view.get(Message, view.named(text, 2)) if not m.deleted and not m.erased]


def found_texts(view: View, results: SearchResults) -> list[FoundText]:
    """The hits of a search that was grouped by message."""
    hits = [(hit.conversation.title, message) for hit in results for message in hit.messages]
    results_of = opening.calls_of_results(view, [h.message.id for _, h in hits if h.message.kind is Kind.TOOL])
    pieces = _chunks(view, [hit for _, hit in hits])
    said = [_found(title, hit, pieces, results_of) for title, hit in hits]
    chunks = view.get(Chunk, [hit.document.id for hit in results.documents]) if results.documents else []
    return behind_first(said, [_of_document(hit, chunks) for hit in results.documents[:MOST_DOCUMENTS]])


def texts_to_load(found: Sequence[FoundText], most: int) -> list[NodeId]:
    """The ids of so many texts: of each result the message or its best piece, then the further pieces that matched."""
    own = [one.id if one.is_chunk else one.message_id for one in found]
    return [*own, *(piece for one in found for piece in one.chunk_ids[1:])][:most]


def _of_document(hit: DocumentHit, chunks: Sequence[Chunk]) -> FoundText:
    own = [chunk for chunk in chunks if chunk.parent_id == hit.document.id]
    piece = next((chunk for chunk in own if chunk.start <= hit.at < chunk.end), None) if len(own) > 1 else None
    return FoundText(
        id=piece.id if piece else hit.document.id,
        snippet=" ".join(hit.snippet.text.split()),
        timestamp=hit.document.created,
        score=hit.score,
        type=DOCUMENT,
        role=Role.TOOL.value,
        tokens=piece.tokens if piece else sum(chunk.tokens for chunk in own),
        message_id=hit.document.id,
        conversation_id=NodeId(""),
        title=hit.cited,
        is_chunk=piece is not None,
        chunk_index=piece.index if piece else None,
        chunk_parent_id=hit.document.id if piece else None,
        chunk_ids=(piece.id,) if piece else (),
    )


def _found(title: str, hit: MessageHit, pieces: dict[NodeId, Chunk], results_of: dict[NodeId, ToolCall]) -> FoundText:
    message = hit.message
    result_of = results_of.get(message.id)
    call = hit.tool_call_id or (result_of.id if result_of else None)
    chunk = pieces.get(hit.chunk_id) if hit.chunk_id else None
    return FoundText(
        id=chunk.id if chunk else call or message.id,
        snippet=" ".join(hit.snippet.text.split()),
        timestamp=message.timestamp,
        score=hit.score,
        type=TOOL_CALL if call else MESSAGE,
        role=message.role.value,
        tokens=chunk.tokens if chunk else message.tokens,
        message_id=message.id,
        conversation_id=message.conversation_id,
        title=title,
        speaker=message.speaker,
        is_chunk=chunk is not None,
        chunk_index=chunk.index if chunk else None,
        chunk_parent_id=chunk.parent_id if chunk else None,
        active=message.active,
        chunk_ids=hit.chunk_ids,
    )


def _chunks(view: View, hits: Sequence[MessageHit]) -> dict[NodeId, Chunk]:
    owners = [hit.message.id for hit in hits if hit.chunk_id]
    return {chunk.id: chunk for chunk in view.get(Chunk, owners)} if owners else {}
