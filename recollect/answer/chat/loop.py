"""A model that answers with the help of tools: asked again after each of them, a bounded number of times."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from recollect.answer.results import Again, AnswerWords, ToolUsed
from recollect.errors import ModelError
from recollect.models.language.base import (
    NOTHING_USED,
    BadAnswer,
    EmptyAnswer,
    LanguageModelError,
    Usage,
    WrongAnswer,
    estimated_tokens,
    total_cost,
)
from recollect.models.language.talk import Call, Result, Said, Spoken, Talk, TalkingModel, Tool, arguments_of

#: How often a model may call tools in a turn, how many calls there may be in all, and what their answers may hold.
MOST_ROUNDS, MOST_CALLS, MOST_TOKENS = 6, 12, 20_000
#: How often a turn is asked again after a fault that another attempt may mend, and how many seconds it waits for that.
TRIES, PATIENCE = 3, 30.0

_OPENING = ("get_message_by_id", "get_messages_by_ids", "get_message_with_chunks")
_FULL = "There is no more room for what tools answer. Answer with what you have."
_TWICE = "You have called this already, with the same arguments. Its answer stands above."
_SPENT = "You have called as many tools as a turn allows. Answer with what you have."


class ToolReply(Protocol):
    """What a tool gives back."""

    @property
    def text(self) -> str:
        """For the model to read."""
        ...

    @property
    def is_error(self) -> bool:
        """Whether it failed; the text says what to do."""
        ...


class ToolSet(Protocol):
    """Tools by name (recollect.answer.tools)."""

    def schemas(self, provider: Any) -> list[dict[str, Any]]:
        """As a provider takes them."""
        ...

    def call(self, name: str, arguments: Any) -> ToolReply:
        """Never raises for what a model did wrong: that is an answer."""
        ...


@dataclass(frozen=True, slots=True)
class Ended:
    """How the loop ended: the words, what all of it took, and the ids that tools were asked for."""

    text: str
    model: str
    usage: Usage
    cost: float | None
    tools: tuple[ToolUsed, ...]
    cut: bool = False


def converse(
    model: TalkingModel,
    system: str,
    said: Sequence[Said],
    tools: ToolSet | None,
    *,
    max_tokens: int = 2_048,
    name: str = "chat",
    sleep: Callable[[float], None] = time.sleep,
) -> Generator[AnswerWords | ToolUsed | Again | Ended, None, None]:
    """The answer as it comes, and last how it ended; `name` is what it is for in the count of what was spent.

    Raises ModelError and its kin.
    """
    offered = _offered(tools)
    talk, usage, costs = list(said), NOTHING_USED, list[float | None]()
    known, room, used = dict[tuple[str, str], None](), MOST_TOKENS, list[ToolUsed]()
    before = ""
    for round_ in range(MOST_ROUNDS + 1):
        may_call = bool(offered) and round_ < MOST_ROUNDS and len(used) < MOST_CALLS
        request = Talk(system=system, said=talk, tools=offered, may_call=may_call, max_tokens=max_tokens, name=name)
        spoken: Spoken | None = None
        for part in _insisting(model, request, sleep):
            if isinstance(part, Spoken):
                spoken = part
            else:
                yield part
        assert spoken is not None
        usage += spoken.usage
        costs.append(spoken.cost)
        before = _joined(before, spoken.said.text)
        if not spoken.said.calls or not may_call:
            if not before:
                problem: BadAnswer = EmptyAnswer("The model answered with no words.")
                if spoken.said.calls:
                    problem = WrongAnswer("The model kept calling tools and did not answer.")
                problem.usage = usage
                raise problem
            yield Ended(before, spoken.model, usage, total_cost(costs), tuple(used), cut=spoken.stop == "limit")
            return
        if spoken.said.text.strip():
            yield AnswerWords("\n\n")
        assert tools is not None
        results: list[Result] = []
        for call in spoken.said.calls:
            result = _called(tools, call, known, room, len(used))
            tokens = estimated_tokens(result.text)
            room -= tokens
            used.append(ToolUsed(call.name, call.arguments, tokens, result.is_error))
            results.append(result)
            yield used[-1]
        talk += [spoken.said, Said(role="user", results=tuple(results))]
    raise AssertionError  # the last round returns or raises


def _insisting(
    model: TalkingModel, request: Talk, sleep: Callable[[float], None]
) -> Generator[AnswerWords | Again | Spoken, None, None]:
    """One turn of the model, asked again after faults that may pass."""
    waited, wasted = 0.0, NOTHING_USED
    for attempt in range(1, TRIES + 1):
        began = False
        try:
            for part in model.talk(request):
                if isinstance(part, Spoken):
                    yield replace(part, usage=wasted + part.usage)
                else:
                    began = True
                    yield AnswerWords(part)
        except LanguageModelError as problem:
            wasted += problem.usage
            problem.usage = wasted
            pause = _pause(problem, attempt)
            if attempt == TRIES or not problem.again or waited + pause > PATIENCE:
                raise
            if began:
                yield Again(problem.message)
            sleep(pause)
            waited += pause
        else:
            return


def _pause(problem: LanguageModelError, attempt: int) -> float:
    """Seconds to wait: those that the server asks for, else more with each attempt."""
    if problem.retry_after is not None:
        return problem.retry_after
    return random.uniform(0.5, 1.0) * 2.0 ** (attempt - 1) if problem.outage else 0.0


def _called(tools: ToolSet, call: Call, known: dict[tuple[str, str], None], room: int, calls: int) -> Result:
    """What a tool answers to a call; what is wrong with the call is an answer too."""
    if calls >= MOST_CALLS:
        return Result(call, _SPENT, is_error=True)
    try:
        arguments = json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return Result(call, "The arguments are no JSON. Call it again with one JSON object.", is_error=True)
    if not isinstance(arguments, dict):
        return Result(call, "The arguments are no JSON object. Call it again with one.", is_error=True)
    key = (call.name, json.dumps(arguments, sort_keys=True))
    if key in known:
        return Result(call, _TWICE, is_error=True)
    known[key] = None
    answer = tools.call(call.name, arguments)
    if estimated_tokens(answer.text) > room:
        return Result(call, _FULL, is_error=True)
    return Result(call, answer.text, is_error=answer.is_error)


def failure(problem: ModelError, instead: str) -> str:
    """What a reader is told where a model failed: why, and what stands there `instead` of its words."""
    return " ".join(filter(None, (problem.message, problem.hint, instead)))


def usage_of(problem: ModelError) -> Usage:
    """What a request had taken when it failed."""
    return problem.usage if isinstance(problem, LanguageModelError) else NOTHING_USED


def opened_by(tools: Sequence[ToolUsed]) -> list[str]:
    """The ids of messages that tools opened whole, as the model gave them."""
    found: list[str] = []
    for tool in tools:
        if tool.name in _OPENING and not tool.is_error:
            arguments = arguments_of(Call("", tool.name, tool.arguments))
            several = arguments.get("ids")
            given = [arguments.get("id"), *(several if isinstance(several, list) else ())]
            found += [one for one in given if isinstance(one, str)]
    return found


def _offered(tools: ToolSet | None) -> list[Tool]:
    if tools is None:
        return []
    return [
        Tool(name=one["name"], description=one["description"], schema=one["input_schema"])
        for one in tools.schemas("anthropic")
    ]


def _joined(before: str, text: str) -> str:
    return "\n\n".join(part for part in (before, text.strip()) if part)
