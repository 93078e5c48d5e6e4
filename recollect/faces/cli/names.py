"""What sources, speakers and messages are called on the screen."""

from __future__ import annotations

from recollect.record import Kind, Message, Role

#: Characters at the end of an id by which people call a message or conversation.
SHORT_ID = 6

#: Sources that are one assistant: it speaks under its name. A file of messages or a dump is no speaker.
_ASSISTANTS = ("chatgpt", "claude", "claude-code", "codex")
#: Written down here, so that the status page need not load all readers to know their names.
_LABELS = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "openai": "OpenAI",
    "sharegpt": "ShareGPT",
    "recollect": "Recollect",
}


def source_label(source: str) -> str:
    """The name of a source for people: "Claude Code" for claude-code."""
    return _LABELS.get(source, source)


def source_of_label(label: str) -> str:
    """The inverse: the source that carries a label."""
    return next((source for source, own in _LABELS.items() if own == label), label.lower())


def speaker(message: Message, source: str) -> str:
    """Who speaks, in a word: the person's name, "you", the assistant's name, or what it is that nobody said."""
    if message.kind not in (Kind.SAID, Kind.SUBAGENT):
        return message.kind.value
    if message.speaker:
        return message.speaker
    if message.role is Role.ASSISTANT:
        return source_label(source) if source in _ASSISTANTS else "assistant"
    return "you" if message.role is Role.USER else message.role.value


def short(node_id: str) -> str:
    """The short form of an id, which `show` takes too."""
    return node_id[-SHORT_ID:]


def titled(title: str) -> str:
    """A conversation's title, or words in its place."""
    return title or "(no title)"
