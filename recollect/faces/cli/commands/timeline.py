"""`recollect timeline`: how much was said when, topics by month, and the days of a time with their conversations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.waiting import told_empty

if TYPE_CHECKING:
    from recollect.faces.cli.terminal.output import Output
    from recollect.memory.timeline import Band, Day, Timeline

_TOPICS = 12
_BAR = 40  # columns of the longest
_NAMED = 4  # months of a topic that are all named


def timeline(session: Session, period: list[str] | None = None, topics: int = _TOPICS) -> int:
    """Show how much was said when, or what was talked about in a time.

    Without PERIOD: the months with how much was said in each, and the largest topics with the months in which something
    of them began. With one (2025-03, "last week", "2025-03-01 to 2025-03-14"): its days, the newest first, each with
    its conversations. The word before a conversation is the end of the id of its first message that day, which
    `recollect show` opens. Days are those of UTC.
    """
    memory = session.existing_memory()
    if period:
        named = " ".join(period)
        days = memory.knowledge.days(named)
        if session.json:
            session.out.document({"days": [_day_as_json(day) for day in days]})
        elif days:
            _print_days(session.out, days)
        else:
            from recollect.answer.tools.opening import nothing_said
            from recollect.record import utc_now

            said = [day for day, _ in memory.knowledge.timeline(0).days]
            session.out.line(nothing_said(said, named, utc_now().date()))
        return 0 if days else 1
    found = memory.knowledge.timeline(topics)
    if session.json:
        session.out.document(_as_json(found))
    elif found.days or found.undated:
        _print(session.out, found)
    elif not told_empty(session):
        session.out.line("Nothing was said yet.")
    return 0 if found.days or found.undated else 1


def _print(out: Output, found: Timeline) -> None:
    months: Counter[str] = Counter()
    for day, count in found.days:
        months[f"{day:%Y-%m}"] += count
    rows = [*months.items(), *([("no date", found.undated)] if found.undated else [])]
    most = max(count for _, count in rows)
    for name, count in rows:
        told = f"{count:>{len(f'{most:,}')},} {'message ' if count == 1 else 'messages'}"
        facts = f"{name:7}  {told:<{len(f'{most:,} messages')}}  "
        longest = 0 if out.width is None else min(_BAR, out.width - len(facts))
        bar = "█" * max(1, round(longest * count / most)) if longest > 0 else ""
        out.line(f"{facts}{bar}".rstrip())
    if found.bands:
        out.line()
    for band in found.bands:
        _print_band(out, band)


def _print_band(out: Output, band: Band) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import number

    months = [month.month for month in band.months]
    when = ", ".join(months) if len(months) <= _NAMED else f"{months[0]} {out.symbols.dash} {months[-1]}"
    facts = f" {out.symbols.dot} ".join(filter(None, (number(band.topic.messages, "message"), when)))
    out.line(f"{short(band.topic.id)}  {out.bold(harmless(band.topic.label))}  {out.dim(facts)}")


def _print_days(out: Output, days: list[Day]) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short, source_label, titled
    from recollect.faces.present.times import number

    for count, day in enumerate(days):
        if count:
            out.line()
        told = f"{number(day.messages, 'message')} in {number(len(day.rows), 'conversation')}"
        out.line(f"{out.bold(day.day.isoformat())}  {out.dim(told)}")
        for row in day.rows:
            label = source_label(row.conversation.source)
            facts = f" {out.symbols.dot} ".join((label, number(row.messages, "message")))
            out.line(f"  {short(row.first)}  {harmless(titled(row.conversation.title))}  {out.dim(facts)}")


def _as_json(found: Timeline) -> dict[str, Any]:
    from recollect.faces.present.knowledge import topic_as_json

    return {
        "days": [{"day": day.isoformat(), "messages": count} for day, count in found.days],
        "undated": found.undated,
        "bands": [
            {
                "topic": topic_as_json(band.topic),
                "months": [
                    {"month": one.month, "messages": one.messages, "conversations": one.conversations}
                    for one in band.months
                ],
            }
            for band in found.bands
        ],
    }


def _day_as_json(day: Day) -> dict[str, Any]:
    return {
        "day": day.day.isoformat(),
        "messages": day.messages,
        "rows": [
            {
                "conversation_id": row.conversation.id,
                "title": row.conversation.title,
                "source": row.conversation.source,
                "first": row.first,
                "messages": row.messages,
            }
            for row in day.rows
        ],
    }


COMMAND = Command(
    timeline,
    ("recollect timeline", "recollect timeline 2025-03", 'recollect timeline "last week"'),
    (Option(("--topics",), "How many of the largest topics are listed.", "N", default=_TOPICS, read=whole(0)),),
    Words("PERIOD", "period", several=True),
)
