"""What the API says of itself is so: errors, tokens, the form of a namespace, methods, and where answers lead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from recollect.errors import InvalidInput
from recollect.record import namespace
from tests.faces.rest.conftest import TOKEN, serve

API = "/api/v1"


def described(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{API}/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def paths(reading: TestClient) -> dict[str, Any]:
    """What the API says of its paths: the same of every memory."""
    found: dict[str, Any] = described(reading)["paths"]
    return found


def operations(paths: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, operation) for path, methods in paths.items() for method, operation in methods.items()]


def test_errors_are_described_as_they_are_sent(writing: TestClient, paths: dict[str, Any]) -> None:
    for _, _, operation in operations(paths):
        assert list(operation["responses"]["default"]["content"]) == ["application/problem+json"]
    missing = writing.get(f"{API}/messages/nothing")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")


def test_it_says_how_to_show_a_token_and_whether_one_must_be(tmp_path: Path, writing: TestClient) -> None:
    assert described(writing)["security"] == [{"bearer": []}, {"token": []}, {}]
    with serve(tmp_path / "other.db", tmp_path / "home", TOKEN) as client:
        told = described(client)
        assert told["security"] == [{"bearer": []}, {"token": []}]
        del client.headers["Authorization"]
        schemes = told["components"]["securitySchemes"]
        for shown in ({"Authorization": f"{schemes['bearer']['scheme']} {TOKEN}"}, {schemes["token"]["name"]: TOKEN}):
            assert client.get(f"{API}/stats", headers=shown).status_code == 200
        assert client.get(f"{API}/stats").status_code == 401


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "acme/rex",
        "a b",
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "é/ü",
        "a\x85b",
        "a\x1f",
        "a\x7f",
        "x" * 200,
        "x" * 201,
        "a\n",
    ],
)
def test_the_form_of_a_namespace_is_the_one_that_is_taken(
    writing: TestClient, paths: dict[str, Any], name: str
) -> None:
    for _, _, operation in operations(paths):
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in ("namespace", "X-Recollect-Namespace"):
                form = parameter["schema"]
    # JSON Schema's `$` is the end alone.
    fits = bool(re.search(form["pattern"].replace("$", r"\Z"), name)) and len(name) <= form["maxLength"]
    try:
        taken = name == "" or bool(namespace(name))  # an empty one is as none
    except InvalidInput:
        taken = False
    assert fits == taken
    if name and name.isprintable():
        assert (writing.get(f"{API}/stats", params={"namespace": name}).status_code == 200) == fits


def test_a_namespace_that_is_none_is_refused_beside_one_that_is(writing: TestClient) -> None:
    for named in ("a b", "a//b"):
        told = writing.get(f"{API}/stats", params={"namespace": named}, headers={"X-Recollect-Namespace": "acme"})
        assert (told.status_code, told.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", f"{API}/messages", "GET, POST"),
        ("PUT", f"{API}/messages/x", "GET, PATCH, DELETE"),
        ("GET", f"{API}/facts/x/pin", "PUT, DELETE"),
        ("OPTIONS", f"{API}/facts/search", "GET"),
        ("PUT", "/import", "GET, POST"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(writing: TestClient, method: str, path: str, allowed: str) -> None:
    told = writing.request(method, path)
    assert (told.status_code, told.headers["allow"]) == (405, allowed)


def test_every_method_that_is_described_is_allowed(writing: TestClient, paths: dict[str, Any]) -> None:
    for path, methods in paths.items():
        told = writing.request("TRACE", path.replace("{", "").replace("}", ""))
        assert told.headers["allow"].lower().split(", ") == sorted(
            methods, key=["get", "post", "put", "patch", "delete"].index
        )


def test_links_lead_to_what_was_made(writing: TestClient, paths: dict[str, Any]) -> None:
    for path, body, link in (
        ("/messages", {"content": "My dog is called Luna.", "title": "Luna"}, "get_message_by_id"),
        ("/facts", {"content": "Luna weighs 12 kg.", "concept": "weight"}, "pin_fact"),
    ):
        answer = writing.post(API + path, json=body)
        links = paths[API + path]["post"]["responses"][str(answer.status_code)]["links"]
        method, target, _ = next(one for one in operations(paths) if one[2]["operationId"] == link)
        parameters = {
            name: answer.json()[said.removeprefix("$response.body#/")]
            for name, said in links[link]["parameters"].items()
        }
        assert writing.request(method, target.format(**parameters)).status_code == 200


def test_every_link_leads_to_an_operation_that_takes_it(paths: dict[str, Any]) -> None:
    known = {operation["operationId"]: operation for _, _, operation in operations(paths)}
    links = [
        link
        for operation in known.values()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert len(links) > 100
    for link in links:
        taken = {parameter["name"] for parameter in known[link["operationId"]]["parameters"]}
        assert link["parameters"].keys() <= taken
