"""The application: all commands, and how one of them is run. Loads Typer, which main.py avoids where it can."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from recollect.errors import RecollectError
from recollect.faces.cli import (
    backup,
    check,
    completion,
    config,
    delete,
    demo,
    embed,
    export,
    forget,
    import_,
    list_,
    reindex,
    remember,
    restore,
    search,
    show,
    stats,
)
from recollect.faces.cli.command import Commands, UnknownCommand, root
from recollect.faces.cli.session import Session
from recollect.faces.cli.status import show_status

PROGRAM = "recollect"

_IN_ORDER = (
    *(import_, search, show, list_, stats, remember),
    *(delete, restore, forget, backup, export),
    *(embed, reindex, check, demo, config, completion),
)

VERSION = Annotated[bool, typer.Option("--version", help="Print the version.")]


class WrongUsage(RecollectError):
    """A command line that means nothing."""

    code = "usage"


def build_app(*, completing: bool = False) -> typer.Typer:
    """The application with all its commands; `completing` where a shell asks what could come next."""
    app = typer.Typer(
        name=PROGRAM,
        cls=Commands,
        add_completion=completing,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    examples = (
        "recollect import ~/Downloads/chatgpt-export.zip",
        'recollect search "sourdough hydration"',
        "recollect show 1",
    )
    root(app, examples)(status)
    for module in _IN_ORDER:
        module.register(app)
    return app


def run_command(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code. Raises RecollectError, and KeyboardInterrupt when told to stop."""
    app = get_command(build_app())
    try:
        with app.make_context(PROGRAM, list(arguments)) as context:
            return int(app.invoke(context) or 0)
    except typer.Exit as ended:
        return ended.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except UnknownCommand as unknown:
        near = difflib.get_close_matches(unknown.word, unknown.commands, 1)
        meant = f" Did you mean {near[0]}?" if near else ""
        hint = f"To look for the word: recollect search {unknown.word}"
        raise WrongUsage(f'No command "{unknown.word}".{meant}', hint=hint) from None
    except typer.TyperException as wrong:
        where = getattr(wrong, "ctx", None)
        hint = f"See {where.command_path if where else PROGRAM} --help"
        raise WrongUsage(wrong.format_message(), hint=hint) from None


def status(session: Session, version: VERSION = False) -> None:
    """Remember your conversations with language models, and find the exact message again.

    Without a command it shows what is in the memory. Nothing leaves this machine.
    """
    if version:
        from importlib.metadata import version as installed

        session.out.line(f"{PROGRAM} {installed(PROGRAM)}")
    else:
        show_status(session)
