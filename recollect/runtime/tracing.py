"""OpenTelemetry spans of what is done with the memory, by the GenAI conventions. Off unless RECOLLECT_TRACING is set.

`on` tells operations, namespaces, counts, ids, models and tokens; `content` also what was searched for. Whoever runs
the program sets up where spans go; without that none are made, and nothing of this is ever sent by itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollect.errors import InvalidInput

VARIABLE = "RECOLLECT_TRACING"

_OFF, _ON, _CONTENT = ("", "off", "0", "no", "false"), ("on", "1", "yes", "true"), "content"

P = ParamSpec("P")
T = TypeVar("T")


class _Named(Protocol):
    @property
    def namespace(self) -> str: ...


class _Part(Protocol):
    @property
    def handle(self) -> _Named: ...


H = TypeVar("H", bound=_Part)

#: What a result tells of itself: ids and counts, never words.
Told = Callable[[Any], Mapping[str, Any]]


def traced(
    operation: str, told: Told | None = None, *, query: bool = False
) -> Callable[[Callable[Concatenate[H, P], T]], Callable[Concatenate[H, P], T]]:
    """A method of a memory with a span around it. `query`: its first argument is what is searched for."""

    def around(method: Callable[Concatenate[H, P], T]) -> Callable[Concatenate[H, P], T]:
        @wraps(method)
        def call(self: H, /, *arguments: P.args, **named: P.kwargs) -> T:
            tracer = _tracer()
            if tracer is None:
                return method(self, *arguments, **named)
            told_before: dict[str, Any] = {
                "gen_ai.operation.name": operation,
                "gen_ai.provider.name": "recollect",
                "gen_ai.memory.store.id": str(self.handle.namespace),
            }
            if isinstance(conversation := named.get("conversation_id"), str):
                told_before["gen_ai.conversation.id"] = conversation
            if query and _tells_content():
                told_before["gen_ai.memory.query.text"] = str(next(iter((*arguments, *named.values())), ""))
            with _span(tracer, f"{operation} {self.handle.namespace}", told_before, is_current=True) as span:
                result = method(self, *arguments, **named)
                if told is not None:
                    span.set_attributes(dict(told(result)))
                return result

        return call

    return around


@contextmanager
def model_call(name: str, model: str) -> Iterator[Callable[[int, int], None]]:
    """A span around a call of a language model; what it yields is told the tokens that went in and came out."""
    tracer = _tracer()
    if tracer is None:
        yield lambda sent, written: None
        return
    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": name.partition(":")[0],
        "gen_ai.request.model": model,
    }
    with _span(tracer, f"chat {model}", about, is_current=False) as span:
        yield lambda sent, written: span.set_attributes(
            {"gen_ai.usage.input_tokens": sent, "gen_ai.usage.output_tokens": written}
        )


def one_record(result: Any) -> Mapping[str, Any]:
    """Of a record: its id."""
    return {"gen_ai.memory.record.id": str(result.id), "gen_ai.memory.record.count": 1}


def records(result: Any) -> Mapping[str, Any]:
    """Of several, or of their number: how many."""
    return {"gen_ai.memory.record.count": result if isinstance(result, int) else len(result)}


@contextmanager
def _span(tracer: Any, name: str, attributes: Mapping[str, Any], *, is_current: bool) -> Iterator[Any]:
    """A span, which tells the kind of an error and nothing of its words. One that is not current may stay open while
    somebody else goes on, as in a generator.
    """
    from opentelemetry.trace import SpanKind, Status, StatusCode, use_span

    kind = SpanKind.INTERNAL if is_current else SpanKind.CLIENT
    span = tracer.start_span(name, kind=kind, attributes=dict(attributes))
    try:
        if is_current:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                yield span
        else:
            yield span
    except Exception as error:
        span.set_attribute("error.type", getattr(error, "code", None) or type(error).__name__)
        span.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        span.end()


@cache
def _wanted() -> str:
    value = os.environ.get(VARIABLE, "").strip().lower()
    if value in _OFF:
        return ""
    if value in _ON or value == _CONTENT:
        return value
    raise InvalidInput(f"{VARIABLE}: {value!r} is not a choice.", hint="Use off, on or content.")


def _tells_content() -> bool:
    return _wanted() == _CONTENT


def _tracer() -> Any:
    """Who makes spans; None where nobody asked for any, or the package is not there."""
    if not _wanted():
        return None
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    from recollect.version import VERSION

    return trace.get_tracer("recollect", VERSION)
