"""What every form of the index is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

import numpy as np

from recollect.context import result
from recollect.context.relevant import cut, extract_of, first, snippets
from recollect.context.result import PER_ENTRY, ContextPart, fitting, tokens_in, tokens_in_each
from recollect.context.settings import IndexConfig, ToolNames
from recollect.derive.summaries.nodes import phrases
from recollect.derive.topics.reading import Topic, topics_of
from recollect.index.numeric import products
from recollect.models.embedding import Embedder
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import NodeId, from_microseconds, to_microseconds
from recollect.search.recalling import Recalled
from recollect.store import View
from recollect.store.passages import Float

_LINE_TOKENS, _CHARACTERS_PER_TOKEN = 12, 5  # of a line beside its snippet, and of the snippet: about the fewest


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """What an index is made of: what was found and is not shown itself, in order of rank, and the room there is."""

    text: str
    left: Sequence[Recalled]
    found: Sequence[Recalled]  # with those that are shown
    config: IndexConfig
    embedder: Embedder
    now: datetime
    room: int
    tools: ToolNames

    def may_take(self) -> int:
        """How many lines may fit at most: of more no snippet is made."""
        return self.may_take_of(1, 0)

    def may_take_of(self, lines: int, beside: int) -> int:
        """The same of what has so many lines and `beside` them so many tokens."""
        line = _LINE_TOKENS + self.config.snippet_length // _CHARACTERS_PER_TOKEN
        return self.room // (lines * line + beside) + 1

    def snippets(self, found: Sequence[Recalled]) -> list[str]:
        """A line for each."""
        config = self.config
        return snippets(found, config.snippet_strategy, config.snippet_length, self.embedder, self.text)


@dataclass(frozen=True, slots=True)
class FormBlock:
    """Lines that belong together, and the ids that stand in them: all of it is shown, or nothing."""

    lines: tuple[str, ...]
    ids: tuple[NodeId, ...] = ()


def listed(one: Recalled, snippet: str) -> str:
    """As in `- [7Q2KAB9X] 2025-03-14 "We need to implement rate limiting for…"`."""
    return " ".join(part for part in ("-", result.code(one.id), result.day(one.time), f'"{snippet}"') if part)


def headed(heading: str, blocks: Sequence[FormBlock]) -> list[FormBlock]:
    """The same below a heading, which stands there where any of them does."""
    return [FormBlock((heading, *blocks[0].lines), blocks[0].ids), *blocks[1:]] if blocks else []


def in_blocks(batches: Iterable[Sequence[FormBlock]], room: int) -> ContextPart | None:
    """The index of so many blocks, in order, as fit. Of the batches that they come in none is asked for behind one that
    does not fit whole.
    """
    kept: list[FormBlock] = []
    for blocks in batches:
        costs = [cost + PER_ENTRY for cost in tokens_in_each(["\n".join(block.lines) for block in blocks])]
        fits = fitting(costs, room)
        kept += blocks[:fits]
        if fits < len(blocks):
            break
        room -= sum(costs)
    if not kept:
        return None
    text = "\n".join(line for block in kept for line in block.lines)
    ids = tuple(dict.fromkeys(own for block in kept for own in block.ids))
    return ContextPart("index", text, tokens_in(text) + PER_ENTRY, ids)


# Full and snippet [4]: a line for each message that is not shown itself, best first, as far as the budget goes.


def snippet(asked: IndexRequest, view: View) -> ContextPart | None:
    """A line each."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    return in_blocks([lines_of(asked, len(left))], asked.room)


def lines_of(asked: IndexRequest, most: int) -> list[FormBlock]:
    """The lines of the best, below their heading."""
    left = asked.left[:most]
    return _lines(asked, left, asked.snippets(left))


def simple(asked: IndexRequest) -> ContextPart | None:
    """The same of what is at hand already: how messages begin, without looking at anything more [4]."""
    left = asked.left[: asked.may_take()]
    if not left:
        return None
    return in_blocks([_lines(asked, left, [first(one, asked.config.snippet_length) for one in left])], asked.room)


def _lines(asked: IndexRequest, left: Sequence[Recalled], snippets: Sequence[str]) -> list[FormBlock]:
    lines = [FormBlock((listed(one, words),), (one.id,)) for one, words in zip(left, snippets, strict=True)]
    return headed(f"Historical Matches (retrieve with {asked.tools.message}):", lines)


# Clustered [4]: groups of results with their period, a summary and samples, each opened by a call.

HEADING = "Message Clusters:"
_SAMPLES, _GROUP_TOKENS = 2, 40  # tokens of a group beside its samples: about the fewest
_LOOKED_AT, _NAMING = 240, 5  # characters of a message that names its cluster, and how many do
_SUMMARY, _SUMMED = 240, 8  # characters, and of how many messages where no topic has one
_NAMES = 3
_CLUSTERS = 24  # that are described: more never fit
_ALONE = 8  # messages outside of all clusters that have a line of their own behind them


@dataclass(frozen=True, slots=True)
class Group:
    """Results that belong together, in order of rank; `typical` is the first of those that stand for it."""

    members: tuple[Recalled, ...]
    typical: Recalled
    topic: Topic | None = None

    @property
    def opens(self) -> str:
        """What `get_cluster` opens it by: the topic, or its messages, the most typical first."""
        if self.topic:
            return self.topic.id[-result.ENDING :]
        ids = dict.fromkeys(one.id for one in (self.typical, *self.members))
        return result.BETWEEN.join(one[-result.ENDING :] for one in ids)

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """What stands in `opens`."""
        return (self.topic.id,) if self.topic else tuple(one.id for one in self.members)


def clustered(asked: IndexRequest, view: View) -> ContextPart | None:
    """The groups, those with the best results first, and lines for what is in none."""
    found = groups(asked, view)
    if not found:
        return in_blocks([lines_of(asked, asked.may_take())], asked.room) if asked.left else None
    return in_blocks(_batches(asked, found), asked.room)


def _batches(asked: IndexRequest, found: Sequence[Group]) -> Iterator[list[FormBlock]]:
    """The groups, about as many at once as fit, and behind the last of them what is in none."""
    most = asked.may_take_of(_SAMPLES, _GROUP_TOKENS)
    for start in range(0, len(found), most):
        blocks = described(asked, found[start : start + most])
        yield blocks if start else headed(HEADING, blocks)
    grouped = {one.id for group in found for one in group.members}
    alone = [one for one in asked.left if one.id not in grouped][:_ALONE]
    yield lines_of(replace(asked, left=alone), _ALONE)


def groups(asked: IndexRequest, view: View) -> list[Group]:
    """What of the results belongs together, the group with the best of them first."""
    least, found = asked.config.min_cluster_size, list(asked.found)
    by_topic = _by_topic(view, found, least)
    taken = {one.id for group in by_topic for one in group.members}
    others = [one for one in found if one.id not in taken and one.vector is not None and one.conversation_id]
    rank = {one.id: place for place, one in enumerate(found)}
    named: dict[str, Group] = {}  # what has the same name is one cluster
    for group in _by_vectors(others, asked.config.clustering_threshold, least):
        other = named.get(name := label(group))
        members = (*other.members, *group.members) if other else group.members
        named[name] = replace(other or group, members=tuple(sorted(members, key=lambda one: rank[one.id])))
    together = [*by_topic, *named.values()]
    together.sort(key=lambda group: rank[group.members[0].id])
    return together[:_CLUSTERS]


def described(asked: IndexRequest, found: Sequence[Group]) -> list[FormBlock]:
    """A block for each group."""
    shown = [_samples(group) for group in found]
    lines = iter(asked.snippets([one for some in shown for one in some]))
    blocks = []
    for group, some in zip(found, shown, strict=True):
        samples = [next(lines) for _ in some]
        blocks.append(_block(group, some, samples, asked.tools))
    return blocks


def _block(group: Group, some: Sequence[Recalled], samples: Sequence[str], tools: ToolNames) -> FormBlock:
    topic = group.topic
    count = topic.messages if topic else len(group.members)
    lines = [f'Cluster: "{label(group)}" ({count} messages)']
    if period := _period(group):
        lines.append(f"Period: {period}")
    lines.append(f"Summary: {_summary(group)}")
    lines += [f'- {result.code(one.id)} "{words}"' for one, words in zip(some, samples, strict=True)]
    lines.append(f"Retrieve with: {tools.alike(group.opens, label(group))}")
    return FormBlock(tuple(lines), tuple(dict.fromkeys([*group.ids, *(one.id for one in some)])))


def _samples(group: Group) -> list[Recalled]:
    """The best of them, and the most typical one."""
    return list({one.id: one for one in (*group.members[: _SAMPLES - 1], group.typical, *group.members)}.values())[
        :_SAMPLES
    ]


def label(group: Group) -> str:
    """What it is called: as its topic, or by what its best messages come back to."""
    if group.topic:
        return result.shown(group.topic.label)
    named = phrases([one.passage[:_LOOKED_AT] for one in group.members[:_NAMING]], _NAMES)
    return result.shown(", ".join(named) or group.typical.title or "messages alike")


def _summary(group: Group) -> str:
    """That of its topic, else what is worth most of its best messages."""
    if group.topic and group.topic.summary:
        return cut(group.topic.summary, _SUMMARY)
    return extract_of(group.members[:_SUMMED], _SUMMARY, StaticEmbedder())


def _period(group: Group) -> str:
    if group.topic:
        return result.span(group.topic.first, group.topic.last)
    times = [time for one in group.members if (time := to_microseconds(one.time)) is not None]
    return result.span(from_microseconds(min(times)), from_microseconds(max(times))) if times else ""


def _by_topic(view: View, found: Sequence[Recalled], least: int) -> list[Group]:
    """The topics that enough of the results belong to."""
    topics: Mapping[NodeId, Topic] = topics_of(view, [one.id for one in found])
    members: dict[NodeId, list[Recalled]] = {}
    known: dict[NodeId, Topic] = {}
    for one in found:
        topic = topics.get(one.id)
        if topic is not None:
            members.setdefault(topic.id, []).append(one)
            known[topic.id] = topic
    return [Group(tuple(own), own[0], known[topic]) for topic, own in members.items() if len(own) >= least]


def _by_vectors(found: Sequence[Recalled], threshold: float, least: int) -> list[Group]:
    """The best result gathers the nearest of those that are nearer to it than pairs of results usually are, and so on
    with what is left.
    """
    if len(found) < least:
        return []
    rows = np.stack([one.vector for one in found if one.vector is not None]).astype(np.float32)
    likeness = _likeness(rows)
    near = float(np.quantile(likeness[np.triu_indices(len(found), 1)], threshold))
    free = np.ones(len(found), bool)
    made: list[Group] = []
    for leader in range(len(found)):
        if not free[leader]:
            continue
        own = np.flatnonzero(free & (likeness[leader] >= near))
        if len(own) < least:
            continue
        free[own] = False
        typical = own[int(likeness[np.ix_(own, own)].mean(axis=1).argmax())]
        made.append(Group(tuple(found[at] for at in own.tolist()), found[int(typical)]))
    return made


def _likeness(rows: Float) -> Float:
    """The cosines of all pairs, without what all have in common: of what answers one question everything is alike."""
    own = rows - rows.mean(axis=0)
    own /= np.maximum(np.linalg.norm(own, axis=1, keepdims=True), np.float32(1e-6))
    likeness = products(own)
    np.fill_diagonal(likeness, 1.0)
    return likeness


# Hierarchical [4]: how much was said when, what of it concerns the question by topic, and how to go on from there.

TEMPORAL, TOPICS, TALKS, NAVIGATION = (
    "Temporal Overview:",
    "Topic Overview (of what may answer):",
    "Conversations with most of it:",
    "Navigation:",
)
_WAYS = ("- {0.period}('2024-03'), also a day, a year, 'this_week'", "- {0.search}({0.searching})")
_EPOCH = date(1970, 1, 1)
_MONTHS, _TOPICS, _TALKS, _LINES = 12, 8, 6, 16
_WIDE = 600  # tokens from which on there is room for months


def hierarchical(asked: IndexRequest, view: View) -> ContextPart | None:
    """The overview, and lines of the best messages where room is left."""
    blocks = [
        FormBlock((TEMPORAL, *temporal(view.vocabulary().days(), asked.now, months=asked.room >= _WIDE))),
        *_topics(groups(asked, view)[:_TOPICS], asked.tools),
        *_talks(asked),
    ]
    blocks.append(FormBlock((NAVIGATION, *(way.format(asked.tools) for way in _WAYS))))
    room = asked.room - sum(cost + PER_ENTRY for cost in tokens_in_each(["\n".join(b.lines) for b in blocks]))
    lines = min(replace(asked, room=room).may_take(), _LINES) if room > 0 else 0
    return in_blocks([[*blocks, *lines_of(asked, lines)]], asked.room)


def temporal(days: Mapping[int, int], now: datetime, *, months: bool = True) -> list[str]:
    """How many messages were said today, this week and this month; and before, by months for a year, then by years."""
    today = (now.date() - _EPOCH).days
    month = now.date().replace(day=1)
    begins = (("Today", today), ("This Week", today - now.weekday()), ("This Month", (month - _EPOCH).days))
    lines = [(name, sum(n for day, n in days.items() if since <= day <= today)) for name, since in begins]
    by_month = _earlier(month, _MONTHS if months else 0)
    earlier: dict[str, int] = {}
    first, last = (by_month - _EPOCH).days, (month - _EPOCH).days
    for day, count in sorted(days.items(), reverse=True):
        if not 0 <= day < last:
            continue
        name = _month_of(day)[: 7 if day >= first else 4]
        if day < first and name == str(by_month.year):
            name = f"Earlier in {name}"
        earlier[name] = earlier.get(name, 0) + count
    lines += [*earlier.items(), ("Without a date", days.get(-1, 0))]
    return [f"{name}: {count:,} messages" for name, count in lines if count]


@lru_cache(maxsize=20_000)
def _month_of(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()[:7]


def _earlier(month: date, months: int) -> date:
    place = month.year * 12 + month.month - 1 - months
    return date(place // 12, place % 12 + 1, 1)


def _topics(found: list[Group], tools: ToolNames) -> list[FormBlock]:
    """A line for each topic that results belong to, with what opens it."""
    blocks = []
    for group in found:
        topic = group.topic
        if topic is not None:
            handle, period = (
                f"{tools.topic}('{result.shown(topic.label)}')",
                result.span(topic.first, topic.last),
            )
            count = topic.messages
        else:
            handle, period = tools.alike(group.opens, label(group), "'"), result.day(group.typical.time)
            count = len(group.members)
        line = f'"{label(group)}": {count:,} messages, {period}: {handle}'
        blocks.append(FormBlock((line,), group.ids))
    return headed(TOPICS, blocks)


def _talks(asked: IndexRequest) -> list[FormBlock]:
    """The conversations that most results are in, each with the best of them."""
    best: dict[NodeId, list[int]] = {}
    for place, one in enumerate(asked.found):
        if one.conversation_id:
            best.setdefault(one.conversation_id, []).append(place)
    order = sorted(best, key=lambda talk: (-len(best[talk]), best[talk][0]))[:_TALKS]
    lines = []
    for talk in order:
        first = asked.found[best[talk][0]]
        if len(best[talk]) < 2:
            continue
        title = result.shown(" ".join(first.title.split())[:60]) or "(no title)"
        many = f"{len(best[talk])} results"
        opened = f"{asked.tools.around}('{first.id[-result.ENDING :]}')"
        lines.append(FormBlock((f"{title} ({result.day(first.time)}): {many}: {opened}",), (talk, first.id)))
    return headed(TALKS, lines)
