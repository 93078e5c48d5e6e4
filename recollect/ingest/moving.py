"""Moving conversations and documents from one namespace to another, with what a person decided by hand about them.

They are written there first, then forgotten here, and no more is forgotten than was written. Killed in between, both
have them; moving again completes it, and nothing comes twice. What is derived is made anew there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.derive.entities.entity import ADDED_FROM
from recollect.derive.entities.naming import correction_id
from recollect.derive.facts.by_hand import BY_HAND, FactsByHand, read
from recollect.derive.facts.changes import current_hands, derived_claims, slots_since
from recollect.ingest import Ingest
from recollect.record import Chunk, Conversation, Document, Edge, Message, Node, NodeId, NodeKind, Origin
from recollect.store import Space, View, Where
from recollect.store.transfer import every

_ALL = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Copied:
    """Conversations and documents of which a copy is in the other namespace, and with their messages all that is."""

    named: tuple[NodeId, ...]
    every: frozenset[NodeId]


def copy(source: Space, target: Space, ingest: Ingest, ids: Sequence[NodeId]) -> Copied:
    """Writes conversations and documents of `source` to `target`, whose way in is `ingest`. Returns what is there then:
    with what was copied before, and not forgotten here yet. Where both hold a conversation, it is joined; a document
    with another text in `target` stays where it is.
    """
    with source.view() as view:
        conversations = [one.id for one in view.get(Conversation, ids) if not one.erased]
        documents = [one for one in view.get(Document, ids) if not one.erased]
        threads = [thread for own in conversations if (thread := view.thread(own)) is not None]
        messages = [message.id for thread in threads for message in thread.messages]
        nodes, edges = _by_hand(view, messages)
        added, sources = _added(view, messages)
        pieces = {document.id: view.get(Chunk, [document.id]) for document in documents}
    with target.view() as view:
        known = {message.id for message in view.get(Message, messages)}
        there = view.revisions([document.id for document in documents])
        nodes, edges = _joined(view, nodes, edges)
        there_too = {node.id for node in view.get(Node, [node.id for node in added]) if not node.erased}
    ingest.threads([thread for thread in threads if any(own.id not in known for own in thread.messages)])
    ingest.documents([(document, pieces[document.id]) for document in documents if document.id not in there])
    ingest.others([*nodes, *edges, *(node for node in added if node.id not in there_too), *sources])
    with target.view() as view:
        found = {message.id for message in view.get(Message, messages)}
        texts = {one.id: None if one.erased else one.content for one in view.get(Document, list(pieces))}
    same = (one.id for one in documents if one.id in texts and texts[one.id] in (None, one.content))
    named = (*conversations, *same)
    return Copied(named, frozenset((*named, *found)))


def _by_hand(view: View, messages: Collection[NodeId]) -> tuple[list[Node], list[Edge]]:
    """What was decided about the facts that these messages prove, and about the entities that they mention."""
    hands = list(_hands(view, frozenset(messages)))
    mentioned = {edge.target_id for edge in view.edges(list(messages), ("MENTIONS",), "out", _ALL)} if messages else ()
    said = _living(view, map(correction_id, mentioned))
    into = [NodeId(node.body["into"]) for node in said if node.body.get("into")]
    said += _living(view, (correction_id(one) for one in into if one not in mentioned))
    return [*(hand.node() for hand in hands), *said], [edge for hand in hands for edge in hand.edges()]


def _added(view: View, messages: Sequence[NodeId]) -> tuple[list[Node], list[Edge]]:
    """What was added from these messages, with the edges to them."""
    edges = view.edges(messages, (ADDED_FROM,), "in", _ALL) if messages else []
    return _living(view, (edge.source_id for edge in edges)), edges


def _hands(view: View, messages: frozenset[NodeId]) -> Iterator[FactsByHand]:
    """What was decided about facts, as far as it concerns these messages."""
    decided = every(view, Node, Where(kinds=(NodeKind.REPORT.value,), states=(BY_HAND,)))
    there = [NodeId(node.body["slot"]) for node in decided if not node.erased and "slot" in node.body]
    since = slots_since(view, messages) if there else {}
    slots = list(dict.fromkeys(since.get(slot, slot) for slot in there))
    claims = derived_claims(view, slots) if slots and messages else {}
    every_hand = current_hands(view, slots)
    for slot in slots:
        hand = every_hand[slot]
        proven = {claim.identity for claim in claims.get(slot, ()) if claim.message_id in messages}
        edits = [replace(edit, messages=tuple(m for m in edit.messages if m in messages)) for edit in hand.edits]
        edits = [edit for edit in edits if edit.messages]
        proven |= {edit.becomes for edit in edits}
        forgotten = {of: own & messages for of, own in hand.forgotten.items()}
        own = FactsByHand(
            slot,
            pins=hand.pins & proven,
            forgotten={of: those for of, those in forgotten.items() if those},
            moved={of: to for of, to in hand.moved.items() if of in proven},
            taken={of: to for of, to in hand.taken.items() if to in proven},
            edits=tuple(edits),
        )
        if not own.is_empty:
            yield own


def _joined(view: View, nodes: Sequence[Node], edges: Sequence[Edge]) -> tuple[list[Node], list[Edge]]:
    """The same beside what was decided there already, which stands where both say something."""
    known = {node.id: node for node in view.get(Node, [node.id for node in nodes])}
    joined: list[Node] = []
    for node in nodes:
        before = known.get(node.id)
        if before is None:
            joined.append(node)
        elif not before.erased and "slot" in node.body:
            slot = NodeId(node.body["slot"])
            one, other = (read(slot, decided, ()) for decided in (node, before))
            forgotten = {of: own | other.forgotten.get(of, frozenset()) for of, own in one.forgotten.items()}
            joined.append(
                FactsByHand(
                    slot,
                    pins=one.pins | other.pins,
                    forgotten={**other.forgotten, **forgotten},
                    moved={**one.moved, **other.moved},
                    taken={**one.taken, **other.taken},
                ).node()
            )
    return joined, list(edges)


def _living(view: View, ids: Iterable[NodeId]) -> list[Node]:
    found = view.get(Node, list(dict.fromkeys(ids)))
    return [node for node in found if not node.erased and node.origin is not Origin.DERIVED]
