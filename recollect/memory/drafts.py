"""From what a program gives to records: messages and tool calls that are written live, checked and cleaned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any

from recollect.errors import InvalidInput
from recollect.importers.base import DraftNotes
from recollect.importers.formats.messages.parts import read_body
from recollect.ingest.changes import Rewording
from recollect.memory.handle import LIVE_SOURCE, Handle, count_tokens
from recollect.record import (
    NOTHING,
    Conversation,
    Kind,
    Message,
    Metadata,
    NodeId,
    Part,
    PartKind,
    Role,
    RoleName,
    ToolCall,
    checked_id,
    parse_time,
    stable_id,
)
from recollect.record.ids import EARLIEST, LATEST
from recollect.runtime.arguments import shown
from recollect.text.clean import as_text, clean_metadata, clean_text, clean_title, cut_recall

#: A text, or content parts as OpenAI and Anthropic write them.
Content = str | Mapping[str, Any] | Sequence[Any] | None
#: A time; a day is its beginning in UTC.
Moment = datetime | date | str | int | float

#: What others call a role.
_ROLES = {"developer": "system"}

_NEEDED, _OF_A_MESSAGE = (
    frozenset({"content"}),
    frozenset({"role", "speaker", "parent_id", "timestamp", "kind", "model", "parts", "metadata", "id", "tool_calls"}),
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
        content: Content,
        role: RoleName = "user",
        *,
        conversation_id: str | None,
        parent_id: str | None = None,
        speaker: str | None = None,
        title: str = "",
        timestamp: Moment | None = None,
        kind: str = "said",
        model: str | None = None,
        parts: Sequence[Part] = (),
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> tuple[Conversation, Message]:
        """A message with its conversation: the one given, that of the parent, or a new one."""
        text, inside = _read_content(content, role)
        given = (*_checked_parts(parts), *inside)
        words = cut_recall(clean_text(text))
        if not words.strip() and not given:
            raise InvalidInput("Nothing to remember: the content is empty.", hint="Give a text, or parts.")
        now = _said_at(timestamp) or self.clock()
        parent = NodeId(_text(parent_id, "parent_id")) if parent_id else None
        if parent and conversation_id is None:
            conversation_id = self.message_of(parent).conversation_id
        conversation = Conversation(
            id=_id(conversation_id, "conversation_id") or self.ids(),
            source=LIVE_SOURCE,
            title=clean_title(_text(title, "title")),
            created=now,
            updated=now,
        )
        message = Message(
            id=_id(id, "id") or self.ids(),
            conversation_id=conversation.id,
            role=_choice(Role, _ROLES.get(role, role) if isinstance(role, str) else role, "role"),
            content=words,
            kind=_choice(Kind, kind, "kind"),
            speaker=None if speaker is None else _text(speaker, "speaker"),
            timestamp=now,
            parent_id=parent,
            model=None if model is None else _text(model, "model"),
            tokens=count_tokens(words),
            parts=given,
            metadata=_mapping(metadata, "metadata"),
        )
        return conversation, message

    def messages(
        self, messages: Iterable[Mapping[str, Any]], conversation_id: str | None, title: str
    ) -> list[tuple[Conversation, Message, list[tuple[Message, ToolCall]]]]:
        """Several messages of one conversation, each with its calls of tools; a parent may be one of them."""
        given = _listed(messages, "messages")
        for number, one in enumerate(given):
            _checked(f"Message {number}", one, _NEEDED, _OF_A_MESSAGE)
        first = given[0].get("parent_id") if given else None
        into = _id(conversation_id, "conversation_id") or (
            self.message_of(NodeId(first)).conversation_id if first else self.ids()
        )
        made = []
        for one in given:
            told = {name: value for name, value in one.items() if name != "tool_calls"}
            conversation, message = self.message(conversation_id=into, title=title, **told)
            made.append((conversation, message, self.calls(one.get("tool_calls", ()), message)))
        return made

    def calls(self, calls: Iterable[Mapping[str, Any]], asked: Message) -> list[tuple[Message, ToolCall]]:
        """The tool calls of a message, each with the message that is its result."""
        given = _listed(calls, "calls")
        for number, one in enumerate(given):
            _checked(f"Call {number}", one, _NEEDED_OF_A_CALL, _OF_A_CALL)
        return [self._call(asked, number, **one) for number, one in enumerate(given)]

    def store_calls(
        self, handle: Handle, calls: Iterable[Mapping[str, Any]], message_id: str, *, at_end: bool = False
    ) -> list[ToolCall]:
        """Stores the tool calls of a message in one transaction. Raises NotFound, InvalidInput.

        `at_end`: the result of a call of a message that more was said after stands at the end of the path, instead of
        in a branch of its own that all of that would leave.
        """
        asked = self.message_of(NodeId(message_id))
        drafted = self.calls(calls, asked)
        if at_end and asked.active:
            drafted = [(replace(message, parent_id=None), call) for message, call in drafted]
        if drafted:
            conversation = Conversation(asked.conversation_id, LIVE_SOURCE)
            handle.ingest.append_all(conversation, [(message, [call]) for message, call in drafted])
        with handle.space.view() as view:  # what was stored before, where it comes again
            return view.get(ToolCall, [call.id for _, call in drafted])

    def rewordings(self, changes: Iterable[Mapping[str, str]]) -> list[Rewording]:
        """New wordings of messages."""
        given = _listed(changes, "changes")
        made: dict[str, Rewording] = {}
        for number, one in enumerate(given):
            _checked(f"Change {number}", one, _NEEDED_OF_A_CHANGE, frozenset())
            words = cut_recall(clean_text(_text(one["content"], "content")))
            if not words.strip():
                raise InvalidInput("The new text is empty.", hint="To remove the message: delete()")
            own = NodeId(_text(one["id"], "id"))
            if own in made:
                raise InvalidInput(f"Message {own} is changed twice.", hint="Give each message once.")
            made[own] = Rewording(own, words)
        return list(made.values())

    def _call(
        self,
        asked: Message,
        position: int,
        name: str,
        arguments: object,
        result: object,
        timestamp: Moment | None = None,
        metadata: Metadata = NOTHING,
        id: str | None = None,
    ) -> tuple[Message, ToolCall]:
        now = _said_at(timestamp) or self.clock()
        given = _id(id, "id")
        own = stable_id("result of", given) if given else NodeId(self.ids())
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
            id=given or stable_id("call", own, 0),
            message_id=asked.id,
            conversation_id=asked.conversation_id,
            name=clean_title(_text(name, "name")),
            arguments=clean_text(as_text(arguments)),
            result_message_id=own,
            timestamp=now,
            position=position,
            metadata=clean_metadata(_mapping(metadata, "metadata")) if metadata else NOTHING,
        )
        return message, call


def _checked(what: str, given: Mapping[str, Any], needed: frozenset[str], more: frozenset[str]) -> None:
    """Raises InvalidInput for what is missing or unknown."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{what} is {shown(given)}.", hint=f"Give a mapping with {', '.join(sorted(needed))}.")
    wrong = sorted((needed - set(given)) | (set(given) - needed - more))
    if wrong:
        raise InvalidInput(
            f"{what}: {', '.join(wrong)} missing or unknown.",
            hint=f"It needs {', '.join(sorted(needed))}"
            + (f"; it may have {', '.join(sorted(more))}." if more else "."),
        )


def _read_content(content: Content, role: object) -> tuple[str, tuple[Part, ...]]:
    """The words of a content, and what stands beside them: a text, or content parts as OpenAI and Anthropic write them.
    A part may be a model of theirs.
    """
    if content is None or isinstance(content, str):
        return content or "", ()
    given = [content] if isinstance(content, Mapping) else content
    plain = [_plain(one) for one in given] if isinstance(given, Sequence) and not isinstance(given, bytes) else [None]
    if not all(isinstance(one, str | dict) for one in plain):
        raise InvalidInput(
            f"content is {shown(content)}.", hint="Give a text, or content parts as OpenAI and Anthropic write them."
        )
    body = read_body({"content": plain, "role": role}, DraftNotes())
    calls = (Part(PartKind.ARTIFACT, f"call of {call.name}", call.arguments) for call in body.calls)
    return "\n\n".join(filter(None, body.words)), (*body.parts, *calls)


def _plain(part: object) -> object:
    dump = getattr(part, "model_dump", None)
    found = dump(exclude_none=True) if callable(dump) else part
    return dict(found) if isinstance(found, Mapping) else found


def _checked_parts(parts: Sequence[Part]) -> tuple[Part, ...]:
    given = tuple(parts) if isinstance(parts, Sequence) else (parts,)
    wrong = [part for part in given if not isinstance(part, Part)]
    if wrong:
        raise InvalidInput(
            f"parts holds {shown(wrong[0])}.", hint="Give recollect.record.Part; content parts belong in content."
        )
    return given


def _said_at(moment: Moment | None) -> datetime | None:
    """The moment, which is in UTC where it does not say. Raises InvalidInput where nothing can have been said then."""
    if moment is None:
        return None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), UTC)
    told = parse_time(moment)
    if told is None:
        given = moment.isoformat() if isinstance(moment, datetime) else repr(moment)
        raise InvalidInput(
            f"Nothing was said at {given}, the timestamp.",
            hint=f"Use a datetime, or ISO 8601, from {EARLIEST.year} to {LATEST.year}.",
        )
    return told


def _listed(given: object, name: str) -> list[Any]:
    """Several of something. Raises InvalidInput for what is not several."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidInput(f"{name} is {shown(given)}.", hint="Give a list of mappings.")
    return list(given)


def _id(value: object, name: str) -> NodeId | None:
    return checked_id(_text(value, name), name) if value else None


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {shown(value)}.", hint="Give a text.")
    return value


def _mapping(value: Metadata, name: str) -> Metadata:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} is {shown(value)}.", hint="Give a mapping, or leave it out.")
    return value


def _choice(kind: type[Any], value: str, name: str) -> Any:
    try:
        return kind(value)
    except (ValueError, TypeError):
        names = ", ".join(member.value for member in kind)
        raise InvalidInput(f"{value!r} is no {name}.", hint=f"One of: {names}.") from None
