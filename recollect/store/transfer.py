"""A namespace as JSON Lines and back, whole and without loss: `recollect export`, and moving between engines.

The first line names the format, then come conversations (each with everything in it), documents and edges, one a line,
sorted by id, and a last line that counts them: a dump that ends early is known to. Memory stays bounded by the largest
conversation. What is derived for search is not in it; it is made again where the dump is read (docs/reference/dump.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from recollect.record import Namespace
from recollect.record.wire import dumps, thread_to_wire, to_wire
from recollect.store.base import Store

#: The version of the format, in the first line under "recollect_dump".
DUMP_VERSION = 1


def dump_lines(store: Store, namespace: Namespace) -> Iterator[bytes]:
    """The lines of a dump. Equal content gives equal bytes, whatever the engine and the order of writing."""
    yield dumps({"recollect_dump": DUMP_VERSION})
    count = {"conversations": 0, "messages": 0, "documents": 0, "edges": 0}
    for conversation_id in store.conversation_ids(namespace):
        thread = store.thread(namespace, conversation_id)
        if thread is not None:
            count["conversations"] += 1
            count["messages"] += len(thread.messages)
            yield dumps({"type": "conversation", **thread_to_wire(thread)})
    for document in store.documents(namespace):
        count["documents"] += 1
        chunks = [to_wire(chunk) for chunk in store.document_chunks(namespace, document.id)]
        yield dumps({"type": "document", **to_wire(document), "chunks": chunks})
    for edge in store.edges(namespace):
        count["edges"] += 1
        yield dumps({"edge": to_wire(edge), "type": "edge"})
    yield dumps({"type": "end", **count})


def dump(store: Store, namespace: Namespace, target: BinaryIO, progress: Callable[[int], None] | None = None) -> int:
    """Writes a dump; returns its number of conversations, documents and edges. `progress` gets the lines so far."""
    written = 0
    for line in dump_lines(store, namespace):
        target.write(line)
        written += 1
        if progress is not None:
            progress(written)
    return written - 2
