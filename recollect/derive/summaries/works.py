"""Tasks that summarise beyond one conversation: topics, days, weeks and months, and short conversations together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from recollect.derive.summaries.conversations import as_sentences, best_of, strategic, tactical
from recollect.derive.summaries.extract import DEFAULT, Policy, choose, weighed
from recollect.derive.summaries.nodes import (
    COVERS,
    L2,
    PERIOD,
    TOPIC,
    by_message,
    covering,
    extractive,
    gone,
    no_more,
    phrases,
    put,
    renewed,
    spanned,
    still_told,
    told,
    worded,
)
from recollect.derive.summaries.periods import DAY, PERIOD_TASK, Period, better, not_asked, wished
from recollect.derive.summaries.sessions import TOGETHER, Note, placing, segment, unplaced
from recollect.derive.tasks.base import LIVE, Effects, Setting, topic_summary_id
from recollect.derive.tasks.queue import CONVERSATION
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Kind, Message, Node, NodeId, stable_id, to_microseconds
from recollect.store import EdgeKey, Task, View, Where
from recollect.store.transfer import every


def topic_text(messages: Sequence[Message], embedder: Embedder, policy: Policy = DEFAULT) -> str:
    """An extract of what was said about a topic, in order, with dates; "" where nothing can be quoted."""
    sentences = [
        sentence
        for first in range(0, len(messages), _AT_ONCE)
        for sentence in _quoted(messages[first : first + _AT_ONCE], policy, embedder)
    ]
    length = policy.length(sum(len(message.content) for message in messages))
    dates = {message.id: f"{message.timestamp:%Y-%m-%d}" for message in messages if message.timestamp}
    return told([sentences[place] for place in choose(as_sentences(sentences), length)], dates)


def topic_summary(
    topic: NodeId,
    label: str,
    keywords: Sequence[str],
    messages: Sequence[Message],
    setting: Setting,
    embedder: Embedder,
    *,
    old: Node | None = None,
    policy: Policy = DEFAULT,
) -> tuple[Node, list[Edge], list[Task]]:
    """The summary of a topic as a node, with its edges to the messages and, where a model is set, the task for it.

    `topic` is the id of the topic's own node, `old` what this gave for it before: what a model wrote of the very same
    messages is kept. Edges to messages that have left the topic are for the caller to cut.
    """
    digest = worded(messages)
    fresh = extractive(
        topic_summary_id(topic),
        TOPIC,
        still_told(old, digest) or topic_text(messages, embedder, policy),
        digest=digest,
        parts={"label": label, "keywords": list(keywords)},
        now=setting.now,
        span=spanned(message.timestamp for message in messages),
        topic=topic,
        messages=len(messages),
    )
    node = renewed(fresh, old)
    return node, covering(node.id, [message.id for message in messages]), wished([node], setting, policy)


def _quoted(messages: Sequence[Message], policy: Policy, embedder: Embedder) -> list[dict[str, Any]]:
    return best_of(weighed(messages, policy, embedder), messages, policy)


# The work of summarising days that have ended, from what was said, and weeks and months, from their days [4].

_MOST = 2_000  # messages of a day that are read, the newest
_AT_ONCE = 40  # messages whose sentences are compared with each other
_KEPT = 6_000  # characters of sentences that stay in the running


class Periods:
    """Work on the tasks of periods. Done again it gives the same, or what has become of it meanwhile."""

    kind = PERIOD_TASK

    def __init__(self, embedder: Embedder, policy: Policy = DEFAULT) -> None:
        self._embedder, self._policy = embedder, policy

    def group(self, task: Task) -> str:
        """Days, weeks or months: a week is read from its days."""
        return Period.of(task).kind

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The summary of the period, or its end where nothing was said in it any more."""
        period = Period.of(task)
        old = {node.id: node for node in view.get(Node, [period.node_id])}
        if period.kind == DAY:
            fresh, covered = self._day(view, period, setting)
        else:
            fresh, covered = self._longer(view, period, setting)
        edges = covering(period.node_id, covered)
        written = put([fresh], old) if fresh else gone(old.values(), ())
        after = [longer.task() for longer in period.around()] if period.kind == DAY else []
        if written and setting.model is None:
            written += not_asked(view)
        return Effects(
            put=written,
            edges=edges,
            cut=_no_more(view, period.node_id, edges),
            tasks=[*after, *(wished([renewed(fresh, old.get(fresh.id))], setting, self._policy) if fresh else ())],
        )

    def _day(self, view: View, period: Period, setting: Setting) -> tuple[Node | None, list[NodeId]]:
        messages = _said(view, period)
        if not messages:
            return None, []
        sentences: list[dict[str, Any]] = []
        texts: list[str] = []
        for _, own in groupby(messages, key=lambda message: message.conversation_id):
            for some in _portions(list(own)):
                found = weighed(some, self._policy, self._embedder)
                sentences += best_of(found, some, self._policy)
                texts += by_message(found)
        kept = [sentences[place] for place in choose(as_sentences(sentences), _KEPT)]
        characters = sum(len(message.content) for message in messages)
        length = self._policy.length(characters)
        chosen = [kept[place] for place in choose(as_sentences(kept), length)]
        themes = phrases(texts, self._policy.themes)
        node = extractive(
            period.node_id,
            PERIOD,
            told(chosen),
            digest=worded(messages),
            parts={"themes": themes, "highlights": _highlights(chosen, self._policy)},
            now=setting.now,
            span=(period.start, period.end),
            period=period.name,
            messages=len(messages),
            characters=characters,
            extract={"sentences": kept, "themes": themes},
        )
        return node, [message.id for message in messages]

    def _longer(self, view: View, period: Period, setting: Setting) -> tuple[Node | None, list[NodeId]]:
        days = [day for day in view.get(Node, [d.node_id for d in period.days()]) if day.state == "live" and day.text]
        if not days:
            return None, []
        dates = {
            one["message"]: f"{day.valid_from:%Y-%m-%d}" for day in days for one in day.body["extract"]["sentences"]
        }
        characters = sum(int(day.body["characters"]) for day in days)
        sentences = [one for day in days for one in day.body["extract"]["sentences"]]
        chosen = [sentences[place] for place in choose(as_sentences(sentences), self._policy.length(characters))]
        held: dict[str, int] = {}
        for day in days:
            for theme in day.body["extract"]["themes"]:
                held[theme] = held.get(theme, 0) + 1
        themes = sorted(held, key=lambda theme: -held[theme])[: self._policy.themes]
        node = extractive(
            period.node_id,
            PERIOD,
            told(chosen, dates),
            digest=stable_id(*(part for day in days for part in (day.id, day.body["digest"]))),
            parts={"themes": themes, "highlights": _highlights(chosen, self._policy)},
            now=setting.now,
            span=(period.start, period.end),
            period=period.name,
            messages=sum(int(day.body["messages"]) for day in days),
            characters=characters,
        )
        return node, [day.id for day in days]


def _said(view: View, period: Period) -> list[Message]:
    """What was said in the period and counts, by conversation, in order."""
    where = Where(
        kinds=(Kind.SAID,),
        since=to_microseconds(period.start),
        until=to_microseconds(period.end),
        deleted=False,
        order="newest",
    )
    found: list[Message] = []
    for message in every(view, Message, where):
        if message.kind is Kind.SAID and message.active and not message.erased:
            found.append(message)
        if len(found) == _MOST:
            break
    begun: dict[NodeId, tuple[int, NodeId]] = {}
    for message in reversed(found):
        begun.setdefault(message.conversation_id, (to_microseconds(message.timestamp) or 0, message.conversation_id))
    return sorted(found, key=lambda message: (begun[message.conversation_id], message.position))


def _portions(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    for first in range(0, len(messages), _AT_ONCE):
        yield messages[first : first + _AT_ONCE]


def _highlights(sentences: Sequence[dict[str, object]], policy: Policy) -> list[str]:
    """The weightiest sentences, in order."""
    best = sorted(range(len(sentences)), key=lambda place: (-float(str(sentences[place]["worth"])), place))
    return [str(sentences[place]["text"]) for place in sorted(best[: policy.of_each])]


def _no_more(view: View, source: NodeId, kept: Sequence[Edge]) -> list[EdgeKey]:
    staying = {edge.target_id for edge in kept}
    there = view.edges([source], (COVERS,), "out", 10 * _MOST)
    return [edge.key for edge in there if edge.target_id not in staying]


# Short conversations summarised together [1]: their sessions are cut into runs as one long conversation would be.

_SESSIONS_AT_ONCE = 200  # sessions in one change
_OVER = 30  # sessions: as many as a strategic summary can reach over
_PILE = 16  # conversations that wait: they are gone through first
_MANY = 10_000


@dataclass(slots=True)
class _Fold:
    """Where it stands, and what it has made. `new` are messages behind all changes, and tactical summaries of these."""

    waiting: tuple[Message, ...]
    tactical: list[Node]
    made: list[tuple[Node, list[NodeId]]] = field(default_factory=list)  # with what each covers
    made_before: list[NodeId] = field(default_factory=list)
    carried: set[NodeId] = field(default_factory=set)  # tactical summaries from before that a model has written
    sessions: list[Node] = field(default_factory=list)
    new: set[NodeId] = field(default_factory=set)

    @classmethod
    def behind(cls, view: View, session: Node | None) -> _Fold | None:
        """Behind a session that was placed; None where something of it has changed, and its conversation is still to
        be derived: that puts the task again.
        """
        if session is None:
            return cls((), [])
        after = session.body["after"]
        tactical = view.get(Node, after["tactical"])
        if any(node.erased or node.state != LIVE for node in tactical):
            return None
        written = {node.id for node in tactical if not node.body["extractive"]}
        return cls(tuple(_counting(view, after["waiting"])), tactical, carried=written)

    def after(self) -> dict[str, Any]:
        """What is left for the next session."""
        return {"waiting": [one.id for one in self.waiting], "tactical": [one.id for one in self.tactical]}

    def is_settled(self, before: Any) -> bool:
        """Whether all that comes would be made as it was made before."""
        after = self.after()
        return before == after and {*after["waiting"], *after["tactical"]} <= self.new


class Together:
    """The work. Done again it gives the same, or what has become of it meanwhile."""

    kind = TOGETHER

    def __init__(self, embedder: Embedder, policy: Policy = DEFAULT) -> None:
        self._embedder, self._policy = embedder, policy

    def group(self, task: Task) -> str:
        """By itself: there is one of them."""
        return ""

    def run(self, view: View, task: Task, setting: Setting) -> Effects:
        """The summaries of sessions that have ended, as far as any has changed."""
        if _is_piled(view, setting.now):
            return Effects(tasks=[placing()])
        note = Note.read(view)
        fold = None if note.since is None else _Fold.behind(view, note.before(view, note.since))
        if fold is None:
            return Effects()
        ended = to_microseconds(setting.now - self._policy.session_gap) or 0
        left = self._go_on(view, fold, note, ended, setting.now)
        going_on = next((one for one in note.ordered(view, ended + 1) if "after" not in one.body), None)
        then = note.from_(left or going_on)
        old = {node.id: node for node in view.get(Node, [node.id for node, _ in fold.made])}
        nodes = put([node for node, _ in fold.made], old)
        late = not_asked(view) if nodes and setting.model is None else []
        away = [one for one in dict.fromkeys(fold.made_before) if one not in old.keys() | {n.id for n, _ in fold.made}]
        tasks = [*self._asked(fold, old, setting), *([placing()] if left else [])]
        if going_on is not None and going_on.valid_from is not None:
            tasks.append(placing(going_on.valid_from + self._policy.session_gap))
        return Effects(
            put=[
                *nodes,
                *late,
                *gone(view.get(Node, away), ()),
                *fold.sessions,
                *([then.node()] if then != note else []),
            ],
            edges=[edge for node, covered in fold.made for edge in covering(node.id, covered)],
            cut=no_more(view, away),
            tasks=tasks,
        )

    def _go_on(self, view: View, fold: _Fold, note: Note, ended: int, now: datetime) -> Node | None:
        """Until nothing is different any more. The session that it has to go on from, where that is far."""
        assert note.since is not None
        assert note.until is not None
        left: Node | None = None
        for number, session in enumerate(self._ended(note.ordered(view, note.since), ended)):
            fold.made_before += session.body.get("made", ())
            if (
                number >= _SESSIONS_AT_ONCE
            ):  # what reaches over what has changed goes at once, and is made again by the next task
                left = left or session
                fold.sessions.append(unplaced(session))
                if number >= _SESSIONS_AT_ONCE + _OVER:
                    break
                continue
            is_new = (to_microseconds(session.valid_from) or 0) > note.until
            made = self._place(view, fold, session, now, is_new=is_new)
            placed = replace(session, body={**session.body, "after": fold.after(), "made": made})
            if placed.body != session.body:
                fold.sessions.append(placed)
            if is_new and fold.is_settled(session.body.get("after")):
                break
        return left

    def _ended(self, sessions: Iterator[Node], ended: int) -> Iterator[Node]:
        """Those that have ended; also by a clock that has gone back since."""
        return (one for one in sessions if "after" in one.body or (to_microseconds(one.valid_from) or 0) <= ended)

    def _place(self, view: View, fold: _Fold, session: Node, now: datetime, *, is_new: bool) -> list[NodeId]:
        """Takes a session in; the ids of the summaries that it completes."""
        messages = _counting(view, session.body["messages"])
        if is_new:
            fold.new |= {message.id for message in messages}
        runs, fold.waiting = segment([*fold.waiting, *messages], self._policy, self._embedder)
        begun = len(fold.made)
        for run in runs:
            covered = [message.id for exchange in run for message in exchange]
            node = tactical(run, None, None, now, self._policy, self._embedder)
            if fold.new.issuperset(covered):
                fold.new.add(node.id)
            fold.made.append((node, covered))
            fold.tactical.append(node)
            if len(fold.tactical) == self._policy.block:
                block = strategic(fold.tactical, None, now, self._policy)
                fold.made.append((block, [one.id for one in fold.tactical]))
                fold.tactical = []
        return [node.id for node, _ in fold.made[begun:]]

    def _asked(self, fold: _Fold, old: Mapping[NodeId, Node], setting: Setting) -> list[Task]:
        """The tasks for a model; those of blocks whose parts it has written already are there at once."""
        current = {node.id: renewed(node, old.get(node.id)) for node, _ in fold.made}
        tasks = wished(list(current.values()), setting, self._policy)
        if setting.model is None:
            return tasks
        written = {own for own, node in current.items() if not node.body["extractive"]} | fold.carried
        return tasks + [
            better(current[node.id])
            for node, covered in fold.made
            if node.key == L2 and current[node.id].body["extractive"] and written.issuperset(covered)
        ]


def _counting(view: View, ids: Sequence[NodeId]) -> list[Message]:
    return [message for message in view.get(Message, ids) if message.active and not message.deleted]


def _is_piled(view: View, now: datetime) -> bool:
    """Whether many conversations are still to be derived: in what order they come makes then no difference."""
    due = (task for task, _ in view.tasks("due", _MANY) if task.kind == CONVERSATION)
    return sum(task.due is None or task.due <= now for task in due) > _PILE
