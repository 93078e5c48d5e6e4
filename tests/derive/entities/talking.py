"""Talk about few names, so that messages meet each other; stores that hold it, consolidated or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.derive.entities.deriver import Entities
from recollect.derive.tasks.base import Deriver, Setting
from recollect.derive.tasks.conversation import ConversationWork
from recollect.derive.tasks.queue import CONVERSATION
from recollect.memory import Memory
from recollect.record import Node, NodeKind
from recollect.record.wire import to_wire
from recollect.store import Where
from recollect.store.transfer import every
from tests.exports import embedder

NOW = datetime(2025, 3, 1, tzinfo=UTC)
SETTING = Setting(now=NOW)
WORDS = (
    "We chose Next.js over React for Tidepool.",
    "Next.js improves SEO, and PostgreSQL is a database.",
    "I met Maria Lopez in Lisbon. Then Maria told me about NextJS.",
    "In Lisbon it rains, says Maria Lopez.",
    "Maybe Maria uses Postgres by now.",
    "It depends on Kubernetes, which runs on Linux.",
    "We use PostgreSQL and Redis in Tidepool.",
    "nothing of that kind here",
    "The Large Language Model (LLM) lives in Lisbon, near Ana Silva.",
)


def drain(memory: Memory, derivers: list[Deriver] | None = None) -> None:
    space = memory.handle.space
    leases = space.claim("w", [CONVERSATION], 100, timedelta(minutes=5))
    ConversationWork(space, derivers or [Entities()], embedder()).run(leases, SETTING)


def say(memory: Memory, words: str, conversation: str, number: int, role: str = "user") -> str:
    own = f"{conversation}{number:03}"
    at = NOW - timedelta(hours=(number * 37 + ord(conversation[0]) * 11) % 500)
    memory.store_message(words, role, conversation_id=conversation, id=own, timestamp=at)
    return own


def derived(memory: Memory) -> tuple[dict[str, Any], set[str]]:
    """All living entities and the edges between and to them, as they are stored."""
    with memory.handle.space.view() as view:
        where = Where(kinds=(NodeKind.ENTITY,), states=("live",))
        nodes = {node.id: to_wire(node) for node in every(view, Node, where)}
        edges = {str(to_wire(edge)) for edge in view.edges(None, ("MENTIONS", "RELATED_TO", "SAME_AS"))}
    return nodes, edges
