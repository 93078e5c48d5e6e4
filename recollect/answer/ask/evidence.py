"""What the memory holds on a question: the passages that may answer it, numbered, and what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from recollect.answer.ask.changes import Change, changes
from recollect.answer.ask.graph import Told, related
from recollect.answer.ask.intents import Intent, Settings, sought
from recollect.answer.chat.retrieve import asks_again
from recollect.record import Conversation, Kind, Message, NodeId, to_microseconds
from recollect.record.nodes import document_message
from recollect.search.derived import may_be_found
from recollect.search.query.filtering import excluded_phrases, holds
from recollect.search.query.request import Search
from recollect.search.results.nothing import NothingFrom
from recollect.search.results.result import DerivedHit, DocumentHit, Hit, SearchResults
from recollect.search.several import Find
from recollect.search.weights import KNOWN
from recollect.store import Space, View, Where
from recollect.store.passages import Filter

_DOCUMENTS, _FIRST = 2, 3  # that are shown, and the messages before them
_NEAR = 2  # messages before and after each
_PROOFS, _CITED = 2, 2  # passages that the graph adds, and that are cited for what it tells
_ANY = Filter()
_OF_A_DAY, _DAY = 200, 86_400_000_000  # messages that are looked at; microseconds
_MORE = 3  # results that are looked at for each passage that is wanted


@dataclass(frozen=True, slots=True)
class Passage:
    """A message, or a part of a document, that may answer. `beside` is what it answers, or what answers it; of a
    document `cited` names the file and the place, and `offset` is where the part begins in it.
    """

    number: int
    message: Message
    conversation: Conversation | None
    score: float
    cited: str = ""
    offset: int = 0
    beside: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found for a question. `facts` are derived, each with its messages, and `changes` tell what held before
    them; `around` is what was said just before and after each passage. `relations` tell what connects the names in the
    question, with the numbers of passages. With `nothing_from` nothing was said in the time that the question names,
    and nothing that was found speaks of it: the passages are what was said nearest to it.
    """

    question: str
    intent: Intent
    passages: tuple[Passage, ...] = ()
    facts: tuple[DerivedHit, ...] = ()
    relations: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    around: tuple[Message, ...] = ()
    likelihood: float = 0.0
    known: bool = False
    searched: int = 0
    notes: tuple[str, ...] = ()
    nothing_from: NothingFrom | None = None


def gather(find: Find, space: Space, search: Search, intent: Intent, settings: Settings) -> Evidence:
    """The evidence for a question: the best passages, no more of a conversation than the intent wants, with documents
    behind the first few. Raises StoreError.
    """
    asked = replace(search.query, text=sought(search.query.text, intent))
    grouped = "conversation" if intent is Intent.RETRIEVAL else "message"
    wanted = replace(search, query=asked, limit=settings.passages * _MORE, group_by=grouped, with_reports=False)
    results = find(wanted)
    said = list(_chosen(_passages(results, search.query.text), settings))
    filed = [_of_document(hit) for hit in results.documents[:_DOCUMENTS]]
    facts = tuple(hit for hit in results.derived if hit.kind == "fact")
    excluded = excluded_phrases(search.query)
    with space.view() as view:
        silent = _silent(view, results, [*said, *filed], search.filter)
        if silent:
            return Evidence(
                question=search.query.text,
                intent=intent,
                passages=tuple(silent),
                nothing_from=results.nothing_from,
                searched=results.searched,
                notes=tuple(note for note in results.notes if note != str(results.nothing_from)),
            )
        held = changes(view, facts, search.filter, excluded)
        texts = [passage.message.content for passage in said]
        told = related(view, search.query.text, search.filter, texts, excluded=excluded)
        proofs = _proofs(view, told, said) if said else []
    shown = [*said[:_FIRST], *filed, *said[_FIRST:], *proofs]
    passages = tuple(replace(passage, number=number) for number, passage in enumerate(shown, 1))
    meant = str(results.moment) if results.moment is not None else ""
    return Evidence(
        question=search.query.text,
        intent=intent,
        passages=passages,
        facts=facts,
        relations=(*([f"the question means the time {meant}"] if meant else []), *(_cited(o, passages) for o in told)),
        changes=held,
        around=_without_excluded(around(space, [passage.message for passage in said], search.filter), search),
        likelihood=results.likelihood,
        known=results.likelihood >= KNOWN and bool(shown),
        searched=results.searched,
        notes=(*results.notes, *([f"Read as {meant}"] if meant else [])),
    )


def _silent(view: View, results: SearchResults, found: Sequence[Passage], wanted: Filter) -> list[Passage]:
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
        there |= {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in of_day}))}
        # The newest come first: what was said last on the day before, and first on the day after.
        said += [one for one in of_day if may_be_found(one, there, wanted)][
            :: 1 if day < silent.spans[-1].start else -1
        ][:1]
    return [Passage(n, one, there.get(one.conversation_id), 0.0) for n, one in enumerate(said, 1)]


def _proofs(view: View, told: Sequence[Told], said: Sequence[Passage]) -> list[Passage]:
    """The messages that say what connects the names, where they are not among the passages, behind these."""
    known = {passage.message.id for passage in said}
    unproven = [one.messages[0] for one in told if one.is_said and not known & set(one.messages)]
    messages = view.get(Message, list(dict.fromkeys(unproven))[:_PROOFS])
    there = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in messages}))}
    lowest = min(passage.score for passage in said)
    return [Passage(0, m, there.get(m.conversation_id), lowest) for m in messages]


def _cited(told: Told, passages: Sequence[Passage]) -> str:
    """In words, with the numbers of the passages that prove it: "you CHOSE Next.js [2]"."""
    numbers = [passage.number for passage in passages if passage.message.id in told.messages]
    return " ".join([told.words, *(f"[{number}]" for number in numbers[:_CITED])])


def _passages(results: Iterable[Hit], question: str) -> Iterator[Passage]:
    """The best of each result, and behind these the other messages of conversations, where results are such."""
    ranked = [(hit, sorted(hit.messages, key=lambda message: -message.score)) for hit in results]
    for depth in range(max((len(messages) for _, messages in ranked), default=0)):
        for hit, messages in ranked:
            found = messages[depth] if depth < len(messages) else None
            if found is not None and not asks_again(found.message.content, question):  # which is no answer
                yield Passage(0, found.message, hit.conversation, found.score, beside=found.beside)


def _chosen(passages: Iterable[Passage], settings: Settings) -> Iterator[Passage]:
    """The best, each text once, not too many of one conversation."""
    of, seen, left = Counter[NodeId](), set[str](), settings.passages
    for passage in passages:
        text = " ".join(passage.message.content.split())
        if left and of[passage.message.conversation_id] < settings.each and text not in seen:
            of[passage.message.conversation_id] += 1
            seen.add(text)
            left -= 1
            yield passage


def around(space: Space, messages: Sequence[Message], wanted: Filter = _ANY) -> tuple[Message, ...]:
    """What was said before and after these, each once, as far as a search with this filter may show it."""
    spans = [(m.conversation_id, max(0, m.position - _NEAR), m.position + _NEAR) for m in messages]
    with space.view() as view:
        near = view.around(spans) if spans else []
        there = {c.id: c for c in view.get(Conversation, list({m.conversation_id for m in near}))}
    said = {m.id: m for m in near if m.kind is Kind.SAID and m.active and not (m.deleted or m.erased)}
    return tuple(m for m in said.values() if may_be_found(m, there, wanted))


def _without_excluded(messages: Iterable[Message], search: Search) -> tuple[Message, ...]:
    """Those that hold no word that the search shuts out."""
    excluded = excluded_phrases(search.query)
    return tuple(message for message in messages if not any(holds(message, phrase) for phrase in excluded))


def _of_document(hit: DocumentHit) -> Passage:
    return Passage(0, document_message(hit.document, hit.text), None, hit.score, hit.cited, hit.start)
