"""What a tool of the server is, what it is called with, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.answer.tools.base import Argument, arguments_of, json_schema
from recollect.faces.mcp.links import ResourceLinks

if TYPE_CHECKING:
    from recollect.memory import Memory


@dataclass(frozen=True, slots=True)
class ServerCall:
    """What one call works with. `tell` reports a step to the client; `client` is the name that it gave itself, `offers`
    are the tools that it has.
    """

    memory: Memory
    links: ResourceLinks
    tell: Callable[[str], None]
    client: str = ""
    offers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a call answers: a text for the model, and the same as a JSON object, where the tool has one."""

    text: str
    structured: Mapping[str, Any] | None = None
    is_error: bool = False

    @classmethod
    def of(cls, structured: Mapping[str, Any]) -> ServerReply:
        """A reply whose text is its JSON, as ChatGPT wants it of `search` and `fetch`."""
        return cls(json.dumps(structured, ensure_ascii=False), structured)

    def masked(self, mask: Callable[[Any], Any]) -> ServerReply:
        """The reply without secrets; a text that is JSON stays JSON."""
        if self.structured is None:
            return replace(self, text=mask(self.text))
        told = ServerReply.of(mask(self.structured))
        is_json = self.text == ServerReply.of(self.structured).text
        return replace(told, text=told.text if is_json else mask(self.text), is_error=self.is_error)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTool:
    """A tool as the server offers it. `writes` and `removes` become the hints by which clients ask their user."""

    name: str
    title: str
    description: str
    run: Callable[..., ServerReply]
    arguments: tuple[Argument, ...]
    output: Mapping[str, Any] | None = None
    example: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False
    removes: bool = False

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return json_schema(self.arguments)


F = TypeVar("F", bound=Callable[..., ServerReply])


def tool(
    title: str,
    description: str,
    *,
    output: Mapping[str, Any],
    writes: bool = False,
    removes: bool = False,
    **example: Any,
) -> Callable[[F], F]:
    """Makes a tool of a function that takes a call and annotated arguments. The description begins with when to call.

    The tool stands at the function, as `function.tool`, under the function's name.
    """

    def made(function: F) -> F:
        function.tool = ServerTool(  # type: ignore[attr-defined]
            name=function.__name__,
            title=title,
            description=description,
            run=function,
            arguments=arguments_of(function, skip=1),
            output=output,
            example=example,
            writes=writes or removes,
            removes=removes,
        )
        return function

    return made


def tool_of(function: Callable[..., ServerReply]) -> ServerTool:
    """The tool that a function was made."""
    made: ServerTool = function.tool  # type: ignore[attr-defined]
    return made
