"""Tools that open what an id names [4]: full texts, the run of messages around one, a period, a topic, a tool call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recollect.answer.tools.base import About, tool
from recollect.answer.tools.output import (
    ShownCall,
    ShownCalls,
    ShownMessage,
    ShownMessages,
    ToolOutput,
    begin_of,
    count,
    entry,
    head_of_call,
    listed,
    put_entries,
    put_in_full,
    put_whole,
    shown_call,
    shown_message,
    tell_rest,
)
from recollect.errors import NotFound
from recollect.record import Message
from recollect.record.nodes import MessageChunk

MOST_IDS, MOST_LISTED, DEEPEST = 50, 100, 50
_SUMMED = 480  # characters
_NAMED = 5  # ids that are repeated in the last words

Id = Annotated[str, About("The id, as it stands in brackets in other answers.")]
Offset = Annotated[int, About("How many characters of the text to leave out: told where an answer was cut.", 0, 1e9)]
Skip = Annotated[int, About("How many to leave out: to go on where the last answer ended.", 0, 1e9)]
Limit = Annotated[int, About("How many to list at most.", 1, MOST_LISTED)]


@tool(
    "Use this to read one message (or one chunk of a long one) in full, when its snippet is not enough. "
    "Takes an id from an index, a search or another tool. A long text comes in parts: pass the offset that is told.",
    id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
)
def get_message_by_id(desk: ToolOutput, id: Id, offset: Offset = 0) -> ShownMessage:
    """One message, from a character on."""
    return put_whole(desk, desk.calls.get_message_by_id(plain(id)), offset)


@tool(
    "Use this to read several messages in full at once, rather than one call for each. "
    "What does not fit into one answer is named, to be loaded by another call.",
    ids=["01JB3D9Q0Z5X8RV6M2T7KWYN4C", "01JB3DA1M8F2E6G0H5J9K3P7QT"],
)
def get_messages_by_ids(
    desk: ToolOutput, ids: Annotated[list[str], About("The ids of messages or chunks.", 1, MOST_IDS)]
) -> ShownMessages:
    """Messages in the order asked for."""
    wanted = list(dict.fromkeys(map(plain, ids)))
    found = desk.calls.get_messages_by_ids(wanted)
    missing = [i for i in wanted if not any(message.id.endswith(i.upper()) or message.id == i for message in found)]
    if not found:
        raise NotFound(f"None of these messages is there: {', '.join(missing[:_NAMED])}.", hint=HOW_TO_FIND)
    shown, left = put_in_full(desk, found)
    if left:
        desk.last(f"Not loaded, for want of room: {len(left)} more. Next: get_messages_by_ids(ids={_some(left)})")
    if missing:
        desk.last(f"Not there, or deleted: {', '.join(missing[:_NAMED])}{' …' if len(missing) > _NAMED else ''}")
    return ShownMessages(messages=shown, left=[one.id for one in left] or None, missing=missing[:_NAMED] or None)


@tool(
    "Use this for a message or tool result that is too long to read whole: it gives the index of its chunks, each with "
    "its id and tokens. Pass `chunk` to read on from that chunk; a message that is short comes whole.",
    id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
    chunk=3,
)
def get_message_with_chunks(
    desk: ToolOutput,
    id: Id,
    chunk: Annotated[
        int, About("The number of the chunk to begin with; without it, the index of chunks.", 0, 1e6)
    ] = -1,
    offset: Skip = 0,
) -> ShownMessages:
    """The chunks of a message: their index, or their texts."""
    pieces = desk.calls.get_message_with_chunks(plain(id))
    if chunk < 0 and sum(piece.tokens for piece in pieces) > desk.room:
        return _chunk_index(desk, pieces, offset)
    numbers = [piece.chunk_index if isinstance(piece, MessageChunk) else 0 for piece in pieces]
    wanted = [piece for piece, number in zip(pieces, numbers, strict=True) if number >= chunk]
    if not wanted:
        raise NotFound(f"There is no chunk {chunk}: the last is {max(numbers)}.")
    shown, left = put_in_full(desk, wanted)
    following = left[0].chunk_index if left and isinstance(left[0], MessageChunk) else None
    if following is not None:
        desk.last(f'For more: get_message_with_chunks(id="{plain(id)}", chunk={following})')
    return ShownMessages(messages=shown, next_chunk=following)


@tool(
    "Use this to see what was said around a message: what led to it and what came of it, in order. "
    "Given a conversation's id, it shows how the conversation begins.",
    message_id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
    depth=5,
)
def get_conversation_thread(
    desk: ToolOutput,
    message_id: Id,
    depth: Annotated[int, About("How many messages before, and as many after it.", 0, DEEPEST)] = 5,
) -> ShownMessages:
    """The run of messages around one."""
    own = plain(message_id)
    messages = desk.calls.get_conversation_thread(own, depth)
    desk.add(f"Conversation {messages[0].conversation_id}, messages {messages[0].position} to {messages[-1].position}:")
    at = _place(desk, own, messages)
    nearest = sorted(range(len(messages)), key=lambda place: (abs(place - at), place))
    kept: dict[int, tuple[str, ShownMessage]] = {}
    for place in nearest:
        text, shown = entry(desk, messages[place])
        tokens = count(text)
        if tokens > desk.room:
            break
        desk.room -= tokens
        kept[place] = text, shown
    first, last = min(kept, default=at), max(kept, default=at)
    run = [kept[place] for place in sorted(kept)]
    desk.lines += [text for text, _ in run]
    before, after = messages[first].id, messages[last].id
    desk.last(f'Further back: get_conversation_thread(message_id="{before}"); on: the same with "{after}".')
    return ShownMessages(messages=[shown for _, shown in run])


@tool(
    "Use this when a time is asked about: what was said today, this_week, last_month, in 2025-03, on 2025-03-14, or "
    '"2025-03-01 to 2025-03-14". The newest come first into the answer; `offset` goes further back.',
    period="this_week",
    limit=20,
)
def get_period_messages(
    desk: ToolOutput,
    period: Annotated[
        str, About('today, yesterday, this_week, last_month, 2025-03, "March 2025", "2025-03-01 to 2025-03-14", older.')
    ],
    limit: Limit = 20,
    offset: Skip = 0,
) -> ShownMessages:
    """What was said in a time."""
    found = desk.calls.get_period_messages(period, limit + 1, offset)
    if not found:
        desk.last(f"No more from {period}." if offset else desk.calls.nothing_said(period))
    shown = put_entries(desk, found[::-1][:limit])
    desk.lines.reverse()  # in order of time
    more = offset + len(shown) if len(shown) < len(found) else None
    if more is not None:
        desk.last(f"There is more, further back: get_period_messages(period={_quoted(period)}, offset={more})")
    return ShownMessages(messages=shown[::-1], next_offset=more)


@tool(
    "Use this to read what was said on a topic that an index or overview names, the most typical messages first.",
    topic="API Development",
    limit=20,
)
def get_topic_messages(
    desk: ToolOutput,
    topic: Annotated[str, About("The topic's label or id.")],
    limit: Limit = 20,
    offset: Skip = 0,
) -> ShownMessages:
    """The messages of a topic."""
    found = desk.calls.get_topic_messages(topic.strip(), offset + limit + 1)[offset:]
    return _of_topic(desk, found, limit, offset, f"get_topic_messages(topic={_quoted(topic)}")


@tool(
    "Use this to read what a cluster that an index names comes down to, and its messages, the most typical first.",
    cluster_id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
    limit=20,
)
def get_cluster(
    desk: ToolOutput,
    cluster_id: Annotated[str, About("The cluster's id, as the index gives it.")],
    limit: Limit = 20,
    offset: Skip = 0,
) -> ShownMessages:
    """What a cluster comes down to, and its messages."""
    found = desk.calls.get_cluster(plain(cluster_id), offset + limit + 1)[offset:]
    if not offset and (summary := desk.calls.cluster_summary(plain(cluster_id))):
        desk.add(f"Summary: {begin_of(' '.join(summary.split()), _SUMMED)}")
    return _of_topic(desk, found, limit, offset, f"get_cluster(cluster_id={_quoted(cluster_id)}")


@tool(
    "Use this to read a call of a tool that was made in a conversation, with its arguments and its result. "
    "A long result comes in parts: pass the offset that is told.",
    id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
)
def get_tool_call(desk: ToolOutput, id: Id, offset: Offset = 0) -> ShownCall:
    """One tool call, its result from a character on."""
    call = desk.calls.get_tool_call(plain(id))
    tokens, arguments = count(call.result), begin_of(call.arguments, 2_000)
    end = desk.add_some(f"{head_of_call(call, tokens)}\narguments: {arguments}\nresult:", call.result, offset)
    more = tell_rest(desk, f'get_tool_call(id="{call.id}"', offset, end, len(call.result))
    shown = call.result[offset : offset if end is None else end]
    return shown_call(call, tokens, arguments, shown, desk.mark, next_offset=more)


@tool(
    "Use this to see which tools were called for a message, with what arguments, and how long their results are.",
    message_id="01JB3D9Q0Z5X8RV6M2T7KWYN4C",
)
def get_tool_calls_by_message(desk: ToolOutput, message_id: Id, offset: Skip = 0) -> ShownCalls:
    """The tool calls of a message, each with the beginning of its result."""
    calls = desk.calls.get_tool_calls_by_message(plain(message_id))
    if not calls:
        desk.last("No tool was called for this message.")
        return ShownCalls(calls=[])
    shown: list[ShownCall] = []
    more = None
    for place, call in enumerate(calls[offset:], offset):
        tokens, arguments, result = count(call.result), begin_of(call.arguments, 400), begin_of(call.result, 600)
        text = f"{head_of_call(call, tokens)}\narguments: {arguments}\nresult: {result}"
        if not desk.add_entry(text, first=not shown):
            more = place
            desk.last(f'For more: get_tool_calls_by_message(message_id="{plain(message_id)}", offset={place})')
            break
        shown.append(shown_call(call, tokens, arguments, result, desk.mark))
    desk.last("A result in full: get_tool_call(id)")
    return ShownCalls(calls=shown, next_offset=more)


MESSAGE_TOOLS = (
    get_message_by_id,
    get_messages_by_ids,
    get_message_with_chunks,
    get_cluster,
    get_period_messages,
    get_topic_messages,
    get_conversation_thread,
    get_tool_call,
    get_tool_calls_by_message,
)

#: What a model does that has no id.
HOW_TO_FIND = "To find messages: vector_search(query), or get_period_messages(period)."


def plain(id: str) -> str:
    """An id without the signs that models leave around it.

    >>> plain(" [01JB3D9Q0Z5X8RV6M2T7KWYN4C] ")
    '01JB3D9Q0Z5X8RV6M2T7KWYN4C'
    """
    return id.strip().strip("[]()<>{}\"'`#.,;: \n\t").removeprefix("id:").removeprefix("id=").strip()


def _place(desk: ToolOutput, id: str, messages: Sequence[Message]) -> int:
    """Where the message of an id stands among others; the first of them where it is a conversation's."""
    try:
        found = desk.calls.get_message_by_id(id)
    except NotFound:
        return 0
    own = found.chunk_parent_id if isinstance(found, MessageChunk) else found.id
    return next((place for place, message in enumerate(messages) if message.id == own), 0)


def _of_topic(desk: ToolOutput, found: Sequence[Message], limit: int, offset: int, call: str) -> ShownMessages:
    if not found:
        desk.last("There are no more messages of this topic." if offset else "This topic has no messages.")
    shown = put_entries(desk, found[:limit])
    more = offset + len(shown) if len(shown) < len(found) else None
    if more is not None:
        desk.last(f"For more: {call}, offset={more})")
    return ShownMessages(messages=shown, next_offset=more)


def _chunk_index(desk: ToolOutput, pieces: Sequence[Message], offset: int) -> ShownMessages:
    total = sum(piece.tokens for piece in pieces)
    desk.add(f"{len(pieces)} chunks, {total:,} tokens in all; each is loaded by its id, or from `chunk` on.")
    shown: list[ShownMessage] = []
    more = None
    for place, piece in enumerate(pieces[offset:], offset):
        number = piece.chunk_index if isinstance(piece, MessageChunk) else 0
        begin = begin_of(piece.content, 100)
        if not desk.add(f"{number} [{piece.id}] {piece.tokens:,} tokens: {begin}"):
            more = place
            own = piece.chunk_parent_id if isinstance(piece, MessageChunk) else piece.id
            desk.last(f'For more of the index: get_message_with_chunks(id="{own}", offset={place})')
            break
        shown.append(shown_message(piece, begin, desk.mark))
    return ShownMessages(messages=shown, next_offset=more)


def _some(messages: Sequence[Message]) -> str:
    return listed(message.id for message in messages[:_NAMED])


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
