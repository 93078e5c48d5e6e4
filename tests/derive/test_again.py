"""Everything derived is derived anew on request, and comes out the same; what a person corrected stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import recollect
from recollect.memory import Memory
from recollect.record import Node, NodeId
from recollect.store import Change, Where
from recollect.store.transfer import every

SAID = (
    "I am allergic to penicillin.",
    "My daughter is called Mira, and we live in Leeds.",
    "We use Postgres at Brightwater; Dana Reyes runs it.",
    "Dana Reyes moved Brightwater to Kubernetes in May.",
    "I work as a nurse.",
    "We have a dog called Rufus.",
)


def derived(memory: Memory) -> dict[NodeId, tuple[str, str, str]]:
    with memory.handle.space.view() as view:
        found = every(view, Node, Where(states=("live",), deleted=False))
        return {node.id: (node.kind.value, node.text, node.state) for node in found}


def test_all_is_derived_anew_from_the_messages(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        for text in SAID:
            memory.store_message(text, conversation_id="talk")
        assert memory.upkeep.consolidate().messages == len(SAID)
        fact = next(fact for fact in memory.facts() if "penicillin" in fact.content)
        memory.knowledge.edit_fact(fact.id, "The user is allergic to amoxicillin.")
        memory.upkeep.consolidate()
        before = derived(memory)
        broken = next(i for i, (kind, text, _) in before.items() if kind == "summary" and "penicillin" in text)
        with memory.handle.space.view() as view:
            (node,) = view.get(Node, [broken])
        memory.handle.space.write(Change(put=[_blank(node)]))
        assert derived(memory) != before
        assert not memory.upkeep.consolidate().tasks
        done = memory.upkeep.consolidate(again=True)
        assert done.messages == len(SAID)
        assert derived(memory) == before
        assert "The user is allergic to amoxicillin." in {fact.content for fact in memory.facts()}


def _blank(node: Node) -> Node:
    return replace(node, text="something else")
