"""Attacks on what listens, over real sockets: names that lead here and are not ours, pages of other sites, tokens."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

import recollect
from recollect.faces.http.scope import Served
from recollect.faces.server.guard import _Buckets
from tests.faces.http.serving import serving

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-32-characters-and-more-xx"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with serving(recollect.open(home / "memory.db", background=False), home, names=("memory.example.org",)) as served:
        yield served


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("locked")
    with serving(recollect.open(home / "memory.db", background=False), home, token=TOKEN) as served:
        yield served


def asked(
    server: Served, method: str = "GET", path: str = "/api/v1/openapi.json", body: bytes = b"", **headers: str
) -> tuple[int, dict[str, str]]:
    """The status and the headers of the answer; headers are given as `Sec_Fetch_Site`."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in ({"Host": f"127.0.0.1:{server.port}"} | given).items():
            connection.putheader(name, value)
        if body or method == "POST":
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        answer = connection.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}


@pytest.mark.parametrize("name", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_own_names_are_answered(server: Served, name: str) -> None:
    assert asked(server, Host=name.format(port=server.port))[0] == 200


def test_a_name_that_was_told_is_answered(server: Served) -> None:
    assert asked(server, Host="memory.example.org")[0] == 200
    assert asked(server, Host=f"memory.example.org:{server.port}")[0] == 200
    assert asked(server, Host="memory.example.org", Origin="https://memory.example.org")[0] == 200


@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.nip.io:{port}",
        "localhost.evil.example:{port}",
        "localhost.:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:{port}0",
        "127.0.0.1:0{port}",
        "127.1:{port}",
        "127.0.1:{port}",
        "127.0.0.2:{port}",
        "0x7f.0.0.1:{port}",
        "0177.0.0.1:{port}",
        "2130706433:{port}",
        "0.0.0.0:{port}",
        "0:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "[0:0:0:0:0:0:0:1]:{port}",
        "::1:{port}",
        "localhost:{port}@evil.example",
        "evil.example#localhost:{port}",
        "localhost:{port}, evil.example",
        "evil.memory.example.org",
        "memory.example.org.evil.example",
        "",
    ],
)
def test_no_other_name_is(server: Served, name: str) -> None:
    status, headers = asked(server, Host=name.format(port=server.port))
    assert status in (400, 421)
    assert "access-control-allow-origin" not in headers


def test_two_names_are_none(server: Served) -> None:
    own = f"Host: 127.0.0.1:{server.port}\r\n"
    for hosts in (own + "Host: evil.example\r\n", "Host: evil.example\r\n" + own, own + own, ""):
        with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
            sock.sendall(f"GET /api/v1/openapi.json HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
            assert sock.recv(64).split()[1] in (b"400", b"421")


def test_the_address_of_a_request_line_is_no_name(server: Served) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
        line = f"GET http://127.0.0.1:{server.port}/api/v1/openapi.json HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        sock.sendall(line.encode())
        assert sock.recv(64).split()[1] in (b"400", b"404", b"421")


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://evil.example:{port}",
        "http://localhost",
        "http://localhost:1",
        "http://127.0.0.1:{port}.evil.example",
        "http://localhost:{port}/",
        "http://localhost:{port} https://evil.example",
        "file://",
        "chrome-extension://abcdefghijklmnop",
        "ftp://localhost:{port}",
        "http://user@localhost:{port}",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/v1/chat/completions", "/mcp", "/", "/assets/none"])
def test_no_page_of_another_origin_asks(server: Served, origin: str, method: str, path: str) -> None:
    status, headers = asked(server, method, path, Origin=origin.format(port=server.port))
    assert status == 403
    assert "access-control-allow-origin" not in headers


def test_a_preflight_allows_nothing(server: Served) -> None:
    asks = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "content-type"}
    assert asked(server, "OPTIONS", Origin="https://evil.example", **asks)[0] == 403
    status, headers = asked(server, "OPTIONS", Origin=f"http://localhost:{server.port}", **asks)
    assert status in (404, 405)
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(
    ("mode", "destination"),
    [("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe"), ("navigate", "embed"), ("cors", "empty")],
)
def test_nothing_of_ours_is_part_of_another_page(server: Served, site: str, mode: str, destination: str) -> None:
    for path in ("/", "/search?q=secret", "/api/v1/search?query=secret"):
        told = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": destination}
        assert asked(server, path=path, **told)[0] == 403


def test_a_link_on_another_page_leads_to_a_page_and_to_no_program(server: Served) -> None:
    told = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert asked(server, path="/no-page", **told)[0] == 404
    assert asked(server, path="/api/v1/openapi.json", **told)[0] == 403
    assert asked(server, "POST", "/no-page", **told)[0] == 403


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
def test_a_form_whose_page_is_not_known_is_refused(server: Served, kind: str) -> None:
    assert asked(server, "POST", "/no-page", b"a=b", Content_Type=kind)[0] == 403
    assert asked(server, "POST", "/no-page", b"a=b", Content_Type=kind, Sec_Fetch_Site="same-origin")[0] == 404
    assert asked(server, "POST", "/no-page", b"a=b", Content_Type=kind, Origin=server.address)[0] == 404


def test_a_program_needs_no_origin(server: Served) -> None:
    assert asked(server, "POST", "/no-page", b"{}", Content_Type="application/json")[0] == 404


def test_browsers_are_told_what_a_page_may_do(server: Served) -> None:
    for path, host in (("/api/v1/openapi.json", None), ("/no-page", None), ("/", "evil.example")):
        _, headers = asked(server, path=path, **({"Host": host} if host else {}))
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/search?q=x", "/api/v1/openapi.json", "/v1/models", "/mcp", "/assets/none"])
def test_without_the_token_nothing_is_told(locked: Served, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"recollect-{locked.port}=wrong"}):
        status, told = asked(locked, path=path, **headers)
        assert status == 401
        assert told["www-authenticate"].startswith("Bearer")


def test_a_browser_without_the_token_is_told_how_to_get_in(locked: Served) -> None:
    page = httpx2.get(f"{locked.address}/search?q=x", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 401
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["www-authenticate"].startswith("Bearer")
    assert "<h1>This server asks for a token.</h1>" in page.text
    assert 'name="token"' in page.text
    assert "http" not in page.text.replace("<!doctype html>", "").replace("html", "")  # it needs nothing else
    program = httpx2.get(f"{locked.address}/search?q=x", headers={"Accept": "application/json"})
    assert program.json()["code"] == "unauthorized"


def test_what_another_host_is_told_does_not_repeat_its_name(server: Served) -> None:
    headers = {"Accept": "text/html", "Host": "evil.example"}
    page = httpx2.get(server.address, headers=headers)
    assert (page.status_code, page.headers["content-type"]) == (421, "text/html; charset=utf-8")
    assert "recollect serve --name NAME" in page.text
    assert "evil" not in page.text


def test_who_knows_the_token_gets_in(tmp_path: Path) -> None:
    with serving(recollect.open(tmp_path / "memory.db", background=False), tmp_path, token=TOKEN) as served:
        for sent in (
            {"Authorization": f"Bearer {TOKEN}"},
            {"X_Recollect_Token": TOKEN, "Authorization": "Bearer sk-of-a-vendor"},
            {"Cookie": f"other=1; recollect-{served.port}={TOKEN}"},
        ):
            assert asked(served, **sent)[0] == 200


def test_a_link_with_the_token_opens_the_door_of_a_browser(tmp_path: Path) -> None:
    with serving(recollect.open(tmp_path / "memory.db", background=False), tmp_path, token=TOKEN) as served:
        status, headers = asked(served, path=f"/api/v1/openapi.json?a=b&token={TOKEN}")
        assert (status, headers["location"]) == (303, "/api/v1/openapi.json?a=b")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert asked(served, Cookie=cookie.partition(";")[0])[0] == 200
        status, headers = asked(served, path=f"//evil.example/?token={TOKEN}")
        assert headers.get("location", "/").startswith("/evil")
        assert asked(served, "POST", f"/no-page?token={TOKEN}", b"{}", Content_Type="application/json")[0] == 401


def test_a_body_that_is_too_large_is_refused(server: Served) -> None:
    body = b" " * 2_100_000
    status, _ = asked(server, "POST", "/no-page", body, Content_Type="application/json")
    assert status in (404, 413)
    told = httpx2.post(f"{server.address}/api/v1/messages", content=body)
    assert (told.status_code, told.json()["code"]) == (413, "too_large")
    assert told.json()["detail"] == "The body is larger than 2 MB."
    assert "x-frame-options" in told.headers


def test_what_is_wrong_is_told_without_the_words_that_were_sent(server: Served) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("GET", "/", headers={"Host": "<script>alert(1)</script>"})
        answer = connection.getresponse()
        body = answer.read()
    assert b"alert" not in body
    if answer.status == 421:
        assert json.loads(body)["code"] == "wrong_host"


def test_another_machine_asks_so_often_and_no_more() -> None:
    buckets = _Buckets(rate=0.001, burst=3)
    assert [buckets.take("192.0.2.1") for _ in range(4)] == [True, True, True, False]
    assert buckets.take("192.0.2.2")
