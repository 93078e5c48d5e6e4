"""Documents that answer a question, each by its best chunk, with the place in the file: beside the messages found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recollect.models.embedding import TokenEmbedder
from recollect.record import REPORTS, Document, NodeId
from recollect.record.tree import place_in
from recollect.search.query.asking import Asked
from recollect.search.query.request import Search
from recollect.search.ranking import Beyond, Ranked, Ranking, rank
from recollect.search.results.result import DocumentHit, Why
from recollect.search.results.snippet import densest, excerpt_and_words, marking
from recollect.search.weights import DOCUMENT_CLOSE, DOCUMENT_SHARE
from recollect.store import View
from recollect.store.passages import Partition, PassageText

_KIND = "document"
_BESIDE = 5  # documents beside messages


@dataclass(frozen=True, slots=True)
class _Place:
    """A chunk's place among all that are found, by the number of its passage, and the document that it is of."""

    rank: int
    passage: int
    document: NodeId


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A ranked chunk with its text and its document."""

    rank: int
    ranked: Ranked
    text: PassageText
    document: Document


def rank_documents(view: View, asked: Asked, model: Callable[[], TokenEmbedder]) -> Ranking | None:
    """The chunks of documents, best first; None where the search leaves documents out."""
    wanted = asked.search.filter
    kept_out = wanted.kinds and _KIND not in wanted.kinds and not asked.search.with_documents
    if kept_out or wanted.roles or wanted.conversation_ids is not None:
        return None
    return rank(view, _of_any_kind(asked), Partition.DOCUMENT, model)


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents, whether there are more, and of how many the words hold; the others are merely related."""

    hits: tuple[DocumentHit, ...] = ()
    further: bool = False
    held: int = 0
    related: int = 0


def document_hits(
    view: View, asked: Asked, found: Ranking, until: int, model: Callable[[], TokenEmbedder], *, alone: bool
) -> DocumentPage:
    """One hit a document, or one a chunk where single messages are asked for.

    Beside messages only those chunks that hold most of the question, or come near to it with any word of it; `alone`,
    or where documents are asked for, all that have to do with it. Where they are asked for these are those from the
    search's offset `until` another, counted exactly; else all stand on the first page, and are not counted. On a page
    reports come after files.
    """
    search = asked.search
    if _KIND not in search.filter.kinds:
        if search.offset:
            return DocumentPage()
        fitting = [entry.passage for entry in found.passages if _answers(entry) or (alone and entry.matches)]
        places = _shown(_places(view, fitting, search), search)[: min(search.limit, _BESIDE)]
        return DocumentPage(_hits(view, asked, found, places))
    beyond = Beyond(view, _of_any_kind(asked), found, model)
    places = _places(view, [*_pool(found, search), *beyond.passages.passages.tolist()], search)
    holding = set(found.held_rows.passages.tolist())
    held = len(_shown([place for place in places if place.passage in holding], search))
    shown = _shown(places, search)
    hits = _hits(view, asked, found, shown[search.offset : until], beyond)
    return DocumentPage(hits, len(shown) > until, held, len(shown) - held)


def _of_any_kind(asked: Asked) -> Asked:
    return replace(asked, search=replace(asked.search, filter=replace(asked.search.filter, kinds=())))


def _pool(found: Ranking, search: Search) -> list[int]:
    """The numbers of all chunks that were ranked, in the order of the search."""
    if search.sort == "newest":
        newest = np.argsort(-found.pool.times, kind="stable")
        return list(map(int, found.pool.passages[newest]))
    return list(dict.fromkeys([*(entry.passage for entry in found.passages), *found.pool.passages.tolist()]))


def _answers(entry: Ranked) -> bool:
    return entry.share >= DOCUMENT_SHARE or (entry.share > 0 and entry.near >= DOCUMENT_CLOSE)


def _places(view: View, passages: Sequence[int], search: Search) -> list[_Place]:
    """Chunks with their documents and ranks; those that the filter leaves out are not among them."""
    known = view.documents_of(passages)
    places = ((rank, number, known[number]) for rank, number in enumerate(passages) if number in known)
    return [_Place(rank, number, own) for rank, number, (own, source) in places if _passes(source, search)]


def _shown(places: Sequence[_Place], search: Search) -> list[_Place]:
    """The first chunk of each document, or all where single messages are asked for."""
    if search.group_by == "message":
        return list(places)
    best: dict[NodeId, _Place] = {}
    for place in places:
        best.setdefault(place.document, place)
    return list(best.values())


def _passes(source: str, search: Search) -> bool:
    if search.filter.sources:
        return source in search.filter.sources
    return search.with_reports or source != REPORTS


def _hits(
    view: View, asked: Asked, found: Ranking, places: Sequence[_Place], beyond: Beyond | None = None
) -> tuple[DocumentHit, ...]:
    ranked = {entry.passage: entry for entry in found.passages}
    if beyond is not None:
        ranked |= beyond.of_passages([place.passage for place in places if place.passage not in ranked])
    texts = {text.number: text for text in view.passages([place.passage for place in places])}
    documents = {document.id: document for document in view.get(Document, [place.document for place in places])}
    hits = (
        _hit(_Chunk(place.rank, ranked[place.passage], texts[place.passage], documents[place.document]), asked, found)
        for place in places
        if place.passage in ranked and place.passage in texts and place.document in documents
    )
    return tuple(sorted(hits, key=lambda hit: hit.document.source == REPORTS))


def _hit(chunk: _Chunk, asked: Asked, found: Ranking) -> DocumentHit:
    text, (wanted, phrases) = chunk.text, marking(asked.question.text, found.words, asked.phrases)
    snippet, held = excerpt_and_words(text.text, wanted, phrases)
    at = text.start + densest(text.text, wanted, phrases)
    return DocumentHit(
        document=chunk.document,
        start=text.start,
        end=text.start + len(text.text),
        at=at,
        place=place_in(chunk.document, at),
        score=chunk.ranked.score,
        snippet=snippet,
        why=Why(chunk.rank, chunk.ranked.terms(), held, _KIND),
    )
