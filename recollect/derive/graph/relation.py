"""Relations between entities as readers get them: what they say, since when, and what proves it; and ways of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.record import NodeId

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity

#: That the same messages mention two entities.
TOGETHER = "MENTIONED_WITH"


@dataclass(frozen=True, slots=True)
class Relation:
    """That one entity stands in a relation to another: by how many messages, and which.

    Of what a fact holds, `fact` is its id, `since` and `until` say when it held, and `current` whether it still does.
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
    current: bool = True
    fact: NodeId | None = None

    def __str__(self) -> str:
        return f"{self.source} --[{self.name}]--> {self.target}"

    @property
    def words(self) -> str:
        """In words, with when it holds: "Anders WORKS AT Kartona (since 2024-05-01)"."""
        since, until = (f"{moment:%Y-%m-%d}" if moment else "" for moment in (self.since, self.until))
        when = " ".join(f"{word} {at}" for word, at in (("since", since), ("until", until)) if at)
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
