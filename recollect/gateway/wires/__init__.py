"""The wire formats, a file for each: chat completions, responses, messages."""

from __future__ import annotations

from recollect.gateway.talk import Wire
from recollect.gateway.wires.completions import Completions
from recollect.gateway.wires.messages import Messages
from recollect.gateway.wires.responses import Responses

COMPLETIONS, RESPONSES, MESSAGES = Completions(), Responses(), Messages()
WIRES: tuple[Wire, ...] = (COMPLETIONS, RESPONSES, MESSAGES)

__all__ = ["COMPLETIONS", "MESSAGES", "RESPONSES", "WIRES", "Wire"]
