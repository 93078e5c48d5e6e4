"""The commands, a file each. They are listed here in the order of the help, and loaded when they are called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from recollect.faces.cli.parser import PROGRAM, Command, Option, WrongUsage

#: What each is for, in a line. It stands here so that the list of commands needs none of them.
SUMMARIES = {
    "import": "Import your history from ChatGPT, Claude, Claude Code, Codex …",
    "search": "Find messages by meaning, words and time.",
    "ask": "Answer a question from your conversations, with the messages that prove it.",
    "research": "Write a report on a question from your conversations, with headings and sources.",
    "show": "Print a conversation, or a document.",
    "list": "List the conversations, newest first.",
    "summaries": "Show what conversations, days and topics come down to.",
    "facts": "List what is known, who said it and where, and correct it.",
    "entities": "List who and what is mentioned, and correct it.",
    "graph": "Show what an entity is related to, or how two are connected.",
    "relate": "Add a relation between two people, places or things.",
    "topics": "List what many conversations are about, or where one changes its subject.",
    "timeline": "Show how much was said when, or what was talked about in a time.",
    "context": "Print what a model would be given to answer, and what it costs.",
    "brief": "Print what matters for work in a folder, for a coding agent.",
    "stats": "Count what is in the memory, by kind and by source.",
    "chat": "Talk with a model that remembers, or get the passages without one.",
    "serve": "Serve the web pages, REST, MCP and the proxy from this machine.",
    "mcp": "Serve the memory to Claude, Cursor, VS Code … over MCP, or set them up.",
    "watch": "Follow the sessions of Claude Code and Codex, and import what is new within seconds.",
    "hooks": "Have Claude Code save its sessions here, and begin them with what matters.",
    "pause": "Record nothing until you resume, or for a time: 30m, 2h, 3 days.",
    "resume": "Record again. What was said during the pause stays out.",
    "remember": "Save a text as a message, or as a rule for every answer.",
    "delete": "Hide messages or whole conversations.",
    "restore": "Bring back what was deleted, or a whole memory from a backup.",
    "forget": "Remove messages or whole conversations for good.",
    "secrets": "List the keys, tokens and passwords that your conversations hold, by source.",
    "drop": "Remove a whole namespace for good, with its name.",
    "backup": "Copy the whole memory to a file, and verify the copy.",
    "export": "Write everything in the namespace to a file, as JSON Lines.",
    "worker": "Make summaries, facts and quality vectors of what is new.",
    "tasks": "List what the worker has still to do, and what failed.",
    "embed": "Build the quality mode: slower to build, better results.",
    "reindex": "Rebuild the search index from the messages.",
    "check": "Look for damage, and repair it with --repair.",
    "demo": "Try it out on a sample archive.",
    "config": "Print each setting and where it comes from, or set one.",
    "completion": "Print the script that completes commands in your shell.",
    "help": "Show the help of a command.",
}

#: Modules whose names would be keywords or hide a built-in.
_MODULES = {"import": "import_", "list": "list_", "help": "help_"}


def load(name: str) -> Command:
    """The command of that name, which is in SUMMARIES."""
    command: Command = import_module(f"recollect.faces.cli.commands.{_MODULES.get(name, name)}").COMMAND
    return command


def meant(word: str) -> str:
    """The command that is meant. Raises WrongUsage."""
    if word in SUMMARIES:
        return word
    from difflib import get_close_matches

    from recollect.faces.cli.terminal.typed import typed

    near = get_close_matches(word, SUMMARIES, 1)
    advice = f" Did you mean {near[0]}?" if near else ""
    hint = f"To look for the word: {PROGRAM} search {typed(word)}"
    raise WrongUsage(f'No command "{word}".{advice}', hint=hint)


def _status(session: Any) -> None:
    """Remember your conversations with language models, and find the exact message again.

    Without a command it shows what is in the memory. Nothing leaves this machine.
    """
    from recollect.faces.cli.commands.status import show_status

    show_status(session)


VERSION_OPTION = Option(("--version",), "Print the version.", default=False)

#: The program without a command.
ROOT = Command(
    _status,
    ("recollect import ~/Downloads/chatgpt-export.zip", 'recollect search "sourdough hydration"', "recollect show 1"),
    (VERSION_OPTION,),
)
