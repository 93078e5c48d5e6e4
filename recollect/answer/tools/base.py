"""What a tool is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_type_hints

from recollect.answer.tools.schema import Argument, arguments_of, json_schema


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
