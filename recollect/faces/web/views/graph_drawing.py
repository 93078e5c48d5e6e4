"""The picture of a graph: names as marks with places, relations as links; the same for a drawing and for a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.faces.present.views import as_json
from recollect.faces.web.views.graph_layout import (
    NOT,
    TOGETHER,
    EntityGroup,
    LayoutNode,
    Point,
    SavedPositions,
    group_of,
    label_side,
    lay_out,
    relation_words,
)

if TYPE_CHECKING:
    from recollect.derive.entities.entity import Entity
    from recollect.derive.graph.reader import Relation
    from recollect.memory import Memory

#: Names of a picture at first, what one that is opened may add, and the most that there can be.
AT_FIRST, GROWN, MOST = 150, 60, 5_000
_LABELLED, _LEADING = 20, 8
_DRAWN = 300  # in a drawing; a program gets all
_EDGE = 44  # of a drawing, around the outermost marks


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A name, drawn. `side` is where its label stands."""

    entity: Entity
    kind: EntityGroup
    x: float
    y: float
    radius: float
    labelled: bool
    leading: bool  # whether its label stands in a small drawing too
    side: str
    parent: str  # id of the name that it came of; empty in the middle


@dataclass(frozen=True, slots=True)
class Link:
    """A relation, drawn. `near`: it touches the name in the middle."""

    relation: Relation
    words: str
    near: bool
    denies: bool
    path: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """What lies around a name. `focus` is the one that was opened last; `box` what a drawing shows."""

    center: Entity
    focus: Entity
    marks: tuple[GraphNode, ...]
    links: tuple[Link, ...]
    hidden: int  # names that are not in the drawing
    box: tuple[float, float, float, float]

    @property
    def drawn(self) -> tuple[GraphNode, ...]:
        """The marks of a drawing, the least first, so that the greatest lie on top."""
        return tuple(sorted(self.marks[:_DRAWN], key=lambda mark: mark.radius))

    @property
    def kinds(self) -> list[EntityGroup]:
        """Those that there are."""
        return list({mark.kind.name: mark.kind for mark in self.marks}.values())

    def as_json(self) -> dict[str, Any]:
        """For a program that draws it."""
        return {
            "entity": self.center,
            "focus": self.focus.id,
            "entities": [
                {
                    **as_json(mark.entity),
                    "kind": mark.kind.name,
                    "x": mark.x,
                    "y": mark.y,
                    "radius": mark.radius,
                    "labelled": mark.labelled,
                    "leading": mark.leading,
                    "side": mark.side,
                }
                for mark in self.marks
            ],
            "relations": [
                {
                    **as_json(link.relation),
                    "source_id": link.relation.source_id,
                    "target_id": link.relation.target_id,
                    "words": link.words,
                }
                for link in self.links
            ],
        }


def draw_graph(
    memory: Memory,
    name: str,
    grown: Sequence[str],
    kept: SavedPositions,
    now: datetime,
    *,
    depth: int = 1,
    limit: int = AT_FIRST,
    kind: str = "",
) -> GraphDrawing:
    """What lies around a name, and around those of it that were opened. Raises NotFound."""
    gathered = _Gathered(memory, kind)
    center = gathered.open(name, depth, limit)
    for opened in grown:
        gathered.open(opened, 1, min(GROWN, MOST - len(gathered.entities)))
    weights = gathered.weights()
    radii = {one.id: _radius(one, now) for one in gathered.entities.values()}
    most = sorted(radii, key=lambda one: (-radii[one], one))
    leading = {*most[:_LEADING], center.id}
    shown = len(most) if len(most) <= 2 * _LABELLED else _LABELLED
    labelled = {*most[:shown], *(one.id for one in gathered.opened)}
    names = [
        LayoutNode(
            one.id,
            one.name,
            group_of(one.type),
            gathered.parents[one.id],
            weights.get(one.id, 0.0),
            radii[one.id],
            one.id in labelled,
        )
        for one in gathered.entities.values()
        if one.id != center.id
    ]
    places = lay_out(center.id, names, kept.of(center.id))
    kept.keep(center.id, {one.id: places[one.id] for one in names})
    marks = tuple(
        GraphNode(
            one,
            group_of(one.type),
            *places[one.id],
            radii[one.id] * (1.15 if one.id == center.id else 1.0),
            one.id in labelled,
            one.id in leading,
            "middle" if one.id == center.id else label_side(places[one.id]),
            gathered.parents[one.id],
        )
        for one in gathered.entities.values()
    )
    links = tuple(_link(relation, places, center.id) for relation in gathered.relations.values())
    focus = gathered.opened[-1]
    return GraphDrawing(center, focus, marks, links, max(0, len(marks) - _DRAWN), _box(marks[:_DRAWN]))


class _Gathered:
    """Names and relations, name by name that is opened."""

    def __init__(self, memory: Memory, kind: str) -> None:
        self._memory, self._kind = memory, kind
        self.entities: dict[str, Entity] = {}
        self.parents: dict[str, str] = {}
        self.relations: dict[tuple[str, str, str], Relation] = {}
        self.opened: list[Entity] = []

    def open(self, name: str, depth: int, limit: int) -> Entity:
        """Adds what lies around a name; of what lies one step away, also how it is related among itself."""
        found = self._memory.knowledge.graph(name, depth, limit)
        center = found.center
        self.entities.setdefault(center.id, center)
        self.parents.setdefault(center.id, self.opened[0].id if self.opened else "")
        for one in found.entities:
            if one.id not in self.entities and self._kind in ("", group_of(one.type).name):
                self.entities[one.id] = one
                self.parents[one.id] = center.id
        among = self._memory.knowledge.graph(name, depth + 1, len(found.entities)) if found.entities else found
        for relation in (*found.relations, *among.relations):
            if relation.source_id in self.entities and relation.target_id in self.entities:
                first, second = relation.source_id, relation.target_id
                if relation.name == TOGETHER and first > second:  # it holds both ways
                    first, second = second, first
                self.relations.setdefault((first, relation.name, second), relation)
        self.opened.append(center)
        return center

    def weights(self) -> Mapping[str, float]:
        """How much each name has to do with the one that it came of, from 0 to 1."""
        sums: Counter[str] = Counter()
        for relation in self.relations.values():
            for one, other in ((relation.source_id, relation.target_id), (relation.target_id, relation.source_id)):
                if self.parents.get(one) == other:
                    sums[one] += relation.weight * (1 if relation.name == TOGETHER else 3)
        most = max(sums.values(), default=1)
        return {one: (count / most) ** 0.5 for one, count in sums.items()}


def _radius(entity: Entity, now: datetime) -> float:
    return round(min(17.0, 4.5 + 1.9 * entity.salience(now)), 1)


def _link(relation: Relation, places: Mapping[str, Point], center: str) -> Link:
    """A curve that bends a little towards the middle, so that links of neighbours do not lie on each other."""
    (x1, y1), (x2, y2) = places[relation.source_id], places[relation.target_id]
    bend = 0.86
    cx, cy = round((x1 + x2) / 2 * bend + (y2 - y1) * 0.06, 1), round((y1 + y2) / 2 * bend - (x2 - x1) * 0.06, 1)
    near = center in (relation.source_id, relation.target_id)
    # The words of a link from the middle stand at the outer third of its curve.
    t = 0.58 if relation.source_id == center else 0.42
    x = (1 - t) ** 2 * x1 + 2 * t * (1 - t) * cx + t * t * x2
    y = (1 - t) ** 2 * y1 + 2 * t * (1 - t) * cy + t * t * y2
    return Link(
        relation,
        relation_words(relation.name),
        near,
        relation.name in NOT,
        f"M{x1} {y1}Q{cx} {cy} {x2} {y2}",
        round(x, 1),
        round(y, 1),
        round(min(4.5, 0.9 + 0.5 * relation.weight**0.5), 1),
    )


def _box(marks: Sequence[GraphNode]) -> tuple[float, float, float, float]:
    """Left, top, width and height of what is drawn, labels in."""
    letters = 7.4
    left = min(m.x - (len(m.entity.name) * letters if m.labelled and m.side == "end" else 0) for m in marks) - _EDGE
    right = max(m.x + (len(m.entity.name) * letters if m.labelled and m.side == "start" else 0) for m in marks) + _EDGE
    top, bottom = min(m.y for m in marks) - _EDGE, max(m.y for m in marks) + _EDGE
    half = max(-left, right, 1.6 * max(-top, bottom) * 0.75, 300.0)
    high = max(-top, bottom, 190.0)
    return round(-half), round(-high), round(2 * half), round(2 * high)
