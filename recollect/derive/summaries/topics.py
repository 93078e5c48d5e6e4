"""The summary of a topic: messages of several conversations about one thing [4], for whoever finds topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.derive.summaries.conversations import as_sentences, best_of
from recollect.derive.summaries.extract import choose, weighed
from recollect.derive.summaries.nodes import (
    TOPIC,
    covering,
    extractive,
    renewed,
    spanned,
    still_told,
    told,
    worded,
)
from recollect.derive.summaries.policy import DEFAULT, Policy
from recollect.derive.summaries.tasks import wished
from recollect.derive.tasks.base import Setting, topic_summary_id
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Message, Node, NodeId
from recollect.store import Task

_AT_ONCE = 40  # messages whose sentences are compared with each other


def topic_text(messages: Sequence[Message], embedder: Embedder, policy: Policy = DEFAULT) -> str:
    """An extract of what was said about a topic, in order, with dates; "" where nothing can be quoted."""
    sentences = [
        sentence
        for first in range(0, len(messages), _AT_ONCE)
        for sentence in _quoted(messages[first : first + _AT_ONCE], policy, embedder)
    ]
    length = policy.length(sum(len(message.content) for message in messages))
    dates = {message.id: f"{message.timestamp:%Y-%m-%d}" for message in messages if message.timestamp}
    return told([sentences[place] for place in choose(as_sentences(sentences), length)], dates)


def topic_summary(
    topic: NodeId,
    label: str,
    keywords: Sequence[str],
    messages: Sequence[Message],
    setting: Setting,
    embedder: Embedder,
    *,
    old: Node | None = None,
    policy: Policy = DEFAULT,
) -> tuple[Node, list[Edge], list[Task]]:
    """The summary of a topic as a node, with its edges to the messages and, where a model is set, the task for it.

    `topic` is the id of the topic's own node, `old` what this gave for it before: what a model wrote of the very same
    messages is kept. Edges to messages that have left the topic are for the caller to cut.
    """
    digest = worded(messages)
    fresh = extractive(
        topic_summary_id(topic),
        TOPIC,
        still_told(old, digest) or topic_text(messages, embedder, policy),
        digest=digest,
        parts={"label": label, "keywords": list(keywords)},
        now=setting.now,
        span=spanned(message.timestamp for message in messages),
        topic=topic,
        messages=len(messages),
    )
    node = renewed(fresh, old)
    return node, covering(node.id, [message.id for message in messages]), wished([node], setting, policy)


def _quoted(messages: Sequence[Message], policy: Policy, embedder: Embedder) -> list[dict[str, Any]]:
    return best_of(weighed(messages, policy, embedder), messages, policy)
