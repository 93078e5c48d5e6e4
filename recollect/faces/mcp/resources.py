"""Conversations, their summaries, messages, documents and months as resources, which a person attaches to a chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcp_types import Annotations, Resource, ResourceTemplate, TextResourceContents

from recollect.answer.tools.output import day_of
from recollect.errors import InvalidInput, NotFound
from recollect.faces.mcp.links import SCHEME, part, part_in, resource
from recollect.faces.mcp.tools.texts import part_of, recalled, title_of, transcript
from recollect.record import iso

if TYPE_CHECKING:
    from recollect.derive.summaries.reading import Summary
    from recollect.memory import ConversationRow, Memory

PAGE = 50
MARKDOWN = "text/markdown"

_PART = 20_000  # tokens of a resource that is read at once
_COMPLETED = 20


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A kind of resource: its template, and what reads one by what stands in the place of the braces."""

    template: ResourceTemplate
    read: Callable[[Memory, str], str]


def listed(memory: Memory, cursor: str | None) -> tuple[list[Resource], str | None]:
    """A page of the conversations, newest first, each with its summary where there is one; and how to go on."""
    start = _start(cursor)
    rows = memory.conversations(limit=PAGE + 1, offset=start)
    shown = [one for row in rows[:PAGE] for one in _of_row(memory, row)]
    return shown, str(start + PAGE) if len(rows) > PAGE else None


def templates() -> list[ResourceTemplate]:
    """How resources are addressed that no list shows."""
    return [kind.template for kind in _KINDS.values()]


def contents(memory: Memory, uri: str) -> TextResourceContents:
    """What an address names. Raises NotFound, InvalidInput."""
    kind, name = _read_address(uri)
    text = recalled(kind.read(memory, name), "resource", str(memory.namespace))
    return TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)


def completed(memory: Memory, template: str, begun: str) -> list[str]:
    """What may stand in the place of the braces: ids of conversations by their titles, or months."""
    kind, _ = _read_address(template)
    if kind is _KINDS["period"]:
        periods = (summary.period.split()[-1] for summary in memory.summaries(kind="period") if summary.period)
        return list(islice((one for one in reversed(list(periods)) if one.startswith(begun)), _COMPLETED))
    if kind not in (_KINDS["conversation"], _KINDS["summary"]):
        return []
    return [row.conversation.id for row in memory.conversations(title=begun, limit=_COMPLETED)]


def _of_row(memory: Memory, row: ConversationRow) -> list[Resource]:
    conversation = row.conversation
    changed = conversation.updated or conversation.created
    told = f"{conversation.source}, {day_of(changed) or 'no date'}, {row.messages:,} messages"
    annotations = Annotations(audience=["user", "assistant"], last_modified=iso(changed))
    title = title_of(conversation.title)
    made = [
        Resource(
            uri=resource("conversation", conversation.id),
            name=title,
            title=title,
            description=told,
            mime_type=MARKDOWN,
            annotations=annotations,
        )
    ]
    if memory.summaries(conversation.id, "conversation"):
        made.append(
            Resource(
                uri=resource("summary", conversation.id),
                name=f"{title}: summary",
                title=f"{title}: summary",
                description=f"What it came down to. {told}",
                mime_type=MARKDOWN,
                annotations=annotations,
            )
        )
    return made


def _conversation(memory: Memory, name: str) -> str:
    """A transcript; a long one in parts."""
    own, start = part_in(name)
    thread, _ = memory.resolve(own)
    conversation = thread.conversation
    shown = [one for one in thread.messages if one.active and not (one.deleted or one.erased)]
    head = f"# {title_of(conversation.title)}\n\n{conversation.source}, {day_of(conversation.created)}\n\n"
    return _in_parts(head + transcript(shown), "conversation", conversation.id, start)


def _summary(memory: Memory, name: str) -> str:
    """What a conversation came down to, level by level."""
    thread, _ = memory.resolve(name)
    found = memory.summaries(thread.conversation.id)
    if not found:
        raise NotFound("There is no summary of this conversation yet.", hint="To make them: recollect worker --once")
    ordered = sorted(found, key=lambda one: one.kind != "conversation")
    return "\n\n".join([f"# {title_of(thread.conversation.title)}", *map(_told, ordered)])


def _message(memory: Memory, name: str) -> str:
    own, start = part_in(name)
    message = memory.toolbox().get_message_by_id(own)
    return _in_parts(transcript([message]), "message", message.id, start)


def _document(memory: Memory, name: str) -> str:
    own, start = part_in(name)
    document = memory.document(own)
    return _in_parts(f"# {document.title}\n\n{document.content}", "document", document.id, start)


def _period(memory: Memory, name: str) -> str:
    """The summary of a day, a week or a month."""
    found = [one for one in memory.summaries(kind="period") if one.period and one.period.split()[-1] == name]
    if not found:
        raise NotFound(f"There is no summary of {name}.", hint="A month is named 2025-03, a day 2025-03-14.")
    return "\n\n".join([f"# {name}", *map(_told, found)])


def _told(summary: Summary) -> str:
    whose = "quoted" if summary.extractive else f"written by {summary.made_by}"
    return f"## {summary.kind}, {day_of(summary.since)} to {day_of(summary.until)} ({whose})\n\n{summary.text}"


def _in_parts(text: str, kind: str, id: str, start: int) -> str:
    shown, rest = part_of(text, start, _PART)
    return shown if rest is None else f"{shown}\n\nIt goes on: {resource(kind, part(id, rest))}"


def _template(kind: str, variable: str, title: str, description: str) -> ResourceTemplate:
    return ResourceTemplate(
        uri_template=f"{SCHEME}://{kind}/{{{variable}}}",
        name=kind,
        title=title,
        description=description,
        mime_type=MARKDOWN,
    )


_KINDS = {
    "conversation": ResourceKind(
        _template("conversation", "id", "A conversation", "The transcript of a conversation, by id or title."),
        _conversation,
    ),
    "summary": ResourceKind(
        _template("summary", "id", "A summary", "What a conversation came down to, by its id or title."), _summary
    ),
    "message": ResourceKind(_template("message", "id", "A message", "One message, by its id."), _message),
    "document": ResourceKind(_template("document", "id", "A document", "A document, by id, path or title."), _document),
    "period": ResourceKind(
        _template("period", "name", "A time", "What a month (2025-03), a week or a day came down to."),
        _period,
    ),
}


def _read_address(uri: str) -> tuple[ResourceKind, str]:
    """The kind of a resource and its name. Raises InvalidInput."""
    parts = urlsplit(uri)
    kind = _KINDS.get(parts.netloc) if parts.scheme == SCHEME else None
    if kind is None:
        known: Sequence[str] = [one.template.uri_template for one in _KINDS.values()]
        raise InvalidInput(f"No resource has the address {uri[:200]!r}.", hint=f"There is: {', '.join(known)}.")
    return kind, unquote(parts.path.lstrip("/"))


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isdecimal() and len(cursor) <= 9):
        raise InvalidInput(f"{cursor[:40]!r} is no cursor.", hint="Pass back what the last page gave.")
    return int(cursor)
