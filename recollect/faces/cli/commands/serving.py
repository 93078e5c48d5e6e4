"""`recollect serve` and `mcp`: the servers, and how clients are set up for them."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, RecollectError
from recollect.faces.cli.commands.answers import print_destination
from recollect.faces.cli.commands.recording import followed
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.parser import Arguments, Command, Option, WrongUsage, one_of, whole
from recollect.faces.cli.setup.clients import CLIENTS, Client, Machine
from recollect.faces.cli.setup.install import SettingsChange, is_set_up, planned, snippet, write
from recollect.faces.cli.setup.launch import Launch, launch_of
from recollect.faces.mcp import CORE, SETS, missing_sdk
from recollect.record import namespace as checked
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.memory import Memory


_TOKEN = re.compile(r"[A-Za-z0-9._~-]{32,200}")
_HOST, _PORT = "127.0.0.1", 7070


def serve(
    run: Invocation,
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
    from recollect.faces.http.scope import Served, is_loopback, kept_token
    from recollect.faces.server.server import HttpServer, listen

    if host in ("0.0.0.0", "::") and not name:
        raise InvalidInput(
            f"{host} is every address of this machine, and none that a browser could name.",
            hint="Say under which name it is reached: --name memory.example.org",
        )
    spec = run.answering_model(model)
    listening = listen("127.0.0.1" if host == "localhost" else host, port)
    memory, out = run.memory(), run.out
    state = run.places.state
    asked = kept_token(state) if token or not is_loopback(host) else ""
    tokens: dict[str, tuple[str, ...]] = {}
    own: dict[str, str] = {}
    for namespace, given in filter(None, token):
        own[namespace] = given or kept_token(state, namespace)
        tokens[own[namespace]] = (*tokens.get(own[namespace], ()), namespace)
    if asked in tokens:
        raise InvalidInput("The token of a namespace is that of the server.", hint="Use another.")
    served = Served(
        run.settings,
        run.places,
        host,
        listening.getsockname()[1],
        tuple(name),
        asked,
        tokens,
        spec,
    )

    from recollect.faces.http.scope import Memories
    from recollect.faces.server.app import build

    link = served.address + (f"/?token={asked}" if asked else "")

    def started() -> None:
        if not run.in_json(
            lambda: {"address": served.address, "link": link, "tokens": own, "namespace": str(memory.namespace)}
        ):
            out.line(f"Recollect is at {out.bold(link)}")
            for namespace, made in own.items():
                out.line(f"  {namespace} alone: {out.bold(f'{served.address}/?token={made}')}")
            out.line(out.dim("  REST /api/v1   MCP /mcp   proxy for OpenAI and Anthropic clients /v1"))
            print_destination(run, spec, "questions asked here")
            out.line("Ctrl-C to stop.")
        sys.stdout.flush()
        if run.leaves_worker:  # what was written before is worked on meanwhile
            from recollect.memory.background.process import start

            start(run.store, embedder=run.settings.embedder, durable=run.settings.durable)
        threading.Thread(target=_warm, args=(memory,), name="recollect-warm", daemon=True).start()
        if open_:
            import webbrowser

            webbrowser.open(link)

    with followed(run) if watch else nullcontext() as following:
        app = build(Memories(memory), served)
        if following is not None:
            app.state.at_end = (*getattr(app.state, "at_end", ()), following.set)
        HttpServer(app, started).run(sockets=[listening])
    if not run.json:
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


SERVE = Command(
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
        Option(("--name",), "Host name it is reached by (repeatable).", "NAME", several=True),
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


TOOLS = Option(("--tools",), "core: 7 tools; all: 21.", "SET", default=CORE, read=one_of(*SETS), values=SETS)
READ_ONLY = Option(("--read-only",), "Leave out the tools that write or remove.", default=False)
MODEL = Option(("--model",), "The language model that answers `ask`.", "NAME")


def install(
    run: Invocation,
    names: Sequence[str] = (),
    tools: str = CORE,
    read_only: bool = False,
    print_: bool = False,
    model: str | None = None,
) -> int:
    """Set clients up to start `recollect mcp`, or list those that are known.

    Without CLIENT it lists them with where their settings are. With some it writes the set-up into the settings of
    each, shows what changed, and leaves everything else in the file as it was. --tools, --read-only and --model are
    what the client will start the server with, as are --store and --namespace.
    """
    machine = Machine(Path.home(), os.environ, sys.platform)
    launch = launch_of(run.settings, tools=tools, read_only=read_only, model=model, environment=os.environ)
    clients = [_meant(name) for name in names]
    if print_:
        _print_snippets(run, clients or [CLIENTS["claude-desktop"]], launch, machine)
    elif clients:
        changes = [planned(client, launch, machine) for client in clients]  # all are checked before one is written
        _tell_all(run, [(change, _written(change)) for change in changes])
    else:
        _list(run, machine)
    return 0


def _meant(name: str) -> Client:
    client = CLIENTS.get(name.lower())
    if client is None:
        near = get_close_matches(name.lower(), CLIENTS, 1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise InvalidInput(
            f"There is no client {name!r}.",
            hint=f"{meant}Known are: {', '.join(CLIENTS)}. For another: recollect mcp install --print",
        )
    return client


def _written(change: SettingsChange) -> Path | None:
    return write(change, utc_now()) if change.is_needed else None


def _tell_all(run: Invocation, done: Sequence[tuple[SettingsChange, Path | None]]) -> None:
    if not run.in_json(lambda: {"clients": [_as_json(change, kept) for change, kept in done]}):
        for change, kept in done:
            _tell(run, change, kept)


def _tell(run: Invocation, change: SettingsChange, kept: Path | None) -> None:
    out, client = run.out, change.client
    if not change.is_needed:
        out.line(f"{client.label} is set up already, in {_short(change.path)}.")
        return
    out.line(f"{out.bold(client.label)}: {'changed' if kept else 'made'} {_short(change.path)}")
    for line in change.lines:
        out.verbatim(f"  {out.colored(line) if line.startswith('+') else out.dim(line)}")
    if kept:
        out.line(out.dim(f"Backup: {_short(kept)}"))
    out.line(f"Next: {client.after}")


def _as_json(change: SettingsChange, kept: Path | None) -> dict[str, Any]:
    return {
        "client": change.client.name,
        "path": str(change.path),
        "changed": change.is_needed,
        "backup": str(kept) if kept else None,
        "next": change.client.after,
    }


def _print_snippets(run: Invocation, clients: Sequence[Client], launch: Launch, machine: Machine) -> None:
    if run.json:
        shown = [
            {"client": c.name, "path": str(c.settings(machine)), "keys": list(c.keys), "entry": c.entry(launch)}
            for c in clients
        ]
        run.out.document({"clients": shown})
        return
    for client in clients:
        run.out.note(f"{client.label}: {_short(client.settings(machine))}")
        run.out.verbatim(snippet(client, launch).rstrip("\n"))


def _list(run: Invocation, machine: Machine) -> None:
    there = [client for client in CLIENTS.values() if client.is_there(machine)]
    rest = [client for client in CLIENTS.values() if client not in there]
    if run.in_json(
        lambda: {"clients": [_row(client, machine, is_there=client in there) for client in CLIENTS.values()]}
    ):
        return
    out = run.out
    unset = [client for client in there if not is_set_up(client, machine)]
    for client in there:
        state = "not yet " if client in unset else "set up  "
        out.line(f"{client.name:15}{out.dim(state)} {_short(client.settings(machine))}")
    if rest:
        out.line(out.dim(f"Not found on this machine: {', '.join(client.name for client in rest)}"))
    if unset:
        out.line(out.hint(f"To set one up: recollect mcp install {unset[0].name}"))
    out.line(out.hint("For a client that is not listed: recollect mcp install --print"))


def _row(client: Client, machine: Machine, *, is_there: bool) -> dict[str, Any]:
    return {
        "client": client.name,
        "label": client.label,
        "found": is_there,
        "set_up": is_set_up(client, machine),
        "path": str(client.settings(machine)),
    }


def _short(path: Path) -> str:
    """A path with ~ for the home."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except ValueError:
        return str(path)


INSTALL = Command(
    install,
    ("recollect mcp install", "recollect mcp install claude-code", "recollect mcp install cursor --print"),
    (
        TOOLS,
        READ_ONLY,
        Option(("--print",), "Print what would be written, and write nothing.", name="print_", default=False),
        MODEL,
    ),
    Arguments("CLIENT", "names", several=True, values=tuple(CLIENTS)),
)


def mcp(
    run: Invocation,
    words: list[str] | None = None,
    tools: str = CORE,
    read_only: bool = False,
    print_: bool = False,
    model: str | None = None,
) -> int:
    """Serve the memory to Claude, Cursor, VS Code … over MCP, or set them up.

    Clients start this command by themselves and talk to it over standard input and output. `recollect mcp install`
    lists the clients that it knows, with where their settings are; `recollect mcp install claude-code` writes the
    set-up, shows what changed, and leaves everything else in the file as it was. The small set of tools is search,
    fetch, context, ask, timeline, remember and forget; --tools all adds those that load messages, tool calls and
    facts by id, among them the eleven of the infinite chat specification.
    A client that speaks HTTP reaches the same at /mcp of `recollect serve`.
    """
    if (missing := missing_sdk()) is not None:
        raise missing
    if words and words[0] == "install":
        return install(run, words[1:], tools, read_only, print_, model)
    if words:
        raise InvalidInput(f'There is no "{words[0]}" here.', hint="To set up a client: recollect mcp install")
    if sys.stdin.isatty():
        hint = run.out.hint("To set one up: recollect mcp install. Ctrl-C to stop.")
        run.out.note(f"Waiting for an MCP client on standard input. {hint}")
    print_destination(run, run.answering_model(model), "what clients ask")
    memory = run.memory()
    from recollect.faces.mcp.stdio import serve

    serve(memory, tools=tools, read_only=read_only)
    return 0


MCP = Command(
    mcp,
    ("recollect mcp install", "recollect mcp install claude-desktop", "recollect mcp --tools all --read-only"),
    (
        TOOLS,
        READ_ONLY,
        Option(
            ("--print",), "With install: print what would be written, and write nothing.", name="print_", default=False
        ),
        MODEL,
    ),
    Arguments("install [CLIENT]", "words", several=True, values=("install", *CLIENTS)),
    {"install": INSTALL},
)
