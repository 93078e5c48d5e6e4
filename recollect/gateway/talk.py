"""What stands in a request, and what comes back, whatever the wire form: who said what, and which tools were called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.importers.formats.claude_code.lines import split_injected
from recollect.importers.formats.codex.lines import is_injected, unwrapped
from recollect.importers.reading.lenient import as_json
from recollect.text.clean import clean_text
from recollect.text.marks import cut_recall
from recollect.text.thought import without_thought

_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_OF_TOOLS = frozenset({"tool_use", "tool_result"})


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that a model calls; `id` is what its result refers to."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a request, at a place in its list. `text` are a person's or a model's own words, without what
    programs put beside them; `assets` names pictures and files.
    """

    role: str
    text: str
    at: int
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    assets: tuple[str, ...] = ()

    @property
    def is_said(self) -> bool:
        """Whether anybody said something, rather than a tool or a program."""
        return bool(self.text.strip() or self.assets)


@dataclass(frozen=True, slots=True)
class Talk:
    """What stands in a request. `follows` names an answer that the provider keeps, which this goes on from; `is_held`:
    it will keep the answer to this, too.
    """

    said: tuple[Said, ...]
    system: str = ""
    follows: str = ""
    is_held: bool = False


@dataclass(slots=True)
class Heard:
    """What an answer says, as it comes."""

    words: list[str] = field(default_factory=list)  # of the message that comes now
    before: list[str] = field(default_factory=list)  # the messages before it
    calls: dict[int | str, list[str]] = field(default_factory=dict)  # id, name, then pieces of the arguments
    model: str = ""
    id: str = ""
    is_whole: bool = False

    @property
    def messages(self) -> list[str]:
        """The messages of the answer that have words."""
        found = (own_words(text, "assistant") for text in (*self.before, "".join(self.words)))
        return [text for text in found if text]

    @property
    def text(self) -> str:
        """The words of the answer."""
        return "\n\n".join(self.messages)

    def begin(self) -> None:
        """Another message of the same answer begins."""
        self.before.append("".join(self.words))
        self.words = []


def words(content: object) -> str:
    """The words of a content: a text, or parts of which some have one."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    found = [part if isinstance(part, str) else words_of(part) for part in content]
    return "\n\n".join(text for text in found if text)


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
    """The same of a content, part by part: programs put their words into parts of their own."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        found = [own_words(part if isinstance(part, str) else words_of(part), role) for part in content]
        return "\n\n".join(text for text in found if text)
    return own_words(words(content), role)


def assets(content: object) -> tuple[str, ...]:
    """The names of pictures, sounds and files in a content; never their bytes."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return ()
    return tuple(_name(part) for part in content if isinstance(part, Mapping) and _is_asset(part.get("type")))


def _is_asset(kind: object) -> bool:
    return isinstance(kind, str) and kind not in _TEXTS | _THOUGHTS | _OF_TOOLS


def _name(part: Mapping[str, Any]) -> str:
    inner = part.get(str(part.get("type")))
    about = inner if isinstance(inner, Mapping) else part
    for key in ("filename", "file_name", "title", "name", "file_id", "url"):
        if isinstance(name := about.get(key), str) and name and not name.startswith("data:"):
            return name
    return str(part.get("type"))


def output(content: object) -> str:
    """What a tool answered, as text."""
    return content if isinstance(content, str) else words(content) or as_json(content)
