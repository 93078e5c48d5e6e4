"""One turn of a stateful chat, from the question to the turn that is written [2].

The five steps of [2]: references are resolved against this conversation; graph and search are asked, this conversation
first; what they found is ranked together; the model is asked, with tools; and the question, the answer, its sources and
what both mention are written in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, get_args

from recollect.answer.chat.loop import Ended, ToolSet, converse, failure, opened_by, usage_of
from recollect.answer.chat.prompt import RecentMessages, asked, recent, system, talk
from recollect.answer.chat.sources import opened, used
from recollect.answer.chat.writing import FinishedTurn, exchange
from recollect.answer.evidence import SourcePassage, Wanted, sources_of
from recollect.answer.graph import NamedEntity, Neighbourhood
from recollect.answer.references.rules import Resolution, resolve
from recollect.answer.results import Again, AnswerWords, ChatAnswer, ChatEvent, ToolUsed
from recollect.context import ContextPart
from recollect.context.building import ContextBuilder
from recollect.errors import InvalidInput, ModelError
from recollect.ingest import Ingest
from recollect.ingest.live import refuse_taken
from recollect.models.embedding.tokenizer import count_tokens_of
from recollect.models.language.base import LanguageModel
from recollect.models.language.talk import Said, talking
from recollect.record import Conversation, NodeId
from recollect.runtime.behind import TurnWriter
from recollect.search.find import Find
from recollect.search.query.request import MODES, one_of
from recollect.store import Space
from recollect.text.clean import clean_text, clean_title, cut_recall, title_from

#: When the turn is written: before the answer is returned, or behind it.
Save = Literal["now", "behind"]

#: Parts of the context that stand behind what is retrieved here, which takes the place of its own choice of messages.
_MORE = ("knowledge", "index")
_FRAME = 400  # tokens of the graph and of what stands around the parts
_LEAST_KNOWLEDGE = 200
_LEAST_BUDGET = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a chat is made of, from the façade."""

    space: Space
    ingest: Ingest
    find: Find
    builder: Callable[[bool], ContextBuilder]  # by whether the model has the tools
    tools: Callable[[], ToolSet]
    extract: Callable[[str, Sequence[SourcePassage], bool], tuple[str, list[SourcePassage]]]
    behind: TurnWriter
    record: Callable[..., None]  # `record_request` of chats
    clock: Callable[[], datetime]
    ids: Callable[[], NodeId]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a turn is answered. `budget` is what is sent, in tokens, besides what tools answer."""

    budget: int = 10_000
    max_tokens: int = 2_048
    mode: str = "auto"
    title: str = ""
    with_tools: bool = True
    save: Save = "now"


@dataclass(frozen=True, slots=True)
class _Understood:
    """What is asked, and what it is about."""

    before: RecentMessages
    resolution: Resolution
    named: list[NamedEntity]
    relations: list[str]
    drifted: bool


class Chat:
    """Chats in one space."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def turn(
        self, conversation_id: NodeId | None, text: str, model: LanguageModel | None, options: Options
    ) -> Generator[ChatEvent, None, None]:
        """The words of the answer as they come, the tools that it takes, and at last the answer, with the turn written.
        A model that fails is replaced by the extract that is given without one. Whoever stops listening before the
        answer has no turn written. Raises InvalidInput, StoreError.
        """
        began = time.perf_counter()
        question = cut_recall(clean_text(text))
        if not question.strip():
            raise InvalidInput("Nothing is asked: the text is empty.")
        if options.budget < _LEAST_BUDGET:
            raise InvalidInput(
                f"A budget of {options.budget} tokens is too small.", hint=f"Use {_LEAST_BUDGET} or more."
            )
        one_of("mode", options.mode, MODES)
        one_of("save", options.save, get_args(Save))
        own, at = conversation_id or self._parts.ids(), self._parts.clock()
        self._parts.behind.settle(own)
        understood = self._understand(own, question, model)
        answered: Ended | None = None
        failed: ModelError | None = None
        shown = False
        given: list[ContextPart] = []
        if model is None:
            sources = self._sources(own, understood, (), options)
        else:
            model = talking(model, "a chat")
            head, said, sources, given = self._asked(own, understood, options)
            tools = self._parts.tools() if options.with_tools else None
            try:
                for event in converse(model, head, said, tools, max_tokens=options.max_tokens):
                    if isinstance(event, Ended):
                        answered = event
                    else:
                        shown = shown or isinstance(event, AnswerWords)
                        yield event
            except ModelError as problem:
                failed = problem
        if failed is not None and shown:
            yield Again("The model broke off.", asks=False)
        answer, written = self._written(own, question, at, understood, sources, answered or failed, options)
        if options.save == "behind":
            self._parts.behind.write(own, written)
        else:
            written()
        self._parts.record(given, conversation_id=own, message_id=answer.question_id)
        yield replace(answer, took_ms=(time.perf_counter() - began) * 1000)

    def _understand(self, own: NodeId, question: str, model: LanguageModel | None) -> _Understood:
        with self._parts.space.view() as view:
            refuse_taken(view.kinds([own]), own)  # before anything is paid for
            before = recent(view, own)
            near = Neighbourhood(view)
            resolution = resolve(question, before.lines, model, near.nearness)
            named = near.named(resolution.text, before.salient)
            relations = near.relations([one.entity for one in named])
        drifted = not resolution.changed and before.drifts(question)
        return _Understood(before, resolution, named, relations, drifted)

    def _sources(
        self, own: NodeId, understood: _Understood, shown: Collection[NodeId], options: Options
    ) -> list[SourcePassage]:
        wanted = Wanted(
            question=understood.resolution.text,
            conversation_id=own if understood.before.conversation is not None else None,
            entities=[one.entity for one in understood.named],
            shown=shown,
            drifted=understood.drifted,
            mode=options.mode,
        )
        return sources_of(self._parts.space, self._parts.find, wanted)

    def _asked(
        self, own: NodeId, understood: _Understood, options: Options
    ) -> tuple[str, list[Said], list[SourcePassage], list[ContextPart]]:
        """What a model is told first, the talk that it is given, the messages that may answer, and all parts of it.
        What stands is that of `prepare_context`, to the byte; of a new talk its newest messages are left out: they are
        of others.
        """
        before, whole = understood.before, understood.resolution.text
        goes_on = own if before.messages else None
        build = self._parts.builder(options.with_tools)
        newest = build.newest(whole, goes_on, options.budget) if goes_on is not None else frozenset()
        sources = self._sources(own, understood, newest, options)
        known = frozenset(source.message.id for source in sources)
        context = build(whole, goes_on, options.budget, known, answers=False)
        head = "\n\n".join([system(options.with_tools), context.messages[0]["content"]])
        said = [
            Said(role="assistant" if message["role"] == "assistant" else "user", text=message["content"])
            for message in (context.messages[1:-1] if goes_on is not None else ())
        ]
        stands = [part for part in context.parts if part.name not in (*_MORE, *(() if goes_on else ("recent",)))]
        kept = [part for name in _MORE if (part := context.part(name)) is not None]
        room = options.budget - sum(count_tokens_of([head, whole, *(turn.text for turn in said)])) - _FRAME
        while kept and room - sum(part.tokens for part in kept) < _LEAST_KNOWLEDGE:
            kept.pop()
        left = max(room - sum(part.tokens for part in kept), _LEAST_KNOWLEDGE)
        last = asked(
            whole,
            sources,
            before.salient,
            understood.relations,
            before.answered,
            more=[part.text for part in kept],
            most_tokens=left,
        )
        tokens = max(sum(count_tokens_of([last])) - sum(part.tokens for part in kept), 0)
        retrieved = ContextPart("relevant", "", tokens, tuple(source.message.id for source in sources))
        return head, talk(said, last), sources, [*stands, retrieved, *kept]

    def _written(
        self,
        own: NodeId,
        question: str,
        at: datetime,
        understood: _Understood,
        sources: list[SourcePassage],
        ended: Ended | ModelError | None,
        options: Options,
    ) -> tuple[ChatAnswer, Callable[[], None]]:
        """The answer, and what writes the turn. `ended` is how the model did, None where none was asked."""
        before = understood.before
        answered = ended if isinstance(ended, Ended) else None
        resolution = understood.resolution
        if answered is not None:
            sources = used(answered.text, question, sources)
            sources += opened(self._parts.space, opened_by(answered.tools), sources)
            text = answered.text
        else:
            text, sources = self._parts.extract(resolution.text, sources, ended is not None)
        conversation = before.conversation or Conversation(
            own, self._parts.source, title=clean_title(options.title) or title_from(question), created=at, updated=at
        )
        spoken = FinishedTurn(
            conversation=conversation,
            question=question,
            resolution=resolution,
            named=understood.named,
            sources=sources,
            answered=answered,
            asked_at=at,
            answered_at=self._parts.clock(),
        )
        turn = exchange(spoken, self._parts.ids)
        answer = ChatAnswer(
            text=text,
            conversation_id=own,
            question_id=turn.query.id,
            answer_id=turn.answer.id if turn.answer is not None else None,
            question=question,
            resolved=resolution.text,
            references=resolution.references,
            entities=turn.entities,
            drifted=understood.drifted,
            sources=tuple(sources),
            tools=answered.tools if answered is not None else (),
            model=answered.model if answered is not None else None,
            note="The answer was cut off at the limit of its tokens." if answered is not None and answered.cut else "",
        )
        if answered is not None:
            answer = replace(answer, usage=answered.usage, cost=answered.cost)
        elif isinstance(ended, ModelError):
            answer = replace(answer, usage=usage_of(ended), note=failure(ended, "Without it, you get an extract."))

        def write() -> None:
            self._parts.ingest.exchange(turn)

        return answer, write


__all__ = ["Chat", "Options", "Parts", "Save", "ToolUsed"]
