"""What is known besides lists of facts, entities, topics and summaries: entities and how they are linked, segments, the
memory by time; and the correction of facts, rules and entities by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from recollect.memory.handle import Handle, writes
from recollect.record import Conversation, Kind, Message, Node, NodeId
from recollect.runtime.arguments import checked_arguments
from recollect.store import View, Where

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Adder, Entity
    from recollect.derive.facts.fact import Fact
    from recollect.derive.graph.reader import Graph, Paths, Relation
    from recollect.derive.topics.reading import Topic, TopicSegment


@checked_arguments
class Knowledge:
    """What is known, and its correction by hand: what you say outranks what was derived, and survives a rebuild."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    # --- facts and rules -------------------------------------------------------------------------------------------

    def rules(self, *, offered: bool = False) -> list[Fact]:
        """What you want of every answer, in the order in which it was told: it stands first in every context. They are
        corrected like facts, by their ids.

        With `offered` what messages or models say that may be a rule, and that no prompt holds: `pin_fact` confirms it,
        `forget_fact` dismisses it.
        """
        from recollect.derive.facts.fact import facts_of
        from recollect.derive.facts.instructions import offered_in, rules_in

        with self.handle.space.view() as view:
            return facts_of(view, offered_in(view) if offered else rules_in(view))

    @writes
    def add_rule(self, text: str, *, confirmed: bool = True, said_by: str = "user") -> Fact:
        """Keeps what you want of every answer ("use metric units"); the same again is the same. One that you did not
        say yourself is not `confirmed`: it is offered, and counts once `pin_fact` confirms it.

        Raises InvalidInput for more than 500 characters, or where all rules together have more than 800 tokens.
        """
        from recollect.derive.facts.instructions import told_rule

        told = told_rule(text, is_confirmed=confirmed, said_by=said_by, now=self.handle.clock(), id=self.handle.ids())
        return self.handle.corrections.store_rule(self.handle.as_left(told))

    def resolve_fact(self, name: str) -> str:
        """The id of the fact that a person means by an id or the end of one, be it forgotten or not. Raises NotFound,
        InvalidInput where several are meant.
        """
        from recollect.derive.facts.correct import resolve_fact

        with self.handle.space.view() as view:
            return resolve_fact(view, name)

    @writes
    def edit_fact(self, id: str, content: str | None = None, *, value: str | None = None) -> Fact:
        """Corrects a fact: what you say outranks what was derived, and survives a rebuild. Raises NotFound."""
        fact = self.handle.corrections.edit(id, self.handle.as_left(content), self.handle.as_left(value))
        self._add_ends(NodeId(fact.id))
        return fact

    @writes
    def pin_fact(self, id: str, *, pinned: bool = True) -> Fact:
        """Holds on to a fact: nothing derived replaces it; with `pinned` false lets it go. Raises NotFound."""
        return self.handle.corrections.pin(id, pinned=pinned)

    @writes
    def merge_facts(self, keep: str, *others: str) -> Fact:
        """Makes one fact of several that say the same. Raises NotFound, InvalidInput."""
        return self.handle.corrections.merge(keep, others)

    @writes
    def forget_fact(self, id: str) -> str:
        """Removes a fact; it is not drawn from the same messages again. Returns its id, for `undo_fact`."""
        return self.handle.corrections.forget(id)

    @writes
    def undo_fact(self, id: str) -> list[Fact]:
        """Takes back what was decided about a fact by hand; returns the facts that come of it. Raises NotFound."""
        return self.handle.corrections.undo(id)

    # --- entities --------------------------------------------------------------------------------------------------

    def entity(self, name: str) -> Entity:
        """The entity of a name, in any of its spellings. Raises NotFound with the nearest names."""
        from recollect.derive.entities.directory import Directory

        with self.handle.space.view() as view:
            return Directory(view).named(name)

    def graph(self, entity: str, depth: int = 1, limit: int = 150, *, include_past: bool = False) -> Graph:
        """What lies around an entity: others, and the relations among them with their evidence. Relations that facts
        hold say since when; with `include_past` those that no longer hold are shown as well. Raises NotFound.
        """
        from recollect.derive.graph.reader import around

        now = self.handle.clock()
        with self.handle.space.view() as view:
            # who explores asks for the same again and again
            name = ("graph", entity, depth, limit, include_past, now.date())
            make = partial(around, view, entity, depth, limit, now, include_past=include_past)
            return self.handle.kept.of(view.stamp, name, make)

    def mentions(self, entity: str, other: str | None = None, limit: int = 50) -> list[Message]:
        """The messages that mention an entity, or two entities together, the newest first. Raises NotFound."""
        from recollect.derive.entities.directory import mentioning

        with self.handle.space.view() as view:
            return mentioning(view, [entity] if other is None else [entity, other], limit)

    def paths(self, source: str, target: str, *, include_past: bool = False) -> Paths:
        """The shortest ways between two entities, in words by `str`; neighbours where there is none [0]. They lead
        through what holds now, or with `include_past` through what held before as well. Raises NotFound.
        """
        from recollect.derive.graph.reader import between

        with self.handle.space.view() as view:
            return between(view, source, target, self.handle.clock(), include_past=include_past)

    @writes
    def add_entity(
        self,
        name: str,
        type: str = "concept",
        *,
        sources: Sequence[str] = (),
        provenance: Adder = "stored",
    ) -> Entity:
        """Adds an entity that a program or a person knows of, beside those that messages mention; the same again is the
        same. `sources` are ids of messages that it was drawn from: when all of them are forgotten, it is as well.
        Raises InvalidInput, NotFound for a source that is no message.
        """
        return self.handle.entities_by_hand.add(self.handle.as_left(name), type, sources, provenance)

    @writes
    def add_relationship(
        self,
        source: str,
        target: str,
        relation: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        sources: Sequence[str] = (),
        provenance: Adder = "stored",
    ) -> Relation:
        """Adds a relation between two entities, which are added where they are not known. It is a fact and settles with
        what messages say: of LIVES_IN, WORKS_AT and the like one is current. The same again is the same. `source` and
        `target` may be "you"; `sources` are as in `add_entity`, and it was said when the newest of them was. Raises
        InvalidInput, NotFound.
        """
        from recollect.derive.entities.directory import Directory
        from recollect.derive.entities.entity import ADDED_FROM, check_adder, drawn_from, last_said, sources_of
        from recollect.derive.graph.reader import Reader
        from recollect.derive.graph.relationship import check_two, known_as, told_relationship, types_of

        check_adder(provenance)
        with self.handle.space.view() as view:
            messages = sources_of(view, sources)
            said = last_said(view, messages)
            directory = Directory(view)
            ends = [known_as(directory, self.handle.as_left(name)) for name in (source, target)]
            check_two(directory, *(name for name, _ in ends))
        (source, _), (target, _) = ends
        told = told_relationship(
            source,
            relation,
            target,
            since=since,
            until=until,
            provenance=provenance,
            now=said or self.handle.clock(),
            id=self.handle.ids(),
        )
        for (name, is_known), kind in zip(ends, types_of(relation), strict=True):
            if not is_known:
                self.handle.entities_by_hand.add(name, kind, sources, provenance)
        fact = self.handle.corrections.store(told, lambda own: drawn_from(own, messages))
        with self.handle.space.view() as view:
            proofs = [edge.target_id for edge in view.edges([NodeId(fact.id)], (ADDED_FROM,), "out")]
        for name in (name for name, is_known in ends if is_known):
            self.handle.entities_by_hand.keep(name, proofs)
        with self.handle.space.view() as view:
            return Reader(view, self.handle.clock(), include_past=True).of_fact(self.handle.corrections.shown(fact.id))

    def edit_entity(self, name: str, new_name: str | None = None, *, type: str | None = None) -> Entity:
        """Corrects the name or type of an entity: what you say outranks what was derived, and survives a rebuild.

        Raises NotFound, InvalidInput.
        """
        return self.handle.entities_by_hand.edit(name, self.handle.as_left(new_name), type)

    def pin_entity(self, name: str, *, pinned: bool = True) -> Entity:
        """Lists an entity first, and keeps it even where nothing mentions it any more. Raises NotFound."""
        return self.handle.entities_by_hand.pin(name, pinned=pinned)

    def merge_entities(self, name: str, into: str) -> Entity:
        """Takes an entity for another name of a second, which is returned. Raises NotFound, InvalidInput."""
        return self.handle.entities_by_hand.merge(name, into)

    def unmerge_entity(self, name: str) -> Entity:
        """Takes a name out of the entity that it was merged into. Raises NotFound, InvalidInput."""
        return self.handle.entities_by_hand.unmerge(name)

    def forget_entity(self, name: str) -> Entity:
        """Shows an entity no longer, and takes back relationships of it that were only added; the messages that mention
        it stay. Raises NotFound.
        """
        from recollect.derive.graph.reader import Reader

        with self.handle.space.view() as view:
            reader = Reader(view, include_past=True)
            added = reader.added([reader.directory.named(name)])
        self.handle.corrections.forget_added(added)
        return self.handle.entities_by_hand.forget(name)

    def undo_entity(self, name: str) -> Entity:
        """Takes back what was said of an entity by hand. Raises NotFound."""
        return self.handle.entities_by_hand.undo(name)

    def _add_ends(self, fact: NodeId) -> None:
        """Adds what an added relationship relates now, where it is not known: a person may have corrected it."""
        from recollect.derive.entities.directory import Directory
        from recollect.derive.entities.entity import ADDED_FROM
        from recollect.derive.facts.claim import RELATIONSHIP, USER, relation_of
        from recollect.derive.graph.relationship import types_of

        with self.handle.space.view() as view:
            node = view.get(Node, [fact])[0]
            name = relation_of(str(node.body.get("attribute", ""))) if node.body.get(RELATIONSHIP) else None
            named = [str(node.body.get(end, "")) for end in ("entity", "value")] if name else []
            unknown = [bool(one) and one != USER and Directory(view).find(one) is None for one in named]
            sources = [edge.target_id for edge in view.edges([fact], (ADDED_FROM,), "out")]
        for one, is_unknown, kind in zip(named, unknown, types_of(name) if name else (), strict=False):
            if is_unknown:
                self.handle.entities_by_hand.add(one, kind, sources, "by hand")

    # --- topics and times ------------------------------------------------------------------------------------------

    def segments(self, conversation_id: str) -> list[TopicSegment]:
        """A conversation as runs of turns about one thing, cut where it drifts [2]. Raises NotFound."""
        from recollect.derive.topics import reading

        with self.handle.space.view() as view:
            return reading.segments(view, NodeId(conversation_id))

    def timeline(self, topics: int = 12) -> Timeline:
        """How much was said on each day, and the largest topics by month. Its cost follows from the number of days and
        of the segments of those topics, not from what was said.
        """
        with self.handle.space.view() as view:
            return self.handle.kept.of(view.stamp, ("timeline", topics), lambda: timeline(view, topics))

    def days(self, period: str) -> list[Day]:
        """The days of a time on which something was said, the newest first, each with its conversations.

        `period` is a time as in `get_period_messages`: 2024-01, 2024-01-13, "2024-01-01 to 2024-01-14". Raises
        InvalidInput.
        """
        from recollect.answer.tools.opening import span_of

        since, until = span_of(period, self.handle.clock().date())
        with self.handle.space.view() as view:
            return days(view, since, until)


# When things were spoken of: messages by day, topics by month, and what each day of a time held.

_EPOCH = date(1970, 1, 1)
_UNDATED = -1
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class TopicMonth:
    """How much of a topic began in a month ("2024-01")."""

    month: str
    messages: int
    conversations: int


@dataclass(frozen=True, slots=True)
class Band:
    """A topic over time: the months in which something of it began, in order."""

    topic: Topic
    months: tuple[TopicMonth, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All that was said, by time. `days` counts messages by UTC day, in order; `undated` are those without a time.
    `bands` are the largest topics.
    """

    days: tuple[tuple[date, int], ...]
    undated: int
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True)
class DayRow:
    """What was said of a conversation on a day; `first` is the earliest message of it."""

    conversation: Conversation
    first: NodeId
    messages: int


@dataclass(frozen=True, slots=True)
class Day:
    """The conversations of a UTC day, in the order in which they were begun that day."""

    day: date
    rows: tuple[DayRow, ...]

    @property
    def messages(self) -> int:
        """How many were said that day."""
        return sum(row.messages for row in self.rows)


def timeline(view: View, topics: int) -> Timeline:
    """How much was said on each day, and the largest topics by month."""
    from recollect.derive.topics import reading

    counted = view.vocabulary().days()
    found = reading.topics(view, topics)
    months = reading.begun_by_month(view, found)
    return Timeline(
        tuple((_EPOCH + timedelta(days=day), count) for day, count in sorted(counted.items()) if day != _UNDATED),
        counted.get(_UNDATED, 0),
        tuple(Band(topic, tuple(TopicMonth(*month) for month in months[topic.id])) for topic in found),
    )


def days(view: View, since: int | None, until: int | None) -> list[Day]:
    """The days of a time on which something was said, the newest first, each with its conversations."""
    counts: dict[date, Counter[NodeId]] = {}
    firsts: dict[tuple[date, NodeId], tuple[datetime, Message]] = {}
    for message, moment in _said(view, since, until):
        day = moment.astimezone(UTC).date()
        counts.setdefault(day, Counter())[message.conversation_id] += 1
        firsts[day, message.conversation_id] = (moment, message)  # the newest come first: the last is the earliest
    ids = sorted({i for of_day in counts.values() for i in of_day})
    known = {one.id: one for one in view.get(Conversation, ids)}
    rows = {
        day: [DayRow(known[i], firsts[day, i][1].id, count) for i, count in of_day.items() if i in known]
        for day, of_day in counts.items()
    }
    begun = {message.id: moment for moment, message in firsts.values()}
    return [Day(day, tuple(sorted(rows[day], key=lambda row: begun[row.first]))) for day in sorted(rows, reverse=True)]


def _said(view: View, since: int | None, until: int | None) -> Iterator[tuple[Message, datetime]]:
    """What was said in a time, the newest first."""
    where = Where(since=since, until=until, kinds=(Kind.SAID.value,), deleted=False, order="newest")
    after: str | None = None
    while True:
        page = view.find(Message, where, after=after, limit=_PAGE)
        yield from ((one, one.timestamp) for one in page.items if one.timestamp is not None and not one.erased)
        after = page.next
        if after is None:
            return
