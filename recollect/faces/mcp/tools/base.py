"""What a tool of the server is, what it is called with, what it answers; how texts and addresses are handed out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from recollect.answer.tools.base import Argument, arguments_of, json_schema
from recollect.answer.tools.output import count, day_of
from recollect.record import Message
from recollect.text.clean import marked
from recollect.text.sentences import first_span

if TYPE_CHECKING:
    from recollect.memory import Memory


TEXT: Mapping[str, Any] = {"type": "string"}
NUMBER: Mapping[str, Any] = {"type": "number"}
WHOLE: Mapping[str, Any] = {"type": "integer"}
YES: Mapping[str, Any] = {"type": "boolean"}
TEXT_OR_NONE: Mapping[str, Any] = {"type": ["string", "null"]}

#: The namespace that answered: scope is named in every answer.
NAMESPACE = {"namespace": TEXT}


def many(of: Mapping[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": dict(of)}


def record(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An object with these members; further ones do no harm."""
    members = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": {name: dict(shape) for name, shape in members.items()},
        "required": list(required),
    }


class _WithoutTitles(GenerateJsonSchema):
    """Schemas that do not say the name of each member twice."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(type_: TypeAdapter[Any]) -> dict[str, Any]:
    """The schema of a type whose members are left out where they are None, with the namespace that answered."""
    schema = type_.json_schema(mode="serialization", schema_generator=_WithoutTitles)
    return {
        **schema,
        "properties": {**schema["properties"], **{name: dict(shape) for name, shape in NAMESPACE.items()}},
    }


# How what is remembered is named towards a client: by an address of the web pages, or by one of our own scheme.

SCHEME = "recollect"

#: An id with the place from which on it is wanted, as long texts are handed out in parts: "01JB…+12000".
_PART = re.compile(r"^(?P<id>.+?)\+(?P<start>\d{1,12})$")


@dataclass(frozen=True, slots=True)
class ResourceLinks:
    """Makes addresses. `base` is where the web pages are served ("http://127.0.0.1:7070"); without one they are those
    of resources, which the same server can read. `namespace` is named where it is not the server's own.
    """

    base: str = ""
    namespace: str = ""

    def message(self, id: str, conversation_id: str) -> str:
        """A message in its conversation."""
        if not self.base:
            return resource("message", id)
        return self._page(f"/c/{quote(conversation_id)}", at=id) + f"#m-{quote(id)}"

    def conversation(self, id: str) -> str:
        """A conversation."""
        return self._page(f"/c/{quote(id)}") if self.base else resource("conversation", id)

    def document(self, id: str) -> str:
        """A document."""
        return self._page(f"/document/{quote(id)}") if self.base else resource("document", id)

    def _page(self, path: str, **query: str) -> str:
        named = query | ({"namespace": self.namespace} if self.namespace else {})
        return f"{self.base}{path}" + (f"?{urlencode(named)}" if named else "")


def resource(kind: str, *path: str) -> str:
    """The address of a resource: recollect://message/01JB…"""
    return f"{SCHEME}://{kind}/{'/'.join(quote(part, safe='+') for part in path)}"


def id_in(name: str) -> str:
    """The id that is meant where a client hands back an address in its place.

    >>> id_in("recollect://message/01JB3D9Q0Z5X8RV6M2T7KWYN4C")
    '01JB3D9Q0Z5X8RV6M2T7KWYN4C'
    >>> id_in("http://127.0.0.1:7070/c/01JB3C?at=01JB3D#m-01JB3D")
    '01JB3D'
    >>> id_in("01JB3D")
    '01JB3D'
    """
    if "://" not in name:
        return name
    parts = urlsplit(name)
    if parts.fragment.startswith("m-"):
        return unquote(parts.fragment[2:])
    return unquote(parts.path.rpartition("/")[2])


def part_in(name: str) -> tuple[str, int]:
    """An id, and from which place of its text on.

    >>> part_in("01JB3D+12000"), part_in("01JB3D")
    (('01JB3D', 12000), ('01JB3D', 0))
    """
    found = _PART.match(name)
    return (found["id"], int(found["start"])) if found else (name, 0)


def part(id: str, start: int) -> str:
    """The inverse."""
    return f"{id}+{start}" if start else id


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


# Texts as the tools hand them out: in parts of so many tokens, with the mark of the memory around them.

#: Tokens of a part. Clients warn of answers above 10,000, and cut them at 25,000.
PART = 8_000

_SHORT = 8  # characters at the end of an id: whole ones would cost more than short messages do
_BEGIN = 100  # characters of a title that is made of a text


def recalled(text: str, tool: str, namespace: str) -> str:
    """A text between the marks of the memory: what carries them is never stored again."""
    return marked(text, tool=tool, namespace=namespace)


def part_of(text: str, start: int, most: int = PART) -> tuple[str, int | None]:
    """As much of a text from a character on as there is room for, and where the rest begins; None: nothing is left."""
    if start >= len(text):
        return "", None
    span = first_span(text, start, most, count)
    return text[start : span.end], None if span.end >= len(text) else span.end


def headed(message: Message) -> str:
    """A message as it stands in a transcript: who, when, the end of its id, which tools take too, and its words."""
    who = message.role.value + (f" {message.speaker}" if message.speaker else "")
    told = ", ".join(filter(None, (who, day_of(message.timestamp), message.id[-_SHORT:])))
    parts = [f"[{part.kind.value}] {part.name}".strip() for part in message.parts]
    return "\n".join([f"## {told}", "", *filter(None, (message.content, *parts))])


def transcript(messages: Sequence[Message]) -> str:
    """Messages one after another."""
    return "\n\n".join(map(headed, messages))


def title_of(title: str, text: str = "") -> str:
    """A conversation's title; without one, how the text begins."""
    words = " ".join((title or text)[: 4 * _BEGIN].split())
    return (words if len(words) <= _BEGIN else words[: _BEGIN - 1].rstrip() + "…") or "(no title)"
