"""Finding entities in a view: by name, by id, by salience. What is read is bounded, however large a hub is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.derive.entities.entity import ADDED, Entity, EntityCorrection, added_id, united, unmentioned
from recollect.derive.entities.message import BY_SUMMARY, MENTIONS
from recollect.derive.entities.naming import ABOUT, YOU, about_id, correction_id, entity_id, folded, group
from recollect.derive.entities.relations import SAME
from recollect.derive.tasks.base import LIVE
from recollect.errors import NotFound
from recollect.record import Message, Node, NodeId, NodeKind
from recollect.store import View, Where

#: The state of what a person said of an entity.
SAID = "said"
_KIND = (NodeKind.ENTITY.value,)
_LISTED = 50_000  # entities that a list chooses from, those that were mentioned last
_PAGE = 2_000
_ROUNDS = 4
_SAME_EDGES = 2_000
_ASKER = entity_id(YOU)
_NEAR = 72  # of 100, the likeness of two spellings


class Directory:
    """The entities of a view. Useless after it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[NodeId, Entity | None] = {}

    def of(self, ids: Iterable[NodeId]) -> dict[NodeId, Entity]:
        """The entities that these nodes belong to."""
        ids = list(dict.fromkeys(ids))
        missing = [i for i in ids if i not in self._known]
        if missing:
            self._known |= dict.fromkeys(missing)
            for entity in self._united(missing):
                self._known |= dict.fromkeys((*entity.ids, entity.id), entity)
        return {i: found for i in ids if (found := self._known[i]) is not None}

    def named(self, name: str) -> Entity:
        """The entity of a name, whatever its spelling. Raises NotFound with the nearest names."""
        if (found := self.find(name)) is not None:
            return found
        near = self.near(name)
        hint = f"Did you mean: {', '.join(near)}?" if near else "To see what there is: recollect entities"
        raise NotFound(f"No entity is called {name!r}.", hint=hint)

    def find(self, name: str) -> Entity | None:
        """The entity of a name, or None."""
        own, key = entity_id(name), group(folded(name))
        where = Where(kinds=_KIND, keys=tuple({key, folded(name)}), states=(LIVE, SAID, ADDED))
        keyed = [node for node in self._view.find(Node, where, limit=100).items if not node.erased]
        ids = [own, *(NodeId(n.body["entity"]) if n.state != LIVE else n.id for n in keyed)]
        found = self.of(ids)
        return found.get(own) or max(found.values(), key=lambda e: (e.by_hand, e.mentions, e.id), default=None)

    def first_name(self, entity: Entity) -> str:
        """The name that an entity had before it was renamed: as messages write it, or it was added."""
        nodes = self._view.get(Node, [own for i in entity.ids for own in (i, added_id(i))])
        return next((node.text for node in nodes if node.text and not node.erased), "")

    def near(self, name: str, limit: int = 3) -> list[str]:
        """Names that are spelled nearly so, begin so, or hold all of these words."""
        from rapidfuzz.fuzz import token_set_ratio

        asked = folded(name)
        names = {entity.name: folded(entity.name) for entity in self.all()}
        likeness = {
            shown: 100.0 if other.startswith(asked) else token_set_ratio(asked, other) for shown, other in names.items()
        }
        near = [shown for shown, score in likeness.items() if score >= _NEAR]
        return sorted(near, key=lambda shown: -likeness[shown])[:limit]

    def all(self) -> list[Entity]:
        """Every entity, or of very many those that were mentioned last."""
        nodes: list[Node] = []
        after: str | None = None
        where = Where(kinds=_KIND, states=(LIVE, SAID, ADDED), order="newest")
        while len(nodes) < _LISTED:
            page = self._view.find(Node, where, after=after, limit=_PAGE)
            nodes += [node for node in page.items if not node.erased]
            if (after := page.next) is None:
                break
        derived = [node for node in nodes if node.state == LIVE]
        same = self._view.edges([node.id for node in derived], (SAME,), "out", _LISTED)
        corrections = _corrections(nodes, {})
        return united([*derived, *self._asker(node.id for node in derived)], same, corrections)

    def _united(self, ids: list[NodeId]) -> list[Entity]:
        """The entities around these nodes, with all that leads to them by being the same."""
        nodes: dict[NodeId, Node] = {}
        corrections: dict[NodeId, EntityCorrection] = {}
        frontier = ids
        same = []
        for _ in range(_ROUNDS):
            if not frontier:
                break
            fresh = [node for node in self._view.get(Node, frontier) if node.state == LIVE]
            said = self._said(frontier)
            into = self._nodes(frontier, SAID)
            keys = [node.key for node in (*fresh, *said) if node.key and node.state in (LIVE, ADDED)]
            alike = self._nodes(keys, LIVE, ADDED)
            group_of = [node for node in alike if node.state == LIVE]
            nodes |= {node.id: node for node in (*fresh, *group_of)}
            corrections = _corrections([*said, *into, *alike], corrections)
            seen = [*frontier, *(node.id for node in group_of)]
            edges = [
                *self._view.edges(seen, (SAME,), "out", _SAME_EDGES),
                *self._view.edges(seen, (SAME,), "in", _SAME_EDGES),
            ]
            same += edges
            around = {i for edge in edges for i in (edge.source_id, edge.target_id)} | {n.id for n in group_of}
            around |= {i for c in corrections.values() for i in (c.entity, c.into) if i}
            frontier = sorted(around - nodes.keys() - set(ids))
            ids = [*ids, *frontier]
        corrections = _corrections(self._said(sorted(nodes.keys() - corrections.keys())), corrections)
        if _ASKER in ids:
            nodes |= {node.id: node for node in self._asker(nodes)}
        unique = {(edge.source_id, edge.target_id): edge for edge in same}
        return united(list(nodes.values()), list(unique.values()), corrections)

    def _said(self, ids: Iterable[NodeId]) -> list[Node]:
        """What was said of these by hand, and that they were added."""
        return self._view.get(Node, [of(i) for i in ids for of in (correction_id, added_id)])

    def _asker(self, known: Iterable[NodeId]) -> list[Node]:
        """The one who says "I", of whom facts may know more than messages mention; nobody where they do not."""
        if _ASKER in set(known) or not self._view.edges([about_id(_ASKER)], (ABOUT,), "in", 1):
            return []
        return [unmentioned(_ASKER, YOU, "person")]

    def _nodes(self, keys: Iterable[str], *states: str) -> list[Node]:
        wanted = tuple(dict.fromkeys(keys))
        if not wanted:
            return []
        found = self._view.find(Node, Where(kinds=_KIND, keys=wanted, states=states), limit=_SAME_EDGES)
        return [node for node in found.items if not node.erased]


def _corrections(nodes: Iterable[Node], known: Mapping[NodeId, EntityCorrection]) -> dict[NodeId, EntityCorrection]:
    """What nodes say of entities, by entity, beside what is known."""
    found = dict(known)
    for node in nodes:
        if node.erased or node.state not in (SAID, ADDED):
            continue
        one = EntityCorrection.of(node)
        before = found.get(one.entity, one)
        found[one.entity] = replace(before, added=one.added) if one.added else replace(one, added=before.added)
    return found


def salient(entities: Iterable[Entity], now: datetime, type: str | None = None, limit: int = 50) -> list[Entity]:
    """The most salient, those that are pinned first."""
    chosen = [entity for entity in entities if type is None or entity.type == type]
    return sorted(chosen, key=lambda e: (not e.pinned, -e.salience(now), e.name, e.id))[:limit]


# The messages that mention entities.

_MOST = 20_000  # mentions of an entity that are looked at
_BATCH = 200


def mentioning(view: View, names: Sequence[str], limit: int) -> list[Message]:
    """The messages that mention all of these, the newest first. Raises NotFound."""
    directory = Directory(view)
    times: list[dict[NodeId, int]] = []
    for entity in [directory.named(name) for name in names]:
        edges = view.edges(list(entity.ids), (MENTIONS,), "in", _MOST)
        times.append({edge.source_id: edge.properties.get("at") or 0 for edge in edges if edge.name != BY_SUMMARY})
    first, *others = times
    ids = sorted((i for i in first if all(i in other for other in others)), key=lambda i: (-first[i], i))
    found: list[Message] = []
    for start in range(0, len(ids), _BATCH):
        found += [m for m in view.get(Message, ids[start : start + _BATCH]) if not m.deleted and not m.erased]
        if len(found) >= limit:
            break
    return found[:limit]
