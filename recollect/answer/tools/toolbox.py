"""The tools as a model gets them: their schemas in a provider's shape, and the dispatcher of its calls."""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

from recollect.answer.tools.base import MemoryTool, ToolAnswer, read_arguments, tools_of
from recollect.answer.tools.calls import Remembers, ToolCalls
from recollect.answer.tools.finding import FACT_TOOLS, SEARCH_TOOLS
from recollect.answer.tools.messages import HOW_TO_FIND, MESSAGE_TOOLS
from recollect.answer.tools.output import ToolOutput, count
from recollect.errors import InvalidInput, ModelError, NotFound
from recollect.text.clean import marked
from recollect.text.sentences import first_span

#: The tools, in the order of the contract (SYSTEM.md 6).
TOOLS: tuple[MemoryTool, ...] = tools_of((*SEARCH_TOOLS[:1], *MESSAGE_TOOLS, *SEARCH_TOOLS[1:], *FACT_TOOLS))

Provider = Literal["anthropic", "openai", "openai-responses"]
_PROVIDERS = ("anthropic", "openai", "openai-responses")

_LEAST = 400  # tokens of an answer, within which every tool can still say how to get more
_MARKS = 60  # tokens around an answer
_LONGEST_ERROR = 300  # tokens


class Toolbox(ToolCalls):
    """The tools of a memory, for a model and as calls. Thread-safe. Answers name the `namespace`, where it is told."""

    def __init__(
        self, memory: Remembers, *, max_tokens: int = 4_500, read_only: bool = False, namespace: str = ""
    ) -> None:
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < _LEAST:
            raise InvalidInput(f"{max_tokens!r} tokens are too few for an answer.", hint=f"Use {_LEAST} or more.")
        super().__init__(memory)
        self._most = max_tokens
        self._named = {"namespace": namespace} if namespace else {}
        self.tools = tuple(tool for tool in TOOLS if not (read_only and tool.writes))
        self._by_name = {tool.name: tool for tool in self.tools}

    @property
    def names(self) -> list[str]:
        """The names of the tools."""
        return list(self._by_name)

    def schemas(self, provider: Provider = "anthropic") -> list[dict[str, Any]]:
        """What a model is told of the tools: as Anthropic's Messages API, OpenAI's Chat Completions ("openai") or its
        Responses API ("openai-responses") take it. Raises InvalidInput for another provider.
        """
        if provider not in _PROVIDERS:
            raise InvalidInput(
                f"There is no shape of tools for {provider!r}.", hint=f"One of: {', '.join(_PROVIDERS)}."
            )
        return [_shape(tool, provider) for tool in self.tools]

    def call(self, name: str, arguments: object = None) -> ToolAnswer:
        """Does what a model asks. `arguments` are a mapping, or the JSON text that a provider hands over.

        What is wrong with a call comes back as an answer that says what to do instead. Raises StoreError where the
        store cannot be read, for which no model can do anything.
        """
        tool = self._by_name.get(str(name))
        if tool is None:
            near = get_close_matches(str(name), self._by_name, 1, 0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            return self._failed(f"There is no tool {str(name)[:80]!r}.{meant} There is: {', '.join(self._by_name)}.")
        try:
            given = read_arguments(tool.arguments, arguments)
        except InvalidInput as problem:
            good = json.dumps(dict(tool.example), ensure_ascii=False)
            return self._failed(f"{tool.name}: {problem} For example: {good}")
        try:
            desk = ToolOutput(self, self._most - _MARKS, partial(self._marked, tool.name))
            result = tool.function(desk, **given)
        except NotFound as problem:
            return self._failed(f"{tool.name}: {problem.message} {HOW_TO_FIND}")
        except (InvalidInput, ModelError) as problem:  # a model that embeds texts may be out of reach
            return self._failed(f"{tool.name}: {problem}")
        whole = self._marked(tool.name, self._within(self.handle.masked(desk.text), self._most - _MARKS))
        return ToolAnswer(whole, False, count(whole), self.handle.masked(result))

    def _marked(self, name: str, text: str) -> str:
        return marked(text, tool=name, **self._named)

    def _failed(self, text: str) -> ToolAnswer:
        text = self._within(self.handle.masked(text), _LONGEST_ERROR)
        return ToolAnswer(text, True, count(text))

    def _within(self, text: str, most: int) -> str:
        """The text, cut where it has more tokens, whatever a tool has counted."""
        if count(text) <= most:
            return text
        span = first_span(text, 0, most - 10, count)
        return f"{text[: span.end]} … (cut)"


def _shape(tool: MemoryTool, provider: Provider) -> dict[str, Any]:
    """A tool as a provider takes it."""
    told = {"name": tool.name, "description": tool.description}
    if provider == "anthropic":
        return {**told, "input_schema": tool.input_schema}
    function = {**told, "parameters": tool.input_schema}
    if provider == "openai":
        return {"type": "function", "function": function}
    return {"type": "function", **function, "strict": False}
