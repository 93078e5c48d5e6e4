"""What the models behind SDKs have in common: a call in the best form that the server takes, heard as it streams."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from recollect.model.base import Completion, Prompt, Request
from recollect.model.errors import (
    CutAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelTimeout,
    RequestRejected,
)
from recollect.model.prices import Price
from recollect.model.structured import Reply, Turn, answer, instructions, most_characters
from recollect.model.usage import Usage, estimated_tokens
from recollect.model.wire import check_stream, http_client, translated

Stop = Literal["end", "limit", "refusal"]


class Heard:
    """What has come of an answer so far."""

    def __init__(self, most: int, input_tokens: int) -> None:
        self._most, self._size, self._parts = most, 0, list[str]()
        self.stop: Stop | None = None
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

    @property
    def usage(self) -> Usage:
        """What the answer took, as the server counts it, else as we do."""
        output = estimated_tokens("".join(self._parts)) if self.output_tokens is None else self.output_tokens
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
        try:
            with self._open(prompt, system, turns, max_tokens, form) as stream:
                check_stream(stream.response, self._base_url)
                for event in stream:
                    heard.began = True
                    self._hear(event, heard)
        except Exception as error:
            problem = self._problem(error, sent, heard)
            raise problem from None
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

    def _hear(self, event: Any, heard: Heard) -> None:
        """Takes what an event says."""
        raise NotImplementedError

    @cached_property
    def _sdk(self) -> Any:
        return import_module(self._package)

    def _http(self) -> Any:
        return http_client(self._base_url, silence=self._silence, longest=self._longest)
