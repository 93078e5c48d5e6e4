"""Listening: a socket that is ours before anything is loaded, and an end that loses nothing."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from recollect.errors import InvalidInput

_PATIENCE = 10  # seconds for what is under way at the end
_MOST_AT_ONCE = 1_000  # connections and requests


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


class Server(uvicorn.Server):
    """Serves until SIGINT or SIGTERM; what is under way is finished, then the memories are closed.

    `run(sockets=[listen(…)])` starts it; `started` is called when it answers.
    """

    def __init__(self, app: FastAPI, started: Callable[[], None] | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
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
