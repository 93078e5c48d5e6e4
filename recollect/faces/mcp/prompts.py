"""Prompts that a person picks in a client: what to do with the memory, or what it holds, put into the chat at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from recollect.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from recollect.memory import Memory

_BUDGET = 6_000  # tokens of what is put into the chat
_TOPICS = 20


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A prompt, and what makes its text of the memory and the arguments."""

    prompt: Prompt
    text: Callable[[Memory, Mapping[str, str]], str]


def listed() -> list[Prompt]:
    """The prompts."""
    return [one.prompt for one in _PROMPTS.values()]


def filled(memory: Memory, name: str, given: Mapping[str, str] | None) -> GetPromptResult:
    """A prompt with its arguments. Raises NotFound, InvalidInput."""
    one = _PROMPTS.get(name)
    if one is None:
        raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There is: {', '.join(_PROMPTS)}.")
    arguments = {key: value.strip() for key, value in (given or {}).items()}
    for argument in one.prompt.arguments or ():
        if argument.required and not arguments.get(argument.name):
            raise InvalidInput(f"{name} needs `{argument.name}`: {argument.description}")
    message = PromptMessage(role="user", content=TextContent(text=one.text(memory, arguments)))
    return GetPromptResult(description=one.prompt.description, messages=[message])


def completed(memory: Memory, argument: str, begun: str) -> list[str]:
    """Topics that begin so."""
    if argument != "topic":
        return []
    labels = (topic.label for topic in memory.topics(limit=500))
    return [label for label in labels if begun.casefold() in label.casefold()][:_TOPICS]


def _recall(memory: Memory, given: Mapping[str, str]) -> str:
    question = given["question"]
    context = memory.prepare_context(question, budget=_BUDGET, tools=False)  # a client may have few of them
    return (
        f"{context.text}\n\n"
        "The above is what my memory of earlier conversations holds on the following. Use what fits, name the date and "
        f"the conversation of what you rely on, and say so where it does not hold the answer.\n\n{question}"
    )


def _catch_up(memory: Memory, given: Mapping[str, str]) -> str:
    on = f" on {given['topic']}" if given.get("topic") else ""
    ways = "search and fetch" if on else "timeline (this_week, then last_week) and fetch"
    return (
        f"Tell me where I left off{on}. Use the memory's tools {ways}: find the latest conversations, read how they "
        "ended, and tell me in a few lines what was decided, what is open, and what the next step was, each with the "
        "date and the id of the message that says so. Do not fill gaps by guessing."
    )


def _decisions(memory: Memory, given: Mapping[str, str]) -> str:
    return (
        f"List the decisions that I made on {given['topic']}, in order of time. Use the memory's tools ask, search and "
        "fetch. For each: what was decided, when, why, and the id of the message that says so. Where a later decision "
        "replaces an earlier one, say so. Leave out what was only considered."
    )


def _save(memory: Memory, given: Mapping[str, str]) -> str:
    return (
        "Look back over this conversation and keep what will matter later, with the memory's tool remember: decisions "
        "with their reasons, preferences, agreements, where the work was left. One call for each, in full sentences "
        f"that are clear without this conversation, with dates. They go to the namespace {memory.namespace}. First "
        "search whether it is known already; do not store secrets, passwords or what I did not say or agree to. Then "
        "list what you kept."
    )


def _prompt(name: str, title: str, description: str, *arguments: PromptArgument) -> Prompt:
    return Prompt(name=name, title=title, description=description, arguments=list(arguments))


def _topic(*, required: bool) -> PromptArgument:
    return PromptArgument(name="topic", title="Topic", description="A project, person or subject.", required=required)


_PROMPTS = {
    one.prompt.name: one
    for one in (
        ServerPrompt(
            _prompt(
                "recall",
                "What do I know about this?",
                "Puts what the memory holds on a question into the chat.",
                PromptArgument(name="question", title="Question", description="What it is about.", required=True),
            ),
            _recall,
        ),
        ServerPrompt(
            _prompt(
                "catch_up",
                "Where did I leave off?",
                "What was decided last, what is open, and what was next.",
                _topic(required=False),
            ),
            _catch_up,
        ),
        ServerPrompt(
            _prompt("decisions", "What did I decide?", "Decisions by time, with reasons.", _topic(required=True)),
            _decisions,
        ),
        ServerPrompt(
            _prompt("save_this", "Keep what matters", "Has the model remember what this conversation settled."), _save
        ),
    )
}
