"""Summaries as nodes: their ids, what stands in them, and what of an earlier one is kept.

The id of a summary says what it covers, its digest also how that was worded. So what a model wrote is kept as long as
the words it was written from are the same, however often everything is derived anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.derive.summaries.extract import ScoredSentence
from recollect.derive.summaries.parts import speaker
from recollect.derive.tasks.base import LIVE, retired
from recollect.record import Edge, Message, Node, NodeId, NodeKind, iso, stable_id
from recollect.store import EdgeKey, View

#: Of the rules that make extracts, for `Node.made_by` and `body["version"]`. Raised where they would say other things.
RULES = 2
MADE_BY_RULES = f"rules/{RULES}"

L1, L2, CONVERSATION, SEGMENT, PERIOD, TOPIC = "l1", "l2", "conversation", "segment", "period", "topic"
KINDS = (CONVERSATION, L1, L2, SEGMENT, PERIOD, TOPIC)

#: From a summary to what it was made of: messages, or other summaries. `place` is the order among them.
COVERS = "COVERS"

_MANY_EDGES = 10_000_000


def l1_id(messages: Iterable[NodeId], conversation: NodeId | None) -> NodeId:
    """The id of the tactical summary of these messages, of one conversation or of several short ones."""
    return stable_id("summary", L1, *(() if conversation else ("together",)), *messages)


def l2_id(summaries: Iterable[NodeId]) -> NodeId:
    """The id of the strategic summary of these tactical ones."""
    return stable_id("summary", L2, *summaries)


def conversation_summary_id(conversation: NodeId) -> NodeId:
    """The id of a conversation's summary."""
    return stable_id("summary", CONVERSATION, conversation)


def worded(messages: Iterable[Message], before: str = "") -> str:
    """A digest of messages and their wording, going on from that of those before."""
    digest = before
    for message in messages:
        digest = stable_id(digest, message.id, message.speaker, message.content)
    return digest


def quoted(sentences: Sequence[ScoredSentence], messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Sentences with who said them, in which message and on which day, for the body of a node."""
    return [
        {
            "text": one.text,
            "by": speaker(messages[one.message]),
            "message": messages[one.message].id,
            "day": f"{time:%Y-%m-%d}" if (time := messages[one.message].timestamp) else "",
            "worth": one.worth,
            "vital": one.vital,
        }
        for one in sentences
    ]


def told(sentences: Sequence[Mapping[str, Any]], dates: Mapping[NodeId, str] | None = None) -> str:
    """Sentences as a text: what one says in a run stands in one line, behind the name, and behind the date, if any.
    Without `dates`, the day stands where another one begins, if they were said on several.
    """
    days = [(day_of(one) if dates is None else dates.get(one["message"], "")) for one in sentences]
    several = len({day for day in days if day}) > 1
    lines: list[str] = []
    above = shown = ""
    for one, day in zip(sentences, days, strict=True):
        head = f"{day} {one['by']}".strip()
        if head == above:
            lines[-1] += f" {one['text']}"
        else:
            is_dated = dates is not None or (several and day != shown)
            lines.append(f"{head if is_dated else one['by']}: {one['text']}")
        above, shown = head, day
    return "\n".join(lines)


def day_of(sentence: Mapping[str, Any]) -> str:
    """The day on which a quoted sentence was said, where it is known."""
    return str(sentence.get("day", ""))


def covering(summary: NodeId, covered: Iterable[NodeId], first: int = 0) -> list[Edge]:
    """The edges from a summary to what it was made of."""
    return [Edge(summary, COVERS, one, {"place": place}) for place, one in enumerate(covered, first)]


def spanned(times: Iterable[datetime | None]) -> tuple[datetime | None, datetime | None]:
    """The first and the last of these moments, where any is known."""
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else (None, None)


def extractive(
    id: NodeId,
    kind: str,
    text: str,
    *,
    digest: str,
    parts: Mapping[str, Any],
    now: datetime,
    conversation_id: NodeId | None = None,
    span: tuple[datetime | None, datetime | None] = (None, None),
    **more: Any,
) -> Node:
    """A summary that rules have made."""
    body = {"version": RULES, "extractive": True, "digest": digest, "made": iso(now), "parts": dict(parts), **more}
    return Node(
        id,
        NodeKind.SUMMARY,
        key=kind,
        text=text,
        state=LIVE,
        conversation_id=conversation_id,
        valid_from=span[0],
        valid_to=span[1],
        made_by=MADE_BY_RULES,
        body=body,
    )


def still_told(old: Node | None, digest: str) -> str:
    """The text of an earlier summary of the very same words, where it would be made just so again; else ""."""
    if old is None or old.erased or old.state != LIVE or old.body.get("digest") != digest:
        return ""
    return old.text if not old.body["extractive"] or old.body["version"] == RULES else ""


def renewed(fresh: Node, old: Node | None) -> Node:
    """The fresh node; what a model wrote of the very same words is kept, and when an unchanged one was made."""
    if old is None or old.erased or not old.text or old.body.get("digest") != fresh.body["digest"]:
        return fresh
    if old.body["extractive"]:
        unchanged = old.text == fresh.text and old.body["version"] == fresh.body["version"]
        return replace(fresh, body={**fresh.body, "made": old.body["made"]}) if unchanged else fresh
    kept = {name: old.body[name] for name in ("version", "extractive", "made", "parts")}
    return replace(fresh, text=old.text, made_by=old.made_by, body={**fresh.body, **kept})


def no_more(view: View, sources: Sequence[NodeId], kept: Iterable[Edge] = ()) -> list[EdgeKey]:
    """The edges of summaries that are not drawn again."""
    staying = {edge.key for edge in kept}
    there = view.edges(sources, (COVERS,), "out", _MANY_EDGES) if sources else []
    return [edge.key for edge in there if edge.key not in staying]


def put(fresh: Sequence[Node], old: Mapping[NodeId, Node]) -> list[Node]:
    """Those to be written: renewed, and only where something is different."""
    made = (renewed(node, old.get(node.id)) for node in fresh)
    return [node for node in made if not same(node, old.get(node.id))]


def gone(old: Iterable[Node], kept: Iterable[NodeId]) -> list[Node]:
    """What must go of what there was, emptied; what is empty already is left alone."""
    staying = set(kept)
    return [
        retired(node)
        for node in old
        if node.id not in staying and not node.erased and (node.text or node.state == LIVE)
    ]


def same(node: Node, old: Node | None) -> bool:
    """Whether a node stands just so in the store."""
    return old is not None and replace(old, body={}) == replace(node, body={}) and dict(old.body) == dict(node.body)
