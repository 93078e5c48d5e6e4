"""Several messages that come at once: each is placed as if those before it were written already, then all are written.

Appending one is appending a list of one: there is one way in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from recollect.ingest.branching import BranchPlace, place
from recollect.record import Conversation, Kind, Message, NodeId, ToolCall, Turn
from recollect.store import End, Mark, View

#: A message with the tool calls in it.
Entry = tuple[Message, Sequence[ToolCall]]


@dataclass(frozen=True, slots=True)
class Appended:
    """What is written of messages that were placed. `previous`: what was said before each."""

    conversation: Conversation
    revision: int  # of the conversation before, 0: it begins now
    messages: tuple[Message, ...]
    previous: Mapping[NodeId, Message | None]
    people: bool
    turns: tuple[Turn, ...]
    marks: tuple[Mark, ...]
    revived: bool

    @property
    def left(self) -> list[NodeId]:
        """The messages that were there before, and change their place."""
        return [i for mark in self.marks for i in mark.ids]


def placed_all(view: View, conversation: Conversation, messages: Sequence[Message]) -> Appended:
    """Where new messages go, in order; there is one at least. Raises NotFound for a parent that is not there."""
    pending = _Pending(view)
    placed = [pending.take(place(cast(View, pending), conversation, message)) for message in messages]
    active = {i: on for i, on in pending.active.items() if i not in pending.messages}
    marks = (
        Mark(ids=[i for i, on in active.items() if on], active=True),
        Mark(ids=[i for i, on in active.items() if not on], active=False),
    )
    return Appended(
        conversation=placed[-1].conversation,
        revision=placed[0].revision,
        messages=tuple(pending.messages.values()),
        previous={each.message.id: each.previous for each in placed},
        people=any(each.people for each in placed),
        turns=tuple(pending.turns.values()),
        marks=tuple(mark for mark in marks if mark.ids),
        revived=any(each.revived for each in placed),
    )


@dataclass(slots=True)
class _Pending:
    """A view in which messages are there before they are written: what `place` reads of one."""

    view: View
    messages: dict[NodeId, Message] = field(default_factory=dict)
    turns: dict[NodeId, Turn] = field(default_factory=dict)
    active: dict[NodeId, bool] = field(default_factory=dict)
    known_end: End | None = None

    def take(self, placed: BranchPlace) -> BranchPlace:
        """Counts a message as written, with what that changes."""
        message = placed.message
        self.messages[message.id] = message
        for mark in placed.mark:
            self.active |= dict.fromkeys(mark.ids, bool(mark.active))
            self.messages |= {m.id: self._as_it_will_be(m) for i in mark.ids if (m := self.messages.get(i))}
        self.turns |= {turn.id: turn for turn in placed.turns}
        before = self.known_end
        turns = [*([before.turn] if before and before.turn else []), *placed.turns]
        self.known_end = End(
            conversation=placed.conversation,
            revision=placed.revision,
            message_count=message.position + 1,
            leaf=message,
            turn=max(turns, key=lambda turn: turn.position, default=None),
            named=bool(before and before.named) or bool(message.speaker and message.kind is Kind.SAID),
        )
        return placed

    def end(self, id: NodeId) -> End | None:
        """The growing end of the conversation, those included."""
        if self.known_end is None:
            self.known_end = self.view.end(id)
        return self.known_end

    def get(self, kind: type[Any], ids: Sequence[NodeId]) -> list[Any]:
        """Records as they will be."""
        own: Mapping[NodeId, Any] = self.messages if kind is Message else self.turns if kind is Turn else {}
        stored = self.view.get(kind, [i for i in ids if i not in own])
        found = {**{record.id: self._as_it_will_be(record) for record in stored}, **own}
        return [found[i] for i in ids if i in found]

    def above(self, id: NodeId, most: int) -> list[Message]:
        """What stands above a message, its parent first."""
        found: list[Message] = []
        at: NodeId | None = id
        while at in self.messages and len(found) < most:
            at = self.messages[at].parent_id
            if at in self.messages:
                found.append(self.messages[at])
            elif at is not None:
                found += self.get(Message, [at])
        rest = self.view.above(at, most - len(found)) if at is not None and len(found) < most else []
        return found + [self._as_it_will_be(message) for message in rest]

    def _as_it_will_be(self, record: Any) -> Any:
        if isinstance(record, Message) and record.id in self.active:
            return replace(record, active=self.active[record.id])
        return record
