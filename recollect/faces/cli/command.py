"""What all commands have in common: the options for store, namespace, form and colour, and help that shows first.

A command is a function whose first parameter is the `Session`; `command` adds the common options to the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from recollect.faces.cli.session import Session, open_session

STORE = Annotated[
    str | None,
    typer.Option(metavar="PLACE", help="The memory's file, or neo4j://HOST:PORT for a server.", show_default=False),
]
NAMESPACE = Annotated[
    str | None, typer.Option(metavar="NAME", help="The namespace: default, acme/rex …", show_default=False)
]
COLOR = Annotated[str | None, typer.Option(metavar="WHEN", help="Colour: auto, always or never.", show_default=False)]
JSON = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]

_COMMON: Mapping[str, tuple[Any, Any]] = {
    "store": (STORE, None),
    "namespace": (NAMESPACE, None),
    "color": (COLOR, None),
    "json": (JSON, False),
}

Body = Callable[..., int | None]


class Command(TyperCommand):
    """A command whose help begins with its examples."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Examples, what it does, options."""
        _write_help(self, ctx, formatter)


class Commands(TyperGroup):
    """The commands; a name that is none of them is told which was probably meant."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order in which one meets them, not by letter."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Examples, what it does, options, commands."""
        _write_help(self, ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is meant. Raises UnknownCommand."""
        if args and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            raise UnknownCommand(args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


class UnknownCommand(Exception):
    """The first word is not a command."""

    def __init__(self, word: str, commands: Sequence[str]) -> None:
        super().__init__(word)
        self.word, self.commands = word, commands


def command(app: typer.Typer, name: str, examples: Sequence[str]) -> Callable[[Body], Body]:
    """Registers a function as a command; what it returns is the exit code (None: 0)."""

    def register(body: Body) -> Body:
        app.command(name, cls=Command, epilog="\n".join(examples), help=inspect.getdoc(body))(_with_session(body))
        return body

    return register


def root(app: typer.Typer, examples: Sequence[str]) -> Callable[[Body], Body]:
    """Registers what the bare command does. Common options before a command's name count for that command."""

    def register(body: Body) -> Body:
        app.callback(invoke_without_command=True, epilog="\n".join(examples), help=inspect.getdoc(body))(
            _with_session(body, before_commands=True)
        )
        return body

    return register


def _with_session(body: Body, *, before_commands: bool = False) -> Callable[..., int | None]:
    signature = inspect.signature(body, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "session"]

    def called(ctx: typer.Context, **given: Any) -> int | None:
        common = {name: given.pop(name) for name in _COMMON}
        earlier: dict[str, Any] = ctx.obj or {}
        flags = {name: value if value not in (None, False) else earlier.get(name) for name, value in common.items()}
        if before_commands:
            ctx.obj = flags
            if ctx.invoked_subcommand is not None:
                return None
        with open_session(flags) as session:
            return body(session, **given)

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    common = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _COMMON.items()
    ]
    parameters = [context, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *common]
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters}
    return called


def _write_help(self: Any, ctx: Any, formatter: Any) -> None:
    self.format_usage(ctx, formatter)
    formatter.write_paragraph()
    with formatter.indentation():
        for line in (self.epilog or "").splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
    self.format_help_text(ctx, formatter)
    self.format_options(ctx, formatter)


__all__ = ["Command", "Commands", "Session", "UnknownCommand", "command", "root"]
