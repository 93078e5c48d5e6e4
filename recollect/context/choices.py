"""Which form the index takes: by how many results there are, or by the strategy that is asked for [4]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SnippetStrategy = Literal["first", "semantic_core", "summary"]
IndexStrategy = Literal["adaptive", "recent_plus_relevant", "clustered", "hierarchical"]
IndexForm = Literal["full", "snippet", "clustered", "hierarchical", "recent_only", "simple"]

#: The most results for which each form is taken; beyond the last it is hierarchical.
_FULL, _SNIPPET, _CLUSTERED = 50, 500, 5_000


def form_for(strategy: IndexStrategy, relevant: int) -> IndexForm:
    """The form of the index for so many relevant results.

    >>> [form_for("adaptive", count) for count in (0, 50, 51, 500, 501, 5000, 5001)]
    ['full', 'full', 'snippet', 'snippet', 'clustered', 'clustered', 'hierarchical']
    """
    if strategy == "clustered" or strategy == "hierarchical":
        return strategy
    if relevant <= _FULL:
        return "full"
    if relevant <= _SNIPPET or strategy == "recent_plus_relevant":
        return "snippet"
    return "clustered" if relevant <= _CLUSTERED else "hierarchical"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNames:
    """What the model calls the tools that open what a context only names: as in `memory.toolbox()`, unless it has
    others. Without a `cluster` what is alike is searched for.
    """

    message: str = "get_message_by_id"
    messages: str = "get_messages_by_ids"
    around: str = "get_conversation_thread"
    period: str = "get_period_messages"
    topic: str = "get_topic_messages"
    cluster: str = "get_cluster"
    search: str = "vector_search"
    searching: str = "query, limit"  # what that is called with

    @property
    def guide(self) -> str:
        """How they are used."""
        opens = (
            f"{self.messages} opens them, {self.around} shows what stands around one"
            if self.around != self.messages
            else f"{self.messages} opens one with what stands around it"
        )
        return f"[Codes] name messages: {opens}, {self.search} finds what is not shown here."

    def alike(self, id: str, label: str, quote: str = '"') -> str:
        """The call that opens a cluster."""
        name, given = (self.cluster, id) if self.cluster else (self.search, label)
        return f"{name}({quote}{given}{quote})"
