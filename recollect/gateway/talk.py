"""What stands in a request, and what comes back, whatever the wire form: who said what, and which tools were called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from recollect.importers.formats.claude_code.lines import split_injected
from recollect.importers.formats.codex.lines import is_injected, unwrapped
from recollect.importers.reading.lenient import as_json, objects_of, text_of
from recollect.text.clean import clean_text, cut_recall, without_thought

_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_OF_TOOLS = ("tool_use", "tool_result")  # what their kinds end in
#: What of a model's answer is a picture, a sound or a file; other parts are there for the provider or the client.
_FILES = re.compile(r"image|audio|video|file|document|media|upload")
#: What is there for the provider alone: unreadable, and long.
_SEALED = ("encrypted_", "b64_json")


@dataclass(frozen=True, slots=True)
class DialogueCall:
    """A tool that a model calls; `id` is what its result refers to."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class DialogueResult:
    """What a tool answered."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class DialogueMessage:
    """A message of a request, at a place in its list. `text` are a person's or a model's own words, without what
    programs put beside them; `assets` names pictures and files. `refers` is the provider's name of an answer that the
    client sends only by that.
    """

    role: str
    text: str
    at: int
    calls: tuple[DialogueCall, ...] = ()
    results: tuple[DialogueResult, ...] = ()
    assets: tuple[str, ...] = ()
    refers: str = ""

    @property
    def is_said(self) -> bool:
        """Whether anybody said something, rather than a tool or a program."""
        return bool(self.text.strip() or self.assets)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What stands in a request. `follows` names an answer that the provider keeps, which this goes on from; `is_held`:
    it will keep the answer to this, too. `answers` is how many are asked for. `prefill` is how the client lets the
    answer begin, which is no message of its own. `forgotten` counts the messages that are left out because they were.
    """

    said: tuple[DialogueMessage, ...]
    system: str = ""
    follows: str = ""
    is_held: bool = False
    answers: int = 1
    prefill: str = ""
    forgotten: int = 0


@dataclass(slots=True)
class HeardAnswer:
    """What an answer says, as it comes. `results` are of tools that the provider runs itself, `sources` the titles of
    the pages that are cited, by their addresses. `others` are further answers to the same question, by their numbers;
    `many` is how many answers there are to be. `prefill` is how the client let them begin.
    """

    words: list[str] = field(default_factory=list)  # of the message that comes now
    name: str = ""  # the provider's id of that message
    before: list[tuple[str, str]] = field(default_factory=list)  # the messages before it, with their ids
    calls: dict[str, list[str]] = field(default_factory=dict)  # id, name, then pieces of the arguments
    results: list[DialogueResult] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    others: dict[int, HeardAnswer] = field(default_factory=dict)
    many: int = 1
    prefill: str = ""
    is_repeated: bool = False  # the prefill, perhaps
    model: str = ""
    id: str = ""
    is_whole: bool = False
    is_coming: bool = False  # fetched while it is still made: it will be told whole

    @property
    def answers(self) -> list[HeardAnswer]:
        """All answers, the first one last: the conversation goes on from what is stored last."""
        return [*self.others.values(), self]

    @property
    def is_over(self) -> bool:
        """Whether all answers have come."""
        return len(self.answers) >= self.many and self.is_complete

    @property
    def is_complete(self) -> bool:
        """Whether all answers that have begun are whole: some servers give fewer than are asked for."""
        return all(one.is_whole for one in self.answers)

    @property
    def is_answer(self) -> bool:
        """Whether the client has got one: all are whole, and there is something in them to go on from."""
        return self.is_complete and any(one.text or one.calls or one.results for one in self.answers)

    @property
    def is_anything(self) -> bool:
        """Whether there is anything to keep."""
        return not self.is_coming and any(one.is_whole or one.text for one in self.answers)

    @property
    def messages(self) -> list[tuple[str, str]]:
        """The messages of the answer that have words, each with the provider's name of it."""
        told = [*self.before, ("".join(self.words), self.name)]
        if self.is_whole or any(text for text, _ in told):
            first, name = told[0]
            is_there = self.is_repeated and first.startswith(self.prefill)
            told[0] = (first if is_there else self.prefill + first, name)
        found = ((own_words(text, "assistant"), name) for text, name in told)
        return [(text, name) for text, name in found if text]

    @property
    def text(self) -> str:
        """The words of the answer."""
        return "\n\n".join(text for text, _ in self.messages)

    @property
    def made(self) -> list[DialogueCall]:
        """The calls of tools."""
        return [DialogueCall(own, name or "tool", "".join(given)) for own, name, *given in self.calls.values()]

    def answer(self, number: int) -> HeardAnswer:
        """One of several answers."""
        if number <= 0:
            return self
        return self.others.setdefault(
            number, HeardAnswer(model=self.model, id=self.id, prefill=self.prefill, is_repeated=self.is_repeated)
        )

    def begin(self) -> None:
        """Another message of the same answer begins."""
        self.before.append(("".join(self.words), self.name))
        self.words, self.name = [], ""

    def call(self, index: object, own: str, name: str) -> list[str]:
        """The call that a piece of an answer belongs to, by its number. Some servers give their calls no numbers, or
        all of them the same: then another call begins with another id or, without ids, with a name.
        """
        key = str(index) if isinstance(index, int) else next(reversed(self.calls), "0")
        while f"{key}'" in self.calls:
            key = f"{key}'"
        kept = self.calls.get(key)
        if kept is not None and name and kept[1] and (own != kept[0] if own else not isinstance(index, int)):
            key = f"{key}'"
        found = self.calls.setdefault(key, ["", ""])
        found[0], found[1] = found[0] or own, found[1] or name
        return found

    def add(self, call: DialogueCall) -> None:
        """A call that is told whole; told again it is the same."""
        told = [call.id, call.name, call.arguments]
        if not call.id or told not in self.calls.values():
            self.calls[str(len(self.calls))] = told


def prefilled(said: list[DialogueMessage], items: Sequence[Any]) -> str:
    """Takes the last message of a request, which the answer is to go on with, from the others: its words, blanks
    included.
    """
    if not said or said[-1].at != len(items) - 1 or said[-1].role != "assistant" or said[-1].calls:
        return ""
    return answered(items[said.pop().at].get("content"))


def words(content: object) -> str:
    """The words of a content: a text, or parts of which some have one."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    found = [part if isinstance(part, str) else words_of(part) for part in content]
    return "\n\n".join(text for text in found if text)


def answered(content: object) -> str:
    """The words of an answer. Texts that stand side by side are one: each citation begins a part of its own, in the
    middle of a sentence. What was thought or looked up between two texts ends a paragraph.
    """
    if isinstance(content, str) or not isinstance(content, Sequence):
        return words(content)
    pieces: list[str] = []
    for part in content:
        if text := part if isinstance(part, str) else words_of(part):
            pieces.append(text)
        elif isinstance(part, Mapping) and ends_paragraph(text_of(part.get("type"))) and pieces[-1:] != ["\n\n"]:
            pieces.append("\n\n")
    return "".join(pieces)


def ends_paragraph(kind: str) -> bool:
    """Whether a part of this kind stands between two texts, rather than within one."""
    return kind in _THOUGHTS or kind.endswith(_OF_TOOLS)


def words_of(part: object) -> str:
    """The words of a part of a content."""
    if not isinstance(part, Mapping) or str(part.get("type")) not in _TEXTS:
        return ""
    found = part.get("text") or part.get("refusal") or ""
    return found if isinstance(found, str) else ""


def own_words(text: str, role: str) -> str:
    """What a person or a model said in a text, without what Recollect and other programs put into it."""
    said = cut_recall(clean_text(text))
    if role == "user":
        said = unwrapped(split_injected(said)[0])[0]
        if is_injected(said):
            return ""
    elif role == "assistant":  # some clients send it again, and some do not
        said = without_thought(said)
    return said.strip()


def own_of(content: object, role: str) -> str:
    """The same of a content. Programs put their words into parts of their own, beside those of a person."""
    if role == "assistant":
        return own_words(answered(content), role)
    if isinstance(content, Sequence) and not isinstance(content, str):
        found = [own_words(part if isinstance(part, str) else words_of(part), role) for part in content]
        return "\n\n".join(text for text in found if text)
    return own_words(words(content), role)


def assets(content: object, role: str = "user") -> tuple[str, ...]:
    """The names of pictures, sounds and files in a content; never their bytes."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return ()
    return tuple(_name(part) for part in content if isinstance(part, Mapping) and _is_asset(part.get("type"), role))


def _is_asset(kind: object, role: str) -> bool:
    if not isinstance(kind, str) or kind in _TEXTS | _THOUGHTS or kind.endswith(_OF_TOOLS):
        return False
    return role == "user" or bool(_FILES.search(kind))


def _name(part: Mapping[str, Any]) -> str:
    inner = part.get(str(part.get("type")))
    about = inner if isinstance(inner, Mapping) else part
    for key in ("filename", "file_name", "title", "name", "file_id", "url"):
        if isinstance(name := about.get(key), str) and name and not name.startswith("data:"):
            return name
    return str(part.get("type"))


def output(content: object) -> str:
    """What a tool answered, as text; without what only the provider can read, and without the bytes of files."""
    if isinstance(content, str) or (text := words(content)):
        return content if isinstance(content, str) else text
    try:
        return as_json(_legible(content))
    except RecursionError:
        return as_json(content)


def sources(citations: object) -> dict[str, str]:
    """The titles of the pages that an answer cites, by their addresses."""
    return {url: text_of(page.get("title")) for page in _pages(citations) if (url := text_of(page.get("url")))}


def _pages(citations: object) -> Iterator[Mapping[str, Any]]:
    for one in objects_of(citations):
        inner = one.get("url_citation")
        yield inner if isinstance(inner, Mapping) else one


def _legible(value: object) -> object:
    if isinstance(value, list):
        return [_legible(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    sealed = ("data", *_SEALED) if value.get("type") == "base64" else _SEALED
    return {
        key: _legible(inner)
        for key, inner in value.items()
        if not (key.startswith(sealed) or text_of(inner).startswith("data:"))
    }


# Which call of a tool a result is of.


class Calls:
    """The calls of a talk, by their ids. Some servers give several at once the same: then results come in the order of
    the calls; and some count them anew in every step: then the latest is meant.
    """

    def __init__(self) -> None:
        self._latest: dict[str, DialogueCall] = {}
        self._waiting: dict[str, list[DialogueCall]] = {}  # those of this step
        self._is_answered = False

    def made(self, calls: Sequence[DialogueCall]) -> None:
        """Takes in calls."""
        if calls and self._is_answered:
            self._waiting, self._is_answered = {}, False
        for call in calls:
            self._latest[call.id] = call
            self._waiting.setdefault(call.id, []).append(call)

    def answered(self, result: DialogueResult) -> DialogueCall:
        """The call that a result is of."""
        self._is_answered = True
        if waiting := self._waiting.get(result.call_id):
            return waiting.pop(0)
        return self._latest.get(result.call_id) or DialogueCall(result.call_id, "", "")


# What a wire form is: how a provider writes down what was said.

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """Who says an item of a request, and what it hangs together with: the calls of tools that it opens, by their ids,
    and those that it closes with a result.
    """

    role: Literal["system", "user", "assistant", "result"]
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()


class Wire(Protocol):
    """A wire form. What it does not know it passes over, and leaves as it is."""

    vendor: str  # openai, anthropic
    path: str  # what the address of its requests ends in
    items: str  # the field that holds what was said

    def read(self, body: Body) -> Dialogue:
        """What stands in a request."""
        ...

    def links(self, item: Body) -> Links:
        """What an item of a request hangs together with."""
        ...

    def with_blocks(self, body: Body, blocks: Mapping[int, str]) -> dict[str, Any]:
        """The request with a text before the words of some of its messages, by their places."""
        ...

    def hear(self, event: Body, heard: HeardAnswer) -> None:
        """Takes in an event of an answer that streams."""
        ...

    def whole(self, answer: Body, heard: HeardAnswer) -> None:
        """Takes in an answer that comes in one piece."""
        ...


def before_words(content: object, block: str, kind: str) -> object:
    """A content with a text before its words, behind the results of tools: those must come first."""
    if isinstance(content, str):
        return f"{block}\n\n{content}"
    parts = list(content) if isinstance(content, list) else []
    first = next((n for n, part in enumerate(parts) if _has_words(part, kind)), len(parts))
    return [*parts[:first], {"type": kind, "text": block}, *parts[first:]]


def _has_words(part: object, kind: str) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") == kind)
