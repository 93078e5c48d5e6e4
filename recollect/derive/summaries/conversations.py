"""The summary of a conversation [0]: of its blocks and branches, folded from its tactical summaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.derive.summaries.extract import Policy, ScoredSentence, choose, weighed
from recollect.derive.summaries.nodes import (
    CONVERSATION,
    L1,
    L2,
    SEGMENT,
    by_message,
    conversation_summary_id,
    covering,
    day_of,
    extractive,
    l1_id,
    l2_id,
    phrases,
    quoted,
    spanned,
    strategic_parts,
    tactical_parts,
    told,
    worded,
)
from recollect.derive.summaries.sessions import Run
from recollect.derive.tasks.base import Portion
from recollect.models.embedding.base import Embedder
from recollect.record import Edge, Kind, Message, Node, NodeId, Role, stable_id
from recollect.store import View, Where
from recollect.store.transfer import every
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


# The two levels of [1]: tactical summaries of runs of exchanges, strategic ones of several of these.

_DATED = "dated"  # raised where a model has to write strategic summaries anew: it was told wrong dates before


def tactical(
    run: Run, conversation: NodeId | None, number: int | None, now: datetime, policy: Policy, embedder: Embedder
) -> Node:
    """L1: what was said in a run of exchanges, with the parts of [1]. `number` counts those of the conversation; of a
    run of several short ones it is None, and so is `conversation`.
    """
    messages = [message for exchange in run for message in exchange]
    sentences = weighed(messages, policy, embedder)
    length = policy.length(sum(len(message.content) for message in messages))
    chosen = quoted([sentences[place] for place in choose(sentences, length)], messages)
    parts = tactical_parts(messages, sentences, policy)
    return extractive(
        l1_id((message.id for message in messages), conversation),
        L1,
        told(chosen),
        digest=worded(messages),
        parts=parts,
        now=now,
        conversation_id=conversation,
        span=spanned(message.timestamp for message in messages),
        exchanges=len(run),
        messages=len(messages),
        **_placed(number, (message.conversation_id for message in messages)),
        extract={"sentences": chosen, **{name: parts[name] for name in ("themes", "concerns", "specifics")}},
    )


def strategic(parts: Sequence[Node], number: int | None, now: datetime, policy: Policy) -> Node:
    """L2: what recurs in several tactical summaries and how it went on. `number` is the block's index.

    Made from their extracts, so that it is the same whether or not a model has written them since.
    """
    sentences = [one for node in parts for one in node.body["extract"]["sentences"]]
    days = {one["message"]: day_of(one) for one in sentences}
    length = min(policy.longest_of_block, max(policy.shortest, sum(len(one["text"]) for one in sentences) * 2 // 3))
    chosen = [sentences[place] for place in choose(as_sentences(sentences), length)]
    return extractive(
        l2_id(node.id for node in parts),
        L2,
        told(chosen, days),
        digest=stable_id(_DATED, *(node.body["digest"] for node in parts)),
        parts=strategic_parts([node.body for node in parts], policy),
        now=now,
        conversation_id=parts[0].conversation_id,
        span=spanned(time for node in parts for time in (node.valid_from, node.valid_to)),
        exchanges=sum(int(node.body["exchanges"]) for node in parts),
        messages=sum(int(node.body["messages"]) for node in parts),
        **_placed(number, (one for node in parts for one in node.body.get("conversations", ()))),
    )


def _placed(number: int | None, conversations: Iterable[NodeId]) -> dict[str, Any]:
    """Its number in its conversation; of what covers several, which."""
    return {"conversations": list(dict.fromkeys(conversations))} if number is None else {"block": number}


# Summaries of branches that are not shown: what was tried before an edit or a regeneration led elsewhere [2].


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
