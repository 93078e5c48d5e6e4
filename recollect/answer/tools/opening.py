"""From ids to what they name: messages, pieces of long ones, tool calls, threads, periods [4].

What was deleted or forgotten is not shown. An id may be that of a piece, of a message, of a tool call or of its result;
of a message, a conversation and a result its end will do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta

from recollect.errors import InvalidInput, NotFound
from recollect.ingest.documents.importing import by_id
from recollect.record import Chunk, Conversation, Document, Kind, Message, NodeId, Role, ToolCall, to_microseconds
from recollect.record.nodes import MessageChunk, document_message, message_chunk, tool_call_chunk
from recollect.search.results.nothing import between, nothing_from
from recollect.store import View, Where
from recollect.text.relative import parse_moment

_CHUNK_OF, _CALLED_BY, _REPLIES_TO = ("CHUNK_OF",), ("CALLED_BY",), ("REPLIES_TO",)
_MOST_RESULTS = 1000  # of one message: tool results that hang below each other
_ABOVE = 16  # messages between a call and its result
_SHORTEST = 6  # characters of an id, from its end, that tell it apart
_NAMED = 3  # ids that are shown where several are meant
_WIDE = 4  # times as many places as messages are looked at for the active path below a message


def find_messages(view: View, ids: Sequence[str]) -> list[Message]:
    """Those messages, and pieces of messages, that are there and not deleted, in the order asked for."""
    wanted = [NodeId(i) for i in ids]
    found = {m.id: m for m in view.get(Message, wanted) if not _gone(m)}
    rest = [i for i in dict.fromkeys(wanted) if i not in found]
    found |= {piece.id: piece for piece in _pieces(view, rest)} if rest else {}
    named = {i: whole for i in rest if i not in found for whole in [whole_id(view, i)] if whole != i}
    ended = {m.id: m for m in view.get(Message, list(named.values())) if not _gone(m)} if named else {}
    found |= {i: ended[whole] for i, whole in named.items() if whole in ended}
    found |= {i: document_message(found_) for i in rest if i not in found for found_ in _documents(view, i)}
    return [found[i] for i in wanted if i in found]


def _documents(view: View, id: str) -> list[Document]:
    """The document of an id, or of the end of one."""
    with suppress(NotFound):
        return [by_id(view, id)]
    return []


def whole_id(view: View, id: str) -> NodeId:
    """The id of a message or conversation that ends so; the same where none does. Raises InvalidInput for several."""
    if len(id) < _SHORTEST:
        return NodeId(id)
    named = view.named(id)
    if len(named) > 1:
        told = ", ".join(named[:_NAMED])
        raise InvalidInput(f"{id!r} is the end of several ids: {told}.", hint="Use more of the one that is meant.")
    return named[0] if named else NodeId(id)


def find_message(view: View, id: str) -> Message:
    """One of them. Raises NotFound, which says whether it was deleted."""
    found = find_messages(view, [id])
    if found:
        return found[0]
    if calls := find_tool_calls(view, [id]):
        return find_message(view, calls[0].result_message_id or calls[0].message_id)
    raise missing(view, id)


def missing(view: View, id: str) -> NotFound:
    """The error for a message that cannot be shown."""
    for message in view.get(Message, [NodeId(id)]):
        if message.erased:
            return NotFound(f"Message {id} was forgotten.")
        if message.deleted:
            return NotFound(f"Message {id} was deleted.", hint="To take that back: restore_message()")
    return NotFound(f"No message has the ID {id}.")


def with_chunks(view: View, id: str) -> list[Message]:
    """A long message as its pieces, in order; a short one as it is. Of a piece: all pieces of the same message."""
    message = find_message(view, id)
    if isinstance(message, MessageChunk):
        message = find_message(view, message.chunk_parent_id)
    pieces = [message_chunk(message, chunk) for chunk in view.get(Chunk, [message.id])]
    if any(piece.part < 0 for piece in pieces):
        return list(pieces)
    return [message, *pieces]  # pieces of what hangs on it


def thread(view: View, id: str, depth: int) -> list[Message]:
    """What was said around a message: up to `depth` above it, itself, and up to `depth` below it, in reading order.

    Of a conversation's id: its beginning. Raises NotFound.
    """
    conversations = view.get(Conversation, [NodeId(id)])
    if not conversations and not view.get(Message, [NodeId(id)]):
        conversations = view.get(Conversation, [whole_id(view, id)])
    if conversations and not conversations[0].erased:
        messages = _active_from(view, conversations[0].id, 0, 2 * depth + 1)
        if not messages:
            raise NotFound(f"Nothing is left of the conversation {id}.")
        return messages
    at = find_message(view, id)
    if isinstance(at, MessageChunk):
        at = find_message(view, at.chunk_parent_id)
    above = [message for message in view.above(at.id, depth) if not _gone(message)]
    return [*reversed(above), at, *_below(view, at, depth)]


def period(
    view: View, name: str, today: date, *, limit: int, offset: int = 0, kinds: Sequence[str] = (Kind.SAID.value,)
) -> list[Message]:
    """The newest messages of a time that people name, in order of time. Raises InvalidInput for what names none."""
    since, until = span_of(name, today)
    where = Where(since=since, until=until, kinds=tuple(kinds), deleted=False, order="newest")
    found: list[Message] = []
    after: str | None = None
    while len(found) < offset + limit:
        page = view.find(Message, where, after=after, limit=min(offset + limit - len(found), 500))
        found += [message for message in page.items if not message.erased]
        after = page.next
        if after is None:
            break
    shown = found[offset : offset + limit]
    return sorted(shown, key=lambda m: (to_microseconds(m.timestamp) or 0, m.conversation_id, m.position))


def nothing_said(days: Collection[date], name: str, today: date) -> str:
    """What to say of a time that people name in which nothing was said; `days` are those on which something was."""
    since, until = span_of(name, today)
    if since is not None and until is not None and (found := nothing_from(days, [between(since, until)], today)):
        return str(found)
    return f"Nothing from {name}."


def span_of(name: str, today: date) -> tuple[int | None, int | None]:
    """From when and until before when, in microseconds: today, this_week, last_month, older (than this month), 2025-03,
    2025-W09, "March 2025", "2025-03-01 to 2025-03-14", "last spring". Raises InvalidInput.
    """
    words = " ".join(name.replace("_", " ").split()).lower()
    if words == "older":
        return None, to_microseconds(parse_moment("this month", today, end=False))
    if week := _week(words):
        first, after = (parse_moment(day.isoformat(), today, end=False) for day in week)
        return to_microseconds(first), to_microseconds(after)
    first_word, to, last_word = next(
        (p for p in (words.partition(s) for s in (" to ", "..", "/", " – ")) if p[1]), (words, "", "")
    )
    bounds = (
        parse_moment(first_word.strip(), today, end=False),
        parse_moment((last_word if to else first_word).strip(), today, end=True),
    )
    if None in bounds:
        raise InvalidInput(
            f"{name!r} names no time.",
            hint='Use today, this_week, this_month, last_month, 2025-03, 2025-03-14, or "2025-03-01 to 2025-03-14".',
        )
    return to_microseconds(bounds[0]), to_microseconds(bounds[1])


def find_tool_calls(view: View, ids: Sequence[str]) -> list[ToolCall]:
    """The tool calls of these ids, each of its own, of its result or of a piece of that; with their results."""
    wanted = list(dict.fromkeys(NodeId(i) for i in ids))
    found: dict[NodeId, ToolCall] = {call.id: call for call in view.get(ToolCall, wanted)}
    rest = [i for i in wanted if i not in found]
    if rest:
        parents = {edge.source_id: edge.target_id for edge in view.edges(rest, _CHUNK_OF)}
        ends = {whole_id(view, i): i for i in rest if i not in parents}
        found |= {ends[i]: call for i, call in calls_of_results(view, list(ends)).items()}
        whole = {call.id: call for call in view.get(ToolCall, list(parents.values()))}
        whole |= calls_of_results(view, [i for i in parents.values() if i not in whole])
        chunks = {chunk.id: chunk for chunk in view.get(Chunk, list(dict.fromkeys(parents.values())))}
        found |= {i: tool_call_chunk(whole[p], chunks[i]) for i, p in parents.items() if p in whole and i in chunks}
    kept = _shown(view, found)
    return [kept[i] for i in wanted if i in kept]


def tool_calls_of(view: View, message_id: str) -> list[ToolCall]:
    """The tool calls of a message, in order: those within it, and those whose results were stored below it."""
    message = find_message(view, message_id)
    own = message.chunk_parent_id if isinstance(message, MessageChunk) else message.id
    asked, frontier = [own], [own]
    while frontier and len(asked) < _MOST_RESULTS:
        children = [edge.source_id for edge in view.edges(frontier, _REPLIES_TO, "in")]
        results = [
            m for m in view.get(Message, children) if m.role is Role.TOOL and m.kind is Kind.TOOL and not _gone(m)
        ]
        frontier = [m.id for m in results]
        asked += frontier
    called = view.get(ToolCall, [edge.source_id for edge in view.edges(asked, _CALLED_BY, "in")])
    calls = _shown(view, {call.id: call for call in called}).values()
    places = {message_id: place for place, message_id in enumerate(asked)}

    def place(call: ToolCall) -> tuple[int, int, int]:
        """Where it stands: of the calls of one message, where its result does."""
        result = call.result_message_id
        return places[call.message_id], places.get(result, -1) if result else -1, call.position

    return sorted(calls, key=place)


def calls_of_results(view: View, message_ids: Sequence[NodeId]) -> dict[NodeId, ToolCall]:
    """The tool calls of which these messages are the results, by the message's id, as far as they may be shown: where
    the message that called was deleted, its result is a message like any other.
    """
    found: dict[NodeId, ToolCall] = {}
    for message_id in dict.fromkeys(message_ids):
        above = [message_id, *(message.id for message in view.above(message_id, _ABOVE))]
        callers = view.edges(above, _CALLED_BY, "in")
        for call in view.get(ToolCall, [edge.source_id for edge in callers]):
            if call.result_message_id == message_id:
                found[message_id] = call
    return _shown(view, found)


def _gone(message: Message) -> bool:
    return message.deleted or message.erased


def _shown(view: View, calls: Mapping[NodeId, ToolCall]) -> dict[NodeId, ToolCall]:
    """The calls that may be shown, by the ids that they were asked by: one whose result was deleted stands there
    without it, and not where the result or a piece of it was asked for.
    """
    messages = {i for call in calls.values() for i in (call.message_id, call.result_message_id) if i}
    gone = {message.id for message in view.get(Message, sorted(messages)) if _gone(message)}
    shown = {i: call for i, call in calls.items() if call.message_id not in gone}
    lost = [i for i, call in shown.items() if call.result_message_id in gone]
    for i in lost:
        call = shown.pop(i)
        if call.id == i and not call.is_chunk:
            shown[i] = replace(call, result="", result_message_id=None)
    return shown


def _pieces(view: View, chunk_ids: Sequence[NodeId]) -> list[MessageChunk]:
    parents = {edge.source_id: edge.target_id for edge in view.edges(chunk_ids, _CHUNK_OF)}
    wanted = list(dict.fromkeys(parents.values()))
    messages = {m.id: m for m in view.get(Message, wanted) if not _gone(m)}
    messages |= {d.id: document_message(d) for d in view.get(Document, wanted) if not (d.hidden or d.erased)}
    chunks = view.get(Chunk, [i for i in wanted if i in messages])
    return [message_chunk(messages[chunk.parent_id], chunk) for chunk in chunks if chunk.id in parents]


def _below(view: View, at: Message, depth: int) -> list[Message]:
    """What follows on the path through a message: the active one where there is a choice, else the newest."""
    if at.active:
        return _active_from(view, at.conversation_id, at.position + 1, depth)
    found: list[Message] = []
    while len(found) < depth:
        ids = [edge.source_id for edge in view.edges([at.id], _REPLIES_TO, "in")]
        children = [m for m in view.get(Message, ids) if not m.erased]
        if not children:
            break
        at = max(children, key=lambda m: (m.active, m.position))
        found += [at] if not at.deleted else []
    return found


def _active_from(view: View, conversation_id: NodeId, position: int, most: int) -> list[Message]:
    """So many messages of the active path, from a place on."""
    sizes = view.sizes([conversation_id])
    last = sizes[conversation_id][1] if conversation_id in sizes else 0
    found: list[Message] = []
    while position < last and len(found) < most:
        run = view.around([(conversation_id, position, position + _WIDE * most)])
        found += [message for message in run if message.active and not _gone(message)]
        position += _WIDE * most + 1
    return found[:most]


def _week(words: str) -> tuple[date, date] | None:
    """Its first day, and the day after it."""
    year, _, week = words.partition("-w")
    if not (len(year) == 4 and year.isdigit() and week.isdigit()):
        return None
    try:
        first = date.fromisocalendar(int(year), int(week), 1)
        return first, first + timedelta(days=7)
    except (ValueError, OverflowError):
        return None
