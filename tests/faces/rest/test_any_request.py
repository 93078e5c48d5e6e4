"""Whatever is sent, the answer is one: no request makes the server fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faces.rest.conftest import serve
from tests.properties import examples

API = "/api/v1"

#: Of these the parameters are files of the machine, or the answer has no end.
_LEFT_OUT = ("/imports", "/backup", "/brief", "/worker/events")

_TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["", " ", "\0", "a\0b", "'; --", "%", "source:", '"', "x" * 5000, "2025-13", "NaN", "-1"]),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("any")
    with serve(folder / "memory.db", folder) as opened:
        for text in ("My dog is called Luna.", "Luna weighs 12 kg.", "Maria uses PostgreSQL in Leeds."):
            opened.post(f"{API}/messages", json={"content": text, "title": "Luna"})
        opened.post(f"{API}/consolidate", json={})
        yield opened


def strategy(schema: dict[str, Any], known: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a schema, mostly."""
    if "$ref" in schema:
        return strategy(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return st.one_of([strategy(one, known) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        needed = schema.get("required", [])
        fields = {name: strategy(one, known) for name, one in schema["properties"].items()}
        return st.fixed_dictionaries(
            {name: fields[name] for name in needed}, optional={n: f for n, f in fields.items() if n not in needed}
        )
    if kind == "array":
        return st.lists(strategy(schema.get("items", {}), known), max_size=3)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        "integer": st.integers(-5, 40),
        "number": st.floats(0.01, 1.0),
        "boolean": st.booleans(),
        "null": st.none(),
        "object": st.dictionaries(st.text(max_size=5), _TEXTS, max_size=2),
        "string": _TEXTS if schema.get("format") != "date-time" else st.datetimes().map(lambda d: d.isoformat()),
    }
    return plain.get(kind, _TEXTS)


@settings(max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_request_makes_the_server_fail(client: TestClient, data: st.DataObject) -> None:
    described = client.get(f"{API}/openapi.json").json()
    known = described["components"]["schemas"]
    operations = [
        (method, path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
        if path.startswith(f"{API}/") and not path.removeprefix(API).startswith(_LEFT_OUT)
    ]
    method, path, operation = data.draw(st.sampled_from(operations))
    asked = {}
    for one in operation.get("parameters", ()):
        if one["in"] == "path":
            plain = st.characters(min_codepoint=33, exclude_characters="/?#%{}\x7f")  # the client sends no such
            path = path.replace("{" + one["name"] + "}", data.draw(st.text(plain, min_size=1, max_size=30)))
        elif one["in"] == "query" and one["name"] != "namespace" and (one["required"] or data.draw(st.booleans())):
            asked[one["name"]] = data.draw(strategy(one["schema"], known))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    sent = {"json": data.draw(strategy(body["schema"], known))} if body else {}
    answer = client.request(method, path, params={n: v for n, v in asked.items() if v is not None}, **sent)
    assert answer.status_code < 500, (method, path, asked, sent, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"]
