"""The commands, a file for each domain. They are listed in the order of the help, and loaded when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recollect.faces.cli.parser import PROGRAM, Command, Option, WrongUsage

#: The module that holds each, and what it is for, so that the list of commands needs none of them.
_COMMANDS = {
    "import": ("importing", "Import your history from ChatGPT, Claude, Claude Code, Codex …"),
    "search": ("search", "Find messages by meaning, words and time."),
    "ask": ("answers", "Answer a question from your conversations, with the messages that prove it."),
    "research": ("answers", "Write a report on a question from your conversations, with headings and sources."),
    "show": ("reading", "Print a conversation, or a document."),
    "list": ("reading", "List the conversations, newest first."),
    "summaries": ("summaries", "Summarise conversations, days and topics."),
    "facts": ("knowledge", "List known facts with their sources, and correct them."),
    "entities": ("knowledge", "List the people and things you mention, and correct them."),
    "graph": ("knowledge", "Show what someone or something is linked to, or how two are linked."),
    "relate": ("knowledge", "Add a relation between two people, places or things."),
    "topics": ("summaries", "List recurring topics, or where one conversation changes subject."),
    "timeline": ("summaries", "Show activity by month, or what you discussed in a period."),
    "context": ("chat", "Print the context a model would get, with its token count."),
    "brief": ("chat", "Print a briefing on past work in a folder, for a coding agent."),
    "stats": ("reading", "Count what is in the memory, by kind and by source."),
    "chat": ("chat", "Chat with a model that remembers; without a model, get matching passages."),
    "serve": ("serving", "Serve the web pages, REST, MCP and the proxy from this machine."),
    "mcp": ("serving", "Serve the memory to Claude, Cursor, VS Code … over MCP, or set them up."),
    "watch": ("recording", "Follow the sessions of Claude Code and Codex, and import what is new within seconds."),
    "hooks": ("recording", "Let Claude Code save its sessions here and start each with a briefing."),
    "pause": ("recording", "Record nothing until you resume, or for a time: 30m, 2h, 3 days."),
    "resume": ("recording", "Record again. What was said during the pause stays out."),
    "remember": ("importing", "Save a text as a message, or as a rule for every answer."),
    "delete": ("removing", "Hide messages or whole conversations."),
    "restore": ("storage", "Bring back what was deleted, or a whole memory from a backup."),
    "forget": ("removing", "Remove messages or whole conversations for good."),
    "secrets": ("removing", "List the keys, tokens and passwords that your conversations hold, by source."),
    "drop": ("storage", "Remove a whole namespace for good, with its name."),
    "backup": ("storage", "Copy the whole memory to a file, and verify the copy."),
    "export": ("storage", "Write everything in the namespace to a file, as JSON Lines."),
    "worker": ("background", "Build summaries, facts and quality vectors for new messages."),
    "tasks": ("background", "List pending and failed background tasks."),
    "embed": ("background", "Build the quality index now: takes longer, finds more."),
    "reindex": ("storage", "Rebuild the search index from the messages."),
    "check": ("storage", "Look for damage, and repair it with --repair."),
    "demo": ("status", "Try it out on a sample archive."),
    "config": ("status", "Print each setting and where it comes from, or set one."),
    "completion": (".help", "Print the script that completes commands in your shell."),
    "help": (".help", "Show the help of a command."),
}

SUMMARIES = {name: summary for name, (_, summary) in _COMMANDS.items()}


def load(name: str) -> Command:
    """The command of that name, which is in SUMMARIES."""
    command: Command = getattr(import_module(f".{_COMMANDS[name][0]}", __name__), name.upper())
    return command


def command_named(word: str) -> str:
    """The command that is meant. Raises WrongUsage."""
    if word in SUMMARIES:
        return word
    from difflib import get_close_matches

    from recollect.faces.cli.invocation import shell_quoted

    near = get_close_matches(word, SUMMARIES, 1)
    advice = f" Did you mean {near[0]}?" if near else ""
    hint = f"To look for the word: {PROGRAM} search {shell_quoted(word)}"
    raise WrongUsage(f'No command "{word}".{advice}', hint=hint)


def _status(run: Any) -> None:
    """Remember your conversations with language models, and find the exact message again.

    Without a command it shows what is in the memory. Nothing leaves this machine.
    """
    from recollect.faces.cli.commands.status import show_status

    show_status(run)


VERSION_OPTION = Option(("--version",), "Print the version.", default=False)

#: The program without a command.
ROOT = Command(
    _status,
    ("recollect import ~/Downloads/chatgpt-export.zip", 'recollect search "sourdough hydration"', "recollect show 1"),
    (VERSION_OPTION,),
)
