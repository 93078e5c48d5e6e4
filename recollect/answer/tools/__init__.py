"""The tools that a language model calls to search and open the memory [4], in three layers of growing size.

The index (`vector_search`) names what there is with what it costs, the run (`get_conversation_thread`) shows what was
said around it, and the full text comes by ids (`get_messages_by_ids`).
"""

from recollect.answer.tools.base import MemoryTool, ToolAnswer
from recollect.answer.tools.toolbox import TOOLS, Toolbox

__all__ = ["TOOLS", "MemoryTool", "ToolAnswer", "Toolbox"]
