"""A server on loopback that speaks the wire formats of both providers, well or badly, to their official SDKs."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HUGE = 10_000_000


@dataclass(frozen=True, slots=True)
class Says:
    """What the server does with one request.

    `fault`: None, silence, drip, cut, cut_at_once, no_end, no_reason, huge, huge_error, in_stream, page, garbage.
    A `status` other than 200 answers with an error in the provider's shape.
    """

    text: str = ""
    stop: str = "end"  # end, limit, refusal
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    message: str = "as told"
    fault: str | None = None
    usage: tuple[int, int] | None = (100, 20)
    calls: tuple[tuple[str, str], ...] = ()  # name and arguments, as text, of tools that the model calls
    thinking: str = ""

    @property
    def name(self) -> str:
        """The id of the answer, if it has one of its own; its calls are then named after it, else counted anew."""
        return self.headers.get("id", "")


def says(value: Any, **more: Any) -> Says:
    """A good answer."""
    return Says(json.dumps(value), **more)


def retry_date(seconds: float) -> str:
    """A moment as Retry-After writes it."""
    return formatdate(time.time() + seconds, usegmt=True)


class WireServer:
    """Answers with `script` in order, else with what `otherwise` says to the body of the request. Keeps all bodies.

    What `aside` answers counts for none of these: calls that are made beside the one that a test is about.
    """

    def __init__(self) -> None:
        self.script: deque[Says] = deque()
        self.otherwise: Callable[[dict[str, Any]], Says] | None = None
        self.aside: Callable[[dict[str, Any]], Says | None] = lambda _: None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.sent = 0
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.root = f"http://127.0.0.1:{self._server.server_port}"

    def next_for(self, body: dict[str, Any], headers: dict[str, str]) -> Says:
        if (told := self.aside(body)) is not None:
            return told
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            if self.script:
                return self.script.popleft()
        assert self.otherwise is not None, "one request more than the test told answers for"
        return self.otherwise(body)

    def close(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Clients that hang up are what is tested."""


@contextmanager
def wire_server() -> Iterator[WireServer]:
    """A server, for as long as the `with` lasts."""
    server = WireServer()
    try:
        yield server
    finally:
        server.close()


def _handler(server: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = server.next_for(body, {name.lower(): value for name, value in self.headers.items()})
            events = _anthropic if self.path.endswith("/messages") else _openai
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(told, events)

        def _answer(self, told: Says, events: Callable[[Says], list[bytes]]) -> None:
            if told.fault == "cut_at_once":
                self.close_connection = True
                return
            if told.fault == "silence":
                server.stopping.wait(60)
                self.close_connection = True
                return
            if told.status != 200:
                self._error(told)
                return
            if told.fault == "page":
                self._whole(b"<html>Welcome</html>", "text/html", 200, {})
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._stream(told, events(told))

        def _stream(self, told: Says, parts: list[bytes]) -> None:
            if told.fault == "garbage":
                parts = [b"event: message_start\ndata: {nothing\n\n"]
            if told.fault == "in_stream":
                error = {"type": told.kind or "overloaded_error", "message": told.message}
                data = json.dumps({"type": "error", "error": error}).encode()
                parts = [*parts[: len(parts) // 2], b"event: error\ndata: " + data + b"\n\n"]
            if told.fault in ("no_end", "no_reason"):
                parts = [part for part in parts if b"stop" not in part and b"DONE" not in part]
            if told.fault == "no_reason":
                parts = [part.replace(b'"finish_reason": null', b'"finish_reason": ""') for part in parts]
            for number, part in enumerate(parts):
                if told.fault == "cut" and number == len(parts) // 2:
                    self.close_connection = True
                    return
                if told.fault == "drip" and number:
                    server.stopping.wait(0.1)
                self._chunk(part)
            self._chunk(b"")

        def _chunk(self, part: bytes) -> None:
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            server.sent += len(part)

        def _error(self, told: Says) -> None:
            error = {"type": told.kind, "code": told.kind or None, "message": told.message}
            body = json.dumps({"type": "error", "error": error}).encode()
            if told.fault == "huge_error":
                body = b"x" * HUGE
            self._whole(body, "application/json", told.status, told.headers)

        def _whole(self, body: bytes, kind: str, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            for start in range(0, len(body), 65_536):
                self.wfile.write(body[start : start + 65_536])
                server.sent += len(body[start : start + 65_536])

    return Handler


def _pieces(told: Says) -> list[str]:
    text = "x" * HUGE if told.fault == "huge" else told.text
    size = 10_000 if told.fault == "huge" else 12
    return [text[start : start + size] for start in range(0, len(text), size)]


def _anthropic(told: Says) -> list[bytes]:
    stop = {"end": "tool_use" if told.calls else "end_turn", "limit": "max_tokens", "refusal": "refusal"}[told.stop]
    sent, written = told.usage or (0, 0)
    message = {
        "id": told.name or "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": sent, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    pieces = _pieces(told)
    if told.thinking:
        events += _block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": told.thinking},
            {"type": "signature_delta", "signature": "signed"},
        )
    if pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        events += _block(1, {"type": "text", "text": ""}, *deltas)
    for number, (name, arguments) in enumerate(told.calls):
        half = len(arguments) // 2
        block = {"type": "tool_use", "id": f"toolu_{told.name}{number}", "name": name, "input": {}}
        parts = [{"type": "input_json_delta", "partial_json": part} for part in (arguments[:half], arguments[half:])]
        events += _block(2 + number, block, *parts)
    delta: dict[str, Any] = {"stop_reason": stop, "stop_sequence": None}
    if told.stop == "refusal":
        delta["stop_details"] = {"type": "refusal", "category": "bio", "explanation": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": written}})
    events.append({"type": "message_stop"})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def _block(index: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _openai(told: Says) -> list[bytes]:
    stop = {"end": "tool_calls" if told.calls else "stop", "limit": "length", "refusal": "content_filter"}[told.stop]

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": [choice]}

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": piece}) for piece in _pieces(told)]
    for number, (name, arguments) in enumerate(told.calls):
        half = len(arguments) // 2
        first = {"name": name, "arguments": arguments[:half]}
        begins = {"index": number, "id": f"call_{told.name}{number}", "type": "function", "function": first}
        chunks.append(chunk({"tool_calls": [begins]}))
        chunks.append(chunk({"tool_calls": [{"index": number, "function": {"arguments": arguments[half:]}}]}))
    chunks.append(chunk({}, stop))
    if told.usage:
        usage = {"prompt_tokens": told.usage[0], "completion_tokens": told.usage[1], "total_tokens": sum(told.usage)}
        chunks.append({**chunk({}), "choices": [], "usage": usage})
    return [f"data: {json.dumps(item)}\n\n".encode() for item in chunks] + [b"data: [DONE]\n\n"]
