"""Runs of messages that a model is asked about once, for facts and for entities: about twenty, known by their words.

A run ends where the talk pauses or, in a talk without pauses, before a message whose id says so; at the latest when it
is full. What follows a change stays as it was: counted from the front, one message less would move all of it. A run is
asked about when it has ended, or when its conversation has been quiet for a while. What was asked about is noted by a
node without words, so that deriving a conversation anew asks nothing twice. What a model answers may hold words of the
whole run and of what stands above it: where any of these change, all of it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from zlib import crc32

import orjson

from recollect.derive.tasks.base import Cursor, ModelWork, Portion, Setting, cursor_id
from recollect.derive.tasks.queue import CONVERSATION, is_late
from recollect.models.language.base import LanguageModel, Request, estimated_tokens, price, total_cost
from recollect.models.language.budget import Estimate, Metered, estimate, within
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Material, transcript
from recollect.record import Conversation, Kind, Message, Metadata, Node, NodeId, NodeKind, stable_id
from recollect.store import Space, Task, View, Where
from recollect.store.transfer import every

#: About how many messages are read together.
RUN = 20

_SHORTEST, _LONGEST = 12, 28
_ENDS = 8  # one of so many ids ends a run

_QUIET = timedelta(minutes=30)
_ABOVE = 2  # messages of context
_ASKED, _PENDING, _OVER = "asked", "pending", "above"


@dataclass(frozen=True, slots=True)
class MessageRun:
    """The messages that are asked about, and the few that stand above them, to understand them by."""

    messages: tuple[Message, ...]
    above: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs that one kind of task is about. `kind` is also the name of the prompt, and of the deriver that puts the
    tasks; a run without a message that is `worth` asking about is left out.
    """

    kind: str
    worth: Callable[[Message], bool] = lambda _: True

    def id(self, run: MessageRun) -> NodeId:
        """The same for the same messages in the same words below the same words, under the same prompt."""
        from recollect.models.language.prompts import prompt

        words = (part for m in (*run.above, *run.messages) for part in (m.id, m.content))
        return stable_id(f"{self.kind} run", prompt(self.kind).version, len(run.above), *words)

    def prefixes(self, messages: Sequence[Message]) -> Iterator[NodeId]:
        """The ids of all runs of a conversation, and of what they were while they grew."""
        for start, end in _cut(messages):
            run, above = tuple(messages[start:end]), tuple(messages[max(0, start - _ABOVE) : start])
            yield from (self.id(MessageRun(run[: length + 1], above)) for length in range(len(run)))

    def wished(self, view: View, portion: Portion, setting: Setting) -> tuple[list[Task], Metadata]:
        """The tasks for the runs of a portion, and what the deriver has to find in the state of the next one: the
        messages of the run that is still open, and those above it.
        """
        waiting = [NodeId(i) for i in portion.state.get(_PENDING, ())]
        above = [NodeId(i) for i in portion.state.get(_OVER, ())]
        over = view.get(Message, above)
        messages = [*view.get(Message, waiting), *portion.messages]
        told, first = [*over, *messages], len(over)
        cut = [
            MessageRun(tuple(messages[start:end]), tuple(told[max(0, first + start - _ABOVE) : first + start]))
            for start, end in _cut(messages)
        ]
        last = cut[-1] if cut and len(cut[-1].messages) < _LONGEST else MessageRun((), tuple(told[-_ABOVE:]))
        pending = {_PENDING: [m.id for m in last.messages], _OVER: [m.id for m in last.above]}
        if setting.model is None:
            return [], pending
        runs = {self.id(run): run for run in cut if any(map(self.worth, run.messages))}
        asked = {node.id for node in view.get(Node, list(runs)) if node.state == _ASKED}
        return [self._task(own, run, run is last) for own, run in runs.items() if own not in asked], pending

    def wanted(self, view: View, task: Task) -> MessageRun | None:
        """The run; None where it is not as it was when the task was put, or where it was open and grew on."""
        payload = orjson.loads(task.payload)
        ids, above = ([NodeId(i) for i in payload.get(name, ())] for name in ("messages", "above"))
        living = [m for m in view.get(Message, [*above, *ids]) if not m.deleted and not m.erased and m.active]
        run = MessageRun(tuple(living[len(above) :]), tuple(living[: len(above)]))
        if len(living) != len(above) + len(ids) or stable_id("task", self.id(run)) != task.id:
            return None
        if payload["open"]:
            nodes = view.get(Node, [cursor_id(run.messages[0].conversation_id)])
            cursor = Cursor.read(nodes[0]) if nodes else None
            if cursor is None or list(cursor.states.get(self.kind, {}).get(_PENDING, ())) != ids:
                return None
        return run

    def asked(self, run: MessageRun) -> Node:
        """The note that this run was asked about."""
        return Node(self.id(run), NodeKind.REPORT, state=_ASKED, conversation_id=run.messages[0].conversation_id)

    def _task(self, own: NodeId, run: MessageRun, is_open: bool) -> Task:
        """Due at once where the run has ended, else when the conversation has been quiet."""
        last = max((m.timestamp for m in run.messages if m.timestamp), default=None)
        ids = {"messages": [m.id for m in run.messages], "above": [m.id for m in run.above]}
        return Task(
            id=stable_id("task", own),
            kind=self.kind,
            subject=run.messages[0].conversation_id,
            payload=orjson.dumps({**ids, "open": is_open}),
            due=last + _QUIET if is_open and last else None,
        )


def material(view: View, run: MessageRun) -> Material:
    """A run as a model is given it, with what stands above it."""
    conversations = view.get(Conversation, [run.messages[0].conversation_id])
    return transcript(run.messages, before=run.above, title=conversations[0].title if conversations else "")


def _cut(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where runs begin and end. The last one may go on."""
    start = 0
    for at in range(1, len(messages)):
        length = at - start
        if length == _LONGEST or (length >= _SHORTEST and _ends(messages[at - 1], messages[at])):
            yield start, at
            start = at
    if messages:
        yield start, len(messages)


def _ends(before: Message, after: Message) -> bool:
    """Whether a run may end between two messages: what they alone tell."""
    if before.timestamp and after.timestamp and after.timestamp - before.timestamp >= _QUIET:
        return True
    return crc32(after.id.encode()) % _ENDS == 0


# What a backlog will cost, told before it is worked off.

_ALL = 1_000_000_000
_TACTICAL = 16  # messages of a tactical summary, about: eight exchanges
_LEAST_TACTICAL = 20  # messages from which there are any
_L1_IN_L2 = 3
_LEAST = 6  # messages of a conversation that is summarised
_OF_A_PERIOD = 600  # tokens from which its summary is made, about


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for a model: `requests` that are due, `messages` of `conversations` that were not gone through yet
    (or only without a model), and what all of it will take.
    """

    requests: int
    conversations: int
    messages: int
    estimate: Estimate


def backlogs(spaces: Sequence[Space], works: Sequence[ModelWork], model: LanguageModel) -> Backlog:
    """What waits in several namespaces together."""
    parts = [backlog(space, works, within(model, space.namespace)) for space in spaces]
    days = [part.estimate.days for part in parts if part.estimate.days is not None]
    together = Estimate(
        sum(part.estimate.calls for part in parts),
        sum(part.estimate.input_tokens for part in parts),
        sum(part.estimate.output_tokens for part in parts),
        total_cost(part.estimate.cost for part in parts),
        sum(days) or None,  # each namespace rounds up: rather too many
    )
    return Backlog(
        sum(part.requests for part in parts),
        sum(part.conversations for part in parts),
        sum(part.messages for part in parts),
        together,
    )


def backlog(space: Space, works: Sequence[ModelWork], model: LanguageModel) -> Backlog:
    """What waits in a namespace, and what it will take of this model; asks nothing and changes nothing."""
    by_kind = {work.kind: work for work in works}
    with space.view() as view:
        tasks = [task for state in ("due", "leased") for task, _ in view.tasks(state, _ALL)]
        due = list(_requests(view, tasks, by_kind))
        late = is_late(view)
        waiting = [task.subject for task in tasks if task.kind == CONVERSATION and task.subject is not None]
        if late:
            waiting = [conversation.id for conversation in every(view, Conversation, Where(deleted=False))]
        sizes = [_size(view, conversation_id, whole=late) for conversation_id in waiting]
    to_come = [future for size in sizes for future in _to_come(size.messages, size.tokens)]
    short = [size for size in sizes if size.messages < _LEAST_TACTICAL]  # which are summarised together
    to_come += _levels(sum(size.messages for size in short), sum(size.tokens for size in short))
    days = {day for size in sizes for day in size.days}
    periods = days | {(day.isocalendar()[:2]) for day in days} | {(day.year, day.month, 0) for day in days}
    requests = [*due, *to_come, *(_blank("period", _OF_A_PERIOD) for _ in periods)]
    told = model.estimate(requests) if isinstance(model, Metered) else estimate(requests, price(model.name))
    return Backlog(len(due), len(waiting), sum(size.messages for size in sizes), told)


def _requests(view: View, tasks: Sequence[Task], works: dict[str, ModelWork]) -> Iterator[Request]:
    for task in tasks:
        if (work := works.get(task.kind)) and (wanted := work.request(view, task)):
            yield wanted


@dataclass(frozen=True, slots=True)
class _Size:
    """What of a conversation is still to be gone through."""

    messages: int
    tokens: int
    days: frozenset[date]


def _size(view: View, conversation_id: NodeId, *, whole: bool) -> _Size:
    cursor = None if whole else next((Cursor.read(node) for node in view.get(Node, [cursor_id(conversation_id)])), None)
    done = cursor.count if cursor else 0
    found = [
        message
        for message in every(view, Message, Where(conversation=conversation_id, deleted=False))
        if message.kind is Kind.SAID and message.active and message.position >= done
    ]
    tokens = sum(estimated_tokens(message.content) for message in found)
    return _Size(len(found), tokens, frozenset(m.timestamp.date() for m in found if m.timestamp))


def _to_come(messages: int, tokens: int) -> Iterator[Request]:
    """Requests of about the number and the lengths that will come of so many messages of a conversation."""
    runs = -(-messages // RUN)
    for name in ("facts", "entities"):
        yield from [_blank(name, tokens // runs) for _ in range(runs)]
    levels = list(_levels(messages, tokens))
    yield from levels
    if messages >= _LEAST:
        tactical = sum(one.prompt.name == "l1" for one in levels)
        yield _blank("conversation", tactical * _told() if tactical else tokens)


def _levels(messages: int, tokens: int) -> Iterator[Request]:
    """The tactical summaries of so many messages, and the strategic ones of these."""
    tactical = messages // _TACTICAL if messages >= _LEAST_TACTICAL else 0
    yield from [_blank("l1", tokens // tactical) for _ in range(tactical)]
    yield from [_blank("l2", _told() * _L1_IN_L2) for _ in range(tactical // _L1_IN_L2)]


def _told() -> int:
    """The tokens of a tactical summary, about."""
    return request("l1", "").max_tokens // 2


def _blank(name: str, tokens: int) -> Request:
    """A request of a length, without words."""
    return Request(prompt=prompt(name), text="·" * (tokens * 7 // 4), max_tokens=request(name, "").max_tokens)
