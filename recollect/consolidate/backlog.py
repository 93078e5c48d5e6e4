"""What was stored before there was anything to derive from it, or would be derived otherwise today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.consolidate import outbox
from recollect.consolidate.base import Deriver
from recollect.record import Conversation, Node, NodeKind, stable_id
from recollect.store import Change, Space, Where

#: Names the derivers, by version, that every conversation has a task for or has been through.
_VERSIONS = stable_id("consolidation", "versions")
_STATE = "versions"
_PAGE = 500


def put_backlog(space: Space, derivers: Sequence[Deriver]) -> None:
    """Puts a task for every conversation, once for each set of derivers. Killed in the middle, it begins again."""
    versions = {deriver.name: deriver.version for deriver in derivers}
    if not versions or _known(space) == versions:
        return
    after = None
    while True:
        with space.view() as view:
            page = view.find(Conversation, Where(), after=after, limit=_PAGE)
        ids = [conversation.id for conversation in page.items if not conversation.erased]
        if ids:
            space.write(Change(tasks=outbox.due(ids)))
        if page.next is None:
            break
        after = page.next
    node = Node(_VERSIONS, NodeKind.REPORT, state=_STATE, body={"versions": versions})
    space.write(Change(put=[node], revive=True))


def _known(space: Space) -> Mapping[str, int]:
    with space.view() as view:
        found = view.get(Node, [_VERSIONS])
    known: Mapping[str, int] = found[0].body.get("versions", {}) if found else {}
    return known
