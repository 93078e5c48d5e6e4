"""Which entities a summary names: edges that come and go with it, whoever makes it."""

from __future__ import annotations

import re
from dataclasses import replace

from recollect.derive.entities.extract import Mention
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import entity_id
from recollect.derive.entities.tally import BY_SUMMARY, MENTIONS
from recollect.derive.tasks.base import LIVE, Effects
from recollect.record import Edge, Node, NodeId, NodeKind
from recollect.store import View

_COVERS = "COVERS"
_ALL = 10_000_000

#: Who says a quoted line, and when.
_HEAD = re.compile(r"^(?:\d{4}-\d\d-\d\d )?[^:\n]{1,60}: ", re.MULTILINE)


def with_names(view: View, effects: Effects) -> Effects:
    """The effects with edges from the summaries in them to the entities that these name, as far as there are such."""
    put = {node.id: node for node in effects.put}
    lost = [node.id for node in put.values() if node.kind is NodeKind.ENTITY and not _lives(node)]
    named = _named(view, effects, put)
    if not (named or lost):
        return effects
    known = {node.id: node for node in view.get(Node, sorted(set().union(*named.values())))} | put
    edges = {
        edge.key: edge
        for summary, entities in named.items()
        for entity in sorted(entities)
        if entity in known and _lives(known[entity])
        for edge in [Edge(summary, MENTIONS, entity, name=BY_SUMMARY)]
    }
    there = {edge.key for edge in view.edges(list(named), (MENTIONS,), "out", _ALL)} if named else set()
    there_too = view.edges(lost, (MENTIONS,), "in", _ALL) if lost else []
    cut = [*sorted(there - edges.keys()), *(edge.key for edge in there_too if edge.name == BY_SUMMARY)]
    fresh = [edge for key, edge in edges.items() if key not in there]
    return replace(effects, edges=[*effects.edges, *fresh], cut=list(dict.fromkeys([*effects.cut, *cut])))


def _named(view: View, effects: Effects, put: dict[NodeId, Node]) -> dict[NodeId, frozenset[NodeId]]:
    """By the summaries that are written, or are the same as they were, what the names in them stand for."""
    same = {edge.source_id for edge in effects.edges if edge.type == _COVERS and edge.source_id not in put}
    summaries = [*put.values(), *(view.get(Node, sorted(same)) if same else ())]
    return {
        node.id: frozenset(entity_id(one.name) for one in _names(node))
        for node in summaries
        if node.kind is NodeKind.SUMMARY
    }


def _names(node: Node) -> list[Mention]:
    text = _HEAD.sub("", node.text) if node.body.get("extractive", True) else node.text
    return list(found_in(text)) if _lives(node) else []


def _lives(node: Node) -> bool:
    return node.state == LIVE and not node.erased
