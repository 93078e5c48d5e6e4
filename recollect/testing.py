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

from recollect.errors import InvalidInput
from recollect.models.language.base import Completion, Request, Usage, estimated_tokens
from recollect.models.language.prompts import NAMES, QUESTIONS, prompt
from recollect.models.language.talk import Said, Spoken, Talk, TalkingModel

__all__ = ["FakeModel"]


class FakeModel(TalkingModel):
    """Answers what a test tells it to. `prompts` are what it was asked, in order. Thread-safe.

    `answers` are given in turn, and the last for ever; a function makes each from its prompt, and an exception is
    raised. `data` are the answers to what is asked by schema, by the names of the prompts: `intent`, `hyde` and
    `expand` of a question, `research_plan` and `research_gaps`, `references` of a chat, and of the background
    `conversation`, `l1`, `l2`, `period`, `topic`, `facts` and `entities`. Where a name is missing it is the example of
    the prompt. Raises InvalidInput for another name, and for data that lack what the schema of the prompt requires.
    """

    name = "fake"

    def __init__(
        self,
        *answers: str | Exception | Callable[[str], str],
        data: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.prompts: list[str] = []
        self._answers, self._data, self._lock = list(answers or ("",)), dict(data or {}), threading.Lock()
        for name, given in self._data.items():
            _check(name, given)

    def complete(self, request: Request) -> Completion:
        """The data for the prompt."""
        with self._lock:
            self.prompts.append(request.text)
        data = self._data.get(request.prompt.name, request.prompt.example)
        return Completion(data=data, model=self.name, input_tokens=estimated_tokens(request.text))

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The next answer."""
        asked = "\n\n".join([talk.system, *(turn.text for turn in talk.said)])
        with self._lock:
            self.prompts.append(asked)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer(asked)
        yield text
        usage = Usage(1, estimated_tokens(asked), estimated_tokens(text))
        yield Spoken(said=Said(role="assistant", text=text), stop="end", model=self.name, usage=usage)


def _check(name: str, data: object) -> None:
    """Raises InvalidInput where data are no answer to the prompt of that name."""
    if name not in (*NAMES, *QUESTIONS):
        raise InvalidInput(f"{name!r} is no prompt.", hint=f"One of: {', '.join((*QUESTIONS, *NAMES))}.")
    for place, missing in _missing(data, prompt(name).schema, name):
        raise InvalidInput(f"The data of {place} lack {missing}.", hint=f"An example: {prompt(name).example}")


def _missing(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    """What a value lacks of its schema, with the place where; of jsonschema, which need not be installed, a part."""
    if schema.get("type") == "object":
        if not isinstance(value, Mapping):
            yield place, "an object"
            return
        yield from ((place, repr(key)) for key in schema.get("required", ()) if key not in value)
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from _missing(value[key], part, f"{place}.{key}")
    elif schema.get("type") == "array":
        if not isinstance(value, list | tuple):
            yield place, "a list"
            return
        for number, item in enumerate(value):
            yield from _missing(item, schema.get("items", {}), f"{place}[{number}]")
    elif schema.get("type") == "string" and not isinstance(value, str):
        yield place, "text"
