"""Days, weeks and months as periods, in UTC, and the tasks that ask for their summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import orjson

from recollect.derive.summaries.extract import Policy
from recollect.derive.summaries.nodes import CONVERSATION, COVERS, L1, L2, PERIOD, TOPIC, conversation_summary_id
from recollect.derive.tasks.base import LIVE, Setting
from recollect.record import Node, NodeId, NodeKind, stable_id
from recollect.store import Change, Space, Task, View, Where
from recollect.store.transfer import every

#: The kind of the tasks; they are due when the period has ended.
PERIOD_TASK = "period"

DAY, WEEK, MONTH = "day", "week", "month"


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A day, the week from a Monday on, or the month from its first day on."""

    kind: str
    first: date

    @property
    def name(self) -> str:
        """As in "day 2025-03-01", "week 2025-W09", "month 2025-03"."""
        if self.kind == WEEK:
            year, week, _ = self.first.isocalendar()
            return f"week {year}-W{week:02}"
        return f"{self.kind} {self.first:%Y-%m-%d}" if self.kind == DAY else f"month {self.first:%Y-%m}"

    @property
    def node_id(self) -> NodeId:
        """The id of its summary."""
        return stable_id("summary", "period", self.kind, self.first.isoformat())

    @property
    def start(self) -> datetime:
        """Its first moment."""
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        """The first moment after it."""
        if self.kind == MONTH:
            return (self.start + timedelta(days=31)).replace(day=1)
        return self.start + timedelta(days=7 if self.kind == WEEK else 1)

    def days(self) -> list[Period]:
        """The days in it."""
        return [Period(DAY, self.first + timedelta(days=n)) for n in range((self.end - self.start).days)]

    def around(self) -> list[Period]:
        """The week and the month that a day lies in."""
        return [
            Period(WEEK, self.first - timedelta(days=self.first.weekday())),
            Period(MONTH, self.first.replace(day=1)),
        ]

    def task(self) -> Task:
        """The task to summarise it when it has ended. It has no subject: erasing the summary would take it away."""
        payload = f"{self.kind} {self.first.isoformat()}".encode()
        return Task(id=stable_id("task", self.node_id), kind=PERIOD_TASK, payload=payload, due=self.end)

    @classmethod
    def of(cls, task: Task) -> Period:
        """The period of a task."""
        kind, first = task.payload.decode().split()
        return cls(kind, date.fromisoformat(first))


def days_of(moments: Iterable[datetime | None]) -> list[Period]:
    """The days of these moments, each once, in order."""
    return sorted({Period(DAY, moment.astimezone(UTC).date()) for moment in moments if moment is not None})


# The tasks that ask a model for a better summary: when they are put, and what is left over when a model comes late.

#: The kind of these tasks.
SUMMARY_TASK = "summary"

_ASKED = stable_id("summaries", "asked")
_AT_ONCE = 500  # tasks in one change
_MANY = 10_000


def wished(nodes: Sequence[Node], setting: Setting, policy: Policy) -> list[Task]:
    """The tasks for new extracts, where a model is set. Those of a block wait until its parts are written by a model, a
    conversation until it has been quiet for a while, so that not every message of it is paid for.
    """
    if setting.model is None:
        return []
    return [
        better(node, _when_quiet(node, setting, policy) if node.key == CONVERSATION else None)
        for node in nodes
        if node.state == LIVE and node.body["extractive"] and node.key != L2
    ]


def better(node: Node, due: datetime | None = None) -> Task:
    """The task to ask a model about what a node covers. Its id says which words and which version of the prompt."""
    from recollect.models.language.prompts import prompt

    asked = prompt(prompt_name(node)).id
    digest = str(node.body["digest"])
    payload = orjson.dumps({"digest": digest, "prompt": asked})
    return Task(
        id=stable_id("task", SUMMARY_TASK, node.id, digest, asked),
        kind=SUMMARY_TASK,
        subject=node.id,
        payload=payload,
        due=due,
    )


def prompt_name(node: Node) -> str:
    """The prompt for a summary of this kind; a branch is asked about as a conversation is."""
    return CONVERSATION if node.key == "segment" else node.key


def backlog(view: View) -> Iterator[Task]:
    """The tasks for all summaries that rules have made so far: what a model would have to do that is set only now."""
    for node in every(view, Node, Where(kinds=(NodeKind.SUMMARY,), states=(LIVE,), deleted=False)):
        if node.body.get("extractive") and (node.key != L2 or is_ripe(view, node)):
            yield better(node)


def ask_for_all(space: Space) -> int:
    """Puts the tasks of the backlog for a model that is set only now; once, until extracts are made without one again.
    Returns how many.
    """
    from recollect.models.language.prompts import prompt

    prompts = {name: prompt(name).id for name in (L1, L2, CONVERSATION, PERIOD, TOPIC)}
    with space.view() as view:
        known = view.get(Node, [_ASKED])
        if known and known[0].body.get("prompts") == prompts:
            return 0
        tasks = list(backlog(view))
    for first in range(0, len(tasks), _AT_ONCE):
        space.write(Change(tasks=tasks[first : first + _AT_ONCE], begins=False))
    space.write(Change(put=[_asked(prompts)], revive=True, begins=False))
    return len(tasks)


def not_asked(view: View) -> list[Node]:
    """What notes that extracts were made without a model, where it was noted that all are asked for."""
    return [_asked({}) for known in view.get(Node, [_ASKED]) if known.body.get("prompts")]


def _asked(prompts: dict[str, str]) -> Node:
    return Node(_ASKED, NodeKind.REPORT, state="enrolled", body={"prompts": prompts})


def is_ripe(view: View, node: Node, settled: NodeId | None = None) -> bool:
    """Whether a model has written all the summaries that this one is made of, but for those that were given up and the
    one that is `settled` at this moment.
    """
    waiting = {
        better(part).id
        for part in _made_of(view, node)
        if part.id != settled and part.state == LIVE and part.body["extractive"]
    }
    return not waiting or waiting <= {task.id for task, _ in view.tasks("dead", _MANY)}


def ripened(view: View, settled: Node, setting: Setting, policy: Policy) -> list[Task]:
    """The tasks for the summaries that waited for this one, and for no other."""
    return [
        better(node, _when_quiet(node, setting, policy) if node.key == CONVERSATION else None)
        for node in view.get(Node, _above(view, settled))
        if node.state == LIVE and node.body["extractive"] and is_ripe(view, node, settled.id)
    ]


def _made_of(view: View, node: Node) -> list[Node]:
    """The summaries that this one is made of; none where it is made of messages."""
    if node.key == CONVERSATION:
        where = Where(kinds=(NodeKind.SUMMARY,), keys=(L1, L2), states=(LIVE,), conversation=node.conversation_id)
        return list(every(view, Node, where))
    if node.key == L2 or (node.key == PERIOD and not str(node.body["period"]).startswith(DAY)):
        return view.get(Node, [edge.target_id for edge in view.edges([node.id], (COVERS,), "out")])
    return []


def _above(view: View, node: Node) -> list[NodeId]:
    """The ids of the summaries that may be made of this one."""
    above = [edge.source_id for edge in view.edges([node.id], (COVERS,), "in")]
    if node.key in (L1, L2) and node.conversation_id is not None:
        above.append(conversation_summary_id(node.conversation_id))
    return above


def _when_quiet(node: Node, setting: Setting, policy: Policy) -> datetime | None:
    if node.valid_to is None:
        return None
    quiet = node.valid_to + policy.quiet
    return quiet if quiet > setting.now else None
