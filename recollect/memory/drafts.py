"""From what a program gives to records: messages and tool calls that are written live, checked and cleaned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.errors import InvalidInput
from recollect.ingest.changes import Rewording
from recollect.memory.handle import LIVE_SOURCE, count_tokens
from recollect.record import (
    NOTHING,
    Conversation,
    Kind,
    Message,
    Metadata,
    NodeId,
    Part,
    Role,
    RoleName,
    ToolCall,
    parse_time,
    stable_id,
)
from recollect.record.time import EARLIEST, LATEST
from recollect.text.clean import as_text, clean_metadata, clean_text, clean_title
from recollect.text.marks import cut_recall

_NEEDED, _OF_A_MESSAGE = (
    frozenset({"content"}),
    frozenset({"role", "speaker", "parent_id", "timestamp", "kind", "model", "parts", "metadata", "id"}),
)
_NEEDED_OF_A_CHANGE = frozenset({"id", "content"})
_NEEDED_OF_A_CALL, _OF_A_CALL = frozenset({"name", "arguments", "result"}), frozenset({"timestamp", "metadata", "id"})


@dataclass(frozen=True, slots=True)
class Drafts:
    """Makes records. `message_of` finds a message by its id, or raises NotFound."""

    clock: Callable[[], datetime]
    ids: Callable[[], NodeId]
    message_of: Callable[[NodeId], Message]

    def message(
        self,
        content: str,
        role: RoleName = "user",
        *,
        conversation_id: str | None,
        parent_id: str | None = None,
        speaker: str | None = None,
        title: str = "",
        timestamp: datetime | None = None,
        kind: str = "said",
        model: str | None = None,
        parts: Sequence[Part] = (),
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> tuple[Conversation, Message]:
        """A message with its conversation: the one given, that of the parent, or a new one."""
        words = cut_recall(clean_text(content))
        if not words.strip() and not parts:
            raise InvalidInput("Nothing to remember: the text is empty.")
        now = _said_at(timestamp) or self.clock()
        parent = NodeId(parent_id) if parent_id else None
        if parent and conversation_id is None:
            conversation_id = self.message_of(parent).conversation_id
        conversation = Conversation(
            id=NodeId(conversation_id or self.ids()),
            source=LIVE_SOURCE,
            title=clean_title(title),
            created=now,
            updated=now,
        )
        message = Message(
            id=NodeId(id or self.ids()),
            conversation_id=conversation.id,
            role=_choice(Role, role, "role"),
            content=words,
            kind=_choice(Kind, kind, "kind"),
            speaker=speaker,
            timestamp=now,
            parent_id=parent,
            model=model,
            tokens=count_tokens(words),
            parts=tuple(parts),
            metadata=metadata,
        )
        return conversation, message

    def messages(
        self, given: Sequence[Mapping[str, Any]], conversation_id: str | None, title: str
    ) -> list[tuple[Conversation, Message]]:
        """Several messages of one conversation; a parent may be one of them."""
        for number, one in enumerate(given):
            _checked(f"Message {number}", one, _NEEDED, _OF_A_MESSAGE)
        first = given[0].get("parent_id") if given else None
        into = conversation_id or (self.message_of(NodeId(first)).conversation_id if first else self.ids())
        return [self.message(conversation_id=into, title=title, **one) for one in given]

    def calls(self, given: Sequence[Mapping[str, Any]], asked: Message) -> list[tuple[Message, ToolCall]]:
        """The tool calls of a message, each with the message that is its result."""
        for number, one in enumerate(given):
            _checked(f"Call {number}", one, _NEEDED_OF_A_CALL, _OF_A_CALL)
        return [self._call(asked, **one) for one in given]

    def rewordings(self, given: Sequence[Mapping[str, str]]) -> list[Rewording]:
        """New wordings of messages."""
        made: dict[str, Rewording] = {}
        for number, one in enumerate(given):
            _checked(f"Change {number}", one, _NEEDED_OF_A_CHANGE, frozenset())
            words = cut_recall(clean_text(one["content"]))
            if not words.strip():
                raise InvalidInput("The new text is empty.", hint="To remove the message: delete_message()")
            if one["id"] in made:
                raise InvalidInput(f"Message {one['id']} is changed twice.", hint="Give each message once.")
            made[one["id"]] = Rewording(NodeId(one["id"]), words)
        return list(made.values())

    def _call(
        self,
        asked: Message,
        name: str,
        arguments: object,
        result: object,
        timestamp: datetime | None = None,
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> tuple[Message, ToolCall]:
        now = _said_at(timestamp) or self.clock()
        own = stable_id("result of", id) if id else NodeId(self.ids())
        text = cut_recall(clean_text(as_text(result)))  # the tools of Recollect hand out what is stored already
        message = Message(
            id=own,
            conversation_id=asked.conversation_id,
            role=Role.TOOL,
            content=text,
            kind=Kind.TOOL,
            timestamp=now,
            parent_id=asked.id,
            tokens=count_tokens(text),
        )
        call = ToolCall(
            id=NodeId(id) if id else stable_id("call", own, 0),
            message_id=own,
            conversation_id=asked.conversation_id,
            name=clean_title(name),
            arguments=clean_text(as_text(arguments)),
            result_message_id=own,
            timestamp=now,
            metadata=clean_metadata(metadata) if metadata else metadata,
        )
        return message, call


def _checked(what: str, given: Mapping[str, Any], needed: frozenset[str], more: frozenset[str]) -> None:
    """Raises InvalidInput for what is missing or unknown."""
    wrong = sorted((needed - set(given)) | (set(given) - needed - more))
    if wrong:
        raise InvalidInput(
            f"{what}: {', '.join(wrong)} missing or unknown.",
            hint=f"It needs {', '.join(sorted(needed))}"
            + (f"; it may have {', '.join(sorted(more))}." if more else "."),
        )


def _said_at(moment: datetime | None) -> datetime | None:
    """The moment, which is in UTC where it does not say. Raises InvalidInput where nothing can have been said then."""
    if moment is None:
        return None
    told = parse_time(moment)
    if told is None:
        raise InvalidInput(
            f"Nothing was said at {moment.isoformat()}.", hint=f"Use a time from {EARLIEST.year} to {LATEST.year}."
        )
    return told


def _choice(kind: type[Any], value: str, name: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{value!r} is no {name}.", hint=f"One of: {names}.") from None
