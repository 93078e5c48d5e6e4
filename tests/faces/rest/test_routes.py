"""That the API does all that the façade does, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from recollect.answer.tools import Toolbox
from recollect.memory import Memory
from recollect.memory.async_derive import public_members
from recollect.memory.integration import Integration
from recollect.memory.knowledge import Knowledge
from recollect.memory.upkeep import Upkeep

#: What the façade offers and no request can ask for.
NO_ROUTE = {
    "knowledge": "a group, of which each call has a route",
    "upkeep": "as knowledge",
    "integration": "as knowledge",
    "names": "the routes tell the tools by their schemas",
    "call": "call_tool does",
    "schemas": "toolbox gives them",
    "nothing_said": "get_period_messages says it",
    "add_aliases": "for the proxy, which finds again by its own aliases what it has stored",
    "aliased": "as add_aliases",
    "forgotten_among": "for a program that is told again what was said, as the proxy is",
    "record_request": "for what puts a context into requests, as the proxy does",
    "close": "the server closes its memories when it ends",
    "masked": "for a program that hands texts to a model of its own",
    "import_growing": "for a program that follows files of its own machine",
}


@pytest.fixture(scope="module")
def described(reading: TestClient) -> dict[str, Any]:
    document: dict[str, Any] = reading.get("/api/v1/openapi.json").json()
    return document


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in described["paths"].items()
        if path.startswith("/api/v1/")
        for method, operation in methods.items()
    ]


def test_every_call_of_the_facade_has_its_route(described: dict[str, Any]) -> None:
    reached = {call for _, _, op in operations(described) for call in op.get("x-calls", [op["operationId"]])}
    offered = {name for part in (Memory, Knowledge, Upkeep, Integration, Toolbox) for name, _ in public_members(part)}
    assert offered - reached - set(NO_ROUTE) == set()
    assert reached - offered == set(), "a route says that it makes a call that there is not"


def test_no_operation_has_the_name_of_another(described: dict[str, Any]) -> None:
    names = [op["operationId"] for _, _, op in operations(described)]
    assert len(set(names)) == len(names)


def test_every_operation_says_what_it_does_takes_and_gives(described: dict[str, Any]) -> None:
    for method, path, op in operations(described):
        assert op.get("description"), (method, path)
        assert op["tags"], (method, path)
        assert "default" in op["responses"], (method, path)
        wanted = "204" if "204" in op["responses"] else ("201" if "201" in op["responses"] else "200")
        assert wanted == "204" or op["responses"][wanted].get("content"), (method, path)


def test_every_write_takes_a_key(described: dict[str, Any]) -> None:
    without = {f"/api/v1/{path}" for path in ("imports/upload", "chat/resolve", "context")}  # the two last only read
    for method, path, op in operations(described):
        if method != "get" and path not in without:
            assert "Idempotency-Key" in {p["name"] for p in op["parameters"]}, (method, path)


def test_every_body_has_an_example_that_is_taken(described: dict[str, Any], writing: TestClient) -> None:
    schemas = described["components"]["schemas"]
    writing.post("/api/v1/messages", json={"content": "My dog is called Luna. The bike was 400 euros."})
    for method, path, op in operations(described):
        body = op.get("requestBody", {}).get("content", {}).get("application/json")
        if body is None:
            continue
        (example,) = schemas[body["schema"]["$ref"].rpartition("/")[2]]["examples"]
        if "path" not in example and "paths" not in example:  # these are of files that a test has not
            asked = {p["name"]: "x" for p in op["parameters"] if p["in"] == "query" and p["required"]}
            answer = writing.request(
                method, path.replace("{id}", "x").replace("{name}", "x"), json=example, params=asked
            )
            assert answer.status_code in (200, 201, 400, 404), (method, path, answer.text)
            assert answer.status_code < 400 or "{" in path or "No " in answer.text, (method, path, answer.text)
