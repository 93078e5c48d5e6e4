"""Language models by name, as settings, the command line and `recollect.open` give them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from recollect.errors import InvalidInput
from recollect.models.language.base import (
    PRICES,
    Completion,
    LanguageModel,
    Prompt,
    Request,
    Usage,
    estimated_tokens,
    price,
)
from recollect.models.language.structured import Reply, Turn, answer, instructions
from recollect.models.language.talk import Result, Said, Spoken, Talk, TalkingModel

_CHOICES = "anthropic:model, openai:model, openai:model@http://localhost:11434/v1, none"


def open_model(spec: str, *, prices: Path | None = None, check: bool = True) -> LanguageModel | None:
    """The language model of that name; None for "" and "none". Nothing is asked and no package is loaded yet.

    `anthropic:model` needs ANTHROPIC_API_KEY. `openai:model` asks OpenAI, or the server of OPENAI_BASE_URL;
    `openai:model@http://host/v1` that one. `prices` is a folder that may hold a table of prices. Raises InvalidInput
    for another name, and with `check` ModelNotReady without the package or a key; else the first request does.
    """
    provider, name, address = split_spec(spec)
    if not provider:
        return None
    from recollect.models.language.anthropic import AnthropicModel
    from recollect.models.language.openai import OpenAIModel

    model: AnthropicModel | OpenAIModel
    match provider:
        case "anthropic":
            model = AnthropicModel(name, base_url=address)
        case _:
            model = OpenAIModel(name, base_url=address)
    model.price = price(model.name, prices / PRICES if prices else None)
    if check:
        model.check()
    return model


#: Which model is suggested where a key is found and none is chosen: the small one of its provider.
_OF_KEYS = (("ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5"), ("OPENAI_API_KEY", "openai:gpt-6-luna"))
_PROVIDERS = {
    "anthropic": "Anthropic",
    "api.anthropic.com": "Anthropic",
    "openai": "OpenAI",
    "api.openai.com": "OpenAI",
}


def suggested(environment: Mapping[str, str]) -> tuple[str, str]:
    """A model for the key that was found in the environment, and the key's variable; empty where there is none. Nothing
    is sent for it: a key is not a choice.

    Another server than OpenAI's own has other models: none is guessed there.
    """
    for variable, spec in _OF_KEYS:
        if environment.get(variable) and not (variable == "OPENAI_API_KEY" and environment.get("OPENAI_BASE_URL")):
            return spec, variable
    return "", ""


def destination(spec: str, environment: Mapping[str, str] | None = None) -> str:
    """Where what is asked of that model goes, as in "Anthropic (claude-haiku-5-5)". Raises InvalidInput."""
    provider, model, address = split_spec(spec)
    if provider == "openai":
        address = address or (os.environ if environment is None else environment).get("OPENAI_BASE_URL")
    host = urlsplit(address).netloc.rpartition("@")[2] if address else provider
    return f"{_PROVIDERS.get(host, host)} ({model})"


def split_spec(spec: str) -> tuple[str, str, str | None]:
    """Provider, model and address of a name; the first is empty where no model is meant. Raises InvalidInput."""
    spec = spec.strip()
    if spec in ("", "none"):
        return "", "", None
    provider, _, rest = spec.partition(":")
    model, at, address = rest.partition("@http")
    model = model.strip()
    if provider not in ("anthropic", "openai") or not model:
        raise InvalidInput(f"{spec!r} is not a language model.", hint=f"Choose one of: {_CHOICES}.")
    return provider, model, f"http{address.strip()}" if at else None


# A function as a language model: it takes a prompt and returns the words of the answer.


class FunctionModel(TalkingModel):
    """A model that asks a function. It calls no tools; what it takes is estimated."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self.name = f"function:{getattr(function, '__name__', type(function).__name__)}"
        self._function = function

    def complete(self, request: Request) -> Completion:
        """The answer, for which the function is told the schema, and asked once more where it does not fit."""

        def say(prompt: Prompt, turns: Sequence[Turn], max_tokens: int) -> Reply:
            told = [instructions(prompt, with_schema=True), *(said for _, said in turns)]
            text, usage = self._asked("\n\n".join(told))
            return Reply(text, "end", usage)

        return answer(say, request, self.name, None)

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The answer, all of it at once."""
        text, usage = self._asked("\n\n".join([talk.system, *(turn.text for turn in talk.said)]))
        yield text
        yield Spoken(said=Said(role="assistant", text=text), stop="end", model=self.name, usage=usage)

    def _asked(self, prompt: str) -> tuple[str, Usage]:
        text = self._function(prompt)
        if not isinstance(text, str):
            raise TypeError(f"the function returned {type(text).__name__} instead of str")
        return text, Usage(1, estimated_tokens(prompt), estimated_tokens(text))


# A language model that is told no secrets: every text of a request is masked before it leaves.

M = TypeVar("M", bound=LanguageModel)


class DiscreetModel(Generic[M]):
    """A model that gets requests with a mask in the place of each secret. Thread-safe."""

    def __init__(self, model: M, mask: Callable[[str], str]) -> None:
        self._model, self._mask = model, mask
        self.name = model.name

    def complete(self, request: Request) -> Completion:
        """As the model does. Raises whatever the model raises."""
        return self._model.complete(replace(request, text=self._mask(request.text)))


class DiscreetTalk(DiscreetModel[TalkingModel]):
    """The same of a model that talks. What the model itself said in this turn goes back to it as it was."""

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """As the model does."""
        return self._model.talk(
            replace(talk, system=self._mask(talk.system), said=[self._told(turn) for turn in talk.said])
        )

    def _told(self, turn: Said) -> Said:
        results = tuple(Result(one.call, self._mask(one.text), one.is_error) for one in turn.results)
        return replace(turn, text=self._mask(turn.text), results=results)


def discreet(model: LanguageModel, mask: Callable[[str], str]) -> LanguageModel:
    """The model, told no secrets."""
    return DiscreetTalk(model, mask) if isinstance(model, TalkingModel) else DiscreetModel(model, mask)
