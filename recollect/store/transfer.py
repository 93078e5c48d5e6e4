"""A namespace as JSON Lines and back, whole and without loss: `recollect export`, and moving between engines.

The first line names the format, then come conversations (each with everything in it), documents, nodes that were said
or imported, and edges, one a line, sorted by id. The last line counts them, so that a dump that ends early is noticed.
Memory stays bounded by the largest conversation. What is derived is not in it; it is made again where the dump is read
(docs/reference/dump.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import BinaryIO

from recollect.errors import StoreDamaged
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    Origin,
    Thread,
    ToolCall,
    Turn,
    has_circle,
)
from recollect.record.wire import dumps, thread_to_wire, to_wire
from recollect.store.base import Space, View
from recollect.store.results import Lost, R, Where


def mended(thread: Thread) -> Thread:
    """The same with what still belongs together. A message whose parent is lost follows the one before it; tool calls
    stay with a message that is there; turns lose what they named, and go with their query; the chunks of a text that
    has lost one go, since the text itself is whole.
    """
    messages = _messages(thread.messages)
    there = {message.id for message in messages}
    calls = tuple(mend for call in thread.tool_calls if (mend := _call(call, thread.messages, there)) is not None)
    active = {message.id for message in messages if message.active}
    leaf = thread.conversation.leaf_id
    if leaf not in active:
        leaf = next((message.id for message in reversed(messages) if message.active), None)
    return Thread(
        conversation=replace(thread.conversation, leaf_id=leaf),
        messages=messages,
        tool_calls=calls,
        turns=_turns(thread.turns, there),
        chunks=_chunks(thread.chunks, there | {call.id for call in calls}),
    )


def _messages(found: Sequence[Message]) -> tuple[Message, ...]:
    ordered = sorted(found, key=lambda message: message.position)
    there = {message.id for message in ordered}
    made: list[Message] = []
    last_active: NodeId | None = None
    for position, message in enumerate(ordered):
        parent = message.parent_id
        if parent is not None and parent not in there:
            parent = last_active if message.active or not made else made[-1].id
        made.append(replace(message, position=position, parent_id=parent))
        last_active = message.id if message.active else last_active
    if has_circle({message.id: message.parent_id for message in made}):
        made = [replace(message, parent_id=None) for message in made]
    if made and not any(message.active for message in made):
        made[-1] = replace(made[-1], active=True)
    return _with_active_parents(made)


def _with_active_parents(messages: Sequence[Message]) -> tuple[Message, ...]:
    """What stands above an active message is active."""
    parents = {message.id: message.parent_id for message in messages}
    active: set[NodeId] = set()
    for message in messages:
        above: NodeId | None = message.id if message.active else None
        while above is not None and above not in active:
            active.add(above)
            above = parents.get(above)
    return tuple(replace(message, active=message.id in active) for message in messages)


def _call(call: ToolCall, messages: Sequence[Message], there: set[NodeId]) -> ToolCall | None:
    result = call.result_message_id if call.result_message_id in there else None
    if call.message_id in there:
        return replace(call, result_message_id=result)
    owner = result or (messages[-1].id if messages else None)
    return replace(call, message_id=owner, result_message_id=result) if owner is not None else None


def _turns(turns: Iterable[Turn], there: set[NodeId]) -> tuple[Turn, ...]:
    kept = [turn for turn in sorted(turns, key=lambda turn: turn.position) if turn.query_id in there]
    return tuple(
        replace(turn, position=position, response_ids=tuple(one for one in turn.response_ids if one in there))
        for position, turn in enumerate(kept)
    )


def _chunks(chunks: Iterable[Chunk], there: set[NodeId]) -> tuple[Chunk, ...]:
    texts: dict[tuple[NodeId, int], list[Chunk]] = {}
    for chunk in chunks:
        if chunk.parent_id in there:
            texts.setdefault((chunk.parent_id, chunk.part), []).append(chunk)
    return tuple(chunk for pieces in texts.values() for chunk in (pieces if _follow(pieces) else ()))


def _follow(pieces: Sequence[Chunk]) -> bool:
    """Whether they begin at the beginning and follow each other without gap."""
    ordered = sorted(pieces, key=lambda chunk: chunk.index)
    return [chunk.index for chunk in ordered] == list(range(len(ordered))) and ordered[0].start == 0


#: The version of the format, in the first line under "recollect_dump", and all that can be read.
DUMP_VERSION = 2
DUMP_VERSIONS = (1, 2)


_KINDS = ("conversations", "messages", "documents", "nodes", "edges")


@dataclass(slots=True)
class Dumped:
    """What a dump holds so far, and of each kind the last id, after which it goes on; what could not be read."""

    count: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))
    last: dict[str, str] = field(default_factory=dict)
    last_edge: tuple[str, ...] = ()
    lost: Lost | None = None  # None: everything could be read

    @property
    def records(self) -> int:
        """Its lines between the first and the last."""
        return sum(self.count.values()) - self.count["messages"]


_PAGE = 500
_PAGE_OF_DOCUMENTS = 8  # each may have some megabytes


def dump_lines(space: Space, dumped: Dumped | None = None) -> Iterator[bytes]:
    """The lines of a dump, of one snapshot. Equal content gives equal bytes, whatever the engine. Where what is stored
    cannot be read, what is left of it is salvaged, and the dump goes on after the last record that was read.
    """
    dumped = dumped or Dumped()
    yield dumps({"recollect_dump": DUMP_VERSION})
    try:
        with space.view() as view:
            yield from _records(view, dumped)
    except StoreDamaged:
        with space.salvaged() as (view, dumped.lost):
            yield from _records(view, dumped)
    lost = {} if dumped.lost is None else {"lost": asdict(dumped.lost)}
    yield dumps({"type": "end", **dumped.count, **lost})


def _records(view: View, dumped: Dumped) -> Iterator[bytes]:
    count, last = dumped.count, dumped.last
    for conversation in every(view, Conversation, after=last.get("conversations")):
        thread = view.thread(conversation.id)
        if thread is not None:
            thread = thread if dumped.lost is None else mended(thread)
            line = dumps({"type": "conversation", **thread_to_wire(thread)})
            count["conversations"] += 1
            count["messages"] += len(thread.messages)
            last["conversations"] = conversation.id
            yield line
    for document in every(view, Document, after=last.get("documents")):
        chunks = [to_wire(chunk) for chunk in view.get(Chunk, [document.id])]
        count["documents"] += 1
        last["documents"] = document.id
        yield dumps({"type": "document", **to_wire(document), "chunks": chunks})
    for node in every(view, Node, after=last.get("nodes")):
        if node.origin is not Origin.DERIVED:
            count["nodes"] += 1
            last["nodes"] = node.id
            yield dumps({"node": to_wire(node), "type": "node"})
    for edge in _kept(view, [edge for edge in view.edges(None) if edge.key > dumped.last_edge]):
        count["edges"] += 1
        dumped.last_edge = edge.key
        yield dumps({"edge": to_wire(edge), "type": "edge"})


def every(view: View, kind: type[R], where: Where = Where(), after: str | None = None) -> Iterator[R]:  # noqa: B008
    """All records of a kind, page by page."""
    limit = _PAGE_OF_DOCUMENTS if kind is Document else _PAGE
    while True:
        page = view.find(kind, where, after=after, limit=limit)
        yield from page.items
        if page.next is None:
            return
        after = page.next


def _kept(view: View, edges: list[Edge]) -> Iterator[Edge]:
    """Edges but those of derived nodes, which are made again with them."""
    for start in range(0, len(edges), _PAGE):
        page = edges[start : start + _PAGE]
        ends = list(dict.fromkeys(end for edge in page for end in (edge.source_id, edge.target_id)))
        derived = {node.id for node in view.get(Node, ends) if node.origin is Origin.DERIVED}
        yield from (edge for edge in page if derived.isdisjoint((edge.source_id, edge.target_id)))


def dump(space: Space, target: BinaryIO, progress: Callable[[int], None] | None = None) -> Dumped:
    """Writes a dump; returns what is in it. `progress` gets the lines so far."""
    dumped = Dumped()
    for written, line in enumerate(dump_lines(space, dumped), 1):
        target.write(line)
        if progress is not None:
            progress(written)
    return dumped
