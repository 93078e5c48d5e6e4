"""Free talk with a model, with tools and streamed: one half of the port (base.py is the other, for answers by schema).

A talk is what was said so far; `talk()` of a model gives the words of its next turn as they come, and at last the whole
of it. What is said to a model's tools is told in results, which are a turn of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from recollect.models.language.base import LanguageModel
from recollect.models.language.errors import ModelNotReady
from recollect.models.language.usage import NOTHING_USED, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What a model may call: a name, what it is for, and the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model made. `arguments` are as it wrote them: JSON, one hopes."""

    id: str
    name: str
    arguments: str


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments as an object; none where what was written is no object of JSON."""
    try:
        value = json.loads(call.arguments) if call.arguments.strip() else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered to a call."""

    call: Call
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn of a talk. `results` stand in a turn of the user that answers the calls of the turn before it. `raw` is
    for the provider that said it, who wants it back as it was (its thinking, with its signature).
    """

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    raw: tuple[Mapping[str, Any], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A request for the next turn. Without `may_call` the tools are there for what was called before, and may not be
    called any more.
    """

    system: str
    said: Sequence[Said]
    tools: Sequence[Tool] = ()
    may_call: bool = True
    max_tokens: int = 2_048
    name: str = "chat"  # what it is for, in the count of what was spent

    @property
    def text(self) -> str:
        """All that is sent, as one text."""
        parts = [self.system, *(str(tool) for tool in self.tools)]
        for turn in self.said:
            parts += [turn.text, *(call.arguments for call in turn.calls), *(result.text for result in turn.results)]
        return "\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A whole turn of a model: its words, the tools that it wants called, and what it took."""

    said: Said
    stop: Literal["end", "limit", "calls"]
    model: str
    usage: Usage = NOTHING_USED
    cost: float | None = None


@runtime_checkable
class TalkingModel(LanguageModel, Protocol):
    """A language model that talks. Thread-safe."""

    def talk(self, talk: Talk) -> Iterator[str | Spoken]:
        """The words of the next turn as they come, and last the whole turn. Raises ModelError (recollect.errors) and
        its kin, also after words have come: then the turn is not whole.
        """
        ...


def talking(model: LanguageModel, what: str) -> TalkingModel:
    """The model as one that talks, for `what` needs free words. Raises ModelNotReady for one that does not."""
    if isinstance(model, TalkingModel):
        return model
    raise ModelNotReady(
        f"{model.name} answers by schema alone, and {what} needs free words.",
        hint="A model of your own needs a method talk() (recollect/models/language/talk.py).",
    )
