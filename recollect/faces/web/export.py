"""A conversation as a file of Markdown: what was said, by whom and when, on the path that is shown first."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.faces.present.names import source_label, titled
from recollect.faces.present.times import clock, day
from recollect.faces.web.wording import speaker
from recollect.record import Kind, Thread


def as_markdown(thread: Thread) -> str:
    """The whole file."""
    return "\n".join(_lines(thread)) + "\n"


def _lines(thread: Thread) -> Iterator[str]:
    c = thread.conversation
    yield f"# {titled(' '.join(c.title.split()))}"
    yield ""
    yield f"{source_label(c.source)}, {day(c.created)}. {c.id}"
    for message in thread.messages:
        if not message.active or message.deleted or message.kind not in (Kind.SAID, Kind.SUBAGENT):
            continue
        when = f", {day(message.timestamp)} {clock(message.timestamp)}" if message.timestamp else ""
        yield ""
        yield f"## {' '.join(speaker(message, c.source).split())}{when}"
        yield ""
        yield message.content.strip()
