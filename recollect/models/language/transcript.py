"""Messages and notes as material for a prompt: numbered, dated, bounded, and unable to leave their place.

What was said is data. It stands between two lines that no message can write, since their mark is made from all that
stands between them, and each of its lines begins with a bar, so that none passes for a heading, another speaker or an
instruction of ours. The prompts say so (prompts/rules.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.models.language.base import estimated_tokens
from recollect.record import Message, NodeId, stable_id

#: What a request may hold of material, unless it is told otherwise: small models read no more at once.
MOST_TOKENS = 6_000

_LEAST = 40  # tokens that each entry keeps, however many there are
_PLACE = 200  # characters of where something was said
_HEAD_SHARE = 0.7  # of a shortened text, what is kept of its beginning; the rest is its end
_FRAME = re.compile(r"<(?=\s*/?\s*material)", re.IGNORECASE)
_NAME = re.compile(r"[^\w .,'’&@+-]")


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """Something with a heading and a text: a message, a summary. `place` is where it was said, in words that are data
    as well: a title.
    """

    id: NodeId
    heading: str
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """The text for a prompt. `ids[n - 1]` is what the number n stands for; context that is not to be worked on has no
    number. `shortened` counts entries of which a part was left out.
    """

    text: str
    ids: tuple[NodeId, ...]
    shortened: int = 0

    def id(self, number: int) -> NodeId | None:
        """What a number in an answer stands for; None for one that is not there."""
        return self.ids[number - 1] if 1 <= number <= len(self.ids) else None


def transcript(
    messages: Sequence[Message],
    *,
    before: Sequence[Message] = (),
    title: str = "",
    most_tokens: int = MOST_TOKENS,
) -> Material:
    """The messages as numbered entries with speaker and date. `before` stands above them without numbers, to
    understand them by.
    """
    entries = [TranscriptEntry(message.id, heading(message), message.content) for message in messages]
    earlier = [TranscriptEntry(message.id, heading(message), message.content) for message in before]
    return material(entries, before=earlier, title=title, most_tokens=most_tokens)


def material(
    entries: Sequence[TranscriptEntry],
    *,
    before: Sequence[TranscriptEntry] = (),
    title: str = "",
    most_tokens: int = MOST_TOKENS,
) -> Material:
    """The entries within about so many tokens: the longest are shortened first, in their middle, and say so.

    Where even the least of each is too much, entries in the middle are left out, and that is said.
    """
    kept, left_out = _within(entries, most_tokens)
    share = _share(
        [estimated_tokens(entry.text) for entry in kept], max(most_tokens - _LEAST * len(before) * 2, _LEAST)
    )
    lines: list[str] = []
    if title:
        lines += ["title", f"| {_one_line(title)[:300]}"]
    for entry in before:
        text, _ = _shortened(entry.text, _LEAST * 2)
        lines += [f"[earlier, only to understand what follows] {entry.heading}", *_barred(text)]
    shortened = 0
    for number, entry in enumerate(kept, 1):
        if left_out and number == len(kept) // 2 + 1:
            lines.append(f"[{left_out} entries are left out here]")
        text, cut = _shortened(entry.text, share)
        shortened += cut
        place = [f"| ({_one_line(entry.place)[:_PLACE]})"] if entry.place else []
        lines += [f"[{number}] {entry.heading}", *place, *_barred(text)]
    body = "\n".join(lines)
    mark = stable_id("material", body)[:10]
    text = f"<material {mark}>\n{body}\n</material {mark}>"
    return Material(text, tuple(entry.id for entry in kept), shortened)


def heading(message: Message) -> str:
    """Who said it and when: `user (Ana), 2025-03-02 10:20`."""
    speaker = f" ({clean_name(message.speaker)})" if message.speaker and clean_name(message.speaker) else ""
    return f"{message.role.value}{speaker}{when(message.timestamp)}"


def when(moment: datetime | None) -> str:
    """A time for a heading, after a comma; nothing where it is not known."""
    return f", {moment:%Y-%m-%d %H:%M}" if moment else ""


def clean_name(name: str) -> str:
    """A name that is only a name: on one line, without what could look like our frame, at most 60 characters."""
    return " ".join(_NAME.sub(" ", name).split())[:60].strip()


def _barred(text: str) -> list[str]:
    """The lines of a text, each behind a bar; our own frame cannot stand in them."""
    return [f"| {_FRAME.sub('&lt;', line)}" for line in text.splitlines() or [""]]


def _one_line(text: str) -> str:
    return _FRAME.sub("&lt;", " ".join(text.split()))


def room_for(most_tokens: int) -> int:
    """How many entries can be shown within so many tokens."""
    return max(most_tokens // _LEAST, 2)


def _within(entries: Sequence[TranscriptEntry], most_tokens: int) -> tuple[list[TranscriptEntry], int]:
    """The entries that have room, first and last before the middle, and how many have none."""
    room = room_for(most_tokens)
    if len(entries) <= room:
        return list(entries), 0
    head = room // 2
    return [*entries[:head], *entries[len(entries) - (room - head) :]], len(entries) - room


def _share(sizes: Sequence[int], most: int) -> int:
    """The most tokens that an entry may have so that all together have `most`: short ones leave room to long ones."""
    left, waiting = most, sorted(sizes)
    for position, size in enumerate(waiting):
        fair = left // (len(waiting) - position)
        if size > fair:
            return max(fair, _LEAST)
        left -= size
    return max(waiting, default=0)


def _shortened(text: str, most: int) -> tuple[str, bool]:
    """A text within about so many tokens: its beginning and its end, with a word on what is missing between them."""
    size = estimated_tokens(text)
    if size <= most:
        return text, False
    keep = max(len(text) * most // size, 1)
    head = int(keep * _HEAD_SHARE)
    tail = keep - head
    missing = len(text) - keep
    return (
        f"{text[:head].rstrip()}\n[… {missing:,} characters are left out here …]\n{text[len(text) - tail :].lstrip()}",
        True,
    )
