"""What was derived and answers a question: facts and summaries, each with the messages that it was made of.

They are found by their own words and meaning, within their own partition, and stand beside the results: no message
ranks higher or lower because of them (that was tried, and gained nothing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

import numpy as np

from recollect.record import Conversation, Message, Node, NodeId, NodeKind, to_microseconds
from recollect.search.query.asking import Asked, candidate_query
from recollect.search.query.request import holds
from recollect.search.results.result import DerivedHit
from recollect.search.scoring import own_coverage
from recollect.search.weights import DERIVED_CLOSE, DERIVED_POOL, DERIVED_SHARE
from recollect.store import View, Where
from recollect.store.passages import Filter, Partition

_MADE_OF = ("COVERS", "DERIVES_FROM")
_MOST = {"fact": 3, "summary": 1}  # of a kind
_LOOKED_AT = 24  # passages, some of which lead to what no longer holds, or to messages that may not be found
_DEEP = 3  # steps: of a topic, a strategic and a tactical summary to messages
_MANY = 300  # edges that are followed in a step: of a month some of its messages will do


def derived_hits(
    view: View, asked: Asked, most: Mapping[str, int] | None = None, *, titled: NodeId | None = None
) -> tuple[DerivedHit, ...]:
    """The best facts and summaries for a question, facts first, at most so many of a kind. None where messages of a
    kind or by words are asked.

    Where the question is in the title of a conversation, `titled`, its own summary is the only one: the words of its
    title need not be in it, and may be in those of others.
    """
    wanted = asked.search.filter
    if not asked.question.terms or asked.phrases or wanted.kinds or asked.search.sort == "newest":
        return ()
    found: list[DerivedHit] = []
    allowed = _MOST if most is None else most
    ranked = _ranked(view, asked, _LOOKED_AT, DERIVED_SHARE)
    if titled is not None:
        where = Where(kinds=(NodeKind.SUMMARY,), keys=("conversation",), states=("live",), conversation=titled)
        own = view.find(Node, where, limit=1).items
        ranked = [(node, 1.0) for node in own] + [pair for pair in ranked if pair[0].kind is NodeKind.FACT]
    for node, score in ranked:
        kind = node.kind.value
        if not _holds(node, asked.today) or sum(hit.kind == kind for hit in found) >= allowed.get(kind, 0):
            continue
        hit = _hit(view, node, score, wanted, asked.excluded)
        if hit is not None:
            found.append(hit)
    return tuple(sorted(found, key=lambda hit: hit.kind != "fact"))


def stored_facts(view: View, asked: Asked, most: int) -> list[Node]:
    """The facts that hold and answer a question, best first, and that no message proves: a program stored them."""
    if not asked.question.terms or asked.phrases:
        return []
    facts = [node for node, _ in _ranked(view, asked, _LOOKED_AT, DERIVED_SHARE) if node.kind is NodeKind.FACT]
    return [node for node in facts if _holds(node, asked.today) and not _messages(view, node.id)][:most]


def found_facts(view: View, asked: Asked, most: int) -> list[Node]:
    """The facts that hold and have to do with a question, best first, also those that no message proves."""
    if not asked.question.terms and not asked.phrases:
        return []
    ranked = (node for node, _ in _ranked(view, asked, _LOOKED_AT + 2 * most, 0.0))
    return [node for node in ranked if node.kind is NodeKind.FACT and _holds(node, asked.today)][:most]


def _ranked(view: View, asked: Asked, most: int, share_wanted: float) -> list[tuple[Node, float]]:
    """Derived nodes with their scores, best first, from so many passages; each by its best."""
    query = replace(
        candidate_query(asked, Partition.DERIVED), filter=Filter(), pool=DERIVED_POOL, by_words=True, spans=()
    )
    features = view.candidates(query)
    if not len(features):
        return []
    share, near = own_coverage(features), features.windows
    fits = ((share > 0) & (share >= share_wanted)) | ((share > 0) & (near >= DERIVED_CLOSE))
    score = share + np.clip(near, 0, 1)
    order = [at for at in np.argsort(-score, kind="stable").tolist() if fits[at]][:most]
    texts = {text.number: text for text in view.passages([int(features.passages[at]) for at in order])}
    nodes = {node.id: node for node in view.get(Node, [text.owner_id for text in texts.values()])}
    found: list[tuple[Node, float]] = []
    for at in order:
        text = texts.get(int(features.passages[at]))
        node = nodes.pop(text.owner_id, None) if text is not None else None  # the best passage of each
        if node is not None:
            found.append((node, float(score[at])))
    return found


def _holds(node: Node, today: date) -> bool:
    """Whether it is to be shown as holding: a plan whose day has passed is not, nor a home that is still to come."""
    if node.state != "live" or node.kind is not NodeKind.FACT:
        return node.state == "live"
    is_over = node.valid_to is not None and node.valid_to <= datetime.combine(today, time(), UTC)
    is_ahead = node.valid_from is not None and node.valid_from.date() > today and bool(node.body.get("since_told"))
    return not (is_over or is_ahead)


def _hit(view: View, node: Node, score: float, wanted: Filter, excluded: Sequence[Sequence[str]]) -> DerivedHit | None:
    """With its messages; None where none of them is one that may be found. Each message proves a fact by itself; a
    summary tells of all that it covers, and is shown only where all of it may be found.
    """
    messages = _messages(view, node.id)
    ids = list(dict.fromkeys(message.conversation_id for message in messages))
    conversations = {conversation.id: conversation for conversation in view.get(Conversation, ids)}
    fitting = [message for message in messages if may_be_found(message, conversations, wanted, excluded)]
    kept = sorted(fitting, key=lambda m: (to_microseconds(m.timestamp) or 0, m.position))
    if not kept or (node.kind is not NodeKind.FACT and len(kept) < len(messages)):
        return None
    is_fact = node.kind is NodeKind.FACT
    return DerivedHit(
        id=node.id,
        kind=node.kind.value,
        level=node.key if node.kind.value == "summary" else "",
        text=node.text,
        score=score,
        since=node.valid_from if not is_fact or node.body.get("since_told") else None,
        until=node.valid_to if not is_fact or node.body.get("until_told") else None,
        made_by=node.made_by,
        extractive=bool(node.body.get("extractive", False)),
        messages=tuple(kept),
        conversation=conversations[kept[0].conversation_id],
    )


def _messages(view: View, node: NodeId) -> list[Message]:
    """What it was made of, down to the messages."""
    frontier, found = [node], dict[NodeId, Message]()
    for _ in range(_DEEP):
        targets = [edge.target_id for edge in view.edges(frontier, _MADE_OF, "out", _MANY)]
        messages = view.get(Message, list(dict.fromkeys(targets)))
        found |= {message.id: message for message in messages if not message.deleted}
        frontier = [target for target in dict.fromkeys(targets) if target not in found]
        if not frontier:
            break
    return list(found.values())


def may_be_found(
    message: Message,
    conversations: Mapping[NodeId, Conversation],
    wanted: Filter,
    excluded: Sequence[Sequence[str]] = (),
) -> bool:
    """Whether a search with this filter may show a message, that holds none of the excluded phrases."""
    if any(holds(message, phrase) for phrase in excluded):
        return False
    conversation, time = conversations.get(message.conversation_id), to_microseconds(message.timestamp)
    if conversation is None or (wanted.sources and conversation.source not in wanted.sources):
        return False
    if wanted.conversation_ids is not None and conversation.id not in wanted.conversation_ids:
        return False
    if wanted.roles and message.role.value not in wanted.roles:
        return False
    since, until = wanted.since, wanted.until
    if time is None:
        return since is None and until is None
    return (since is None or since <= time) and (until is None or time < until)
