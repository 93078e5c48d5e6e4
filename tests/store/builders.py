"""Threads and passages for the tests of stores, made by the real assembler and indexer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from recollect.embedding.static import StaticEmbedder
from recollect.embedding.tokenizer import count_tokens
from recollect.importers.assemble import assemble
from recollect.importers.base import DraftCall, DraftConversation, DraftMessage
from recollect.ingest import Ingest
from recollect.record import Kind, Namespace, Role, Thread, namespace
from recollect.store import Store

DEFAULT = namespace("default")
START = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)


@cache
def embedder() -> StaticEmbedder:
    """One for all tests: loading takes a tenth of a second."""
    return StaticEmbedder()


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
        source, messages, place=name, source_id=name, title=title, linear=linear, leaf=leaf, updated=updated
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


def write(store: Store, *threads: Thread, into: Namespace = DEFAULT) -> None:
    """Writes conversations with their passages."""
    Ingest(store, into, embedder(), count_tokens).threads(threads)
