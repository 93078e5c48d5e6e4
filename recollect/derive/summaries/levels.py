"""The two levels of [1]: tactical summaries of runs of exchanges, strategic ones of several of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.derive.summaries.conversations import as_sentences
from recollect.derive.summaries.extract import choose, weighed
from recollect.derive.summaries.nodes import (
    L1,
    L2,
    day_of,
    extractive,
    l1_id,
    l2_id,
    quoted,
    spanned,
    told,
    worded,
)
from recollect.derive.summaries.parts import strategic_parts, tactical_parts
from recollect.derive.summaries.policy import Policy
from recollect.derive.summaries.segmentation import Run
from recollect.models.embedding.base import Embedder
from recollect.record import Node, NodeId, stable_id

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
