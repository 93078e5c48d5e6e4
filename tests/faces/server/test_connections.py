"""Connections on which no request comes: they are closed in time, and however many there are, others are answered."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest

import recollect
from recollect.faces.http.scope import Served
from recollect.faces.server import server as listening
from tests.faces.http.serving import serving

pytestmark = pytest.mark.slow

HALF = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listening, "_HEADER_SECONDS", 0.3)
        with serving(recollect.open(home / "memory.db", background=False), home) as served:
            yield served


def connected(server: Served, sent: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), 20)
    made.sendall(sent)
    return made


def is_closed(connection: socket.socket) -> bool:
    """Waits for the end."""
    return connection.recv(1) == b""


@pytest.mark.parametrize("sent", [b"", b"GET", HALF, HALF + b":{port}\r\nX-Slow: "])
def test_headers_that_do_not_come_are_not_waited_for(server: Served, sent: bytes) -> None:
    with connected(server, sent) as connection:
        assert is_closed(connection)


def test_nor_are_those_of_a_second_request(server: Served) -> None:
    whole = HALF + f":{server.port}\r\n\r\n".encode()
    with connected(server, whole) as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
        connection.sendall(HALF)
        while connection.recv(65_536):  # the answer, and then the end
            pass


def test_headers_in_two_parts_are_answered(server: Served) -> None:
    with connected(server, HALF) as connection:
        connection.sendall(f":{server.port}\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 200"


def test_a_request_under_way_takes_its_time(server: Served) -> None:
    """Its body is waited for longer than headers are: those of a later connection are given up meanwhile."""
    head = f"POST /api/v1/conversations/search HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 2\r\n"
    with connected(server, f"{head}Content-Type: application/json\r\n\r\n{{".encode()) as slow:
        with connected(server, HALF) as later:
            assert is_closed(later)
        slow.sendall(b"}")
        assert slow.recv(8) == b"HTTP/1.1"


def test_a_thousand_half_sent_requests_stop_nobody(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_HEADER_SECONDS", 600.0)
    with ExitStack() as open_ones:
        opened = [open_ones.enter_context(connected(server, HALF)) for _ in range(listening._MOST_IDLE)]
        assert httpx2.get(f"{server.address}/api/v1/stats").status_code == 200
        for _ in range(1_000 - len(opened)):
            opened.append(open_ones.enter_context(connected(server, HALF)))
            if len(opened) > listening._MOST_IDLE:
                assert is_closed(opened[-listening._MOST_IDLE - 1])
                opened[-listening._MOST_IDLE - 1].close()
        assert httpx2.get(f"{server.address}/api/v1/stats").status_code == 200
