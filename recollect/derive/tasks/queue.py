"""What writing puts into the queue: tasks for new messages, for what was never derived, and for a later model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from recollect.derive.tasks.base import CURSOR, HEAD, STALE, Effects, cursor_id, head, topic_summary_id
from recollect.index.passages import FOUND_NODES, node_passages
from recollect.models.embedding import Embedder
from recollect.models.language.prompts import DERIVING, prompt
from recollect.record import Conversation, Node, NodeId, NodeKind, Origin, stable_id
from recollect.store import Change, IndexChange, Lease, Mark, Space, Task, View, Where
from recollect.store.passages import EmbedderId


def head_revision(view: View) -> int:
    """What a change must be planned on. To be asked before all else: on Neo4j what is read later may be newer."""
    heads = view.revisions([HEAD])
    return heads[HEAD].number if HEAD in heads else 0


class Publisher:
    """Makes changes of effects. Whatever node is put gets the passages that its words deserve: nobody has to remember
    them.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def change(
        self,
        effects: Effects,
        revision: int,
        *,
        expect: Mapping[NodeId, int] | None = None,
        leases: Sequence[Lease] = (),
        more: Sequence[Node] = (),
        begins: bool = False,
    ) -> Change:
        """The change that writes effects which were planned on this revision of the head. `begins`: they are what a
        program told, and may be the first of their namespace.
        """
        return Change(
            expect={**(expect or {}), **effects.expect, HEAD: revision},
            leases=leases,
            put=[*effects.put, *more, head()],
            revive=True,
            edges=effects.edges,
            cut=effects.cut,
            index=self._index_change(effects.put),
            tasks=effects.tasks,
            begins=begins,
        )

    def _index_change(self, nodes: Sequence[Node]) -> IndexChange | None:
        from recollect.models.embedding.tokenizer import count_tokens

        found = [node for node in nodes if node.kind in FOUND_NODES]
        passages = {node.id: node_passages(node, self._embedder, count_tokens) for node in found}
        if not passages:
            return None
        made = any(passages.values())
        embedder = EmbedderId(self._embedder.name, self._embedder.dimensions) if made else None
        return IndexChange(embedder=embedder, passages=passages)


# The outbox: what is written of messages leaves a task behind, in the same transaction.

#: The kind of the task that derives everything from what is new in a conversation.
CONVERSATION = "conversation"

_ALL = 1_000_000_000
#: By these edges a node says which messages, or which other nodes, it was made of.
_MADE_OF = ("COVERS", "DERIVES_FROM")
#: Mentions that no entity counts, those of turns (entities/tally.py).
BY_TURN = "turn"


def due(conversation_ids: Iterable[NodeId]) -> list[Task]:
    """The tasks for conversations that are written to."""
    return [
        Task(id=stable_id("task", CONVERSATION, conversation_id), kind=CONVERSATION, subject=conversation_id)
        for conversation_id in conversation_ids
    ]


def stale(view: View, conversation_ids: Collection[NodeId], message_ids: Collection[NodeId]) -> list[Mark]:
    """What a change of these messages makes stale at once: whatever was made of them, and what was made of that.

    Their conversations are then derived whole, since their cursors are stale as well.
    """
    ids = made_of(view, message_ids) + only_mentioned(view, message_ids) + [cursor_id(i) for i in conversation_ids]
    fresh = [node.id for node in view.get(Node, ids) if node.state != STALE and not node.erased]
    return [Mark(ids=fresh, state=STALE)] if fresh else []


def only_mentioned(view: View, message_ids: Collection[NodeId]) -> list[NodeId]:
    """The entities that no other message mentions. One of many mentions makes no entity untrue."""
    edges = view.edges(list(message_ids), ("MENTIONS",), "out", limit=_ALL) if message_ids else []
    counted = {(edge.source_id, edge.target_id) for edge in edges if edge.name != BY_TURN}
    lost = Counter(target for _, target in counted)
    return [node.id for node in view.get(Node, list(lost)) if node.body.get("count", 0) <= lost[node.id]]


def made_of(view: View, message_ids: Collection[NodeId]) -> list[NodeId]:
    """The derived nodes that were made of messages, and those that were made of these."""
    found: dict[NodeId, None] = {}
    frontier = list(message_ids)
    while frontier:
        edges = view.edges(frontier, _MADE_OF, "in", limit=_ALL)
        frontier = [i for i in dict.fromkeys(edge.source_id for edge in edges) if i not in found]
        found |= dict.fromkeys(frontier)
    made = view.get(Node, list(found))
    named = [topic_summary_id(node.id) for node in made if node.kind is NodeKind.TOPIC]  # by terms of all its segments
    made += view.get(Node, [i for i in named if i not in found])
    return [node.id for node in made if node.origin is Origin.DERIVED and not node.erased]


# Tasks for conversations that have none: those from before consolidation, and all, to derive them anew.

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


# A model that comes late: what was made without one before it was set is asked about once it is there.

_NOTE = stable_id("consolidation", "late")
_ASKED, _LATE = "asked", "late"
_MANY = 10_000


def catch_up(space: Space, versions: Mapping[str, int]) -> bool:
    """Has all conversations that were derived without a model derived anew, for facts and entities to be asked about;
    returns whether there were any. Summaries know by themselves (summaries/tasks.py).

    Nothing is asked twice: what a model was asked about is known by its words and the version of the prompt.
    Interrupted, it is simply done again.
    """
    prompts = sorted(prompt(name).id for name in DERIVING)
    with space.view() as view:
        if _noted(view, prompts):
            return False
        derived = bool(view.find(Node, Where(kinds=(NodeKind.REPORT,), states=(CURSOR,)), limit=1).items)
    if derived:
        enrol(space, versions, again=True)
    note = Node(_NOTE, NodeKind.REPORT, state=_ASKED, body={"prompts": prompts})
    space.write(Change(put=[note], revive=True, begins=False))
    return derived


def is_late(view: View) -> bool:
    """Whether a model would have to catch up with what was derived without one."""
    return not _noted(view, sorted(prompt(name).id for name in DERIVING))


def work_without(space: Space) -> None:
    """To be called before conversations are derived without a model: one that comes later has to catch up."""
    with space.view() as view:
        noted = view.get(Node, [_NOTE])
        if not noted or noted[0].state != _ASKED or not _is_any_due(view):
            return
    space.write(Change(put=[Node(_NOTE, NodeKind.REPORT, state=_LATE)], revive=True, begins=False))


def _noted(view: View, prompts: list[str]) -> bool:
    found = view.get(Node, [_NOTE])
    return bool(found) and found[0].state == _ASKED and found[0].body.get("prompts") == prompts


def _is_any_due(view: View) -> bool:
    return any(task.kind == CONVERSATION for task, _ in view.tasks("due", _MANY))
