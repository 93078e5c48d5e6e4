"""What a person attaches to a chat or picks in it: conversations, summaries, documents, months; prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcp_types import (
    Annotations,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from recollect.answer.tools.output import day_of
from recollect.errors import InvalidInput, NotFound
from recollect.faces.mcp.tools.base import SCHEME, part, part_in, part_of, recalled, resource, title_of, transcript
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


# Prompts that a person picks in a client: what to do with the memory, or what it holds, put into the chat at once.

_BUDGET = 6_000  # tokens of what is put into the chat
_TOPICS = 20


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A prompt, and what makes its text of the memory and the arguments."""

    prompt: Prompt
    text: Callable[[Memory, Mapping[str, str]], str]


def listed_prompts() -> list[Prompt]:
    """The prompts."""
    return [one.prompt for one in _PROMPTS.values()]


def filled(memory: Memory, name: str, given: Mapping[str, str] | None) -> GetPromptResult:
    """A prompt with its arguments. Raises NotFound, InvalidInput."""
    one = _PROMPTS.get(name)
    if one is None:
        raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There is: {', '.join(_PROMPTS)}.")
    arguments = {key: value.strip() for key, value in (given or {}).items()}
    for argument in one.prompt.arguments or ():
        if argument.required and not arguments.get(argument.name):
            raise InvalidInput(f"{name} needs `{argument.name}`: {argument.description}")
    message = PromptMessage(role="user", content=TextContent(text=one.text(memory, arguments)))
    return GetPromptResult(description=one.prompt.description, messages=[message])


def completed_topics(memory: Memory, argument: str, begun: str) -> list[str]:
    """Topics that begin so."""
    if argument != "topic":
        return []
    labels = (topic.label for topic in memory.topics(limit=500))
    return [label for label in labels if begun.casefold() in label.casefold()][:_TOPICS]


def _recall(memory: Memory, given: Mapping[str, str]) -> str:
    question = given["question"]
    context = memory.prepare_context(question, budget=_BUDGET, tools=False)  # a client may have few of them
    return (
        f"{context.text}\n\n"
        "The above is what my memory of earlier conversations holds on the following. Use what fits, name the date and "
        f"the conversation of what you rely on, and say so where it does not hold the answer.\n\n{question}"
    )


def _catch_up(memory: Memory, given: Mapping[str, str]) -> str:
    on = f" on {given['topic']}" if given.get("topic") else ""
    ways = "search and fetch" if on else "timeline (this_week, then last_week) and fetch"
    return (
        f"Tell me where I left off{on}. Use the memory's tools {ways}: find the latest conversations, read how they "
        "ended, and tell me in a few lines what was decided, what is open, and what the next step was, each with the "
        "date and the id of the message that says so. Do not fill gaps by guessing."
    )


def _decisions(memory: Memory, given: Mapping[str, str]) -> str:
    return (
        f"List the decisions that I made on {given['topic']}, in order of time. Use the memory's tools ask, search and "
        "fetch. For each: what was decided, when, why, and the id of the message that says so. Where a later decision "
        "replaces an earlier one, say so. Leave out what was only considered."
    )


def _save(memory: Memory, given: Mapping[str, str]) -> str:
    return (
        "Look back over this conversation and keep what will matter later, with the memory's tool remember: decisions "
        "with their reasons, preferences, agreements, where the work was left. One call for each, in full sentences "
        f"that are clear without this conversation, with dates. They go to the namespace {memory.namespace}. First "
        "search whether it is known already; do not store secrets, passwords or what I did not say or agree to. Then "
        "list what you kept."
    )


def _prompt(name: str, title: str, description: str, *arguments: PromptArgument) -> Prompt:
    return Prompt(name=name, title=title, description=description, arguments=list(arguments))


def _topic(*, required: bool) -> PromptArgument:
    return PromptArgument(name="topic", title="Topic", description="A project, person or subject.", required=required)


_PROMPTS = {
    one.prompt.name: one
    for one in (
        ServerPrompt(
            _prompt(
                "recall",
                "What do I know about this?",
                "Puts what the memory holds on a question into the chat.",
                PromptArgument(name="question", title="Question", description="What it is about.", required=True),
            ),
            _recall,
        ),
        ServerPrompt(
            _prompt(
                "catch_up",
                "Where did I leave off?",
                "What was decided last, what is open, and what was next.",
                _topic(required=False),
            ),
            _catch_up,
        ),
        ServerPrompt(
            _prompt("decisions", "What did I decide?", "Decisions by time, with reasons.", _topic(required=True)),
            _decisions,
        ),
        ServerPrompt(
            _prompt("save_this", "Keep what matters", "Has the model remember what this conversation settled."), _save
        ),
    )
}
