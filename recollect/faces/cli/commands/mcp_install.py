"""`recollect mcp install`: writes the set-up of a client, and shows what it did."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Arguments, Command, Option, one_of
from recollect.faces.cli.setup.clients import CLIENTS, Client, Machine
from recollect.faces.cli.setup.install import Change, is_set_up, planned, snippet, write
from recollect.faces.cli.setup.launch import Launch, launch_of
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.mcp.tools.sets import CORE, SETS

TOOLS = Option(("--tools",), "core: 7 tools; all: 21.", "SET", default=CORE, read=one_of(*SETS), values=SETS)
READ_ONLY = Option(("--read-only",), "Leave out the tools that write or remove.", default=False)
MODEL = Option(("--model",), "The language model that answers `ask`.", "NAME")


def install(
    session: Invocation,
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
    launch = launch_of(session.settings, tools=tools, read_only=read_only, model=model, environment=os.environ)
    clients = [_meant(name) for name in names]
    if print_:
        _print_snippets(session, clients or [CLIENTS["claude-desktop"]], launch, machine)
    elif clients:
        changes = [planned(client, launch, machine) for client in clients]  # all are checked before one is written
        _tell_all(session, [(change, _written(change)) for change in changes])
    else:
        _list(session, machine)
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


def _written(change: Change) -> Path | None:
    from recollect.record import utc_now

    return write(change, utc_now()) if change.is_needed else None


def _tell_all(session: Invocation, done: Sequence[tuple[Change, Path | None]]) -> None:
    if session.json:
        session.out.document({"clients": [_as_json(change, kept) for change, kept in done]})
    else:
        for change, kept in done:
            _tell(session, change, kept)


def _tell(session: Invocation, change: Change, kept: Path | None) -> None:
    out, client = session.out, change.client
    if not change.is_needed:
        out.line(f"{client.label} is set up already, in {_short(change.path)}.")
        return
    out.line(f"{out.bold(client.label)}: {'changed' if kept else 'made'} {_short(change.path)}")
    for line in change.lines:
        out.verbatim(f"  {out.colored(line) if line.startswith('+') else out.dim(line)}")
    if kept:
        out.line(out.dim(f"What was there before: {_short(kept)}"))
    out.line(f"Next: {client.after}")


def _as_json(change: Change, kept: Path | None) -> dict[str, Any]:
    return {
        "client": change.client.name,
        "path": str(change.path),
        "changed": change.is_needed,
        "backup": str(kept) if kept else None,
        "next": change.client.after,
    }


def _print_snippets(session: Invocation, clients: Sequence[Client], launch: Launch, machine: Machine) -> None:
    if session.json:
        shown = [
            {"client": c.name, "path": str(c.settings(machine)), "keys": list(c.keys), "entry": c.entry(launch)}
            for c in clients
        ]
        session.out.document({"clients": shown})
        return
    for client in clients:
        session.out.note(f"{client.label}: {_short(client.settings(machine))}")
        session.out.verbatim(snippet(client, launch).rstrip("\n"))


def _list(session: Invocation, machine: Machine) -> None:
    there = [client for client in CLIENTS.values() if client.is_there(machine)]
    rest = [client for client in CLIENTS.values() if client not in there]
    if session.json:
        session.out.document(
            {"clients": [_row(client, machine, is_there=client in there) for client in CLIENTS.values()]}
        )
        return
    out = session.out
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
