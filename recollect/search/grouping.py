"""From ranked passages to results: one a message, or one a conversation with its best window."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

import numpy as np

from recollect.models.embedding import TokenEmbedder
from recollect.record import Chunk, Conversation, Kind, Message, NodeId, Role, Window
from recollect.search.query.asking import Asked
from recollect.search.query.request import holds, passes
from recollect.search.ranking import Beyond, Ranked, Ranking, numbers
from recollect.search.results.result import Hit, MessageHit, Why
from recollect.search.results.snippet import excerpt, excerpt_and_words, marking, words_in
from recollect.search.titles import Titled, TitleMatch
from recollect.store import View
from recollect.store.passages import KINDS, Int, Owner, PassageText
from recollect.text.sentences import windows_around
from recollect.text.terms import words

T = TypeVar("T")

_FEW_WORDS = 12  # words, under which a text depends on what stands around it
_LONG_TEXT = 40  # words, from which on a few may differ
_RUN = 3  # words of the runs that long texts are compared by
_SAME = 0.9  # the share of their runs that two long texts have in common (Jaccard)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class _LongHit:
    group: int
    numbers: tuple[str, ...]
    runs: frozenset[tuple[str, ...]]


def grouped(items: Sequence[T], text: Callable[[T], str], context: Callable[[T], object]) -> list[list[T]]:
    """Items whose texts are near-identical together, in the order of the first of each.

    >>> grouped(["Book the 9:40.", "Book the 9:45.", "book the 9:40"], str, context=len)
    [['Book the 9:40.'], ['Book the 9:45.'], ['book the 9:40']]
    >>> grouped(["Book the 9:40.", "Book the 9:45.", "book the 9:40"], str, context=type)
    [['Book the 9:40.', 'book the 9:40'], ['Book the 9:45.']]
    """
    groups: list[list[T]] = []
    exact: dict[tuple[object, ...], int] = {}
    long: list[_LongHit] = []
    for item in items:
        content = text(item)
        said, numbers = tuple(words(content)), tuple(sorted(_NUMBER.findall(content)))
        key = (said or content, numbers, context(item) if len(said) < _FEW_WORDS else None)
        place = exact.get(key)
        if place is None and len(said) >= _LONG_TEXT:
            runs = frozenset(zip(*(said[start:] for start in range(_RUN)), strict=False))
            place = next((known.group for known in long if _alike(known, numbers, runs)), None)
            if place is None:
                long.append(_LongHit(len(groups), numbers, runs))
        if place is None:
            place = len(groups)
            groups.append([])
        exact[key] = place
        groups[place].append(item)
    return groups


def _alike(known: _LongHit, numbers: tuple[str, ...], runs: frozenset[tuple[str, ...]]) -> bool:
    fewer, more = sorted((len(known.runs), len(runs)))
    if known.numbers != numbers or fewer < _SAME * more:
        return False
    shared = len(known.runs & runs)
    return shared >= _SAME * (fewer + more - shared)


_MESSAGES_SHOWN = 4  # a conversation
_NEAR_BEST = 0.4  # a message is shown beside its conversation's best if it reaches so much of its score
_WITHIN = 3.0  # or is at most so much lower
_NAMED = 0.5  # a piece is named beside its message's best if it holds so much of the words that this does
_LOOKED_AT, _FLOOR = 200, 20  # ranked messages, and conversations: the worst of these is as good as a title alone
_LONG = 200  # tokens: shorter messages are never cut in pieces
_COMPARED = 2  # messages for each result wanted, among which copies are looked for
_COMPARED_AMONG = 100  # messages: of those further down each is a result by itself
_READ_AT_ONCE = 500  # messages
_BESIDE = 4  # positions around a hit among which its question or answer is sought


@dataclass(frozen=True, slots=True)
class _Found:
    rank: int
    ranked: Ranked
    text: PassageText


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some results; where the order goes on after them (None: nowhere), how many it holds for their words, and how many
    are merely related.
    """

    hits: tuple[Hit, ...]
    next: int | None
    held: int
    related: int


Model = Callable[[], TokenEmbedder]


def by_message(view: View, asked: Asked, ranking: Ranking, titles: Titled, model: Model) -> ResultPage:
    """One result a message, in order of rank; of near-identical ones the best, which names the others."""
    search, beyond = asked.search, Beyond(view, asked, ranking, model)
    pool, held = numbers(ranking.pool.messages), beyond.messages
    related = int(np.count_nonzero(~np.isin(pool, held)))
    count = len(held) + related
    ranked = [entry for entry in _one_a_message(ranking.passages) if entry.message]
    end = count if len(ranked) == len(pool) else len(ranked)

    def entries(first: int, last: int) -> list[Ranked]:
        rest = beyond.further_messages(pool, max(0, first - len(pool)), last - len(pool)) if last > len(pool) else []
        return [*ranked[first : min(last, len(pool))], *rest]

    # Copies are looked for among the first alone, so that what follows need not read what goes before; and among all of
    # these on each page, so that a copy that one page leaves out stands with its like on another.
    begin = 0 if search.offset < _COMPARED_AMONG else search.offset
    found: list[_Found] = []
    groups: list[list[_Found]] = []
    at = begin
    while at < end and len(groups) <= search.limit:
        last = min(end, max(at, search.offset) + _COMPARED * search.limit)
        last = min(end, max(last, _COMPARED_AMONG)) if at < _COMPARED_AMONG else last
        some = _pairs(view, list(enumerate(entries(at, last), at)))
        found += [_Found(rank, entry, text) for (rank, entry), text in some]
        compared = [f for f in found if f.rank < _COMPARED_AMONG]
        groups = [*_groups(view, compared), *([f] for f in found[len(compared) :])]
        groups = [group for group in groups if group[0].rank >= search.offset]
        at = last
    shown = groups[: search.limit]
    marked = marking(asked.question.text, ranking.words, asked.phrases)
    hits = _hits(view, [group[0] for group in shown], ranking, *marked)
    results = []
    for first, *others in shown:
        if (hit := hits.get(first.text.message_id)) is not None:
            copies = tuple(f.text.message_id for f in others if f.text.message_id)
            results.append((first.ranked.score, [replace(hit, copies=copies)]))
    following = groups[search.limit][0].rank if len(groups) > search.limit else end if end < count else None
    return ResultPage(_conversation_hits(view, results), following, len(held), related)


def by_conversation(view: View, asked: Asked, ranking: Ranking, titles: Titled, model: Model) -> ResultPage:
    """One result a conversation: its first message decides the rank, its title can lift it. Those that hold a word and
    are not in the pool come after all others.
    """
    search, beyond = asked.search, Beyond(view, asked, ranking, model)
    named = titles_to_show(view, asked, titles, numbers(beyond.conversations, ranking.pool.conversations))
    best, groups = _best(ranking, named.best)
    pool = numbers(ranking.pool.conversations, np.array(sorted(named.best), np.int64))
    held = numbers(beyond.conversations, np.array([*named.best, *named.rest], np.int64))
    related = int(np.count_nonzero(~np.isin(pool, held)))
    count = len(held) + related
    newest = search.sort == "newest"
    order = list(best) if newest else sorted(best, key=lambda number: -best[number])
    results: list[tuple[float, list[MessageHit]]] = []
    at = search.offset
    while at < count and len(results) < search.limit:  # what is there no longer makes room for others
        last = min(count, at + search.limit - len(results))
        some = order[at : min(last, len(pool))]
        if last > len(pool):
            others = beyond.further_conversations(pool, list(named.rest))
            some += others[max(0, at - len(pool)) : last - len(pool)]
        missing = [number for number in some if number not in groups]
        groups |= beyond.of_conversations(missing, _MESSAGES_SHOWN, last) if missing else {}
        tops = {number: _of_its_own(groups[number][0][1]) for number in some if number in groups}
        # shown beside the best of its conversation is what has a good part of its score, or is not far below it
        least = {number: min(top - _WITHIN, _NEAR_BEST * top) for number, top in tops.items()}
        chosen = [
            (rank, entry)
            for number in some
            for rank, entry in groups.get(number, [])[:_MESSAGES_SHOWN]
            if newest or number in missing or _of_its_own(entry) >= least[number]
        ]
        found = [_Found(rank, entry, text) for (rank, entry), text in _pairs(view, chosen) if text.message_id]
        shown = _hits(view, found, ranking, *marking(asked.question.text, ranking.words, asked.phrases))
        for number in some:
            ids = [f.text.message_id for f in found if f.ranked.conversation == number]
            of_group = [shown[message_id] for message_id in ids if message_id in shown]
            score = best.get(number) or max((hit.score for hit in of_group), default=0.0)
            match = named.best.get(number)
            title = match.passage if match is not None else named.rest.get(number)
            if title is not None and (not of_group or (match is not None and match.is_query and not newest)):
                of_title = _title_hits(view, asked, title, score, ranking.words)
                opened = {hit.message.id for hit in of_title}
                of_title += [hit for hit in of_group if hit.message.id not in opened]
                of_group = of_title[:_MESSAGES_SHOWN]
            if of_group:
                results.append((score, of_group))
        at = last
    return ResultPage(_conversation_hits(view, results), at if at < count else None, len(held), related)


def _best(
    ranking: Ranking, titles: Mapping[int, TitleMatch]
) -> tuple[dict[int, float], dict[int, list[tuple[int, Ranked]]]]:
    """The scores of the first conversations of the pool, and their passages with their ranks, best first."""
    groups: dict[int, list[tuple[int, Ranked]]] = {}
    floor = 0.0
    for rank, entry in enumerate(_one_a_message(ranking.passages)):
        if entry.conversation and entry.conversation not in groups and (rank < _LOOKED_AT or len(groups) < _FLOOR):
            floor = min(floor, entry.score) if groups else entry.score
        groups.setdefault(entry.conversation, []).append((rank, entry))
    groups.pop(0, None)
    own = {number: entries[0][1].score for number, entries in groups.items()}
    best = {n: own.get(n, floor) + (titles[n].bonus if n in titles else 0.0) for n in {**own, **titles}}
    return best, groups


def _of_its_own(entry: Ranked) -> float:
    """The score without what the title gives to all messages of the conversation."""
    return entry.score - entry.scores.of("title", entry.row)


def _one_a_message(ranked: Sequence[Ranked]) -> list[Ranked]:
    seen: set[int] = set()
    kept = []
    for entry in ranked:
        key = entry.message or -entry.passage
        if key not in seen:
            seen.add(key)
            kept.append(entry)
    return kept


def _groups(view: View, found: Sequence[_Found]) -> list[list[_Found]]:
    """Near-identical ones together. What two people say with the same words is said twice."""
    groups = grouped(found, text=lambda f: f.text.text, context=lambda f: f.ranked.conversation)
    ids = [f.text.message_id for group in groups if len(group) > 1 for f in group if f.text.message_id]
    if not ids:
        return groups
    speakers = {message.id: message.speaker for message in view.get(Message, ids)}
    by_speaker: dict[tuple[int, str | None], list[_Found]] = {}
    for number, group in enumerate(groups):
        for f in group:
            by_speaker.setdefault((number, speakers.get(f.text.message_id or NodeId(""))), []).append(f)
    return sorted(by_speaker.values(), key=lambda group: group[0].rank)


def _pairs(view: View, ranked: Sequence[tuple[int, Ranked]]) -> list[tuple[tuple[int, Ranked], PassageText]]:
    texts = {t.number: t for t in view.passages([entry.passage for _, entry in ranked])}
    return [((rank, entry), texts[entry.passage]) for rank, entry in ranked if entry.passage in texts]


def _hits(
    view: View,
    found: Sequence[_Found],
    ranking: Ranking,
    wanted: Collection[str],
    phrases: Sequence[Sequence[str]],
) -> dict[NodeId | None, MessageHit]:
    ids = [f.text.message_id for f in found if f.text.message_id is not None]
    messages = {message.id: message for message in view.get(Message, ids)}
    first = {f.ranked.conversation: f.text.message_id for f in reversed(found)}  # the best of each conversation
    beside = _beside(view, [m for m in messages.values() if m.id in first.values()])
    chunks = _chunks(view, found, messages)
    pieces = _pieces(view, found, ranking, chunks)
    hits: dict[NodeId | None, MessageHit] = {}
    for f in found:
        message = messages.get(f.text.message_id) if f.text.message_id else None
        if message is not None:
            snippet, words = excerpt_and_words(f.text.text, wanted, phrases)
            why = Why(f.rank, f.ranked.terms(), words, "tool" if f.text.owner == Owner.TOOL_CALL else f.ranked.kind)
            hits[message.id] = MessageHit(
                message,
                f.ranked.score,
                snippet,
                why,
                beside.get(message.id),
                pieces.get(f.ranked.passage, ()),
                f.text.owner_id if f.text.owner == Owner.TOOL_CALL else None,
            )
    return hits


def _chunks(
    view: View, found: Sequence[_Found], messages: Mapping[NodeId, Message]
) -> dict[tuple[NodeId, int], list[Chunk]]:
    """The pieces of long messages, by message and part. Those that cannot be long are not looked up."""
    texts = [f.text for f in found if f.text.owner == Owner.MESSAGE and f.text.message_id in messages]
    owners = {t.owner_id for t in texts if t.part >= 0 or messages[t.owner_id].tokens > _LONG}
    chunks: dict[tuple[NodeId, int], list[Chunk]] = {}
    for chunk in view.get(Chunk, sorted(owners)) if owners else ():
        chunks.setdefault((chunk.parent_id, chunk.part), []).append(chunk)
    return chunks


def _pieces(
    view: View, found: Sequence[_Found], ranking: Ranking, chunks: Mapping[tuple[NodeId, int], list[Chunk]]
) -> dict[int, tuple[NodeId, ...]]:
    """The pieces of a long message that match, by the passage that stands for it: that of this passage first, then
    those of its other passages that hold about as much of the question, best first.
    """
    several = {parent for (parent, _), own in chunks.items() if len(own) > 1}
    best = {f.ranked.message: f.ranked for f in found if f.text.owner_id in several}
    others: dict[int, list[int]] = {}
    for entry in ranking.passages if best else ():
        first = best.get(entry.message)
        if first is not None and entry.matches and entry.share >= _NAMED * first.share:
            others.setdefault(entry.message, []).append(entry.passage)
    read = {text.number: text for text in view.passages([n for own in others.values() for n in own])} if others else {}
    pieces = {}
    for f in found:
        texts = [f.text, *(read[n] for n in others.get(f.ranked.message, ()) if n in read)]
        named = (_chunk_of(text, chunks) for text in texts)
        pieces[f.ranked.passage] = tuple(dict.fromkeys(piece for piece in named if piece is not None))
    return pieces


def _chunk_of(text: PassageText, chunks: Mapping[tuple[NodeId, int], list[Chunk]]) -> NodeId | None:
    """The piece that holds all of a passage."""
    end = text.start + len(text.text)
    holding = (c.id for c in chunks.get((text.owner_id, text.part), ()) if c.start <= text.start and end <= c.end)
    return next(holding, None)


def _beside(view: View, messages: Iterable[Message]) -> dict[NodeId, Message]:
    """The answer to what a user said, the question that an assistant answered (RANKING.md 4), by the message's id."""
    said = sorted((m for m in messages if m.kind is Kind.SAID), key=lambda m: (m.conversation_id, m.position))
    spans = [
        (conversation_id, first, last)
        for conversation_id, group in groupby(said, key=lambda m: m.conversation_id)
        for first, last in _joined(_looked_at(message) for message in group)
    ]
    near = {(m.conversation_id, m.position): m for m in view.around(spans)} if spans else {}
    found = ((message.id, _answer_or_question(message, near)) for message in said)
    return {message_id: other for message_id, other in found if other is not None}


def _looked_at(message: Message) -> tuple[int, int]:
    at = message.position
    return (at + 1, at + _BESIDE) if message.role is Role.USER else (max(0, at - _BESIDE), at - 1)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans with those that touch made one: each is one look into the store."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _answer_or_question(message: Message, near: Mapping[tuple[NodeId, int], Message]) -> Message | None:
    first, last = _looked_at(message)
    by_user = message.role is Role.USER
    places = range(first, last + 1) if by_user else range(last, first - 1, -1)
    for other in (near.get((message.conversation_id, place)) for place in places):
        if other is None or other.kind is not Kind.SAID or other.deleted:
            continue
        if by_user and other.role is not Role.USER and other.active == message.active:
            return other
        if not by_user and other.role is Role.USER:
            return other
    return None


def _conversation_hits(view: View, groups: Sequence[tuple[float, Sequence[MessageHit]]]) -> tuple[Hit, ...]:
    """A result a group: its score and its messages, which are of one conversation."""
    ids = list(dict.fromkeys(hits[0].message.conversation_id for _, hits in groups))
    conversations = {conversation.id: conversation for conversation in view.get(Conversation, ids)}
    sizes = view.sizes(ids)
    return tuple(
        Hit(
            conversation=conversations[conversation_id],
            message_count=sizes[conversation_id][0],
            score=score,
            window=_best_window(hits, sizes[conversation_id][1]),
            messages=tuple(sorted(hits, key=lambda hit: hit.message.position)),
        )
        for score, hits in groups
        for conversation_id in [hits[0].message.conversation_id]
        if conversation_id in conversations
    )


def _best_window(hits: Sequence[MessageHit], count: int) -> Window:
    """The window that holds the best message, and of those the one whose messages scored highest together."""
    best = max(hits, key=lambda hit: hit.score)
    at = best.message.position
    lowest = min(hit.score for hit in hits)
    around = [Window(best.message.conversation_id, index, *span) for index, span in windows_around(at, count)]

    def value(window: Window) -> tuple[float, int]:
        inside = [hit.score - lowest + 1 for hit in hits if window.start <= hit.message.position <= window.end]
        return sum(inside), -abs(2 * at - window.start - window.end)

    return max(around, key=value)


def titles_to_show(view: View, asked: Asked, titles: Titled, found: Int) -> Titled:
    """The titles of conversations in which the filter lets something be found; in those that are `found` it does."""
    wanted = asked.search.filter
    narrow = wanted.roles or wanted.kinds or wanted.since is not None or wanted.until is not None or asked.excluded
    if not narrow or not (titles.best or titles.rest):
        return titles
    known = set(found.tolist())
    ids = {n: title.conversation_id for n, title in titles.best.items() if n not in known}
    rest = {passage: n for n, passage in titles.rest.items() if n not in known}
    texts = view.passages(list(rest)) if rest else []
    ids |= {rest[text.number]: text.conversation_id for text in texts if text.conversation_id is not None}
    fitting = _firsts(view, list(ids.values()), asked)
    known |= {n for n, conversation_id in ids.items() if conversation_id in fitting}
    return Titled(
        {n: title for n, title in titles.best.items() if n in known},
        {n: passage for n, passage in titles.rest.items() if n in known},
    )


def _title_hits(view: View, asked: Asked, passage: int, score: float, words: Sequence[str]) -> list[MessageHit]:
    """A conversation that is found by its title is shown by the first of its messages that may be found."""
    texts = view.passages([passage])
    if not texts or texts[0].conversation_id is None:
        return []
    shown = _firsts(view, [texts[0].conversation_id], asked).get(texts[0].conversation_id)
    if shown is None:
        return []
    wanted, phrases = marking(asked.question.text, words)
    why = Why(0, {"title": score}, words_in(texts[0].text, wanted), "title")
    return [MessageHit(shown, score, excerpt(shown.content, wanted, phrases), why)]


def _firsts(view: View, conversation_ids: Sequence[NodeId], asked: Asked) -> dict[NodeId, Message]:
    """The first message of each conversation that the filter lets be found, rather one that was said; conversations in
    which it lets none are left out.
    """
    conversations = {conversation.id: conversation for conversation in view.get(Conversation, conversation_ids)}
    wanted = asked.search.filter
    if not wanted.kinds:
        wanted = replace(wanted, kinds=KINDS)
    firsts: dict[NodeId, Message] = {}
    pending, at, many = sorted(conversations), 0, _BESIDE + 1
    while pending:
        left, room = list[NodeId](), max(1, _READ_AT_ONCE // many)
        for some in (pending[i : i + room] for i in range(0, len(pending), room)):
            messages = view.around([(conversation_id, at, at + many - 1) for conversation_id in some])
            for conversation_id, own in groupby(messages, key=lambda message: message.conversation_id):
                fitting = [
                    message
                    for message in own
                    if not message.deleted
                    and passes(message, conversations[conversation_id], wanted)
                    and not any(holds(message, phrase) for phrase in asked.excluded)
                ]
                said = (message for message in fitting if message.kind is Kind.SAID and message.content)
                if fitting:
                    firsts[conversation_id] = next(said, fitting[0])
                else:
                    left.append(conversation_id)
        pending, at, many = left, at + many, 4 * many
    return firsts
