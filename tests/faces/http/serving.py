"""A real server over a memory, on a free port of loopback, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.faces.server.server import HttpServer, listen
from recollect.memory import Memory
from recollect.memory.settings import load_settings, places


@contextmanager
def serving(memory: Memory, home: Path, **served: Any) -> Iterator[Served]:
    """The server of `recollect serve` over this memory, which it closes at the end. `home` holds settings and state."""
    where = places({"RECOLLECT_HOME": str(home)}, home)
    settings = load_settings({"store": memory.location}, environment={}, where=where)
    listening = listen("127.0.0.1", 0)
    there = Served(settings, where, port=listening.getsockname()[1], **served)
    is_up = threading.Event()
    server = HttpServer(build(Memories(memory), there), is_up.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    assert is_up.wait(30)
    try:
        yield there
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
