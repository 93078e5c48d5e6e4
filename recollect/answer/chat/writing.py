"""A turn as it is written: question, answer, tools, and edges to what they mention and where the answer comes from [2].

What tools answered is not kept: it repeats the memory, and a memory must not feed on its own recall. The calls are,
with how much they brought. An answer that only lists passages, where no model was asked, is not kept either. An answer
is kept without the numbers of its sources, which a later question numbers anew: its edges say where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from weakref import WeakSet

from recollect.answer.chat.loop import Ended
from recollect.answer.citations import cited_in, renumbered, uncited
from recollect.answer.evidence import MOST_SOURCES, Evidence, SourcePassage, around, passages_of
from recollect.answer.extract import extract
from recollect.answer.graph import SOURCED, NamedEntity
from recollect.answer.intents import read_intent
from recollect.answer.references.anaphora import is_bare, is_request
from recollect.answer.references.rules import Resolution
from recollect.derive.entities.message import BY_TURN, Share, found_in, mention
from recollect.derive.entities.naming import entity_id
from recollect.derive.topics.naming import is_telling
from recollect.ingest.live import Exchange
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Conversation, Edge, Message, NodeId, Role, ToolCall, Turn, stable_id, to_microseconds
from recollect.store import Space
from recollect.text.clean import clean_text, clean_title, cut_recall
from recollect.text.terms import STOP_WORDS

_MOST_ENTITIES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    """What was asked and answered. `answered` is None where no model was asked."""

    conversation: Conversation
    question: str
    resolution: Resolution
    named: Sequence[NamedEntity]
    sources: Sequence[SourcePassage]
    answered: Ended | None
    asked_at: datetime
    answered_at: datetime


def exchange(spoken: FinishedTurn, ids: Callable[[], NodeId]) -> Exchange:
    """The turn, complete."""
    query = Message(
        id=ids(),
        conversation_id=spoken.conversation.id,
        role=Role.USER,
        content=spoken.question,
        timestamp=spoken.asked_at,
        tokens=count_tokens(spoken.question),
    )
    answer = _answer(spoken, ids) if spoken.answered is not None else None
    drawn_from = [source for source in spoken.sources if source.is_used]
    mentioned = _mentioned(spoken)
    edges = _mentions(query, mentioned)
    if answer is not None:
        edges += _mentions(answer, _named_in(answer.content, mentioned))
        edges += [Edge(answer.id, SOURCED, source.message.id, {"rank": source.number}) for source in drawn_from]
    return Exchange(
        conversation=spoken.conversation,
        query=query,
        answer=answer,
        calls=_calls(spoken, answer) if answer is not None else (),
        resolved_query=spoken.resolution.text if spoken.resolution.changed else None,
        entities=tuple(name for name, _, _ in mentioned),
        source_ids=tuple(source.message.id for source in drawn_from),
        edges=edges,
    )


def _answer(spoken: FinishedTurn, ids: Callable[[], NodeId]) -> Message | None:
    assert spoken.answered is not None
    told = cut_recall(clean_text(spoken.answered.text))
    text = uncited(told, {source.number for source in spoken.sources})
    text = text if text.strip() else told
    if not text.strip():
        return None
    return Message(
        id=ids(),
        conversation_id=spoken.conversation.id,
        role=Role.ASSISTANT,
        content=text,
        timestamp=spoken.answered_at,
        model=spoken.answered.model,
        tokens=count_tokens(text),
    )


def _calls(spoken: FinishedTurn, answer: Message) -> list[ToolCall]:
    assert spoken.answered is not None
    return [
        ToolCall(
            id=stable_id("call", answer.id, number),
            message_id=answer.id,
            conversation_id=answer.conversation_id,
            name=clean_title(tool.name),
            arguments=clean_text(tool.arguments),
            timestamp=spoken.answered_at,
            position=number,
            metadata={"tokens": tool.tokens, **({"error": True} if tool.is_error else {})},
        )
        for number, tool in enumerate(spoken.answered.tools)
    ]


#: A name as it was said, its type, and the entity that it stands for.
_Mentioned = tuple[str, str, NodeId]


def _mentioned(spoken: FinishedTurn) -> list[_Mentioned]:
    """Who and what the question is about, with what its references stand for."""
    known = {one.said: (one.entity.name, one.entity.type, one.entity.id) for one in spoken.named}
    found = [known.get(name, (name, kind, own)) for name, kind, own in _names(spoken.resolution.text)]
    return list({own: (name, kind, own) for name, kind, own in found}.values())[:_MOST_ENTITIES]


def _named_in(text: str, known: Sequence[_Mentioned]) -> list[_Mentioned]:
    """The names in an answer; what the question names is known there where it stands alone as well."""
    again = [one for one in known if re.search(rf"(?<!\w){re.escape(one[0])}(?!\w)", text)]
    return list({own: (name, kind, own) for name, kind, own in (*again, *_names(text))}.values())[:_MOST_ENTITIES]


def _names(text: str) -> list[_Mentioned]:
    return [(found.name, found.type, entity_id(found.name)) for found in found_in(text)][:_MOST_ENTITIES]


def _mentions(message: Message, names: Sequence[_Mentioned]) -> list[Edge]:
    at = to_microseconds(message.timestamp)
    return [mention(message.id, own, Share(name, (kind,), at), BY_TURN) for name, kind, own in names]


# Writing behind the answer: the reader has it at once, and whoever needs what was written waits for it first [2].


class TurnWriters:
    """What writes behind the answers of all handles on one store. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._each: WeakSet[TurnWriter] = WeakSet()

    def behind(self) -> TurnWriter:
        """For one more handle."""
        with self._lock:
            self._each.add(made := TurnWriter())
        return made

    def wait(self) -> None:
        """Waits until all that was given is written or has failed."""
        with self._lock:
            each = list(self._each)
        for behind in each:
            behind.wait()


class TurnWriter:
    """Writes one after the other. Thread-safe. A process that is killed loses a turn that is not written yet, whole."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: list[tuple[NodeId, Future[None]]] = []

    def write(self, conversation_id: NodeId, work: Callable[[], None]) -> None:
        """Has it done as soon as may be, after all that was given before."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "recollect-turn")
            done = [one for one in self._waiting if one[1].done() and one[1].exception() is None]
            self._waiting = [one for one in self._waiting if one not in done]
            self._waiting.append((conversation_id, self._pool.submit(work)))

    def settle(self, conversation_id: NodeId | None = None) -> None:
        """Waits until what was given for a conversation, or for all, is written. Raises what went wrong with it."""
        with self._lock:
            waiting = [one for one in self._waiting if conversation_id in (None, one[0])]
        wait([future for _, future in waiting])
        with self._lock:
            self._waiting = [one for one in self._waiting if one not in waiting]
        for _, future in waiting:
            future.result()

    def wait(self) -> None:
        """Waits until all that was given is written or has failed. What went wrong is left for `settle` to raise."""
        with self._lock:
            waiting = [future for _, future in self._waiting]
        wait(waiting)

    def close(self) -> None:
        """Waits for everything. Raises what went wrong."""
        try:
            self.settle()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None


# The sources of a chat: which of them an answer was drawn from, and the extract of them without a model.

#: Why there is an extract, without a model and where one `failed`.
_WHY = {False: "No language model is set", True: "The language model failed"}
_SHARED = 2  # words of an answer that are in a message and not in the question
_WORD = re.compile(r"[^\W\d_][\w’'-]{3,}|\d[\d.,:]*\d|\d")


def extract_of(
    space: Space, question: str, sources: Sequence[SourcePassage], *, failed: bool = False
) -> tuple[str, list[SourcePassage]]:
    """What a chat answers without a model, or where that fails: the extract that `ask` gives, with the numbers of the
    sources, and these, those that it quotes marked as used. A message around them that it quotes becomes a source.
    """
    nothing = f"{_WHY[failed]}, and the memory holds nothing near this."
    if not sources:
        return nothing, []
    for some in filter(None, (telling(space, question, sources), sources)):
        near = around(space, [source.message for source in some if not source.cited])
        evidence = Evidence(
            question=question, intent=read_intent(question), passages=tuple(some), around=near, known=True
        )
        if (draft := extract(evidence)).citations:
            break
    else:
        return nothing, list(sources)
    numbers = {source.message.id: source.number for source in reversed(sources)}
    beside = list[SourcePassage]()
    for cited in draft.citations:
        if cited.message.id not in numbers:
            number = numbers[cited.message.id] = max(numbers.values()) + 1
            beside.append(SourcePassage(number, cited.message, cited.conversation, 0.0, snippet=cited.quote))
    quoted = {citation.number: numbers[citation.message.id] for citation in draft.citations}
    text = renumbered(draft.text, quoted)
    marked = [replace(source, is_used=source.number in quoted.values()) for source in (*sources, *beside)]
    return f"{_WHY[failed]}, so this is an extract of what was said:\n\n{text}", marked


def telling(space: Space, question: str, sources: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The sources without those that tell nothing by themselves: questions to this memory that were answered, requests
    that ask for nothing else than the question does, and thanks.
    """
    said = [source.message for source in sources if not source.cited]
    asked = _telling_words(question)
    requests = {
        m.id: {word for word in _telling_words(m.content) - asked if is_telling(word) or not word.isalpha()}
        for m in said
        if m.role is Role.USER and is_request(m.content)
    }
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


def used(answer: str, question: str, sources: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The sources with those marked that an answer was drawn from: those that it cites; of an answer that cites none,
    those that it shares words with that the question did not have.
    """
    cited = set(cited_in(answer, {source.number for source in sources}))
    if not cited:
        fresh = _telling_words(answer) - _telling_words(question)
        cited = {s.number for s in sources if len(fresh & _telling_words(s.message.content)) >= _SHARED}
    return [replace(source, is_used=source.number in cited) for source in sources]


def opened(space: Space, names: Sequence[str], known: Sequence[SourcePassage]) -> list[SourcePassage]:
    """The messages of these ids, or ends of ids, that are not known yet: a model had them opened to answer."""
    seen = {source.message.id for source in known}
    with space.view() as view:
        ids = dict.fromkeys(i for name in names[:MOST_SOURCES] for i in view.named(name, 2)[:1])
        fresh = passages_of(view, [i for i in ids if i not in seen])
    return [replace(one, number=number, is_used=True) for number, one in enumerate(fresh, len(known) + 1)]


def _telling_words(text: str) -> set[str]:
    said = {word.lower().strip(".,:'’-") for word in _WORD.findall(text)}
    return {word for word in said if word not in STOP_WORDS}
