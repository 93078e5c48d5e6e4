"""From the text of a model to a validated answer: JSON found, checked against the schema, repaired once.

What the messages of a request say never gets into an error: errors are stored with tasks and shown, and outlive what
was forgotten. They name the place in the answer and what is wrong there, not the words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

from recollect.models.language.base import (
    NOTHING_USED,
    BadAnswer,
    BrokenAnswer,
    Completion,
    CutAnswer,
    EmptyAnswer,
    HugeAnswer,
    LanguageModelError,
    ModelNotReady,
    ModelRefused,
    Price,
    Prompt,
    Request,
    Usage,
    WrongAnswer,
)
from recollect.text.clean import clean_text, without_thought
from recollect.text.markdown import code_blocks

#: A turn of the talk with a model: whose it is, and what it says.
Turn = tuple[Literal["user", "assistant"], str]

_BYTES_A_TOKEN, _SLACK = 16, 16_384  # of an answer: no good one is longer
_SHOWN_AGAIN = 8_000  # characters of a broken answer that the model is shown again
_MOST = (1 << 63) - 1  # of a whole number
_ATTEMPTS = 40  # beginnings of objects that are tried in an answer with prose around
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and why it stopped; of a refusal the provider's word for the `reason`."""

    text: str
    stop: Literal["end", "limit", "refusal"]
    usage: Usage
    reason: str = ""


class Say(Protocol):
    """One call of a model. Raises ModelError and its kin."""

    def __call__(self, prompt: Prompt, turns: Sequence[Turn], max_tokens: int) -> Reply:
        """What the model says to these turns."""
        ...


def answer(say: Say, request: Request, name: str, price: Price | None) -> Completion:
    """The validated answer to a request. A broken one is sent back once, with what is wrong with it.

    Raises ModelError and its kin; `usage` of an error tells what the request had taken.
    """
    turns: list[Turn] = [("user", request.text)]
    most, used = request.max_tokens, NOTHING_USED
    for last in (False, True):
        try:
            reply = say(request.prompt, turns, most)
        except LanguageModelError as problem:
            problem.usage = used + problem.usage
            raise
        used += reply.usage
        try:
            data = read_answer(reply, request.prompt.schema, most)
        except LanguageModelError as problem:
            problem.usage = used
            if last or not isinstance(problem, CutAnswer | BrokenAnswer | WrongAnswer):
                raise
            turns = [("user", request.text), *_again(reply.text, problem)]
            most = request.max_tokens * 2 if isinstance(problem, CutAnswer) else request.max_tokens
        else:
            return Completion(
                data=data,
                model=name,
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cost=price.of(used) if price else None,
                calls=used.calls,
            )
    raise AssertionError  # the second round returns or raises


def read_answer(reply: Reply, schema: Mapping[str, Any], max_tokens: int) -> Mapping[str, Any]:
    """The object in a reply, without NUL, halves of surrogates and numbers that cannot be stored; 1.0 is 1.

    Raises ModelRefused, BadAnswer and its kin.
    """
    if reply.stop == "refusal":
        raise ModelRefused(f"The model declined to answer{reply.reason and f' ({reply.reason})'}.")
    if len(reply.text) > most_characters(max_tokens):
        raise HugeAnswer(f"The model answered {len(reply.text):,} characters, far more than was asked for.")
    if not reply.text.strip():
        if reply.stop == "limit":
            raise EmptyAnswer("The model spent all its tokens before it answered.")
        raise EmptyAnswer("The model answered nothing.")
    problem: BadAnswer | None = None
    for value in _objects(reply.text):
        problem = check(value, schema)
        if problem is None:
            return {clean_text(key): _cleaned(item) for key, item in value.items()}
    if reply.stop == "limit":
        raise CutAnswer(f"The answer was cut off after {max_tokens:,} tokens.")
    raise problem or BrokenAnswer("The answer holds no JSON object.")


def check(value: object, schema: Mapping[str, Any]) -> WrongAnswer | None:
    """What is wrong with a value, as an error that does not quote it; None where it fits the schema."""
    errors = sorted(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), key=lambda e: list(e.path))
    if not errors:
        return None
    told = "; ".join(_fault(error) for error in errors[:5])
    return WrongAnswer(f"The answer does not fit the schema: {told}.")


def most_characters(max_tokens: int) -> int:
    """How long the longest good answer of so many tokens is."""
    return max_tokens * _BYTES_A_TOKEN + _SLACK


def instructions(prompt: Prompt, *, with_schema: bool) -> str:
    """What the model is told first: the prompt, an example of a good answer, and the schema where the server does not
    enforce it.
    """
    parts = [prompt.system.strip()]
    if prompt.example:
        parts.append(f"An example of a good answer:\n{json.dumps(prompt.example, ensure_ascii=False)}")
    if with_schema:
        schema = json.dumps(prompt.schema, ensure_ascii=False)
        parts.append(f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{schema}")
    return "\n\n".join(parts)


def wire_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the subset that servers enforce: without limits of length and number, which we check ourselves."""
    return {key: _wired(key, value) for key, value in schema.items() if key not in _OURS}


_OURS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "uniqueItems", "format"}
)


def _wired(key: str, value: Any) -> Any:
    if key in ("properties", "$defs"):
        return {name: wire_schema(part) for name, part in value.items()}
    if isinstance(value, Mapping):
        return wire_schema(value)
    if key == "anyOf":
        return [wire_schema(part) for part in value]
    return value


def _again(text: str, problem: LanguageModelError) -> list[Turn]:
    """What is said to a model whose answer was bad."""
    shorter = " Be briefer." if isinstance(problem, CutAnswer) else ""
    wish = "Answer again, with one JSON object that fits the schema and nothing else."
    return [("assistant", text[:_SHOWN_AGAIN]), ("user", f"{problem.message}{shorter} {wish}")]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, likeliest first: all of it, what stands in fences, what stands in prose."""
    text = without_thought(text.removeprefix("\ufeff"))
    for candidate in (text, *(block.of(text) for block in code_blocks(text))):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
    at, tried = text.find("{"), 0
    while at >= 0 and tried < _ATTEMPTS:
        tried += 1
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict) and value:
                yield value
        at = text.find("{", end)


def _fault(error: Any) -> str:
    """What jsonschema found, without the words of the answer."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    rule, wanted = error.validator, error.validator_value
    match rule:
        case "required":
            missing = [name for name in wanted if name not in error.instance]
            said = f"lacks {', '.join(missing)}"
        case "additionalProperties":
            said = "has keys that the schema does not name"
        case "type":
            said = f"is not of type {wanted}"
        case "enum":
            said = f"is none of {', '.join(map(str, wanted))}"
        case _:
            said = f"breaks {rule} {wanted}" if isinstance(wanted, int | float | str) else f"breaks {rule}"
    return f"{place or 'the object'} {said}"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, float) and value.is_integer():  # the schema takes it for a whole number
        value = int(value)
    if isinstance(value, int):
        return min(max(value, -_MOST), _MOST)
    return value


@lru_cache(maxsize=32)
def _validator(schema: str) -> Any:
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        raise ModelNotReady(
            "Answers of models are checked with the package jsonschema, which is not installed.",
            hint='To install it: pip install "recollect[anthropic]" or "recollect[openai]".',
        ) from None
    return Draft202012Validator(json.loads(schema))
