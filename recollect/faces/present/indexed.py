"""How far search is prepared, in words: the index, and the vectors of the quality mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.faces.present.times import percent

if TYPE_CHECKING:
    from recollect.store import Counts, IndexInfo


def quality_state(counts: Counts) -> str:
    """As in "quality mode: 12% built"."""
    if is_complete(counts):
        return "quality mode: built"
    if not counts.quality:
        return "quality mode: not built yet"
    return f"quality mode: {percent(counts.quality, counts.said_passages)} built"


def is_complete(counts: Counts) -> bool:
    """Whether all that was said has its quality vectors."""
    return 0 < counts.said_passages <= counts.quality


def is_missing(info: IndexInfo, messages: int) -> bool:
    """Whether there is no search index yet for so many messages, as after an upgrade from 0.1.0."""
    return bool(messages) and not info.generation


def index_state(info: IndexInfo, messages: int) -> str:
    """What is to be said of the search index, for so many messages; empty where it is simply in use."""
    if info.building is not None:
        return "being rebuilt" if info.generation else "being built"
    if info.embedder is not None and info.embedder.is_outdated:
        return "made by an earlier version"
    return "not built yet" if is_missing(info, messages) else ""
