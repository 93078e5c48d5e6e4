"""The arguments of public calls, checked against their annotations before anything happens: what is of another type is
named, with what to give instead.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property, wraps
from operator import index
from typing import Any, TypeVar

from recollect.errors import InvalidInput

C = TypeVar("C", bound=type[Any])

#: No count is larger: two of them can be added, and every engine takes the sum.
_MOST = 2**53
_SEVERAL = {"Sequence", "Iterable"}
#: Arguments that name one record or namespace exactly: mended, they would name another.
_EXACT = {"id", "ids", "conversation_id", "message_id", "parent_id", "namespace", "namespaces"}
_EXACT |= {"drop_namespace(name)"}
#: Texts, some of which the call itself looks up among the few that it knows.
_TEXTS = {"str", "Adder", "By", "GroupBy", "Mode", "Sort", "Save", "RoleName", "Literal"}
#: What takes more than its own class.
_LIKE: dict[str, Callable[[Any], bool]] = {
    "Path": lambda value: isinstance(value, os.PathLike),
    "Mapping": lambda value: isinstance(value, Mapping),
    "Metadata": lambda value: isinstance(value, Mapping),
    "Callable": callable,
    "BinaryIO": lambda value: hasattr(value, "write"),
    "None": lambda value: value is None,
    "object": lambda value: True,
    "T": lambda value: True,
}
#: How a type is asked for; any other one by its name.
_ASKED = {
    **dict.fromkeys(_TEXTS, "a text"),
    **dict.fromkeys(_SEVERAL, "a list"),
    "int": "a whole number",
    "float": "a number",
    "bool": "True or False",
    "Path": "a path",
    "Metadata": "a mapping",
    "Callable": "a function",
    "BinaryIO": "a file that is open for writing bytes",
    "None": "nothing",
}


def checked_arguments(cls: C) -> C:
    """A class whose public methods, inherited ones too, raise InvalidInput for an argument that is not of the type that
    its annotation names. Lists of anything but texts and paths are read by their calls.
    """
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(cls, name, _checked(method))
    return cls


def without_halves(text: str) -> str:
    r"""The text with U+FFFD for half a surrogate pair.

    >>> without_halves("half \ud83d"), without_halves("whole \ud83d\udc15") == "whole \U0001f415"
    ('half �', True)
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def shown(value: object) -> str:
    """What was given in the place of something else.

    >>> shown(None), shown(1), shown("")
    ('None', 'an int', 'a str')
    """
    kind = type(value).__name__
    return "None" if value is None else f"{'an' if kind[0].lower() in 'aeio' else 'a'} {kind}"


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)
    types = {
        name: _Type(str(one.annotation), exact=bool({name, f"{method.__name__}({name})"} & _EXACT))
        for name, one in signature.parameters.items()
    }

    def read(one: inspect.Parameter, value: Any) -> Any:
        if value is one.default:
            return value
        if one.kind is not inspect.Parameter.VAR_POSITIONAL:
            return types[one.name].read(one.name, value)
        try:
            return tuple(types[one.name].read(one.name, each) for each in value)
        except InvalidInput as problem:
            raise InvalidInput(problem.message, hint="Give each as an argument of its own.") from None

    @wraps(method)
    def call(self: object, /, *arguments: Any, **named: Any) -> Any:
        bound = signature.bind(self, *arguments, **named)
        for name in list(bound.arguments)[1:]:
            bound.arguments[name] = read(signature.parameters[name], bound.arguments[name])
        return method(*bound.args, **bound.kwargs)

    return call


class _Type:
    """What an annotation takes; `exact`: no other text may take its place."""

    def __init__(self, annotation: str, *, exact: bool = False) -> None:
        self._annotation, self._exact = annotation, exact

    def read(self, name: str, value: Any) -> Any:
        """The argument of this name as its call gets it: valid Unicode, counts of a size that can be added. Raises
        InvalidInput where it is nothing that the annotation takes.
        """
        texts = str | bytes if "Iterable" in self._parts else str | bytes | Mapping  # the keys of a map can be taken
        if self._several is not None and isinstance(value, Iterable) and not isinstance(value, texts):
            return [self._several.read(name, each) for each in value] if self._several.is_plain else value
        if isinstance(value, str) and self._takes & {*_TEXTS, "Path"}:
            return self._text(name, value)
        if "int" in self._takes and hasattr(type(value), "__index__") and not isinstance(value, bool):
            if index(value) < 0:
                raise InvalidInput(f"{name} is {value}.", hint="Give a whole number, 0 or more.")
            return min(index(value), _MOST)
        if "float" in self._takes and hasattr(type(value), "__float__") and not isinstance(value, bool):
            return value if isinstance(value, int) else float(value)
        classes = {kind.__name__ for kind in type(value).__mro__} - {"object", "str", "int", "float"}
        if not classes & self._takes and not any(one in self._takes and fits(value) for one, fits in _LIKE.items()):
            asked = dict.fromkeys(_ASKED.get(one, f"a {one}") for one in self._parts)
            raise InvalidInput(f"{name} is {shown(value)}.", hint=f"Give {', or '.join(asked)}.")
        return value

    @cached_property
    def is_plain(self) -> bool:
        """Whether these are texts, or paths."""
        return self._takes <= {*_TEXTS, "Path"}

    def _text(self, name: str, value: str) -> str:
        if self._choices and value not in self._choices:
            raise InvalidInput(f"{name} is {value!r}.", hint=f"Give one of: {', '.join(self._choices)}.")
        if "Path" not in self._takes:
            whole = without_halves(value)
            if whole != value and self._exact:
                raise InvalidInput(f"{name} is {value!r}.", hint="Give a text without half characters.")
            return whole
        with suppress(UnicodeEncodeError):  # half a pair may stand for a byte of a file's name
            if b"\0" not in os.fsencode(value):
                return value
        raise InvalidInput(f"{name} is {value!r}.", hint="Give a path that this system can hold.")

    @cached_property
    def _parts(self) -> dict[str, ast.expr]:
        """The alternatives, by name."""

        def of(one: ast.expr) -> list[ast.expr]:
            return [*of(one.left), *of(one.right)] if isinstance(one, ast.BinOp) else [one]

        found = of(ast.parse(self._annotation, mode="eval").body)
        return {ast.unparse(one.value if isinstance(one, ast.Subscript) else one): one for one in found}

    @cached_property
    def _takes(self) -> set[str]:
        return {*self._parts}

    @cached_property
    def _several(self) -> _Type | None:
        """What several of them are; None: it is one only."""
        inside = [part.slice for name in _SEVERAL if isinstance(part := self._parts.get(name), ast.Subscript)]
        return _Type(ast.unparse(inside[0]), exact=self._exact) if inside else None

    @cached_property
    def _choices(self) -> list[str]:
        literal = self._parts.get("Literal")
        return list(ast.literal_eval(literal.slice)) if isinstance(literal, ast.Subscript) else []
