"""OpenAPI, completed by what FastAPI does not know: how errors are sent, who may ask, and what leads where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from recollect.faces.http.problems import MEDIA_TYPE

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
