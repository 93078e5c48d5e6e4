"""Writes docs/reference/rest.md from the OpenAPI document of the API, so that it cannot lie.

python -m tools.write_rest_reference
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from recollect.faces import rest
from recollect.faces.rest import openapi

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "rest.md"

_HEAD = """\
# REST

<!-- Written by tools/write_rest_reference.py from the API's OpenAPI document. Do not edit. -->

What `recollect serve` answers under `/api/v1/` ([how to use it](../how-to/serve.md)). A running server gives the same
as OpenAPI 3.1 at `/api/v1/openapi.json`, whose operations have the names of the [Python calls](python.md).

- **Namespace.** The header `X-Recollect-Namespace`, or `?namespace=`; else that of the server.
- **Lists** come in pages of `items` with a `next`; give that as `cursor` for what follows. It is null at the end.
- **Events.** Routes marked so tell what they do while they do it, to who sends `Accept: text/event-stream`; the last
  event is `result`, with the document that is given otherwise, or `error`.
- **Writing once.** With an `Idempotency-Key` a write is done once: for a day the same key with the same request gives
  the same answer; with another request, or while the first is under way, 409. Answers are kept in the memory of the
  server alone, so that forgetting reaches them. What a message or a tool call is stored under is made from its key:
  these are not written twice after a restart, either.
- **Errors** are problem details (RFC 9457) with the `code` and the `hint` of the command line:
  `{"type", "title", "status", "detail", "code", "hint"}`. 400 is an argument that cannot be used, 404 what is not
  there, 422 a request of the wrong shape, 503 a store or a model that cannot be used now.
- **Times** are ISO 8601 in UTC.
"""


def reference() -> str:
    """The page."""
    app = FastAPI(title="Recollect", openapi_url=None)
    app.include_router(rest.router)
    openapi.install(app, asks_token=False)
    described = app.openapi()
    schemas = described["components"]["schemas"]
    parts = [_HEAD]
    tag = ""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if operation["tags"][0] != tag:
                tag = operation["tags"][0]
                parts.append(f"## {tag[0].upper()}{tag[1:]}\n")
            parts.append("\n".join(_operation(method, path, operation)) + "\n")
    parts.append("## What is given and taken\n")
    parts += ["\n".join(_schema(name, schemas[name])) + "\n" for name in sorted(schemas) if _is_told(name)]
    return "\n".join(parts)


def _is_told(name: str) -> bool:
    return not name.startswith(("Page_", "HTTPValidationError", "ValidationError"))


def _operation(method: str, path: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {method.upper()} {path}\n"
    yield " ".join(operation["description"].split())
    asked = [p for p in operation.get("parameters", ()) if p["in"] in ("query", "path") and p["name"] != "namespace"]
    if asked:
        yield "\n| parameter | type | |\n|---|---|---|"
        for one in asked:
            yield f"| `{one['name']}`{' (needed)' if one['required'] else ''} | {_told(one)} |"
    body = operation.get("requestBody", {}).get("content", {})
    if "application/json" in body:
        yield f"\nTakes {_link(body['application/json']['schema'])}."
    elif body:
        yield f"\nTakes a file, as `{next(iter(body))}`."
    yield f"\n{_given(operation)}"


def _told(one: dict[str, Any]) -> str:
    schema = one["schema"]
    default = schema.get("default")
    kind = _type(schema) + (f", {json.dumps(default)}" if default not in (None, "") else "")
    return f"{kind} | {_plain(one.get('description', ''))}"


def _given(operation: dict[str, Any]) -> str:
    status, answer = next((code, found) for code, found in operation["responses"].items() if code.startswith("2"))
    kinds = dict(answer.get("content", {}))
    schema = kinds.pop("application/json", {}).get("schema")
    words = [f"Gives {_link(schema)}"] if schema else []
    if not words and not kinds:
        words = ["Gives nothing"]
    words += [f"{'; or ' if words else 'Gives '}`{kind}`" for kind in kinds]
    told = "".join(words) + (f", status {status}." if status != "200" else ".")
    events = kinds.get("text/event-stream", {}).get("schema", {}).get("description", "")
    return f"{told} {events}".strip()


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}\n"
    yield " ".join(schema.get("description", "").split())
    properties = schema.get("properties", {})
    if properties:
        yield "\n| field | type | |\n|---|---|---|"
        needed = schema.get("required", ())
        taken = schema.get("additionalProperties") is False
        for field, one in properties.items():
            mark = " (needed)" if taken and field in needed else ""
            default = one.get("default")
            kind = _type(one) + (f", {json.dumps(default)}" if taken and default not in (None, "", [], {}) else "")
            yield f"| `{field}`{mark} | {kind} | {_plain(one.get('description', ''))} |"
    for example in schema.get("examples", ()):
        yield f"\n```json\n{json.dumps(example, ensure_ascii=False)}\n```"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _link(schema)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " \\| ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_type(schema['items'])}]" if "items" in schema else "[any]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"map of {_type(more)}" if isinstance(more, dict) and more else "map"
    return {"string": schema.get("format", "text"), "integer": "number"}.get(kind, kind)


def _link(schema: dict[str, Any]) -> str:
    if "$ref" not in schema:
        return _type(schema)
    name = schema["$ref"].rpartition("/")[2]
    if name.startswith("Page_"):
        inner = name.removeprefix("Page_").removesuffix("_")
        return f"a page of [{inner}](#{inner.lower()})"
    return f"[{name}](#{name.lower()})"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Writes the page."""
    PAGE.write_text(reference(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
