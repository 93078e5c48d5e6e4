"""The token of a namespace reaches that namespace and those below it, on every face, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.faces.rest.conftest import TOKEN, serve

API = "/api/v1"
ACME, BOTH, OTHER = ("acme" * 8, "both" * 8, "other" * 8)
SECRET = "Zanzibar"  # said in beta alone

PAGES = (
    *("/", "/search?q=Zanzibar", "/timeline", "/graph", "/facts", "/import", "/status", "/forget", "/topics", "/given"),
    *("/entities", "/documents", "/palette?q=z", "/research", "/ask"),
)
#: Routes about more than a namespace, or the files of the machine.
WHOLE = {
    "/work": {},
    "/maintain": {},
    "/backup": {"path": "/tmp/copy.db"},
    "/imports": {"paths": ["/tmp"]},
    "/imports/documents": {"paths": ["/tmp"]},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server on the namespace default, with things said in four others; its client shows no token by itself."""
    home = tmp_path_factory.mktemp("home")
    tokens = {ACME: ("acme",), BOTH: ("acme/rex", "beta"), OTHER: ("other",)}
    with serve(home / "memory.db", home, TOKEN, tokens) as client:
        for namespace in ("default", "acme", "acme/rex", "acme-2", "beta"):
            said = SECRET if namespace == "beta" else f"This is {namespace}."
            client.post(f"{API}/messages", json={"content": said, "title": said}, headers=within(namespace))
        del client.headers["Authorization"]
        yield client


def within(namespace: str) -> dict[str, str]:
    return {"X-Recollect-Namespace": namespace}


def shown(token: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **headers}


@pytest.mark.parametrize(
    ("token", "reached"),
    [
        (ACME, ["acme", "acme/rex"]),
        (BOTH, ["acme/rex", "beta"]),
        (OTHER, ["other"]),
        (TOKEN, ["default", "acme", "acme-2", "acme/rex", "beta"]),
    ],
)
def test_it_sees_its_own_namespaces(server: TestClient, token: str, reached: list[str]) -> None:
    assert server.get(f"{API}/namespaces", headers=shown(token)).json() == {"namespaces": reached}
    page = server.get("/scope", headers=shown(token, Accept="application/json")).json()
    assert page == {"namespaces": reached}


def test_who_names_none_is_in_the_first_of_them(server: TestClient) -> None:
    for token, said in ((ACME, "This is acme."), (BOTH, "This is acme/rex."), (TOKEN, "This is default.")):
        found = server.get(f"{API}/conversations", headers=shown(token)).json()["items"]
        assert [one["title"] for one in found] == [said]


def test_it_reaches_those_below(server: TestClient) -> None:
    for name in ("acme/rex", "acme", "acme/new"):
        assert server.get(f"{API}/stats", params={"namespace": name}, headers=shown(ACME)).status_code == 200


@pytest.mark.parametrize("name", ["beta", "default", "acme-2", "acme-2/x", "sample", "ac"])
def test_it_reaches_no_other_by_header_or_address(server: TestClient, name: str) -> None:
    for told in (
        server.get(f"{API}/stats", headers=shown(ACME) | within(name)),
        server.get(f"{API}/stats", params={"namespace": name}, headers=shown(ACME)),
        server.get(f"{API}/stats", params={"namespace": "acme"}, headers=shown(ACME) | within(name)),
    ):
        assert (told.status_code, told.json()["code"]) == (403, "forbidden")


def test_no_route_of_rest_reaches_another(server: TestClient) -> None:
    described = server.get(f"{API}/openapi.json", headers=shown(ACME)).json()
    tried = 0
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if path == f"{API}/namespaces":
                continue
            address = path.replace("{", "").replace("}", "")
            asked: dict[str, Any] = {}
            for one in operation.get("parameters", ()):
                if one["in"] == "query" and one["required"]:
                    asked[one["name"]] = SECRET
            told = server.request(
                method,
                address,
                params=asked | {"namespace": "beta"},
                json={} if "requestBody" in operation else None,
                headers=shown(ACME),
            )
            assert told.status_code in (403, 422), (method, path, told.text)
            assert SECRET not in told.text
            tried += told.status_code == 403
    assert tried > 40


@pytest.mark.parametrize("path", WHOLE)
def test_it_is_not_for_the_whole_store(server: TestClient, path: str) -> None:
    told = server.post(f"{API}{path}", json=WHOLE[path], headers=shown(ACME))
    assert (told.status_code, told.json()["code"]) == (403, "forbidden")
    assert server.get(f"{API}/brief", params={"folder": "/tmp"}, headers=shown(ACME)).status_code == 403


def test_it_is_told_neither_place_nor_size_of_the_store(server: TestClient) -> None:
    told = server.get(f"{API}/store", headers=shown(ACME)).json()
    assert (told["location"], told["bytes"], told["namespace"]) == (None, None, "acme")
    for page in ("/status", "/import", "/"):
        text = server.get(page, headers=shown(ACME, Accept="text/html")).text
        assert "memory.db" not in text
    assert server.get(f"{API}/store", headers=shown(TOKEN)).json()["location"].endswith("memory.db")
    assert "memory.db" in server.get("/status", headers=shown(TOKEN, Accept="text/html")).text


@pytest.mark.parametrize("path", PAGES)
def test_no_page_shows_another(server: TestClient, path: str) -> None:
    for accept in ("text/html", "application/json"):
        own = server.get(path, headers=shown(ACME, Accept=accept))
        assert own.status_code in (200, 404)
        assert f"{SECRET}." not in own.text
        joined = "&" if "?" in path else "?"
        assert server.get(f"{path}{joined}namespace=beta", headers=shown(ACME, Accept=accept)).status_code in (403, 404)


def test_pages_about_more_than_it_are_refused(server: TestClient) -> None:
    own = {"Origin": str(server.base_url), "Accept": "text/html"}
    for path, form in (("/sample", {}), ("/sample/remove", {}), ("/import/found", {"path": "/tmp"})):
        assert server.post(path, data=form, headers=shown(ACME, **own)).status_code == 403
    assert "sample" not in server.get(f"{API}/namespaces", headers=shown(TOKEN)).json()["namespaces"]


def test_a_link_with_it_opens_the_door_to_it_alone(server: TestClient) -> None:
    answer = server.get("/scope", params={"token": ACME}, follow_redirects=False)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert cookie.endswith(ACME)
    server.cookies.clear()
    told = server.get("/scope", headers={"Cookie": cookie, "Accept": "application/json"}).json()
    assert told == {"namespaces": ["acme", "acme/rex"]}


def test_mcp_reaches_what_it_reaches(server: TestClient) -> None:
    def search(**query: str) -> Any:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        asked = call | {"params": {"name": "search", "arguments": {"query": SECRET}}}
        headers = shown(ACME, Accept="application/json, text/event-stream", **{"MCP-Protocol-Version": "2025-06-18"})
        return server.post("/mcp", params=query, json=asked, headers=headers).text

    assert '"namespace":"acme"' in search().replace(": ", ":").replace("\\", "")
    refused = search(namespace="beta")
    assert "This token is not one of the namespace beta." in refused
    assert f"{SECRET}." not in refused


def test_the_proxy_reaches_what_it_reaches(server: TestClient) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    for address, headers in (("/v1/chat/completions", within("beta")), ("/in/beta/v1/chat/completions", {})):
        told = server.post(address, json=body, headers=shown(ACME) | headers)
        assert (told.status_code, told.json()["error"]["code"]) == (403, "forbidden")


def test_what_is_no_token_is_refused(server: TestClient) -> None:
    for token in ("", "acme", ACME[:-1], ACME + "x", "acme="):
        assert server.get(f"{API}/stats", headers=shown(token)).status_code == 401


def test_the_same_key_in_two_namespaces_is_two_keys(server: TestClient) -> None:
    """What was answered to one is not repeated to another."""
    key = {"Idempotency-Key": "one"}
    body = {"content": "Under a key."}
    first = server.post(f"{API}/messages", json=body, headers=shown(BOTH) | key | within("beta")).json()
    second = server.post(f"{API}/messages", json=body, headers=shown(ACME) | key)
    assert "Idempotency-Replayed" not in second.headers
    assert second.json()["id"] != first["id"]
    refused = server.post(f"{API}/messages", json=body, headers=shown(ACME) | key | within("beta"))
    assert refused.status_code == 403
