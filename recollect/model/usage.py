"""What requests take: calls and tokens."""

from __future__ import annotations

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


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many: no model's own tokenizer is known here."""
    return len(text.encode("utf-8", "replace")) * 2 // 7 + 1
