"""When something happened, as the memory tells it: the facts first, then the messages.

"Before we moved" asks for the time before a day that the question does not name. A fact knows it ("lives in Benfica",
since June), or a message does: by a date in it, or by the day that it was said on. The time is open to one side, and a
preference rather than a filter: what was so before is often told after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from recollect.models.embedding import Embedder, TokenEmbedder
from recollect.record import Conversation, Message, Node, NodeKind, Role
from recollect.search.derived import may_be_found
from recollect.search.query.asking import Asked, ask
from recollect.search.query.clauses import Clause, read_clause
from recollect.search.query.filtering import excluded_phrases
from recollect.search.query.moment import Moment
from recollect.search.query.request import Search
from recollect.search.query.syntax import Query
from recollect.search.query.told import told_days
from recollect.search.ranking import Ranked, rank
from recollect.store import View, Where
from recollect.store.passages import Filter, Owner, Partition
from recollect.text.sentences import cut_sentences
from recollect.text.terms import stemmed, terms, words

_ALL_OF, _MOST_OF = 2, 0.6  # so few words of what happened must all be told, of more words this share
_LOOKED_AT, _POOL = 30, 150  # messages that tell of it, and passages that are ranked for them
_NEAR_BEST = 2.0  # of the score: those that are as good
_APART = timedelta(days=150)  # where those that name no date lie further apart, none of them is right
_FACTS = 400
_PROVES = "DERIVES_FROM"

#: What is known of somebody from when something happened on: by a word of it, the attributes of facts.
_CHANGES = {
    "home": ("move", "relocat"),
    "employer": ("start", "join", "began", "begun", "begin", "hire"),
    "job": ("start", "began", "begun", "begin", "promot"),
    "marital status": ("marri", "wed"),
    "wife": ("marri", "wed"),
    "husband": ("marri", "wed"),
    "owns": ("bought", "buy", "got"),
    "dog": ("adopt", "got"),
    "cat": ("adopt", "got"),
}
_USER, _SELF = "user", frozenset({"i", "we", "my", "our"})
_FIRST_PERSON = frozenset({"i", "we", "my", "our", "me", "us"})


def placed(view: View, asked: Asked, embedder: Embedder, quality: Callable[[], TokenEmbedder]) -> Asked:
    """The question with the moment that it tells its time by, where it names one and the memory knows it."""
    question = asked.question
    clause = read_clause(question.text) if question.is_english and not asked.search.query.literal else None
    if clause is None:
        return asked
    found = _of_facts(view, asked.search, clause) or _of_messages(view, asked.search, clause, embedder, quality)
    return replace(asked, moment=found)


# --- facts -----------------------------------------------------------------------------------------------------------
def _of_facts(view: View, search: Search, clause: Clause) -> Moment | None:
    """From when on something is held true that began with what happened; the latest that fits."""
    happened = terms(clause.words)
    changed = {a for a, stems in _CHANGES.items() if any(term.startswith(stems) for term in happened)}
    if not changed:
        return None
    stems = tuple(stem for attribute in changed for stem in _CHANGES[attribute])
    where = Where(
        kinds=(NodeKind.FACT.value,), keys=(_whose(clause.words),), states=("live", "superseded"), deleted=False
    )
    rest = {term for term in happened if not term.startswith(stems)} - set(terms(_whose(clause.words)))
    found = [
        node
        for node in view.find(Node, where, limit=_FACTS).items
        if node.body.get("attribute") in changed and node.valid_from is not None and rest <= set(terms(node.text))
    ]
    if not found:
        return None
    latest = max(found, key=lambda node: (node.valid_from or datetime.min, node.id))
    return _of_fact(view, search, clause, latest)


def _of_fact(view: View, search: Search, clause: Clause, node: Node) -> Moment | None:
    proofs = view.edges([node.id], (_PROVES,), "out", 10)
    if not proofs or node.valid_from is None:
        return None
    first = min(proofs, key=lambda edge: (edge.properties.get("said_at") or 0, edge.target_id))
    day = node.valid_from.date()
    said = next(iter(view.get(Message, [first.target_id])), None)
    if said is None or said.deleted:
        return None
    there = {c.id: c for c in view.get(Conversation, [said.conversation_id]) if not c.deleted}
    if not may_be_found(said, there, _anywhen(search.filter), excluded_phrases(search.query)):
        return None
    is_dated = said.timestamp is not None and said.timestamp.date() != day
    quote = first.properties.get("quote") or said.content[:200]
    return Moment(clause.side, clause.words, day, day, said.id, quote, is_sure=is_dated)


def _anywhen(wanted: Filter) -> Filter:
    """Where what happened may be told: at any time, by anyone."""
    return replace(wanted, since=None, until=None, roles=(), kinds=())


def _whose(happened: str) -> str:
    """The key of the facts of whom it happened to."""
    first = happened.split()[0]
    return _USER if first.lower() in _SELF else first.removesuffix("'s").removesuffix("’s").casefold()


# --- messages --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Telling:
    """A message that tells of it: the sentence that does, and the days that this names."""

    message: Message
    said: date
    quote: str
    days: tuple[date, date] | None
    held: int  # words of it in the sentence
    score: float


def _of_messages(
    view: View, search: Search, clause: Clause, embedder: Embedder, quality: Callable[[], TokenEmbedder]
) -> Moment | None:
    """The date that the best message names that tells of it, else the day on which it was told."""
    query = Query(clause.words, excluded=search.query.excluded)
    wanted = Search(query, _anywhen(search.filter), limit=_LOOKED_AT, group_by="message", mode="instant")
    asked = ask(view, wanted, embedder, quality)
    if not asked.question.terms:
        return None
    passages = rank(view, asked, Partition.SAID, quality, pool=_POOL).passages
    found = _tellings(view, passages[:_LOOKED_AT], clause.words)
    tellings = sorted(found, key=lambda telling: (-telling.held, -telling.score))
    if not tellings:
        return None
    is_told = len(_meant(clause.words)) > 1  # "the trial" may be any
    if dated := next((telling for telling in tellings if telling.days), None):
        first, last = dated.days or (dated.said, dated.said)
        return Moment(clause.side, clause.words, first, last, dated.message.id, dated.quote, is_told)
    best = tellings[0]
    alike = [t.said for t in tellings if t.held == best.held and t.score >= best.score - _NEAR_BEST]
    if max(alike) - min(alike) > _APART:
        return None
    return Moment(clause.side, clause.words, best.said, best.said, best.message.id, best.quote, is_sure=False)


def _tellings(view: View, ranked: Sequence[Ranked], clause: str) -> Iterator[_Telling]:
    """Those messages that tell of it: with the titles of their conversations they hold most of its words, and one
    sentence of theirs holds some. What happened to the asker is told by the asker.
    """
    happened, by_asker = _meant(clause), clause.split()[0].lower() in _SELF
    texts = {text.number: text for text in view.passages([entry.passage for entry in ranked])}
    ids = [text.message_id for text in texts.values() if text.message_id and text.owner is Owner.MESSAGE]
    messages = {message.id: message for message in view.get(Message, ids)}
    there = view.get(Conversation, list(dict.fromkeys(m.conversation_id for m in messages.values())))
    titles = {conversation.id: conversation.title for conversation in there}
    least = len(happened) if len(happened) <= _ALL_OF else _MOST_OF * len(happened)
    for entry in ranked:
        text = texts.get(entry.passage)
        message = messages.get(text.message_id) if text is not None and text.message_id else None
        if text is None or message is None or message.deleted or message.timestamp is None:
            continue
        quote = max(cut_sentences(text.text).parts, key=lambda part: _held(happened, part))
        whole = _held(happened, f"{text.text}\n{titles.get(message.conversation_id, '')}")
        held = _held(happened, quote)
        if whole < least or 2 * held < len(happened) or (by_asker and message.role is not Role.USER):
            continue
        if len(happened) == 1 and not _is_said(happened[0], quote, by_asker=by_asker):
            continue
        said = message.timestamp.date()
        yield _Telling(message, said, quote.strip(), told_days(quote, said), held, entry.score)


def _is_said(word: str, quote: str, *, by_asker: bool) -> bool:
    """Whether a sentence has this very word, of what happened to the asker in the first person: of a single one ("we
    moved") nothing less would do.
    """
    there = set(words(quote))
    return word in there and (not by_asker or bool(there & _FIRST_PERSON))


def _meant(happened: str) -> tuple[str, ...]:
    """The words of what happened that mean something."""
    return tuple(dict.fromkeys(word for word in words(happened) if stemmed([word])))


def _held(happened: Sequence[str], text: str) -> int:
    """How many of these words a text holds, in any form. Stems alone would take a "Wed" for a wedding."""
    there = set(words(text))
    return sum(word in there or any(_alike(word, other) for other in there) for word in happened)


def _alike(word: str, other: str) -> bool:
    begins = max(2, min(5, len(word) - 2))
    return other.startswith(word[:begins]) and stemmed([other]) == stemmed([word])
