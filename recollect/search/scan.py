"""Search without an index: words looked for in the record itself, while the index is damaged or not made yet, and emoji
always.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Conversation, Message, NodeId, Window, to_microseconds
from recollect.search.query.request import Search, holds, passes
from recollect.search.query.spelling import pictures
from recollect.search.results.result import Hit, MessageHit, SearchResults, Why, counted
from recollect.search.results.snippet import excerpt, marking, words_in
from recollect.store import View
from recollect.text.sentences import windows_around
from recollect.text.terms import STOP_WORDS, terms, words

_LOOKED_AT = 20  # messages for each result wanted: filters leave fewer
_MOST = 20_000  # messages that are read for one search


def scanned(view: View, search: Search, reason: str = "") -> SearchResults:
    """Messages that hold most of the words or symbols, best first (or newest); `notes` says why it is no better."""
    query, limit = search.query, search.needed
    asked = [word for word in dict.fromkeys(words(query.text)) if word not in STOP_WORDS] or list(words(query.text))
    phrases = [" ".join(words(phrase)) for phrase in query.phrases]
    sought_for = [*asked, *phrases, *pictures(query.text)]
    most, is_all, kept = _LOOKED_AT * limit, not sought_for, list[Message]()
    conversations: dict[NodeId, Conversation] = {}
    while not is_all and (search.facets or len(_grouped(kept, search)) < limit):  # what does not fit makes room
        most = _MOST if search.facets else min(most, _MOST)
        found = view.scan(sought_for, most)
        conversations = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in found}))}
        kept = [
            message
            for message in found
            if passes(message, conversations.get(message.conversation_id), search.filter)
            and all(_holds(message, phrase) for phrase in query.phrases)
            and not any(_holds(message, phrase) for phrase in query.excluded)
        ]
        is_all = len(found) < most
        if most == _MOST:
            break
        most *= _LOOKED_AT
    if search.sort == "newest":
        kept.sort(key=lambda message: to_microseconds(message.timestamp) or 0, reverse=True)
    marked = marking(query.text, terms(query.text))
    end = search.offset + search.limit
    groups = _grouped(kept, search)
    shown = [[_hit(kept[rank], rank, *marked) for rank in own] for own in groups[search.offset : end]]
    sizes = view.sizes(list({own[0].message.conversation_id for own in shown}))
    results = tuple(_result(own, conversations, sizes) for own in shown)
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
        facets=counted(kept, conversations) if search.facets else None,
    )


def _holds(message: Message, phrase: str) -> bool:
    """Whether a message holds a phrase, or all the emoji and symbols of one without a word."""
    if found := words(phrase):
        return holds(message, found)
    signs = pictures(phrase)
    return bool(signs) and all(sign in message.content for sign in signs)


def _grouped(kept: Sequence[Message], search: Search) -> list[list[int]]:
    """The places of messages, those of a result together, in order."""
    groups: dict[NodeId, list[int]] = {}
    for place, message in enumerate(kept):
        key = message.id if search.group_by == "message" else message.conversation_id
        groups.setdefault(key, []).append(place)
    return list(groups.values())


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
