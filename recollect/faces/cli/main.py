"""The entry: UTF-8 whatever the locale, then the command, and what becomes of errors, interrupts and closed pipes.

Exit codes: 0 found or done, 1 nothing found or imported, 2 an error or wrong usage, 130 interrupted. A hook always
exits 0, for Claude Code takes 2 as a veto and shows the user anything else.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from recollect.errors import ImportProblem, NotFound, RecollectError
from recollect.faces.cli.output import STANDARD_OUTPUT, harmless, terminal_size, use_utf8

if TYPE_CHECKING:
    from recollect.faces.cli.parser import Command

COMPLETE = "_RECOLLECT_COMPLETE"  #: the variable by which shells ask for completions

_NOTHING, _ERROR, _INTERRUPTED = 1, 2, 130
#: Options that a run has once, before the command's name or after it.
_COMMON = ("store", "namespace", "color", "json")
_VALUED = ("--store", "--namespace", "--color")  # options of every command that take the next word as their value


def run() -> NoReturn:
    """What the installed command starts."""
    gc.set_threshold(50_000, 20, 20)  # the many small objects of loading are no garbage
    # Each thread of numpy's BLAS spins for 0.1 s when numpy is imported, and again after each product of matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_what_is_closed()
    use_utf8()
    if shell := os.environ.get(COMPLETE):
        from recollect.faces.cli.help import print_completions

        _leave(print_completions(shell, sys.argv[1:]))
    if not _is_hook(sys.argv[1:]):
        _leave(main(sys.argv[1:]))
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt_once)
        main(sys.argv[1:])
    finally:
        _leave(0)


def _open_what_is_closed() -> None:
    """Makes closed standard streams (`>&-`) lead nowhere: else the next file, the store, would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _leave(code: int) -> NoReturn:
    """Ends the process. Taking down the interpreter with all that it loaded takes as long as a search does."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code; never raises, unless RECOLLECT_DEBUG is set."""
    if _is_hook(arguments):
        return _run_hook(arguments)
    in_json = "--json" in arguments
    try:
        code = _run_or_explain(arguments, in_json=in_json)
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_stdout()
        return 0
    except KeyboardInterrupt as interrupt:
        print(" ".join(["Interrupted.", *map(str, interrupt.args)]), file=sys.stderr)
        return _INTERRUPTED
    except OSError as error:  # what was still to be written does not fit
        print(f"{STANDARD_OUTPUT}: {error.strerror or error}.", file=sys.stderr)
        _let_go_of_stdout()
        return _ERROR
    return code


def _run_or_explain(arguments: Sequence[str], *, in_json: bool) -> int:
    try:
        return _run(arguments)
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except RecollectError as problem:
        exit_code = _NOTHING if isinstance(problem, NotFound | ImportProblem) else _ERROR
        _explain(problem.code, problem.message, problem.hint, in_json=in_json)
        return exit_code
    except OSError as error:
        if error.filename == STANDARD_OUTPUT:
            raise
        where = f"{error.filename}: " if error.filename else ""
        _explain("os_error", f"{where}{error.strerror or error}.", "", in_json=in_json)
    except Exception as bug:
        if os.environ.get("RECOLLECT_DEBUG"):
            raise
        message = f"Something went wrong inside Recollect ({type(bug).__name__}: {bug})."
        _explain("internal", message, "Set RECOLLECT_DEBUG=1 for details, and please report it.", in_json=in_json)
    return _ERROR


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:
        from recollect.version import VERSION

        print(f"recollect {VERSION}")
        return 0
    from recollect.faces.cli.commands import ROOT, VERSION_OPTION, command_named, load
    from recollect.faces.cli.parser import HelpWanted, parse, parse_root

    name = ""
    try:
        before, rest = parse_root(arguments, (VERSION_OPTION,))
        if before.pop("version"):
            return _run(["--version"])
        if not rest:
            return _run_command(ROOT, before)
        name = command_named(rest[0])
        command = load(name)
        given = parse(name, command, rest[1:])
        return _run_command(command, given | {n: before[n] for n in _COMMON if given[n] in (None, False)})
    except HelpWanted as wanted:
        from recollect.faces.cli.help import help_of

        parts = load(name).parts if name else {}
        print(help_of(name, next((word for word in wanted.words[:1] if word in parts), "")))
        return 0


def _run_command(command: Command, given: dict[str, Any]) -> int:
    from recollect.faces.cli.invocation import open_invocation

    flags = {name: given.pop(name) for name in _COMMON}
    with open_invocation(flags) as run:
        if run.settings.unused:
            run.out.note(run.settings.unused)
        return command.run(run, **given) or 0


def _is_hook(arguments: Sequence[str]) -> bool:
    """Whether it is `recollect hooks run`, wherever its options stand and whatever they are."""
    pairs = zip(("", *arguments), arguments, strict=False)
    words = [word for before, word in pairs if not word.startswith("-") and before not in _VALUED]
    return words[:2] == ["hooks", "run"]


def _run_hook(arguments: Sequence[str]) -> int:
    """Runs a hook. Whatever goes wrong must not disturb the session: it is noted in hooks.log, and no more."""
    try:
        _run(arguments)
        sys.stdout.flush()
    except BaseException as reason:
        with suppress(Exception):
            _note(reason)
    return 0


def _note(reason: BaseException) -> None:
    """Adds a line to hooks.log; where that cannot be written, and for who types it, to standard error."""
    import traceback
    from time import gmtime, strftime

    message = str(reason) if isinstance(reason, RecollectError) else traceback.format_exception_only(reason)[0].strip()
    if os.environ.get("RECOLLECT_DEBUG"):
        message = "".join(traceback.format_exception(reason)).strip()
    line = f"{strftime('%Y-%m-%dT%H:%M:%SZ', gmtime())} {': '.join([*getattr(reason, '__notes__', ()), message])}\n"
    if sys.stdin.isatty():
        sys.stderr.write(f"{message}\n")
    try:
        from recollect.memory.settings import own_places

        state = own_places().state
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (state / "hooks.log").open("a", encoding="utf-8", errors="replace") as log:
            log.write(line)
    except Exception:
        sys.stderr.write(line)


def _interrupt_once(number: int, frame: object) -> None:
    """Ctrl-C or SIGTERM ends what a hook does; a second one must not end it before it exits."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    raise KeyboardInterrupt


def _explain(code: str, message: str, hint: str, *, in_json: bool) -> None:
    if in_json:
        import json

        document = {"error": {"code": code, "message": message, "hint": hint}}
        print(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        sys.stdout.flush()
        message, hint = harmless(message), harmless(hint)
        width = terminal_size()[0] if sys.stderr.isatty() else None
        apart = "\n" in message or (width is not None and len(message) + len(hint) >= width)
        if width is not None:
            from recollect.faces.cli.output import wrapped_words

            message = "\n".join(line for part in message.split("\n") for line in wrapped_words(part, width))
        print(("\n" if apart else " ").join(filter(None, (message, hint))), file=sys.stderr)


def _let_go_of_stdout() -> None:
    """Nobody takes the output any more; what Python would still flush at its end goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
