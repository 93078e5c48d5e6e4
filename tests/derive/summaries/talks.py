"""Conversations to summarise: strategies, and the story of an anxious dog [1]."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import strategies as st

from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message, NodeId, Role

START = datetime(2025, 3, 3, 9, tzinfo=UTC)
CONVERSATION = NodeId("the-conversation")


@cache
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def message(number: int, role: str, text: str, *, time: datetime | None = None, speaker: str | None = None) -> Message:
    return Message(
        NodeId(f"message-{number:04}"),
        CONVERSATION,
        Role(role),
        text,
        timestamp=time,
        speaker=speaker,
        position=number,
    )


_TEXTS = st.sampled_from(
    [
        "Luna is allergic to chicken, the vet said so on 3 March.",
        "How do I set up nginx in front of Docker?",
        "She takes 10 mg of fluoxetine every morning. I am worried about side effects.",
        "Set the resolver to 127.0.0.11 and put the upstream in a variable.",
        "ok",
        "",
        "露娜对鸡肉过敏。医生说每天早上吃十毫克的药。",
        "```python\nprint('nothing to quote')\n```",
        "Thanks!",
        "We moved to Porto in May; since then she barks when she is alone.",
        "x" * 5_000,
    ]
)
_GAPS = st.sampled_from([0, 1, 5, 60, 7 * 60, 3 * 24 * 60, -90])


@st.composite
def talks(draw: st.DrawFn, most: int = 70) -> list[Message]:
    """Any conversation: of a user and an assistant, of people with names, of one side alone; with a clock or none."""
    sides = draw(st.sampled_from(["chat", "chat", "people", "only users", "only assistants", "mixed"]))
    clock = draw(st.sampled_from(["runs", "runs", "none", "partly"]))
    time, found = START, []
    for number in range(draw(st.integers(0, most))):
        time += timedelta(minutes=draw(_GAPS))
        known = clock == "runs" or (clock == "partly" and draw(st.booleans()))
        role, speaker = _side(draw, sides, number)
        found.append(message(number, role, draw(_TEXTS), time=time if known else None, speaker=speaker))
    return found


def _side(draw: st.DrawFn, sides: str, number: int) -> tuple[str, str | None]:
    if sides == "chat":
        return ("assistant" if number % 2 else "user"), None
    if sides == "people":
        return draw(st.sampled_from(["user", "assistant"])), draw(st.sampled_from(["Ana", "Ben", "Chen"]))
    if sides == "mixed":
        return draw(st.sampled_from(["user", "assistant"])), draw(st.sampled_from([None, "Ana", "assistant"]))
    return ("user" if sides == "only users" else "assistant"), None


def cuts(draw: st.DrawFn, count: int) -> list[int]:
    """Where something of this length is taken apart."""
    return sorted(draw(st.sets(st.integers(0, count), max_size=6)) | {0, count})


def alternating(texts: Sequence[str], *, minutes: int = 5, start: datetime = START, first: int = 0) -> list[Message]:
    """A chat of a user and an assistant."""
    return [
        message(first + n, "assistant" if n % 2 else "user", text, time=start + timedelta(minutes=n * minutes))
        for n, text in enumerate(texts)
    ]
