"""Whatever is sent, the answer is one: no request makes the server fail."""

from __future__ import annotations

import json
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


#: JSON can hold what no address can: half of a pair that stands for one character.
_TOLD = st.one_of(_TEXTS, st.sampled_from(["\ud83d", "half \udc15 of it"]))
_TIMES = st.one_of(
    st.datetimes().map(lambda moment: moment.isoformat()),
    st.sampled_from(["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "1600-01-01T00:00:00Z"]),
)


def strategy(
    schema: dict[str, Any], known: dict[str, Any], texts: st.SearchStrategy[str] = _TEXTS
) -> st.SearchStrategy[Any]:
    """Values of a schema, mostly."""
    if "$ref" in schema:
        return strategy(known[schema["$ref"].rpartition("/")[2]], known, texts)
    if "anyOf" in schema:
        return st.one_of([strategy(one, known, texts) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        needed = schema.get("required", [])
        fields = {name: strategy(one, known, texts) for name, one in schema["properties"].items()}
        return st.fixed_dictionaries(
            {name: fields[name] for name in needed}, optional={n: f for n, f in fields.items() if n not in needed}
        )
    if kind == "array":
        return st.lists(strategy(schema.get("items", {}), known, texts), max_size=3)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        "integer": st.integers(-5, 40),
        "number": st.floats(0.01, 1.0),
        "boolean": st.booleans(),
        "null": st.none(),
        "object": st.dictionaries(st.text(max_size=5), texts, max_size=2),
        "string": texts if schema.get("format") != "date-time" else _TIMES,
    }
    return plain.get(kind, texts)


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
    sent = json.dumps(data.draw(strategy(body["schema"], known, _TOLD))) if body else None
    answer = client.request(
        method,
        path,
        params={n: v for n, v in asked.items() if v is not None},
        content=sent,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code < 500, (method, path, asked, sent, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"]


@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z", "1600-01-01T00:00:00Z"])
def test_a_time_of_which_no_store_can_tell_is_refused(client: TestClient, moment: str) -> None:
    said = client.post(f"{API}/messages", json={"content": "Luna weighs 13 kg."}).json()["id"]
    for path, body in (
        ("/messages", {"content": "Long ago.", "timestamp": moment}),
        (f"/messages/{said}/tool-calls", {"name": "clock", "arguments": {}, "result": "x", "timestamp": moment}),
        *([("/facts", {"content": "It was so.", "since": moment})] if not moment.startswith("16") else []),
    ):
        refused = client.post(f"{API}{path}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")
    for path in ("/stats", "/health", "/timeline", "/conversations", "/facts", "/search?q=Luna"):
        assert client.get(f"{API}{path}").status_code == 200


def test_half_a_character_is_stored_as_one_that_is_not_known(client: TestClient) -> None:
    body = b'{"content": "Half \\ud83d", "metadata": {"\\ud83d": ["\\udc15"]}, "speaker": "\\ud83d"}'
    stored = client.post(f"{API}/messages", content=body, headers={"Content-Type": "application/json"})
    assert (stored.status_code, stored.json()["content"]) == (201, "Half \ufffd")
    for path, words in (
        ("/forget", b'{"names": ["\\ud83d"]}'),
        ("/chat/resolve", b'{"conversation_id": "\\ud83d", "question": "x"}'),
    ):
        assert (
            client.post(f"{API}{path}", content=words, headers={"Content-Type": "application/json"}).status_code < 500
        )
