"""Going out: search, and conversations and messages by their ids and titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.memory.handle import Handle
from recollect.record import Conversation, Kind, Message, NodeId, RoleName, Thread, ToolCall, to_microseconds
from recollect.runtime.tracing import records, traced
from recollect.store import View, Where
from recollect.store.transfer import every

if TYPE_CHECKING:
    from recollect.search.query.request import Filters, GroupBy, Mode, Search, Sort
    from recollect.search.results.result import SearchResults

_MOST_NAMED = 8  # of what a name may mean
_ON_THE_WAY, _MOST_ON_THE_WAY = 16, 500  # messages that are read at once on the way up a conversation
_SHORT = 6  # characters of an id, from its end, that tell it apart


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation in a list, with how much is in it."""

    conversation: Conversation
    messages: int  # that are not deleted


@dataclass(frozen=True, slots=True)
class DeletedRow:
    """A conversation of which something was deleted softly, and can be restored: those messages, in order."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing of it is left to be seen."""
        return self.conversation.deleted


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Some of a list of conversations. `next` is what the following page comes `after`; None: there is no more."""

    rows: tuple[ConversationRow, ...]
    next: str | None = None


class Reading(Handle):
    """What is found and shown."""

    @traced("search_memory", records, query=True)
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        group_by: GroupBy = "conversation",
        source: str | Sequence[str] = (),
        role: RoleName | Sequence[RoleName] = (),
        kind: str | Sequence[str] = (),
        conversation: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        before: str | datetime | None = None,
        mode: Mode = "auto",
        sort: Sort = "relevance",
        literal: bool = False,
        facets: bool = False,
        offset: int = 0,
    ) -> SearchResults:
        """Finds messages by meaning, words and relation; grouped by conversation, or one result a message.

        The query may hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`. `kind` asks for
        these kinds alone: said, attachment, reasoning, tool, context, subagent, artifact, document, all; without any,
        what was said and the documents that answer. `role` and `conversation` leave documents out, which are said by
        nobody and are in no conversation. `until` includes the day, month or year it names, `before` does not.
        `mode`: auto (quality where its vectors are made), instant, quality. `sort`: relevance, newest. `literal` takes
        the query as one phrase, word for word. `facets` counts what matches by source, role, kind and month as well.
        `offset` gives further results: the `next` of those before.
        Raises InvalidInput, also for a source that is not there.
        """
        from recollect.search.query.request import Filters

        self._written()
        found: SearchResults = self._searcher(
            self._read_search(
                query,
                Filters.of(
                    source=source,
                    role=role,
                    kind=kind,
                    conversation=conversation,
                    since=since,
                    until=until,
                    before=before,
                    mode=mode,
                ),
                limit=limit,
                group_by=group_by,
                sort=sort,
                literal=literal,
                facets=facets,
                offset=offset,
            )
        )
        return found

    recall = search

    def conversations(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ConversationRow]:
        """Conversations with their numbers of messages, newest first; of a time as people say it, too.

        Raises InvalidInput, also for a source that is not there.
        """
        where = self._where(several(source), title, since, until)
        with self._space.view() as view:
            return _rows(view, list(islice(every(view, Conversation, where), offset, offset + limit)))

    def conversation_page(
        self,
        *,
        source: str | Sequence[str] = (),
        title: str = "",
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> ConversationPage:
        """The same a page at a time, however far down the list: `after` is the `next` of the page before. What comes in
        meanwhile repeats nothing and skips nothing. Raises InvalidInput, also for what no page gave.
        """
        where = self._where(several(source), title, since, until)
        with self._space.view() as view:
            page = view.find(Conversation, where, after=after, limit=limit)
            return ConversationPage(tuple(_rows(view, page.items)), page.next)

    def conversation(self, id: str) -> Thread:
        """A conversation with everything in it. Raises NotFound."""
        self._written()
        with self._space.view() as view:
            thread = view.thread(NodeId(id))
        if thread is None:
            raise NotFound(f"No conversation has the ID {id}.", hint="To see what there is: recollect list")
        if thread.conversation.erased:
            raise _forgotten(f"Conversation {id}")
        return thread

    def deleted(self, *, limit: int = 50, offset: int = 0) -> list[DeletedRow]:
        """What was deleted softly and not forgotten, by conversation, the newest first; `restore` brings it back."""
        of: dict[NodeId, list[Message]] = {}
        with self._space.view() as view:
            for message in every(view, Message, Where(deleted=True)):
                if not message.erased:
                    of.setdefault(message.conversation_id, []).append(message)
            found = view.get(Conversation, list(of))
        found.sort(key=lambda c: to_microseconds(c.updated or c.created) or 0, reverse=True)
        return [
            DeletedRow(c, tuple(sorted(of[c.id], key=lambda m: m.position))) for c in found[offset : offset + limit]
        ]

    def conversation_named(self, id: str) -> Conversation | None:
        """A conversation by its id, without what is in it; None where there is none that is not deleted."""
        with self._space.view() as view:
            found = next(iter(view.get(Conversation, [NodeId(id)])), None)
        return None if found is None or found.deleted or found.erased else found

    def latest(self, conversation_id: str, limit: int = 20, *, until: str = "", deleted: bool = False) -> list[Message]:
        """The newest messages that were said on the active path of a conversation, or with `until` on the way to that
        message and with it, oldest first; none where it is not there. With `deleted` also those that were deleted
        softly.
        """
        self._written()
        found: list[Message] = []
        with self._space.view() as view:
            end = None if until else view.end(NodeId(conversation_id))
            path = view.get(Message, [NodeId(until)]) if until else [end.leaf] if end and end.leaf else []
            path = [message for message in path if message.conversation_id == conversation_id]
            while path and len(found) < limit:
                found += [m for m in path if m.kind is Kind.SAID and not (m.erased or (m.deleted and not deleted))]
                path = view.above(path[-1].id, min(max(limit, _ON_THE_WAY), _MOST_ON_THE_WAY))
        return found[:limit][::-1]

    def messages(self, ids: Iterable[str], *, forgotten: bool = False) -> list[Message]:
        """Those messages that are there, in the order asked for; also what is left of `forgotten` ones, without words,
        if that is asked for.
        """
        self._written()
        with self._space.view() as view:
            found = view.get(Message, [NodeId(i) for i in ids])
        return [message for message in found if forgotten or not message.erased]

    def tool_calls(self, ids: Iterable[str]) -> list[ToolCall]:
        """Those tool calls that are there, with their results, in the order asked for."""
        with self._space.view() as view:
            return view.get(ToolCall, [NodeId(i) for i in ids])

    def aliased(self, aliases: Iterable[str]) -> dict[NodeId, list[NodeId]]:
        """The ids of the messages and tool calls that have these aliases (`add_aliases`), by the aliases, the newest
        first. An alias of nothing is left out.
        """
        from recollect.ingest.aliases import read_aliases

        with self._space.view() as view:
            return read_aliases(view, list(dict.fromkeys(map(NodeId, aliases))))

    def forgotten_among(self, texts: Iterable[str]) -> set[int]:
        """The places of the texts that were said here and forgotten: of those that a client tells again. A short one
        that anybody says counts only beside another.
        """
        from recollect.importers.records.forgotten import Tombstones

        with self._space.view() as view:
            return Tombstones().told_again(view, list(texts))

    def resolve(self, name: str, *, deleted: bool = False) -> tuple[Thread, Message | None]:
        """What a person means by an id, the end of one, a source's id or a part of a title: the conversation, and the
        message. It is a guess: show it before you change anything by it. With `deleted` also titles of conversations
        that were deleted softly. Raises NotFound, or InvalidInput where several are meant.
        """
        return self._resolve(name, deleted=None if deleted else False)

    def _where(
        self, source: Sequence[str], title: str, since: str | datetime | None, until: str | datetime | None
    ) -> Where:
        from recollect.search.query.request import read_period

        first, last = (None, None) if since is until is None else read_period(since, until, None, self._clock())
        return Where(
            sources=self._sources(source),
            title=title,
            since=to_microseconds(first),
            until=to_microseconds(last),
            deleted=False,
            order="newest",
        )

    def _read_search(self, query: str, filters: Filters, *, now: datetime | None = None, **options: Any) -> Search:
        """A query with its filters and options (search/query/request.py), checked against this namespace; relative
        dates are told from `now`. Raises InvalidInput.
        """
        from recollect.search.query.request import read_search

        return read_search(
            query,
            filters,
            **options,
            now=now or self._clock(),
            find_conversations=self._conversation_ids,
            check_sources=self._sources,
        )

    @property
    def _searcher(self) -> Any:
        from recollect.search.find import Searcher

        reranker = self._reranker
        if reranker is not None:
            from recollect.search.reranking import DiscreetReranker

            reranker = DiscreetReranker(reranker, self.masked)
        return Searcher(self._space, self._embedder, self._make_quality, lambda: self._clock().date(), reranker)

    def _message(self, id: NodeId) -> Message:
        found = self.messages([id])
        if not found:
            raise NotFound(f"No message has the ID {id}.")
        return found[0]

    def _resolve(self, name: str, *, deleted: bool | None) -> tuple[Thread, Message | None]:
        if not name.strip():
            raise InvalidInput("A name is empty.", hint="Give an ID or a title.")
        with self._space.view() as view:
            ids = view.named(name)
            if not ids:
                titled = list(
                    islice(
                        every(view, Conversation, Where(title=name, deleted=deleted, order="newest")), _MOST_NAMED + 1
                    )
                )
                exact = [c for c in titled if c.title.casefold() == name.casefold()]
                ids = [conversation.id for conversation in exact or titled]
        if not ids:
            raise NotFound(f"No conversation or message matches {name!r}.", hint="To see what there is: recollect list")
        if len(ids) > 1:
            raise self._ambiguous(name, ids)
        message = next(iter(self.messages(ids, forgotten=True)), None)
        if message is not None and message.erased:
            raise _forgotten(f"Message {message.id}")
        return self.conversation(message.conversation_id if message else ids[0]), message

    def _ambiguous(self, name: str, ids: Sequence[NodeId]) -> InvalidInput:
        """The error for a name that fits several, with what tells them apart."""
        with self._space.view() as view:
            titles = {c.id: c.title for c in view.get(Conversation, ids)}
            titles |= {m.id: " ".join(m.content[:60].split()) for m in view.get(Message, ids)}
        lines = [f"\n  {named[-_SHORT:]}  {titles.get(named) or '(no title)'}" for named in ids[:_MOST_NAMED]]
        more = "\n  …" if len(ids) > _MOST_NAMED else ""
        hint = "Name one by these characters, or by more of its title."
        return InvalidInput(f"{name!r} matches several:{''.join(lines)}{more}", hint=hint)

    def _messages_of(self, ids: Sequence[str]) -> list[Message]:
        """Every message of these whole ids of messages and conversations, each once. Raises NotFound."""
        from recollect.ingest.forget import Named

        with self._space.view() as view:
            named = Named.read(view, ids)
            if named.documents:
                raise InvalidInput(
                    f"{named.documents[0].id} is a document, and documents cannot be hidden.",
                    hint="To remove it for good: forget()",
                )
            found = {message.id: message for message in named.messages}
            for conversation in named.conversations:
                found |= {m.id: m for m in every(view, Message, Where(conversation=conversation.id))}
        return list(found.values())

    def _sources(self, named: Sequence[str]) -> tuple[str, ...]:
        if not named:
            return ()
        from recollect.search.query.request import checked_sources

        with self._space.view() as view:
            return checked_sources(view, named)

    def _conversation_ids(self, title_or_id: str) -> list[NodeId]:
        with self._space.view() as view:
            ids = view.named(title_or_id)
            by_id = {message.conversation_id for message in view.get(Message, ids)}
            by_id |= {conversation.id for conversation in view.get(Conversation, ids)}
            named = every(view, Conversation, Where(title=title_or_id, deleted=False))
            return sorted(by_id | {conversation.id for conversation in named})


def _forgotten(what: str) -> NotFound:
    return NotFound(f"{what} was forgotten.", hint="To bring it back from an export: recollect import --again PATH")


def _rows(view: View, found: Sequence[Conversation]) -> list[ConversationRow]:
    sizes = view.sizes([conversation.id for conversation in found])
    return [ConversationRow(conversation, sizes[conversation.id][0]) for conversation in found]


def several(value: str | Sequence[str]) -> tuple[str, ...]:
    """One or several, as several."""
    return (value,) if isinstance(value, str) else tuple(value)
