"""An archive in which one word fills the pool of candidates many times over: what is rare beside it must be found."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from recollect.memory import Memory
from recollect.record import Message
from recollect.text.terms import terms

_WORDS = """
river stone paper cloud garden window letter summer winter music table bread coffee train ticket money doctor school
lesson market bridge hammer copper violin orchard lantern saddle pepper
"""
_PLAIN = tuple(_WORDS.split())
#: Words, and in every how many-th of the short conversations they stand.
_RARE = {"kiln": 23, "glaze": 17, "heron": 41, "ferry": 2}
_SHORT, _LONG, _SEVERAL = 320, 900, 120
_LOGS, _CHUNKS, _FILES = 25, 16, 90

#: "kiln" is in one long conversation, "glaze" in four, "ferry" in every second one, "heron" in few and in some titles.
WORDS = ("kiln", "glaze", "ferry", "heron")


def write_flooded(path: Path, seed: int = 1, share: float = 1.0) -> Path:
    """Writes it as a file of OpenAI messages, about 2,700 of them, or that share."""
    long, several, short = (int(share * number) for number in (_LONG, _SEVERAL, _SHORT))
    chance = Random(seed)
    talks = [(f"Firing log {seed}", [f"kiln log {n}: kiln hot, kiln door shut, kiln cooling" for n in range(long)])]
    glazes = [f"glaze {number} glaze thick, glaze thin" for number in range(several)]
    talks += [(f"Glaze notes {number}", glazes) for number in range(4)]
    for number in range(short):
        said = [" ".join(chance.sample(_PLAIN, 7)) for _ in range(4)]
        for word, every in _RARE.items():
            if number % every == 1:
                said[chance.randrange(4)] += f" {word}"
        talks.append(("The heron" if number % 60 == 5 else f"Talk {number}", said))
    chance.shuffle(talks)
    with path.open("w") as file:
        for number, (title, said) in enumerate(talks):
            roles = ("user", "assistant")
            messages = [
                {"role": roles[n % 2], "content": text, "timestamp": f"2024-{1 + number % 12:02}-10T10:{n % 60:02}:00Z"}
                for n, text in enumerate(said)
            ]
            file.write(json.dumps({"id": f"{seed}-{number}", "title": title, "messages": messages}) + "\n")
    return path


def write_files(folder: Path) -> Path:
    """A folder of files: those of which all chunks are full of "kiln", and many that say it once, or not at all."""
    chance = Random(1)
    folder.mkdir()
    for number in range(_LOGS):
        kilns = [f"kiln log {n}: " + "kiln hot, kiln door shut, kiln cooling. " * 250 for n in range(_CHUNKS)]
        (folder / f"log-{number}.md").write_text("\n\n".join(kilns), encoding="utf-8")
    for number in range(_FILES):
        said = " ".join(chance.sample(_PLAIN, 7)) + " kiln" * (number % 3 == 1) + " glaze" * (number % 7 == 2)
        (folder / f"note-{number}.md").write_text(said, encoding="utf-8")
    return folder


def messages_with(memory: Memory, query: str) -> list[Message]:
    """The messages that hold a word of a query, as a loop over the record tells them."""
    sought = set(terms(query))
    rows = memory.conversations(limit=10_000)
    every = [message for row in rows for message in memory.conversation(row.conversation.id).messages]
    return [message for message in every if sought & set(terms(message.content))]
