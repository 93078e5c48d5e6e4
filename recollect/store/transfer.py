"""A namespace as JSON Lines and back, whole and without loss: `recollect export`, and moving between engines.

The first line names the format, then come conversations (each with everything in it), documents, nodes that were said
or imported, and edges, one a line, sorted by id. The last line counts them, so that a dump that ends early is noticed.
Memory stays bounded by the largest conversation. What is derived is not in it; it is made again where the dump is read
(docs/reference/dump.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from recollect.errors import StoreDamaged
from recollect.record import Chunk, Conversation, Document, Edge, Node, Origin
from recollect.record.wire import dumps, thread_to_wire, to_wire
from recollect.store.base import Space, View
from recollect.store.mending import mended
from recollect.store.results import Lost, R, Where

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
