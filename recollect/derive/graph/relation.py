"""Relations between entities as readers get them: what they say, since when, and what proves it; and ways of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.derive.facts.fact import when_told
from recollect.record import NodeId

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity

#: That the same messages mention two entities.
TOGETHER = "MENTIONED_WITH"


@dataclass(frozen=True, slots=True)
class Relation:
    """That one entity stands in a relation to another: by how many messages, and which.

    Of what a fact holds, `fact` is its id, `since` and `until` say when it held, and `current` whether it still does.
    Where nobody told when it began (`since_told`) or ended (`until_told`), these are when it was said, and when
    something else was; `said` is when it was said last.
    `provenance` says where it comes from: "said" in messages, "stored" by a program, "by hand", "imported".
    """

    source: str
    name: str
    target: str
    weight: int
    evidence: tuple[NodeId, ...]
    source_id: NodeId = field(default=NodeId(""), repr=False)
    target_id: NodeId = field(default=NodeId(""), repr=False)
    since: datetime | None = None
    until: datetime | None = None
    since_told: bool = False
    until_told: bool = False
    said: datetime | None = None
    current: bool = True
    fact: NodeId | None = None
    provenance: tuple[str, ...] = ("said",)

    def __str__(self) -> str:
        return f"{self.source} --[{self.name}]--> {self.target}"

    def when(self, day: Callable[[datetime], str]) -> str:
        """As in "since 3 May 2020", where that was told, else "said 3 July 2023"; with "until" where that is known."""
        until = self.until if self.until_told or not self.current else None
        return when_told(self.since if self.since_told else None, until, self.said, day)

    @property
    def words(self) -> str:
        """In words, with when it holds: "Anders WORKS AT Kartona (since 2024-05-01)"."""
        when = self.when(lambda moment: f"{moment:%Y-%m-%d}")
        return f"{self.source} {self.name.replace('_', ' ')} {self.target}{f' ({when})' if when else ''}"

    @property
    def key(self) -> tuple[NodeId, str, NodeId]:
        """What it relates, and how."""
        return self.source_id, self.name, self.target_id

    def turned(self) -> Relation:
        """What holds both ways, from the other end."""
        return replace(self, source=self.target, target=self.source, source_id=self.target_id, target_id=self.source_id)


@dataclass(frozen=True, slots=True)
class Graph:
    """What lies around an entity: other entities, nearest first, and the relations among all of them."""

    center: Entity
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A way from one entity to another, as relations in the direction in which they hold."""

    entities: tuple[str, ...]
    relations: tuple[Relation, ...]

    def __str__(self) -> str:
        words = self.entities[0]
        for at, relation in zip(self.entities, self.relations, strict=False):
            forward = relation.source == at
            words += (
                f" --[{relation.name}]--> {relation.target}"
                if forward
                else f" <--[{relation.name}]-- {relation.source}"
            )
        return words


@dataclass(frozen=True, slots=True)
class Paths:
    """The shortest ways between two entities; where there is none, what each is next to [0]."""

    source: Entity
    target: Entity
    paths: tuple[Path, ...]
    neighbours: tuple[Relation, ...] = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self.paths or self.neighbours))
