"""`recollect serve`: the web pages, REST, MCP and the proxy, from this machine."""

from __future__ import annotations

import re
import sys
import threading
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, RecollectError
from recollect.faces.cli.parser import Command, Option, WrongUsage, whole
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.answering import tell_destination
from recollect.faces.cli.views.following import followed
from recollect.record import namespace as checked

if TYPE_CHECKING:
    from recollect.memory import Memory

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{32,200}")
_HOST, _PORT = "127.0.0.1", 7070


def serve(
    session: Invocation,
    port: int,
    host: str,
    name: list[str],
    token: list[tuple[str, str] | None],
    model: str | None = None,
    open_: bool = False,
    watch: bool = False,
) -> int:
    """Serve the web pages, REST, MCP and the proxy from this machine.

    Only programs of this machine reach it, and they need no token unless --token asks for one. At any other address
    (--host) a token is always asked for; it is kept in a file that only you can read. `--token acme=` makes and keeps
    another one, with which the namespace acme and those below it are reached, and no other; `--token acme=TOKEN` takes
    one of yours. --name is a name under which the
    server is reached, where it is not that of the address. With --watch it follows the sessions of Claude Code and
    Codex meanwhile, as `recollect watch` does. Ctrl-C ends it; what was begun is finished first.
    """
    from recollect.faces.http.served import Served, is_loopback
    from recollect.faces.http.token import kept_token
    from recollect.faces.server.server import Server, listen

    if host in ("0.0.0.0", "::") and not name:
        raise InvalidInput(
            f"{host} is every address of this machine, and none that a browser could name.",
            hint="Say under which name it is reached: --name memory.example.org",
        )
    spec = session.answering_model(model)
    listening = listen("127.0.0.1" if host == "localhost" else host, port)
    memory, out = session.memory(), session.out
    state = session.places.state
    asked = kept_token(state) if token or not is_loopback(host) else ""
    tokens: dict[str, tuple[str, ...]] = {}
    own: dict[str, str] = {}
    for namespace, given in filter(None, token):
        own[namespace] = given or kept_token(state, namespace)
        tokens[own[namespace]] = (*tokens.get(own[namespace], ()), namespace)
    if asked in tokens:
        raise InvalidInput("The token of a namespace is that of the server.", hint="Use another.")
    served = Served(
        session.settings,
        session.places,
        host,
        listening.getsockname()[1],
        tuple(name),
        asked,
        tokens,
        spec,
    )

    from recollect.faces.http.memories import Memories
    from recollect.faces.server.app import build

    link = served.address + (f"/?token={asked}" if asked else "")

    def started() -> None:
        if session.json:
            session.out.document(
                {"address": served.address, "link": link, "tokens": own, "namespace": str(memory.namespace)}
            )
        else:
            out.line(f"Recollect is at {out.bold(link)}")
            for namespace, made in own.items():
                out.line(f"  {namespace} alone: {out.bold(f'{served.address}/?token={made}')}")
            out.line(out.dim("  REST /api/v1   MCP /mcp   proxy for OpenAI and Anthropic clients /v1"))
            tell_destination(session, spec, "questions asked here")
            out.line("Ctrl-C to stop.")
        sys.stdout.flush()
        if session.leaves_worker:  # what was written before is worked on meanwhile
            from recollect.memory.background.process import start

            start(session.store, embedder=session.settings.embedder, durable=session.settings.durable)
        threading.Thread(target=_warm, args=(memory,), name="recollect-warm", daemon=True).start()
        if open_:
            import webbrowser

            webbrowser.open(link)

    with followed(session) if watch else nullcontext() as following:
        app = build(Memories(memory), served)
        if following is not None:
            app.state.at_end = (*getattr(app.state, "at_end", ()), following.set)
        Server(app, started).run(sockets=[listening])
    if not session.json:
        out.note("Stopped.")
    return 0


def _namespace_token(word: str) -> tuple[str, str] | None:
    """Reads `NS=TOKEN` or `NS=`; None for nothing, which means the token of the server."""
    if not word:
        return None
    namespace, equals, token = word.partition("=")
    if not equals:
        raise WrongUsage(f"{word!r} does not say whose token it is.", hint="Say --token acme= or --token acme=TOKEN.")
    if token and not _TOKEN.fullmatch(token):
        raise WrongUsage(
            "A token has 32 to 200 letters, digits, and signs of . _ ~ -",
            hint=f"To have one made: --token {namespace}=",
        )
    try:
        return str(checked(namespace)), token
    except InvalidInput as problem:
        raise WrongUsage(problem.message, hint=problem.hint) from None


def _warm(memory: Memory) -> None:
    """Loads what the first search needs, so that nobody waits for it."""
    with suppress(RecollectError):
        memory.search("what was it", limit=1, facets=True)


COMMAND = Command(
    serve,
    (
        "recollect serve --open",
        "recollect serve --watch",
        "recollect serve --port 8080 --token",
        "recollect serve --token acme= --token acme/rex=",
    ),
    (
        Option(
            ("--port",),
            f"The port, {_PORT} if you name none; 0: any that is free.",
            "N",
            default=_PORT,
            read=whole(0, 65_535),
        ),
        Option(
            ("--host",), "The address to listen at; any but this machine's own needs a token.", "ADDRESS", default=_HOST
        ),
        Option(("--name",), "A name under which it is reached; may be repeated.", "NAME", several=True),
        Option(
            ("--token",),
            "Ask programs of this machine for a token, too; NS=: one of a namespace. May be repeated.",
            "[NS=TOKEN]",
            several=True,
            read=_namespace_token,
        ),
        Option(("--model",), "The language model that answers.", "NAME"),
        Option(("--watch",), "Import what Claude Code and Codex write, while it runs.", default=False),
        Option(("--open",), "Open the page in your browser.", name="open_", default=False),
    ),
)
