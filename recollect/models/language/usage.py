"""What requests take: calls and tokens, and money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


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
