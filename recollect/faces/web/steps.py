"""What a question or research has done so far, in words, each step with what it took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.answer.ask.answer import Step
from recollect.answer.chat.events import Again, Words
from recollect.faces.web.runs import RunEvent, WebRun


@dataclass(frozen=True, slots=True)
class DisplayedStep:
    """A step as it is shown; the current one is not done yet."""

    words: str
    seconds: float
    current: bool = False


#: The words of a step, by its name.
Wording = Mapping[str, Callable[[str], str]]


def displayed_steps(run: WebRun, wording: Wording, following: Mapping[str, str]) -> list[DisplayedStep]:
    """The steps of a run. `following` says what is done after each of them, as long as the run is not over; after ""
    at the beginning.
    """
    shown: list[DisplayedStep] = []
    last, began = "", 0.0
    for told in run.events:
        if isinstance(told.event, Step):
            step = told.event
            shown.append(DisplayedStep(wording.get(step.name, str)(step.detail), told.at - began))
            last, began = step.name, told.at
        elif isinstance(told.event, Again):
            shown.append(DisplayedStep(f"{told.event.why} Asking again", told.at - began))
            began = told.at
    if run.ended is None and last in following:
        shown.append(DisplayedStep(following[last], run.seconds - began, current=True))
    return shown


def text_so_far(events: list[RunEvent]) -> str:
    """The text as far as it has come, since it was last begun."""
    parts: list[str] = []
    for told in events:
        if isinstance(told.event, Words):
            parts.append(told.event.text)
        elif isinstance(told.event, Again):
            parts = []
    return "".join(parts)
