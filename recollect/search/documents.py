"""Documents that answer a question, each by its best chunk, with the place in the file: beside the messages found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.models.embedding import TokenEmbedder
from recollect.record import REPORTS, Document, NodeId
from recollect.record.outline import place_in
from recollect.search.query.asking import Asked
from recollect.search.query.request import Search
from recollect.search.ranking import Ranked, Ranking, rank
from recollect.search.results.result import DocumentHit, Why
from recollect.search.results.snippet import densest, excerpt_and_words, marking
from recollect.search.weights import DOCUMENT_CLOSE, DOCUMENT_SHARE
from recollect.store import View
from recollect.store.passages import Partition, PassageText

_KIND = "document"
_BESIDE = 5  # documents beside messages
_LOOKED_AT = 4  # chunks for each document wanted


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
    whatever = replace(asked, search=replace(asked.search, filter=replace(wanted, kinds=())))
    return rank(view, whatever, Partition.DOCUMENT, model)


def document_hits(
    view: View, asked: Asked, found: Ranking, until: int, *, alone: bool
) -> tuple[tuple[DocumentHit, ...], bool]:
    """One hit a document, or one a chunk where single messages are asked for; and whether there are more.

    Beside messages only those chunks that hold most of the question, or come near to it with any word of it; `alone`,
    or where documents are asked for, all that have to do with it. Where they are asked for these are those from the
    search's offset `until` another; else all stand on the first page. Reports come after files.
    """
    search, asked_for = asked.search, _KIND in asked.search.filter.kinds
    if search.offset and not asked_for:
        return (), False
    passages = found.passages
    if not asked_for:
        passages = [entry for entry in passages if _answers(entry) or (alone and entry.matches)]
        until = min(search.limit, _BESIDE)
    if search.sort == "newest":
        passages = sorted(passages, key=lambda entry: -entry.time)
    chunks = _fitting(view, passages, search, _LOOKED_AT * (until + 1))
    if search.group_by == "conversation":
        chunks = _one_a_document(chunks)
    hits = [_hit(chunk, asked, found.words) for chunk in chunks[search.offset : until]]
    return tuple(sorted(hits, key=lambda hit: hit.document.source == REPORTS)), asked_for and len(chunks) > until


def _answers(entry: Ranked) -> bool:
    return entry.share >= DOCUMENT_SHARE or (entry.share > 0 and entry.near >= DOCUMENT_CLOSE)


def _fitting(view: View, passages: Sequence[Ranked], search: Search, most: int) -> list[_Chunk]:
    """The first chunks that the filter lets be found, looked up so many at a time."""
    found: list[_Chunk] = []
    for start in range(0, len(passages), most):
        chunks = _chunks(view, passages[start : start + most], start)
        fitting = [chunk for chunk in chunks if _passes(chunk.document, search)]
        found += fitting
        if len(found) >= most or len(fitting) == len(chunks):
            break
    return found


def _passes(document: Document, search: Search) -> bool:
    if search.filter.sources:
        return document.source in search.filter.sources
    return search.with_reports or document.source != REPORTS


def _chunks(view: View, passages: Sequence[Ranked], first: int) -> list[_Chunk]:
    texts = {text.number: text for text in view.passages([entry.passage for entry in passages])}
    documents = {d.id: d for d in view.get(Document, list({text.owner_id for text in texts.values()}))}
    return [
        _Chunk(place, entry, text, documents[text.owner_id])
        for place, entry in enumerate(passages, first)
        if (text := texts.get(entry.passage)) is not None and text.owner_id in documents
    ]


def _one_a_document(chunks: Sequence[_Chunk]) -> list[_Chunk]:
    best: dict[NodeId, _Chunk] = {}
    for chunk in chunks:
        best.setdefault(chunk.document.id, chunk)
    return list(best.values())


def _hit(chunk: _Chunk, asked: Asked, words: Sequence[str]) -> DocumentHit:
    text, (wanted, phrases) = chunk.text, marking(asked.question.text, words, asked.phrases)
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
