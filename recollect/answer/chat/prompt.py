"""The prompt in the four parts of [2]: the system, the graph of the conversation, what was retrieved, and the question.

What stays the same from turn to turn stands first, so that a provider's cache of prompts holds; what is new with every
question stands in the last message, which carries the mark of recall and is therefore never stored (text/marks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

from recollect.answer.evidence import SourcePassage
from recollect.models.language.talk import Said
from recollect.models.language.transcript import Entry, heading, material
from recollect.text.clean import marked

_NOTHING = "(nothing)"


#: What to do where what was given does not hold the answer: for a model that has tools, and for one that has none.
_LOOK = {
    True: "When the memory may hold the answer and what you were given does not, call a tool to look for it, at most a "
    "few times. When it still is not there, say that the memory does not hold it.",
    False: "When what you were given does not hold the answer, say that you did not find it in the memory.",
}


@cache
def system(with_tools: bool = True) -> str:
    """What the model is told first."""
    written = resources.files("recollect.models.language.prompts").joinpath("chat.md").read_text("utf-8").strip()
    return written.replace("{look}", _LOOK[with_tools])


def asked(
    question: str,
    sources: Sequence[SourcePassage],
    salient: Sequence[str],
    relations: Sequence[str],
    answered: Sequence[str],
    *,
    more: Sequence[str] = (),
    most_tokens: int,
) -> str:
    """The last message: graph, knowledge and question. `answered` is what the last answer was about, `more` what is
    known beside the messages that may answer.
    """
    parts = ["CONVERSATIONAL CONTEXT GRAPH:", *_graph(salient, relations, answered), "", "RETRIEVED KNOWLEDGE:"]
    entries = [Entry(source.message.id, _heading(source), source.message.content, _place(source)) for source in sources]
    knowledge = material(entries, most_tokens=most_tokens).text if entries else _NOTHING
    beside = [f"| {line}" for part in more for line in part.splitlines()]
    return f"{marked(chr(10).join([*parts, knowledge, *beside]))}\n\nUSER QUERY:\n{question}"


def talk(before: Sequence[Said], last: str) -> list[Said]:
    """The messages in the order that providers take: the person first, then by turns."""
    said: list[Said] = []
    for turn in [*before, Said(role="user", text=last)]:
        if not turn.text.strip() or (not said and turn.role != "user"):
            continue
        if said and said[-1].role == turn.role:
            turn = Said(role=turn.role, text=f"{said.pop().text}\n\n{turn.text}")
        said.append(turn)
    return said


def _graph(salient: Sequence[str], relations: Sequence[str], answered: Sequence[str]) -> list[str]:
    told = []
    if salient:
        told.append(f"| The conversation is about: {', '.join(map(_line, salient))}.")
    if answered:
        told.append(f"| The last answer was about: {', '.join(map(_line, answered))}.")
    return [*told, *(f"| {_line(relation)}" for relation in relations)] or [_NOTHING]


def _heading(source: SourcePassage) -> str:
    if source.cited:
        return "document"
    return f"{heading(source.message)}, {'this conversation' if source.is_own else 'elsewhere'}"


def _place(source: SourcePassage) -> str:
    """Where it was said: words of others, which stand with what was said and not in our heading."""
    return source.cited or ("" if source.is_own else source.title)


def _line(text: str) -> str:
    return " ".join(text.split())[:120]
