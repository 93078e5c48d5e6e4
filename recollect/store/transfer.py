"""A namespace as JSON Lines and back, whole and without loss: `recollect export`, and moving between engines.

The first line names the format, then come conversations (each with everything in it), documents, nodes that were said
or imported, and edges, one a line, sorted by id. The last line counts them, so that a dump that ends early is noticed.
Memory stays bounded by the largest conversation. What is derived is not in it; it is made again where the dump is read
(docs/reference/dump.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from recollect.record import Chunk, Conversation, Document, Edge, Node, Origin
from recollect.record.wire import dumps, thread_to_wire, to_wire
from recollect.store.base import Space, View
from recollect.store.results import R, Where

#: The version of the format, in the first line under "recollect_dump", and all that can be read.
DUMP_VERSION = 2
DUMP_VERSIONS = (1, 2)

_PAGE = 500
_PAGE_OF_DOCUMENTS = 8  # each may have some megabytes


def dump_lines(space: Space) -> Iterator[bytes]:
    """The lines of a dump, of one snapshot. Equal content gives equal bytes, whatever the engine."""
    yield dumps({"recollect_dump": DUMP_VERSION})
    count = {"conversations": 0, "messages": 0, "documents": 0, "nodes": 0, "edges": 0}
    with space.view() as view:
        for conversation in every(view, Conversation):
            thread = view.thread(conversation.id)
            if thread is not None:
                count["conversations"] += 1
                count["messages"] += len(thread.messages)
                yield dumps({"type": "conversation", **thread_to_wire(thread)})
        for document in every(view, Document):
            count["documents"] += 1
            chunks = [to_wire(chunk) for chunk in view.get(Chunk, [document.id])]
            yield dumps({"type": "document", **to_wire(document), "chunks": chunks})
        for node in every(view, Node):
            if node.origin is not Origin.DERIVED:
                count["nodes"] += 1
                yield dumps({"node": to_wire(node), "type": "node"})
        for edge in _kept(view, view.edges(None)):
            count["edges"] += 1
            yield dumps({"edge": to_wire(edge), "type": "edge"})
    yield dumps({"type": "end", **count})


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


def dump(space: Space, target: BinaryIO, progress: Callable[[int], None] | None = None) -> int:
    """Writes a dump; returns its number of records. `progress` gets the lines so far."""
    written = 0
    for line in dump_lines(space):
        target.write(line)
        written += 1
        if progress is not None:
            progress(written)
    return written - 2
