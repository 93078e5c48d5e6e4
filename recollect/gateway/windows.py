"""How long a request may be: what was set, or what a server has told by refusing one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.gateway.refusals import Refusal
from recollect.models.embedding.tokenizer import PROVIDER_FACTOR

_MOST = 1_000  # models
_ENOUGH = 1_000  # tokens: by less the tokens of a server are not compared with ours
_LEAST_FACTOR, _MOST_FACTOR = 0.5, 4.0
_MARGIN = 1.02
_WITHOUT_NUMBERS = 0.75  # of what was refused, where the server tells no limit
_TOLD_BELOW = 0.9  # of what was refused, where it tells a limit and not how long the request was
#: What is kept free for an answer: what the request allows it, within these bounds.
_ANSWER, _SHARE_OF_ANSWER, _MOST_OF_ANSWER = 8_192, 8, 2
_STEP = 4  # of the window
_MOST_ALLOWED = 10**9  # tokens of an answer: no model has more, whatever a request says
_ALLOWED = ("max_tokens", "max_completion_tokens", "max_output_tokens")


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """A limit in tokens of the server, for prompt and answer; `factor` is how many of them one of ours makes."""

    tokens: int
    factor: float = PROVIDER_FACTOR

    @property
    def own(self) -> int:
        """The limit in tokens of ours."""
        return int(self.tokens / self.factor)

    @property
    def step(self) -> int:
        """By how much is cut at once, in tokens of ours. It follows from the limit alone, so that it stays the same."""
        return max(self.own // _STEP, 1)

    def answer(self, body: Mapping[str, Any]) -> int:
        """What is kept free for the answer, in tokens of ours."""
        allowed = answer_allowed(body)
        wanted = min(_ANSWER, self.tokens // _SHARE_OF_ANSWER) if allowed is None else allowed
        return int(min(max(wanted, 0), self.tokens // _MOST_OF_ANSWER) / self.factor)


def answer_allowed(body: Mapping[str, Any]) -> int | None:
    """How many tokens a request allows the answer, None where it does not say."""
    return next((min(body[name], _MOST_ALLOWED) for name in _ALLOWED if type(body.get(name)) is int), None)


@dataclass(slots=True)
class ContextWindows:
    """What servers have told of their models. Thread-safe."""

    _known: OrderedDict[tuple[str, ...], ContextWindow] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, model: tuple[str, ...], told: int | None = None) -> ContextWindow | None:
        """The window of a model: what was `told`, or what its server allows, where that is less."""
        with self._lock:
            known = self._known.get(model)
        if told is None or known is None:
            return known if told is None else ContextWindow(told)
        return ContextWindow(min(told, known.tokens), known.factor)

    def learn(self, model: tuple[str, ...], refusal: Refusal, own: int, answer: int) -> None:
        """Takes in that a request of `own` tokens of ours was too long, which allowed an answer of `answer` tokens."""
        if refusal.limit is None and own < _ENOUGH:
            return  # no model takes so little: it is about something that is not counted here
        with self._lock:
            known = self._known.pop(model, None)
            learned = _learned(known, refusal, max(own, 1), answer)
            self._known[model] = learned
            while len(self._known) > _MOST:
                self._known.popitem(last=False)


def _learned(known: ContextWindow | None, refusal: Refusal, own: int, answer: int) -> ContextWindow:
    factor = known.factor if known else PROVIDER_FACTOR
    if refusal.asked is not None and refusal.asked >= _ENOUGH:
        measured = refusal.asked / own * _MARGIN
        factor = max(factor, measured) if known else measured
    limit = refusal.limit
    if limit is None:
        limit = int(_WITHOUT_NUMBERS * own * factor + answer)
        return ContextWindow(max(min(limit, known.tokens) if known else limit, 1), _fit(factor))
    if refusal.asked is None and own * factor + answer <= limit:
        factor = limit / (_TOLD_BELOW * own)
    return ContextWindow(limit, _fit(factor))


def _fit(factor: float) -> float:
    return min(max(factor, _LEAST_FACTOR), _MOST_FACTOR)
