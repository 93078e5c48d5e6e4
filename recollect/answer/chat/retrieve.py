"""What the memory holds on a question: this conversation first, then the rest, and what the graph leads to [2].

The same ranker scores all of it (recollect/search), so that what comes by one way can be compared with what comes by
another; with quality vectors that is late interaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.answer.chat.graph import Drawn, Neighbourhood
from recollect.answer.chat.references.anaphora import is_bare, is_request
from recollect.answer.citations import cited_in
from recollect.derive.entities.entity import Entity
from recollect.derive.topics.profile import is_telling
from recollect.record import Conversation, Message, NodeId, Role, Turn, stable_id
from recollect.record.nodes import document_message
from recollect.search.query.request import Search
from recollect.search.query.syntax import Query
from recollect.search.results.result import DocumentHit
from recollect.search.several import Find
from recollect.store import Space
from recollect.store.passages import Filter
from recollect.text.terms import STOP_WORDS, words

#: What a message of this conversation, and one that mentions what is asked about, has ahead of others. What answers
#: about that were drawn from has at least as much, of this conversation or of others, however search scores it.
OWN, MENTIONED = 2.0, 1.0
#: How far below the best a message may be to be shown, and how many are.
NEAR_BEST, MOST = 7.0, 8

_OWN_LIMIT, _REST_LIMIT, _GRAPH_LIMIT = 8, 16, 24
_DOCUMENTS, _FIRST = 3, 3  # that are shown, and the messages before them
_MENTIONS = 24  # messages that the graph leads to
_DRAWN, _DRAWN_SHOWN = 12, 3  # of what answers were drawn from: looked at, and shown in any case
_ANSWER = 300  # characters of an answer that its document is searched by
_WORD = re.compile(r"[^\W\d_][\w’'-]{3,}|\d[\d.,:]*\d|\d")
_SHORT = 300  # characters of a question that is nothing else
_SHARED = 2  # words of an answer that are in a message and not in the question


@dataclass(frozen=True, slots=True)
class Source:
    """A message that may answer, under the number that an answer cites it by. `is_used`: the answer was drawn from it;
    `is_own`: it is of the conversation that asks. Of a part of a document `cited` names the file and the place.
    """

    number: int
    message: Message
    title: str
    snippet: str
    score: float
    is_own: bool = False
    is_used: bool = False
    cited: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is looked for. `shown` are messages that the model sees anyway. Where the talk has `drifted`, this
    conversation has nothing ahead of the rest.
    """

    question: str
    conversation_id: NodeId | None = None
    entities: Sequence[Entity] = ()
    shown: Collection[NodeId] = ()
    drifted: bool = False
    mode: str = "auto"
    most: int = MOST


def retrieve(space: Space, find: Find, wanted: Wanted) -> list[Source]:
    """The messages that may answer, best first, with the documents that clearly do behind the first few; numbered."""
    found: dict[NodeId, Source] = {}
    documents: list[Source] = []
    led_to, drawn = _led_to(space, wanted)
    for where, limit, only in _searches(space, wanted, led_to):
        results = find(_search(wanted, where, limit))
        documents += [_of_document(hit) for hit in results.documents[:_DOCUMENTS]]
        for hit in results if results.close or only else ():
            best = hit.best
            own = hit.conversation.id == wanted.conversation_id
            if only and best.message.id not in led_to:
                continue
            ahead = (OWN if own and not wanted.drifted else 0.0) + (MENTIONED if best.message.id in led_to else 0.0)
            source = Source(0, best.message, hit.conversation.title, best.snippet.text, best.score + ahead, is_own=own)
            known = found.get(best.message.id)
            if known is None or known.score < source.score:
                found[best.message.id] = source
    leads = {one.id: OWN if one.is_own and not wanted.drifted else MENTIONED for one in drawn}
    for source in _messages(space, [i for i in leads if i not in found], wanted):
        found[source.message.id] = source
    for i in leads.keys() & found.keys():
        found[i] = replace(found[i], score=max(found[i].score, leads[i]))
    documents += _documents(find, drawn, {source.message.id for source in documents}, wanted)
    # The question itself, asked before, is no answer.
    for i in [i for i, s in found.items() if i in wanted.shown or asks_again(s.message.content, wanted.question)]:
        del found[i]
    for asked in _unanswered(space, [source.message for source in found.values()]):
        del found[asked]
    told = [source for source in found.values() if not is_bare(source.message.content)]
    near = _near(told if told or documents else found.values(), leads, wanted.most)
    shown = [*near[:_FIRST], *documents, *near[_FIRST:]]  # the scores of files and of messages do not compare
    return [replace(source, number=number) for number, source in enumerate(shown, 1)]


def _near(found: Iterable[Source], leads: Collection[NodeId], most: int) -> list[Source]:
    """The best, none far below the very best; a few of those that the graph leads to are among them in any case."""
    ranked = sorted(found, key=lambda source: (-source.score, source.message.id))
    sure = [source for source in ranked if source.message.id in leads][:_DRAWN_SHOWN]
    near = [source for source in ranked if source.score >= ranked[0].score - NEAR_BEST and source not in sure]
    chosen = {source.message.id for source in (*sure, *near[: max(most - len(sure), 0)])}
    return [source for source in ranked if source.message.id in chosen]


def _messages(space: Space, ids: Sequence[NodeId], wanted: Wanted) -> list[Source]:
    """The messages of these ids, not scored."""
    with space.view() as view:
        messages = [message for message in view.get(Message, ids) if not (message.deleted or message.erased)]
        there = view.get(Conversation, list({message.conversation_id for message in messages}))
    titles = {conversation.id: conversation.title for conversation in there}
    return [
        Source(
            0, m, titles[m.conversation_id], m.content[:_SHORT], 0.0, is_own=m.conversation_id == wanted.conversation_id
        )
        for m in messages
        if m.conversation_id in titles
    ]


def _documents(find: Find, drawn: Sequence[Drawn], known: Collection[NodeId], wanted: Wanted) -> list[Source]:
    """The documents that answers were drawn from, each by the passage that is nearest to the answer."""
    found: list[Source] = []
    for one in drawn:
        if one.id in known or len(found) == _DRAWN_SHOWN:
            continue
        told = replace(wanted, question=one.answer.content[:_ANSWER])
        hits = find(_search(told, Filter(kinds=("document",)), _REST_LIMIT)).documents
        found += [_of_document(hit) for hit in hits if hit.document.id == one.id][:1]
    return found


def _of_document(hit: DocumentHit) -> Source:
    message = document_message(hit.document, hit.text)
    return Source(0, message, hit.document.title, hit.snippet.text, hit.score, cited=hit.cited)


def used(answer: str, question: str, sources: Sequence[Source]) -> list[Source]:
    """The sources with those marked that an answer was drawn from: those that it cites; of an answer that cites none,
    those that it shares words with that the question did not have.
    """
    cited = set(cited_in(answer, {source.number for source in sources}))
    if not cited:
        fresh = _telling(answer) - _telling(question)
        cited = {source.number for source in sources if len(fresh & _telling(source.message.content)) >= _SHARED}
    return [replace(source, is_used=source.number in cited) for source in sources]


def loaded(space: Space, names: Sequence[str], known: Sequence[Source]) -> list[Source]:
    """The messages of these ids, or ends of ids, that are not known yet: a model had them opened to answer."""
    with space.view() as view:
        ids = list(dict.fromkeys(i for name in names[:MOST] for i in view.named(name, 2)[:1]))
        messages = [m for m in view.get(Message, ids) if not (m.deleted or m.erased)]
        there = view.get(Conversation, list({message.conversation_id for message in messages}))
    titles = {conversation.id: conversation.title for conversation in there}
    seen = {source.message.id for source in known}
    fresh = [message for message in messages if message.id not in seen]
    return [
        Source(number, message, titles.get(message.conversation_id, ""), message.content[:_SHORT], 0.0, is_used=True)
        for number, message in enumerate(fresh, len(known) + 1)
    ]


def asks_again(text: str, question: str) -> bool:
    """Whether a message is the question itself, asked before."""
    return len(text) < 2 * len(question) + 20 and set(words(text)) == set(words(question))


def telling(space: Space, question: str, sources: Sequence[Source]) -> list[Source]:
    """The sources without those that tell nothing by themselves: questions to this memory that were answered, requests
    that ask for nothing else than the question does, and thanks.
    """
    said = [source.message for source in sources if not source.cited]
    requests = {m.id: _new(m.content, question) for m in said if m.role is Role.USER and is_request(m.content)}
    with space.view() as view:
        turns = view.get(Turn, [stable_id("turn", i) for i in requests])
    answered = {turn.query_id for turn in turns if turn.response_ids}
    empty = {m.id for m in said if is_bare(m.content)} | {i for i, new in requests.items() if not new}
    empty |= {
        m.id
        for m in said
        if m.id in answered and m.content.rstrip().endswith("?") and all(map(str.isalpha, requests[m.id]))
    }
    return [source for source in sources if source.cited or source.message.id not in empty]


def _new(text: str, question: str) -> set[str]:
    """The words and numbers of a request that the question does not have."""
    return {word for word in _telling(text) - _telling(question) if is_telling(word) or not word.isalpha()}


def _unanswered(space: Space, messages: Sequence[Message]) -> list[NodeId]:
    """Questions that nobody answered, such as those of a chat without a model: they tell nothing."""
    asked = [
        m for m in messages if m.role is Role.USER and m.content.rstrip().endswith("?") and len(m.content) < _SHORT
    ]
    with space.view() as view:
        turns = view.get(Turn, [stable_id("turn", message.id) for message in asked])
    return [turn.query_id for turn in turns if not turn.response_ids]


def _telling(text: str) -> set[str]:
    said = {word.lower().strip(".,:'’-") for word in _WORD.findall(text)}
    return {word for word in said if word not in STOP_WORDS}


def _search(wanted: Wanted, where: Filter, limit: int) -> Search:
    query = Query(" ".join(wanted.question.split()))
    return Search(query, where, limit=limit, group_by="message", mode=wanted.mode, with_reports=False)


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
