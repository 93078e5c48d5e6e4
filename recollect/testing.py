"""A language model for the tests of programs that use Recollect: nothing is asked of any server.

>>> import recollect
>>> from recollect.testing import FakeModel
>>> model = FakeModel("You chose the Brompton [1].")
>>> with recollect.open("memory.db", model=model) as memory:  # doctest: +SKIP
...     memory.ask("which bike did I choose?").text
'You chose the Brompton [1].'
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recollect.models.language.base import Completion, Request
from recollect.models.language.talk import Said, Spoken, Talk, TalkingModel
from recollect.models.language.usage import Usage, estimated_tokens

__all__ = ["FakeModel"]


class FakeModel(TalkingModel):
    """Answers what a test tells it to. `prompts` are what it was asked, in order. Thread-safe.

    `answers` are given in turn, and the last for ever; a function makes each from its prompt, and an exception is
    raised. `data` are the answers to what is asked by schema, by the names of the prompts (`intent`, `hyde`, …); where
    a name is missing it is the example of the prompt.
    """

    name = "fake"

    def __init__(
        self,
        *answers: str | Exception | Callable[[str], str],
        data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.prompts: list[str] = []
        self._answers, self._data, self._lock = list(answers or ("",)), dict(data or {}), threading.Lock()

    def complete(self, request: Request) -> Completion:
        """The data for the prompt, which is not checked."""
        with self._lock:
            self.prompts.append(request.text)
        data = self._data.get(request.prompt.name, request.prompt.example)
        return Completion(data=data, model=self.name, input_tokens=estimated_tokens(request.text))

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The next answer."""
        prompt = "\n\n".join([talk.system, *(turn.text for turn in talk.said)])
        with self._lock:
            self.prompts.append(prompt)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer(prompt)
        yield text
        usage = Usage(1, estimated_tokens(prompt), estimated_tokens(text))
        yield Spoken(said=Said(role="assistant", text=text), stop="end", model=self.name, usage=usage)
