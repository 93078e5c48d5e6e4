"""Positions for a drawing of the graph: one name in the middle, each kind of name in a direction of its own.

A name that has a position keeps it, also tomorrow (as ids and numbers beside the memory); a new one gets the nearest
free one. The same names in the same order get the same positions. Lengths are pixels of a drawing at its natural size;
y grows downwards.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from recollect.errors import RecollectError
from recollect.runtime.files import whole_file


@dataclass(frozen=True, slots=True)
class EntityGroup:
    """Names that are drawn alike. `heading` is where they lie, in degrees, from the right against the clock."""

    name: str
    label: str
    several: str
    types: tuple[str, ...]
    heading: float


#: In the order in which they go round the middle.
ENTITY_GROUPS = (
    EntityGroup("project", "project, organisation", "projects and organisations", ("project", "organisation"), 90),
    EntityGroup("person", "person, animal", "people and animals", ("person", "animal"), 180),
    EntityGroup("place", "place", "places", ("place",), 270),
    EntityGroup("other", "other name", "other names", ("concept", "event"), 315),
    EntityGroup("thing", "tool, product, work", "tools, products and works", ("technology", "product", "work"), 20),
)
_OF_TYPE: Mapping[str, EntityGroup] = {one: kind for kind in ENTITY_GROUPS for one in kind.types}
_OTHER = ENTITY_GROUPS[3]

TOGETHER = "MENTIONED_WITH"
_WORDS = {TOGETHER: "with", "MARRIED_TO": "married to", "OWNED_BY": "owned by"}
#: The same from the other end.
_INVERSE = {
    TOGETHER: "with",
    "USES": "used by",
    "CHOSE": "chosen by",
    "REJECTED": "rejected by",
    "LIKES": "liked by",
    "DISLIKES": "disliked by",
    "PREFERS": "preferred by",
    "OWNS": "owned by",
    "OWNED_BY": "owns",
    "TAKES": "taken by",
    "SPEAKS": "spoken by",
    "STUDIES": "studied by",
    "COMES_FROM": "origin of",
    "WORKS_ON": "worked on by",
    "CREATED": "created by",
    "REPLACES": "replaced by",
    "IMPROVES": "improved by",
    "SUPPORTS": "supported by",
    "CAUSES": "caused by",
    "PART_OF": "has the part",
    "LOCATED_IN": "place of",
    "LIVES_IN": "home of",
    "WORKS_AT": "employs",
    "IS_A": "for example",
    "KNOWS": "knows",
    "MARRIED_TO": "married to",
}
#: Relations that say no.
NOT = frozenset({"REJECTED", "DISLIKES"})


def group_of(type: str) -> EntityGroup:
    """The kind of a type of entity."""
    return _OF_TYPE.get(type, _OTHER)


def relation_words(relation: str, *, backwards: bool = False) -> str:
    """A relation in words, from its source or (`backwards`) from its target.

    >>> relation_words("PART_OF"), relation_words("USES", backwards=True), relation_words("BROTHER", backwards=True)
    ('part of', 'used by', 'brother of')
    """
    plain = _WORDS.get(relation, relation.replace("_", " ").lower())
    return _INVERSE.get(relation, f"{plain} of") if backwards else plain


Point = tuple[float, float]

_STRETCH = 1.35  # pictures are broader than high
_NEAREST, _SPREAD = 150.0, 90.0  # from the middle: the first ring, and how far those of little weight stand beyond
_LEAF = 115.0  # from a name that was opened to what came of it
_STEP = 26.0  # to the next ring where one is full
_ROOM = 11.0  # around each, above and below
_LETTER = 7.2  # of a label
_NARROWEST = math.radians(34)  # of a sector
_TRIES, _RINGS, _BACK = 24, 400, 1
_CELL = 64.0


@dataclass(frozen=True, slots=True)
class LayoutNode:
    """What is to be placed. `parent` is the name that it came of, None for the middle; `weight` from 0 to 1."""

    id: str
    label: str
    kind: EntityGroup
    parent: str
    weight: float
    radius: float
    labelled: bool


def lay_out(center: str, names: Sequence[LayoutNode], kept: Mapping[str, Point]) -> dict[str, Point]:
    """A place for each, parents before what came of them."""
    found: dict[str, Point] = {center: (0.0, 0.0)}
    taken = _Taken()
    taken.add(_box((0.0, 0.0), 24.0, 24.0))
    for one in names:
        if one.id in kept and one.id != center:
            found[one.id] = kept[one.id]
            taken.add(_of(one, kept[one.id]))
    sectors = _sectors([one for one in names if one.parent == center])
    turns: Counter[str] = Counter()
    full: Counter[str] = Counter()  # how many rings are, of a kind around the middle or of a name
    for one in names:
        if one.id in found:
            continue
        if one.parent == center:
            middle, width = sectors[one.kind.name]
            base = _NEAREST + _SPREAD * (1 - one.weight)
            of = one.kind.name
            places = _rings((0.0, 0.0), middle, width, base, turns[of], _STRETCH, full[of])
        else:
            at = found.get(one.parent, (0.0, 0.0))
            outward = math.atan2(-at[1], at[0])
            of = one.parent
            places = _rings(at, outward, math.radians(200), _LEAF, turns[of], 1.0, full[of])
        turns[of] += 1
        ring, found[one.id] = next((r, p) for r, p in places if not taken.meets(_of(one, p)))
        full[of] = max(full[of], ring - _BACK)
        taken.add(_of(one, found[one.id]))
    return found


def label_side(point: Point) -> str:
    """Where the label of a mark stands, so that labels point away from the middle: start, end or middle."""
    x, y = point
    if abs(x) < 0.35 * abs(y):
        return "middle"
    return "start" if x > 0 else "end"


def _sectors(names: Sequence[LayoutNode]) -> dict[str, tuple[float, float]]:
    """The direction and the width of each kind, by how many there are of it; kinds go round in their order."""
    counts = Counter(one.kind.name for one in names)
    present = [kind for kind in ENTITY_GROUPS if counts[kind.name]]
    if len(present) < 2:
        return {kind.name: (math.radians(kind.heading), 2 * math.pi) for kind in present}
    free = 2 * math.pi - _NARROWEST * len(present)
    widths = {kind.name: _NARROWEST + free * counts[kind.name] / len(names) for kind in present}
    # The round is turned so that kinds lie as near their own directions as their sizes allow.
    starts, at = {}, 0.0
    for kind in present:
        starts[kind.name] = at + widths[kind.name] / 2
        at += widths[kind.name]
    east = sum(math.cos(math.radians(k.heading) - starts[k.name]) * counts[k.name] for k in present)
    north = sum(math.sin(math.radians(k.heading) - starts[k.name]) * counts[k.name] for k in present)
    turn = math.atan2(north, east)
    return {kind.name: (starts[kind.name] + turn, widths[kind.name] * 0.92) for kind in present}


def _rings(
    at: Point, middle: float, width: float, base: float, turn: int, stretch: float, first: int
) -> Iterator[tuple[int, Point]]:
    """Places in a sector, ring by ring outwards from the `first`; `turn` begins at another angle for each that asks."""
    for ring in range(first, first + _RINGS):
        radius = base + ring * _STEP
        for step in range(_TRIES):
            share = (0.5 + (turn * 0.618034 + step / _TRIES)) % 1.0
            angle = middle + width * (share - 0.5)
            x, y = at[0] + stretch * radius * math.cos(angle), at[1] - radius * math.sin(angle)
            yield ring, (round(x, 1), round(y, 1))
    far, angle = base + (first + _RINGS) * _STEP, turn * 2.399963
    for more in range(1_000_000):  # as good as never
        radius = far + more * _STEP
        yield first + _RINGS, (at[0] + radius * math.cos(angle + more), at[1] + radius * math.sin(angle + more))


Box = tuple[float, float, float, float]


def _box(point: Point, across: float, down: float) -> Box:
    return point[0] - across, point[1] - down, point[0] + across, point[1] + down


def _of(one: LayoutNode, point: Point) -> Box:
    """The room of a mark, with its label if that is shown."""
    left, top, right, bottom = _box(point, one.radius + 5, max(one.radius + 4, _ROOM))
    if not one.labelled:
        return left, top, right, bottom
    text = min(len(one.label), 24) * _LETTER + 8
    where = label_side(point)
    if where == "middle":
        half = max(text / 2, one.radius)
        return (
            point[0] - half,
            top - (18 if point[1] < 0 else 0),
            point[0] + half,
            bottom + (18 if point[1] >= 0 else 0),
        )
    return (left, top, right + text, bottom) if where == "start" else (left - text, top, right, bottom)


@dataclass(slots=True)
class _Taken:
    """Boxes that are taken, by the cells of a grid that they touch."""

    cells: dict[tuple[int, int], list[Box]] = field(default_factory=dict)

    def add(self, box: Box) -> None:
        for cell in _cells(box):
            self.cells.setdefault(cell, []).append(box)

    def meets(self, box: Box) -> bool:
        """Whether it would lie on another."""
        left, top, right, bottom = box
        return any(
            left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
            for cell in _cells(box)
            for other in self.cells.get(cell, ())
        )


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for x in range(math.floor(box[0] / _CELL), math.floor(box[2] / _CELL) + 1):
        for y in range(math.floor(box[1] / _CELL), math.floor(box[3] / _CELL) + 1):
            yield x, y


_MOST = 300  # pictures; the one that was seen least recently goes first
_LOCK = threading.Lock()


class SavedPositions:
    """Reads and writes the file."""

    def __init__(self, folder: Path, memory: str, namespace: str) -> None:
        digest = hashlib.sha256(f"{memory}\0{namespace}".encode()).hexdigest()[:24]
        self._path = folder / f"graph-{digest}.json"

    def of(self, center: str) -> dict[str, Point]:
        """The places around a name."""
        found = self._read().get(center, {})
        return {name: (float(x), float(y)) for name, (x, y) in found.items()}

    def keep(self, center: str, places: Mapping[str, Point]) -> None:
        """Keeps places, beside those that are kept. What cannot be written is not kept."""
        with _LOCK:
            every = self._read()
            before = every.pop(center, {})
            after = {**before, **{name: [x, y] for name, (x, y) in places.items()}}
            if after == before:
                return
            every[center] = after
            for old in list(every)[: max(0, len(every) - _MOST)]:
                del every[old]
            with suppress(RecollectError, OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with whole_file(self._path, overwrite=True) as stream:
                    stream.write(json.dumps(every, separators=(",", ":")).encode())

    def _read(self) -> dict[str, dict[str, list[float]]]:
        try:
            read = json.loads(self._path.read_bytes())
            return {
                str(center): {str(i): [float(x), float(y)] for i, (x, y) in places.items()}
                for center, places in read.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
