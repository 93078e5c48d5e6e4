"""Facts by a language model: a run of messages is asked about once, and its claims are settled like all others.

A run is closed when it is full, or when its conversation has been quiet for a while. What was asked about is noted by
a node without words, so that deriving a conversation anew asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from recollect.consolidate.base import Effects, Portion, Setting
from recollect.consolidate.cursor import Cursor, cursor_id
from recollect.consolidate.facts.book import CLAIMS, MODEL, Ledger, settled
from recollect.consolidate.facts.claim import USER, Category, Claim, Polarity, canonical_attribute
from recollect.consolidate.facts.rules.draw import speaker_of
from recollect.model.base import Completion, Request
from recollect.model.prompts import prompt, request
from recollect.model.transcript import Material, transcript
from recollect.record import Conversation, Message, Metadata, Node, NodeId, NodeKind, Role, stable_id
from recollect.store import Task, View

KIND = "facts"
#: The state of the nodes that note what was asked.
ASKED = "asked"

_RUN = 20  # messages
_QUIET = timedelta(minutes=30)
_ALL = 1_000_000_000


def runs(view: View, portion: Portion, setting: Setting) -> tuple[Sequence[Task], Metadata]:
    """The tasks for the runs of a portion, and what the next portion has to know: the ids of the open run."""
    waiting = [NodeId(i) for i in portion.state.get("pending", ())]
    known = {m.id: m for m in portion.messages}
    known |= {m.id: m for m in view.get(Message, [i for i in waiting if i not in known])}
    ids = [i for i in waiting if i in known] + [message.id for message in portion.messages]
    closed = len(ids) - len(ids) % _RUN
    pending = {"pending": ids[closed:]}
    if setting.model is None:
        return (), pending
    wanted = [_Run(portion.conversation.id, [known[i] for i in ids[at : at + _RUN]]) for at in range(0, closed, _RUN)]
    if ids[closed:]:
        wanted.append(_Run(portion.conversation.id, [known[i] for i in ids[closed:]], is_open=True))
    wanted = [run for run in wanted if any(speaker_of(message) for message in run.messages)]
    asked = {node.id for node in view.get(Node, [run.id for run in wanted]) if node.state == ASKED}
    return [run.task() for run in wanted if run.id not in asked], pending


@dataclass(frozen=True, slots=True)
class _Run:
    """Messages that are asked about together. Its id says which, in which wording, and by which prompt."""

    conversation_id: NodeId
    messages: Sequence[Message]
    is_open: bool = False

    @property
    def id(self) -> NodeId:
        return run_id(self.messages)

    def task(self) -> Task:
        """Due at once where the run is full, else when the conversation has been quiet."""
        payload = {
            "conversation": self.conversation_id,
            "messages": [m.id for m in self.messages],
            "open": self.is_open,
        }
        last = max((m.timestamp for m in self.messages if m.timestamp), default=None)
        due = last + _QUIET if self.is_open and last else None
        subject = self.conversation_id
        return Task(id=stable_id("task", self.id), kind=KIND, subject=subject, payload=orjson.dumps(payload), due=due)


def run_id(messages: Sequence[Message]) -> NodeId:
    """The same for the same messages in the same words, under the same prompt."""
    return stable_id("facts run", prompt(KIND).version, *(part for m in messages for part in (m.id, m.content)))


class FactsByModel:
    """Claims from a run of messages with a language model."""

    kind = KIND

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask; None where the run has changed, grows on, or was asked about already."""
        messages = _wanted(view, task)
        return request(KIND, _material(view, messages).text) if messages else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The claims, settled; only those whose quotation is in the message, word for word."""
        messages = _wanted(view, task)
        if not messages:
            return Effects()
        made_by = f"{prompt(KIND).id} {answer.model}"
        material = _material(view, messages)
        created = _created(view, messages[0])
        ledger = Ledger()
        ledger.add(_claims(answer.data.get("claims", ()), messages, material, made_by, created), MODEL)
        stored = view.edges([m.id for m in messages], (CLAIMS,), "in", limit=_ALL)
        ledger.keep_unchanged(edge for edge in stored if edge.name == MODEL)
        made = settled(view, ledger)
        note = Node(run_id(messages), NodeKind.REPORT, state=ASKED, conversation_id=messages[0].conversation_id)
        return replace(made, put=[*made.put, note])


def _wanted(view: View, task: Task) -> list[Message]:
    """The messages of a run, as long as they are as they were when it was put."""
    payload = orjson.loads(task.payload)
    ids = [NodeId(i) for i in payload["messages"]]
    messages = [m for m in view.get(Message, ids) if not m.deleted and not m.erased and m.active]
    if len(messages) != len(ids) or stable_id("task", run_id(messages)) != task.id:
        return []
    if payload["open"]:
        nodes = view.get(Node, [cursor_id(NodeId(payload["conversation"]))])
        cursor = Cursor.read(nodes[0]) if nodes else None
        if cursor is None or list(cursor.states.get(KIND, {}).get("pending", ())) != ids:
            return []
    return messages


def _material(view: View, messages: Sequence[Message]) -> Material:
    above = view.above(messages[0].id, 2)
    conversation = view.get(Conversation, [messages[0].conversation_id])
    title = conversation[0].title if conversation else ""
    return transcript(messages, before=list(reversed(above)), title=title)


def _created(view: View, message: Message) -> datetime | None:
    found = view.get(Conversation, [message.conversation_id])
    return found[0].created if found else None


def _claims(
    answers: Sequence[Mapping[str, Any]],
    messages: Sequence[Message],
    material: Material,
    made_by: str,
    created: datetime | None,
) -> Iterator[Claim]:
    by_id = {message.id: message for message in messages}
    for said in answers:
        message = by_id.get(material.id(said["message"]) or NodeId(""))
        if message is None:
            continue
        who = speaker_of(message)
        start = message.content.find(said["quote"])
        if start < 0 or (who is None and message.role is not Role.ASSISTANT):
            continue
        entity = " ".join(str(said["entity"]).split())
        if entity.lower() in ("user", "the user", "i", "me"):
            entity = who or USER
        yield Claim(
            entity=entity,
            attribute=canonical_attribute(said["attribute"]),
            value=" ".join(str(said["value"]).split()),
            content=" ".join(str(said["content"]).split()),
            message_id=message.id,
            start=start,
            end=start + len(said["quote"]),
            quote=said["quote"],
            said_by=who or "assistant",
            said_at=message.timestamp or created,
            order=(message.conversation_id, message.position),
            polarity=Polarity(said.get("polarity") or "is"),
            category=Category(said.get("category") or "semantic"),
            since=_day(said.get("since")),
            until=_day(said.get("until")),
            said_by_assistant=who is None,
            made_by=made_by,
        )


def _day(text: str | None) -> datetime | None:
    """An ISO date, month or year; None for anything else."""
    try:
        year, month, day, *_ = [*map(int, (text or "").split("T")[0].split("-")), 1, 1]
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
