"""Tasks for conversations that have none: those from before consolidation, and all, to derive them anew."""

from __future__ import annotations

from recollect.consolidate.base import STALE
from recollect.consolidate.cursor import cursor_id
from recollect.consolidate.outbox import due
from recollect.record import Conversation, Node, NodeKind, stable_id
from recollect.store import Change, Mark, Space, Where

_PAGE = 500
_ENROLLED = Node(stable_id("consolidation", "enrolled"), NodeKind.REPORT, state="enrolled")


def enrol(space: Space, *, again: bool = False) -> int:
    """Puts a task for every conversation that was never consolidated, once in the life of a namespace; with `again` for
    every one, to be derived anew from its messages. Returns how many. Interrupted, it is simply done again.
    """
    with space.view() as view:
        if not again and view.get(Node, [_ENROLLED.id]):
            return 0
    number, after = 0, None
    while True:
        with space.view() as view:
            page = view.find(Conversation, Where(), after=after, limit=_PAGE)
            cursors = view.get(Node, [cursor_id(conversation.id) for conversation in page.items])
        known = {node.conversation_id for node in cursors}
        wanted = [conversation.id for conversation in page.items if again or conversation.id not in known]
        stale = [node.id for node in cursors if again and node.state != STALE and not node.erased]
        done = page.next is None
        space.write(
            Change(
                put=[_ENROLLED] if done else [],
                mark=[Mark(ids=stale, state=STALE)] if stale else [],
                tasks=due(wanted),
            )
        )
        number += len(wanted)
        if done:
            return number
        after = page.next
