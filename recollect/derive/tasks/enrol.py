"""Tasks for conversations that have none: those from before consolidation, and all, to derive them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from recollect.derive.tasks.base import STALE
from recollect.derive.tasks.cursor import cursor_id
from recollect.derive.tasks.outbox import due
from recollect.record import Conversation, Node, NodeKind, stable_id
from recollect.store import Change, Mark, Space, Task, Where

_PAGE = 500
_ENROLLED = stable_id("consolidation", "enrolled")


def enrol(
    space: Space,
    versions: Mapping[str, int] = MappingProxyType({}),
    *,
    again: bool = False,
    more: Callable[[], Sequence[Task]] = list,
) -> int:
    """Puts a task for every conversation that was never consolidated by derivers of these versions, once for each set
    of them; with `again` for every one, to be derived anew from its messages. Returns how many. Interrupted, it is
    simply done again. `more` are further tasks that go with them.
    """
    with space.view() as view:
        enrolled = view.get(Node, [_ENROLLED])
    if not again and enrolled and enrolled[0].body.get("versions", {}) == versions:
        return 0
    number, after = 0, None
    while True:
        with space.view() as view:
            page = view.find(Conversation, Where(), after=after, limit=_PAGE)
            cursors = view.get(Node, [cursor_id(conversation.id) for conversation in page.items])
        known = {node.conversation_id for node in cursors if node.body.get("versions", {}) == versions}
        wanted = [conversation.id for conversation in page.items if again or conversation.id not in known]
        stale = [node.id for node in cursors if again and node.state != STALE and not node.erased]
        done = page.next is None
        space.write(
            Change(
                put=[Node(_ENROLLED, NodeKind.REPORT, state="enrolled", body={"versions": dict(versions)})]
                if done
                else [],
                revive=True,
                mark=[Mark(ids=stale, state=STALE)] if stale else [],
                tasks=[*due(wanted), *(more() if done else ())],
                begins=False,
            )
        )
        number += len(wanted)
        if done:
            return number
        after = page.next
