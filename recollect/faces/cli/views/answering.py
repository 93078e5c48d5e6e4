"""What `ask`, `research` and `chat` share: what is asked, who answers and pays, words as they come, what it took."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Option, one_of
from recollect.faces.cli.terminal.output import Output, harmless
from recollect.faces.cli.terminal.session import Invocation

if TYPE_CHECKING:
    from recollect.answer.ask.answer import Answer
    from recollect.answer.research.report import Report

T = TypeVar("T")

_MODES = ("auto", "instant", "quality")

MODE = Option(
    ("--mode",),
    "auto, instant or quality: how the memory is searched.",
    "MODE",
    default="auto",
    read=one_of(*_MODES),
    values=_MODES,
)
IN = Option(("--in",), "Only this conversation.", "TITLE|ID", name="in_")


def words_of(text: list[str], otherwise: tuple[str, str] | None = None) -> str:
    """What is asked, from standard input for "-". Raises InvalidInput with `otherwise`, a message and a hint, for
    nothing.
    """
    words = sys.stdin.read() if text == ["-"] else " ".join(text)
    if otherwise is not None and not words.strip():
        raise InvalidInput(otherwise[0], hint=otherwise[1])
    return words.strip()


def tell_destination(session: Invocation, spec: str, what: str = "this question") -> None:
    """Says what is sent where, before it is; where nobody chose a model and a key was found, how to choose one."""
    import os

    from recollect.models.language.choose import destination, suggested

    out = session.out
    if session.json:
        return
    if spec:
        out.note(out.dim(f"Sending {what} and the messages found to {destination(spec)}. To stay local: --model none"))
        return
    found, variable = suggested(os.environ)
    if found and not session.chose_model:
        out.note(out.dim(f"{variable} is not used unasked. To have a model answer: recollect config model {found}"))


def told(out: Output, events: Generator[object, None, None], other: Callable[[object], T | None]) -> tuple[T, bool]:
    """Prints words as they come. `other` is given every other event, and makes the end of one; returns that, and
    whether its words were shown. The events are closed, so that what is under way lets go while the memory is open.
    """
    from recollect.answer.chat.events import Again, Words

    said, end = False, None
    try:
        with closing(events):
            for event in events:
                match event:
                    case Words(text):
                        out.piece(harmless(text))
                        said = True
                    case Again(why, asks):
                        if said:
                            out.line()
                        out.note(f"{harmless(why)}{' Asking again.' if asks else ''}")
                        said = False
                    case _:
                        end = other(event) or end
    except BaseException:
        if said:
            out.line()
        raise
    assert end is not None
    return end, said


def summary(out: Output, made: Answer | Report, sources: str, unmodelled: str, hint: str) -> str:
    """3 sources · claude-… · 2,140 + 96 tokens · $0.008 · 1.9 s · recollect show 1."""
    shown = [sources]
    if made.model is None:
        shown.append(unmodelled)
    else:
        shown += [made.model, f"{made.usage.input_tokens:,} + {made.usage.output_tokens:,} tokens"]
        shown += [] if made.cost is None else [f"${made.cost:.3f}"]
    shown.append(f"{made.took_ms / 1000:.1f} s" if made.took_ms >= 1000 else f"{made.took_ms:.0f} ms")
    shown += [out.hint(hint)] if hint else []
    return f" {out.symbols.dot} ".join(shown)
