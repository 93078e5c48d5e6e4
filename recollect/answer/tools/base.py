"""What a tool is, and what it answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from recollect.errors import InvalidInput
from recollect.record import NodeId
from recollect.text.clean import clean_text

if TYPE_CHECKING:
    pass


_SHOWN = 60  # characters of a wrong value that are shown again


@dataclass(frozen=True, slots=True)
class About:
    """What a model is told of an argument, and the limits of its value: of a number, or of the length of a list."""

    text: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool. `type` is text, number, whole number, texts or yes or no."""

    name: str
    type: str
    about: About
    required: bool
    default: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON schema."""
        shown: dict[str, Any] = {"type": _JSON[self.type], "description": self.about.text}
        if self.type == TEXTS:
            shown |= {"items": {"type": "string"}} | _limits(self.about, "minItems", "maxItems")
        if self.type in (WHOLE, NUMBER):
            shown |= _limits(self.about, "minimum", "maximum")
        if self.about.choices:
            shown["enum"] = list(self.about.choices)
        if not self.required and self.default not in (None, "", ()):
            shown["default"] = self.default
        return shown

    def read(self, value: object) -> Any:
        """The value as the tool takes it. Raises InvalidInput."""
        try:
            read = _READERS[self.type](value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise InvalidInput(f"`{self.name}` must be {_told(self)}, not {_shown(value)}.") from None
        if not self.required and read == self.default:
            return read
        if self.type == TEXT and self.required and not read.strip():
            raise InvalidInput(f"`{self.name}` must not be empty: {self.about.text}")
        size = len(read) if self.type == TEXTS else read if self.type in (WHOLE, NUMBER) else None
        low, high = self.about.least, self.about.most
        if size is not None and ((low is not None and size < low) or (high is not None and size > high)):
            raise InvalidInput(f"`{self.name}` must be {_told(self)}, not {_shown(value)}.")
        if self.about.choices and read not in self.about.choices:
            raise InvalidInput(f"`{self.name}` must be {_told(self)}, not {_shown(value)}.")
        return read


TEXT, TEXTS, WHOLE, NUMBER, YES = "text", "texts", "whole number", "number", "yes or no"
_JSON = {TEXT: "string", TEXTS: "array", WHOLE: "integer", NUMBER: "number", YES: "boolean"}
_OF: Mapping[Any, str] = {str: TEXT, int: WHOLE, float: NUMBER, bool: YES}


def arguments_of(function: Callable[..., Any], *, skip: int) -> tuple[Argument, ...]:
    """The arguments of a function, each `Annotated` with what it is `About`, without the first `skip`."""
    hints = get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    return tuple(_argument(parameter, hints[parameter.name]) for parameter in parameters)


def json_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The schema of all of them, as one object."""
    return {
        "type": "object",
        "properties": {argument.name: argument.schema for argument in arguments},
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": False,
    }


def read_arguments(arguments: Sequence[Argument], given: object) -> dict[str, Any]:
    """What a model gave, as a function takes it. Raises InvalidInput, which says what would be right."""
    if isinstance(given, str | bytes):
        given = _parsed(given)
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InvalidInput(f"The arguments must be one JSON object, not {_shown(given)}.")
    known = {argument.name: argument for argument in arguments}
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = _meant(str(key), known, given)
        if name is None:
            near = get_close_matches(str(key), known, 1)
            hint = f"Did you mean `{near[0]}`?" if near else f"There is: {', '.join(known) or 'none'}."
            raise InvalidInput(f"There is no argument `{_shown(key)}`.", hint=hint)
        if value is not None:
            values[name] = known[name].read(value)
    missing = [argument for argument in arguments if argument.required and argument.name not in values]
    if missing:
        told = "; ".join(f"`{argument.name}` ({_told(argument)}): {argument.about.text}" for argument in missing)
        raise InvalidInput(f"Missing {told}")
    return values


def _argument(parameter: inspect.Parameter, hint: Any) -> Argument:
    of, about = get_args(hint) if get_origin(hint) is Annotated else (hint, About(""))
    type_ = TEXTS if get_origin(of) in (list, Sequence) or get_origin(of) is Sequence else _OF.get(of, TEXTS)
    required = parameter.default is inspect.Parameter.empty
    return Argument(parameter.name, type_, about, required, None if required else parameter.default)


def _meant(key: str, known: Mapping[str, Argument], given: Mapping[Any, Any]) -> str | None:
    """The argument of a name; a tool that takes one id takes it under any name of an id."""
    if key in known:
        return key
    plain = key.strip().lower().replace("-", "_")
    if plain in known and plain not in given:
        return plain
    for ending in ("ids", "id"):
        ids = [name for name in known if name == ending or name.endswith(f"_{ending}")]
        if len(ids) == 1 and plain.endswith(ending) and ids[0] not in given:
            return ids[0]
    return None


def _parsed(text: str | bytes) -> object:
    if not text.strip():
        return {}
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("The arguments are not valid JSON.", hint="Send one JSON object.") from None
    return value


def _text(value: object) -> str:
    if isinstance(value, str):
        return clean_text(value)  # JSON can name what no text can hold: half a surrogate pair
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise TypeError


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        if value.strip().startswith("["):
            return _texts(json.loads(value))
        return [part for part in clean_text(value).replace(",", " ").split() if part]
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_text(item) for item in value]
    raise TypeError


def _whole(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    number = float(value)
    if number != number or abs(number) > 1e15:
        raise ValueError
    return number


def _yes(value: object) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if isinstance(value, str | int) and str(value).strip().lower() in words:
        return words[str(value).strip().lower()]
    raise TypeError


_READERS: Mapping[str, Callable[[object], Any]] = {
    TEXT: _text,
    TEXTS: _texts,
    WHOLE: _whole,
    NUMBER: _number,
    YES: _yes,
}


def _limits(about: About, least: str, most: str) -> dict[str, Any]:
    given = {least: about.least, most: about.most}
    return {name: int(value) if value == int(value) else value for name, value in given.items() if value is not None}


def _told(argument: Argument) -> str:
    low, high = argument.about.least, argument.about.most
    range_ = f" from {low:g} to {high:g}" if low is not None and high is not None else ""
    if argument.about.choices:
        return f"one of {', '.join(choice for choice in argument.about.choices if choice)}"
    if argument.type == TEXTS:
        return f"a list of {f'{low:g} to {high:g} ' if range_ else ''}texts"
    return {TEXT: "a text", YES: "true or false"}.get(argument.type, f"a {argument.type}{range_}")


def _shown(value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return repr(text[:_SHOWN] + "…") if len(text) > _SHOWN else repr(text) if isinstance(value, str) else text


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text that was found. `id` opens it: that of a message, of a piece of one (`is_chunk`), or of a tool call.

    `tokens` is what the text of this id costs. `chunk_ids` are all pieces of the message that matched, best first.
    """

    id: NodeId
    snippet: str
    timestamp: datetime | None
    score: float
    type: str  # message, tool_call, document
    role: str
    tokens: int
    message_id: NodeId
    conversation_id: NodeId
    title: str = ""
    speaker: str | None = None
    is_chunk: bool = False
    chunk_index: int | None = None
    chunk_parent_id: NodeId | None = None
    active: bool = True
    chunk_ids: tuple[NodeId, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a model is told: `text` has `tokens` tokens. Of an error it says what to do instead. `result` is the same as
    data, for programs: a record of recollect/answer/tools/output.py.
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
