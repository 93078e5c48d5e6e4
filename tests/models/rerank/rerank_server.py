"""A re-rank server on loopback, in the form of Cohere, Jina and vLLM or in that of Text Embeddings Inference."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "right-key"


@dataclass
class RerankServer:
    """What the server does, and what it was asked. It scores by the words that question and text share."""

    url: str = ""
    form: str = "documents"  # or texts
    key: str | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # that come before an answer
    answer: Any = None
    silence: float = 0.0  # seconds before an answer

    def respond(self, path: str, given: str | None, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and answer to a request."""
        self.requests.append({"path": path, **body})
        if self.silence:
            time.sleep(self.silence)
        if self.statuses:
            return self.statuses.pop(0), {"error": "busy"}
        if self.key and given != f"Bearer {self.key}":
            return 401, {"error": f"bad key {given}"}
        if self.answer is not None:
            return 200, self.answer
        if self.form not in body:
            return 422, {"error": f"missing field `{self.form}` at line 1 column 90"}
        rows = [(shared(body["query"], text), number) for number, text in enumerate(body[self.form])]
        rows.sort(reverse=True)  # servers answer best first
        if self.form == "texts":
            return 200, [{"index": number, "score": score} for score, number in rows]
        return 200, {"results": [{"index": number, "relevance_score": score} for score, number in rows]}


def shared(question: str, text: str) -> float:
    """How many words both have."""
    return float(len(set(question.lower().split()) & set(text.lower().split())))


@contextmanager
def rerank_server() -> Iterator[RerankServer]:
    """A server for as long as it is needed."""
    state = RerankServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = state.respond(self.path, self.headers.get("Authorization"), body)
            raw = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client may hang up; what another test reads of stderr is not to tell of it."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{listening.server_port}/v1"
    yield state
    listening.shutdown()
    thread.join()
    listening.server_close()
