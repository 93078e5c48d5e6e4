"""Entities from conversations, by rules or a model, and those that a summary names.

Mentions are edges, and an entity is the sum of the mentions that lead to it. So an append adds to what is there,
whatever its size; an edit or deletion takes back what the message had added, and the same messages give the same
entities in whatever portions and order they come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.derive.entities.extract import Mention
from recollect.derive.entities.message import (
    BY_MODEL,
    BY_RULES,
    BY_SUMMARY,
    BY_TURN,
    MENTIONS,
    Changed,
    Recent,
    Related,
    Share,
    Tally,
    found_in,
    mention,
    mention_edges,
    shares,
)
from recollect.derive.entities.naming import YOU, entity_id, folded
from recollect.derive.entities.relations import SAME, is_apt
from recollect.derive.tasks.base import LIVE, STALE, Effects, ModelWork, Portion, Setting
from recollect.derive.tasks.runs import MessageRun, Runs, material
from recollect.index.passages import is_person
from recollect.models.language.base import Completion, Request
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Material
from recollect.record import Edge, Message, Metadata, Node, NodeId, NodeKind, to_microseconds
from recollect.store import Task, View

KIND = "entities"
RUNS = Runs(KIND)

_ALL = 10_000_000


class Entities:
    """Derives entities, who mentions them, and what is said of them, by rules."""

    name = "entities"
    version = 2

    def derive(self, view: View, portions: Sequence[Portion], setting: Setting) -> Effects:
        """Mentions of new messages, and the entities and relations that change by them."""
        fresh: list[Edge] = []
        states: dict[NodeId, Metadata] = {}
        tasks: list[Task] = []
        for portion in portions:
            edges, state = _of_portion(portion)
            fresh += edges
            asked, pending = RUNS.wished(view, portion, setting)
            tasks += asked
            states[portion.conversation.id] = {**state, **pending}
        old = _before(view, portions)
        kept = still_said([edge for edge in old if edge.name == BY_MODEL], portions)
        return replace(settled(view, old, [*fresh, *kept]), states=states, tasks=tasks)


def still_said(edges: Sequence[Edge], portions: Sequence[Portion]) -> list[Edge]:
    """Of a model's mentions those whose run is as it was."""
    if not edges:
        return []
    living = {i for portion in portions if portion.whole for i in RUNS.prefixes(portion.messages)}
    return [edge for edge in edges if edge.properties.get("run") in living]


def settled(view: View, old: Sequence[Edge], new: Sequence[Edge]) -> Effects:
    """What is to be written where the mentions `new` take the place of `old`."""
    before, after = shares(old), shares(new)
    changed: Changed = {
        key: after.get(key) for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)
    }
    stale = {node.id for node in view.get(Node, sorted({entity for _, entity in before})) if node.state == STALE}
    nodes = _nodes(view, {entity for _, entity in changed} | stale, before, changed)
    related = Related()
    for (message, entity), share in changed.items():
        related.differ(message, entity, before.get((message, entity)), share)
    people = frozenset(node.id for node in nodes if node.body.get("type") == "person") | {entity_id(YOU)}
    edges, cut = related.effects(view, people, changed)
    same = {edge.key: edge.properties for edge in old}
    keys = {edge.key for edge in new}
    return Effects(
        put=nodes,
        edges=[*(edge for edge in new if same.get(edge.key) != edge.properties), *edges],
        cut=[*(key for key in same if key not in keys), *cut],
    )


def _of_portion(portion: Portion) -> tuple[list[Edge], Metadata]:
    recent = Recent.read(portion.state)
    edges: list[Edge] = []
    for message in portion.messages:
        edges += mention_edges(message, recent)
    return edges, recent.state()


def _before(view: View, portions: Iterable[Portion]) -> list[Edge]:
    """The mentions that are there of messages that are derived whole, or gone."""
    ids = [i for portion in portions if portion.whole for i in (*(m.id for m in portion.messages), *portion.gone)]
    return [edge for edge in view.edges(ids, (MENTIONS,), "out", _ALL) if edge.name != BY_TURN] if ids else []


def _nodes(
    view: View, entities: set[NodeId], before: dict[tuple[NodeId, NodeId], Share], changed: Changed
) -> list[Node]:
    known = {node.id: node for node in view.get(Node, sorted(entities))}
    of_entity: dict[NodeId, list[tuple[NodeId, NodeId]]] = {}
    for key in changed:
        of_entity.setdefault(key[1], []).append(key)
    put = []
    for entity in sorted(entities):
        tally, exact = Tally.of(known.get(entity)), True
        for key in of_entity.get(entity, ()):
            if (share := before.get(key)) is not None:
                exact = tally.subtract(share) and exact
        if not exact:
            tally = _counted(view, entity, changed)
        for key in of_entity.get(entity, ()):
            if (now := changed[key]) is not None:
                tally.add(now)
        node = tally.node(entity, known.get(entity))
        if node is not None:
            put.append(node)
    return put


def _counted(view: View, entity: NodeId, changed: Changed) -> Tally:
    """The entity summed up anew, without what changes: its first or last mention has gone."""
    tally = Tally()
    for key, share in sorted(shares(view.edges([entity], (MENTIONS,), "in", _ALL)).items()):
        if key not in changed:
            tally.add(share)
    return tally


# Which entities a summary names: edges that come and go with it, whoever makes it.

_COVERS = "COVERS"

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


# Entities by a language model: a run of messages is asked about once, and what it finds is added to the same nodes.

_TYPES = {
    "software": "technology", "method": "concept", "substance": "concept", "condition": "concept", "other": "concept",
}  # fmt: skip


#: Whether a message states words that say something of one of some names.
BearsOut = Callable[[Message, str, Iterable[str]], bool]


class EntitiesByModel(ModelWork):
    """Entities and relations from a run of messages with a language model."""

    kind = KIND

    def __init__(self, bears_out: BearsOut) -> None:
        self._bears_out = bears_out

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask; None where the run has changed, or grows on."""
        run = RUNS.wanted(view, task)
        return request(KIND, material(view, run).text) if run else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The mentions and relations that the messages bear out, in place of what a model said of these before."""
        run = RUNS.wanted(view, task)
        if run is None:
            return Effects()
        there = view.edges([message.id for message in run.messages], (MENTIONS,), "out", _ALL)
        old = [edge for edge in there if edge.name != BY_TURN]
        read = _Answer(run, material(view, run), answer.data, self._bears_out)
        new = [edge for edge in old if edge.name == BY_RULES] + read.edges(f"{prompt(KIND).id} {answer.model}")
        made = settled(view, old, new)
        return replace(made, put=[*made.put, RUNS.asked(run)])


class _Answer:
    """An answer, read against the messages that it is about."""

    def __init__(self, run: MessageRun, material: Material, data: Mapping[str, Any], bears_out: BearsOut) -> None:
        self._messages, self._bears_out = {message.id: message for message in run.messages}, bears_out
        self._run, self._material, self._data = RUNS.id(run), material, data
        self._names: dict[str, str] = {}  # folded spelling: the name that it stands for
        self._types: dict[str, str] = {}
        for entity in data["entities"]:
            for spelling in (entity["name"], *entity["aliases"]):
                self._names.setdefault(folded(spelling), " ".join(entity["name"].split()))
                self._types.setdefault(folded(spelling), _TYPES.get(entity["type"], entity["type"]))

    def edges(self, made_by: str) -> list[Edge]:
        """The mentions, with what is said of each."""
        found: dict[tuple[NodeId, NodeId], tuple[str, str, set[tuple[str, NodeId]]]] = {}
        for message, spelling in self._mentioned():
            self._mention(found, message, spelling)
        named = {key[1] for key in found}
        for message, source, relation, target in self._stated():
            for name in (source, target):
                self._mention(found, message, name)
            found[message.id, entity_id(source)][2].add((relation, entity_id(target)))
        for spelling, _, says in found.values():
            name = self._names.get(folded(spelling), spelling)
            if folded(name) != folded(spelling) and entity_id(name) in named:
                says.add((SAME, entity_id(name)))
        return [
            mention(
                message,
                entity,
                Share(spelling, (kind,), to_microseconds(self._messages[message].timestamp), frozenset(says)),
                BY_MODEL,
                {"run": self._run, "by": made_by},
            )
            for (message, entity), (spelling, kind, says) in sorted(found.items())
        ]

    def _mention(
        self,
        found: dict[tuple[NodeId, NodeId], tuple[str, str, set[tuple[str, NodeId]]]],
        message: Message,
        spelling: str,
    ) -> None:
        kind = "person" if spelling == YOU else self._types.get(folded(spelling), "concept")
        found.setdefault((message.id, entity_id(spelling)), (spelling, kind, set()))

    def _mentioned(self) -> Iterator[tuple[Message, str]]:
        """Names and aliases where the message that is said to name them does."""
        for entity in self._data["entities"]:
            for number in entity["messages"]:
                message = self._message(number)
                for spelling in (entity["name"], *entity["aliases"]):
                    if message is not None and _is_named(message, spelling):
                        yield message, " ".join(spelling.split())

    def _stated(self) -> Iterator[tuple[Message, str, str, str]]:
        """Relations that their quotation bears out, between entities of the answer."""
        for relation in self._data["relations"]:
            message = self._message(relation["message"])
            ends = {folded(relation[end]) for end in ("source", "target")}
            names = [one for one, name in self._names.items() if {one, folded(name)} & ends]
            if message is None or not self._bears_out(message, relation["quote"], names):
                continue
            source, target = (self._end(relation[end], message) for end in ("source", "target"))
            if source and target and folded(source) != folded(target):
                kinds = (self._kind(relation[end]) for end in ("source", "target"))
                if is_apt(relation["relation"], *kinds, by_speaker=folded(relation["source"]) == "user"):
                    yield message, source, relation["relation"], target

    def _end(self, name: str, message: Message) -> str | None:
        if folded(name) == "user":
            return message.speaker if message.speaker and is_person(message.speaker) else YOU
        return self._names.get(folded(name))

    def _kind(self, name: str) -> str | None:
        return "person" if folded(name) == "user" else self._types.get(folded(name))

    def _message(self, number: int) -> Message | None:
        own = self._material.id(number)
        return self._messages.get(own) if own else None


def _is_named(message: Message, spelling: str) -> bool:
    """Whether a message has a name as a whole word."""
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(folded(spelling))}(?!(?!s\b)[a-z0-9])", folded(message.content)))
