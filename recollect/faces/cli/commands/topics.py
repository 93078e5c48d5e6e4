"""`recollect topics`: what many conversations are about, the messages of a topic, the segments of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, NotFound
from recollect.faces.cli.parser import Command, Option, Words, whole
from recollect.faces.cli.terminal.session import Session
from recollect.faces.cli.views.waiting import none_found
from recollect.faces.present.knowledge import topic_as_json

if TYPE_CHECKING:
    from recollect.derive.topics.reading import Segment, Topic
    from recollect.record import Message

_LIMIT = 20


def topics(
    session: Session, which: list[str] | None = None, conversation: str | None = None, limit: int = _LIMIT
) -> int:
    """List what many conversations are about, or where one changes its subject.

    With a TOPIC (its label, a term of it, or the end of its id): its messages, the most typical first. With
    --conversation: the segments of that conversation, each a run of turns about one thing.
    """
    memory = session.existing_memory()
    if conversation is not None:
        if which:
            raise InvalidInput("A topic and a conversation do not go together.", hint="Leave one of them out.")
        thread, _ = memory.resolve(conversation)
        segments = memory.knowledge.segments(thread.conversation.id)
        return _print_segments(session, segments)
    if which:
        name = " ".join(which)
        return _print_messages(session, name, memory.toolbox().get_topic_messages(name, limit))
    found = memory.topics(limit)
    if session.json:
        session.out.document({"topics": [topic_as_json(topic) for topic in found]})
    else:
        _print_topics(session, found)
        if not found:
            none_found(session, memory, "No topics yet.")
    return 0 if found else 1


def _print_topics(session: Session, found: list[Topic]) -> None:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import day, number

    out = session.out
    for topic in found:
        period = f"{day(topic.first)} {out.symbols.dash} {day(topic.last)}" if topic.first and topic.last else ""
        facts = f" {out.symbols.dot} ".join(filter(None, (number(topic.messages, "message"), period)))
        out.line(f"{short(topic.id)}  {out.bold(harmless(topic.label))}  {out.dim(facts)}")
        if more := ", ".join(harmless(term) for term in topic.terms[3:9]):
            out.line(out.dim(f"        {more}"))


def _print_segments(session: Session, segments: list[Segment]) -> int:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.present.names import short
    from recollect.faces.present.times import number

    out = session.out
    if session.json:
        out.document({"segments": [_segment_as_json(segment) for segment in segments]})
    else:
        if not segments:
            out.line("No segments yet.")
        for segment in segments:
            topic = f"  {out.symbols.arrow} {harmless(segment.topic)}" if segment.topic else ""
            facts = out.dim(f"{number(segment.messages, 'message')}{topic}")
            out.line(f"{short(segment.message_id)}  {out.bold(harmless(segment.label or '(no words)'))}  {facts}")
    return 0 if segments else 1


def _print_messages(session: Session, name: str, messages: list[Message]) -> int:
    from recollect.faces.cli.terminal.output import harmless
    from recollect.faces.cli.terminal.wrapping import shortened
    from recollect.faces.present.names import short
    from recollect.faces.present.times import day

    out = session.out
    if session.json:
        out.document({"messages": [_message_as_json(message) for message in messages]})
        return 0 if messages else 1
    if not messages:
        raise NotFound(f"No message is left in the topic {name!r}.")
    for message in messages:
        facts = f"{day(message.timestamp):>11}  " if message.timestamp else ""
        room = None if out.width is None else out.width - len(facts) - len(short(message.id)) - 2
        out.line(f"{short(message.id)}  {out.dim(facts)}{shortened(harmless(' '.join(message.content.split())), room)}")
    return 0


def _segment_as_json(segment: Segment) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "id": segment.id,
        "conversation_id": segment.conversation_id,
        "message_id": segment.message_id,
        "label": segment.label,
        "topic": segment.topic or None,
        "messages": segment.messages,
        "first": iso(segment.first),
        "last": iso(segment.last),
    }


def _message_as_json(message: Message) -> dict[str, Any]:
    from recollect.record import iso

    return {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "role": message.role.value,
        "speaker": message.speaker,
        "timestamp": iso(message.timestamp),
        "content": message.content,
    }


COMMAND = Command(
    topics,
    (
        "recollect topics",
        "recollect topics sourdough -n 5",
        'recollect topics --conversation "Full Stack App Planning"',
    ),
    (
        Option(("--conversation",), "The segments of this conversation (id or title).", "ID|TITLE"),
        Option(("--limit", "-n"), "How many are listed.", "N", default=_LIMIT, read=whole(1)),
    ),
    Words("TOPIC", "which", several=True),
)
