"""The work of summarising days that have ended, from what was said, and weeks and months, from their days [4]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from recollect.derive.summaries.conversations import as_sentences, best_of
from recollect.derive.summaries.extract import choose, weighed
from recollect.derive.summaries.nodes import COVERS, PERIOD, covering, extractive, gone, put, renewed, told, worded
from recollect.derive.summaries.parts import by_message
from recollect.derive.summaries.periods import DAY, PERIOD_TASK, Period
from recollect.derive.summaries.phrases import phrases
from recollect.derive.summaries.policy import DEFAULT, Policy
from recollect.derive.summaries.tasks import not_asked, wished
from recollect.derive.tasks.base import Effects, Setting
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Kind, Message, Node, NodeId, stable_id, to_microseconds
from recollect.store import EdgeKey, Task, View, Where
from recollect.store.transfer import every

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
