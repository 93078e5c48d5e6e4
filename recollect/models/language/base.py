"""The port of language models: one request, one validated answer, and errors that say whether to try again."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from recollect.errors import InvalidInput, ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A file of `prompts/`: what a model is told, the JSON schema of its answer and an example of a good one. Its
    version is stored with whatever it made.
    """

    name: str
    version: int
    system: str
    schema: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """As in "l1/2"."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call: a prompt and the text that it is about."""

    prompt: Prompt
    text: str
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A validated answer with what it took."""

    data: Mapping[str, Any]
    model: str  # "anthropic:claude-…", as in settings
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None  # US dollars; None: the price is not known
    calls: int = 1  # 2 where a broken answer was repaired


class LanguageModel(Protocol):
    """Answers requests. Thread-safe."""

    name: str

    def complete(self, request: Request) -> Completion:
        """The answer, validated against the schema of the prompt. Raises ModelError (recollect.errors) and its kin."""
        ...


# What requests take: calls and tokens, and money.


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls that were answered, and their tokens, as the server counts them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    @property
    def tokens(self) -> int:
        """Of input and output."""
        return self.input_tokens + self.output_tokens


NOTHING_USED = Usage()


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum of costs; None where one of them is not known."""
    every = list(costs)
    return None if None in every else sum(cost for cost in every if cost is not None)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many: no model's own tokenizer is known here."""
    return len(text.encode("utf-8", "replace")) * 2 // 7 + 1


# What can go wrong with a language model, told apart by what helps: another attempt, a pause, or a person.


class LanguageModelError(ModelError):
    """What a language model raises. `usage` is what the request had taken when it failed."""

    usage: Usage = NOTHING_USED


class ModelNotReady(LanguageModelError):
    """The model cannot be used until somebody does something: a package, a key, a name, an address, a quota."""

    code = "model_not_ready"
    outage = True


class ModelUnreachable(LanguageModelError):
    """The server cannot be reached, is overloaded or has a problem of its own."""

    code = "model_unreachable"
    again = True
    outage = True


class ModelTimeout(LanguageModelError):
    """The server was silent for too long, or took too long in all."""

    code = "model_timeout"
    again = True


class RateLimited(LanguageModelError):
    """Too many requests in too short a time."""

    code = "rate_limited"
    again = True
    outage = True


class BudgetSpent(LanguageModelError):
    """What may be spent a day is spent. `retry_after` is the time until the next day."""

    code = "budget_spent"
    again = True
    outage = True


class BudgetHeld(LanguageModelError):
    """What is left of the day's budget is held by requests under way, which free in seconds what they do not take."""

    code = "budget_held"
    again = True
    outage = True


class RequestRejected(LanguageModelError):
    """The server does not take this request, such as one that is too long."""

    code = "request_rejected"


class ModelRefused(LanguageModelError):
    """The model declines to answer this request."""

    code = "model_refused"


class BadAnswer(LanguageModelError):
    """An answer that cannot be used. Another attempt may give a better one."""

    code = "bad_answer"
    again = True


class EmptyAnswer(BadAnswer):
    """Nothing was answered."""

    code = "empty_answer"


class CutAnswer(BadAnswer):
    """The answer ended too early: the connection broke, or the limit of its tokens was reached."""

    code = "cut_answer"


class HugeAnswer(BadAnswer):
    """The answer is longer than any good one; it was not read to its end."""

    code = "huge_answer"


class BrokenAnswer(BadAnswer):
    """The answer holds no JSON."""

    code = "broken_answer"


class WrongAnswer(BadAnswer):
    """The answer is JSON, and not what was asked for."""

    code = "wrong_answer"


# What models cost, from a table that anyone can correct: `prices.toml` here, and one beside `config.toml`.

#: The file beside config.toml with prices of one's own, in the same form.
PRICES = "prices.toml"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """What so much costs, in US dollars."""
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1_000_000


def price(model: str, own: Path | None = None) -> Price | None:
    """The price of a model by its whole name ("anthropic:claude-…"); None where it is not known.

    A dated version costs what the longest name in the table costs that it begins with. `own` is a file of prices that
    go before the packaged ones. Raises InvalidInput where it cannot be read.
    """
    table = dict(_packaged())
    if own is not None and own.is_file():
        table |= _read(own.read_text("utf-8"), str(own))
    names = [name for name in table if model == name or model.startswith((f"{name}-2", f"{name}@"))]
    return table[max(names, key=len)] if names else None


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Price]:
    text = resources.files("recollect.models.language").joinpath(PRICES).read_text("utf-8")
    return _read(text, PRICES)


def _read(text: str, place: str) -> dict[str, Price]:
    try:
        return {str(name): _price(value) for name, value in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, TypeError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"{place} is not a table of prices: {error}.",
            hint='Lines look like this: "openai:my-model" = { input = 0.5, output = 1.5 }',
        ) from None


def _price(value: Any) -> Price:
    wanted = Price(float(value["input"]), float(value["output"]))
    if not (0 <= wanted.input < 1e6 and 0 <= wanted.output < 1e6):
        raise ValueError("a price is out of range")
    return wanted
