"""Facts by a language model: a run of messages is asked about once, and its claims are settled like all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollect.derive.facts.book import CLAIMS, MODEL, ClaimChanges, settled
from recollect.derive.facts.claim import USER, Category, Claim, Polarity, canonical_attribute, with_ended_doses
from recollect.derive.facts.proof import is_named, proved, stated
from recollect.derive.facts.rules.draw import speaker_of
from recollect.derive.tasks.base import Effects, ModelWork, Setting
from recollect.derive.tasks.runs import Runs, material
from recollect.models.language.base import Completion, Request
from recollect.models.language.prompts import prompt, request
from recollect.models.language.transcript import Material
from recollect.record import Conversation, Message, NodeId, Role
from recollect.store import Task, View

KIND = "facts"
RUNS = Runs(KIND, lambda message: speaker_of(message) is not None)

_ALL = 1_000_000_000
_TOLD = ("quote", "entity", "attribute", "value", "content")  # what a claim without words in any of these does not tell
_EARLIEST = 1000  # years before that are misspelt


class FactsByModel(ModelWork):
    """Claims from a run of messages with a language model."""

    kind = KIND

    def request(self, view: View, task: Task) -> Request | None:
        """What to ask; None where the run has changed, grows on, or was asked about already."""
        run = RUNS.wanted(view, task)
        return request(KIND, material(view, run).text) if run else None

    def apply(self, view: View, task: Task, answer: Completion, setting: Setting) -> Effects:
        """The claims, settled; only those that the words of the message prove (proof.py)."""
        run = RUNS.wanted(view, task)
        if run is None:
            return Effects()
        messages = run.messages
        made_by = f"{prompt(KIND).id} {answer.model}"
        given = material(view, run)
        created = _created(view, messages[0])
        ledger = ClaimChanges()
        claims = _claims(answer.data.get("claims", ()), messages, (*run.above, *messages), given, made_by, created)
        ledger.add(with_ended_doses(claims), MODEL, run=RUNS.id(run))
        stored = view.edges([m.id for m in messages], (CLAIMS,), "in", limit=_ALL)
        ledger.keep_unchanged(edge for edge in stored if edge.name == MODEL)
        made = settled(view, ledger)
        return replace(made, put=[*made.put, RUNS.asked(run)])


def _created(view: View, message: Message) -> datetime | None:
    found = view.get(Conversation, [message.conversation_id])
    return found[0].created if found else None


def _claims(
    answers: Sequence[Mapping[str, Any]],
    messages: Sequence[Message],
    shown: Sequence[Message],
    given: Material,
    made_by: str,
    created: datetime | None,
) -> Iterator[Claim]:
    by_id = {message.id: message for message in messages}
    for said in answers:
        message = by_id.get(given.id(said["message"]) or NodeId(""))
        if message is None or not all(said[name].strip() for name in _TOLD):
            continue
        who = speaker_of(message)
        attribute = canonical_attribute(said["attribute"])
        entity, value, content = (" ".join(str(said[name]).split()) for name in ("entity", "value", "content"))
        if entity.lower() in ("user", "the user", "i", "me"):
            entity = who or USER
        place = stated(message, said["quote"], attribute)
        if place is None or (who is None and message.role is not Role.ASSISTANT):
            continue
        start, end = place
        claim = Claim(
            entity=entity,
            attribute=attribute,
            value=value,
            content=content,
            message_id=message.id,
            start=start,
            end=end,
            quote=message.content[start:end],
            said_by=who or "assistant",
            said_at=message.timestamp or created,
            order=(message.conversation_id, message.position),
            polarity=Polarity(said.get("polarity") or "is"),
            category=Category(said.get("category") or "semantic"),
            since=_day(said.get("since")),
            until=_day(said.get("until")),
            event=bool(said.get("since")) and " since " not in said["quote"],
            said_by_assistant=who is None,
            made_by=made_by,
        )
        proven = proved(claim, message) if is_named(entity, who or USER, shown) else None
        if proven is not None:
            yield proven


def _day(text: str | None) -> datetime | None:
    """An ISO date, month or year; None for anything else."""
    try:
        year, month, day, *_ = [*map(int, (text or "").split("T")[0].split("-")), 1, 1]
        return datetime(year, month, day, tzinfo=UTC) if year >= _EARLIEST else None
    except ValueError:
        return None
