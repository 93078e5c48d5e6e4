"""Making anew what search derives from the record: a generation is built beside the one in use, and published.

Search answers from the old one meanwhile. Interrupted, the next run goes on where this one was; until it is published
nothing that is seen has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from recollect.errors import StoreError
from recollect.index.passages import FOUND_NODES
from recollect.ingest import Ingest
from recollect.record import Conversation, Document, Message, Node, NodeId, Thread, ToolCall
from recollect.store import Change, IndexChange, Space, Stale, View, Where
from recollect.store.passages import FINDABLE_STATES, Passage

_BATCH = 1000  # messages a transaction
_PAGE = 100  # conversations that are looked up at once

Passages = dict[NodeId, list[Passage]]
Progress = Callable[[int, int], None]


def reindex(
    space: Space, ingest: Ingest, progress: Progress | None = None, stop: Callable[[], bool] = lambda: False
) -> int:
    """Builds and publishes a generation with the embedder of `ingest`; returns how many messages it went through.

    `progress` gets the messages done and all. Where `stop` says so it ends as if it were interrupted, as soon as
    anything is done that the next run need not do again. Raises StoreError. Run by two at once, the faster one
    publishes. A namespace that is not there, or is dropped meanwhile, is not begun.
    """
    generation = space.generation("begin", ingest.embedder_id)
    done = _ReindexDone()
    if not generation:
        return 0
    try:
        _build(space, ingest, generation, done, progress, stop)
    except StoreError:
        with space.view() as view:
            index = view.index()
        if index.generation < generation or index.embedder != ingest.embedder_id:
            raise
    return done.messages


@dataclass(slots=True)
class _ReindexDone:
    messages: int = 0


def _build(
    space: Space,
    ingest: Ingest,
    generation: int,
    done: _ReindexDone,
    progress: Progress | None,
    stop: Callable[[], bool],
) -> None:
    with space.view() as view:
        total = view.counts().messages
        kind, _, last = (view.index().built or "conversations:").partition(":")
    if kind == "conversations":
        for passages, messages, at in _conversations(space, ingest, last or None):
            _write(space, ingest, generation, passages, f"conversations:{at}" if at else None)
            done.messages += messages
            if progress is not None:
                progress(done.messages, total)
            if at and stop():
                return
        last = ""
        kind = "documents"
    if kind == "documents":
        for passages, at in _documents(space, ingest, last or None):
            _write(space, ingest, generation, passages, f"documents:{at}")
            if stop():
                return
        last = ""
    for passages, at in _nodes(space, ingest, last or None):
        _write(space, ingest, generation, passages, f"nodes:{at}")
        if stop():
            return
    while True:
        _catch_up(space, ingest, generation)
        try:
            space.generation("publish", ingest.embedder_id, generation)
        except Stale:
            continue
        return


def _write(
    space: Space,
    ingest: Ingest,
    generation: int,
    passages: Passages,
    built: str | None,
    refreshed: Sequence[NodeId] = (),
    expect: Mapping[NodeId, int] = MappingProxyType({}),
) -> None:
    space.write(
        Change(
            expect=expect,
            index=IndexChange(
                embedder=ingest.embedder_id,
                passages=passages,
                generation=generation,
                built=NodeId(built) if built else None,
                refreshed=refreshed,
            ),
            begins=False,
        )
    )


def _conversations(space: Space, ingest: Ingest, after: str | None) -> Iterator[tuple[Passages, int, NodeId | None]]:
    """Passages of a transaction each, with the number of messages, and the last conversation that is whole."""
    passages: Passages = {}
    messages, last = 0, None
    while True:
        with space.view() as view:
            page = view.find(Conversation, Where(), after=after, limit=_PAGE)
        for conversation in page.items:
            with space.view() as view:
                thread = view.thread(conversation.id)
            if thread is None:
                continue
            for some, titled in _parts(thread):
                passages |= ingest.thread_passages(thread, some, titled=titled)
                messages += len(some)
                if messages >= _BATCH:
                    yield passages, messages, last
                    passages, messages = {}, 0
            last = conversation.id
        if page.next is None:
            break
        after = page.next
    yield passages, messages, last


def _parts(thread: Thread) -> Iterator[tuple[list[NodeId], bool]]:
    """A long conversation in parts; the title belongs to the first."""
    ids = [message.id for message in thread.messages]
    for at in range(0, max(1, len(ids)), _BATCH):
        yield ids[at : at + _BATCH], at == 0


def _documents(space: Space, ingest: Ingest, after: str | None) -> Iterator[tuple[Passages, NodeId]]:
    while True:
        with space.view() as view:
            page = view.find(Document, Where(), after=after, limit=1)  # they may be large
        for document in page.items:
            yield {document.id: ingest.document_passages(document)}, document.id
        if page.next is None:
            return
        after = page.next


def _nodes(space: Space, ingest: Ingest, after: str | None) -> Iterator[tuple[Passages, NodeId]]:
    """The passages of derived nodes."""
    where = Where(kinds=tuple(kind.value for kind in FOUND_NODES), states=FINDABLE_STATES)
    while True:
        with space.view() as view:
            page = view.find(Node, where, after=after, limit=_BATCH)
        if page.items:
            yield {node.id: ingest.node_passages(node) for node in page.items}, page.items[-1].id
        if page.next is None:
            return
        after = page.next


def _catch_up(space: Space, ingest: Ingest, generation: int) -> None:
    """Makes the passages of what was written meanwhile. What is written once more while they are made stays to do;
    where that happens, fewer are made at once.
    """
    most = _BATCH
    while True:
        with space.view() as view:
            todo = view.index().todo[:most]
            passages, revisions = _of_owners(view, ingest, todo)
        if not todo:
            return
        try:
            _write(space, ingest, generation, passages, None, refreshed=todo, expect=revisions)
            most = min(_BATCH, 2 * most)
        except Stale:
            most = max(1, most // 4)


def _of_owners(view: View, ingest: Ingest, owners: Sequence[NodeId]) -> tuple[Passages, dict[NodeId, int]]:
    """The passages of messages, tool calls, conversations (titles), documents and derived nodes as they are now, and
    the revisions of what they belong to.
    """
    passages: Passages = {owner: [] for owner in owners}
    calls = view.get(ToolCall, owners)
    messages = {message.id: message for message in view.get(Message, [*owners, *(call.message_id for call in calls)])}
    passages |= ingest.owners_passages(view, list(messages.values()))
    for conversation in view.get(Conversation, owners):
        passages |= ingest.title_passages(conversation)
    for document in view.get(Document, owners):
        passages[document.id] = ingest.document_passages(document)
    for node in view.get(Node, owners):
        passages[node.id] = ingest.node_passages(node)
    revisions = view.revisions([*owners, *(message.conversation_id for message in messages.values())])
    return passages, {i: revision.number for i, revision in revisions.items()}
