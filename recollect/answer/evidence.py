"""What the memory holds on a text: the passages that may answer it, numbered, and what is known of them.

`evidence_of` reads it for one question (ask, and each search of a report), `sources_of` for a turn of a chat: this
conversation first, then the rest, and what the graph leads to [2]. The same ranker scores all of it (recollect/search),
so that what comes by one way can be compared with what comes by another; with quality vectors that is late interaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from recollect.answer.graph import Drawn, KnownRelation, Neighbourhood, related
from recollect.answer.intents import Intent, IntentSettings, sought
from recollect.answer.references.anaphora import is_bare
from recollect.derive.entities.entity import Entity
from recollect.derive.facts.claim import USER, entity_key
from recollect.derive.facts.fact import Fact, facts_of
from recollect.record import Conversation, Kind, Message, Node, NodeId, Role, Turn, iso, stable_id, to_microseconds
from recollect.record.nodes import document_message
from recollect.search.derived import may_be_found
from recollect.search.find import Find
from recollect.search.query.request import Query, Search, excluded_phrases
from recollect.search.results.nothing import NothingFrom
from recollect.search.results.result import MOST_DOCUMENTS, DerivedHit, DocumentHit, Hit, SearchResults, behind_first
from recollect.search.weights import KNOWN
from recollect.store import Space, View, Where
from recollect.store.passages import Filter
from recollect.text.terms import words

_NEAR = 2  # messages before and after each
_PROOFS, _CITED = 2, 2  # passages that the graph adds, and that are cited for what it tells
_ANY = Filter()
_OF_A_DAY, _DAY = 200, 86_400_000_000  # messages that are looked at; microseconds
_MORE = 3  # results that are looked at for each passage that is wanted
_HISTORY = 3  # statements of a fact: what holds now, and what held before
_FIRST_CONVERSATIONS = 6
#: How near to the best of a search something has to come to be named beside it, as a share of its score.
NEAR_BEST = 0.6

#: What a message of the conversation that asks, and one that mentions what is asked about, has ahead of others. What
#: answers about that were drawn from has at least as much, of this conversation or of others, however search scores it.
OWN, MENTIONED = 2.0, 1.0
#: How far below the best a source of a chat may be to be shown, and how many are.
FAR_BELOW, MOST_SOURCES = 7.0, 8
_OWN_LIMIT, _REST_LIMIT, _GRAPH_LIMIT = 8, 16, 24
_MENTIONS = 24  # messages that the graph leads to
_DRAWN, _DRAWN_SHOWN = 12, 3  # of what answers were drawn from: looked at, and shown in any case
_ANSWER = 300  # characters of an answer that its document is searched by
_SHORT = 300  # characters of a question that is nothing else


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A message, or a part of a document, that may answer, under the number that an answer cites it by.

    Of a document `cited` names the file and the place, and `offset` is where the part begins in it. `beside` is what a
    message answers, or what answers it. `is_own`: it is of the conversation that asks; `is_used`: the answer was drawn
    from it.
    """

    number: int
    message: Message
    conversation: Conversation | None
    score: float
    cited: str = ""
    offset: int = 0
    beside: Message | None = None
    snippet: str = ""
    is_own: bool = False
    is_used: bool = False

    @property
    def title(self) -> str:
        """The title of its conversation; of a document the file and the place."""
        return self.cited or (self.conversation.title if self.conversation is not None else "")


@dataclass(frozen=True, slots=True)
class Citation:
    """A message that proves what stands before its number: `quote` is `message.content[start:end]`.

    Of a part of a document, `cited` names the file and the place, `offset` is where the part begins in the document,
    and there is no conversation.
    """

    number: int
    message: Message
    conversation: Conversation | None
    start: int
    end: int
    cited: str = ""
    offset: int = 0

    @property
    def place(self) -> int:
        """Where the quote begins in the whole message or document."""
        return self.offset + self.start

    @property
    def quote(self) -> str:
        """The words themselves."""
        return self.message.content[self.start : self.end]

    def to_json(self) -> dict[str, Any]:
        """As in `ask --json`."""
        c, m = self.conversation, self.message
        said = {
            "id": m.id,
            "source_id": m.source_id,
            "index": m.position,
            "role": m.role.value,
            "timestamp": iso(m.timestamp),
        }
        conversation = c and {"id": c.id, "title": c.title, "source": c.source, "created": iso(c.created)}
        return {
            "n": self.number,
            "conversation": conversation,
            "document": m.id if self.cited else None,
            "cited": self.cited,
            "message": None if self.cited else said,
            "quote": self.quote,
            "start": self.place,
            "end": self.offset + self.end,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """What a fact said for some time; `message.content[start:end]` proves it. `is_own` is one of the asker."""

    text: str
    is_own: bool
    since: datetime | None
    until: datetime | None
    message: Message
    conversation: Conversation | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found for a question. `facts` are derived, each with its messages; `changes` are what they say, each
    with what held before it, the latest first. `around` is what was said just before and after each passage.
    `relations` tell what connects the names in the question, with the numbers of passages. With `nothing_from` nothing
    was said in the time that the question names, and nothing that was found speaks of it: the passages are what was
    said nearest to it.
    """

    question: str
    intent: Intent
    passages: tuple[SourcePassage, ...] = ()
    facts: tuple[DerivedHit, ...] = ()
    relations: tuple[str, ...] = ()
    changes: tuple[tuple[Statement, ...], ...] = ()
    around: tuple[Message, ...] = ()
    likelihood: float = 0.0
    known: bool = False
    searched: int = 0
    notes: tuple[str, ...] = ()
    nothing_from: NothingFrom | None = None


# --- for a question ---------------------------------------------------------------------------------------------------
def evidence_of(find: Find, space: Space, search: Search, intent: Intent, settings: IntentSettings) -> Evidence:
    """The evidence for a question: the best passages, no more of a conversation than the intent wants, with documents
    behind the first few. Raises StoreError.
    """
    question, excluded = search.query.text, excluded_phrases(search.query)
    asked = replace(search.query, text=sought(question, intent))
    grouped = "conversation" if intent is Intent.RETRIEVAL else "message"
    wanted = replace(search, query=asked, limit=settings.passages * _MORE, group_by=grouped, with_reports=False)
    results = find(wanted)
    said = list(_chosen(_passages(results, question), settings))
    filed = [_of_document(hit) for hit in results.documents[:MOST_DOCUMENTS]]
    facts = tuple(hit for hit in results.derived if hit.kind == "fact")
    with space.view() as view:
        silent = _silent(view, results, [*said, *filed], search.filter)
        if silent:
            return Evidence(
                question=question,
                intent=intent,
                passages=tuple(silent),
                nothing_from=results.nothing_from,
                searched=results.searched,
                notes=tuple(note for note in results.notes if note != str(results.nothing_from)),
            )
        texts = [passage.message.content for passage in said]
        told = related(view, question, search.filter, texts, excluded=excluded)
        proofs = _proofs(view, told, said) if said else []
        changes = _changes(view, facts, search.filter, excluded)
        near = _around(view, [passage.message for passage in said], search.filter, excluded)
    passages = tuple(_numbered([*behind_first(said, filed), *proofs]))
    return Evidence(
        question=question,
        intent=intent,
        passages=passages,
        facts=facts,
        relations=tuple(_cited(one, passages) for one in told),
        changes=changes,
        around=near,
        likelihood=results.likelihood,
        known=results.likelihood >= KNOWN and bool(passages),
        searched=results.searched,
        notes=results.notes,
    )


def first_conversations(find: Find, search: Search) -> list[Conversation]:
    """The conversations that a question finds first, but for those far behind the best, and those without a title."""
    results = find(replace(search, limit=_FIRST_CONVERSATIONS, group_by="conversation", with_reports=False))
    near = [hit for hit in results if hit.score >= NEAR_BEST * results[0].score] if results.close else []
    return [hit.conversation for hit in near if hit.conversation.title]


def around(space: Space, messages: Sequence[Message]) -> tuple[Message, ...]:
    """What was said before and after these, each once."""
    with space.view() as view:
        return _around(view, messages, _ANY, ())


def _around(
    view: View, messages: Sequence[Message], wanted: Filter, excluded: Sequence[Sequence[str]]
) -> tuple[Message, ...]:
    spans = [(m.conversation_id, max(0, m.position - _NEAR), m.position + _NEAR) for m in messages]
    near = view.around(spans) if spans else []
    there = _conversations(view, near)
    said = {m.id: m for m in near if m.kind is Kind.SAID and m.active and not (m.deleted or m.erased)}
    return tuple(m for m in said.values() if may_be_found(m, there, wanted, excluded))


def _silent(view: View, results: SearchResults, found: Sequence[SourcePassage], wanted: Filter) -> list[SourcePassage]:
    """What was said nearest to the time that is asked for, where nothing was said in it and nothing that was found
    speaks of it. Only where hardly anything else is asked for, which may have been said at another time.
    """
    silent = results.nothing_from
    if (
        silent is None
        or not silent.is_all_of(results.query)
        or any(silent.is_named_in(passage.message.content) for passage in found)
    ):
        return []
    said: list[Message] = []
    there: dict[NodeId, Conversation] = {}
    for day in silent.closest:
        since = to_microseconds(datetime(day.year, day.month, day.day, tzinfo=UTC)) or 0
        where = Where(since=since, until=since + _DAY, kinds=(Kind.SAID.value,), deleted=False, order="newest")
        of_day = [one for one in view.find(Message, where, limit=_OF_A_DAY).items if not one.erased]
        there |= _conversations(view, of_day)
        # The newest come first: what was said last on the day before, and first on the day after.
        said += [one for one in of_day if may_be_found(one, there, wanted)][
            :: 1 if day < silent.spans[-1].start else -1
        ][:1]
    return [SourcePassage(n, one, there.get(one.conversation_id), 0.0) for n, one in enumerate(said, 1)]


def _proofs(view: View, told: Sequence[KnownRelation], said: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The messages that say what connects the names, where they are not among the passages, behind these."""
    known = {passage.message.id for passage in said}
    unproven = [one.messages[0] for one in told if one.is_said and not known & set(one.messages)]
    messages = view.get(Message, list(dict.fromkeys(unproven))[:_PROOFS])
    there = _conversations(view, messages)
    lowest = min(passage.score for passage in said)
    return [SourcePassage(0, m, there.get(m.conversation_id), lowest) for m in messages]


def _cited(told: KnownRelation, passages: Sequence[SourcePassage]) -> str:
    """In words, with the numbers of the passages that prove it: "you CHOSE Next.js [2]"."""
    numbers = [passage.number for passage in passages if passage.message.id in told.messages]
    return " ".join([told.words, *(f"[{number}]" for number in numbers[:_CITED])])


def _passages(results: Iterable[Hit], question: str) -> Iterator[SourcePassage]:
    """The best of each result, and behind these the other messages of conversations, where results are such."""
    ranked = [(hit, sorted(hit.messages, key=lambda message: -message.score)) for hit in results]
    for depth in range(max((len(messages) for _, messages in ranked), default=0)):
        for hit, messages in ranked:
            found = messages[depth] if depth < len(messages) else None
            if found is not None and not _asks_again(found.message.content, question):  # which is no answer
                yield SourcePassage(0, found.message, hit.conversation, found.score, beside=found.beside)


def _chosen(passages: Iterable[SourcePassage], settings: IntentSettings) -> Iterator[SourcePassage]:
    """The best, each text once, not too many of one conversation."""
    of, seen, left = Counter[NodeId](), set[str](), settings.passages
    for passage in passages:
        text = " ".join(passage.message.content.split())
        if left and of[passage.message.conversation_id] < settings.each and text not in seen:
            of[passage.message.conversation_id] += 1
            seen.add(text)
            left -= 1
            yield passage


def _changes(
    view: View, facts: Sequence[DerivedHit], wanted: Filter, excluded: Sequence[Sequence[str]]
) -> tuple[tuple[Statement, ...], ...]:
    """Facts with what held before them, as far as messages prove it that a search with this filter may show, without
    excluded phrases.
    """
    known = facts_of(view, view.get(Node, [fact.id for fact in facts])) if facts else []
    told = [
        [_statement(view, one, wanted, excluded) for one in (fact, *fact.history[: _HISTORY - 1])] for fact in known
    ]
    return tuple(tuple(filter(None, statements)) for statements in told if statements[0])


def _statement(view: View, fact: Fact, wanted: Filter, excluded: Sequence[Sequence[str]]) -> Statement | None:
    """With its last proof that may be shown; None without one."""
    messages = {message.id: message for message in view.get(Message, [proof.message_id for proof in fact.proofs])}
    there = _conversations(view, messages.values())
    own = entity_key(fact.entity) == entity_key(USER)
    for proof in reversed(fact.proofs):
        message = messages.get(proof.message_id)
        if message is None or message.deleted or message.erased:
            continue
        if not may_be_found(message, there, wanted, excluded):
            continue
        exact = bool(proof.quote) and message.content[proof.start : proof.end] == proof.quote
        place = (proof.start, proof.end) if exact else (0, len(message.content))
        conversation = there.get(message.conversation_id)
        return Statement(fact.content, own, fact.told_since, fact.told_until, message, conversation, *place)
    return None


# --- for a turn of a chat ---------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a turn looks for. `shown` are messages that the model sees anyway. Where the talk has `drifted`, this
    conversation has nothing ahead of the rest.
    """

    question: str
    conversation_id: NodeId | None = None
    entities: Sequence[Entity] = ()
    shown: Collection[NodeId] = ()
    drifted: bool = False
    mode: str = "auto"
    most: int = MOST_SOURCES

    def search(self, where: Filter, limit: int) -> Search:
        """The search for it within a filter."""
        query = Query(" ".join(self.question.split()))
        return Search(query, where, limit=limit, group_by="message", mode=self.mode, with_reports=False)


def sources_of(space: Space, find: Find, wanted: Wanted) -> list[SourcePassage]:
    """The messages that may answer, best first, with the documents that clearly do behind the first few; numbered."""
    found: dict[NodeId, SourcePassage] = {}
    documents: list[SourcePassage] = []
    led_to, drawn = _led_to(space, wanted)
    for where, limit, only in _searches(space, wanted, led_to):
        results = find(wanted.search(where, limit))
        documents += [_of_document(hit) for hit in results.documents[:MOST_DOCUMENTS]]
        for hit in results if results.close or only else ():
            best = hit.best
            own = hit.conversation.id == wanted.conversation_id
            if only and best.message.id not in led_to:
                continue
            ahead = (OWN if own and not wanted.drifted else 0.0) + (MENTIONED if best.message.id in led_to else 0.0)
            known = found.get(best.message.id)
            if known is None or known.score < best.score + ahead:
                found[best.message.id] = SourcePassage(
                    0, best.message, hit.conversation, best.score + ahead, snippet=best.snippet.text, is_own=own
                )
    leads = {one.id: OWN if one.is_own and not wanted.drifted else MENTIONED for one in drawn}
    with space.view() as view:
        for source in passages_of(view, [i for i in leads if i not in found]):
            if source.conversation is not None:
                own = source.conversation.id == wanted.conversation_id
                found[source.message.id] = replace(source, is_own=own)
    for i in leads.keys() & found.keys():
        found[i] = replace(found[i], score=max(found[i].score, leads[i]))
    documents += _documents(find, drawn, {source.message.id for source in documents}, wanted)
    # The question itself, asked before, is no answer.
    for i in [i for i, s in found.items() if i in wanted.shown or _asks_again(s.message.content, wanted.question)]:
        del found[i]
    for asked in _unanswered(space, [source.message for source in found.values()]):
        del found[asked]
    told = [source for source in found.values() if not is_bare(source.message.content)]
    return _numbered(behind_first(_near(told if told or documents else found.values(), leads, wanted.most), documents))


def passages_of(view: View, ids: Sequence[NodeId]) -> list[SourcePassage]:
    """The messages of these ids that are there, not scored."""
    messages = [message for message in view.get(Message, ids) if not (message.deleted or message.erased)]
    there = _conversations(view, messages)
    return [SourcePassage(0, m, there.get(m.conversation_id), 0.0, snippet=m.content[:_SHORT]) for m in messages]


def _near(found: Iterable[SourcePassage], leads: Collection[NodeId], most: int) -> list[SourcePassage]:
    """The best, none far below the very best; a few of those that the graph leads to are among them in any case."""
    ranked = sorted(found, key=lambda source: (-source.score, source.message.id))
    sure = [source for source in ranked if source.message.id in leads][:_DRAWN_SHOWN]
    near = [source for source in ranked if source.score >= ranked[0].score - FAR_BELOW and source not in sure]
    chosen = {source.message.id for source in (*sure, *near[: max(most - len(sure), 0)])}
    return [source for source in ranked if source.message.id in chosen]


def _documents(find: Find, drawn: Sequence[Drawn], known: Collection[NodeId], wanted: Wanted) -> list[SourcePassage]:
    """The documents that answers were drawn from, each by the passage that is nearest to the answer."""
    found: list[SourcePassage] = []
    for one in drawn:
        if one.id in known or len(found) == _DRAWN_SHOWN:
            continue
        told = replace(wanted, question=one.answer.content[:_ANSWER])
        hits = find(told.search(Filter(kinds=("document",)), _REST_LIMIT)).documents
        found += [_of_document(hit) for hit in hits if hit.document.id == one.id][:1]
    return found


def _unanswered(space: Space, messages: Sequence[Message]) -> list[NodeId]:
    """Questions that nobody answered, such as those of a chat without a model: they tell nothing."""
    asked = [
        m for m in messages if m.role is Role.USER and m.content.rstrip().endswith("?") and len(m.content) < _SHORT
    ]
    with space.view() as view:
        turns = view.get(Turn, [stable_id("turn", message.id) for message in asked])
    return [turn.query_id for turn in turns if not turn.response_ids]


def _searches(space: Space, wanted: Wanted, led_to: Collection[NodeId]) -> list[tuple[Filter, int, bool]]:
    """Where is searched, for how many, and whether only what the graph led to counts."""
    own = wanted.conversation_id
    searches = [(Filter(conversation_ids=(own,)), _OWN_LIMIT, False)] if own is not None else []
    searches.append((Filter(), _REST_LIMIT, False))
    if led_to:
        with space.view() as view:
            there = {message.conversation_id for message in view.get(Message, list(led_to))} - {own}
        if there:
            searches.append((Filter(conversation_ids=tuple(sorted(there))), _GRAPH_LIMIT, True))
    return searches


def _led_to(space: Space, wanted: Wanted) -> tuple[set[NodeId], list[Drawn]]:
    """Messages that mention what is asked about, those from which answers were drawn that do among them; and what
    answers were drawn from, documents too.
    """
    if not wanted.entities:
        return set(), []
    with space.view() as view:
        near = Neighbourhood(view)
        drawn = near.drawn_from(wanted.entities, wanted.conversation_id, _DRAWN)
        return {*near.mentioned_in(wanted.entities, _MENTIONS), *(one.id for one in drawn)}, drawn


# --- for both ---------------------------------------------------------------------------------------------------------
def _of_document(hit: DocumentHit) -> SourcePassage:
    message = document_message(hit.document, hit.text)
    return SourcePassage(0, message, None, hit.score, hit.cited, hit.start, snippet=hit.snippet.text)


def _numbered(passages: Iterable[SourcePassage]) -> list[SourcePassage]:
    return [replace(passage, number=number) for number, passage in enumerate(passages, 1)]


def _conversations(view: View, messages: Iterable[Message]) -> dict[NodeId, Conversation]:
    """The conversations of messages, by id."""
    return {c.id: c for c in view.get(Conversation, list({message.conversation_id for message in messages}))}


def _asks_again(text: str, question: str) -> bool:
    """Whether a message is the question itself, asked before."""
    return len(text) < 2 * len(question) + 20 and set(words(text)) == set(words(question))
