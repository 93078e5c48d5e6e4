"""Listening: a socket that is ours before anything is loaded, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.errors import InvalidInput

_PATIENCE = 10  # seconds for what is under way at the end
_MOST_AT_ONCE = 1_000  # connections and requests
_MOST_IDLE = 256  # connections without a request; the one that has waited longest makes room
_HEADER_SECONDS = 10.0  # until the headers of a request are whole


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 is any that is free. Raises InvalidInput where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio leaves Nagle's delay on
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(1024)
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or str(error)
        hint = f"Take another: recollect serve --port {port + 1}" if 0 < port < 65_535 else ""
        raise InvalidInput(f"Cannot listen at {host}, port {port}: {reason}.", hint=hint) from None
    made.set_inheritable(False)
    return made


class _Connection(H11Protocol):
    """A connection that is closed where the headers of a request do not come in time. Those without a request are few,
    so that however many somebody opens, others are answered.
    """

    transport: asyncio.Transport
    _timer: asyncio.TimerHandle | None = None
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Waits for the first request."""
        super().connection_made(transport)
        self._expect_headers()
        if len(self.connections) <= _MOST_IDLE:
            return
        idle = [one for one in cast("set[_Connection]", self.connections) if one.is_idle]
        for one in sorted(idle, key=lambda one: one.since)[: max(0, len(idle) - _MOST_IDLE)]:
            one.transport.close()

    def data_received(self, data: bytes) -> None:
        """Waits for the rest of the headers, or no more."""
        super().data_received(data)
        if not self.is_idle:
            self._expect_nothing()
        elif self._timer is None:
            self._expect_headers()

    def on_response_complete(self) -> None:
        """Idle again, until the first byte of the next request: so long the keep-alive holds."""
        self.since = time.monotonic()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing."""
        self._expect_nothing()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether it is open and no request is under way."""
        return (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing()

    def _expect_headers(self) -> None:
        self.since = time.monotonic()
        self._timer = self.loop.call_later(_HEADER_SECONDS, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class HttpServer(uvicorn.Server):
    """Serves until SIGINT or SIGTERM; what is under way is finished, then the memories are closed.

    `run(sockets=[listen(…)])` starts it; `started` is called when it answers.
    """

    def __init__(self, app: FastAPI, started: Callable[[], None] | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_Connection,
                log_config=None,
                access_log=False,
                ws="none",
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                limit_concurrency=_MOST_AT_ONCE,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=_PATIENCE,
            )
        )
        self._served_app, self._tell_started = app, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the other does, and tells."""
        await super().startup(sockets=sockets)
        if self.started and self._tell_started is not None:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As the other does; what would go on for as long as somebody listens is told to end first."""
        self._served_app.state.stopping = True
        for end in getattr(self._served_app.state, "at_end", ()):
            end()
        await super().shutdown(sockets=sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the serving, and nothing more: they are not raised again when it has ended."""
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not in the main thread
            before = {}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
