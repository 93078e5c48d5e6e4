"""What the proxy adds to the first token: the same requests straight to a server, and through `recollect serve`.

python -m benchmarks.proxy --messages 100000        (--store FILE: a memory that is there; nothing is stored)
python -m benchmarks.proxy --talk beam-dev          (whether a provider's cache of prompts holds over 300 turns)

The server answers at once, so that what is measured is the way there and back. It and the proxy are processes of their
own; each request is timed until the first word of its answer. In turns: straight, through a proxy that is asked for no
memory, with a memory, and the next step of a tool, which is given what the one before was.

`--talk` plays 250 turns of a set of conversations as one, by a client that sends all of it each time to a model of
`--window` tokens, and then asks 50 questions about it. It counts the requests that do not begin with the whole of the
one before, and the questions of which a message that answers is in the request, whole or the part of it that was found.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import numpy as np

import recollect
from benchmarks.datasets import PUBLIC, DataSet, Question, public_set
from benchmarks.machine import machine
from benchmarks.queries import queries
from benchmarks.report import machine_line
from benchmarks.served import Server, made, served, started
from benchmarks.tables import table

_REQUESTS, _WARM = 60, 5
_PLAYED, _ASKED, _WINDOW = 250, 50, 128_000
_CODE = 8  # the end of an id, by which a context names a message
_ANSWERING = "answering"


def main(arguments: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.proxy", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--turns", default="1,20", help="messages of the talk before what is asked")
    parser.add_argument("--talk", help="a set of conversations that is played, as locomo-dev")
    parser.add_argument("--window", type=int, default=_WINDOW, help="tokens of the model that a talk is played to")
    given = parser.parse_args(arguments)
    if given.talk:
        played = play(public_set(PUBLIC / f"{given.talk}.json"), given.window)
        print(table(["turns", "tokens", "cut", "questions", "whole", "whole or in part"], [played.row]))
        return 0
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


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a talk: `cut` requests did not begin with the one before, and of `asked` questions a message that
    answers was there `whole`, or at least the part of it that was found.
    """

    turns: int
    tokens: int  # of the talk, four characters each
    cut: int
    asked: int
    whole: int
    there: int

    @property
    def row(self) -> list[str]:
        """As in the table."""
        return [
            f"{self.turns:,}",
            f"{self.tokens:,}",
            f"{self.cut} ({self.cut / self.turns:.1%})",
            f"{self.asked}",
            f"{self.whole / self.asked:.0%}",
            f"{self.there / self.asked:.0%}",
        ]


def play(conversations: DataSet, window: int, turns: int = _PLAYED, questions: int = _ASKED) -> Played:
    """Plays a set of conversations through `recollect serve`, to a provider that keeps what it is sent."""
    exchanges = _exchanges(conversations)[:turns]
    said = {text for exchange in exchanges for text in exchange}
    words = {message.id: message.content for history in conversations.histories for message in history.messages}
    asked = [(one, found) for one in _about(conversations) if (found := _said_in(said, words, one))]
    asked = asked[:: max(1, len(asked) // questions)][:questions]
    spoken = [*exchanges, *((question.text, "Noted.") for question, _ in asked)]
    provider = ThreadingHTTPServer(("127.0.0.1", 0), _Keeps)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    with TemporaryDirectory(prefix="recollect-talk-") as folder, recollect.open(Path(folder) / "memory.db") as memory:
        upstream = f"http://127.0.0.1:{provider.server_port}/v1"
        with served(Path(folder) / "memory.db", Path(folder), RECOLLECT_OPENAI_UPSTREAM=upstream) as proxy:
            sent = _sent(f"{proxy.address}/in/default/v1", spoken, window)
        provider.shutdown()
        stored = [m for row in memory.conversations(limit=9) for m in memory.conversation(row.conversation.id).messages]
    whole = there = 0
    for request, (_, found) in zip(sent[len(exchanges) :], asked, strict=True):
        text = "\n".join(message["content"] for message in request)
        named = [f"[{m.id[-_CODE:]}]" for m in stored if any(own in m.content for own in found)]
        is_whole = any(own in text for own in found)
        whole, there = whole + is_whole, there + (is_whole or any(code in text for code in named))
    cut = sum(after[: len(before)] != before for before, after in pairwise(sent))
    return Played(len(sent), sum(map(len, said)) // 4, cut, len(asked), whole, there)


def _exchanges(conversations: DataSet) -> list[tuple[str, str]]:
    """What is said by one side and answered by the other, what one says in a row as one."""
    found: list[tuple[str, str]] = []
    for history in conversations.histories:
        runs: list[tuple[str, str]] = []
        for message in history.messages:
            if runs and runs[-1][0] == message.role:
                runs[-1] = message.role, f"{runs[-1][1]}\n\n{message.content}"
            elif runs or message.role == "user":
                runs.append((message.role, message.content))
        found += [(one[1], other[1]) for one, other in zip(runs[::2], runs[1::2], strict=False)]
    return found


def _about(conversations: DataSet) -> Iterator[Question]:
    return (question for history in conversations.histories for question in history.questions if question.evidence)


def _said_in(said: set[str], words: dict[str, str], question: Question) -> list[str]:
    """The messages that answer, of those that were said."""
    found = [words[own].strip() for own in question.evidence if own in words]
    return [own for own in found if own and any(own in text for text in said)]


def _sent(root: str, spoken: Sequence[tuple[str, str]], window: int) -> list[list[dict[str, str]]]:
    """The messages of each request as the provider had them."""
    sent, talk = [], [{"role": "system", "content": "Be brief."}]
    headers = {"X-Recollect-Window": str(window)}
    with httpx2.Client(timeout=60) as client:
        for asked, answered in spoken:
            talk.append({"role": "user", "content": asked})
            _Keeps.answer = answered
            answer = client.post(f"{root}/chat/completions", json={"model": "m", "messages": talk}, headers=headers)
            assert answer.status_code == 200, answer.text
            assert "x-recollect-degraded" not in answer.headers, answer.headers
            sent.append(_Keeps.messages)
            talk.append({"role": "assistant", "content": answered})
    return sent


class _Keeps(BaseHTTPRequestHandler):
    """Answers what it is told to, and keeps what it was sent last."""

    protocol_version = "HTTP/1.1"
    answer = ""
    messages: list[dict[str, str]]

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_POST(self) -> None:
        """The answer, whole."""
        _Keeps.messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        message = {"role": "assistant", "content": self.answer}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        body = json.dumps(made).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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
