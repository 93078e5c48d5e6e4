"""From effects to a change: what is derived takes its turn by the head, and can be found from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.derive.tasks.base import Effects
from recollect.derive.tasks.cursor import HEAD, head
from recollect.index.passages import FOUND_NODES, node_passages
from recollect.models.embedding import Embedder
from recollect.record import Node, NodeId
from recollect.store import Change, IndexChange, Lease, View
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
