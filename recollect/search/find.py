"""From what somebody typed to the messages they meant: question, candidates, features, score, groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from recollect.models.embedding import Embedder, TokenEmbedder, is_remote
from recollect.record import Message, Node, NodeId
from recollect.runtime.processes import turn
from recollect.search.derived import derived_hits, found_facts
from recollect.search.documents import DocumentPage, document_hits, rank_documents
from recollect.search.grouping import by_conversation, by_message
from recollect.search.query.asking import Asked, ask
from recollect.search.query.request import Search
from recollect.search.query.spelling import correction, pictures, surface
from recollect.search.ranking import Ranking, rank
from recollect.search.results.result import Hit, SearchResults, count_facets
from recollect.search.scan import scanned
from recollect.search.scoring import Spread
from recollect.search.titles import Titled, title_matches
from recollect.search.weights import ALL, NEAREST, TELLING_SIZE
from recollect.store import IndexDamaged, Space, View
from recollect.store.passages import SAID_KINDS, Partition
from recollect.text.terms import terms

if TYPE_CHECKING:
    from recollect.models.rerank import Reranker


class Searcher:
    """Searches one space."""

    def __init__(
        self,
        space: Space,
        embedder: Embedder,
        quality: Callable[[], TokenEmbedder],
        today: Callable[[], date],
        reranker: Reranker | None = None,
    ) -> None:
        self._space, self._embedder, self._quality, self._today = space, embedder, quality, today
        self._reranker = reranker

    def as_of(self, day: date) -> Searcher:
        """The same on another day: "last week" is told from that."""
        return Searcher(self._space, self._embedder, self._quality, lambda: day, self._reranker)

    def __call__(self, search: Search) -> SearchResults:
        """Finds, in one snapshot. Where the index is damaged or not made yet, words in the record are all it goes by.

        Raises StoreError.
        """
        began = time.perf_counter()
        waits = self._reranker is not None or is_remote(self._embedder)
        with turn(waits=waits), self._space.view() as view:
            try:
                found = self._find(view, search)
            except IndexDamaged as damage:
                found = scanned(view, search, _told(view, damage))
        return replace(found, took_ms=(time.perf_counter() - began) * 1000)

    def facts(self, search: Search) -> list[Node]:
        """The facts that hold and have to do with what is asked, best first; none while the index is damaged."""
        with self._space.view() as view:
            try:
                asked = ask(view, replace(search, mode="instant"), self._embedder, self._quality, self._today())
                return found_facts(view, asked, search.limit)
            except IndexDamaged:
                return []

    def _find(self, view: View, search: Search) -> SearchResults:
        asked = self._ask(view, search)
        found = self._found(view, asked)
        spans, since, until = asked.question.dates, search.filter.since, search.filter.until
        if not spans and (found or since is None or until is None):
            return found
        from recollect.search.results.nothing import between, nothing_from

        if not spans and since is not None and until is not None:
            spans = (between(since, until),)
        elif any(span.end - span.start > _LONGEST for span in spans):
            return found
        days = [date.fromordinal(_EPOCH + day) for day in view.vocabulary().days() if day >= 0]
        silent = nothing_from(days, spans, self._today())
        return found if silent is None else replace(found, nothing_from=silent, notes=(*found.notes, str(silent)))

    def _found(self, view: View, asked: Asked) -> SearchResults:
        search = asked.search
        if not asked.question.terms and not asked.phrases:
            if pictures(search.query.text):  # which no index holds
                return scanned(view, search)
            return SearchResults(
                search.query.text,
                (),
                0.0,
                "instant",
                close=False,
                notes=(_TOO_COMMON if surface(search.query.text) else _NO_WORD,),
            )
        titles, found, filed = self._looked_up(view, asked)
        unknown = found.unknown if filed is None else [term for term in found.unknown if term in filed.unknown]
        mended = None if search.query.literal else correction(search.query.text, unknown, view.vocabulary())
        if mended is None or not mended.is_sure or search.query.phrases:  # what is quoted is meant as it stands
            suggestion = mended.of(search.query.typed or search.query.text) if mended else None
            return replace(self._results(view, asked, found, filed, titles), suggestion=suggestion)
        asked = self._ask(view, replace(search, query=replace(search.query, text=mended.text)))
        titles, found, filed = self._looked_up(view, asked)
        results = self._results(view, asked, found, filed, titles)
        return replace(results, query=search.query.text, corrected=mended.text)

    def _ask(self, view: View, search: Search) -> Asked:
        return ask(view, search, self._embedder, self._quality, self._today())

    def _looked_up(self, view: View, asked: Asked) -> tuple[Titled, Ranking, Ranking | None]:
        """The titles that match, the passages, and the documents' passages."""
        titles = title_matches(view, asked) if asked.search.group_by == "conversation" else Titled()
        if asked.search.sort == "newest":
            titles = titles.last()
        found = _ranked(view, asked, self._quality, titles.best)
        return titles, found, rank_documents(view, asked, self._quality)

    def _results(
        self, view: View, asked: Asked, found: Ranking, filed: Ranking | None, titles: Titled
    ) -> SearchResults:
        """The results, in the order that a re-ranker gives them, where there is one."""
        search, notes = asked.search, list[str]()
        used = {
            "words": True,
            "meaning": bool(asked.vector.any()),
            "late interaction": found.mode == "quality",
            "people": bool(asked.named),
            "dates": bool(asked.question.dates),
            "order": asked.question.order is not None,
        }
        if ignored := ", ".join(f'"{phrase}"' for phrase in search.query.ignored):
            notes.append(f"Emoji and symbols cannot be searched for. Ignored: {ignored}")
        if "document" in search.filter.kinds and (search.filter.roles or search.filter.conversation_ids is not None):
            notes.append("Documents are said by nobody and are in no conversation: these filters leave them out.")
        if self._reranker is not None:
            from recollect.search.reranking import reranked, reranks

            if reranks(asked):
                rankings = [found] if filed is None else [found, filed]
                (found, *others), failure = reranked(view, asked, self._reranker, rankings)
                filed = others[0] if others else None
                used["re-ranker"] = failure is None
                notes += [] if failure is None else [failure]
                if failure is not None and search.offset:  # the pages before may have been re-ranked
                    notes.append(_OTHER_ORDER)
        grouped = by_message if search.group_by == "message" else by_conversation
        page = grouped(view, asked, found, titles, self._quality)
        first = page.hits[0].conversation.id if page.hits else None
        own = {match.conversation_id for match in titles.best.values() if match.holds_all}
        titled = first if first in own else None
        files, until = DocumentPage(), page.next or search.offset + search.limit
        if filed is not None:
            files = document_hits(view, asked, filed, until, self._quality, alone=not page.hits)
        return SearchResults(
            query=search.query.text,
            hits=_echoes_last(view, search.query.text, page.hits),
            took_ms=0.0,
            mode=found.mode,
            signals=tuple(name for name, is_used in used.items() if is_used),
            searched=found.searched + (filed.searched if filed is not None else 0),
            close=found.close or bool(files.hits),
            likelihood=max(found.likelihood, filed.likelihood if filed is not None and files.hits else 0.0),
            total=page.held + page.related + files.held + files.related,
            total_exact=found.exact and (filed is None or filed.exact or not files.held + files.related),
            with_words=page.held + files.held,
            next=until if files.further else page.next,
            notes=tuple(notes),
            derived=derived_hits(view, asked, titled=titled) if not search.offset else (),
            documents=files.hits,
            facets=count_facets(view, found.held_rows, found.pool) if search.facets else None,
        )


def _ranked(view: View, asked: Asked, model: Callable[[], TokenEmbedder], titled: Collection[int]) -> Ranking:
    """The passages of all kinds that are wanted, best first; `titled` are the conversations whose titles match.

    Text that is not chat (tool output, reasoning, context) is among the rest where its kind is asked for. Else it comes
    after the rest, and only where a few typed words are all in it, and nowhere in what was said.
    """
    kinds = set(asked.search.filter.kinds)
    if kinds == {"document"}:
        return Ranking(unknown=asked.question.terms)

    def ranked(partition: Partition, lent: Mapping[str, Spread] | None = None) -> Ranking:
        return rank(view, asked, partition, model, nearest=NEAREST, named=titled, lent=lent)

    said = ranked(Partition.SAID) if not kinds or kinds & set(SAID_KINDS) else Ranking()
    if kinds - set(SAID_KINDS):
        other = ranked(Partition.OTHER, said.spreads)
        newest = asked.search.sort == "newest"
        both = [*said.passages, *other.passages]
        return said.joined(other, sorted(both, key=lambda entry: -entry.time if newest else -entry.score))
    if asked.typed and not said.close and not (said.shares > 0).any() and said.searched >= TELLING_SIZE:
        said = said.only(())  # words that nobody used: among many passages some are near in meaning by chance
    if kinds or (said.passages and not asked.typed) or (said.shares >= ALL).any():
        return said
    other = ranked(Partition.OTHER, said.spreads)
    fitting = other.holding(ALL) if said.passages else other
    if not fitting.passages:
        return said
    used = said.holding()
    return used.joined(fitting, [*used.passages, *fitting.passages])


def _echoes_last(view: View, query: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Results with those behind the others whose best message only repeats the query: questions to `chat` that no model
    answered.
    """
    words, longest = set(terms(query)), len(query) + _SIGNS

    def repeats(message: Message) -> bool:
        return len(message.content) <= longest and set(terms(message.content)) == words

    def is_echo(hit: Hit) -> bool:
        if not repeats(hit.best.message):
            return False
        asked = {found.message.id for found in hit.messages}
        thread = view.thread(hit.conversation.id)
        turns = thread.turns if thread is not None else ()
        return asked <= {turn.query_id for turn in turns if turn.source_chunk_ids and not turn.response_ids}

    return tuple(sorted(hits, key=is_echo))


def _told(view: View, damage: IndexDamaged) -> str:
    """What a search by words alone says of itself, and what mends it."""
    if view.index().embedder is None:
        return f"The search index is not built yet, so this search used keywords alone. {damage.hint}"
    return "The search index is damaged, so this search used keywords alone. Rebuild it: recollect check --repair"


_EPOCH = date(1970, 1, 1).toordinal()
_LONGEST = timedelta(days=31)  # of a time that a question is taken to ask for; of a year much else is told
_TOO_COMMON = "This word is too common to search by. Add another."
_SIGNS = 10  # characters more than in the query, of a message that repeats it
_OTHER_ORDER = "Results may be missing or repeated, if those before were re-ranked. Begin again with the first ones."
_NO_WORD = "These signs cannot be searched for. Add a word."


# One question asked in several wordings: searched one by one, and what was found put into one list.

Find = Callable[[Search], SearchResults]

#: Weight of each further search beside the question's own, which is 1.
FURTHER = 1.0


def search_several(find: Find, searches: Sequence[Search], further: float = FURTHER) -> SearchResults:
    """The messages found by any of the searches, best first, as many as the first of them wants; that one is the
    question itself, and says all else of the results, such as whether anything is close. Single messages are searched
    for, whatever `group_by` says.

    Raises what `find` raises, ValueError without a search.
    """
    if not searches:
        raise ValueError("Nothing is searched for.")
    flat = [replace(search, group_by="message") for search in searches]
    first, *others = [find(search) for search in flat]
    return fused(first, others, further, searches[0].limit) if others else first


def fused(first: SearchResults, others: Sequence[SearchResults], further: float, limit: int) -> SearchResults:
    """The messages of flat results in one list."""
    weighed = [(1.0, _scores(first)), *((further, _scores(other)) for other in others if other.hits)]
    total = sum(weight for weight, _ in weighed)
    hits: dict[NodeId, Hit] = {}
    for results in (first, *others):
        for hit in results:
            hits.setdefault(hit.best.message.id, hit)
    scores = {
        message: sum(weight * found.get(message, min(found.values(), default=0.0)) for weight, found in weighed) / total
        for message in hits
    }
    order = sorted(hits, key=lambda message: -scores[message])[:limit]
    return replace(
        first,
        hits=tuple(_rescored(hits[message], scores[message]) for message in order),
        took_ms=first.took_ms + sum(other.took_ms for other in others),
        total=max(first.total, len(order)),
        next=None,
    )


def side_by_side(first: SearchResults, parts: Sequence[SearchResults], limit: int) -> SearchResults:
    """What a question finds and what each of its parts does, in one list of messages: the parts count alike, so that
    the best of each is worth what the best of the question itself is. An answer is there where each part has one.
    """
    top = max((hit.score for hit in first), default=0.0)
    scores: dict[NodeId, float] = {}
    hits: dict[NodeId, Hit] = {}
    for results in (*parts, first):
        best = max((hit.score for hit in results), default=0.0)
        scale = top / best if best > 0 and top > 0 else 1.0
        for hit in results:
            message = hit.best.message.id
            hits.setdefault(message, hit)
            scores[message] = max(scores.get(message, -1e9), hit.score * scale)
    order = sorted(hits, key=lambda message: -scores[message])[:limit]
    return replace(
        first,
        hits=tuple(_rescored(hits[message], scores[message]) for message in order),
        took_ms=first.took_ms + sum(part.took_ms for part in parts),
        total=max(first.total, len(order)),
        next=None,
        likelihood=max(first.likelihood, min((part.likelihood for part in parts), default=0.0)),
    )


def _scores(results: SearchResults) -> dict[NodeId, float]:
    return {hit.best.message.id: hit.score for hit in results}


def _rescored(hit: Hit, score: float) -> Hit:
    best = replace(hit.best, score=score)
    return replace(hit, score=score, messages=(best,))
