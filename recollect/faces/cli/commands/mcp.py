"""`recollect mcp`: the memory as an MCP server for Claude Desktop, Claude Code, Cursor, VS Code and others."""

from __future__ import annotations

import sys

from recollect.errors import InvalidInput
from recollect.faces.cli.commands.mcp_install import INSTALL, MODEL, READ_ONLY, TOOLS, install
from recollect.faces.cli.parser import Arguments, Command, Option
from recollect.faces.cli.setup.clients import CLIENTS
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.answering import tell_destination
from recollect.faces.mcp import missing_sdk
from recollect.faces.mcp.tools.sets import CORE


def mcp(
    session: Invocation,
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
        return install(session, words[1:], tools, read_only, print_, model)
    if words:
        raise InvalidInput(f'There is no "{words[0]}" here.', hint="To set up a client: recollect mcp install")
    if sys.stdin.isatty():
        hint = session.out.hint("To set one up: recollect mcp install. Ctrl-C to stop.")
        session.out.note(f"Waiting for an MCP client on standard input. {hint}")
    tell_destination(session, session.answering_model(model), "what clients ask")
    memory = session.memory()
    from recollect.faces.mcp.stdio import serve

    serve(memory, tools=tools, read_only=read_only)
    return 0


COMMAND = Command(
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
