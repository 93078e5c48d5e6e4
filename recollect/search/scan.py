"""Search without an index: words looked for in the record itself, while the index is damaged or not made yet, and emoji
always.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Conversation, Message, NodeId, Window, to_microseconds
from recollect.search.query.filtering import holds, passes
from recollect.search.query.forms import pictures
from recollect.search.query.request import Search
from recollect.search.results.result import Hit, MessageHit, SearchResults, Why
from recollect.search.results.snippet import excerpt, marking, words_in
from recollect.store import View
from recollect.text.stopwords import STOP_WORDS
from recollect.text.terms import terms, words
from recollect.text.windows import windows_around

_LOOKED_AT = 20  # messages for each result wanted: filters leave fewer


def scanned(view: View, search: Search, reason: str = "") -> SearchResults:
    """Messages that hold most of the words or symbols, best first (or newest); `notes` says why it is no better."""
    query, limit = search.query, search.needed
    asked = [word for word in dict.fromkeys(words(query.text)) if word not in STOP_WORDS] or list(words(query.text))
    phrases = [words(phrase) for phrase in query.phrases]
    excluded = [words(phrase) for phrase in query.excluded]
    sought_for = [*asked, *map(" ".join, phrases), *pictures(query.text)]
    most, is_all, kept = _LOOKED_AT * limit, not sought_for, list[Message]()
    while len(kept) < limit and not is_all:  # what does not fit makes room for others
        found = view.scan(sought_for, most)
        conversations = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in found}))}
        kept = [
            message
            for message in found
            if passes(message, conversations.get(message.conversation_id), search.filter)
            and all(holds(message, phrase) for phrase in phrases)
            and not any(holds(message, phrase) for phrase in excluded)
        ]
        is_all, most = len(found) < most, most * _LOOKED_AT
    if search.sort == "newest":
        kept.sort(key=lambda message: to_microseconds(message.timestamp) or 0, reverse=True)
    marked = marking(query.text, terms(query.text))
    hits = [_hit(message, rank, *marked) for rank, message in enumerate(kept)]
    groups: dict[NodeId, list[MessageHit]] = {}
    for hit in hits:
        key = hit.message.id if search.group_by == "message" else hit.message.conversation_id
        groups.setdefault(key, []).append(hit)
    ids = list(dict.fromkeys(message.conversation_id for message in kept))
    conversations, sizes = {c.id: c for c in view.get(Conversation, ids)}, view.sizes(ids)
    results = tuple(
        _result(own, conversations, sizes)
        for own in list(groups.values())[search.offset : search.offset + search.limit]
    )
    end = search.offset + search.limit
    return SearchResults(
        query=query.text,
        hits=results,
        took_ms=0.0,
        mode="instant",
        signals=("words",),
        notes=(reason,) if reason else (),
        total=len(groups),
        total_exact=is_all,
        with_words=len(groups),
        next=end if len(groups) > end else None,
    )


def _hit(message: Message, rank: int, sought: frozenset[str], phrases: Sequence[Sequence[str]]) -> MessageHit:
    held = words_in(message.content, sought)
    score = float(len(held) or 1)
    return MessageHit(
        message, score, excerpt(message.content, sought, phrases), Why(rank, {"words": score}, held, message.kind.value)
    )


def _result(
    own: Sequence[MessageHit], conversations: dict[NodeId, Conversation], sizes: dict[NodeId, tuple[int, int]]
) -> Hit:
    best = own[0].message
    living, every = sizes[best.conversation_id]
    index, (start, end) = windows_around(best.position, every)[0]
    return Hit(
        conversation=conversations[best.conversation_id],
        message_count=living,
        score=own[0].score,
        window=Window(best.conversation_id, index, start, end),
        messages=tuple(sorted(own[:4], key=lambda hit: hit.message.position)),
    )
