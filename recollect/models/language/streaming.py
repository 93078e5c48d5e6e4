"""What the models behind SDKs have in common: a call in the best form that the server takes, heard as it streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from recollect.models.language.base import Completion, Prompt, Request
from recollect.models.language.errors import (
    CutAnswer,
    EmptyAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelRefused,
    ModelTimeout,
    RequestRejected,
)
from recollect.models.language.prices import Price
from recollect.models.language.structured import Reply, Turn, answer, instructions, most_characters
from recollect.models.language.talk import Call, Said, Spoken, Talk
from recollect.models.language.usage import Usage, estimated_tokens
from recollect.models.language.wire import check_stream, http_client, translated
from recollect.runtime.tracing import model_call
from recollect.text.clean import clean_text

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
