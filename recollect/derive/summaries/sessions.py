"""Sessions of short conversations: what waits in those that are too short for a tactical summary of their own.

A session ends with six hours of silence, so what is added to a conversation later never changes one that has ended.
Each is a node of bookkeeping with the ids of its messages; together.py places it, in the order in which they ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recollect.derive.summaries.extract import Policy
from recollect.derive.summaries.nodes import same, worded
from recollect.derive.tasks.base import Portion, retired
from recollect.index.passages import is_person
from recollect.models.embedding.base import Embedder
from recollect.record import Message, Node, NodeId, NodeKind, Role, from_microseconds, stable_id, to_microseconds
from recollect.store import Task, View, Where
from recollect.store.transfer import every

Exchange = tuple[Message, ...]

_NO_GAP = timedelta(0)


def exchanges(messages: Sequence[Message], policy: Policy) -> list[Exchange]:
    """The messages cut into exchanges, in order. Only what stands before a message decides whether it opens one, and
    nothing from before the exchange does: so the cutting can go on from the beginning of any of them.
    """
    found: list[list[Message]] = []
    for message in messages:
        if found and not _opens(found[-1], message, policy):
            found[-1].append(message)
        else:
            found.append([message])
    return [tuple(exchange) for exchange in found]


def is_answered(exchange: Exchange) -> bool:
    """Whether somebody has replied."""
    first = exchange[0]
    if is_person(first.speaker):
        return any(message.speaker != first.speaker for message in exchange)
    return first.role is Role.USER and any(message.role is not Role.USER for message in exchange)


def silence(before: Message, after: Message) -> timedelta:
    """The time between two messages; none where it is not known, or where the clock went back."""
    if before.timestamp is None or after.timestamp is None:
        return _NO_GAP
    return max(after.timestamp - before.timestamp, _NO_GAP)


def _opens(exchange: Sequence[Message], message: Message, policy: Policy) -> bool:
    if len(exchange) >= policy.longest_exchange or silence(exchange[-1], message) >= policy.session_gap:
        return True
    if message.conversation_id != exchange[-1].conversation_id:
        return True
    first = exchange[0]
    if is_person(first.speaker) and is_person(message.speaker):
        return message.speaker == first.speaker and exchange[-1].speaker != first.speaker
    return message.role is Role.USER


#: The kind of the tasks that summarise short conversations together.
TOGETHER = "together"

#: The state of these nodes. Their key is the month in which they ended, their time when.
SESSION = "session"
_NOTE = stable_id("summaries", "sessions")
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)  # of what says none: nothing tells that it goes on


@dataclass(frozen=True, slots=True)
class Note:
    """Of which months there are sessions, and between which moments any has changed since they were placed."""

    months: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

    @classmethod
    def read(cls, view: View) -> Note:
        """As it was left."""
        for node in view.get(Node, [_NOTE]):
            if node.state == SESSION and not node.erased:
                return cls(tuple(node.body["months"]), node.body["since"], node.body["until"])
        return cls()

    def node(self) -> Node:
        """As it is stored."""
        body = {"months": list(self.months), "since": self.since, "until": self.until}
        return Node(_NOTE, NodeKind.REPORT, state=SESSION, body=body)

    def with_change(self, ended: datetime) -> Note:
        """With a session that is new, another or gone, which ended then."""
        at = to_microseconds(ended) or 0
        since, until = min(at, self.since if self.since is not None else at), max(at, self.until or at)
        return Note(tuple(sorted({*self.months, month(ended)})), since, until)

    def from_(self, session: Node | None) -> Note:
        """As it is when all before this session was placed; None: all that there is."""
        at = to_microseconds(session.valid_from) if session is not None else None
        return Note(self.months, at, None if at is None else max(at, self.until or at))

    def ordered(self, view: View, since: int) -> Iterator[Node]:
        """The sessions that ended at this moment or later, in order."""
        for own in self.months:
            if own >= month(from_microseconds(since) or _NO_TIME):
                where = Where(kinds=(NodeKind.REPORT,), keys=(_key(own),), states=(SESSION,), since=since)
                yield from sorted(every(view, Node, where), key=lambda node: (node.valid_from or _NO_TIME, node.id))

    def before(self, view: View, moment: int) -> Node | None:
        """The last session that ended before this moment; it was placed, if that is where the first change is."""
        for own in reversed(self.months):
            if own <= month(from_microseconds(moment) or _NO_TIME):
                where = Where(
                    kinds=(NodeKind.REPORT,), keys=(_key(own),), states=(SESSION,), until=moment, order="newest"
                )
                if found := view.find(Node, where, limit=1).items:
                    return found[0]
        return None


class Sessions:
    """Keeps the sessions of conversations while these are derived."""

    def __init__(self, view: View, policy: Policy) -> None:
        self._view, self._policy = view, policy
        self._changed: list[datetime] = []
        #: Summaries that were made with sessions which are no more.
        self.left: list[NodeId] = []

    def of(self, portion: Portion, waiting: Sequence[Message]) -> list[Node]:
        """What is to be written of the sessions of a conversation of which this waits; nothing, where it is long."""
        conversation = portion.conversation.id
        where = Where(kinds=(NodeKind.REPORT,), states=(SESSION,), conversation=conversation)
        old = {node.id: node for node in every(self._view, Node, where)}
        fresh = {node.id: node for node in (_node(one, old) for one in _sessions(waiting, self._policy))}
        gone = [node for node in old.values() if node.id not in fresh]
        written = [node for node in fresh.values() if node != old.get(node.id)]
        self.left += [made for node in gone for made in node.body.get("made", ())]
        dirty = [*gone, *(fresh.values() if portion.whole else written)]
        dirty += [old[node.id] for node in written if node.id in old]
        self._changed += [node.valid_from or _NO_TIME for node in dirty]
        return [*written, *map(retired, gone)]

    @cached_property
    def _note(self) -> Note:
        return Note.read(self._view)

    def note(self) -> list[Node]:
        """The note of what has changed, where anything has."""
        note = self._note if self._changed else Note()
        for moment in self._changed:
            note = note.with_change(moment)
        return [note.node()] if self._changed and note != self._note else []

    def tasks(self, now: datetime) -> list[Task]:
        """The task to place them: now, and when the last of them will have ended."""
        ends = [moment + self._policy.session_gap for moment in self._changed]
        at_once = [placing()] if any(end <= now for end in ends) else []
        return at_once + [placing(min(later)) for later in [[end for end in ends if end > now]] if later]


def placing(due: datetime | None = None) -> Task:
    """The task to place sessions; there is one at a time for those that have ended, and one for those that will."""
    return Task(id=stable_id("task", TOGETHER, "later" if due else "now"), kind=TOGETHER, due=due)


def unplaced(session: Node) -> Node:
    """As if it had never been placed."""
    return replace(session, body={name: session.body[name] for name in ("messages", "digest")})


def month(moment: datetime) -> str:
    """As in "2025-03", in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m}"


def _sessions(messages: Sequence[Message], policy: Policy) -> list[list[Message]]:
    found: list[list[Message]] = []
    for message in messages:
        if found and silence(found[-1][-1], message) < policy.session_gap:
            found[-1].append(message)
        else:
            found.append([message])
    return found


def _node(messages: Sequence[Message], old: dict[NodeId, Node]) -> Node:
    """The node of a session. What came of it stays with it until it is placed again."""
    ended = max((message.timestamp for message in messages if message.timestamp), default=_NO_TIME)
    own = stable_id("session", messages[0].id)
    before = old.get(own)
    kept = {} if before is None else {name: before.body[name] for name in ("after", "made") if name in before.body}
    node = Node(
        own,
        NodeKind.REPORT,
        key=_key(month(ended)),
        state=SESSION,
        conversation_id=messages[0].conversation_id,
        valid_from=ended,
        body={"messages": [message.id for message in messages], "digest": worded(messages), **kept},
    )
    return before if before is not None and same(node, before) else node


def _key(own: str) -> str:
    return f"sessions {own}"


# Where a conversation, or several short ones in a row, are cut into the runs that are summarised: at the ends of
# sessions and conversations, and where the topic changes.

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
