"""What a search gives back: typed, printable, and as the JSON of `recollect search --json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from recollect.record import Conversation, Document, Message, NodeId, Window, iso, to_microseconds
from recollect.record.tree import Place
from recollect.store import View
from recollect.store.passages import KINDS, ROLES, Int, Rows

if TYPE_CHECKING:
    from recollect.search.results.nothing import NothingFrom


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """How many messages there are, in all and by what they can be filtered by. Months are "2024-03", in UTC,
    ascending.
    """

    messages: int = 0
    conversations: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    roles: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    months: Mapping[str, int] = field(default_factory=dict)
    by_conversation: Mapping[NodeId, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As REST and the web pages show it."""
        return {
            "messages": self.messages,
            "conversations": self.conversations,
            "sources": dict(self.sources),
            "roles": dict(self.roles),
            "kinds": dict(self.kinds),
            "months": dict(self.months),
        }


@dataclass(frozen=True, slots=True)
class Facets(FacetCounts):
    """How the messages are spread that hold a word of the question: all of them, counted exactly. A message of several
    kinds, by what hangs on it, counts with each.

    `related` are the results that hold none and come near in meaning, as far as a search reaches. `all_months` counts
    what was said in each month, whether it matches or not.
    """

    related: FacetCounts = field(default_factory=FacetCounts)
    all_months: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As REST and the web pages show it."""
        told = FacetCounts.to_json(self)
        return told | {"related": self.related.to_json(), "all_months": dict(self.all_months)}


def count_facets(view: View, held: Rows, pool: Rows) -> Facets:
    """Counts the passages that hold a word, and those of the pool whose messages do not, in a snapshot."""
    days = view.vocabulary().days()
    said = {day: count for day, count in days.items() if day >= 0}
    own, related = _spread(view, held), _spread(view, pool.take(~np.isin(pool.messages, held.messages)))
    return Facets(
        **{f.name: getattr(own, f.name) for f in fields(FacetCounts)},
        related=related,
        all_months=_months(np.array(list(said), np.int64), np.array(list(said.values()), np.int64)),
    )


def counted(messages: Sequence[Message], conversations: Mapping[NodeId, Conversation]) -> Facets:
    """The same of messages at hand, whatever index there is; what was said otherwise is not counted."""
    by_conversation = Counter(message.conversation_id for message in messages)
    times = filter(None, (to_microseconds(message.timestamp) for message in messages))
    days = [time // _DAY for time in times]
    sources = Counter(conversations[message.conversation_id].source for message in messages)
    return Facets(
        messages=len(messages),
        conversations=len(by_conversation),
        sources=dict(sources.most_common()),
        roles=dict(Counter(message.role.value for message in messages)),
        kinds=dict(Counter(message.kind.value for message in messages)),
        months=_months(np.array(days, np.int64), np.ones(len(days), np.int64)),
        by_conversation=by_conversation,
    )


def _spread(view: View, rows: Rows) -> FacetCounts:
    rows = rows.take(rows.messages > 0)
    of_kinds = np.unique(rows.messages * len(KINDS) + rows.kinds)  # each kind of a message once
    rows = rows.take(np.unique(rows.messages, return_index=True)[1])
    numbers, sizes = (found.tolist() for found in np.unique(rows.conversations, return_counts=True))
    origins, sources, by_id = view.origins(numbers), Counter[str](), dict[NodeId, int]()
    for number, size in zip(numbers, sizes, strict=True):
        if number in origins:
            named, source = origins[number]
            by_id[named] = size
            sources[source] += size
    known = rows.times[rows.times > 0]
    return FacetCounts(
        messages=len(rows),
        conversations=len(numbers),
        sources=dict(sources.most_common()),
        roles=_named(rows.roles, ROLES),
        kinds=_named(of_kinds % len(KINDS), KINDS),
        months=_months(known // _DAY, np.ones(len(known), np.int64)),
        by_conversation=by_id,
    )


def _months(days: Int, counts: Int) -> dict[str, int]:
    """Counts of days since 1970, by month."""
    if not len(days):
        return {}
    own = days.astype("datetime64[D]").astype("datetime64[M]")
    months, place = np.unique(own, return_inverse=True)
    sums = np.bincount(place, weights=counts, minlength=len(months)).astype(np.int64)
    return {str(month): int(count) for month, count in zip(months, sums, strict=True)}


def _named(indexes: Int, names: tuple[str, ...]) -> dict[str, int]:
    counts = np.bincount(indexes, minlength=len(names)).tolist() if len(indexes) else []
    return {name: count for name, count in zip(names, counts, strict=False) if count}


_DAY = 86_400_000_000  # microseconds


T = TypeVar("T")
U = TypeVar("U")

#: Documents that clearly answer are put behind so many of the best messages, and so many of them are shown there.
FIRST_MESSAGES, MOST_DOCUMENTS = 3, 3


def behind_first(said: Sequence[T], others: Sequence[U], first: int = FIRST_MESSAGES) -> list[T | U]:
    """What was said with the others behind the first few of it: the scores of messages and of files do not compare.

    >>> behind_first("abcd", [1, 2])
    ['a', 'b', 'c', 1, 2, 'd']
    """
    return [*said[:first], *others, *said[first:]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """An excerpt of a text with the places of the words that matched: (start, end) in characters of the excerpt."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a message is there: its rank, what each term of the scorer added, the words of the question that it holds."""

    rank: int
    terms: Mapping[str, float]
    words: tuple[str, ...]
    found_in: str  # said, attachment, artifact, reasoning, tool, context, subagent, document, title

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        terms = {name: round(value, 3) for name, value in self.terms.items()}
        return {"rank": self.rank, "terms": terms, "words": list(self.words), "found_in": self.found_in}


@dataclass(frozen=True, slots=True, repr=False)
class MessageHit:
    """A message that matched. `beside` (of the best of a conversation) is what answers it, or what it answers.

    `chunk_ids` name the pieces of a long text that matched, best first, `chunk_id` the first of these, `tool_call_id`
    the call of a tool whose words did. `copies` are near-identical messages that matched less well, which a flat list
    leaves out.
    """

    message: Message
    score: float
    snippet: Snippet
    why: Why
    beside: Message | None = None
    chunk_ids: tuple[NodeId, ...] = ()
    tool_call_id: NodeId | None = None
    copies: tuple[NodeId, ...] = ()

    @property
    def chunk_id(self) -> NodeId | None:
        """The piece that matched best."""
        return self.chunk_ids[0] if self.chunk_ids else None

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        m = self.message
        shown: dict[str, Any] = {
            "id": m.id,
            "source_id": m.source_id,
            "index": m.position,
            "role": m.role.value,
            "kind": m.kind.value,
            "speaker": m.speaker,
            "timestamp": iso(m.timestamp),
            "tokens": m.tokens,
            "active": m.active,
            "score": round(self.score, 4),
            "snippet": self.snippet.text,
            "marks": [list(mark) for mark in self.snippet.marks],
            "why": self.why.to_json(),
        }
        if self.beside is not None:
            b = self.beside
            shown["beside"] = {"id": b.id, "source_id": b.source_id, "index": b.position, "role": b.role.value}
        if self.chunk_id is not None:
            shown["chunk_id"] = self.chunk_id
            shown["chunk_ids"] = list(self.chunk_ids)
        if self.tool_call_id is not None:
            shown["tool_call_id"] = self.tool_call_id
        if self.copies:
            shown["copies"] = list(self.copies)
        return shown

    def __repr__(self) -> str:
        begins = " ".join(self.snippet.text.split())[:60]
        return f"<{self.message.role.value} {self.message.id[-6:]} {self.score:.2f} {begins!r}>"


@dataclass(frozen=True, slots=True, repr=False)
class Hit:
    """One result: a conversation with the window that matched best, and the messages that did, in reading order.

    With `group_by="message"` it holds one message.
    """

    conversation: Conversation
    message_count: int  # of the conversation
    score: float
    window: Window
    messages: tuple[MessageHit, ...]

    @property
    def best(self) -> MessageHit:
        """The message that matched best."""
        return max(self.messages, key=lambda hit: hit.score)

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        c = self.conversation
        return {
            "conversation": {
                "id": c.id,
                "source_id": c.source_id,
                "title": c.title,
                "source": c.source,
                "created": iso(c.created),
                "message_count": self.message_count,
            },
            "score": round(self.score, 4),
            "window": {"start": self.window.start, "end": self.window.end},
            "messages": [hit.to_json() for hit in self.messages],
            "why": self.best.why.to_json(),
        }

    def __repr__(self) -> str:
        title = self.conversation.title or "(no title)"
        lines = "".join(f"\n  {hit!r}" for hit in self.messages)
        return f"<{self.score:.2f} {title!r} {self.conversation.source}{lines}>"


@dataclass(frozen=True, slots=True)
class DerivedHit:
    """A fact or a summary that answers: derived, not said. `messages` are those that it was made of, by time.

    `level` of a summary is its kind (conversation, l1, l2, period …). `since` and `until` are when a fact holds, as far
    as somebody told, or the time that a summary covers; one that is `extractive` quotes them. `conversation` is that of
    the first message.
    """

    id: NodeId
    kind: str  # fact, summary
    level: str
    text: str
    score: float
    since: datetime | None
    until: datetime | None
    made_by: str
    extractive: bool
    messages: tuple[Message, ...]
    conversation: Conversation

    @property
    def summarised(self) -> str:
        """What a summary is of: the title of a conversation, or "3 conversations"."""
        many = len({message.conversation_id for message in self.messages})
        return f"{many:,} conversations" if many > 1 else self.conversation.title or "(no title)"

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        return {
            "id": self.id,
            "kind": self.kind,
            "level": self.level,
            "text": self.text,
            "score": round(self.score, 4),
            "since": iso(self.since),
            "until": iso(self.until),
            "made_by": self.made_by,
            "extractive": self.extractive,
            "messages": [
                {"id": m.id, "conversation_id": m.conversation_id, "index": m.position, "timestamp": iso(m.timestamp)}
                for m in self.messages
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class DocumentHit:
    """A document that matched, by its best chunk: `document.content[start:end]`; `at` is where it says so."""

    document: Document
    start: int
    end: int
    at: int
    place: Place
    score: float
    snippet: Snippet
    why: Why

    @property
    def text(self) -> str:
        """The chunk."""
        return self.document.content[self.start : self.end]

    @property
    def cited(self) -> str:
        """File and place: "handbook/travel.md, Trains > Tickets", "report.pdf, page 12". A title that is the highest
        heading as well is told once.
        """
        title, place = self.document.title, str(self.place)
        if place.casefold().startswith(f"{title} > ".casefold()) or place.casefold() == title.casefold():
            return place
        return ", ".join(filter(None, (title, place)))

    def to_json(self) -> dict[str, Any]:
        """As in `search --json`."""
        d = self.document
        return {
            "id": d.id,
            "title": d.title,
            "source": d.source,
            "path": d.metadata.get("path"),
            "created": iso(d.created),
            "page": self.place.page,
            "heading": self.place.heading,
            "line": self.place.line,
            "start": self.start,
            "end": self.end,
            "at": self.at,
            "score": round(self.score, 4),
            "snippet": self.snippet.text,
            "marks": [list(mark) for mark in self.snippet.marks],
            "why": self.why.to_json(),
        }

    def __repr__(self) -> str:
        begins = " ".join(self.snippet.text.split())[:60]
        return f"<{self.score:.2f} {self.cited!r} {begins!r}>"


@dataclass(frozen=True, slots=True, repr=False)
class SearchResults(Sequence[Hit]):
    """The results of a search, best first, with how they were found.

    `signals` names what was used: words, meaning, late interaction, people, dates, order.

    `total` counts the conversations (or messages, grouped so) that can be had, by `next` after `next`. `with_words` of
    them hold a word of the query: these are all that do. The others are related; unless `total_exact` there may be more
    that come near in meaning. `next` is the `offset` of the results that follow; None: there are no more.
    `suggestion` is the query as it may have been meant, where a word of it is nowhere; `corrected` is the one that was
    searched instead. `close` is False where nothing near the question is in the memory; `likelihood` says, from 0 to 1,
    how likely an answer to it is there. `derived` are facts and summaries that answer, `documents` the files that do,
    if there are any. `nothing_from` says that nothing was said in the time that is asked for.
    `facets` says how what matches is spread, where that was asked for.
    """

    query: str
    hits: tuple[Hit, ...]
    took_ms: float
    mode: str
    signals: tuple[str, ...] = ()
    suggestion: str | None = None
    searched: int = 0  # passages
    close: bool = True
    notes: tuple[str, ...] = field(default=())
    total: int = 0
    total_exact: bool = True
    with_words: int = 0
    next: int | None = None
    corrected: str | None = None
    derived: tuple[DerivedHit, ...] = ()
    documents: tuple[DocumentHit, ...] = ()
    nothing_from: NothingFrom | None = None
    likelihood: float = 0.0
    facets: Facets | None = None

    @property
    def with_documents(self) -> list[Hit | DocumentHit]:
        """The results in one list, with the documents that clearly answer behind the first few."""
        return behind_first(self.hits, self.documents[:MOST_DOCUMENTS])

    @property
    def related(self) -> int:
        """How many can be had that hold no word of the query."""
        return self.total - self.with_words

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def to_json(self) -> dict[str, Any]:
        """The document that `recollect search --json` prints (docs/reference/json.md)."""
        facets = {"facets": self.facets.to_json()} if self.facets is not None else {}
        return {
            "query": self.query,
            "took_ms": round(self.took_ms, 1),
            "mode": self.mode,
            "signals": list(self.signals),
            "total": self.total,
            "total_exact": self.total_exact,
            "with_words": self.with_words,
            "next": self.next,
            "suggestion": self.suggestion,
            "corrected": self.corrected,
            "close": self.close,
            "likelihood": round(self.likelihood, 3),
            "notes": list(self.notes),
            "derived": [hit.to_json() for hit in self.derived],
            "documents": [hit.to_json() for hit in self.documents],
            "results": [hit.to_json() for hit in self.hits],
            **facets,
        }

    def __repr__(self) -> str:
        head = f"{len(self.hits)} results for {self.query!r} in {self.took_ms:.0f} ms ({self.mode})"
        return "\n".join([head, *map(repr, self.hits), *map(repr, self.documents)])
