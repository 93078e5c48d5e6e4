"""A provider on loopback that speaks all three wire forms, streamed and whole, to their official clients."""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.models.language.wire_server import Says, _anthropic, _openai

USAGE = {"input_tokens": 100, "output_tokens": 20}


class Upstream:
    """Answers with `script` in order, else with `otherwise`. Keeps what it was asked."""

    def __init__(self) -> None:
        self.script: deque[Says] = deque()
        self.otherwise = Says("Noted.")
        self.asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.window = 0  # tokens: longer requests are refused, as the vendor does it
        self.refused = 0
        self.raw = b""  # the body of the last request, as it came
        self.pause = threading.Event()  # of an answer with the fault "pause": goes on when it is set
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.root = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def body(self) -> dict[str, Any]:
        """Of the last request."""
        return self.asked[-1][1]

    @property
    def headers(self) -> dict[str, str]:
        """Of the last request."""
        return self.asked[-1][2]

    def next(self) -> Says:
        return self.script.popleft() if self.script else self.otherwise

    def close(self) -> None:
        self.pause.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Clients that hang up are what is tested."""


@contextmanager
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    try:
        yield server
    finally:
        server.close()


def _handler(server: Upstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._take({})
            self._whole({"object": "list", "data": [{"id": "m-1", "object": "model", "type": "model"}]})

        def do_POST(self) -> None:
            server.raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(server.raw)
            self._take(body)
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(body)

        def _take(self, body: dict[str, Any]) -> None:
            server.asked.append((self.path, body, {name.lower(): value for name, value in self.headers.items()}))

        def _answer(self, body: dict[str, Any]) -> None:
            path = self.path.partition("?")[0]
            if path.endswith("count_tokens"):
                self._whole({"input_tokens": len(json.dumps(body["messages"])) // 4})
                return
            if server.window and (asked := _length(body)) > server.window:
                server.refused += 1
                self._refuse(path, body, asked)
                return
            told = server.next()
            if told.status != 200:
                error = {"type": told.kind, "code": told.kind, "message": told.message}
                self._whole({"type": "error", "error": error}, told.status, told.headers)
            elif not body.get("stream"):
                if told.fault == "pause":
                    server.pause.wait(5)
                self._whole(_in_one(path, told))
            else:
                self._stream(_events(path, told), told.fault)

        def _refuse(self, path: str, body: dict[str, Any], asked: int) -> None:
            if path.endswith("/messages"):
                error = {
                    "type": "invalid_request_error",
                    "message": f"prompt is too long: {asked} tokens > {server.window} maximum",
                }
                self._whole({"type": "error", "error": error}, 400)
                return
            error = {"type": "invalid_request_error", "code": "context_length_exceeded", "param": "input"}
            if path.endswith("/completions"):
                error["message"] = (
                    f"This model's maximum context length is {server.window} tokens. However, your messages resulted "
                    f"in {asked} tokens. Please reduce the length of the messages."
                )
                self._whole({"error": error}, 400)
                return
            error["message"] = "Your input exceeds the context window of this model. Please adjust your input."
            if not body.get("stream"):
                self._whole({"error": error}, 400)
                return
            response = {**_in_one(path, Says("")), "status": "failed", "error": error}
            events = [
                {"type": "response.created", "response": {**response, "status": "in_progress", "error": None}},
                {"type": "response.in_progress", "response": {**response, "status": "in_progress", "error": None}},
                {"type": "response.failed", "response": response},
            ]
            self._stream([f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events], None)

        def _whole(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            for name, one in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, one)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, parts: list[bytes], fault: str | None) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, part in enumerate(parts):
                if fault == "pause" and number == len(parts) // 2:
                    server.pause.wait(5)
                if fault == "cut" and number == len(parts) // 2:
                    self.close_connection = True
                    return
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

    return Handler


def _length(body: dict[str, Any]) -> int:
    """About the tokens of a request, by another rule than ours."""
    return len(json.dumps(body)) // 4


def _events(path: str, told: Says) -> list[bytes]:
    if path.endswith("/messages"):
        return _renumbered(_anthropic(told))
    if path.endswith("/completions"):
        return _openai(told)
    whole = _in_one(path, told)
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for at, item in enumerate(whole["output"]):
        events.append({"type": "response.output_item.added", "output_index": at, "item": {**item, "content": []}})
        if item["type"] == "message":
            place = {"output_index": at, "content_index": 0, "item_id": item["id"]}
            part = {"type": "output_text", "text": "", "annotations": []}
            events.append({"type": "response.content_part.added", **place, "part": part})
            for start in range(0, len(told.text), 12):
                piece = told.text[start : start + 12]
                events.append({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': n})}\n\n".encode()
        for n, event in enumerate(events)
    ]


def _renumbered(events: list[bytes]) -> list[bytes]:
    """With the blocks counted from 0, as the official client's helpers ask for."""
    numbers: dict[str, int] = {}

    def renumber(found: re.Match[bytes]) -> bytes:
        return b'"index": %d' % numbers.setdefault(found[1].decode(), len(numbers))

    return [re.sub(rb'"index": (\d+)', renumber, event) for event in events]


def _in_one(path: str, told: Says) -> dict[str, Any]:
    if path.endswith("/messages"):
        content: list[dict[str, Any]] = [{"type": "text", "text": told.text}] if told.text else []
        content += [
            {"type": "tool_use", "id": f"toolu_{told.name}{n}", "name": name, "input": json.loads(given)}
            for n, (name, given) in enumerate(told.calls)
        ]
        stop = "tool_use" if told.calls else "end_turn"
        about = {"id": told.name or "msg_1", "type": "message", "role": "assistant", "model": "claude-test"}
        return {**about, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
    if path.endswith("/completions"):
        calls = [
            {"id": f"call_{told.name}{n}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(told.calls)
        ]
        message = {"role": "assistant", "content": told.text or None, "refusal": None}
        message |= {"tool_calls": calls} if calls else {}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
    output: list[dict[str, Any]] = []
    if told.text:
        part = {"type": "output_text", "text": told.text, "annotations": []}
        output.append({"type": "message", "id": "i1", "role": "assistant", "status": "completed", "content": [part]})
    output += [
        {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{told.name}{n}", "name": name, "arguments": given}
        for n, (name, given) in enumerate(told.calls)
    ]
    usage = {**USAGE, "total_tokens": 120, "input_tokens_details": {}, "output_tokens_details": {}}
    about = {
        "id": told.name or "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "error": None,
    }
    rest = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True, "metadata": {}, "instructions": None}
    return {**about, "output": output, "usage": usage, **rest}
