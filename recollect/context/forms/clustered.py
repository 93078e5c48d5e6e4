"""Clustered [4]: groups of results with their period, a summary and samples, each opened by a call.

A group is a topic, where the background has found topics and enough results belong to it. The rest is clustered here,
by the vectors that search has read: a cluster is named by its key phrases and opened by the codes of its messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recollect.context import wording
from recollect.context.choices import ToolNames
from recollect.context.forms.base import FormBlock, IndexRequest, headed, in_blocks
from recollect.context.forms.snippet import lines_of
from recollect.context.result import ContextPart
from recollect.context.snippets import cut, extract_of
from recollect.derive.summaries.nodes import phrases
from recollect.derive.topics.reading import Topic, topics_of
from recollect.index.numeric import products
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import NodeId, from_microseconds, to_microseconds
from recollect.search.recalling import Recalled
from recollect.store import View
from recollect.store.passages import Float

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
            return self.topic.id[-wording.ENDING :]
        ids = dict.fromkeys(one.id for one in (self.typical, *self.members))
        return wording.BETWEEN.join(one[-wording.ENDING :] for one in ids)

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
    lines += [f'- {wording.code(one.id)} "{words}"' for one, words in zip(some, samples, strict=True)]
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
        return wording.shown(group.topic.label)
    named = phrases([one.passage[:_LOOKED_AT] for one in group.members[:_NAMING]], _NAMES)
    return wording.shown(", ".join(named) or group.typical.title or "messages alike")


def _summary(group: Group) -> str:
    """That of its topic, else what is worth most of its best messages."""
    if group.topic and group.topic.summary:
        return cut(group.topic.summary, _SUMMARY)
    return extract_of(group.members[:_SUMMED], _SUMMARY, StaticEmbedder())


def _period(group: Group) -> str:
    if group.topic:
        return wording.span(group.topic.first, group.topic.last)
    times = [time for one in group.members if (time := to_microseconds(one.time)) is not None]
    return wording.span(from_microseconds(min(times)), from_microseconds(max(times))) if times else ""


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
