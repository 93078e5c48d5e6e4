"""What the memory holds on a question: the passages that may answer it, numbered, and what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.ask.intents import Intent, Settings
from recollect.record import Conversation, Kind, Message, NodeId
from recollect.record.pieces import document_message
from recollect.search.request import Search
from recollect.search.result import DerivedHit, DocumentHit, Hit, SearchResults
from recollect.search.weights import KNOWN
from recollect.store import Space
from recollect.text.terms import words

Find = Callable[[Search], SearchResults]

_DOCUMENTS, _FIRST = 2, 3  # that are shown, and the messages before them
_NEAR = 2  # messages before and after each
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
    """What was found for a question. `facts` are derived, each with its messages; `around` is what was said just before
    and after each passage.
    """

    question: str
    intent: Intent
    passages: tuple[Passage, ...] = ()
    facts: tuple[DerivedHit, ...] = ()
    relations: tuple[str, ...] = ()
    around: tuple[Message, ...] = ()
    likelihood: float = 0.0
    known: bool = False
    searched: int = 0
    notes: tuple[str, ...] = ()


def gather(find: Find, space: Space, search: Search, intent: Intent, settings: Settings) -> Evidence:
    """The evidence for a question: the best passages, no more of a conversation than the intent wants, with documents
    behind the first few. Raises StoreError.
    """
    results = find(replace(search, limit=settings.passages * _MORE, group_by="message", with_reports=False))
    said = list(_chosen(_passages(results, search.query.text), settings))
    filed = [_of_document(hit) for hit in results.documents[:_DOCUMENTS]]
    facts = tuple(hit for hit in results.derived if hit.kind == "fact")
    shown = [*said[:_FIRST], *filed, *said[_FIRST:]]
    return Evidence(
        question=search.query.text,
        intent=intent,
        passages=tuple(replace(passage, number=number) for number, passage in enumerate(shown, 1)),
        facts=facts,
        around=around(space, [passage.message for passage in said]),
        likelihood=results.likelihood,
        known=results.likelihood >= KNOWN and bool(shown),
        searched=results.searched,
        notes=results.notes,
    )


def _passages(results: Iterable[Hit], question: str) -> Iterator[Passage]:
    for hit in results:
        best = hit.best
        if not _same(best.message.content, question):  # asked before, which is no answer
            yield Passage(0, best.message, hit.conversation, best.score, beside=best.beside)


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


def around(space: Space, messages: Sequence[Message]) -> tuple[Message, ...]:
    """What was said before and after these, each once."""
    spans = [(m.conversation_id, max(0, m.position - _NEAR), m.position + _NEAR) for m in messages]
    with space.view() as view:
        near = view.around(spans) if spans else []
    said = {m.id: m for m in near if m.kind is Kind.SAID and m.active and not (m.deleted or m.erased)}
    return tuple(said.values())


def _of_document(hit: DocumentHit) -> Passage:
    return Passage(0, document_message(hit.document, hit.text), None, hit.score, hit.cited, hit.start)


def _same(one: str, other: str) -> bool:
    return len(one) < 2 * len(other) + 20 and set(words(one)) == set(words(other))
