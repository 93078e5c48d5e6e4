"""A conversation as a page shows it: its messages, branches, questions, and the strip beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import orjson
from markupsafe import Markup

from recollect.faces.present.names import beginning
from recollect.faces.web.text.markdown import Range, html, marked_html, quoted
from recollect.record import Kind, Message, NodeId, Part, PartKind, Role, Thread, ToolCall
from recollect.search.query.request import parse_query
from recollect.search.query.spelling import surface
from recollect.search.results.snippet import marking, marks_in
from recollect.text.markdown import without_code
from recollect.text.sentences import sentences
from recollect.text.terms import terms


@dataclass(frozen=True, slots=True)
class Fork:
    """A message that has others in its place: which of how many it is, and those before and after it."""

    number: int
    among: int
    previous: NodeId | None
    next: NodeId | None


@dataclass(frozen=True)
class BranchPath:
    """The messages that are shown, in order, of all that a conversation holds."""

    messages: tuple[Message, ...]
    every: tuple[Message, ...]

    def fork(self, message: Message) -> Fork | None:
        """Where a message is one of several in the same place."""
        siblings = self._below.get(message.parent_id, [])
        if len(siblings) < 2 or sum(m.id in self._ids for m in siblings) != 1:
            return None
        at = next(i for i, m in enumerate(siblings) if m.id == message.id)
        before = siblings[at - 1].id if at else None
        after = siblings[at + 1].id if at + 1 < len(siblings) else None
        return Fork(at + 1, len(siblings), before, after)

    @cached_property
    def _ids(self) -> frozenset[NodeId]:
        return frozenset(m.id for m in self.messages)

    @cached_property
    def _below(self) -> Mapping[NodeId | None, list[Message]]:
        return _children(self.every)


def path_through(messages: Sequence[Message], at: NodeId | None) -> BranchPath:
    """The path that is shown first; or where a message lies on another, the one that leads over it."""
    every = tuple(messages)
    wanted = next((m for m in every if m.id == at), None)
    active = tuple(m for m in every if m.active)
    if wanted is None or wanted.active:
        return BranchPath(active or every, every)
    by_id, below = {m.id: m for m in every}, _children(every)
    up, seen = [wanted], {wanted.id}
    while (parent := by_id.get(up[-1].parent_id or NodeId(""))) is not None and parent.id not in seen:
        up.append(parent)
        seen.add(parent.id)
    path = up[::-1]
    while following := [m for m in below.get(path[-1].id, []) if m.id not in seen]:
        path.append(following[-1])
        seen.add(path[-1].id)
    return BranchPath(tuple(path), every)


def _children(messages: Sequence[Message]) -> dict[NodeId | None, list[Message]]:
    """Messages by what they follow, in the order in which they came; what is gone has no place."""
    below: dict[NodeId | None, list[Message]] = {}
    for message in messages:
        if not message.erased:
            below.setdefault(message.parent_id, []).append(message)
    return below


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
        begins = beginning(_gist(call.arguments), 70)
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
    label = f"{labels.get(message.kind, message.kind.value)}: {beginning(message.content, 70)}"
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


def _cut(text: str) -> tuple[str, bool]:
    return text[:_MOST_FOLDED], len(text) > _MOST_FOLDED


_LONGEST = 160  # characters of a question
_SEGMENTS = 24  # of the strip, each a link
_MOST_BARS = 300
_HIGHEST = 4_000  # characters that count of a message's length
_SIGNS = re.compile(r"^[#>*\-\s]+|[`*_]{1,3}")


@dataclass(frozen=True, slots=True)
class OutlineQuestion:
    """What the person asked, in a line; whether the exchange that it opens matches, or is the current one."""

    shown: DisplayedMessage
    words: str
    has_match: bool
    is_now: bool


def questions(shown: Sequence[DisplayedMessage], now: int | None) -> list[OutlineQuestion]:
    """One's questions in order: of each message the last question, else its longest sentence."""
    asked = [one for one in shown if one.is_you and not one.message.deleted]
    ends = [*(one.place for one in asked), len(shown)][1:]
    found = []
    for one, end in zip(asked, ends, strict=True):
        exchange = shown[one.place : end]
        is_now = now is not None and one.place <= now < end
        found.append(OutlineQuestion(one, _question(one.message.content), any(o.is_match for o in exchange), is_now))
    return found


def _question(text: str) -> str:
    plain = " ".join(_SIGNS.sub("", line) for line in without_code(text[:20_000], " ").splitlines())
    said = sentences(" ".join(plain.split()))
    if not said:
        return " ".join(text[:_LONGEST].split()) or "(nothing)"
    asking = [sentence for sentence in said if sentence.endswith(("?", "？", "؟"))]
    best = asking[-1] if asking else max(said, key=len)
    best = best[:1].upper() + best[1:]
    return best if len(best) <= _LONGEST else f"{best[:_LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A piece of the strip: blue is the person, grey the answer."""

    y: float
    height: float
    is_you: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A match in the strip."""

    y: float
    is_now: bool


@dataclass(frozen=True, slots=True)
class StripSegment:
    """A part of the strip that holds matches, as a link to the first of them."""

    row: int
    shown: DisplayedMessage
    words: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The whole conversation, from 0 to 100."""

    strokes: tuple[Stroke, ...]
    ticks: tuple[Tick, ...]
    segments: tuple[StripSegment, ...]


def conversation_strip(shown: Sequence[DisplayedMessage], now: int | None) -> Strip:
    """The strip of a conversation; of a very long one several messages are one piece."""
    lengths = [60 + min(len(one.message.content), _HIGHEST) for one in shown]
    total = sum(lengths) or 1
    tops = [0.0]
    for length in lengths:
        tops.append(tops[-1] + 100 * length / total)
    step = -(-len(shown) // _MOST_BARS) or 1
    gap = 0.25 if step == 1 and len(shown) < 150 else 0.0
    strokes = tuple(
        Stroke(round(top, 2), round(max(bottom - top - gap, 0.2), 2), shown[at].is_you)
        for at, (top, bottom) in zip(range(0, len(shown), step), pairwise([*tops[:-1:step], tops[-1]]), strict=False)
    )
    marks = [one.place for one in shown if one.is_match]
    ticks = tuple(Tick(round((tops[p] + tops[p + 1]) / 2, 1), p == now) for p in marks)
    return Strip(strokes, ticks, tuple(_segments(shown, marks, tops)))


def _segments(shown: Sequence[DisplayedMessage], marks: Sequence[int], tops: Sequence[float]) -> list[StripSegment]:
    rows: dict[int, list[int]] = {}
    for number, place in enumerate(marks, 1):
        middle = (tops[place] + tops[place + 1]) / 2
        rows.setdefault(min(_SEGMENTS, int(middle * _SEGMENTS / 100) + 1), []).append(number)
    return [
        StripSegment(
            row,
            shown[marks[numbers[0] - 1]],
            f"Match {numbers[0]}" if len(numbers) == 1 else f"Matches {numbers[0]} to {numbers[-1]}",
        )
        for row, numbers in rows.items()
    ]
