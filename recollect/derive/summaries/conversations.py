"""The summary of a conversation [0], folded from its tactical summaries and from what they do not cover yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.derive.summaries.extract import ScoredSentence, choose, weighed
from recollect.derive.summaries.nodes import CONVERSATION, conversation_summary_id, extractive, quoted, told
from recollect.derive.summaries.parts import by_message
from recollect.derive.summaries.phrases import phrases
from recollect.derive.summaries.policy import Policy
from recollect.models.embedding.base import Embedder
from recollect.record import Message, Node, NodeId, Role
from recollect.text.terms import terms

_KEPT = 4_000  # characters of sentences that stay in the running
_THEMES = 40  # themes that are counted

_QUESTION = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Closed:
    """What stays in the running of all that was cut into tactical summaries; bounded, however many there are."""

    summaries: int = 0
    sentences: tuple[Mapping[str, Any], ...] = ()
    themes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, wire: Mapping[str, Any]) -> Closed:
        """As it stands in the body of the conversation's summary."""
        return cls(wire["summaries"], tuple(wire["sentences"]), dict(wire["themes"]))

    def wire(self) -> dict[str, Any]:
        """For the body."""
        return {
            "summaries": self.summaries,
            "sentences": list(self.sentences),
            "themes": [[theme, count] for theme, count in self.themes.items()],
        }

    def with_summary(self, node: Node, policy: Policy) -> Closed:
        """The same with a further tactical summary in it."""
        extract = node.body["extract"]
        sentences = [*self.sentences, *extract["sentences"]]
        chosen = choose(as_sentences(sentences), _KEPT)
        counted = dict(self.themes)
        for theme in extract["themes"]:
            counted[theme] = counted.get(theme, 0) + 1
        best = sorted(counted, key=lambda theme: -counted[theme])[:_THEMES]
        return Closed(
            self.summaries + 1,
            tuple(sentences[place] for place in chosen),
            {theme: count for theme, count in counted.items() if theme in set(best)},
        )


def conversation_summary(
    conversation: NodeId,
    closed: Closed,
    waiting: Sequence[Message],
    *,
    characters: int,
    messages: int,
    digest: str,
    span: tuple[datetime | None, datetime | None],
    now: datetime,
    policy: Policy,
    embedder: Embedder,
) -> Node:
    """The summary of `messages` messages with so many `characters`, of which `waiting` are in no tactical one."""
    weighed_ones = weighed(waiting, policy, embedder)
    fresh = best_of(weighed_ones, waiting, policy)
    sentences = [*closed.sentences, *fresh]
    chosen = [sentences[place] for place in choose(as_sentences(sentences), policy.length(characters))]
    return extractive(
        conversation_summary_id(conversation),
        CONVERSATION,
        told(chosen),
        digest=digest,
        parts={"themes": _themes(closed, weighed_ones, policy), "open": _open(waiting)},
        now=now,
        conversation_id=conversation,
        span=span,
        messages=messages,
        closed=closed.wire(),
    )


def best_of(sentences: Sequence[ScoredSentence], messages: Sequence[Message], policy: Policy) -> list[dict[str, Any]]:
    """Those of the sentences of messages that a long extract of them would hold, quoted."""
    return quoted([sentences[place] for place in choose(sentences, policy.longest)], messages)


def as_sentences(sentences: Sequence[Mapping[str, Any]]) -> list[ScoredSentence]:
    """Quoted sentences to choose from."""
    return [
        ScoredSentence(one["text"], place, one["worth"], one["vital"], True, frozenset(terms(one["text"])))
        for place, one in enumerate(sentences)
    ]


def _themes(closed: Closed, waiting: Sequence[ScoredSentence], policy: Policy) -> list[str]:
    counted = dict(closed.themes)
    for theme in phrases(by_message(waiting), policy.themes):
        counted[theme] = counted.get(theme, 0) + 1
    return sorted(counted, key=lambda theme: -counted[theme])[: policy.themes]


def _open(waiting: Sequence[Message]) -> list[str]:
    """The question that nobody has answered yet."""
    if waiting and waiting[-1].role is Role.USER and waiting[-1].content.rstrip().endswith(_QUESTION):
        return [" ".join(waiting[-1].content.split())[-300:]]
    return []
