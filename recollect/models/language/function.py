"""A function as a language model: it takes a prompt and returns the words of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recollect.models.language.base import Completion, Prompt, Request
from recollect.models.language.structured import Reply, Turn, answer, instructions
from recollect.models.language.talk import Said, Spoken, Talk, TalkingModel
from recollect.models.language.usage import Usage, estimated_tokens


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
