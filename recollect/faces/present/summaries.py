"""What a summary says: quotations with who said them and when, and its sections with their headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary

#: A quoted line, as in "2024-01-13 user: I want to plan …".
_LINE = re.compile(r"(?:(?P<day>\d{4}-\d\d-\d\d) )?(?P<who>[^:\n]{1,60}): (?P<text>.+)", re.DOTALL)

#: What parts are called, in the order in which they are shown.
_PARTS = {
    "themes": "About",
    "recurring_themes": "Again and again",
    "progressions": "Over time",
    "links": "Together",
    "concerns": "Concerns",
    "long_term_concerns": "Lasting concerns",
    "tried": "Tried",
    "emotional_state": "Feelings",
    "actions": "Actions",
    "specifics": "Exactly",
    "highlights": "Highlights",
    "open": "Left open",
    "resolved": "Resolved",
}
_BY = {"user": "you"}


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of a summary; `who` is empty where it is nobody's words."""

    text: str
    who: str = ""
    day: datetime | None = None

    @property
    def is_you(self) -> bool:
        """Whether it is what the person said whose memory it is."""
        return self.who == "you"


@dataclass(frozen=True, slots=True)
class SummarySection:
    """A part of a summary with its heading; `short` ones go in one line."""

    key: str
    heading: str
    items: tuple[str, ...]
    short: bool


def summary_lines(summary: Summary) -> list[SummaryLine]:
    """The text, a line for each that is quoted, or for each paragraph that was written."""
    return [_line(one) if summary.extractive else SummaryLine(one) for one in summary.text.splitlines() if one.strip()]


def summary_sections(summary: Summary, *names: str) -> list[SummarySection]:
    """What it says in pieces, as far as there is any; only those of these names, if any are given."""
    wanted = names or tuple(_PARTS)
    found = [(key, _items(summary.parts.get(key))) for key in _PARTS if key in wanted]
    return [SummarySection(key, _PARTS[key], items, key.endswith("themes")) for key, items in found if items]


def _line(text: str) -> SummaryLine:
    found = _LINE.fullmatch(text)
    if found is None:
        return SummaryLine(text)
    day = datetime.fromisoformat(found["day"]).replace(tzinfo=UTC) if found["day"] else None
    return SummaryLine(found["text"], _BY.get(found["who"], found["who"]), day)


def _items(part: Any) -> tuple[str, ...]:
    if not part:
        return ()
    return (part,) if isinstance(part, str) else tuple(_worded(item) for item in part)


def _worded(item: Any) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    if "steps" in item:
        steps: Sequence[str] = item["steps"]
        return f"{item['what']}: {'; '.join([*steps, str(item['now'])])}"
    if "outcome" in item:
        return f"{item['what']}: {item['outcome']}" if item["outcome"] else str(item["what"])
    state = item.get("state") if item.get("state") not in (None, "", "proposed") else ""
    told = ", ".join(filter(None, (_BY.get(str(item.get("by", "")), str(item.get("by", ""))), state)))
    return f"{item['what']} ({told})" if told else str(item["what"])
