"""The façade: one namespace of one store, with everything that can be done with it. The faces sit on this alone.

Each part of it is a file, which calls into the folder that does the work.
"""

from __future__ import annotations

from recollect.memory.arguments import checked_arguments
from recollect.memory.chat import Chatting
from recollect.memory.handle import LIVE_SOURCE, Background
from recollect.memory.probing import Probe, Probing
from recollect.memory.reading import ConversationPage, ConversationRow, DeletedRow
from recollect.memory.researching import Researching
from recollect.memory.tools import Tools
from recollect.memory.upkeep import Upkeep
from recollect.memory.work import Work
from recollect.memory.writing import Writing

__all__ = ["LIVE_SOURCE", "Background", "ConversationPage", "ConversationRow", "DeletedRow", "Memory", "Probe"]


@checked_arguments
class Memory(Researching, Chatting, Writing, Tools, Probing, Work, Upkeep):
    """A handle on one namespace. Thread-safe; usable as a context manager. Open one with `recollect.open()`."""
