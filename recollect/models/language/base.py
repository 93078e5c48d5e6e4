"""The port of language models: one request, one validated answer, and errors that say whether to try again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A file of `prompts/`: what a model is told, the JSON schema of its answer and an example of a good one. Its
    version is stored with whatever it made.
    """

    name: str
    version: int
    system: str
    schema: Mapping[str, Any]
    example: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """As in "l1/2"."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call: a prompt and the text that it is about."""

    prompt: Prompt
    text: str
    max_tokens: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A validated answer with what it took."""

    data: Mapping[str, Any]
    model: str  # "anthropic:claude-…", as in settings
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None  # US dollars; None: the price is not known
    calls: int = 1  # 2 where a broken answer was repaired


class LanguageModel(Protocol):
    """Answers requests. Thread-safe."""

    name: str

    def complete(self, request: Request) -> Completion:
        """The answer, validated against the schema of the prompt. Raises ModelError (recollect.errors) and its kin."""
        ...
