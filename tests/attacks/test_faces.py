"""Attacks on REST: with the token of one namespace, each route is asked for the ids of another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.faces.rest.conftest import TOKEN, serve

pytestmark = pytest.mark.long

API, SECRET, OWNER, ATTACKER = "/api/v1", "zyxwvut", "a" * 32, "b" * 32
METHODS = ("get", "post", "put", "patch", "delete")


def example(spec: dict[str, Any], schema: dict[str, Any], own: str) -> Any:
    """A body of this schema, with an id wherever a text may stand."""
    if "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].split("/")[-1]]
    if "anyOf" in schema:
        return example(spec, next((one for one in schema["anyOf"] if one.get("type") != "null"), {}), own)
    if "properties" in schema:
        needed = schema.get("required", [])
        some = {k: v for k, v in schema["properties"].items() if k in needed or re.search("id|name|conversation", k)}
        return {name: example(spec, one, own) for name, one in some.items()}
    made = {"array": [own], "integer": 1, "number": 1, "boolean": False}
    return schema["enum"][0] if "enum" in schema else made.get(schema.get("type", ""), own)


def test_no_route_gives_or_changes_what_an_id_of_another_namespace_names(tmp_path: Path) -> None:
    tokens = {OWNER: ("acme/a",), ATTACKER: ("acme/b",)}
    with serve(tmp_path / "memory.db", tmp_path, TOKEN, tokens) as client:
        del client.headers["Authorization"]
        shown, stolen = ({"Authorization": f"Bearer {token}"} for token in (OWNER, ATTACKER))

        def post(path: str, body: dict[str, Any]) -> Any:
            return client.post(API + path, json=body, headers=shown).json()

        def items(path: str) -> list[str]:
            return [one["id"] for one in client.get(API + path, headers=shown).json()["items"]]

        said = f"I live in Leeds with my dog Luna {SECRET}."
        post("/messages", {"content": said, "id": "M1", "conversation_id": "C1", "title": SECRET})
        post("/messages/M1/tool-calls", {"name": "look", "arguments": {"q": SECRET}, "result": SECRET, "id": "T1"})
        post("/facts", {"content": f"Luna weighs 12 kg {SECRET}", "entity": "Luna"})
        post("/consolidate", {})
        ids = ["M1", "C1", "T1", post("/research", {"question": "Luna dog"})["id"]]
        ids += [one for path in ("/facts", "/entities", "/topics", "/summaries") for one in items(path)]
        spec = client.get(f"{API}/openapi.json", headers=shown).json()
        before, tried = client.get(f"{API}/conversations/C1", headers=shown).json(), 0
        for path, operations in spec["paths"].items():
            for method, operation in operations.items():
                if method not in METHODS or path.endswith("/events") or "export" in path:
                    continue
                body = operation.get("requestBody", {}).get("content", {"application/json": {}})
                if "application/json" not in body:
                    continue
                queries = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
                needed = {one["name"] for one in operation.get("parameters", []) if one.get("required")}
                named = needed | {"q", "query", "id", "ids", "name", "conversation", "conversation_id", "about"}
                for own in ids:
                    asked = {name: own for name in queries if name in named}
                    schema = body["application/json"].get("schema")
                    told = client.request(
                        method.upper(),
                        API + re.sub(r"\{[^}]+\}", quote(own, safe=""), path.removeprefix(API)),
                        params=asked,
                        json=example(spec, schema, own) if schema else None,
                        headers=stolen,
                    )
                    tried += 1
                    assert told.status_code < 500, (method, path, own, told.text)
                    assert SECRET not in told.text, (method, path, own)
        assert tried > 500
        after = client.get(f"{API}/conversations/C1", headers=shown).json()
        assert json.dumps(after, sort_keys=True) == json.dumps(before, sort_keys=True)
