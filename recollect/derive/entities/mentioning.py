"""The messages that mention entities."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.derive.entities.directory import Directory
from recollect.derive.entities.tally import BY_SUMMARY, MENTIONS
from recollect.record import Message, NodeId
from recollect.store import View

_MOST = 20_000  # mentions of an entity that are looked at
_BATCH = 200


def mentioning(view: View, names: Sequence[str], limit: int) -> list[Message]:
    """The messages that mention all of these, the newest first. Raises NotFound."""
    directory = Directory(view)
    times: list[dict[NodeId, int]] = []
    for entity in [directory.named(name) for name in names]:
        edges = view.edges(list(entity.ids), (MENTIONS,), "in", _MOST)
        times.append({edge.source_id: edge.properties.get("at") or 0 for edge in edges if edge.name != BY_SUMMARY})
    first, *others = times
    ids = sorted((i for i in first if all(i in other for other in others)), key=lambda i: (-first[i], i))
    found: list[Message] = []
    for start in range(0, len(ids), _BATCH):
        found += [m for m in view.get(Message, ids[start : start + _BATCH]) if not m.deleted and not m.erased]
        if len(found) >= limit:
            break
    return found[:limit]
