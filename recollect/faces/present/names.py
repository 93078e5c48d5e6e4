"""What sources, speakers and messages are called on the screen; times, sizes and numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.record import REPORTS, Kind, Message, Role

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.search.results.result import SearchResults


#: Characters at the end of an id by which people call a message or conversation.
SHORT_ID = 6

_MOST_DIGITS = 4  # more are the end of an id

#: Sources that are one assistant: it speaks under its name. A file of messages or a dump is no speaker.
_ASSISTANTS = ("chatgpt", "claude", "claude-code", "codex")
#: Written down here, so that the status page need not load all readers to know their names.
_LABELS = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "openai": "OpenAI",
    "sharegpt": "ShareGPT",
    "recollect": "Recollect",
    "documents": "Documents",
}


#: What the signals of a search are called in the field.
SIGNALS = {"words": "keyword", "meaning": "semantic", "late interaction": "quality", "people": "names"}


def source_label(source: str) -> str:
    """The name of a source for people: "Claude Code" for claude-code."""
    return _LABELS.get(source) or _added_label(source)


@cache
def _added_label(source: str) -> str:
    """The name that an installed package gives to the source of its format."""
    from importlib.metadata import entry_points

    if not entry_points(group="recollect.importers"):
        return source
    from recollect.importers.registry import importers

    return next((importer.label for importer in importers() if importer.name == source), source)


def documents_named(source: str) -> str:
    """What results in documents are headed: Recollect's own reports stand apart from files."""
    return "Reports by Recollect" if source == REPORTS else "Files"


def source_of_label(label: str) -> str:
    """The inverse: the source that carries a label."""
    return next((source for source, own in _LABELS.items() if own == label), label.lower())


def speaker(message: Message, source: str) -> str:
    """Who speaks, in a word: the person's name, "you", the assistant's name, or the kind of what is not chat.

    Among agents the assistant asks, and a subagent answers. Who only calls tools speaks, too.
    """
    calls = message.kind is Kind.TOOL and message.role is Role.ASSISTANT
    if message.kind not in (Kind.SAID, Kind.SUBAGENT) and not calls:
        return message.kind.value
    if message.speaker:
        return message.speaker
    assistant = source_label(source) if source in _ASSISTANTS else "assistant"
    if message.kind is Kind.SUBAGENT:
        return assistant if message.role is Role.USER else "subagent"
    if message.role is Role.ASSISTANT:
        return assistant
    return "you" if message.role is Role.USER else message.role.value


def parts_named(message: Message) -> str:
    """What came with a message, as in "[asset photo.jpg] [file notes.txt]"; empty for nothing."""
    return " ".join(f"[{' '.join(filter(None, (part.kind.value, part.name)))}]" for part in message.parts)


def short(node_id: str) -> str:
    """The short form of an id, which `show` takes too."""
    return node_id[-SHORT_ID:]


def is_hit_number(name: str) -> bool:
    """Whether the number of a search result is meant, as in `show 1`."""
    return name.isdigit() and len(name) <= _MOST_DIGITS


def names_meant(memory: Memory, words: Sequence[str]) -> list[str]:
    """Ids and titles as they were typed; several words that are a title together are that title.

    Raises InvalidInput for the number of a search result: what it stands for is several messages.
    """
    whole = " ".join(words)
    if len(words) > 1 and any(
        row.conversation.title.casefold() == whole.casefold() for row in memory.conversations(title=whole, limit=4)
    ):
        return [whole]
    for word in words:
        if is_hit_number(word):
            raise InvalidInput(
                f"{word} is the number of a search result, which may contain several messages.",
                hint="Give the ID of a message, shown at its right, or the title of the conversation.",
            )
        if not word.strip():
            raise InvalidInput("A name is empty.", hint="Give an id or a title.")
    return list(words)


@dataclass(frozen=True, slots=True)
class Meant:
    """What a person means by a name: the id and the title of it. `exact`: the name is its id, the short form of that,
    the source's id or the title, rather than a part of one.
    """

    name: str
    id: str
    title: str
    exact: bool


def meant(memory: Memory, name: str, *, deleted: bool = False) -> Meant:
    """The message, conversation or document that a person means; with `deleted` also by titles of conversations that
    were deleted. Raises NotFound, InvalidInput.
    """
    names: tuple[str | None, ...]
    try:
        thread, message = memory.resolve(name, deleted=deleted)
    except NotFound as unknown:
        try:
            document = memory.document(name, hidden_reports=True)
        except NotFound:
            raise unknown from None
        own, title, names = document.id, document.title, (document.source_id, document.metadata.get("path"))
    else:
        conversation = thread.conversation
        own, title = message.id if message else conversation.id, conversation.title
        names = (message.source_id if message else conversation.source_id,)
    known = {str(one).casefold() for one in (own, short(own), title, *names) if one}
    return Meant(name, own, title, name.strip().casefold() in known)


def titled(title: str) -> str:
    """A conversation's title, or words in its place."""
    return title or "(no title)"


def beginning(text: str, most: int) -> str:
    """The words of a text in a line: of a long one the first, in so many characters, and "…"."""
    words = " ".join(text[: 4 * most].split())
    return words if len(words) <= most else f"{words[:most].rsplit(' ', 1)[0]} …"


# Times, sizes and numbers as people read them, in the local time zone.

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(moment: datetime | None) -> str:
    """As in "14 Mar 2024"; "no date" for None."""
    if moment is None:
        return "no date"
    local = moment.astimezone()
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}"


def clock(moment: datetime | None) -> str:
    """As in "14:02"; empty for None."""
    return f"{moment.astimezone():%H:%M}" if moment else ""


def moment_after(moment: datetime | None, began: datetime | None) -> str:
    """As in "14:02", with the day where it is not the one on which it began: "19 Mar 14:02", "2 Apr 2025 14:02"."""
    if moment is None:
        return ""
    here, there = moment.astimezone(), began.astimezone() if began else None
    if there is not None and here.date() == there.date():
        return clock(moment)
    on = day(moment) if there is None or here.year != there.year else f"{here.day} {_MONTHS[here.month - 1]}"
    return f"{on} {clock(moment)}"


def month(moment: datetime) -> str:
    """As in "Mar 2024"."""
    local = moment.astimezone()
    return f"{_MONTHS[local.month - 1]} {local.year}"


def span(first: datetime | None, last: datetime | None, now: datetime, dash: str) -> str:
    """As in "Mar 2023 – Aug 2026", "Mar 2023 – today", "Mar 2023"; empty where nothing has a time."""
    if first is None or last is None:
        return ""
    end = "today" if last.astimezone().date() == now.astimezone().date() else month(last)
    return end if end == month(first) else f"{month(first)} {dash} {end}"


def ago(moment: datetime, now: datetime) -> str:
    """As in "2 h ago"."""
    return f"{duration(now - moment)} ago" if now - moment >= timedelta(minutes=1) else "just now"


def duration(length: timedelta) -> str:
    """The one unit that matters: "40 s", "9 min", "2 h", "3 days"."""
    seconds = max(0, int(length.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            count = seconds // size
            return f"{count} {'day' if unit == 'days' and count == 1 else unit}"
    return f"{seconds} s"


def size(count: int) -> str:
    """Bytes as in "212 MB"."""
    for unit, divisor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= divisor:
            return f"{count / divisor:.1f} {unit}" if count < 10 * divisor else f"{count // divisor} {unit}"
    return f"{count} bytes"


def number(count: int, one: str, several: str = "") -> str:
    """As in "1 message", "1,838 messages"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def matches(found: SearchResults) -> str:
    """The messages that match where any hold the words, else the conversations that are near."""
    if found.with_words and found.facets:
        return number(found.facets.messages, "message")
    return number(found.total, "conversation")


def words_and_related(query: str, with_words: int, related: int) -> str:
    """What a search finds, told apart, as in "12 with the word, 40 related"."""
    which = "the word" if len(query.split()) == 1 else "any of the words"
    told = [f"{with_words:,} with {which}"] if with_words else []
    return ", ".join([*told, *([f"{related:,} related"] if related else [])])


def percent(part: int, whole: int) -> str:
    """As in "12%": never 100% where something is missing, nor 0% where something is there."""
    if not whole:
        return "0%"
    return f"{min(max(100 * part // whole, 1 if part else 0), 100)}%"


def parse_stored(value: object) -> datetime | None:
    """A time from a state file; None for anything else."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except ValueError:
        return None
