"""Sessions of short conversations: what waits in those that are too short for a tactical summary of their own.

A session ends with six hours of silence, so what is added to a conversation later never changes one that has ended.
Each is a node of bookkeeping with the ids of its messages; together.py places it, in the order in which they ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property

from recollect.derive.summaries.exchanges import silence
from recollect.derive.summaries.nodes import same, worded
from recollect.derive.summaries.policy import Policy
from recollect.derive.tasks.base import Portion, retired
from recollect.record import Message, Node, NodeId, NodeKind, from_microseconds, stable_id, to_microseconds
from recollect.store import Task, View, Where
from recollect.store.transfer import every

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
