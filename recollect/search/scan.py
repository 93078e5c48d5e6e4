"""Search without an index: words looked for in the record itself, while the index is damaged or not made yet."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Conversation, Message, NodeId, Window, to_microseconds
from recollect.search.result import Hit, MessageHit, SearchResults, Why
from recollect.search.snippet import excerpt, words_in
from recollect.search.syntax import Query
from recollect.store import View
from recollect.store.passages import SAID_KINDS, Filter
from recollect.text.stopwords import STOP_WORDS
from recollect.text.terms import terms, words
from recollect.text.windows import windows_around

_LOOKED_AT = 20  # messages for each result wanted: filters leave fewer


def scanned(view: View, query: Query, wanted: Filter, group_by: str, limit: int, reason: str) -> SearchResults:
    """Messages that hold most of the words, best first; `notes` says why it is no better."""
    asked = [word for word in dict.fromkeys(words(query.text)) if word not in STOP_WORDS] or list(words(query.text))
    phrases = [" ".join(words(phrase)) for phrase in query.phrases]
    excluded = [" ".join(words(phrase)) for phrase in query.excluded]
    found = view.scan([*asked, *phrases], _LOOKED_AT * limit) if asked or phrases else []
    conversations = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in found}))}
    kept = [
        message
        for message in found
        if _allowed(message, conversations.get(message.conversation_id), wanted)
        and all(phrase in " ".join(words(message.content)) for phrase in phrases)
        and not any(phrase in " ".join(words(message.content)) for phrase in excluded)
    ]
    sought = terms(query.text)
    hits = [_hit(message, rank, sought) for rank, message in enumerate(kept)]
    groups: dict[NodeId, list[MessageHit]] = {}
    for hit in hits:
        key = hit.message.id if group_by == "message" else hit.message.conversation_id
        groups.setdefault(key, []).append(hit)
    sizes = view.sizes(list(conversations))
    results = tuple(_result(own, conversations, sizes) for own in list(groups.values())[:limit])
    return SearchResults(
        query=query.text, hits=results, took_ms=0.0, mode="instant", signals=("words",), notes=(reason,)
    )


def _allowed(message: Message, conversation: Conversation | None, wanted: Filter) -> bool:
    moment = to_microseconds(message.timestamp)
    kinds = wanted.kinds or SAID_KINDS
    return (
        conversation is not None
        and message.kind.value in kinds
        and (not wanted.roles or message.role.value in wanted.roles)
        and (not wanted.sources or conversation.source in wanted.sources)
        and (wanted.conversation_ids is None or conversation.id in wanted.conversation_ids)
        and (wanted.since is None or (moment is not None and moment >= wanted.since))
        and (wanted.until is None or (moment is not None and moment < wanted.until))
    )


def _hit(message: Message, rank: int, sought: Sequence[str]) -> MessageHit:
    held = words_in(message.content, sought)
    score = float(len(held))
    return MessageHit(
        message, score, excerpt(message.content, sought), Why(rank, {"words": score}, held, message.kind.value)
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
