"""One message as the edges to what it mentions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from recollect.derive.entities.extract import Mention, mentions
from recollect.derive.entities.naming import YOU, entity_id, folded, without_title
from recollect.derive.entities.relations import SAME, Assertion, relations
from recollect.derive.entities.tally import Share, mention
from recollect.index.passages import is_person
from recollect.record import Edge, Message, Metadata, NodeId, Role, to_microseconds

_LOOKED_BACK = 8  # messages in which a full name explains a first name
_MOST_NAMES = 24


@lru_cache(maxsize=4096)
def found_in(text: str) -> tuple[Mention, ...]:
    """The names in a text; several ask."""
    return tuple(mentions(text))


@dataclass(slots=True)
class Recent:
    """Full names of people in the last messages of a conversation, each with how many messages ago it was."""

    names: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, state: Metadata) -> Recent:
        """As it was left."""
        return cls(dict(state.get("names", {})))

    def state(self) -> Metadata:
        """To be kept until there are more messages."""
        return {"names": dict(self.names)} if self.names else {}

    def heard(self, names: Iterable[str]) -> None:
        """One more message, with these names of people."""
        older = {name: ago + 1 for name, ago in self.names.items() if ago < _LOOKED_BACK}
        fresh = {name: 0 for name in names if " " in name}
        self.names = dict(sorted((older | fresh).items(), key=lambda item: (item[1], item[0]))[:_MOST_NAMES])

    def meant(self, name: str) -> str | None:
        """The one full name that a first or last name can stand for."""
        one = folded(name)
        if " " in one:
            return None
        full = {folded(known): known for known in self.names if one in _ends(folded(known))}
        return next(iter(full.values())) if len(full) == 1 else None


def _ends(name: str) -> tuple[str, str]:
    name = without_title(name)
    return name.partition(" ")[0], name.rpartition(" ")[2]


def mention_edges(message: Message, recent: Recent) -> list[Edge]:
    """The edges from a message to what it mentions, its speaker among them, with what it says of each."""
    found = found_in(message.content)
    speaker = message.speaker if is_person(message.speaker) else None
    names = {entity_id(m.name): (m.name, m.type) for m in found}
    if speaker:
        names.setdefault(entity_id(speaker), (speaker, "person"))
    recent.heard([*(m.name for m in found if m.type == "person"), *([speaker] if speaker else [])])
    me = speaker or (YOU if message.role is Role.USER else None)
    said = [*relations(message.content, found, me), *_meant(found, recent)]
    says: dict[NodeId, set[tuple[str, NodeId]]] = {}
    for assertion in said:
        source, target = entity_id(assertion.source), entity_id(assertion.target)
        names.setdefault(source, (assertion.source, "person" if assertion.source == YOU else "concept"))
        if assertion.relation != SAME:
            names.setdefault(target, (assertion.target, "concept"))
        says.setdefault(source, set()).add((assertion.relation, target))
    at = to_microseconds(message.timestamp)
    speaks = entity_id(speaker) if speaker else None
    return [
        mention(
            message.id,
            entity,
            Share(name, (kind,), at, frozenset(says.get(entity, ()))),
            more={"speaks": True} if entity == speaks else None,
        )
        for entity, (name, kind) in names.items()
    ]


def _meant(found: Iterable[Mention], recent: Recent) -> list[Assertion]:
    """That a first name here is the person whose full name was just said."""
    return [
        Assertion(name.name, SAME, full)
        for name in found
        if name.type in ("person", "concept") and (full := recent.meant(name.name))
    ]
