"""A real server with the proxy, and a provider behind it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.faces.server.server import HttpServer, listen
from recollect.memory import Memory
from recollect.memory.settings import load_settings, places
from tests.faces.proxy.plain import Plain
from tests.gateway.upstream import Upstream, upstream


@dataclass(frozen=True)
class Proxy:
    """Where it is, and what it remembers."""

    address: str
    memories: Memories
    provider: Any  # Upstream, or Plain

    def memory(self, namespace: str) -> Memory:
        return self.memories.of(namespace)

    def openai(self, **more: Any) -> Any:
        import openai

        more = {"base_url": f"{self.address}/v1", "api_key": "sk-own", "max_retries": 0, **more}
        return openai.OpenAI(**more)

    def anthropic(self, **more: Any) -> Any:
        import anthropic

        return anthropic.Anthropic(**{"base_url": self.address, "api_key": "sk-ant", "max_retries": 0, **more})


@pytest.fixture
def provider() -> Iterator[Upstream]:
    with upstream() as server:
        yield server


@pytest.fixture
def proxy(tmp_path: Path, provider: Upstream, home: Path) -> Iterator[Proxy]:
    with serving(tmp_path, provider) as found:
        yield found


@contextmanager
def serving(
    folder: Path, provider: Upstream | Plain, token: str = "", model: str = "", **settings: Any
) -> Iterator[Proxy]:
    where = places({"RECOLLECT_HOME": str(folder)}, folder)
    upstreams = {"openai_upstream": f"{provider.root}/v1", "anthropic_upstream": provider.root}
    chosen = replace(load_settings(environment={}, where=where), **{**upstreams, **settings})
    memories = Memories(recollect.open(folder / "memory.db", background=False))
    listening = listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = HttpServer(build(memories, Served(chosen, where, port=port, token=token, model=model)))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield Proxy(f"http://127.0.0.1:{port}", memories, provider)
    finally:
        server.should_exit = True
        thread.join(20)
