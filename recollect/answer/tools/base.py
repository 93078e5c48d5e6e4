"""What the tools need of a memory, what a tool is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_type_hints

from recollect.answer.tools.schema import Argument, arguments_of, json_schema
from recollect.record import Message, ToolCall

if TYPE_CHECKING:
    from recollect.answer.tools.finding import FoundText
    from recollect.derive.facts.fact import Fact


M = TypeVar("M")


class Timed(Protocol):
    """How many messages were said on each day."""

    @property
    def days(self) -> Sequence[tuple[date, int]]:
        """In order of time."""


class Remembers(Protocol):  # its methods are described where they are done: in recollect/memory
    """The calls of `Memory` that the tools are made of."""

    # ruff: noqa: D102

    def masked(self, value: M, *, spoken: str = ...) -> M: ...
    def get_message_by_id(self, id: str) -> Message: ...
    def get_messages_by_ids(self, ids: Iterable[str]) -> list[Message]: ...
    def get_message_with_chunks(self, id: str) -> list[Message]: ...
    def get_conversation_thread(self, message_id: str, depth: int = ...) -> list[Message]: ...
    def get_period_messages(self, period: str, limit: int = ..., offset: int = ...) -> list[Message]: ...
    def timeline(self, topics: int = ...) -> Timed: ...
    def get_topic_messages(self, topic: str, limit: int = ...) -> list[Message]: ...
    def get_cluster(self, cluster_id: str, limit: int = ...) -> list[Message]: ...
    def cluster_summary(self, cluster_id: str) -> str: ...
    def get_tool_call(self, id: str) -> ToolCall: ...
    def get_tool_calls_by_message(self, message_id: str) -> list[ToolCall]: ...
    def vector_search(
        self, query: str, limit: int = ..., offset: int = ..., *, include_tool_calls: bool = ...
    ) -> list[FoundText]: ...
    def search_facts(self, query: str, limit: int = ...) -> list[Fact]: ...
    def get_all_facts(self, limit: int = ..., offset: int = ...) -> list[Fact]: ...
    def store_fact(
        self,
        content: str,
        concept: str = ...,
        *,
        entity: str = ...,
        value: str = ...,
        category: str = ...,
        said_by: str = ...,
        since: datetime | None = ...,
        until: datetime | None = ...,
        ended: bool = ...,
    ) -> Fact: ...


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a model is told: `text` has `tokens` tokens. Of an error it says what to do instead. `result` is the same as
    data, for programs: a record of recollect/answer/tools/results.py.
    """

    text: str
    is_error: bool
    tokens: int
    result: object | None = None


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """A tool: what a model is told of it, and the function that does it: it writes the text on its desk, and returns
    the same as data, a record of the type `result`. `example`: good arguments.
    """

    name: str
    description: str
    function: Callable[..., object]
    arguments: tuple[Argument, ...]
    result: type
    example: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return json_schema(self.arguments)


F = TypeVar("F", bound=Callable[..., object])


def tool(description: str, *, writes: bool = False, **example: Any) -> Callable[[F], F]:
    """Makes a tool of a function that takes a desk and annotated arguments. The description begins with when to call.

    The tool stands at the function, as `function.tool`, under the function's name.
    """

    def made(function: F) -> F:
        arguments = arguments_of(function, skip=1)
        result = get_type_hints(function)["return"]
        function.tool = MemoryTool(  # type: ignore[attr-defined]
            function.__name__, description, function, arguments, result, example, writes
        )
        return function

    return made


def tools_of(functions: Sequence[Callable[..., object]]) -> tuple[MemoryTool, ...]:
    """The tools that functions were made."""
    return tuple(function.tool for function in functions)  # type: ignore[attr-defined]
