"""Whether what was handed out still holds: somebody may keep it, and send it again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from recollect.derive.facts.changes import FORGOTTEN, OFFERED
from recollect.derive.summaries.nodes import CONVERSATION, COVERS
from recollect.record import Conversation, Document, Message, Node, NodeId, NodeKind, ToolCall, stable_id
from recollect.store import View
from recollect.store.results import Kept

_MANY = 300  # messages that are looked at behind the summary of a conversation


def fingerprint(view: View, ids: Sequence[NodeId], kept: Kept) -> str:
    """Of messages, tool calls and documents every wording counts, and the titles that messages are shown with; of what
    is derived the wording of what it was made of: the same is made anew all the time.
    """
    told: dict[NodeId, str] = {}
    messages = view.get(Message, ids)
    for message in messages:
        told[message.id] = _said(message)
    titles = view.get(Conversation, list(dict.fromkeys(message.conversation_id for message in messages)))
    for document in view.get(Document, ids):
        told[document.id] = "gone" if document.hidden or document.erased else f"file {len(document.versions)}"
    for call in view.get(ToolCall, ids):
        told[call.id] = "called"
    for node in view.get(Node, ids):
        wording = partial(_derived, view, node)
        is_there = node.text and not node.erased and node.state not in (FORGOTTEN, OFFERED)
        told[node.id] = kept.of(view.stamp, ("wording", node.id), wording) if is_there else "gone"
    parts = [part for one in sorted(set(ids)) for part in (one, told.get(one, "gone"))]
    return stable_id(*parts, *(part for one in sorted(titles, key=lambda c: c.id) for part in (one.id, one.title)))


def _said(message: Message) -> str:
    return "gone" if message.deleted or message.erased else f"said {len(message.versions)}"


def _derived(view: View, node: Node) -> str:
    """How what it was made of is worded. The summary of a conversation grows with it: what is added does not count."""
    if node.kind is not NodeKind.SUMMARY:
        return node.text
    if node.key != CONVERSATION or node.conversation_id is None:
        return str(node.body.get("digest", node.text))
    living, every = view.sizes([node.conversation_id]).get(node.conversation_id, (0, 0))
    covered = view.get(Message, [edge.target_id for edge in view.edges([node.id], (COVERS,), "out", _MANY)])
    reworded = sorted(f"{message.id} {_said(message)}" for message in covered if message.versions)
    return stable_id(str(every - living), *reworded)
