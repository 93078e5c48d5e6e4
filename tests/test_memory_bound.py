"""An import takes the memory of its largest conversation and of one block of the index, not of its export."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.exports import chat
from tests.processes import finished, started

_SYLLABLES = ("ba", "ri", "ton", "vel", "sku", "mar", "li", "po", "des", "gra", "un", "che", "ti", "ro", "lam")
_MB = 1_000_000


def written(path: Path, megabytes: int) -> Path:
    """A zip with a ChatGPT export of so many megabytes of JSON, written without ever holding it."""
    size = 0
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as target,
    ):
        for number, conversation in enumerate(conversations(random.Random(megabytes))):
            size += target.write((b"," if number else b"[") + json.dumps(conversation).encode())
            if size >= megabytes * _MB:
                break
        target.write(b"]")
    return path


def conversations(chance: random.Random) -> Iterator[object]:
    """Chats of 4 to 60 messages in words that nobody knows, the few common ones common, some long answers."""
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(30_000)]
    for number in count():
        texts = [
            ". ".join(
                " ".join(words[int(30_000 * chance.random() ** 4)] for _ in range(chance.randint(4, 20)))
                for _ in range(chance.choice((1, 2, 5, 40)))
            )
            for _ in range(chance.randint(4, 60))
        ]
        yield chat(*texts, name=f"c{number}", title=" ".join(chance.choices(words, k=4)))


def most_memory(folder: Path, megabytes: int) -> float:
    """What an import takes at most, in MB."""
    export = written(folder / f"{megabytes}.zip", megabytes)
    told = json.loads(finished(started("import", folder / f"{megabytes}.db", export), timeout=3600)[-1])
    rate = told["messages"] / told["seconds"]
    print(f"{megabytes} MB: {told['messages']:,} messages, {rate:,.0f}/s, {told['mb']:.0f} MB")
    return float(told["mb"])


@pytest.mark.long
def test_three_times_the_export_takes_no_more_memory(tmp_path: Path) -> None:
    """Both fill blocks of the index, the first of which is built on the way in the memory of one block."""
    small, large = most_memory(tmp_path, 200), most_memory(tmp_path, 600)
    assert large < 500
    assert large < small + 60
