"""Runs of messages that a model is asked about: twenty in a row, known by their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.record import Message, NodeId, stable_id

#: The kind of the tasks, and the name of the prompt.
KIND = "entities"
RUN = 20


def run_id(messages: Sequence[Message]) -> NodeId:
    """The same for the same messages in the same words, under the same prompt."""
    from recollect.model.prompts import prompt

    return stable_id("entities run", prompt(KIND).version, *(part for m in messages for part in (m.id, m.content)))


def prefixes(messages: Sequence[Message]) -> Iterator[NodeId]:
    """The ids of all runs of a conversation, and of what they were while they grew."""
    for start in range(0, len(messages), RUN):
        run = messages[start : start + RUN]
        yield from (run_id(run[: length + 1]) for length in range(len(run)))
