"""What a piece of research may take: rounds, calls of a model and their tokens, and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from recollect.errors import InvalidInput
from recollect.models.language.usage import NOTHING_USED, Usage, total_cost

#: Tokens that a report and the prompt for it have at least.
LEAST_TOKENS = 6_000

_TOLD = 2_500  # tokens of what a model is told besides the material
_ANSWER, _LONGEST = 0.25, 2_500  # of what is left, what a report may have, and tokens that it has at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits. `rounds`: 1 looks once, 2 looks again for what is missing. `calls` and `tokens` are of the model, the
    report's included; `seconds` is after how long nothing new is begun but the report.
    """

    rounds: int = 2
    calls: int = 6
    tokens: int = 40_000
    seconds: float = 180.0

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= 5:
            raise InvalidInput(f"{self.rounds} rounds are out of range.", hint="Use 1 to 5.")
        if self.calls < 1:
            raise InvalidInput("A report by a model takes one call at least.", hint="Use model none for no call.")
        if self.tokens < LEAST_TOKENS:
            raise InvalidInput(f"{self.tokens} tokens are too few for a report.", hint=f"Use {LEAST_TOKENS} or more.")
        if self.seconds <= 0:
            raise InvalidInput("There has to be some time.")


@dataclass(slots=True)
class Spending:
    """What was spent so far. Time counts from when this run began; calls and tokens from when the research did."""

    budget: Budget
    usage: Usage = NOTHING_USED
    cost: float | None = 0.0
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def take(self, usage: Usage, cost: float | None) -> None:
        """Counts a call."""
        self.usage += usage
        self.cost = total_cost((self.cost, cost))

    @property
    def in_time(self) -> bool:
        """Whether something new may be begun."""
        return self.clock() - self._began < self.budget.seconds

    def allows(self, tokens: int) -> bool:
        """Whether a call of so many tokens may be made, and the report after it."""
        left = self.budget.tokens - self.usage.tokens
        return self.in_time and self.budget.calls - self.usage.calls > 1 and left - tokens >= LEAST_TOKENS

    @property
    def allows_report(self) -> bool:
        """Whether there is a call and room left for the report."""
        return self.usage.calls < self.budget.calls and self.budget.tokens - self.usage.tokens >= LEAST_TOKENS

    @property
    def for_report(self) -> tuple[int, int]:
        """How many tokens the material of the report may have, and the report."""
        left = self.budget.tokens - self.usage.tokens
        answer = min(int(left * _ANSWER), _LONGEST)
        return left - _TOLD - answer, answer
