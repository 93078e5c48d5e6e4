"""What is not recorded of a talk, and stays out when it is sent again: clients repeat what was said with each request.

An exchange belongs to the moment in which it was asked: what a tool or a model adds to it later stays out with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from recollect.gateway.aligning import call_mark, likeness
from recollect.gateway.talk import DialogueMessage, HeardAnswer
from recollect.gateway.threads import PlacedDialogue
from recollect.memory.recording import Recording
from recollect.record import NodeId, stable_id


def keep_out(recording: Recording, placed: PlacedDialogue, heard: HeardAnswer) -> None:
    """Keeps out what is new of a talk, and its answers. Raises StoreError."""
    new = {name for n, said in enumerate(placed.talk.said) if n > placed.after for name in _names(placed, n, said)}
    recording.keep_out(sorted(new | {name for one in heard.answers for name in _names_heard(placed, one)}))


def recorded(recording: Recording, placed: PlacedDialogue) -> PlacedDialogue | None:
    """A talk from the first question on that is not kept out; None where there is none. What is asked at the end is
    asked now, whenever it was asked before. Raises StoreError.
    """
    said = placed.talk.said
    asks = bool(said) and said[-1].role == "user" and said[-1].is_said and not said[-1].results
    names = {n: {*_names(placed, n, one)} for n, one in enumerate(said[:-1] if asks else said)}
    out = recording.kept_out(sorted(set().union(*names.values())))
    last = max((n for n in names if names[n] & out), default=-1)
    if last < 0:
        return placed
    asked = next((n for n in range(last + 1, len(said)) if said[n].role == "user" and said[n].is_said), None)
    return None if asked is None else replace(placed, after=max(placed.after, asked - 1))


def _names(placed: PlacedDialogue, at: int, said: DialogueMessage) -> Iterator[NodeId]:
    """Under which names something of a talk is kept out: such as no other talk has, however alike it begins."""
    if (name := placed.names.get(at)) is not None and placed.ids.get(at) == name:
        yield name
    yield from (call_mark(placed.realm, call.id) for call in said.calls if call.id)


def _names_heard(placed: PlacedDialogue, heard: HeardAnswer) -> Iterator[NodeId]:
    name = placed.chain
    for text, _ in heard.messages:
        name = stable_id(name, likeness("assistant", text))
        yield name
    yield from (call_mark(placed.realm, call.id) for call in heard.made if call.id)
