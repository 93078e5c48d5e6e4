from types import SimpleNamespace
from recollect.memory import Memory
from recollect.record import NodeId
from recollect.chat.recent import recent
def prepare_context(self, text, conversation_id=None, budget=None, **_):
    msgs=[{"role":"system","content":"(summaries)"}]
    if conversation_id:
        with self._space.view() as view:
            msgs += [{"role":m.role.value,"content":m.content} for m in recent(view, NodeId(conversation_id)).messages]
    msgs.append({"role":"user","content":text})
    return SimpleNamespace(messages=msgs)
if not hasattr(Memory,"prepare_context"):
    Memory.prepare_context=prepare_context
