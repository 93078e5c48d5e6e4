"""What models cost, from a table that anyone can correct: `prices.toml` here, and one beside `config.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.models.language.usage import Usage

#: The file beside config.toml with prices of one's own, in the same form.
FILE = "prices.toml"


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
    text = resources.files("recollect.models.language").joinpath(FILE).read_text("utf-8")
    return _read(text, FILE)


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
