"""Who is said to speak."""

from __future__ import annotations

import pytest

from recollect.faces.present.names import speaker
from recollect.record import Kind, Message, NodeId, Role


@pytest.mark.parametrize(
    ("kind", "role", "source", "who"),
    [
        (Kind.SAID, Role.USER, "claude-code", "you"),
        (Kind.SAID, Role.ASSISTANT, "claude-code", "Claude Code"),
        (Kind.SUBAGENT, Role.USER, "claude-code", "Claude Code"),
        (Kind.SUBAGENT, Role.ASSISTANT, "claude-code", "subagent"),
        (Kind.SUBAGENT, Role.USER, "openai", "assistant"),
        (Kind.TOOL, Role.ASSISTANT, "codex", "Codex"),
        (Kind.TOOL, Role.TOOL, "codex", "tool"),
        (Kind.REASONING, Role.ASSISTANT, "codex", "reasoning"),
    ],
)
def test_among_agents_nobody_is_you(kind: Kind, role: Role, source: str, who: str) -> None:
    assert speaker(Message(NodeId("m"), NodeId("c"), role, "Look for the failing test.", kind=kind), source) == who
