"""Where a conversation, or several short ones in a row, are cut into the runs that are summarised: at the ends of
sessions and conversations, and where the topic changes.

A run is cut as soon as enough exchanges have gathered, from these alone. What comes later never moves a cut, and
cutting goes on from what was left over as if nothing had been cut before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.derive.summaries.exchanges import Exchange, exchanges, is_answered, silence
from recollect.derive.summaries.policy import Policy
from recollect.models.embedding.base import Embedder
from recollect.record import Message

Run = tuple[Exchange, ...]


def segment(messages: Sequence[Message], policy: Policy, embedder: Embedder) -> tuple[list[Run], tuple[Message, ...]]:
    """The runs, and the messages that still wait. `messages` begin with those that an earlier call left waiting."""
    runs: list[Run] = []
    at = 0
    most = (policy.gathered + 1) * policy.longest_exchange  # more never decide about one run
    while (run := _first_run(exchanges(messages[at : at + most], policy), policy, embedder)) is not None:
        runs.append(run)
        at += sum(map(len, run))
    return runs, tuple(messages[at:])


def _first_run(waiting: Sequence[Exchange], policy: Policy, embedder: Embedder) -> Run | None:
    """The first run of what waits; None while not enough has gathered. Sees no more than was there when it was cut:
    the last exchange up to the first answer, what is added to it later belongs to the next run.
    """
    if len(waiting) < policy.gathered:
        return None
    last = waiting[policy.gathered - 1]
    answered = next((n for n in range(1, len(last) + 1) if is_answered(last[:n])), None)
    if answered is None and len(waiting) == policy.gathered:
        return None
    gathered = (*waiting[: policy.gathered - 1], last[:answered])
    strength = boundaries(gathered, policy, embedder)
    places = range(policy.shortest_run, policy.gathered)
    best = max(places, key=lambda place: (strength[place - 1], place), default=policy.gathered)
    if best < policy.gathered and strength[best - 1] >= policy.natural:
        return gathered[:best]
    return gathered


def boundaries(run: Sequence[Exchange], policy: Policy, embedder: Embedder) -> list[float]:
    """How strong the boundary after each exchange but the last is: 0 for none, 1 for the end of a session or of a
    conversation, and a little more where a longer silence follows.
    """
    topic = _drops(_vectors(run, policy, embedder), policy)
    strengths = []
    for place, drop in enumerate(topic):
        before, after = run[place][-1], run[place + 1][0]
        quiet = silence(before, after) / policy.session_gap
        if before.conversation_id != after.conversation_id:
            quiet = max(quiet, 1.0)
        time = min(quiet, 1.0) + (min(math.log10(quiet), 2.0) / 10 if quiet > 1 else 0.0)
        change = 0.9 * min(drop, 1.0) + 0.04 * min(drop, 2.0)  # always less than the end of a session
        strengths.append(round(max(time, change) + min(time, change) / 4, 3))
    return strengths


def _vectors(run: Sequence[Exchange], policy: Policy, embedder: Embedder) -> NDArray[np.float32]:
    """A vector an exchange: the sum of those of its messages."""
    texts = [message.content[: policy.looked_at] for exchange in run for message in exchange]
    rows = embedder.embed(texts)
    ends = np.cumsum([len(exchange) for exchange in run])
    starts = np.concatenate([[0], ends[:-1]])
    summed: NDArray[np.float32] = np.add.reduceat(rows, starts, axis=0)
    return summed


def _drops(vectors: NDArray[np.float32], policy: Policy) -> list[float]:
    """How far likeness falls at each boundary below its highest on both sides (TextTiling), 1 at `topic_drop`."""
    count = len(vectors)
    alike = [
        _cosine(
            vectors[max(0, place + 1 - policy.reach) : place + 1].sum(axis=0),
            vectors[place + 1 : place + 1 + policy.reach].sum(axis=0),
        )
        for place in range(count - 1)
    ]
    return [
        max((max(alike[: place + 1]) + max(alike[place:])) / 2 - here, 0.0) / policy.topic_drop
        for place, here in enumerate(alike)
    ]


def _cosine(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / length if length else 1.0
