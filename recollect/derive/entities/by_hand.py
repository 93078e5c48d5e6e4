"""What a person corrects of entities. It outranks what was derived, survives a rebuild and is in dumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from recollect.derive.entities.directory import SAID, Directory
from recollect.derive.entities.entity import (
    ADDED_FROM,
    Added,
    Entity,
    EntityCorrection,
    added_id,
    check_adder,
    drawn_from,
    name_of,
    read_type,
    sources_of,
)
from recollect.derive.entities.naming import correction_id, entity_id, folded
from recollect.errors import InvalidInput, NotFound
from recollect.record import Node, NodeId, NodeKind, Origin
from recollect.store import Change, Space, View
from recollect.store.update import update
from recollect.text.clean import clean_title


class EntitiesByHand:
    """Corrections of the entities of a namespace, and entities that are added."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def add(self, name: str, type: str, sources: Sequence[str], provenance: str) -> Entity:
        """Adds an entity, or what is not known of it yet: the same again changes nothing. Raises InvalidInput, NotFound
        where a source is no message.
        """
        shown, known_type = name_of(name), read_type(type)
        check_adder(provenance)

        def plan(view: View) -> tuple[Change | None, NodeId]:
            found = Directory(view).find(shown)
            own = found.id if found is not None else entity_id(shown)
            ids = [added_id(own), correction_id(own)]
            revisions = view.revisions(ids)
            messages = sources_of(view, sources)
            change = _addition(view, Added(own, shown, known_type, provenance), messages)
            expect = {i: revisions[i].number if i in revisions else 0 for i in ids}
            return (replace(change, expect=expect, revive=True, begins=True) if change is not None else None), own

        return self._named(update(self._space, plan, "The entity is"), shown)

    def keep(self, name: str, sources: Sequence[NodeId]) -> None:
        """Has what was added from messages last as long as what else is told of it: as these, or for good without."""
        with self._space.view() as view:
            found = Directory(view).find(name)
            edges = view.edges([added_id(own) for own in found.ids], (ADDED_FROM,), "out") if found else []
        there = {(edge.source_id, edge.target_id) for edge in edges}
        told = [one for node in {edge.source_id for edge in edges} for one in drawn_from(node, sources)]
        put = [edge for edge in told if (edge.source_id, edge.target_id) not in there]
        cut = [] if sources else [(edge.source_id, edge.type, edge.target_id, edge.name) for edge in edges]
        if put or cut:
            self._space.write(Change(edges=put, cut=cut, begins=False))

    def edit(self, name: str, new_name: str | None, type: str | None) -> Entity:
        """Gives an entity another name or type. Raises NotFound, InvalidInput."""
        if new_name is None and type is None:
            raise InvalidInput("Nothing to change.", hint="Give a new name or a type.")
        shown = clean_title(new_name or "")
        if new_name is not None and not shown:
            raise InvalidInput("The new name is empty.")
        given = None if type is None else read_type(type)
        return self._corrected(name, lambda said: replace(said, name=shown or said.name, type=given or said.type))

    def pin(self, name: str, *, pinned: bool) -> Entity:
        """Lists an entity first and keeps it where nothing mentions it any more, or no longer. Raises NotFound."""
        with self._space.view() as view:
            entity = Directory(view).named(name)
        held = entity.name if pinned else None
        return self._corrected(name, lambda said: replace(said, pinned=pinned, name=said.name or held))

    def merge(self, name: str, into: str) -> Entity:
        """Takes one entity for another name of a second. Raises NotFound, InvalidInput where they are one already."""
        with self._space.view() as view:
            directory = Directory(view)
            one, other = directory.named(name), directory.named(into)
        if one.id == other.id:
            raise InvalidInput(f"{name!r} and {into!r} are the same entity already: {other.name}.")
        self._correct(one.id, lambda said: replace(said, into=other.id, apart=False))
        return self._named(other.id, into)

    def unmerge(self, name: str) -> Entity:
        """Takes a name out of what it was merged into, to stand for itself. Raises NotFound, InvalidInput."""
        own = entity_id(name)
        with self._space.view() as view:
            entity = Directory(view).named(name)
        if own not in entity.ids or len(entity.ids) < 2:
            raise InvalidInput(
                f"{name!r} is not merged with another name.",
                hint="Give one of its other names, as entities shows them.",
            )
        if own == entity.id:
            raise InvalidInput(f"{name!r} is what the others are merged into.", hint="Give one of the other names.")
        self._correct(own, lambda said: replace(said, into=None, apart=True))
        return self._named(own, name)

    def forget(self, name: str) -> Entity:
        """Shows an entity no longer, whatever mentions it. The messages stay. Raises NotFound."""
        with self._space.view() as view:
            entity = Directory(view).named(name)
            added = [node.id for node in view.get(Node, [added_id(own) for own in entity.ids]) if not node.erased]
        for own in entity.ids:
            self._correct(own, lambda said: EntityCorrection(said.entity, forgotten=True))
        if added:  # it holds the name
            self._space.erase(added)
        return entity

    def undo(self, name: str) -> Entity:
        """Takes back whatever was said of a name by hand. Raises NotFound."""
        own = entity_id(name)
        with self._space.view() as view:
            if (found := Directory(view).find(name)) is not None:
                own = found.id
            if not view.get(Node, [correction_id(own)]):
                raise NotFound(f"Nothing was corrected of {name!r}.", hint="To see what there is: recollect entities")
        self._correct(own, lambda said: EntityCorrection(said.entity))
        return self._named(own, name)

    def _corrected(self, name: str, change: Callable[[EntityCorrection], EntityCorrection]) -> Entity:
        with self._space.view() as view:
            entity = Directory(view).named(name)
        self._correct(entity.id, change)
        return self._named(entity.id, name)

    def _correct(self, entity: NodeId, change: Callable[[EntityCorrection], EntityCorrection]) -> None:
        own = correction_id(entity)

        def plan(view: View) -> tuple[Change, None]:
            revisions = view.revisions([own])
            expect = {own: revisions[own].number if own in revisions else 0}
            said = _node(change(_known(view, entity)))
            return Change(expect=expect, put=[said], revive=True, begins=False), None

        update(self._space, plan, "The entity is")

    def _named(self, entity: NodeId, name: str) -> Entity:
        with self._space.view() as view:
            found = Directory(view).of([entity]).get(entity)
        if found is None:
            raise NotFound(f"No entity is called {name!r}.")
        return found


def _addition(view: View, added: Added, messages: Sequence[NodeId]) -> Change | None:
    """What is to be written; None where it is known already, with all of these sources."""
    before = next((n for n in view.get(Node, [added_id(added.entity)]) if not n.erased), None)
    if before is not None:
        known = Added.of(before)
        added = replace(known, type=added.type if added.type != "concept" else known.type)
    there = {edge.target_id for edge in view.edges([added.node.id], (ADDED_FROM,), "out")} if before else set()
    edges = drawn_from(added.node.id, (message for message in messages if message not in there))
    hidden = _known(view, added.entity).forgotten
    put = [
        *([] if before == added.node else [added.node]),
        *([_node(EntityCorrection(added.entity))] if hidden else []),
    ]
    return Change(put=put, edges=edges) if put or edges else None


def _known(view: View, entity: NodeId) -> EntityCorrection:
    nodes = [node for node in view.get(Node, [correction_id(entity)]) if not node.erased]
    return EntityCorrection.of(nodes[0]) if nodes else EntityCorrection(entity)


def _node(said: EntityCorrection) -> Node:
    """A correction as it is stored, found by the name that it gives, or by the entity that it leads to."""
    told = {"name": said.name, "type": said.type, "into": said.into, "apart": said.apart}
    told |= {"pinned": said.pinned, "forgotten": said.forgotten}
    return Node(
        correction_id(said.entity),
        NodeKind.ENTITY,
        key=said.into or folded(said.name or ""),
        text=said.name or "",
        state=SAID,
        origin=Origin.SAID,
        body={"entity": said.entity, **{name: value for name, value in told.items() if value}},
    )
