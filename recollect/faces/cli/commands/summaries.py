"""`recollect summaries`, `topics` and `timeline`: what conversations are about, and when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.commands.search import print_empty_hint, print_none_yet
from recollect.faces.cli.invocation import Invocation
from recollect.faces.cli.output import harmless, wrapped_words
from recollect.faces.cli.parser import TIMES, Arguments, Command, Option, limit, one_of, period, whole
from recollect.faces.present.names import day, number, short, source_label, titled
from recollect.faces.present.summaries import SummarySection, summary_sections
from recollect.faces.present.views import as_json
from recollect.record import utc_now

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.derive.topics.reading import Topic, TopicSegment
    from recollect.faces.cli.output import Output
    from recollect.memory.knowledge import Band, Day, Timeline
    from recollect.record import Message


_LIMIT = 10
_KINDS = ("conversation", "l1", "l2", "segment", "period", "topic")

#: Of a quoted line, who said it and when.
_USER = re.compile(r"^(\d{4}-\d\d-\d\d )?user:")

_SHORT = 40  # characters of each theme, where all of them are put in one line


def summaries(
    run: Invocation,
    which: list[str] | None = None,
    kind: str | None = None,
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    limit: int = _LIMIT,
    parts: bool = False,
) -> int:
    """Summarise conversations, days and topics.

    The newest come first. CONVERSATION is one by its ID or title; without it, all are listed. A long conversation has
    summaries of its parts (l1: five to ten exchanges) and of three of these (l2); short ones have such in common.
    Without a language model, summaries quote sentences; with one, it writes them.
    """
    first, last = period(since, until, before)
    memory = run.existing_memory()
    conversation = memory.resolve(" ".join(which))[0].conversation.id if which else None
    found = [
        one
        for one in reversed(memory.summaries(conversation, kind))
        if (first is None or (one.until or one.since or first) >= first)
        and (last is None or (one.since is not None and one.since < last))
    ]
    ids = {one.conversation_id for one in found[:limit] if one.conversation_id}
    titles: dict[str | None, str] = {i: memory.conversation(i).conversation.title for i in ids}
    if run.json:
        shown = [
            as_json(one) | {"conversation": one.conversation_id, "title": titles.get(one.conversation_id) or None}
            for one in found[:limit]
        ]
        run.out.document({"summaries": shown, "more": len(found) > limit})
    else:
        _print(run, found[:limit], titles, more=len(found) > limit, parts=parts, limit=limit)
        if not found:
            named = which or kind or since or until or before
            print_none_yet(run, memory, "No summaries match." if named else "There are no summaries yet.")
            if conversation is not None:
                run.out.note("A conversation is summarised once it has more than 5 messages.")
    return 0 if found else 1


def _print(
    run: Invocation, found: list[Summary], titles: dict[str | None, str], *, more: bool, parts: bool, limit: int
) -> None:
    out = run.out
    for place, one in enumerate(found):
        if place:
            out.line()
        _print_one(run, one, titles.get(one.conversation_id, ""), parts=parts)
    if more:
        out.more(limit, "narrow down with --kind or --since")


def _print_one(run: Invocation, one: Summary, title: str, *, parts: bool) -> None:
    out = run.out
    several = (
        number(len(one.conversations), "conversation") if one.conversations else str(one.parts.get("label", "topic"))
    )
    name = one.period or (titled(title) if one.conversation_id else several)
    out.line(f"{out.bold(harmless(name))}  {out.dim(_facts(one, out.symbols.dash))}")
    for line in one.text.splitlines():
        shown = _USER.sub(r"\1you:", harmless(line)) if one.extractive else harmless(line)
        for piece in wrapped_words(shown, None if out.width is None else out.width - 2):
            out.line(f"  {piece}")
    for section in summary_sections(one) if parts else ():
        label = f"{section.heading.lower():<16}"
        for item in _in_lines(section):
            for piece in wrapped_words(harmless(item), None if out.width is None else out.width - 20):
                out.line(f"  {out.dim(label)} {piece}")
                label = " " * 16


def _in_lines(section: SummarySection) -> Sequence[str]:
    """The items of a section, a line each; short themes in one."""
    is_short = section.short and max(map(len, section.items)) < _SHORT
    return [", ".join(section.items)] if is_short else section.items


def _facts(one: Summary, dash: str) -> str:
    """As in "l1 3, 12 Mar 2025 – 14 Mar 2025, 9 exchanges, quoted"."""
    kind = "" if one.kind == "period" else one.kind
    numbered = f"{kind} {one.block + 1}" if one.block is not None else kind
    days = "" if one.period or not one.since else day(one.since)
    if days and one.until and day(one.until) != days:
        days = f"{days} {dash} {day(one.until)}"
    size = number(one.exchanges, "exchange") if one.exchanges else number(one.messages, "message")
    made = "quoted" if one.extractive else f"by {one.made_by.partition(' ')[2] or 'a model'}"
    return ", ".join(part for part in (numbered, days, size, made) if part)


SUMMARIES = Command(
    summaries,
    ("recollect summaries luna", "recollect summaries --kind period --since 2025-03"),
    (
        Option(("--kind",), f"Only these: {', '.join(_KINDS)}.", "KIND", read=one_of(*_KINDS), values=_KINDS),
        *TIMES,
        Option(("--parts",), "Print themes, concerns, actions and exact data as well."),
        limit(_LIMIT, "How many are shown."),
    ),
    Arguments("CONVERSATION", "which", several=True),
)


_TOPICS_LIMIT = 20


def topics(
    run: Invocation, which: list[str] | None = None, conversation: str | None = None, limit: int = _TOPICS_LIMIT
) -> int:
    """List recurring topics, or where one conversation changes subject.

    With a TOPIC (its label, a term of it, or the end of its id): its messages, the most typical first. With
    --conversation: the segments of that conversation, each a run of turns about one thing.
    """
    memory = run.existing_memory()
    if conversation is not None:
        if which:
            raise InvalidInput("A topic and a conversation do not go together.", hint="Leave one of them out.")
        thread, _ = memory.resolve(conversation)
        segments = memory.knowledge.segments(thread.conversation.id)
        return _print_segments(run, segments)
    if which:
        name = " ".join(which)
        return _print_messages(run, name, memory.toolbox().get_topic_messages(name, limit))
    found = memory.topics(limit)
    if not run.in_json(lambda: {"topics": found}):
        _print_topics(run, found)
        if not found:
            print_none_yet(run, memory, "No topics yet.")
    return 0 if found else 1


def _print_topics(run: Invocation, found: list[Topic]) -> None:
    out = run.out
    for topic in found:
        period = f"{day(topic.first)} {out.symbols.dash} {day(topic.last)}" if topic.first and topic.last else ""
        facts = out.dotted(number(topic.messages, "message"), period)
        out.line(f"{short(topic.id)}  {out.bold(harmless(topic.label))}  {out.dim(facts)}")
        if more := ", ".join(harmless(term) for term in topic.terms[3:9]):
            out.line(out.dim(f"        {more}"))


def _print_segments(run: Invocation, segments: list[TopicSegment]) -> int:
    out = run.out
    if not run.in_json(
        lambda: {"segments": [as_json(segment) | {"topic": segment.topic or None} for segment in segments]}
    ):
        if not segments:
            out.line("No segments yet.")
        for segment in segments:
            topic = f"  {out.symbols.arrow} {harmless(segment.topic)}" if segment.topic else ""
            facts = out.dim(f"{number(segment.messages, 'message')}{topic}")
            out.line(f"{short(segment.message_id)}  {out.bold(harmless(segment.label or '(no words)'))}  {facts}")
    return 0 if segments else 1


def _print_messages(run: Invocation, name: str, messages: list[Message]) -> int:
    out = run.out
    if run.in_json(lambda: {"messages": messages}):
        return 0 if messages else 1
    if not messages:
        raise NotFound(f"No message is left in the topic {name!r}.")
    for message in messages:
        facts = f"{day(message.timestamp):>11}  " if message.timestamp else ""
        out.row(message.id, facts, " ".join(message.content.split()))
    return 0


TOPICS = Command(
    topics,
    (
        "recollect topics",
        "recollect topics sourdough -n 5",
        'recollect topics --conversation "Full Stack App Planning"',
    ),
    (
        Option(("--conversation",), "The segments of this conversation (id or title).", "ID|TITLE"),
        limit(_TOPICS_LIMIT),
    ),
    Arguments("TOPIC", "which", several=True),
)


_TOPICS = 12
_BAR = 40  # columns of the longest
_NAMED = 4  # months of a topic that are all named


def timeline(run: Invocation, period: list[str] | None = None, topics: int = _TOPICS) -> int:
    """Show activity by month, or what you discussed in a period.

    Without PERIOD: the months with how much was said in each, and the largest topics with the months in which something
    of them began. With one (2025-03, "last week", "2025-03-01 to 2025-03-14"): its days, the newest first, each with
    its conversations. The word before a conversation is the end of the id of its first message that day, which
    `recollect show` opens. Days are those of UTC.
    """
    memory = run.existing_memory()
    if period:
        named = " ".join(period)
        days = memory.knowledge.days(named)
        if run.json:
            run.out.document({"days": days})
        elif days:
            _print_days(run.out, days)
        else:
            from recollect.answer.tools.opening import nothing_said

            said = [day for day, _ in memory.knowledge.timeline(0).days]
            run.out.line(nothing_said(said, named, utc_now().date()))
        return 0 if days else 1
    found = memory.knowledge.timeline(topics)
    if run.json:
        run.out.document(found)
    elif found.days or found.undated:
        _print_timeline(run.out, found)
    elif not print_empty_hint(run):
        run.out.line("Nothing was said yet.")
    return 0 if found.days or found.undated else 1


def _print_timeline(out: Output, found: Timeline) -> None:
    months: Counter[str] = Counter()
    for date, count in found.days:
        months[f"{date:%Y-%m}"] += count
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
    months = [month.month for month in band.months]
    when = ", ".join(months) if len(months) <= _NAMED else f"{months[0]} {out.symbols.dash} {months[-1]}"
    facts = out.dotted(number(band.topic.messages, "message"), when)
    out.line(f"{short(band.topic.id)}  {out.bold(harmless(band.topic.label))}  {out.dim(facts)}")


def _print_days(out: Output, days: list[Day]) -> None:
    for count, one in enumerate(days):
        if count:
            out.line()
        told = f"{number(one.messages, 'message')} in {number(len(one.rows), 'conversation')}"
        out.line(f"{out.bold(one.day.isoformat())}  {out.dim(told)}")
        for row in one.rows:
            label = source_label(row.conversation.source)
            facts = out.dotted(label, number(row.messages, "message"))
            out.line(f"  {short(row.first)}  {harmless(titled(row.conversation.title))}  {out.dim(facts)}")


TIMELINE = Command(
    timeline,
    ("recollect timeline", "recollect timeline 2025-03", 'recollect timeline "last week"'),
    (Option(("--topics",), "How many of the largest topics are listed.", "N", default=_TOPICS, read=whole(0)),),
    Arguments("PERIOD", "period", several=True),
)
