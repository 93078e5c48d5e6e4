"""A context from a text: what stands, what is found, and an index of the rest, within a budget and within a time.

All of it is read in one view and one pass of search. What changes least comes first, so that providers' caches of
prompts hold: the guide, rules, facts, summaries, the newest messages, and last what was found for this one text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from recollect.context import result
from recollect.context.index_forms import IndexRequest, clustered, hierarchical, simple, snippet
from recollect.context.relevant import Shown, relevant
from recollect.context.result import PER_ENTRY, PER_MESSAGE, Context, ContextPart, tokens_in, tokens_in_each
from recollect.context.settings import LEAST_TOKENS, IndexConfig, IndexForm, Patience, ToolNames, form_for
from recollect.context.standing import LONG_TERM, Read, Standing, standing
from recollect.derive.facts.fact import node_when, when_told
from recollect.errors import InvalidInput
from recollect.models.embedding import Embedder, TokenEmbedder, is_remote
from recollect.record import Node, NodeId
from recollect.runtime.processes import turn
from recollect.search.known import Fit
from recollect.search.recalling import Recall, Recalled, recall
from recollect.search.results.result import DerivedHit, behind_first
from recollect.search.secrets import Mask, Masking
from recollect.store import Space, View
from recollect.store.results import Kept
from recollect.text.clean import marked

T = TypeVar("T")


class TooLong(Exception):
    """A stage was not done in time."""


class Staged(Generic[T]):
    """A generator that runs in a thread of its own; each thing that it yields is the end of a stage.

    A thread cannot be stopped. One that is not waited for any more ends by itself, at the end of the stage that it is
    in, and nobody gets what it does; it does not keep the program from ending.
    """

    def __init__(self, work: Callable[[], Generator[T, None, None]], name: str) -> None:
        self._done: SimpleQueue[tuple[bool, T | BaseException | None]] = SimpleQueue()
        self._given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=True)

    def __enter__(self) -> Staged[T]:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._given_up.set()

    def next(self, seconds: float | None = None) -> T:
        """The end of the next stage, at most so many seconds from now. Raises TooLong, and what the work raises."""
        try:
            failed, found = self._done.get(timeout=seconds)
        except Empty:
            raise TooLong from None
        if failed:
            assert isinstance(found, BaseException)
            raise found
        return found  # type: ignore[return-value]

    def _run(self, work: Callable[[], Generator[T, None, None]]) -> None:
        stages: Iterator[T] = iter(())
        try:
            stages = work()
            for found in stages:
                self._done.put((False, found))
                if self._given_up.is_set():
                    break
        except BaseException as problem:
            self._done.put((True, problem))
        finally:
            close = getattr(stages, "close", None)
            if close is not None:
                close()


#: So many of the best results are looked at.
_MOST, _ENOUGH = 240, 2  # messages, or that many times the tokens that there is room for
_ENOUGH_TO_SHOW = 1.25  # where no index names the others
#: What the index may take of the room, and what facts and summaries that answer may.
_INDEX_SHARE, _KNOWLEDGE_SHARE = 0.15, 0.1
#: In a small budget both are less: what answers comes first.
_AMPLE, _LEAST_INDEX_SHARE = 6_000, 0.08
_OF_ROOM = 2  # what stands takes less than half of what it is told
_DERIVED = {"fact": 8, "summary": 2}
#: Tokens for what fits only a little, all of it together.
_A_LITTLE = 150
_FORMS: dict[IndexForm, Callable[[IndexRequest, View], ContextPart | None]] = {
    "full": snippet,
    "snippet": snippet,
    "clustered": clustered,
    "hierarchical": hierarchical,
}
#: What is told where less is handed out than usual.
_NO_SEARCH = "The search took longer than {} ms, so that only the newest messages are here."
_NO_INDEX = "The index took longer than {} ms to build, so that it is the simple one."


@dataclass(frozen=True, slots=True)
class _Findings:
    """What search has found, and what of it is shown in full."""

    recall: Recall
    knowledge: ContextPart | None
    shown: Shown
    results: tuple[Recalled, ...]
    room: int  # for the index


class ContextBuilder:
    """Builds contexts from one space."""

    def __init__(
        self,
        space: Space,
        kept: Kept,
        embedder: Embedder,
        quality: Callable[[], TokenEmbedder],
        clock: Callable[[], datetime],
        config: IndexConfig,
        patience: Patience,
        *,
        tools: ToolNames | None = None,
        masking: Masking,
    ) -> None:
        """`tools`: those by which the model opens what is only named. `masking` takes secrets out of all of it."""
        self._masking = masking
        self._space, self._kept, self._tools = space, kept, tools
        self._embedder, self._quality, self._clock = embedder, quality, clock
        self._config, self._patience = config, patience

    def __call__(
        self,
        text: str,
        conversation_id: NodeId | None = None,
        budget: int | None = None,
        known: frozenset[NodeId] = frozenset(),
        *,
        answers: bool = True,
    ) -> Context:
        """The context for a text, without what is `known`; without `answers` no message that answers is in it, and room
        is left for those that the caller has found. Raises InvalidInput where text and guide alone are over the budget,
        NotFound, StoreError.
        """
        began = time.perf_counter()
        budget = self._config.max_index_tokens if budget is None else budget
        room = self._room(text, budget)
        now, degraded = self._clock(), None
        form: IndexForm = "recent_only"
        found: _Findings | None = None
        index: ContextPart | None = None

        def work() -> Generator[Standing | _Findings | ContextPart | None, None, None]:
            with turn(waits=is_remote(self._embedder)), self._space.view() as view:
                stands = self._standing(view, text, conversation_id, room, now, known)
                stands = replace(stands, seen=stands.seen | known)
                yield stands
                reached = self._search(view, text, stands, room - stands.tokens, now, answers=answers)
                yield reached
                yield _FORMS[self._form(reached)](self._request(text, reached, now), view) if self._tools else None

        with Staged(work, "recollect-context") as stages:
            stands = stages.next()
            assert isinstance(stands, Standing)
            try:
                reached = stages.next(self._patience.vector_search_timeout / 1000)
                assert isinstance(reached, _Findings)
                found, form = reached, self._form(reached)
                answer = stages.next(self._patience.index_build_timeout / 1000)
                index = answer if isinstance(answer, ContextPart) else None
            except TooLong:
                if found is None:
                    degraded = _NO_SEARCH.format(self._patience.vector_search_timeout)
                elif self._tools:
                    degraded = _NO_INDEX.format(self._patience.index_build_timeout)
                    form, index = "simple", simple(self._request(text, found, now))
        with self._space.view() as view:
            mask = self._masking.of(view)
        stands = stands if answers and found is not None else replace(stands, more=None)
        context = _composed(text, budget, form, stands, found, index, self._guide(), mask)
        return replace(context, took=(time.perf_counter() - began) * 1000, degraded=degraded)

    def newest(self, text: str, conversation_id: NodeId, budget: int) -> frozenset[NodeId]:
        """The messages of a conversation that the context for a text begins with. Raises as a context does."""
        room = self._room(text, budget)
        with self._space.view() as view:
            return self._standing(view, text, conversation_id, room, self._clock(), frozenset()).seen

    def _standing(
        self, view: View, text: str, own: NodeId | None, room: int, now: datetime, known: frozenset[NodeId]
    ) -> Standing:
        """What stands, whatever is asked. A longer text leaves the beginning as it is, unless there is no room."""
        whole = min(room + _asked(text).tokens, room * _OF_ROOM)
        window = self._config.recent_window_size
        read = Read(view, self._kept)
        return standing(read, text, own, window, whole, room, now, tools=self._tools, known=known)

    def _room(self, text: str, budget: int) -> int:
        """What is left beside the guide and the text."""
        if budget < LEAST_TOKENS:
            raise InvalidInput(f"A context of {budget} tokens is too small.", hint=f"Use {LEAST_TOKENS} or more.")
        room = budget - self._guide().tokens - _asked(text).tokens
        if room < 0:
            raise InvalidInput(
                f"The text alone is over the budget: {tokens_in(text):,} tokens of {budget:,}.",
                hint="Raise the budget, or ask with less of the text.",
            )
        return room

    def _search(self, view: View, text: str, stands: Standing, room: int, now: datetime, *, answers: bool) -> _Findings:
        """One pass: what answers, what is known of it, and how many results there are."""
        if not text.strip():
            return _Findings(Recall(), None, Shown(), (), room)
        config = self._config
        found = recall(
            view,
            text,
            self._embedder,
            self._quality,
            now.date(),
            most=_MOST,
            beside=config.include_tool_calls,
            vectors=self._tools is not None,  # which clusters are made of
            derived=_DERIVED,
            enough=int((_ENOUGH if self._tools else _ENOUGH_TO_SHOW) * room),
        )
        if found.fit is Fit.NOTHING:
            return _Findings(Recall(), None, Shown(), (), room)
        if found.fit is Fit.A_LITTLE:
            room = min(room, _A_LITTLE)
        results = tuple(one for one in (*found.said, *found.other, *found.further) if one.id not in stands.seen)
        ample = min(1.0, room / _AMPLE)
        knowledge = _knowledge(found.derived, found.stored, stands, int(room * ample * _KNOWLEDGE_SHARE))
        room -= knowledge.tokens if knowledge else 0
        form = form_for(config.index_strategy, found.relevant)
        reserved = int(room * max(_LEAST_INDEX_SHARE, ample * _INDEX_SHARE)) if self._tools else 0
        if not answers:
            return _Findings(found, knowledge, Shown(left=_interleaved(results, found)), results, reserved)
        if form == "full":
            reserved = 0
        shown = relevant(_interleaved(results, found), found.words, room - reserved)
        return _Findings(found, knowledge, shown, results, room - (shown.part.tokens if shown.part else 0))

    def _guide(self) -> ContextPart:
        """What says what this is, with all that stands around it and around what was found."""
        frame = 2 * (tokens_in(marked("")) + PER_ENTRY)
        words = f"{result.GUIDE} {self._tools.guide}" if self._tools else result.GUIDE
        return ContextPart("guide", words, tokens_in(words) + frame + PER_MESSAGE)

    def _form(self, found: _Findings) -> IndexForm:
        return form_for(self._config.index_strategy, found.recall.relevant)

    def _request(self, text: str, found: _Findings, now: datetime) -> IndexRequest:
        return IndexRequest(
            text=text,
            left=found.shown.left,
            found=found.results,
            config=self._config,
            embedder=self._embedder,
            now=now,
            room=found.room,
            tools=self._tools or ToolNames(),
        )


def _knowledge(
    derived: Sequence[DerivedHit], stored: Sequence[Node], stands: Standing, budget: int
) -> ContextPart | None:
    """Facts and summaries that answer and do not stand there already, best first, what no message proves before."""
    known = {known for part in stands.parts for known in part.ids} | stands.seen
    told = [*((node.id, _stored_line(node)) for node in stored), *((hit.id, _known_line(hit)) for hit in derived)]
    told = [(own, line) for own, line in told if own not in known]
    left = budget - tokens_in(result.KNOWLEDGE) - PER_ENTRY
    kept: list[tuple[NodeId, str]] = []
    for (own, line), cost in zip(told, tokens_in_each([line for _, line in told]), strict=True):
        if cost + PER_ENTRY <= left:
            left -= cost + PER_ENTRY
            kept.append((own, line))
    if not kept:
        return None
    body = "\n".join([result.KNOWLEDGE, *(line for _, line in kept)])
    return ContextPart("knowledge", body, tokens_in(body) + PER_ENTRY, tuple(own for own, _ in kept))


def _known_line(hit: DerivedHit) -> str:
    """With the message that it was made of, so that it can be looked up."""
    when = result.span(hit.since, hit.until)
    if hit.kind == "fact":
        when = when_told(hit.since, hit.until, hit.messages[-1].timestamp, result.day)
    return f"- {_with_when(hit.text, when)} {result.code(hit.messages[0].id)}"


def _stored_line(node: Node) -> str:
    return f"- {_with_when(node.text, node_when(node, result.day))}"


def _with_when(text: str, when: str) -> str:
    return f"{result.shown(text)}{f' ({when})' if when else ''}"


def _interleaved(results: Sequence[Recalled], found: Recall) -> list[Recalled]:
    """What was said in order of rank, behind the best few of it what clearly answers of tool results and files, and
    behind all of it what else there is of these.
    """
    beside, last = {one.id for one in found.other}, {one.id for one in found.further}
    said = [one for one in results if one.id not in beside | last]
    others = [one for one in results if one.id in beside]
    further = [one for one in results if one.id in last]
    return [*behind_first(said, others[:_OTHERS], _SAID_FIRST), *others[_OTHERS:], *further]


#: Of tool results and documents so many come behind so many of the best messages: a context shows dozens of these.
_SAID_FIRST, _OTHERS = 6, 3


def _asked(text: str) -> ContextPart:
    return ContextPart("asked", text, tokens_in(text) + PER_MESSAGE)


def _composed(
    text: str,
    budget: int,
    form: IndexForm,
    stands: Standing,
    found: _Findings | None,
    index: ContextPart | None,
    guide: ContextPart,
    mask: Mask,
) -> Context:
    """The parts as messages and as one text, without secrets but those of the text itself. What is over the budget all
    the same goes, the least first.
    """
    told = [(role, mask(words, text)) for role, words in stands.recent]
    by_name = {part.name: _masked(part, mask, text) for part in stands.parts}
    rules = [part for part in (by_name.get("rules"),) if part is not None]
    if rules:
        guide = replace(guide, text=guide.text.replace(result.GUIDE, result.BELOW_RULES, 1))
    first = [*rules, guide]
    stable = [part for name in LONG_TERM if (part := by_name.get(name)) is not None]
    recent = [part for part in (by_name.get("recent"),) if part is not None]
    parts = (found.knowledge, found.shown.part, index) if found else ()
    fresh = [_masked(part, mask, text) for part in parts if part is not None]
    asked = _asked(text)

    def composed() -> tuple[list[dict[str, str]], int]:
        messages = _messages(text, [*first, *stable], told, fresh)
        return messages, sum(tokens_in(message["content"]) + PER_MESSAGE for message in messages)

    if stands.more is not None:
        fresh.insert(0, _masked(stands.more, mask, text))
        if composed()[1] > budget:
            del fresh[0]
    messages, tokens = composed()
    while tokens > budget and fresh:
        fresh.pop()
        messages, tokens = composed()
    if not any(part.name in ("relevant", "index") for part in fresh):
        form = "recent_only"
    whole = marked("\n\n".join(part.text for part in (*first, *stable, *recent, *fresh)))
    return Context(
        messages=tuple(messages),
        text=whole,
        tokens=tokens,
        budget=budget,
        index_form=form,
        parts=(*first, *stable, *recent, *fresh, asked),
        relevant=found.recall.relevant if found else 0,
    )


def _masked(part: ContextPart, mask: Mask, asked: str) -> ContextPart:
    """The part as it is handed out."""
    text = mask(part.text, asked)
    return part if text == part.text else replace(part, text=text, tokens=tokens_in(text) + PER_ENTRY)


def _messages(
    text: str, stable: Sequence[ContextPart], recent: Sequence[tuple[str, str]], fresh: Sequence[ContextPart]
) -> list[dict[str, str]]:
    behind = f"{marked(_joined(fresh))}\n\n{text}" if fresh else text
    return [
        {"role": "system", "content": marked(_joined(stable))},
        *({"role": role, "content": words} for role, words in recent),
        {"role": "user", "content": behind},
    ]


def _joined(parts: Sequence[ContextPart]) -> str:
    return "\n\n".join(part.text for part in parts)
