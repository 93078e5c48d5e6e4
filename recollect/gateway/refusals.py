"""Refusals of requests that are too long: how servers word them, and which numbers they tell.

OpenAI, Anthropic, vLLM, SGLang, llama.cpp and its bindings, LM Studio, Ollama, TGI, OpenRouter, Gemini, xAI, Mistral,
Moonshot, Qwen, MiniMax, Zhipu and Copilot each have their own words. An answer that streams may begin with such a
refusal, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.gateway.events import Events

_CODES = ("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded")
_WORDS = re.compile(
    r"prompt (?:is )?too long|input is too long|exceeds? (?:the |this )?(?:model'?s )?(?:available )?context"
    r"|max(?:imum)? context (?:length|size|window)|maximum (?:allowed )?(?:input|prompt) length|input token count"
    r"|context length of only|model context window is|configured context size is"
    r"|longer than the (?:model'?s context|maximum model) length|greater than the context length|maximum allowed length"
    r"|exceeded model token limit|context window exceeds limit|prompt exceeds max length|range of input length"
    r"|prompt token count of [\d,]+ exceeds|`inputs` (?:tokens \+|must have less)",
    re.IGNORECASE,
)
_N = r"(\d[\d,]*)"
_LIMITS = (
    rf"> ?{_N}",
    rf"max(?:imum)? (?:context|allowed input|input|prompt) (?:length|size|window) ?(?:is|of|\()? ?\(?{_N}",
    rf"available context size \({_N}",
    rf"context (?:window|length) (?:is|of|of only) {_N}",
    rf"maximum number of tokens allowed \({_N}",
    rf"model with {_N} maximum context length",
    rf"(?:context|model|allowed) length (?:of )?\(?{_N}",
    rf"(?:token limit:|limit (?:of|is)|context size is) {_N}",
    rf"input length should be \[\d+, ?{_N}",
    rf"must (?:be <=|have less than) {_N}",
    rf"n_ctx:? {_N}",
)
_ASKED = (
    rf"{_N} tokens >",
    rf"{_N} \+ \d[\d,]* >",
    rf"{_N} in (?:the |your )?(?:messages|prompt)",
    rf"{_N} of text input",
    rf"(?:resulted in|prompt contains|request contains|requested|prompt is|first) {_N} (?:input )?tokens",
    rf"(?:request|tokens|length|count)(?: of)? ?\(?{_N}(?: tokens)?\)? exceeds?",
    rf"\((?:length )?{_N}(?: tokens)?\) is longer",
    rf"{_N} tokens from the input",
    rf"(?:requested:|prompt has|current length is|given:) {_N}",
    rf"n_prompt_tokens {_N}",
)
_TOLD = ("error", "message", "detail", "msg", "code", "type", "response", "n_ctx", "n_prompt_tokens", "metadata", "raw")
_NUMBERS = ("n_ctx", "n_prompt_tokens")
_LONGEST = 4_000  # characters: longer messages repeat what was asked
#: Statuses that are about who asks, or how often.
_NEVER = (401, 402, 403, 404, 429)
#: Events that come before anything is said.
_OPENING = ("response.created", "response.queued", "response.in_progress")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request was too long. `limit` and `asked` are tokens of the server, None where it does not tell them."""

    limit: int | None = None
    asked: int | None = None


def read_refusal(status: int, body: object) -> Refusal | None:
    """What an answer says of the length of the request; None where it is about something else."""
    if status < 400 or status in _NEVER:
        return None
    told = " ".join(_told(body))[:_LONGEST]
    if not any(code in told for code in _CODES) and _WORDS.search(told) is None:
        return None
    return Refusal(_number(_LIMITS, told), _number(_ASKED, told))


class Opening:
    """The beginning of an answer, read before any of it is passed on: up to the first event that says something."""

    def __init__(self, status: int) -> None:
        self.refusal: Refusal | None = None
        self._status, self._events, self._is_read = status, Events(), False

    def whole(self, content: bytes) -> None:
        """Takes in an answer that is no stream."""
        try:
            self.refusal = read_refusal(self._status, json.loads(content))
        except (ValueError, RecursionError):
            self.refusal = read_refusal(self._status, {"message": content[:_LONGEST].decode(errors="replace")})

    def feed(self, piece: bytes) -> bool:
        """Takes in a piece of a stream. Whether it has begun to say something, or keeps its reader waiting with a
        comment, which must go on. A stream that begins with an object is none of events.
        """
        is_first, self._is_read = not self._is_read, True
        for event in self._events.feed(piece):
            kind = event.get("type")
            if kind in _OPENING:
                continue
            if event.get("error") or kind in ("error", "response.failed"):
                self.refusal = read_refusal(400, event)
            return True
        return piece.startswith(b":") or (is_first and piece.lstrip().startswith((b"{", b"[")))


def _told(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from _unpacked(value)
    elif isinstance(value, Mapping):
        for key in _TOLD:
            if key in _NUMBERS and isinstance(value.get(key), int):
                yield f"{key} {value[key]}"
            elif key in value:
                yield from _told(value[key])
    elif isinstance(value, list):
        for inner in value[:5]:
            yield from _told(inner)


def _unpacked(text: str) -> Iterator[str]:
    """A text; of one that holds the answer of another server, what that tells."""
    if text.lstrip().startswith("{"):
        try:
            inner: Any = json.loads(text)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict):
            yield from _told(inner)
            return
    if len(text) <= _LONGEST:
        yield text


def _number(patterns: tuple[str, ...], told: str) -> int | None:
    for pattern in patterns:
        if found := re.search(pattern, told, re.IGNORECASE):
            return int(found[1].replace(",", "")) or None
    return None
