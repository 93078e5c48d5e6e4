"""Summaries of branches that are not shown: what was tried before an edit or a regeneration led elsewhere [2]."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.derive.summaries.conversations import as_sentences, best_of
from recollect.derive.summaries.extract import choose, weighed
from recollect.derive.summaries.nodes import SEGMENT, covering, extractive, spanned, told, worded
from recollect.derive.summaries.parts import by_message
from recollect.derive.summaries.phrases import phrases
from recollect.derive.summaries.policy import Policy
from recollect.derive.tasks.base import Portion
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Kind, Message, Node, NodeId, stable_id
from recollect.store import View, Where
from recollect.store.transfer import every


def branch_summaries(
    view: View, portion: Portion, now: datetime, policy: Policy, embedder: Embedder
) -> tuple[list[Node], list[Edge]]:
    """A summary for each branch of a whole conversation that is not shown and has enough messages."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for root, messages in _branches(view, portion):
        if len(messages) > policy.more_than:
            node = _summary(root, messages, now, policy, embedder)
            nodes.append(node)
            edges += covering(node.id, [message.id for message in messages])
    return nodes, edges


def _branches(view: View, portion: Portion) -> list[tuple[NodeId, list[Message]]]:
    """What was said off the shown path, by the message with which each branch leaves it."""
    conversation = portion.conversation
    living, _ = view.sizes([conversation.id]).get(conversation.id, (0, 0))
    if conversation.deleted or living == len(portion.messages):
        return []
    known = {message.id: message for message in every(view, Message, Where(conversation=conversation.id))}
    roots: dict[NodeId, NodeId] = {}
    found: dict[NodeId, list[Message]] = {}
    for message in sorted(known.values(), key=lambda one: one.position):  # parents before their children
        if message.active:
            continue
        root = roots.get(message.parent_id, message.id) if message.parent_id else message.id
        roots[message.id] = root
        if message.kind is Kind.SAID and not message.deleted and message.content:
            found.setdefault(root, []).append(message)
    return list(found.items())


def _summary(root: NodeId, messages: Sequence[Message], now: datetime, policy: Policy, embedder: Embedder) -> Node:
    sentences = weighed(messages, policy, embedder)
    quotes = best_of(sentences, messages, policy)
    length = policy.length(sum(len(message.content) for message in messages))
    return extractive(
        stable_id("summary", SEGMENT, root),
        SEGMENT,
        told([quotes[place] for place in choose(as_sentences(quotes), length)]),
        digest=worded(messages),
        parts={"themes": phrases(by_message(sentences), policy.themes)},
        now=now,
        conversation_id=messages[0].conversation_id,
        span=spanned(message.timestamp for message in messages),
        messages=len(messages),
    )
