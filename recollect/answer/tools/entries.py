"""Messages put down on a desk: in full, as entries of a list, or one from a character on; with the call that gets the
rest. What is put down comes back as data.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.answer.tools.desk import ToolOutput, begin_of, count, head_of
from recollect.answer.tools.results import Attachment, ShownMessage, shown_attachment, shown_message
from recollect.record import Message
from recollect.text.sentences import first_span

_EACH = 300  # tokens of a message that stands in a list: the rest is loaded by its id


def put_whole(desk: ToolOutput, message: Message, offset: int) -> ShownMessage:
    """A message from a character on, with what is attached to it once its text has ended."""
    length = len(message.content)
    end = desk.add_some(head_of(message, conversation=True), message.content, offset)
    attached: list[Attachment] = []
    for part in message.parts:
        if part.text and end == length:
            head = f"[{part.kind.value}] {part.name}"
            if desk.add(f"{head}\n{part.text}"):
                attached.append(shown_attachment(part, part.text, desk.mark))
                continue
            begin = begin_of(part.text)
            named = f"{head}, {count(part.text):,} tokens: its chunks by get_message_with_chunks"
            if desk.add(f"{named}, its beginning: {begin}"):
                attached.append(shown_attachment(part, begin, desk.mark))
    more = tell_rest(desk, f'get_message_by_id(id="{message.id}"', offset, end, length)
    shown = message.content[offset : offset if end is None else end]
    return shown_message(message, shown, desk.mark, next_offset=more, attachments=attached)


def tell_rest(desk: ToolOutput, call: str, offset: int, end: int | None, length: int) -> int | None:
    """Says how to get what is left of a text; returns the character at which it goes on, None at its end."""
    at = offset if end is None else end
    if offset and offset >= length:
        desk.last(f"The text ends at character {length:,}.")
    elif at < length:
        desk.last(f"Characters {offset:,} to {at:,} of {length:,}. For more: {call}, offset={at})")
        return at
    return None


def put_in_full(desk: ToolOutput, messages: Sequence[Message]) -> tuple[list[ShownMessage], list[Message]]:
    """Puts messages down whole while there is room; the first in part, if need be. Returns those, and what is left."""
    shown: list[ShownMessage] = []
    for place, message in enumerate(messages):
        head = head_of(message)
        if desk.add(f"{head}\n{message.content}"):
            shown.append(shown_message(message, message.content, desk.mark))
            continue
        if place:
            return shown, list(messages[place:])
        end = desk.add_some(head, message.content)
        more = tell_rest(desk, f'get_message_by_id(id="{message.id}"', 0, end, len(message.content))
        return [shown_message(message, message.content[: end or 0], desk.mark, next_offset=more)], list(messages[1:])
    return shown, []


def entry(desk: ToolOutput, message: Message) -> tuple[str, ShownMessage]:
    """A message in a list, as text and as data: whole where it is short, else its beginning."""
    head, text = head_of(message), message.content
    if message.tokens <= _EACH:
        return f"{head}\n{text}", shown_message(message, text, desk.mark)
    most = min(_EACH, max(desk.room - count(head) - 1, 1))
    end = first_span(text, 0, most, count).end
    return f"{head}\n{text[:end]}…", shown_message(message, text[:end], desk.mark, next_offset=end)


def put_entries(desk: ToolOutput, messages: Sequence[Message]) -> list[ShownMessage]:
    """Puts messages down as a list while there is room, one at least; returns those."""
    shown: list[ShownMessage] = []
    for message in messages:
        text, data = entry(desk, message)
        if not desk.add(text):
            if shown:
                return shown
            end = desk.add_some(head_of(message), message.content)
            return [shown_message(message, message.content[: end or 0], desk.mark, next_offset=end or 0)]
        shown.append(data)
    return shown
