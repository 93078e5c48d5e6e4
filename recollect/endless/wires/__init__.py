"""The wire forms, one file each."""

from __future__ import annotations

from recollect.endless.wires.base import Wire
from recollect.endless.wires.completions import Completions
from recollect.endless.wires.messages import Messages
from recollect.endless.wires.responses import Responses

COMPLETIONS, RESPONSES, MESSAGES = Completions(), Responses(), Messages()
WIRES: tuple[Wire, ...] = (COMPLETIONS, RESPONSES, MESSAGES)

__all__ = ["COMPLETIONS", "MESSAGES", "RESPONSES", "WIRES", "Wire"]
