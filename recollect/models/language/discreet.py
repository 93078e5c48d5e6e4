"""A language model that is told no secrets: every text of a request is masked before it leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, TypeVar

from recollect.models.language.base import Completion, LanguageModel, Request
from recollect.models.language.talk import Result, Said, Spoken, Talk, TalkingModel

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
