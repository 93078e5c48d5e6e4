"""What the proxy adds to the first token: the same requests straight to a server, and through `recollect serve`.

python -m benchmarks.proxy --messages 100000        (--store FILE: a memory that is there; nothing is stored)

The server answers at once, so that what is measured is the way there and back. It and the proxy are processes of their
own; each request is timed until the first word of its answer. In turns: straight, through a proxy that is asked for no
memory, with a memory, and the next step of a tool, which is given what the one before was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import numpy as np

from benchmarks.machine import machine
from benchmarks.queries import queries
from benchmarks.report import machine_line
from benchmarks.served import Server, made, served, started
from benchmarks.tables import table

_REQUESTS, _WARM = 60, 5
_ANSWERING = "answering"


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.proxy", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--turns", default="1,20", help="messages of the talk before what is asked")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="recollect-proxy-") as folder:
        scratch = Path(folder)
        store = given.store or made(scratch, given.messages)
        with started(["benchmarks.proxy", _ANSWERING]) as provider:
            upstream = f"{provider.address}/v1"
            with served(store, scratch, RECOLLECT_OPENAI_UPSTREAM=upstream) as proxy:
                rows = [row for turns in given.turns.split(",") for row in _rows(upstream, proxy, int(turns))]
    print(table(["first word", "p50 ms", "p95 ms", "adds at p50", "adds at p95", "processor ms of the proxy"], rows))
    print(machine_line(machine()))
    return 0


def _rows(upstream: str, proxy: Server, turns: int) -> Iterator[list[str]]:
    """The four ways, in turns, so that whatever else the machine does meets all of them."""
    there, unkept = f"{proxy.address}/in/default/v1", {"X-Recollect-Store": "no"}
    ways: dict[str, tuple[str, list[dict[str, Any]], dict[str, str]]] = {
        "straight": (upstream, [], {}),
        "proxy, no memory": (there, [], {**unkept, "X-Recollect-Budget": "0"}),
        "proxy": (there, [], unkept),
        "proxy, next step": (there, _STEP, unkept),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    spent = dict.fromkeys(ways, 0.0)
    with httpx2.Client(timeout=60) as client:
        for number, query in enumerate(queries(_REQUESTS + _WARM)):
            for name, (root, more, headers) in ways.items():
                before = _processor(proxy.pid)
                found = _first(client, root, [*_talk(query.text, turns), *more], headers)
                if number >= _WARM:
                    taken[name].append(found)
                    spent[name] += _processor(proxy.pid) - before
    for name, times in taken.items():
        p50, p95 = np.percentile(times, (50, 95))
        added = np.percentile(np.array(times) - np.array(taken["straight"]), (50, 95))
        adds = [f"{one:.1f}" for one in added] if name != "straight" else ["", ""]
        yield [f"{name}, {turns} before", f"{p50:.1f}", f"{p95:.1f}", *adds, f"{spent[name] / len(times):.1f}"]


def _processor(pid: int) -> float:
    """Milliseconds of processor time that a process has taken: what a busy machine changes least. 0 beside Linux."""
    place = Path(f"/proc/{pid}/stat")
    if not place.exists():
        return 0.0
    fields = place.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


#: A tool that was called, and what it answered.
_STEP: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Nothing there."},
]


def _talk(question: str, turns: int) -> list[dict[str, Any]]:
    said = [
        {"role": "assistant" if n % 2 else "user", "content": f"This is what was said as number {n} of {question}."}
        for n in range(turns - turns % 2)
    ]
    return [{"role": "system", "content": "Be brief."}, *said, {"role": "user", "content": question}]


def _first(client: httpx2.Client, root: str, messages: list[dict[str, Any]], headers: dict[str, str]) -> float:
    """Milliseconds until the first word."""
    body = {"model": "m", "stream": True, "messages": messages}
    began = time.perf_counter()
    with client.stream("POST", f"{root}/chat/completions", json=body, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert "x-recollect-degraded" not in answer.headers
        pieces = answer.iter_bytes()
        next(pieces)
        taken = (time.perf_counter() - began) * 1000
        for _ in pieces:
            pass
    return taken


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # as servers of providers have it

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        """Two words, at once."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for words, end in (("Yes", None), (" indeed.", "stop")):
            choice = {"index": 0, "delta": {"content": words}, "finish_reason": end}
            event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            self._piece(f"data: {json.dumps(event)}\n\n".encode())
        self._piece(b"data: [DONE]\n\n")
        self._piece(b"")

    def _piece(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def _answer_for_ever() -> int:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    print(json.dumps({"address": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(_answer_for_ever() if sys.argv[1:] == [_ANSWERING] else main(sys.argv[1:]))
