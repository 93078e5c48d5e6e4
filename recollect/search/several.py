"""One question asked in several wordings: searched one by one, and what was found put into one list.

Each wording is scored by the same ranker, with all that the question itself says of who, when and what kind of answer
(`Search.wording`), so that scores compare better than ranks do: a message has the mean of its scores, by the weights of
the wordings, and where a wording did not find it the lowest score there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from recollect.record import NodeId
from recollect.search.query.request import Search
from recollect.search.results.result import Hit, SearchResults

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
