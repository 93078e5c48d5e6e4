"""Which form the index takes: by how many results there are, or by the strategy that is asked for [4]."""

from __future__ import annotations

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
