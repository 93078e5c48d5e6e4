"""Threads, passages and changes for the tests of stores, made by the real assembler and indexer.

Changes are written to a `Space` directly: what a store promises does not hang on who writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from recollect.importers.base import DraftCall, DraftConversation, DraftMessage
from recollect.importers.records.assemble import assemble, chunks_of
from recollect.index.passages import document_passages, node_passages, threads_passages
from recollect.models.embedding.static import StaticEmbedder
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Document, Kind, Message, Namespace, Node, NodeId, Role, Thread, namespace
from recollect.store import Change, IndexChange, Space, Store, View
from recollect.store.passages import (
    CandidateQuery,
    EmbedderId,
    Features,
    Partition,
    Passage,
    PassageText,
    QualityVectors,
)
from recollect.text.terms import terms

DEFAULT = namespace("default")
ELSEWHERE = namespace("acme/luna")
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **more: float) -> None:
        self.now += timedelta(**more)


@cache
def embedder() -> StaticEmbedder:
    """One for all tests: loading takes a tenth of a second."""
    return StaticEmbedder()


@cache
def embedder_id() -> EmbedderId:
    return EmbedderId(embedder().name, embedder().dimensions)


# --- threads -------------------------------------------------------------------------------------------------------


def said(text: str, role: str = "user", *, minute: int = 0, **more: object) -> DraftMessage:
    """A draft of a message so many minutes after START."""
    return DraftMessage(Role(role), text, timestamp=START + timedelta(minutes=minute), **more)  # type: ignore[arg-type]


def talk(name: str, *texts: str, title: str | None = None, source: str = "test", minute: int = 0) -> Thread:
    """A linear conversation of alternating user and assistant messages."""
    messages = [
        said(text, "assistant" if i % 2 else "user", minute=minute + i, source_id=f"{name}-{i}")
        for i, text in enumerate(texts)
    ]
    return thread(name, messages, title=title if title is not None else name, source=source, linear=True)


def thread(
    name: str,
    messages: list[DraftMessage],
    *,
    title: str = "",
    source: str = "test",
    linear: bool = False,
    leaf: str | None = None,
    updated: datetime | None = None,
) -> Thread:
    """A conversation from drafts."""
    draft = DraftConversation(
        messages, source, place=name, source_id=name, title=title, linear=linear, leaf=leaf, updated=updated
    )
    return assemble(draft, DEFAULT, count_tokens=count_tokens)


def branched(name: str = "branched") -> Thread:
    """A question with two answers, the second followed; a tool call with its result, and hidden context."""
    return thread(
        name,
        [
            said("be brief", "system", source_id="s", kind=Kind.CONTEXT),
            said("Which bread holds most water?", source_id="q", parent="s", minute=1),
            said("Ciabatta.", "assistant", source_id="a1", parent="q", minute=2),
            said(
                "",
                "assistant",
                source_id="call",
                parent="q",
                minute=3,
                kind=Kind.TOOL,
                calls=(DraftCall("search", '{"q": "bread hydration"}', result_of="out"),),
            ),
            said("hydration table: focaccia 85", "tool", source_id="out", parent="call", minute=4, kind=Kind.TOOL),
            said("Focaccia, at 85 percent.", "assistant", source_id="a2", parent="out", minute=5),
            said("Thanks, and rye?", source_id="q2", parent="a2", minute=6),
        ],
        title="Bread and water",
        leaf="q2",
    )


# --- changes -------------------------------------------------------------------------------------------------------


def records(whole: Thread) -> list[Any]:
    return [whole.conversation, *whole.messages, *whole.tool_calls, *whole.turns, *whole.chunks]


def by_owner(passages: Iterable[Passage], owners: Iterable[NodeId] = ()) -> dict[NodeId, list[Passage]]:
    """Passages by their owners; of `owners` also those that have none."""
    found: dict[NodeId, list[Passage]] = {owner: [] for owner in owners}
    for passage in passages:
        found.setdefault(passage.owner_id, []).append(passage)
    return found


def passages_of(whole: Thread, fresh: Sequence[NodeId] | None = None, titled: bool = True) -> list[Passage]:
    """The passages of a conversation, or of some of its messages."""
    wanted = [m.id for m in whole.messages] if fresh is None else fresh
    return threads_passages([(whole, set(wanted), titled)], embedder=embedder(), count_tokens=count_tokens)[0]


def index_of(passages: Iterable[Passage], owners: Iterable[NodeId] = (), **more: Any) -> IndexChange:
    return IndexChange(embedder=embedder_id(), passages=by_owner(passages, owners), **more)


def change_of(*threads: Thread, expect: Mapping[NodeId, int] | None = None, **more: Any) -> Change:
    """Puts conversations whole, with all their passages."""
    owners = [m.id for t in threads for m in t.messages] + [c.id for t in threads for c in t.tool_calls]
    return Change(
        expect=expect or {},
        put=[record for t in threads for record in records(t)],
        index=index_of([p for t in threads for p in passages_of(t)], owners),
        **more,
    )


def document_change(document: Document, **more: Any) -> Change:
    """Puts a document with its chunks and passages."""
    chunks = chunks_of(document.id, document.content, count_tokens=count_tokens)
    passages = document_passages(document, embedder=embedder(), count_tokens=count_tokens)
    return Change(put=[document, *chunks], index=index_of(passages, [document.id]), **more)


def node_change(*nodes: Node, **more: Any) -> Change:
    """Puts derived nodes with their passages."""
    passages = [p for node in nodes for p in node_passages(node, embedder(), count_tokens)]
    return Change(put=nodes, index=index_of(passages, [node.id for node in nodes]), **more)


def edited(whole: Thread, index: int, content: str) -> tuple[Thread, Message]:
    """A conversation with another wording of one message."""
    message = replace(whole.messages[index], content=content)
    return replace(whole, messages=(*whole.messages[:index], message, *whole.messages[index + 1 :])), message


def write(store: Store, *threads: Thread, into: Namespace = DEFAULT, **more: Any) -> None:
    """Writes conversations with their passages."""
    store.space(into).write(change_of(*threads, **more))


# --- asking --------------------------------------------------------------------------------------------------------


def query(text: str, partition: Partition = Partition.SAID, **more: Any) -> CandidateQuery:
    groups = tuple(((term, 1.0),) for term in dict.fromkeys(terms(text)))
    return CandidateQuery(partition=partition, terms=groups, vector=embedder().embed([text])[0], **more)


def texts(view: View, features: Features) -> list[str]:
    return [text.text for text in view.passages([int(n) for n in features.passages])]


def holding(space: Space, text: str, partition: Partition = Partition.SAID) -> list[str]:
    """The passages that hold every term of a text."""
    with space.view() as view:
        features = view.candidates(query(text, partition))
        whole = np.flatnonzero((features.holds[:, 0, :] > 0).all(axis=1))
        return [found.text for found in view.passages([int(features.passages[i]) for i in whole])]


def quality_of(found: Sequence[PassageText], pieces: Sequence[Sequence[int]] | None = None) -> list[QualityVectors]:
    """Made-up quality vectors, a direction each."""
    unit = np.eye(384, dtype=np.float32)
    return [
        QualityVectors(
            text.number,
            unit[i],
            np.array(pieces[i] if pieces else [7, 7, 9 + i], np.uint16),
            np.full((3 if pieces is None else len(pieces[i]), 128), i, np.int8),
        )
        for i, text in enumerate(found)
    ]
