"""Recollect's own dump (`recollect export`): records as they are, ids and versions included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Piece, Problems, Record
from recollect.importers.reading.json import lines
from recollect.record import Chunk, Document, Edge, Message, Node, Role, Thread, ToolCall, has_circle
from recollect.record.wire import from_wire, thread_from_wire
from recollect.store.transfer import DUMP_VERSION, DUMP_VERSIONS

_BROKEN = (KeyError, TypeError, ValueError, AttributeError)


class Dump:
    """Reads what `recollect export` writes."""

    name = "recollect"
    label = "Recollect dump"
    recognised = "its first line"
    about = "[Its own page](dump.md). Ids, versions and deletions are taken as they are."

    def recognises(self, entry: Entry) -> bool:
        """By its first line."""
        try:
            head = orjson.loads(entry.peek(4096).split(b"\n", 1)[0])
        except (orjson.JSONDecodeError, ImportProblem, OSError):
            return False
        return isinstance(head, dict) and "recollect_dump" in head

    def pieces(self, entries: Sequence[Entry], problems: Problems) -> Iterator[Piece]:
        """The records of the dumps, as they are. Raises ImportProblem for a dump of a newer version."""
        for entry in entries:
            yield from self._pieces(entry, problems)

    def _pieces(self, entry: Entry, problems: Problems) -> Iterator[Piece]:
        ended = False
        with entry.open() as stream:
            for line in lines(stream):
                place = f"{entry.place} line {line.number}"
                if line.error is not None or not isinstance(line.value, dict):
                    problems.lost(place, line.error or "not a JSON object")
                    continue
                value = line.value
                if value.get("recollect_dump", DUMP_VERSION) not in DUMP_VERSIONS:
                    raise ImportProblem(
                        f"{entry.place} is a dump of version {value['recollect_dump']}; this Recollect reads "
                        f"{' and '.join(map(str, DUMP_VERSIONS))}.",
                        hint="Update Recollect: pip install -U recollect",
                    )
                if value.get("type") == "end":
                    ended = True
                    if "lost" in value:
                        problems.partial(entry.place, "it was exported from a damaged memory, and not all is in it")
                yield Piece(place, partial(_records, value))
        if not ended:
            problems.partial(entry.place, "the dump ends early: its last line is missing")


def _records(value: dict[str, Any]) -> list[Record]:
    try:
        record = _record(value)
    except _BROKEN as problem:
        raise ImportProblem(f"it is no record ({_reason(problem)})") from problem
    return [] if record is None else [record]


def _record(value: dict[str, Any]) -> Record | None:
    match value.get("type"):
        case "conversation":
            thread = _of_callers(thread_from_wire(value))
            if fault := _fault(thread):
                raise ValueError(fault)
            return thread
        case "document":
            document: Document = from_wire(Document, value)
            if "\0" in document.content:
                raise ValueError("its text holds characters without meaning (NUL)")
            return document, tuple(from_wire(Chunk, chunk) for chunk in value.get("chunks", ()))
        case "edge":
            edge: Edge = from_wire(Edge, value["edge"])
            return edge
        case "node":
            node: Node = from_wire(Node, value["node"])
            return node
    return None


def _of_callers(thread: Thread) -> Thread:
    """With tool calls of the message that called: until 0.2.0, those stored live belonged to their results."""
    messages = {message.id: message for message in thread.messages}

    def caller(call: ToolCall) -> ToolCall:
        at: Message | None = messages.get(call.message_id)
        while at is not None and at.role is Role.TOOL and at.parent_id is not None:
            at = messages.get(at.parent_id)
        return call if at is None or call.message_id != call.result_message_id else replace(call, message_id=at.id)

    if has_circle({message.id: message.parent_id for message in thread.messages}):
        return thread  # is refused
    return replace(thread, tool_calls=tuple(map(caller, thread.tool_calls)))


def _reason(problem: Exception) -> str:
    """Without quoting: what stands in a dump is private."""
    return f"{problem.args[0]} is missing" if isinstance(problem, KeyError) else str(problem)


def _fault(thread: Thread) -> str:
    """What does not hold together in a conversation that was changed by another hand; empty where all does."""
    place = {message.id: message.position for message in thread.messages}
    active = {message.id for message in thread.messages if message.active}
    if list(place.values()) != list(range(len(thread.messages))):
        return "its messages are not numbered from 0"
    if has_circle({message.id: message.parent_id for message in thread.messages}):
        return "its messages answer each other in a circle"
    for message in thread.messages:
        if "\0" in message.content:
            return f"message {message.position} holds characters without meaning (NUL)"
        if message.parent_id is not None and message.parent_id not in place:
            return f"message {message.position} answers one that is not in it"
        if message.active and message.parent_id is not None and message.parent_id not in active:
            return f"message {message.position} is active without its parent"
    if thread.messages and thread.conversation.leaf_id not in active:
        return "its active path does not end at its leaf"
    named = {call.message_id for call in thread.tool_calls} | {turn.query_id for turn in thread.turns}
    named |= {call.result_message_id for call in thread.tool_calls if call.result_message_id}
    named |= {response for turn in thread.turns for response in turn.response_ids}
    if not named <= place.keys():
        return "it names messages that are not in it"
    if not {chunk.parent_id for chunk in thread.chunks} <= place.keys() | {call.id for call in thread.tool_calls}:
        return "it has chunks of what is not in it"
    return ""
