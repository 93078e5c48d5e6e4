"""Whether what was handed out still holds: somebody may keep it, and send it again."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.record import Document, Message, Node, NodeId, ToolCall, stable_id
from recollect.store import View


def fingerprint(view: View, ids: Sequence[NodeId]) -> str:
    """Of messages, tool calls and documents every wording counts; of what is derived only that its words are there
    still: it is made anew all the time, and loses them where what it was made of is forgotten.
    """
    told: dict[NodeId, str] = {}
    for message in view.get(Message, ids):
        told[message.id] = "gone" if message.deleted or message.erased else f"said {len(message.versions)}"
    for document in view.get(Document, ids):
        told[document.id] = "gone" if document.hidden or document.erased else f"file {len(document.versions)}"
    for call in view.get(ToolCall, ids):
        told[call.id] = "called"
    for node in view.get(Node, ids):
        told[node.id] = "derived" if node.text and not node.erased else "gone"
    return stable_id(*(part for one in sorted(set(ids)) for part in (one, told.get(one, "gone"))))
