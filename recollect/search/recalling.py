"""What a text brings back, as one ranking in one view: for a context, which shows much of it and counts the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from recollect.models.embedding import Embedder, TokenEmbedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import (
    REPORTS,
    Conversation,
    Document,
    Message,
    Node,
    NodeId,
    from_microseconds,
    to_microseconds,
)
from recollect.record.tree import place_in
from recollect.search.derived import derived_hits, stored_facts
from recollect.search.known import Fit
from recollect.search.query.asking import Asked, ask
from recollect.search.query.request import Query, Search
from recollect.search.query.spelling import correction
from recollect.search.query.wants import speaks_of_own
from recollect.search.ranking import Ranked, Ranking, numbers, rank
from recollect.search.results.result import DerivedHit
from recollect.search.scan import scanned
from recollect.search.scoring import Spread
from recollect.search.weights import TELLING_SIZE
from recollect.store import IndexDamaged, View
from recollect.store.passages import Filter, Float, Owner, Partition, PassageText

#: Kinds beside what was said that a context may hold: what tools gave back, and documents.
BESIDE_KINDS = ("tool", "document")
#: Characters of a long text that are asked with: of what was pasted the beginning and the end say what it is about.
_ASKED_AT_EACH_END = 1_500
_SCANNED = 50
_RANKED_EACH = 40  # messages for each result of a search that ranks 50 passages for each
_READ = 96  # messages that are read at once
_FURTHER = 3  # tool results that do not clearly answer, where hardly anything was said yet
_BESIDE_POOL, _BESIDE_MOST = 120, 24  # passages beside what was said that are looked at, and messages of them
#: What was not said is told of only where it clearly answers: so much of the question's idf, or so near in meaning.
_CLEAR_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Recalled:
    """A message (or document) that a text brought back. `passage` is the part of it that did, at `start` of `text`."""

    id: NodeId
    conversation_id: NodeId | None
    title: str
    role: str
    speaker: str | None
    kind: str
    time: datetime | None
    text: str
    passage: str
    start: int
    tokens: int
    score: float
    vector: Float | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """What a text brought back: the best messages in order of rank, what is not chat after them, facts and summaries.
    `stored` are facts that answer and that no message proves, `further` tool results that do not clearly answer, in a
    young memory alone, which shows all it has.

    `relevant` counts the passages of the namespace that are nearer to the text than its average passage, by words and
    meaning together; it is counted over all of them, not over those that are here. `words` are the index terms that
    were looked for. `fit` tells how much of it is worth handing out to who may have asked for nothing.
    """

    said: tuple[Recalled, ...] = ()
    other: tuple[Recalled, ...] = ()
    further: tuple[Recalled, ...] = ()
    derived: tuple[DerivedHit, ...] = ()
    stored: tuple[Node, ...] = ()
    relevant: int = 0
    searched: int = 0
    words: tuple[str, ...] = ()
    close: bool = True
    fit: Fit = Fit.WELL


def recall(
    view: View,
    text: str,
    embedder: Embedder,
    quality: Callable[[], TokenEmbedder],
    today: date,
    *,
    most: int,
    beside: bool = True,
    vectors: bool = False,
    derived: Mapping[str, int] | None = None,
    enough: int | None = None,
) -> Recall:
    """What the memory holds of a text: the best `most` of it, or so many of the best as have `enough` tokens.

    `beside` looks at tool results and documents as well. The text is somebody's words, not a query: it has no
    operators. Where the index is damaged, words alone decide. Raises StoreError.
    """
    search = Search(Query(_shortened(text)), Filter(), limit=max(1, most // _RANKED_EACH), group_by="message")

    def ranked(asked: Asked) -> Ranking:
        """Of a few words all of it, provided that they have to do with any of it."""
        said = rank(view, asked, Partition.SAID, quality, vectors=vectors, unmatched=True)
        return said.only(()) if asked.typed and not any(one.matches for one in said.passages) else said

    def read(asked: Asked, said: Ranking) -> Recall:
        others = _beside(view, asked, quality, said) if beside else ()
        found = _read(view, asked, said, others, most, enough, derived)
        # The signs were measured with these vectors alone.
        return found if embedder.name == StaticEmbedder.name else replace(found, fit=Fit.WELL)

    try:
        asked = ask(view, search, embedder, quality, today)
        if not asked.question.terms and not asked.phrases:
            return Recall(close=False)
        said = ranked(asked)
        mended = correction(search.query.text, said.unknown, view.vocabulary())
        if mended is None or not mended.is_sure:
            return read(asked, said)
        meant = replace(search, query=replace(search.query, text=mended.text))
        asked = ask(view, meant, embedder, quality, today)
        return read(asked, ranked(asked))
    except IndexDamaged:
        scan = scanned(view, replace(search, limit=min(most, _SCANNED)), "")
        messages = [hit.best.message for hit in scan]
        titles = _titles(view, messages)
        found = [_of_message(m, titles, m.content, 0) for m in messages]
        return Recall(said=tuple(found), relevant=len(messages), searched=len(messages))


def alike(
    view: View, message: Message, embedder: Embedder, quality: Callable[[], TokenEmbedder], today: date, most: int
) -> list[Message]:
    """A message and those nearest to it, best first. Raises StoreError."""
    found = recall(view, message.content, embedder, quality, today, most=most, beside=False)
    ids = dict.fromkeys([message.id, *(one.id for one in found.said)])
    return view.get(Message, list(ids)[:most])


def _read(
    view: View,
    asked: Asked,
    said: Ranking,
    others: Sequence[Ranking],
    most: int,
    enough: int | None,
    derived: Mapping[str, int] | None,
) -> Recall:
    def beside(rankings: Sequence[Ranking]) -> list[Recalled]:
        found = [one for ranking in rankings for one in _recalled(view, ranking, min(most, _BESIDE_MOST), enough)]
        return sorted(found, key=lambda one: -one.score)

    clear = [_clear(ranking) for ranking in others]
    fits = max((ranking.fit for ranking in clear if ranking.passages), default=Fit.NOTHING)
    other = beside(clear)
    stored = stored_facts(view, asked, (derived or {}).get("fact", 0))
    known = {one.id for one in other}
    further = [one for one in beside(others[:1]) if one.id not in known][:_FURTHER] if _is_young(said) else []
    return Recall(
        # What was said and does not fit is not shown because a tool result does.
        said=() if said.fit is Fit.NOTHING else tuple(_recalled(view, said, most, enough)),
        other=tuple(other),
        further=tuple(further),
        derived=derived_hits(view, asked, derived),
        stored=tuple(stored),
        relevant=said.relevant + sum(len(numbers(ranking.pool.messages)) for ranking in clear) + len(further),
        searched=said.searched + sum(ranking.searched for ranking in others),
        words=tuple({*said.words, *(word for ranking in others for word in ranking.words)}),
        close=said.close,
        fit=Fit.WELL if stored else max(said.fit, fits),
    )


def _beside(view: View, asked: Asked, quality: Callable[[], TokenEmbedder], said: Ranking) -> list[Ranking]:
    """Tool results and documents, beside what was said."""
    wanted = replace(asked.search, filter=replace(asked.search.filter, kinds=BESIDE_KINDS))
    beside = replace(asked, search=wanted)

    def ranked(partition: Partition, lent: Mapping[str, Spread] | None = None) -> Ranking:
        return rank(
            view,
            beside,
            partition,
            quality,
            pool=_BESIDE_POOL,
            by_words=not _is_young(said),
            titled=False,
            lent=lent,
            unsaid=said.unknown,
            unmatched=speaks_of_own(asked.question.text),
        )

    return [ranked(Partition.OTHER, said.spreads), ranked(Partition.DOCUMENT)]


def _is_young(said: Ranking) -> bool:
    """Whether so little was said that all of it may be shown."""
    return said.searched < TELLING_SIZE


def _clear(ranking: Ranking) -> Ranking:
    """What clearly answers of it: what holds much of the question, or a rare word of it that nobody said."""
    return ranking.only([e for e in ranking.passages if e.matches and (e.share >= _CLEAR_SHARE or e.alone)])


def _recalled(view: View, ranking: Ranking, most: int, enough: int | None) -> list[Recalled]:
    """The best messages, each with its best passage."""
    best: dict[int, Ranked] = {}
    for entry in ranking.passages:
        best.setdefault(entry.message or -entry.passage, entry)
        if len(best) == most:
            break
    chosen, found, tokens = list(best.values()), list[Recalled](), 0
    for start in range(0, len(chosen), _READ):
        some = _texts(view, ranking, chosen[start : start + _READ])
        found += some
        tokens += sum(one.tokens for one in some)
        if enough is not None and tokens >= enough:
            break
    return found


def _texts(view: View, ranking: Ranking, chosen: Sequence[Ranked]) -> list[Recalled]:
    texts = {text.number: text for text in view.passages([entry.passage for entry in chosen])}
    messages = {m.id: m for m in view.get(Message, [t.message_id for t in texts.values() if t.message_id])}
    titles = _titles(view, messages.values())
    owners = [t.owner_id for t in texts.values() if t.owner is Owner.DOCUMENT]
    documents = {d.id: d for d in view.get(Document, owners)} if owners else {}
    found = []
    for entry in chosen:
        text = texts.get(entry.passage)
        if text is None:
            continue
        vector = None if ranking.vectors is None else ranking.vectors[entry.row]
        if text.owner is Owner.DOCUMENT:
            made = _of_document(documents.get(text.owner_id), text, entry.score, vector)
        else:
            made = _of_passage(messages.get(text.message_id or NodeId("")), titles, text, entry, vector)
        if made is not None:
            found.append(made)
    return found


def _of_document(document: Document | None, text: PassageText, score: float, vector: Float | None) -> Recalled | None:
    if document is None or document.source == REPORTS:  # those were made of what is recalled
        return None
    return Recalled(
        id=document.id,
        conversation_id=None,
        title=", ".join(filter(None, (document.title, str(place_in(document, text.start))))),
        role="document",
        speaker=None,
        kind="document",
        time=document.created,
        text=text.text,  # of a document its passage is what is shown: it is long, and was cut to be read so
        passage=text.text,
        start=0,
        tokens=0,
        score=score,
        vector=vector,
    )


def _of_passage(
    message: Message | None, titles: Mapping[NodeId, str], text: PassageText, entry: Ranked, vector: Float | None
) -> Recalled | None:
    if message is None or message.deleted:
        return None
    if text.owner is Owner.TOOL_CALL or text.part >= 0:
        # A call of a tool, or something that hangs on the message: its words are not those of the message.
        own = _of_message(message, titles, text.text, 0, entry.score, vector)
        return replace(own, text=text.text, tokens=0, kind=entry.kind)
    return _of_message(message, titles, text.text, text.start, entry.score, vector)


def _of_message(
    message: Message,
    titles: Mapping[NodeId, str],
    passage: str,
    start: int,
    score: float = 0.0,
    vector: Float | None = None,
) -> Recalled:
    return Recalled(
        id=message.id,
        conversation_id=message.conversation_id,
        title=titles.get(message.conversation_id, ""),
        role=message.role.value,
        speaker=message.speaker,
        kind=message.kind.value,
        time=from_microseconds(to_microseconds(message.timestamp)),
        text=message.content,
        passage=passage,
        start=start,
        tokens=message.tokens,
        score=score,
        vector=vector,
    )


def _titles(view: View, messages: Iterable[Message]) -> dict[NodeId, str]:
    """The titles of the conversations of messages."""
    ids = list(dict.fromkeys(message.conversation_id for message in messages))
    return {conversation.id: conversation.title for conversation in view.get(Conversation, ids)}


def _shortened(text: str) -> str:
    if len(text) <= 2 * _ASKED_AT_EACH_END:
        return text
    return f"{text[:_ASKED_AT_EACH_END]} {text[-_ASKED_AT_EACH_END:]}"
