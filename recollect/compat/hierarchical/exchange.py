"""A whole graph as plain values, and back: the form of `export_graph`, and that of amplihack_memory's own exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.compat.hierarchical.records import (
    DERIVES,
    EDGES,
    SIMILAR,
    STATES,
    SUPERSEDES,
    TRANSITIONED,
    as_dict,
    category_of,
    episode_node,
    fact_node,
    is_own,
    knowledge,
    knowledge_edge,
    read,
    told_confidence,
    up_to_date,
    written,
)
from recollect.compat.hierarchical.storing import claim_of, recorded, superseded
from recollect.derive.facts.changes import TOLD, ClaimChanges, settled
from recollect.derive.facts.claim import Provenance
from recollect.derive.tasks.queue import Publisher, head_revision
from recollect.ingest.secrets import Withheld
from recollect.models.embedding import Embedder
from recollect.record import Edge, Node, NodeId, NodeKind, from_microseconds, parse_time, to_microseconds
from recollect.store import Change, IndexChange, Space, Stale, View, Where
from recollect.store.passages import EmbedderId, Passage
from recollect.text.clean import clean_metadata

_FACT, _EPISODE = "SemanticMemory", "EpisodicMemory"
_BATCH, _ALL = 500, 1_000_000_000
_FORMAT = "1.0"
#: The keys of the edges in amplihack_memory's format.
_LISTS = {
    SIMILAR: "similar_to_edges",
    DERIVES: "derives_from_edges",
    SUPERSEDES: "supersedes_edges",
    TRANSITIONED: "transitioned_to_edges",
}
_COUNTED = ("semantic_nodes_imported", "episodic_nodes_imported", "edges_imported", "skipped", "errors")
_OF_EDGES = ("source_id", "target_id", "relationship", "weight", "metadata")


def every(view: View) -> Iterator[Node]:
    """All facts and episodes that were stored through HierarchicalMemory."""
    where = Where(kinds=(NodeKind.FACT.value, NodeKind.EPISODE.value), states=STATES, deleted=False)
    after: str | None = None
    while True:
        page = view.find(Node, where, after=after, limit=_BATCH)
        yield from filter(is_own, page.items)
        if page.next is None:
            return
        after = page.next


# --- out -------------------------------------------------------------------------------------------------------------
def graph(view: View, agent_name: str, now: datetime) -> dict[str, Any]:
    """All of it: nodes by creation, and the edges among them."""
    nodes = sorted(every(view), key=lambda node: (to_microseconds(node.valid_from) or 0, node.id))
    there = {node.id: node for node in nodes}
    edges = [
        edge for edge in view.edges(None) if edge.type in EDGES and {edge.source_id, edge.target_id} <= there.keys()
    ]
    return {
        "nodes": [_plain(node) for node in nodes],
        "edges": [_plain_edge(up_to_date(edge, there)) for edge in edges],
        "agent_name": agent_name,
        "exported_at": written(now),
    }


def by_kind(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The same in amplihack_memory's format."""
    facts = [{**node, "memory_id": node["node_id"]} for node in whole["nodes"] if node["type"] == _FACT]
    episodes = [{**node, "memory_id": node["node_id"]} for node in whole["nodes"] if node["type"] == _EPISODE]
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in _LISTS.values()}
    for edge in whole["edges"]:
        flat = edge["metadata"] if edge["relationship"] != SIMILAR else {"metadata": edge["metadata"]}
        ends = {name: edge[name] for name in ("source_id", "target_id", "weight")}
        lists[_LISTS[edge["relationship"]]].append({**ends, **flat})
    counts = {name.replace("edges", "edge_count"): len(edges) for name, edges in lists.items()}
    return {
        "agent_name": whole["agent_name"],
        "exported_at": whole["exported_at"],
        "format_version": _FORMAT,
        "semantic_nodes": facts,
        "episodic_nodes": episodes,
        **lists,
        "statistics": {"semantic_node_count": len(facts), "episodic_node_count": len(episodes), **counts},
    }


def _plain(node: Node) -> dict[str, Any]:
    until = {"valid_to": written(node.valid_to)} if node.valid_to else {}
    if node.kind is NodeKind.EPISODE:
        return {
            "type": _EPISODE,
            "node_id": node.id,
            "content": node.text,
            "source_label": node.body.get("source_label", ""),
            "created_at": node.body.get("created_at", ""),
            "stored_at": to_microseconds(node.valid_from),
        }
    return {
        "type": _FACT,
        **as_dict(knowledge(node)),
        "category": category_of(node.body.get("category")).value,
        "entity_name": node.key,
        "state": node.state,
        "stored_at": to_microseconds(node.valid_from),
        "confidence_told": told_confidence(node),
        **({"slot": node.body["slot"]} if "slot" in node.body else {}),
        **until,
    }


def _plain_edge(edge: Edge) -> dict[str, Any]:
    shown = knowledge_edge(edge)
    return {name: getattr(shown, name) for name in _OF_EDGES}


# --- in --------------------------------------------------------------------------------------------------------------
def check(data: object) -> None:
    """Raises ValueError for what is no export at all."""
    if not isinstance(data, Mapping) or not ({"nodes", "semantic_nodes", "episodic_nodes"} & set(data)):
        raise ValueError("this is no export of a hierarchical memory: it has no nodes")


def clear(space: Space, embedder: Embedder) -> None:
    """Removes all facts and episodes that were stored; facts that were drawn from conversations follow those alone."""
    with space.view() as view:
        nodes = list(every(view))
    for at in range(0, len(nodes), _BATCH):
        some = nodes[at : at + _BATCH]
        space.erase([node.id for node in some])
        settle(
            space, embedder, ClaimChanges(touched={NodeId(node.body["slot"]) for node in some if "slot" in node.body})
        )


def settle(space: Space, embedder: Embedder, ledger: ClaimChanges) -> None:
    """Settles slots anew."""
    while ledger.slots:
        with space.view() as view:
            revision = head_revision(view)
            effects = settled(view, ledger)
        with suppress(Stale):
            space.write(Publisher(embedder).change(effects, revision, begins=True))
            return


def take_in(
    space: Space,
    data: Mapping[str, Any],
    now: datetime,
    embedder: Embedder,
    passages: Callable[[Node], Sequence[Passage]],
) -> dict[str, Any]:
    """Writes what is not there yet. Raises ValueError for what is no export at all."""
    check(data)
    counts = {
        "semantic_nodes_imported": 0,
        "episodic_nodes_imported": 0,
        "edges_imported": 0,
        "skipped": 0,
        "errors": 0,
    }
    nodes: dict[NodeId, Node] = {}
    for plain in _nodes_of(data):
        try:
            node = _node(plain, now)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            counts["errors"] += 1
            continue
        nodes[node.id] = node
    edges = _edges(data, counts)
    replaced = {edge.target_id for edge in edges if edge.type == SUPERSEDES}
    told = {NodeId(str(plain.get("node_id"))) for plain in _nodes_of(data) if plain.get("state")}
    nodes |= {i: superseded(nodes[i], None) for i in replaced & nodes.keys() - told if nodes[i].state == "live"}
    there = _there(space, list(nodes.keys() | {end for edge in edges for end in (edge.source_id, edge.target_id)}))
    with space.view() as view:
        withheld = Withheld.read(view)
    fresh = [withheld.out_of(node) for node in nodes.values() if node.id not in there]
    counts["skipped"] = len(nodes) - len(fresh)
    for at in range(0, len(fresh), _BATCH):
        some = fresh[at : at + _BATCH]
        made_by = EmbedderId(embedder.name, embedder.dimensions)
        index = IndexChange(embedder=made_by, passages={node.id: passages(node) for node in some})
        space.write(Change(put=some, index=index, revive=True))
    known = there | nodes.keys()
    kept = [withheld.out_of(edge) for edge in edges if edge.source_id in known and edge.target_id in known]
    kept = _not_there_yet(space, kept, there)
    for at in range(0, len(kept), 10 * _BATCH):
        space.write(Change(edges=kept[at : at + 10 * _BATCH]))
    _enter(space, embedder, data, list(nodes), edges)
    counts["semantic_nodes_imported"] = sum(node.kind is NodeKind.FACT for node in fresh)
    counts["episodic_nodes_imported"] = len(fresh) - counts["semantic_nodes_imported"]
    counts["edges_imported"] = len(kept)
    return counts


def _enter(
    space: Space, embedder: Embedder, data: Mapping[str, Any], ids: Sequence[NodeId], edges: Sequence[Edge]
) -> None:
    """Has facts that came in settle with all else that is known of the same."""
    given = {NodeId(str(plain.get("node_id"))): plain for plain in _nodes_of(data)}
    chains = _chains([edge for edge in edges if edge.type in (SUPERSEDES, TRANSITIONED)])
    slots: dict[NodeId, NodeId] = {}
    for at in range(0, len(ids), _BATCH):
        with space.view() as view:
            found = view.get(Node, ids[at : at + _BATCH])
        ledger = ClaimChanges()
        for node in found:
            if node.kind is not NodeKind.FACT or node.erased or TOLD in node.body:
                continue
            plain, first = given[node.id], chains.get(node.id, node.id)
            slot = NodeId(str(plain["slot"])) if plain.get("slot") else slots.get(first)
            claim = claim_of(node, Provenance.IMPORTED, slot)
            if claim is not None:
                slots.setdefault(first, claim.slot)
                ledger.enter(recorded(replace(node, score=_confidence(plain, node)), claim))
        settle(space, embedder, ledger)


def _chains(edges: Sequence[Edge]) -> dict[NodeId, NodeId]:
    """By facts that took the place of one another, one of them."""
    first: dict[NodeId, NodeId] = {}

    def of(node: NodeId) -> NodeId:
        while first.setdefault(node, node) != node:
            node = first[node]
        return node

    for edge in edges:
        one, other = sorted((of(edge.source_id), of(edge.target_id)))
        first[other] = one
    return {node: of(node) for node in list(first)}


def _confidence(plain: Mapping[str, Any], node: Node) -> float:
    """The confidence that a fact was stored with, as far as its export tells."""
    told = plain.get("confidence_told")
    if isinstance(told, int | float) and not isinstance(told, bool):
        return float(told)
    given = float(plain.get("confidence", 0.8))
    return min(1.0, 2 * given) if plain.get("state") == "superseded" and 0 < given <= 1 else given


def _there(space: Space, ids: Sequence[NodeId]) -> set[NodeId]:
    found: set[NodeId] = set()
    with space.view() as view:
        for at in range(0, len(ids), _BATCH):
            found |= {node.id for node in view.get(Node, ids[at : at + _BATCH]) if not node.erased}
    return found


def _not_there_yet(space: Space, edges: Sequence[Edge], there: set[NodeId]) -> list[Edge]:
    """The edges without those that are in the store, as they are or as settling made them."""
    old = [edge for edge in edges if edge.source_id in there and edge.target_id in there]
    ends, known = sorted({edge.source_id for edge in old}), set[tuple[str, str, str]]()
    with space.view() as view:
        for at in range(0, len(ends), _BATCH):
            stored = view.edges(ends[at : at + _BATCH], EDGES, "out", _ALL)
            known |= {(edge.source_id, edge.type, edge.target_id) for edge in stored}
    return [edge for edge in edges if (edge.source_id, edge.type, edge.target_id) not in known]


def _nodes_of(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from _maps(data.get("nodes"))
    for name, kind in (("episodic_nodes", _EPISODE), ("semantic_nodes", _FACT)):
        for plain in _maps(data.get(name)):
            yield {**plain, "type": kind, "node_id": plain.get("node_id") or plain.get("memory_id")}


def _maps(found: object) -> list[Mapping[str, Any]]:
    """What is a map among what was given; anything else is nothing that can be taken in."""
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def _node(plain: Mapping[str, Any], now: datetime) -> Node:
    """Raises KeyError, TypeError or ValueError for what is none."""
    name = str(plain.get("node_id") or "")
    if not name:
        raise ValueError("a node without an id")
    created_at = str(plain.get("created_at") or "")
    stored = plain.get("stored_at")
    created = (from_microseconds(stored) if isinstance(stored, int) else None) or read(created_at, now)
    if plain.get("type") == _EPISODE:
        label = str(plain.get("source_label") or "")
        return episode_node(plain["content"], label, created, id=name, created_at=created_at)
    metadata = dict(plain.get("metadata") or {})
    fact = fact_node(
        plain["content"],
        str(plain.get("concept") or ""),
        plain.get("confidence", 0.8),
        category_of(plain.get("category") or metadata.get("category")),
        str(plain.get("source_id") or ""),
        plain.get("tags") or (),
        metadata,
        created,
        id=name,
        created_at=created_at,
        entity=plain.get("entity_name"),
    )
    return replace(
        fact,
        state="superseded" if plain.get("state") == "superseded" else "live",
        valid_to=parse_time(plain.get("valid_to")),
    )


def _edges(data: Mapping[str, Any], counts: dict[str, int]) -> list[Edge]:
    flat = [dict(edge) for edge in _maps(data.get("edges"))]
    for listed, name in _LISTS.items():
        flat += [{**edge, "relationship": listed} for edge in _maps(data.get(name))]
    found = []
    for edge in flat:
        metadata = edge.get("metadata") or {
            name: value for name, value in edge.items() if name not in (*_OF_EDGES, "strength")
        }
        kind, ends = edge.get("relationship"), (edge.get("source_id"), edge.get("target_id"))
        if kind not in EDGES or not all(isinstance(end, str) and end for end in ends):
            counts["errors"] += 1
            continue
        weight = {"similarity": float(edge.get("weight", 1.0))} if kind == SIMILAR else {}
        found.append(Edge(NodeId(str(ends[0])), kind, NodeId(str(ends[1])), {**clean_metadata(metadata), **weight}))
    return found
