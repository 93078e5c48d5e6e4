"""`recollect summaries`: what conversations, days and topics come down to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.parser import Arguments, Command, Option, one_of, whole
from recollect.faces.cli.terminal.options import BEFORE, SINCE, UNTIL, period
from recollect.faces.cli.terminal.session import Invocation
from recollect.faces.cli.views.waiting import none_found

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary

_LIMIT = 10
_KINDS = ("conversation", "l1", "l2", "segment", "period", "topic")

#: Of a quoted line, who said it and when.
_USER = re.compile(r"^(\d{4}-\d\d-\d\d )?user:")

#: The parts that are printed, by the headings over them.
_PARTS = {
    "themes": "about",
    "recurring_themes": "again and again",
    "concerns": "concerns",
    "long_term_concerns": "lasting concerns",
    "tried": "tried",
    "emotional_state": "feelings",
    "actions": "actions",
    "progressions": "over time",
    "links": "together",
    "specifics": "exactly",
    "highlights": "highlights",
    "open": "left open",
    "resolved": "resolved",
}
_IN_ONE_LINE, _SHORT = ("themes", "recurring_themes"), 40


def summaries(
    session: Invocation,
    which: list[str] | None = None,
    kind: str | None = None,
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    limit: int = _LIMIT,
    parts: bool = False,
) -> int:
    """Show what conversations, days and topics come down to.

    The newest come first. CONVERSATION is one by its ID or title; without it, all are listed. A long conversation has
    summaries of its parts (l1: five to ten exchanges) and of three of these (l2); short ones have such in common.
    Without a language model, summaries quote sentences; with one, it writes them.
    """
    first, last = period(since, until, before)
    memory = session.existing_memory()
    conversation = memory.resolve(" ".join(which))[0].conversation.id if which else None
    found = [
        one
        for one in reversed(memory.summaries(conversation, kind))
        if (first is None or (one.until or one.since or first) >= first)
        and (last is None or (one.since is not None and one.since < last))
    ]
    ids = {one.conversation_id for one in found[:limit] if one.conversation_id}
    titles: dict[str | None, str] = {i: memory.conversation(i).conversation.title for i in ids}
    if session.json:
        shown = [_as_json(one, titles.get(one.conversation_id, "")) for one in found[:limit]]
        session.out.document({"summaries": shown, "more": len(found) > limit})
    else:
        _print(session, found[:limit], titles, more=len(found) > limit, parts=parts, limit=limit)
        if not found:
            named = which or kind or since or until or before
            none_found(session, memory, "No summaries match." if named else "There are no summaries yet.")
            if conversation is not None:
                session.out.note("A conversation is summarised once it has more than 5 messages.")
    return 0 if found else 1


def _print(
    session: Invocation, found: list[Summary], titles: dict[str | None, str], *, more: bool, parts: bool, limit: int
) -> None:
    out = session.out
    for place, one in enumerate(found):
        if place:
            out.line()
        _print_one(session, one, titles.get(one.conversation_id, ""), parts=parts)
    if more:
        out.note(f"There are more: add -n {2 * limit}, or narrow it down with --kind or --since.")


def _print_one(session: Invocation, one: Summary, title: str, *, parts: bool) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import wrapped_words
    from recollect.faces.present.names import titled
    from recollect.faces.present.times import number

    out = session.out
    several = (
        number(len(one.conversations), "conversation") if one.conversations else str(one.parts.get("label", "topic"))
    )
    name = one.period or (titled(title) if one.conversation_id else several)
    out.line(f"{out.bold(harmless(name))}  {out.dim(_facts(one, out.symbols.dash))}")
    for line in one.text.splitlines():
        shown = _USER.sub(r"\1you:", harmless(line)) if one.extractive else harmless(line)
        for piece in wrapped_words(shown, None if out.width is None else out.width - 2):
            out.line(f"  {piece}")
    for key, heading in _PARTS.items() if parts else ():
        for item in _items(key, one.parts.get(key)):
            label = f"{heading:<16}"
            for piece in wrapped_words(harmless(item), None if out.width is None else out.width - 20):
                out.line(f"  {out.dim(label)} {piece}")
                label = " " * 16


def _facts(one: Summary, dash: str) -> str:
    """As in "l1 3, 12 Mar 2025 – 14 Mar 2025, 9 exchanges, quoted"."""
    from recollect.faces.present.times import day, number

    kind = "" if one.kind == "period" else one.kind
    numbered = f"{kind} {one.block + 1}" if one.block is not None else kind
    days = "" if one.period or not one.since else day(one.since)
    if days and one.until and day(one.until) != days:
        days = f"{days} {dash} {day(one.until)}"
    size = number(one.exchanges, "exchange") if one.exchanges else number(one.messages, "message")
    made = "quoted" if one.extractive else f"by {one.made_by.partition(' ')[2] or 'a model'}"
    return ", ".join(part for part in (numbered, days, size, made) if part)


def _items(key: str, part: Any) -> list[str]:
    """The lines of a part, whatever its shape; short themes in one."""
    if not part:
        return []
    if isinstance(part, str):
        return [part]
    lines = [_line(item) for item in part]
    return [", ".join(lines)] if key in _IN_ONE_LINE and max(map(len, lines)) < _SHORT else lines


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    if "steps" in item:
        return f"{item['what']}: {'; '.join([*item['steps'], item['now']])}"
    if "outcome" in item:
        return f"{item['what']}: {item['outcome']}" if item["outcome"] else str(item["what"])
    state = f", {item['state']}" if item.get("state") not in (None, "", "proposed") else ""
    return f"{item['what']} ({item.get('by', '')}{state})"


def _as_json(one: Summary, title: str) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "id": one.id,
        "kind": one.kind,
        "text": one.text,
        "conversation": one.conversation_id,
        "title": title or None,
        "conversations": list(one.conversations),
        "period": one.period,
        "since": iso(one.since),
        "until": iso(one.until),
        "covers": list(one.covers),
        "parts": dict(one.parts),
        "block": one.block,
        "exchanges": one.exchanges,
        "messages": one.messages,
        "extractive": one.extractive,
        "version": one.version,
        "made": iso(one.made),
        "made_by": one.made_by,
    }


COMMAND = Command(
    summaries,
    ("recollect summaries luna", "recollect summaries --kind period --since 2025-03"),
    (
        Option(("--kind",), f"Only these: {', '.join(_KINDS)}.", "KIND", read=one_of(*_KINDS), values=_KINDS),
        SINCE,
        UNTIL,
        BEFORE,
        Option(("--parts",), "Print themes, concerns, actions and exact data as well."),
        Option(("--limit", "-n"), "How many are shown.", "N", default=_LIMIT, read=whole(1)),
    ),
    Arguments("CONVERSATION", "which", several=True),
)
