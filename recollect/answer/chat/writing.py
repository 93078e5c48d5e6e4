"""A turn as it is written: question, answer, tools, and edges to what they mention and where the answer comes from [2].

What tools answered is not kept: it repeats the memory, and a memory must not feed on its own recall. The calls are,
with how much they brought. An answer that only lists passages, where no model was asked, is not kept either. An answer
is kept without the numbers of its sources, which a later question numbers anew: its edges say where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.answer.chat.loop import Ended
from recollect.answer.citations import uncited
from recollect.answer.evidence import SourcePassage
from recollect.answer.graph import SOURCED, NamedEntity
from recollect.answer.references.rules import Resolution
from recollect.derive.entities.message import BY_TURN, Share, found_in, mention
from recollect.derive.entities.naming import entity_id
from recollect.ingest.live import Exchange
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Conversation, Edge, Message, NodeId, Role, ToolCall, stable_id, to_microseconds
from recollect.text.clean import clean_text, clean_title, cut_recall

_MOST_ENTITIES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    """What was asked and answered. `answered` is None where no model was asked."""

    conversation: Conversation
    question: str
    resolution: Resolution
    named: Sequence[NamedEntity]
    sources: Sequence[SourcePassage]
    answered: Ended | None
    asked_at: datetime
    answered_at: datetime


def exchange(spoken: FinishedTurn, ids: Callable[[], NodeId]) -> Exchange:
    """The turn, complete."""
    query = Message(
        id=ids(),
        conversation_id=spoken.conversation.id,
        role=Role.USER,
        content=spoken.question,
        timestamp=spoken.asked_at,
        tokens=count_tokens(spoken.question),
    )
    answer = _answer(spoken, ids) if spoken.answered is not None else None
    drawn_from = [source for source in spoken.sources if source.is_used]
    mentioned = _mentioned(spoken)
    edges = _mentions(query, mentioned)
    if answer is not None:
        edges += _mentions(answer, _named_in(answer.content, mentioned))
        edges += [Edge(answer.id, SOURCED, source.message.id, {"rank": source.number}) for source in drawn_from]
    return Exchange(
        conversation=spoken.conversation,
        query=query,
        answer=answer,
        calls=_calls(spoken, answer) if answer is not None else (),
        resolved_query=spoken.resolution.text if spoken.resolution.changed else None,
        entities=tuple(name for name, _, _ in mentioned),
        source_ids=tuple(source.message.id for source in drawn_from),
        edges=edges,
    )


def _answer(spoken: FinishedTurn, ids: Callable[[], NodeId]) -> Message | None:
    assert spoken.answered is not None
    told = cut_recall(clean_text(spoken.answered.text))
    text = uncited(told, {source.number for source in spoken.sources})
    text = text if text.strip() else told
    if not text.strip():
        return None
    return Message(
        id=ids(),
        conversation_id=spoken.conversation.id,
        role=Role.ASSISTANT,
        content=text,
        timestamp=spoken.answered_at,
        model=spoken.answered.model,
        tokens=count_tokens(text),
    )


def _calls(spoken: FinishedTurn, answer: Message) -> list[ToolCall]:
    assert spoken.answered is not None
    return [
        ToolCall(
            id=stable_id("call", answer.id, number),
            message_id=answer.id,
            conversation_id=answer.conversation_id,
            name=clean_title(tool.name),
            arguments=clean_text(tool.arguments),
            timestamp=spoken.answered_at,
            position=number,
            metadata={"tokens": tool.tokens, **({"error": True} if tool.is_error else {})},
        )
        for number, tool in enumerate(spoken.answered.tools)
    ]


#: A name as it was said, its type, and the entity that it stands for.
_Mentioned = tuple[str, str, NodeId]


def _mentioned(spoken: FinishedTurn) -> list[_Mentioned]:
    """Who and what the question is about, with what its references stand for."""
    known = {one.said: (one.entity.name, one.entity.type, one.entity.id) for one in spoken.named}
    found = [known.get(name, (name, kind, own)) for name, kind, own in _names(spoken.resolution.text)]
    return list({own: (name, kind, own) for name, kind, own in found}.values())[:_MOST_ENTITIES]


def _named_in(text: str, known: Sequence[_Mentioned]) -> list[_Mentioned]:
    """The names in an answer; what the question names is known there where it stands alone as well."""
    again = [one for one in known if re.search(rf"(?<!\w){re.escape(one[0])}(?!\w)", text)]
    return list({own: (name, kind, own) for name, kind, own in (*again, *_names(text))}.values())[:_MOST_ENTITIES]


def _names(text: str) -> list[_Mentioned]:
    return [(found.name, found.type, entity_id(found.name)) for found in found_in(text)][:_MOST_ENTITIES]


def _mentions(message: Message, names: Sequence[_Mentioned]) -> list[Edge]:
    at = to_microseconds(message.timestamp)
    return [mention(message.id, own, Share(name, (kind,), at), BY_TURN) for name, kind, own in names]
