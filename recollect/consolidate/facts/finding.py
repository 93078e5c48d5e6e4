"""Facts are found by search: each has a passage in the index, as long as it is there."""

from __future__ import annotations

from dataclasses import replace

from recollect.consolidate.base import Effects
from recollect.embedding import Embedder
from recollect.record import NodeKind
from recollect.search.indexing import node_passages


def findable(effects: Effects, embedder: Embedder | None) -> Effects:
    """The effects with passages of the facts among them. Without an embedder they are left as they are."""
    if embedder is None:
        return effects
    from recollect.embedding.tokenizer import count_tokens

    facts = [node for node in effects.put if node.kind is NodeKind.FACT]
    passages = {node.id: node_passages(node, embedder, count_tokens) for node in facts}
    return replace(effects, passages={**effects.passages, **passages})
