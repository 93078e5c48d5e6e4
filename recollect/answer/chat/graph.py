"""What the graph of entities knows of a question: who is named, who of several is meant, what lies around them [2]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.derive.entities.entity import Entity
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import entity_id
from recollect.derive.entities.relations import SAME
from recollect.derive.entities.tally import BY_SUMMARY, MENTIONS
from recollect.derive.graph.reader import Reader
from recollect.record import Edge, NodeId
from recollect.store import View

_RELATION = 3.0  # what a relation counts beside one message that mentions both
_EDGES = 2_000
_MOST_RELATIONS = 8
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that a text names, as it names it. `others` are those of the same name that it is not taken for."""

    said: str
    entity: Entity
    others: tuple[str, ...] = ()


class Neighbourhood:
    """Entities and what they are near to, in one view."""

    def __init__(self, view: View) -> None:
        self._view, self._reader = view, Reader(view)
        self._directory = self._reader.directory

    def named(self, text: str, beside: Sequence[str] = ()) -> list[Named]:
        """The entities that a text names. A name of several is the one that is nearest to the other names of the text,
        else to those `beside` it; where none is, it stays with its own name.
        """
        names = [mention.name for mention in found_in(text)][:_MOST_NAMED]
        found: list[Named] = []
        for name in names:
            several = self._bearers(name)
            if len(several) > 1:
                around = [other for other in names if other != name]
                chosen = self._nearest(several, around) or self._nearest(several, beside)
                if chosen is not None:
                    others = tuple(entity.name for entity in several if entity.id != chosen.id)
                    found.append(Named(name, chosen, others))
                    continue
            if (entity := self._directory.find(name)) is not None:
                found.append(Named(name, entity))
        return list({one.entity.id: one for one in found}.values())

    def nearness(self, names: Sequence[str], others: Sequence[str]) -> list[float]:
        """How near each name is to some others: by relations, and by messages that mention both."""
        entities = [self._directory.find(name) for name in names]
        around = [entity for name in others if (entity := self._directory.find(name)) is not None]
        return [self._near(entity, around) if entity is not None else 0.0 for entity in entities]

    def relations(self, entities: Iterable[Entity]) -> list[str]:
        """What holds of these, in words: `Project Titan USES Kubernetes`."""
        found = self._reader.relations(list(entities))
        ordered = sorted(found, key=lambda one: (-one.weight, one.key))
        return list(dict.fromkeys(one.words for one in ordered))[:_MOST_RELATIONS]

    def mentioned_in(self, entities: Iterable[Entity], most: int) -> list[NodeId]:
        """The newest messages that mention these, those that mention several first."""
        ids = [i for entity in entities for i in entity.ids]
        if not ids:
            return []
        edges = self._mentions(ids)
        times: dict[NodeId, int] = {}
        targets: dict[NodeId, set[NodeId]] = {}
        for edge in edges:
            times[edge.source_id] = max(times.get(edge.source_id, 0), edge.properties.get("at") or 0)
            targets.setdefault(edge.source_id, set()).add(edge.target_id)
        return sorted(times, key=lambda i: (-len(targets[i]), -times[i], i))[:most]

    def _mentions(self, ids: Sequence[NodeId]) -> list[Edge]:
        """The edges from messages to these."""
        return [edge for edge in self._view.edges(ids, (MENTIONS,), "in", _EDGES) if edge.name != BY_SUMMARY]

    def _bearers(self, name: str) -> list[Entity]:
        """The entities that messages call by this name, where there are several: "Anna" of two full names."""
        same = self._view.edges([entity_id(name)], (SAME,), "out", _EDGES)
        return list({e.id: e for e in self._directory.of(edge.target_id for edge in same).values()}.values())

    def _nearest(self, several: Sequence[Entity], names: Sequence[str]) -> Entity | None:
        around = [entity for name in names if (entity := self._directory.find(name)) is not None]
        weights = sorted(((self._near(one, around), one.mentions, one.id, one) for one in several), reverse=True)
        best, second = weights[0], weights[1]
        return best[3] if best[0] > 0 and best[0] > second[0] else None

    def _near(self, entity: Entity, others: Sequence[Entity]) -> float:
        own, theirs = set(entity.ids), {i for other in others for i in other.ids}
        if not theirs or own & theirs:
            return 0.0
        found = self._reader.relations([entity])
        related = sum(one.weight for one in found if {one.source_id, one.target_id} & theirs)
        mine = {edge.source_id for edge in self._mentions(sorted(own))}
        both = {edge.source_id for edge in self._mentions(sorted(theirs))} & mine
        return _RELATION * related + len(both)
