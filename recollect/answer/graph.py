"""What the graph of entities knows of a question: who is named, who of several is meant, what lies around them [2]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.entity import Entity, united, unmentioned
from recollect.derive.entities.message import BY_SUMMARY, MENTIONS, found_in
from recollect.derive.entities.naming import YOU, correction_id, entity_id, folded, is_ordinary
from recollect.derive.entities.relations import SAME
from recollect.derive.graph.reader import TOGETHER, Reader, Relation, ways
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Conversation, Edge, Message, Node, NodeId
from recollect.search.derived import may_be_found
from recollect.search.query.wants import speaks_of_asker
from recollect.store import View
from recollect.store.passages import Filter
from recollect.text.terms import STOP_WORDS, terms, words

#: The edges from an answer to what it was drawn from.
SOURCED = "SOURCED_FROM"

_RELATION = 3.0  # what a relation counts beside one message that mentions both
_EDGES = 2_000
_ANSWERS = 200  # the newest that mention what is asked about
_MOST_RELATIONS = 8
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that a text names, as it names it. `others` are those of the same name that it is not taken for."""

    said: str
    entity: Entity
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A message or a document that answers were drawn from. `answer` is the one that shows it, `is_own` whether that
    was given in the conversation that asks.
    """

    id: NodeId
    answer: Message
    is_own: bool


class Neighbourhood:
    """Entities and what they are near to, in one view."""

    def __init__(self, view: View) -> None:
        self._view, self._reader = view, Reader(view)
        self._directory = self._reader.directory

    def named(self, text: str, beside: Sequence[str] = ()) -> list[NamedEntity]:
        """The entities that a text names. A name of several is the one that is nearest to the other names of the text,
        else to those `beside` it; where none is, it stays with its own name.
        """
        types = {mention.name: mention.type for mention in found_in(text)}
        names = list(types)[:_MOST_NAMED]
        found: list[NamedEntity] = []
        for name in names:
            several = self._bearers(name)
            if len(several) > 1:
                around = [other for other in names if other != name]
                chosen = self._nearest(several, around) or self._nearest(several, beside)
                if chosen is not None:
                    others = tuple(entity.name for entity in several if entity.id != chosen.id)
                    found.append(NamedEntity(name, chosen, others))
                    continue
            entity = self._directory.find(name) or self._new(name, types[name])
            if entity is not None:
                found.append(NamedEntity(name, entity))
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
        times = _times(edges)
        targets: dict[NodeId, set[NodeId]] = {}
        for edge in edges:
            targets.setdefault(edge.source_id, set()).add(edge.target_id)
        return sorted(times, key=lambda i: (-len(targets[i]), -times[i], i))[:most]

    def drawn_from(self, entities: Sequence[Entity], own: NodeId | None, most: int) -> list[Drawn]:
        """What answers about these were drawn from, and behind it what answers about entities that are related to them
        were; of each, those of the conversation `own` first, the newest first.
        """
        near = {i for one in self._reader.relations(entities) for i in (one.source_id, one.target_id)}
        related = self._directory.of(sorted(near - {entity.id for entity in entities})).values()
        found = [*self._drawn(entities, own), *self._drawn(list(related), own)]
        return list({one.id: one for one in reversed(found)}.values())[::-1][:most]

    def _drawn(self, entities: Sequence[Entity], own: NodeId | None) -> list[Drawn]:
        times = _times(self._mentions([i for entity in entities for i in entity.ids]))
        sourced = self._view.edges(list(times), (SOURCED,), "out", _EDGES) if times else []
        newest = sorted({edge.source_id for edge in sourced}, key=lambda i: (-times[i], i))[:_ANSWERS]
        answers = [m for m in self._view.get(Message, newest) if not (m.deleted or m.erased)]
        answers.sort(key=lambda m: (m.conversation_id != own, -times[m.id], m.id))
        return [
            Drawn(edge.target_id, answer, answer.conversation_id == own)
            for answer in answers
            for edge in sourced
            if edge.source_id == answer.id
        ]

    def _new(self, name: str, type: str) -> Entity | None:
        """An entity that only turns mention so far: what derives entities from messages has not come by."""
        own = entity_id(name)
        by_hand = self._view.get(Node, [correction_id(own)])  # such as that it shall be no entity
        if by_hand or not self._mentions([own]):
            return None
        return united([unmentioned(own, name, type)], [], {})[0]

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


def _times(edges: Iterable[Edge]) -> dict[NodeId, int]:
    """The messages that mention something, and when."""
    times: dict[NodeId, int] = {}
    for edge in edges:
        times[edge.source_id] = max(times.get(edge.source_id, 0), edge.properties.get("at") or 0)
    return times


# What the graph of entities knows of the names in a question, in words: "Next.js IMPROVES SEO" [0].

#: How much of a prompt the graph may take.
MOST_TOKENS = 160

_MOST_NAMES, _MOST_LOOKED_UP, _LONGEST_WAY = 4, 6, 3
_BESIDE = 3  # of what is mentioned with a name, unless more is known of it
_OFTEN = 2  # messages that mention both
_VERSION = re.compile(r" v?\d[\w.]*$")


@dataclass(frozen=True, slots=True)
class KnownRelation:
    """What is known of a name: in words, and by which messages. `is_said`: they say so, rather than mention both."""

    words: str
    messages: tuple[NodeId, ...]
    is_said: bool = True


def related(
    view: View,
    question: str,
    wanted: Filter,
    texts: Sequence[str] = (),
    most_tokens: int = MOST_TOKENS,
    excluded: Sequence[Sequence[str]] = (),
) -> tuple[KnownRelation, ...]:
    """What is known of the names in a question, the most telling first, in at most so many tokens.

    Only what is proven by messages that a search with this filter may show, without `excluded` phrases. `texts` are
    what was found for the question: a name may stand there with a version ("Next.js 14").
    """
    directory = Directory(view)
    entities = _named(view, directory, question)
    entities += _versions(directory, question, entities, texts)
    if not entities:
        return ()
    found = list(_ordered(Reader(view), entities, question))
    allowed = _allowed(view, [i for way in found for relation in way for i in relation.evidence], wanted, excluded)
    told: dict[str, KnownRelation] = {}
    left = most_tokens
    for way in found:
        proofs = [tuple(i for i in relation.evidence if i in allowed) for relation in way]
        said = "; ".join(relation.words for relation in way)
        size = count_tokens(said)
        if all(proofs) and said not in told and size <= left:
            messages = tuple(dict.fromkeys(i for each in proofs for i in each))
            told[said] = KnownRelation(said, messages, is_said=all(relation.name != TOGETHER for relation in way))
            left -= size
    return tuple(told.values())


def _named(view: View, directory: Directory, question: str) -> list[Entity]:
    """The entities that it names, also in lower case, where no plain English word is meant."""
    found = {one.entity.id: one.entity for one in Neighbourhood(view).named(question)}
    known = {part for entity in found.values() for part in words(entity.name)}
    others = (word for word in words(question) if word not in known and word not in STOP_WORDS)
    for word in [word for word in others if len(word) > 2 and not is_ordinary(word)][:_MOST_LOOKED_UP]:
        if (entity := directory.find(word)) is not None:
            found.setdefault(entity.id, entity)
    return list(found.values())[:_MOST_NAMES]


def _versions(directory: Directory, question: str, entities: Sequence[Entity], texts: Sequence[str]) -> list[Entity]:
    """The versions of these, and of other names in the question, that stand in texts."""
    called = [*(entity.name for entity in entities), *(mention.name for mention in found_in(question))]
    begins = tuple(f"{folded(name)} " for name in called)
    names = dict.fromkeys(mention.name for text in texts for mention in found_in(text))
    versions = [name for name in names if _VERSION.search(name) and folded(name).startswith(begins)]
    found = [directory.find(name) for name in versions[:_MOST_NAMES]]
    known = {entity.id for entity in entities}
    return list({e.id: e for e in found if e is not None and e.id not in known}.values())


def _ordered(reader: Reader, entities: Sequence[Entity], question: str) -> Iterator[tuple[Relation, ...]]:
    """Ways between the names, then what is said of each, then what they are mentioned with."""
    asked = set(terms(question))
    said = sorted(reader.relations(entities), key=lambda r: (-len(asked & set(terms(r.words))), -r.weight, str(r)))
    ids = {entity.id for entity in entities}
    asker = {entity_id(YOU)} if speaks_of_asker(question) else set()
    yield from ((relation,) for relation in said if {relation.source_id, relation.target_id} <= ids | asker)
    for one, other in combinations(entities, 2):
        for path in ways(reader, one, other, with_mentions=False)[:1]:
            if len(path.relations) <= _LONGEST_WAY:
                yield path.relations
    yield from ((relation,) for relation in said)
    if len(said) < _BESIDE:
        beside = {frozenset((r.source_id, r.target_id)): r for r in reader.together(entities) if r.weight >= _OFTEN}
        nearest = sorted(beside.values(), key=lambda r: (not {r.source_id, r.target_id} <= ids, -r.weight, str(r)))
        yield from ((relation,) for relation in nearest[: _BESIDE - len(said)])


def _allowed(view: View, ids: Iterable[NodeId], wanted: Filter, excluded: Sequence[Sequence[str]]) -> set[NodeId]:
    """Those of the messages that may be found."""
    messages = [m for m in view.get(Message, list(dict.fromkeys(ids))) if not (m.deleted or m.erased)]
    there = view.get(Conversation, list(dict.fromkeys(m.conversation_id for m in messages)))
    conversations = {c.id: c for c in there if not (c.deleted or c.erased)}
    return {m.id for m in messages if may_be_found(m, conversations, wanted, excluded)}
