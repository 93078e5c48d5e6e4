"""Many clients at once: 50 that read and 5 that write, for a minute, against one server on loopback.

python -m benchmarks.serving [--readers 50] [--writers 5] [--seconds 60] [--messages 10000] [--store PATH]

Prints requests, errors and latencies by kind. The server is `recollect serve` in a process of its own; the clients are
threads of this one, each with a connection that is kept open, and ask again as soon as they are answered: the latencies
are those of a server that is never idle. Afterwards every message that was acknowledged is looked up.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import recollect
from benchmarks.machine import machine
from benchmarks.served import made, served

_QUERIES = ("plan", "sourdough hydration", "what did we decide about the database", "garden", "error in the build")


@dataclass
class Took:
    """What happened, by kind of request."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)


class Client:
    """One client, with a connection of its own."""

    def __init__(self, port: int, took: Took, seed: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._took, self._random = took, random.Random(seed)

    def read(self, conversations: list[str]) -> None:
        """One of what readers do: mostly searches, then conversations, facts and lists."""
        kind = self._random.choices(("search", "conversation", "facts", "list"), (6, 2, 1, 1))[0]
        query = self._random.choice(_QUERIES)
        path = {
            "search": f"/search?{urlencode({'q': query, 'limit': 10})}",
            "conversation": f"/conversations/{self._random.choice(conversations)}",
            "facts": "/facts?limit=20",
            "list": "/conversations?limit=20",
        }[kind]
        self._ask(kind, "GET", path)

    def write(self, number: str) -> None:
        """A message, and what says that it is there."""
        body = {"content": f"Note {number}: the bassinage of loaf {number} took 40 minutes.", "title": "Bread"}
        answer = self._ask("store", "POST", "/messages", body, {"Idempotency-Key": number})
        if answer is not None:
            self._took.stored.append(answer["id"])

    def close(self) -> None:
        """Lets go of the connection."""
        self._connection.close()

    def _ask(
        self, kind: str, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Any:
        raw = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json"} if raw else {}
        began = time.perf_counter()
        try:
            self._connection.request(method, f"/api/v1{path}", raw, sent | (headers or {}))
            answer = self._connection.getresponse()
            told = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            self._took.errors.append(f"{kind}: {type(error).__name__}: {error}")
            return None
        self._took.seconds[kind].append(time.perf_counter() - began)
        if answer.status >= 400:
            self._took.errors.append(f"{kind}: {answer.status} {told[:200].decode(errors='replace')}")
            return None
        return json.loads(told)


def run(port: int, ids: list[str], readers: int, writers: int, seconds: float) -> tuple[Took, float]:
    """Everything at once, for so long."""
    took, until = Took(), time.monotonic() + seconds

    def reading(number: int) -> None:
        client = Client(port, took, number)
        while time.monotonic() < until:
            client.read(ids)
        client.close()

    def writing(number: int) -> None:
        client, count = Client(port, took, -number), 0
        while time.monotonic() < until:
            client.write(f"{number}-{count}")
            count += 1
        client.close()

    threads = [threading.Thread(target=reading, args=(n,)) for n in range(readers)]
    threads += [threading.Thread(target=writing, args=(n,)) for n in range(1, writers + 1)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took, time.monotonic() - began


def lost(port: int, stored: list[str]) -> int:
    """How many acknowledged messages are not there."""
    there: set[str] = set()
    for first in range(0, len(stored), 100):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        query = urlencode([("id", one) for one in stored[first : first + 100]])
        connection.request("GET", f"/api/v1/messages?{query}")
        there |= {one["id"] for one in json.loads(connection.getresponse().read())["items"]}
        connection.close()
    return len(set(stored) - there)


def main() -> int:
    """Measures, and prints."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__.partition("\n")[0])
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--store", type=Path, help="a copy of a store to serve, instead of generated messages")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = asked.store or made(Path(folder), asked.messages)
        with recollect.open(store, background=False) as memory:
            ids = [row.conversation.id for row in memory.conversations(limit=200)]
            size = memory.upkeep.stats().messages
        with served(store, Path(folder) / "home", RECOLLECT_MODEL="none") as server:
            warm = Client(server.port, Took(), 0)
            for _ in range(20):
                warm.read(ids)
            took, seconds = run(server.port, ids, asked.readers, asked.writers, asked.seconds)
            missing = lost(server.port, took.stored)
    print(f"{machine()}\n{size:,} messages, {asked.readers} readers and {asked.writers} writers, {seconds:.0f} s\n")
    print("| | requests | a second | median ms | 95 % ms | 99 % ms | slowest ms |\n|---|---|---|---|---|---|---|")
    for kind, times in sorted(took.seconds.items()):
        cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
        numbers = " | ".join(f"{1000 * value:.0f}" for value in (cuts[49], cuts[94], cuts[98], max(times)))
        print(f"| {kind} | {len(times):,} | {len(times) / seconds:.1f} | {numbers} |")
    print(f"\nerrors: {len(took.errors)}; of {len(took.stored):,} acknowledged messages {missing} missing")
    for error in took.errors[:10]:
        print(f"  {error}")
    return 1 if took.errors or missing else 0


if __name__ == "__main__":
    sys.exit(main())
