"""What a backlog will cost, told before it is worked off.

Tasks for a model are there only when the messages were gone through, and going through them costs nothing. So two
things are told apart: requests that can be written down now, and messages from which requests will come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from recollect.derive.tasks.base import ModelWork
from recollect.derive.tasks.cursor import Cursor, cursor_id
from recollect.derive.tasks.late import is_late
from recollect.derive.tasks.outbox import CONVERSATION
from recollect.derive.tasks.runs import RUN
from recollect.models.language.base import LanguageModel, Request
from recollect.models.language.budget import Estimate, Metered, estimate, within
from recollect.models.language.prices import price
from recollect.models.language.prompts import prompt, request
from recollect.models.language.usage import estimated_tokens, total_cost
from recollect.record import Conversation, Kind, Message, Node, NodeId
from recollect.store import Space, Task, View, Where
from recollect.store.transfer import every

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
