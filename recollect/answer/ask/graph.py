"""What the graph of entities knows of the names in a question, in words: "Next.js IMPROVES SEO" [0].

First what connects the names (and the asker, of whom "I" speaks) on the shortest ways, then what else is said of each,
last what is mentioned with them. Each is proven by messages; what no message proves that may be found is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from recollect.answer.chat.graph import Neighbourhood
from recollect.derive.entities.directory import Directory
from recollect.derive.entities.entity import Entity
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import YOU, entity_id, folded
from recollect.derive.entities.wording import is_ordinary
from recollect.derive.graph.reader import Reader
from recollect.derive.graph.relation import TOGETHER, Relation
from recollect.derive.graph.walk import ways
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Conversation, Message, NodeId
from recollect.search.derived import may_be_found
from recollect.search.query.wants import speaks_of_asker
from recollect.store import View
from recollect.store.passages import Filter
from recollect.text.terms import STOP_WORDS, terms, words

#: How much of a prompt the graph may take.
MOST_TOKENS = 160

_MOST_NAMES, _MOST_LOOKED_UP, _LONGEST_WAY = 4, 6, 3
_BESIDE = 3  # of what is mentioned with a name, unless more is known of it
_OFTEN = 2  # messages that mention both
_VERSION = re.compile(r" v?\d[\w.]*$")


@dataclass(frozen=True, slots=True)
class Told:
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
) -> tuple[Told, ...]:
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
    told: dict[str, Told] = {}
    left = most_tokens
    for way in found:
        proofs = [tuple(i for i in relation.evidence if i in allowed) for relation in way]
        said = "; ".join(relation.words for relation in way)
        size = count_tokens(said)
        if all(proofs) and said not in told and size <= left:
            messages = tuple(dict.fromkeys(i for each in proofs for i in each))
            told[said] = Told(said, messages, is_said=all(relation.name != TOGETHER for relation in way))
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
