"""`recollect completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

from typing import Annotated

import typer

from recollect.errors import InvalidInput
from recollect.faces.cli.command import command
from recollect.faces.cli.session import Session

SHELLS = ("bash", "zsh", "fish", "powershell")

SHELL = Annotated[str, typer.Argument(metavar="|".join(SHELLS), hidden=True)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    command(
        app,
        "completion",
        (
            "recollect completion bash >> ~/.bashrc",
            "recollect completion zsh >> ~/.zshrc",
            "recollect completion fish > ~/.config/fish/completions/recollect.fish",
        ),
    )(completion)


def completion(session: Session, shell: SHELL) -> int:
    """Print the script for completion in your shell."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    if shell not in SHELLS:
        raise InvalidInput(f"There is no completion for {shell!r}.", hint=f"One of: {', '.join(SHELLS)}.")
    script = get_completion_script(prog_name="recollect", complete_var="_RECOLLECT_COMPLETE", shell=shell)
    if session.json:
        session.out.document({"shell": shell, "script": script})
    else:
        session.out.line(script)
    return 0
