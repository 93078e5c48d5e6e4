"""Free talk with a model, with tools and streamed: one half of the port (base.py is the other, for answers by schema).

A talk is what was said so far; `talk()` of a model gives the words of its next turn as they come, and at last the whole
of it. What is said to a model's tools is told in results, which are a turn of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from recollect.models.language.base import (
    NOTHING_USED,
    Completion,
    CutAnswer,
    EmptyAnswer,
    HugeAnswer,
    LanguageModel,
    LanguageModelError,
    ModelNotReady,
    ModelRefused,
    ModelTimeout,
    Price,
    Prompt,
    Request,
    RequestRejected,
    Usage,
    estimated_tokens,
)
from recollect.models.language.structured import Reply, Turn, answer, instructions, most_characters
from recollect.models.language.wire import check_stream, http_client, translated
from recollect.runtime.tracing import model_call
from recollect.text.clean import clean_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What a model may call: a name, what it is for, and the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model made. `arguments` are as it wrote them: JSON, one hopes."""

    id: str
    name: str
    arguments: str


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments as an object; none where what was written is no object of JSON."""
    try:
        value = json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered to a call."""

    call: Call
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn of a talk. `results` stand in a turn of the user that answers the calls of the turn before it. `raw` is
    for the provider that said it, who wants it back as it was (its thinking, with its signature).
    """

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    raw: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A request for the next turn. Without `may_call` the tools are there for what was called before, and may not be
    called any more.
    """

    system: str
    said: Sequence[Said]
    tools: Sequence[Tool] = ()
    may_call: bool = True
    max_tokens: int = 2_048
    name: str = "chat"  # what it is for, in the count of what was spent

    @property
    def text(self) -> str:
        """All that is sent, as one text."""
        parts = [self.system, *(str(tool) for tool in self.tools)]
        for turn in self.said:
            parts += [turn.text, *(call.arguments for call in turn.calls), *(result.text for result in turn.results)]
        return "\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A whole turn of a model: its words, the tools that it wants called, and what it took."""

    said: Said
    stop: Literal["end", "limit", "calls"]
    model: str
    usage: Usage = NOTHING_USED
    cost: float | None = None


@runtime_checkable
class TalkingModel(LanguageModel, Protocol):
    """A language model that talks. Thread-safe."""

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The words of the next turn as they come, and last the whole turn. Raises ModelError (recollect.errors) and
        its kin, also after words have come: then the turn is not whole.
        """
        ...


def talking(model: LanguageModel, what: str) -> TalkingModel:
    """The model as one that talks, for `what` needs free words. Raises ModelNotReady for one that does not."""
    if isinstance(model, TalkingModel):
        return model
    raise ModelNotReady(
        f"{model.name} answers by schema alone, and {what} needs free words.",
        hint="A model of your own needs a method talk() (recollect/models/language/talk.py).",
    )


# What the models behind SDKs have in common: a call in the best form that the server takes, heard as it streams.

Stop = Literal["end", "limit", "refusal"]


class Heard:
    """What has come of an answer so far."""

    def __init__(self, most: int, input_tokens: int) -> None:
        self._most, self._size, self._parts = most, 0, list[str]()
        self.stop: Stop | None = None
        self.calls: dict[int, list[str]] = {}  # by place: id, name, arguments as far as they have come
        self.raw: dict[int, dict[str, Any]] = {}  # blocks that the provider wants back as they were
        self.reason = ""
        self.input_tokens = input_tokens
        self.output_tokens: int | None = None  # None: the server has not told
        self.began = False

    def add(self, text: str) -> None:
        """Takes the next words. Raises HugeAnswer."""
        self._size += len(text)
        self._parts.append(text)
        if self._size > self._most:
            raise HugeAnswer(f"The model answered more than {self._most:,} characters.")

    def call(self, place: int, *, id: str = "", name: str = "", arguments: str = "") -> None:
        """Takes more of a call of a tool. Raises HugeAnswer."""
        known = self.calls.setdefault(place, ["", "", ""])
        known[0], known[1] = known[0] or id, known[1] or name
        known[2] += arguments
        self._size += len(arguments) + 1
        if self._size > self._most:
            raise HugeAnswer(f"The model answered more than {self._most:,} characters.")

    def fresh(self, taken: int) -> str:
        """What has come after so many pieces."""
        return "".join(self._parts[taken:])

    @property
    def pieces(self) -> int:
        """How many pieces of text have come."""
        return len(self._parts)

    @property
    def usage(self) -> Usage:
        """What the answer took, as the server counts it, else as we do."""
        written = "".join([*self._parts, *(call[2] for call in self.calls.values())])
        output = estimated_tokens(written) if self.output_tokens is None else self.output_tokens
        return Usage(1, self.input_tokens, output)

    def reply(self) -> Reply:
        """The whole answer. Raises CutAnswer where the stream ended before the model did."""
        if self.stop is None:
            cut = CutAnswer("The stream ended in the middle of an answer.")
            cut.usage = self.usage
            raise cut
        return Reply("".join(self._parts), self.stop, self.usage, self.reason)


class StreamedModel:
    """A model behind an SDK. The subclass names the package, opens the client and reads the events."""

    _package: ClassVar[str]
    _forms: ClassVar[tuple[str, ...]]  # of asking for JSON, best first; servers answer 400 to those they do not know
    _hint: ClassVar[str]
    _key_variable: ClassVar[str]

    def __init__(
        self, name: str, model: str, base_url: str, key: str, price: Price | None, silence: float, longest: float
    ) -> None:
        self.name = name
        self._model, self._base_url, self._key, self.price = model, base_url, key, price
        self._silence, self._longest = silence, longest
        self._form = 0

    def check(self) -> None:
        """Sees that the package is there and a key, where one is needed. Raises ModelNotReady."""
        if find_spec(self._package) is None:
            raise ModelNotReady(
                f"{self.name} is asked through the package {self._package}, which is not installed.",
                hint=f'To install it: pip install "recollect[{self._package}]"',
            )
        if not self._key:
            raise ModelNotReady(f"{self.name} needs an API key.", hint=f"Set {self._key_variable}.")

    def complete(self, request: Request) -> Completion:
        """The answer, validated against the schema of the prompt. Raises ModelError and its kin."""
        self.check()
        return answer(self._say, request, self.name, self.price)

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The words of the next turn as they come, and last the whole turn. Raises ModelError and its kin."""
        self.check()
        heard = Heard(most_characters(talk.max_tokens), estimated_tokens(talk.text))
        taken = 0
        with model_call(self.name, self._model) as tell:
            try:
                with self._open_talk(talk) as stream:
                    check_stream(stream.response, self._base_url)
                    for event in stream:
                        heard.began = True
                        self._hear(event, heard)
                        if heard.pieces > taken:
                            fresh, taken = clean_text(heard.fresh(taken)), heard.pieces
                            if fresh:
                                yield fresh
            except Exception as error:
                problem = self._problem(error, talk.text, heard)
                raise problem from None
            tell(heard.usage.input_tokens, heard.usage.output_tokens)
        yield spoken(heard, self.name, self.price, talk.max_tokens)

    def _say(self, prompt: Prompt, turns: Sequence[Turn], max_tokens: int) -> Reply:
        """One call, in the best form that the server takes; it is remembered for the next."""
        form = self._form
        while True:
            try:
                reply = self._call(prompt, turns, max_tokens, self._forms[form])
            except RequestRejected:
                if form + 1 == len(self._forms):
                    raise
                form += 1
            else:
                self._form = max(form, self._form)
                return reply

    def _call(self, prompt: Prompt, turns: Sequence[Turn], max_tokens: int, form: str) -> Reply:
        system = instructions(prompt, with_schema=self._tells_schema(form))
        sent = "\n".join([system, *(text for _, text in turns)])
        heard = Heard(most_characters(max_tokens), estimated_tokens(sent))
        with model_call(self.name, self._model) as tell:
            try:
                with self._open(prompt, system, turns, max_tokens, form) as stream:
                    check_stream(stream.response, self._base_url)
                    for event in stream:
                        heard.began = True
                        self._hear(event, heard)
            except Exception as error:
                problem = self._problem(error, sent, heard)
                raise problem from None
            tell(heard.usage.input_tokens, heard.usage.output_tokens)
        return heard.reply()

    def _problem(self, error: Exception, sent: str, heard: Heard) -> LanguageModelError:
        problem = translated(self._sdk, error, place=self._base_url, sent=sent, began=heard.began, hint=self._hint)
        if heard.began or isinstance(problem, ModelTimeout):  # a server may count what it never sent
            problem.usage = heard.usage
        return problem

    def _tells_schema(self, form: str) -> bool:
        """Whether the model is told the schema in words."""
        raise NotImplementedError

    def _open(self, prompt: Prompt, system: str, turns: Sequence[Turn], max_tokens: int, form: str) -> Any:
        """The stream of events of one call, as a context manager."""
        raise NotImplementedError

    def _open_talk(self, talk: Talk) -> Any:
        """The stream of events of a turn of a talk, as a context manager."""
        raise NotImplementedError

    def _hear(self, event: Any, heard: Heard) -> None:
        """Takes what an event says."""
        raise NotImplementedError

    @cached_property
    def _sdk(self) -> Any:
        return import_module(self._package)

    def _http(self) -> Any:
        return http_client(self._base_url, silence=self._silence, longest=self._longest)


def spoken(heard: Heard, model: str, price: Price | None, max_tokens: int) -> Spoken:
    """The whole turn. Raises CutAnswer, ModelRefused, EmptyAnswer."""
    reply = heard.reply()
    problem: LanguageModelError | None = None
    if reply.stop == "refusal":
        problem = ModelRefused(f"The model declined to answer{reply.reason and f' ({reply.reason})'}.")
    elif reply.stop == "limit" and heard.calls:  # the last of them is not whole
        problem = CutAnswer(f"The answer was cut off after {max_tokens:,} tokens.")
    elif not reply.text.strip() and not heard.calls:
        problem = EmptyAnswer("The model answered nothing.")
    if problem is not None:
        problem.usage = reply.usage
        raise problem
    calls = tuple(
        Call(clean_text(own) or f"call_{place}", clean_text(name), clean_text(arguments))
        for place, (own, name, arguments) in sorted(heard.calls.items())
    )
    raw = tuple(block for _, block in sorted(heard.raw.items()))
    said = Said(role="assistant", text=clean_text(reply.text), calls=calls, raw=raw)
    stop: Literal["end", "limit", "calls"] = "calls" if calls else ("limit" if reply.stop == "limit" else "end")
    return Spoken(said=said, stop=stop, model=model, usage=reply.usage, cost=price.of(reply.usage) if price else None)
