"""A server on loopback that takes any request, and answers as a test says."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Asked:
    """A request as it arrived: `target` is what stood in its first line."""

    method: str
    target: str
    headers: dict[str, str]
    size: int = 0
    digest: str = ""
    begun: threading.Event = field(default_factory=threading.Event)  # the first of its body is here


@dataclass
class Plain:
    """What it was asked, and what it answers."""

    root: str = ""
    asked: list[Asked] = field(default_factory=list)
    answer: Answer = lambda handler: whole(handler, b"{}")
    arrived: threading.Event = field(default_factory=threading.Event)  # a request

    def expect(self, answer: Answer) -> None:
        """Nothing has been asked yet; what will be is answered so."""
        self.asked.clear()
        self.arrived.clear()
        self.answer = answer

    @property
    def last(self) -> Asked:
        return self.asked[-1]


def whole(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    """Answers with a body of a length that it tells; headers are given as `Set_Cookie`."""
    handler.send_response(status)
    for name, value in {"Content_Type": "application/json", "Content_Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


def begin(handler: BaseHTTPRequestHandler, **headers: str) -> None:
    """Begins an answer of chunks."""
    handler.send_response(200)
    for name, value in {"Transfer_Encoding": "chunked", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def chunk(handler: BaseHTTPRequestHandler, piece: bytes) -> None:
    """The next of them; an empty one is the last."""
    handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def drop(handler: BaseHTTPRequestHandler) -> None:
    """Drops the connection without an answer."""
    handler.close_connection = True


@contextmanager
def plain() -> Iterator[Plain]:
    """The server."""
    found = Plain()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def handle_expect_100(self) -> bool:
            raise AssertionError("a proxy sends the body without being asked twice")

        def _take(self) -> None:
            asked = Asked(self.command, self.path, {name.lower(): value for name, value in self.headers.items()})
            found.asked.append(asked)
            found.arrived.set()
            digest = hashlib.sha256()
            for piece in self._pieces():
                asked.begun.set()
                asked.size += len(piece)
                digest.update(piece)
            asked.digest = digest.hexdigest()
            with suppress(BrokenPipeError, ConnectionResetError):
                found.answer(self)

        def _pieces(self) -> Iterator[bytes]:
            if "chunked" in self.headers.get("Transfer-Encoding", ""):
                while size := int(self.rfile.readline(), 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return
            left = int(self.headers.get("Content-Length", "0"))
            while left and (piece := self.rfile.read1(min(left, 2**20))):
                left -= len(piece)
                yield piece

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _take  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Clients that hang up are what is tested."""

    server = Server(("127.0.0.1", 0), Handler)
    found.root = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
