"""OpenAPI: the schemas of what is given, and what FastAPI does not know: errors, tokens, what leads where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from inspect import isclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from fastapi import FastAPI, Response
from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from recollect.faces.http.answers import MEDIA_TYPE
from recollect.faces.present.views import VIEWS, RecordView, ViewMember, ViewModel, as_json, view_of

#: How a request shows the token of a server.
_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "The token of the server, or of a namespace."},
    "token": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Recollect-Token",
        "description": "The same, where Authorization holds the key of somebody else.",
    },
}
#: What leads from an answer to other routes: the model of the answer, where in it stands a value, the parameter that
#: takes it, and the path of the routes, with all below it.
_LEADS = (
    ("Message", "/id", "id", "/messages/{id}"),
    ("Message", "/conversation_id", "id", "/conversations/{id}"),
    ("ToolCall", "/id", "id", "/tool-calls/{id}"),
    ("ConversationRow", "/conversation/id", "id", "/conversations/{id}"),
    ("Fact", "/id", "id", "/facts/{id}"),
    ("Entity", "/name", "name", "/entity"),
    ("Topic", "/id", "topic", "/topics/messages"),
    ("DocumentRow", "/id", "name", "/document"),
    ("Report", "/id", "id", "/reports/{id}"),
)


def install(app: FastAPI, *, asks_token: bool) -> None:
    """Has an application describe itself so. `asks_token`: nobody is answered without one."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        found = plain()
        if "security" not in found:
            _complete(found, asks_token=asks_token)
        return found

    app.openapi = described  # type: ignore[method-assign]


def _complete(described: dict[str, Any], *, asks_token: bool) -> None:
    described["security"] = [*({name: []} for name in _SCHEMES), *([] if asks_token else [{}])]
    described["components"]["securitySchemes"] = _SCHEMES
    for operation in _operations(described):
        for parameter in operation.get("parameters", ()):
            parameter["schema"] = _without_null(parameter["schema"])
        for status, response in operation["responses"].items():
            content = response.get("content", {})
            if status == "default":
                content[MEDIA_TYPE] = content.pop("application/json")
            elif links := _links(described, content.get("application/json", {}).get("schema", {})):
                response["links"] = links


def _operations(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (operation for methods in described["paths"].values() for operation in methods.values())


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """No address and no header can hold null: what has no value is left out."""
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if not kinds:
        return schema
    told = {name: value for name, value in schema.items() if name != "anyOf"}
    return told | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})


#: Answers that hold a list and more, with what is in it.
_PAGES = {"Cluster": ("Message", "/items/0")}


def _links(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The links of an answer: from itself, or from the first of a list."""
    model = schema.get("$ref", "").rpartition("/")[2]
    item, at = (model[5:-1], "/items/0") if model.startswith("Page_") else _PAGES.get(model, (model, ""))
    return {
        operation["operationId"]: {
            "operationId": operation["operationId"],
            "parameters": {parameter: f"$response.body#{at}{pointer}"},
        }
        for of, pointer, parameter, path in _LEADS
        if of == item
        for found, methods in described["paths"].items()
        if found.partition("/api/v1")[2].startswith(path)
        for operation in methods.values()
        if any(one["name"] == parameter for one in operation.get("parameters", ()))
    }


# The schemas of what REST gives, drawn from the records and how they are shown.


class ShownModel(BaseModel):
    """Something that is given: read as everywhere else."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _shown(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else as_json(given)


def schema(of: Any) -> Any:
    """The type that describes what a handler returns: a record, or one of several, or a list of them."""
    origin, inside = get_origin(of), get_args(of)
    if origin in (Union, UnionType):
        return Union[tuple(schema(one) for one in inside if not (isclass(one) and issubclass(one, Response)))]  # noqa: UP007
    if isclass(origin) and issubclass(origin, ViewModel):
        return _model(f"Page[{schema(inside[0]).__name__}]", origin, inside[0])  # type: ignore[arg-type]
    if isclass(origin) and issubclass(origin, Mapping):
        return dict[str, schema(inside[1])]  # type: ignore[misc]
    if origin is tuple and inside[-1:] != (...,):
        return tuple[tuple(map(schema, inside))]  # type: ignore[misc]
    if isclass(origin) and issubclass(origin, Sequence):
        return list[schema(inside[0])]  # type: ignore[misc]
    if not isclass(of) or not hasattr(of, "__dataclass_fields__"):
        return of
    return name if (name := view_of(of)[0]) in _begun else _model(*view_of(of))


_begun: list[str] = []


@cache
def _model(name: str, record: Any, item: Any = None) -> type[ShownModel]:
    """What a record is shown as, by a view. Of a list, `item` is what it holds."""
    view = VIEWS.get(name.partition("[")[0], RecordView())
    _begun.append(name)  # what holds others of its kind is named within
    members: Any = {one.name: _field(view, one, record, item) for one in view.read(record)}
    _begun.remove(name)
    return create_model(
        name, __base__=ShownModel, __doc__=view.doc or " ".join((record.__doc__ or "").split()), **members
    )


def _field(view: RecordView, member: ViewMember, record: type, item: Any) -> tuple[Any, Any]:
    told: dict[str, Any] = {"description": view.told.get(member.name)}
    if (named := view.types.get(member.name)) is not None:
        kind = eval(named, {"date": date, "datetime": datetime}, _Names())
    elif item is not None and member.name == "items":
        kind = list[schema(item)]  # type: ignore[misc]
    else:
        kind = _as(member.view, _at(record, member.path))
    if member.is_optional and get_origin(kind) is list:
        told["default"] = []
    elif member.is_optional and NoneType in get_args(kind):
        told["default"] = None
    return kind, Field(**told)


class _Names(dict[str, Any]):
    """What views are named in types."""

    def __missing__(self, name: str) -> Any:
        if name not in VIEWS:
            raise KeyError(name)
        of = VIEWS[name].of or name
        return _model(name, _known()[of.rpartition(".")[2]])


def _as(view: str, of: Any) -> Any:
    """A type, with the records in it shown by a view."""
    if not view:
        return schema(of)
    if get_origin(of) is list:
        return list[_as(view, get_args(of)[0])]  # type: ignore[misc]
    record, *others = [one for one in get_args(of) if one is not NoneType] if _may_be_none(of) else [of]
    assert not others
    return _model(view, record) | None if _may_be_none(of) else _model(view, record)


def _may_be_none(of: Any) -> bool:
    return get_origin(of) in (Union, UnionType) and NoneType in get_args(of)


def _at(record: Any, path: str) -> Any:
    """The type of what a path leads to."""
    step, _, rest = path.partition(".")
    if _may_be_none(record):
        record = next(one for one in get_args(record) if one is not NoneType)
    if step == "*":
        inner = get_args(record)[0]
        return list[_at(inner, rest) if rest else inner]  # type: ignore[misc]
    if step == "str()":
        return str
    if step.isdigit():
        found = get_args(record)[int(step)]
    else:
        of = getattr(record, step, None)
        where, name = (of.fget, "return") if isinstance(of, property) else (record, step)
        found = get_type_hints(where, None, _known())[name]
    return _at(found, rest) if rest else found


@cache
def _known() -> dict[str, Any]:
    """The classes that modules of records name and load only for type checkers."""
    from recollect.derive.entities.entity import Entity
    from recollect.derive.facts.structured import Structured
    from recollect.derive.topics.reading import Topic
    from recollect.ingest.requested import RequestItem
    from recollect.ingest.secrets import StoredSecret
    from recollect.memory import Memory
    from recollect.record import Message
    from recollect.search.results.nothing import NothingFrom
    from recollect.store import Task
    from recollect.store.results import Violation

    every = (Entity, RequestItem, Memory, Message, NothingFrom, StoredSecret, Structured, Task, Topic, Violation)
    return {one.__name__: one for one in every}
