"""How far search is prepared, in words: the index, and the vectors of the quality mode."""

from __future__ import annotations

from recollect.faces.cli.times import percent
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


def index_state(info: IndexInfo) -> str:
    """What a user should know of the search index; empty where it is in use and nothing else is being built."""
    if info.building is None:
        return ""
    if not info.generation:
        return "Search index: being built. Until then search finds words only."
    return "Search index: being rebuilt. Search uses the old one."
