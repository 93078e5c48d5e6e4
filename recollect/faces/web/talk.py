"""A conversation as it is read: what was said, what lies folded beside it, and where it matches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import orjson
from markupsafe import Markup

from recollect.faces.web.path import BranchPath, Fork
from recollect.faces.web.text.markdown import html
from recollect.faces.web.text.marking import Range, marked_html, quoted
from recollect.record import Kind, Message, NodeId, Part, PartKind, Role, Thread, ToolCall
from recollect.search.query.forms import surface
from recollect.search.query.syntax import parse_query
from recollect.search.results.snippet import marking, marks_in
from recollect.text.terms import terms

#: So many messages are drawn at once, around the one at which the conversation opens.
AT_ONCE = 120

_SPOKEN = (Kind.SAID, Kind.SUBAGENT)
_MOST_FOLDED = 6_000  # characters of what is folded; who wants more opens the whole


@dataclass(frozen=True, slots=True)
class Folded:
    """Something beside what was said, on a line that opens: its name, its text."""

    label: str
    text: str
    kind: str  # tool, reasoning, context, attachment, artifact, asset
    is_open: bool = False
    message_id: NodeId | None = None  # where it is a message of its own
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class DisplayedMessage:
    """A message with what is folded above it."""

    message: Message
    folded: tuple[Folded, ...]
    place: int  # among what is shown, from 0
    is_match: bool
    is_now: bool
    fork: Fork | None

    @property
    def is_you(self) -> bool:
        """Whether the person said it."""
        return self.message.role is Role.USER and self.message.kind is Kind.SAID

    @property
    def is_said(self) -> bool:
        """Whether it was said, and is not only folded."""
        return self.message.kind in _SPOKEN


class Highlights:
    """What is marked in messages: the words of a query, and quotations."""

    def __init__(self, query: str, quotations: Sequence[str] = ()) -> None:
        asked = parse_query(query)
        phrases = [words for phrase in asked.phrases if (words := surface(phrase))]
        self._terms, self._phrases = marking(asked.text, terms(asked.text), phrases)
        self._quotations = tuple(quotations)

    def __bool__(self) -> bool:
        return bool(self._terms or self._phrases)

    def places(self, text: str) -> list[Range]:
        """Where words stand in a text."""
        return marks_in(text, self._terms, self._phrases)

    def words(self, message: Message, *, is_now: bool) -> Markup:
        """The words of a message, as HTML, with what is sought in them marked."""
        drawn = html(message.content, breaks=message.role is Role.USER)
        if is_now and self._quotations:
            return Markup(marked_html(drawn, quoted(self._quotations), "quote"))
        return Markup(marked_html(drawn, self.places) if self else drawn)


class OpenedConversation:
    """A path through a conversation, opened at a message."""

    def __init__(self, thread: Thread, path: BranchPath, at: NodeId | None, sought: Highlights) -> None:
        self.thread, self.path, self.sought = thread, path, sought
        self._at = at

    @cached_property
    def shown(self) -> tuple[DisplayedMessage, ...]:
        """What is shown, in order."""
        return tuple(self._shown())

    @cached_property
    def matches(self) -> tuple[int, ...]:
        """The places of what matches, in order."""
        return tuple(one.place for one in self.shown if one.is_match)

    @cached_property
    def now(self) -> int | None:
        """The place at which it opens: the message that is asked for, else the first that matches."""
        return next((one.place for one in self.shown if one.is_now), None)

    @property
    def number(self) -> int | None:
        """Which of the matches that is, from 1."""
        return self.matches.index(self.now) + 1 if self.now in self.matches and self.now is not None else None

    def stepped(self, by: int) -> DisplayedMessage | None:
        """The match after (1) or before (-1) the current place; round again at the ends."""
        if not self.matches:
            return None
        here = -1 if self.now is None else self.now
        if by > 0:
            return self.shown[next((p for p in self.matches if p > here), self.matches[0])]
        return self.shown[next((p for p in reversed(self.matches) if p < here), self.matches[-1])]

    def window(self, first: int | None = None, last: int | None = None) -> tuple[int, int]:
        """The places that are drawn: those asked for, else those around the one at which it opens."""
        count = len(self.shown)
        if first is not None and last is not None:
            begin = min(max(0, first), count)  # the conversation may have become shorter since the page was drawn
            return begin, max(begin, min(count, last, begin + 2 * AT_ONCE))
        middle = self.now or 0
        begin = max(0, min(middle - AT_ONCE // 2, count - AT_ONCE))
        return begin, min(count, begin + AT_ONCE)

    def _shown(self) -> list[DisplayedMessage]:
        """What was said, each message with what is folded before it; what nothing was said after follows the answer."""
        shown: list[DisplayedMessage] = []
        waiting: list[Folded] = []
        fork: Fork | None = None
        for message in self.path.messages:
            if message.erased:
                continue
            fork = fork or self.path.fork(message)  # what is folded may be what leaves the other branch
            own = [] if message.deleted else self._folded(message)
            is_empty = message.role is not Role.USER and not message.content.strip() and not message.deleted
            if message.kind not in _SPOKEN or (is_empty and own):
                waiting += own  # a message that is folded itself, or only called a tool
                continue
            if message.role is Role.USER and waiting and shown:
                shown[-1] = self._with(shown[-1], waiting)
                waiting = []
            shown.append(self._one(message, (*waiting, *own), len(shown), fork))
            waiting, fork = [], None
        if waiting and shown:
            shown[-1] = self._with(shown[-1], waiting)
        elif waiting:
            shown.append(self._one(self.path.messages[-1], tuple(waiting), 0, fork))
        return shown

    def _folded(self, message: Message) -> list[Folded]:
        """What is folded beside a message; of one that was not said, the message itself."""
        calls = [self._folded_call(call) for call in self._calls.get(message.id, ())]
        if message.kind in _SPOKEN:
            return [*map(_folded_part, message.parts), *calls]
        own = [] if message.id in self._results else [_folded_message(message, is_open=message.id == self._at)]
        return [*own, *calls]

    def _folded_call(self, call: ToolCall) -> Folded:
        told = self._results.get(call.result_message_id or NodeId(""))
        result = call.result or ("" if told is None or told.deleted else told.content)
        text, is_cut = _cut("\n\n".join(filter(None, (call.arguments, result))))
        is_open = self._at is not None and self._at in (call.id, call.result_message_id)
        begins = _begins(_gist(call.arguments))
        label = f"{call.name or 'Tool call'}{f': {begins}' if begins else ''}"
        return Folded(label, text, "tool", is_open, call.result_message_id, is_cut)

    def _with(self, one: DisplayedMessage, folded: Sequence[Folded]) -> DisplayedMessage:
        return self._one(one.message, (*one.folded, *folded), one.place, one.fork)

    def _one(self, message: Message, folded: tuple[Folded, ...], place: int, fork: Fork | None) -> DisplayedMessage:
        own = {message.id, *(one.message_id for one in folded)}
        is_now = self._opened_at is not None and self._opened_at in own
        is_match = self._is_held(message) or (is_now and bool(self.sought))
        return DisplayedMessage(message, folded, place, is_match, is_now, fork)

    @cached_property
    def _opened_at(self) -> NodeId | None:
        if self._at is not None or not self.sought:
            return self._at
        holding = (m.id for m in self.path.messages if self._is_held(m))
        return next(holding, None)

    def _is_held(self, message: Message) -> bool:
        """Whether what is sought stands in a message."""
        is_there = bool(self.sought) and message.kind in _SPOKEN and not message.deleted
        return is_there and bool(self.sought.places(message.content))

    @cached_property
    def _calls(self) -> Mapping[NodeId, list[ToolCall]]:
        found: dict[NodeId, list[ToolCall]] = {}
        for call in self.thread.tool_calls:
            found.setdefault(call.message_id, []).append(call)
        return found

    @cached_property
    def _results(self) -> Mapping[NodeId, Message]:
        """Messages that are the results of calls, which show them."""
        ids = {call.result_message_id for call in self.thread.tool_calls}
        return {message.id: message for message in self.thread.messages if message.id in ids}


def _folded_message(message: Message, *, is_open: bool) -> Folded:
    labels = {Kind.REASONING: "Thought", Kind.TOOL: "Tool result", Kind.CONTEXT: "Context"}
    label = f"{labels.get(message.kind, message.kind.value)}: {_begins(message.content)}"
    text, is_cut = _cut(message.content)
    return Folded(label, text, message.kind.value, is_open, message.id, is_cut)


def _folded_part(part: Part) -> Folded:
    labels: Mapping[PartKind, Callable[[str], str]] = {
        PartKind.REASONING: lambda name: "Thought",
        PartKind.ATTACHMENT: lambda name: f"File {name}".strip(),
        PartKind.ARTIFACT: lambda name: f"Page {name}".strip(),
        PartKind.ASSET: lambda name: f"Image or sound {name}".strip(),
    }
    text, is_cut = _cut(part.text)
    return Folded(labels[part.kind](part.name), text, part.kind.value, is_cut=is_cut)


def _gist(arguments: str) -> str:
    """What a tool was called with, in short: of a map the values that are words."""
    try:
        given = orjson.loads(arguments)
    except ValueError:
        return arguments
    if not isinstance(given, dict):
        return arguments
    return ", ".join(" ".join(value.split()) for value in given.values() if isinstance(value, str)) or arguments


def _begins(text: str) -> str:
    begun = " ".join(text[:200].split())
    return begun if len(begun) <= 70 else f"{begun[:70].rsplit(' ', 1)[0]} …"


def _cut(text: str) -> tuple[str, bool]:
    return text[:_MOST_FOLDED], len(text) > _MOST_FOLDED
