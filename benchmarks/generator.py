"""Conversations out of nothing, in any number, always the same ones: what speed is measured on.

python -m benchmarks.generator MESSAGES OUT.jsonl | OUT.zip      (OpenAI JSON Lines, or a ChatGPT export)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from benchmarks.wording import NAMES, TOPICS, Writer, topic

_START = datetime(2022, 12, 1, 8, tzinfo=UTC)
_LONGEST = 160  # turns
_LONGEST_MESSAGE = 120  # sentences
_AGENTS, _PEOPLE, _FOREIGN = 0.12, 0.04, 0.05  # shares of conversations
_CODE = 0.18  # share of answers with a block of code


@dataclass(frozen=True, slots=True)
class Made:
    """A message: who says what. `tool` is the name of a tool that is called, or whose output this is."""

    role: str
    content: str
    time: datetime
    name: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation."""

    id: str
    title: str
    topic: int
    messages: tuple[Made, ...]


def talks(messages: int, seed: int = 1) -> Iterator[Talk]:
    """Conversations with exactly so many messages in all, one at a time.

    Lengths follow a Pareto law. One in eight is an agent's session with tool output, some are people among
    themselves, some not in English; answers are longer than questions, and some hold code.
    """
    left, number = messages, 0
    while left > 0:
        talk = _talk(Random(f"{seed} {number}"), number)
        yield talk if len(talk.messages) <= left else Talk(talk.id, talk.title, talk.topic, talk.messages[:left])
        left -= len(talk.messages)
        number += 1


def write_openai(path: Path, messages: int, seed: int = 1) -> None:
    """Writes them as OpenAI-format JSON Lines."""
    with path.open("w", encoding="utf-8") as stream:
        for talk in talks(messages, seed):
            stream.write(json.dumps(_as_openai(talk), ensure_ascii=False) + "\n")


def write_chatgpt(path: Path, messages: int, seed: int = 1) -> None:
    """Writes them as a ChatGPT export: a zip with one conversations.json."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open("conversations.json", "w", force_zip64=True) as out:
        before = b"["
        for talk in talks(messages, seed):
            out.write(before + json.dumps(_as_chatgpt(talk)).encode())
            before = b",\n"
        out.write(b"]")


def _talk(chance: Random, number: int) -> Talk:
    writer = Writer(topic(chance.randrange(TOPICS)), chance)
    kind, time = chance.random(), _START + timedelta(minutes=chance.randrange(4 * 365 * 24 * 60))
    turns = min(_LONGEST, int(2 * chance.paretovariate(1.1)))
    if kind < _AGENTS:
        made = _agent_session(writer, chance, turns)
    elif kind < _AGENTS + _PEOPLE:
        made = _people(writer, chance, turns)
    else:
        made = _chat(writer, chance, turns, foreign=kind > 1 - _FOREIGN)
    timed = tuple(Made(role, text, time + timedelta(seconds=47 * i), name, tool)
                  for i, (role, text, name, tool) in enumerate(made))  # fmt: skip
    title = " ".join(writer.word() for _ in range(chance.randint(2, 5))).capitalize()
    return Talk(f"talk-{number}", title, writer.about.number, timed)


_Line = tuple[str, str, str | None, str | None]  # role, content, name, tool


def _chat(writer: Writer, chance: Random, turns: int, *, foreign: bool) -> Iterator[_Line]:
    for _ in range(turns):
        if foreign:
            yield "user", writer.foreign(), None, None
            yield "assistant", " ".join(writer.foreign() for _ in range(_length(chance, 4))), None, None
        else:
            yield "user", _question(writer, chance), None, None
            yield "assistant", _answer(writer, chance), None, None


def _agent_session(writer: Writer, chance: Random, turns: int) -> Iterator[_Line]:
    for _ in range(turns):
        yield "user", _question(writer, chance), None, None
        for _ in range(chance.randint(1, 4)):
            tool = chance.choice(("read_file", "run", "search"))
            yield "assistant", json.dumps({"path": f"src/{writer.identifier()}"}), None, tool
            yield "tool", _tool_output(writer, chance), None, tool
        yield "assistant", _answer(writer, chance), None, None


def _people(writer: Writer, chance: Random, turns: int) -> Iterator[_Line]:
    first, second = chance.sample(NAMES, 2)
    for _ in range(turns):
        yield "user", _question(writer, chance), first, None
        yield "user", " ".join(writer.sentence() for _ in range(chance.randint(1, 3))), second, None


def _question(writer: Writer, chance: Random) -> str:
    told = [writer.sentence() for _ in range(_length(chance, 1.2) - 1)]
    return " ".join([*told, writer.question()])


def _answer(writer: Writer, chance: Random) -> str:
    sentences = [writer.sentence() for _ in range(_length(chance, 12))]
    paragraphs = [" ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4)]
    if chance.random() < _CODE:
        paragraphs.insert(len(paragraphs) // 2, _code(writer, chance))
    return "\n\n".join(paragraphs)


def _length(chance: Random, typical: float) -> int:
    """A number of sentences: mostly few, now and then very many."""
    return min(_LONGEST_MESSAGE, 1 + int(typical * chance.lognormvariate(-0.2, 0.8)))


def _code(writer: Writer, chance: Random) -> str:
    head = f"def {writer.identifier().split('.')[0]}({writer.word()}, {writer.word()}=None):"
    body = (
        f"    {writer.word()} = {writer.identifier()}({writer.word()}[{chance.randrange(20)}])"
        for _ in range(chance.randint(3, 14))
    )
    return "\n".join(["```python", head, *body, "```"])


def _tool_output(writer: Writer, chance: Random) -> str:
    lines = (
        f"2025-0{chance.randint(1, 9)}-1{chance.randrange(10)} INFO {writer.identifier()}: {writer.word()} "
        f"{writer.common()} took {chance.randrange(4000)} ms"
        for _ in range(_length(chance, 12))
    )
    return "\n".join(lines)


def _as_openai(talk: Talk) -> dict[str, Any]:
    messages = [_openai_message(talk, number, made) for number, made in enumerate(talk.messages)]
    return {"id": talk.id, "title": talk.title, "created": talk.messages[0].time.isoformat(), "messages": messages}


def _openai_message(talk: Talk, number: int, made: Made) -> dict[str, Any]:
    message: dict[str, Any] = {"id": f"{talk.id}-{number}", "role": made.role, "timestamp": made.time.isoformat()}
    if made.tool and made.role == "assistant":
        call = {"id": f"call-{number}", "type": "function", "function": {"name": made.tool, "arguments": made.content}}
        return message | {"content": None, "tool_calls": [call]}
    if made.tool:
        message["tool_call_id"] = f"call-{number - 1}"
    return message | {"content": made.content} | ({"name": made.name} if made.name else {})


def _as_chatgpt(talk: Talk) -> dict[str, Any]:
    ids = ["root", *(f"{talk.id}-{number}" for number in range(len(talk.messages)))]
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ids[1:2]}}
    for (parent, own), following, made in zip(pairwise(ids), [*ids[2:], None], talk.messages, strict=True):
        mapping[own] = {
            "id": own,
            "message": _chatgpt_message(own, made),
            "parent": parent,
            "children": [following] if following else [],
        }
    times = {"create_time": talk.messages[0].time.timestamp(), "update_time": talk.messages[-1].time.timestamp()}
    return {"id": talk.id, "conversation_id": talk.id, "title": talk.title, **times, "mapping": mapping,
            "current_node": ids[-1]}  # fmt: skip


def _chatgpt_message(own: str, made: Made) -> dict[str, Any]:
    content: dict[str, Any] = {"content_type": "text", "parts": [made.content]}
    if made.tool:
        content = {"content_type": "code" if made.role == "assistant" else "execution_output", "text": made.content}
    return {
        "id": own,
        "author": {"role": made.role, "name": made.tool if made.role == "tool" else None, "metadata": {}},
        "create_time": made.time.timestamp(),
        "content": content,
        "status": "finished_successfully",
        "weight": 1.0,
        "metadata": {},
        "recipient": made.tool if made.tool and made.role == "assistant" else "all",
    }


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(arguments[1])
    (write_chatgpt if path.suffix == ".zip" else write_openai)(path, int(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
