"""A small data folder with one archive and one right item of each kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Fields = dict[str, Any]

ARCHIVE: Fields = {
    "id": "roof", "title": "Roof", "time": "2024-03-09T18:20:00", "language": "en",
    "messages": [
        {"id": "roof-1", "role": "user", "time": "2024-03-09T18:20:00", "text": "The roofer wants 7,100. Ana hates it."},  # noqa: E501
        {"id": "roof-2", "role": "assistant", "time": "2024-03-09T18:21:00", "text": "That is a lot for a small roof."},
        {"id": "roof-3", "role": "user", "time": "2024-04-02T08:00:00", "text": "He came down to 6,400. Good."},
    ],
}  # fmt: skip
OLD: Fields = {"conversation": "roof", "message": "roof-1", "start": 0, "end": 23,
               "sentence": "The roofer wants 7,100.", "answer": "7,100"}  # fmt: skip
QUESTION: Fields = {
    "id": "W1-q-0001", "writer": "W1", "language": "en", "kind": "changed", "question": "what do I pay for the tiles",
    "archive": "road", "conversation": "roof", "message": "roof-3", "start": 0, "end": 22,
    "sentence": "He came down to 6,400.", "answer": "6,400", "old": OLD, "asks": "now",
}  # fmt: skip
STATEMENT: Fields = {
    "id": "W1-s-0001", "writer": "W1", "language": "en", "before": "", "text": "Ana hates it.", "kind": "preference",
    "whose": "Ana", "value": [4, 12, "hates it"], "since": None, "until": None, "reason": None, "rejected": None,
    "replaces": None, "trap": "", "archive": "road", "conversation": "roof", "message": "roof-1", "start": 24,
    "end": 37,
}  # fmt: skip
FOLLOWUP: Fields = {
    "id": "W1-f-0001", "writer": "W1", "language": "en", "turns": [{"role": "user", "text": "what did the roof cost"}],
    "question": "and who did it?", "needed": [[0, 13, 17, "roof"]],
}  # fmt: skip
NAME: Fields = {"id": "W1-n-0001", "writer": "W1", "language": "en", "text": "Ilse is in Porto",
                "spans": [[0, 4, "person", "Ilse"], [11, 16, "place", "Porto"]]}  # fmt: skip
RIGHT: dict[str, Fields] = {"questions": QUESTION, "statements": STATEMENT, "followups": FOLLOWUP, "names": NAME}


def write(data: Path, part: str, kind: str, name: str, *lines: Fields) -> Path:
    """Write a file of a data folder."""
    path = data / part / kind / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder without errors."""
    write(tmp_path, "train", "archives", "road", ARCHIVE)
    for kind, fields in RIGHT.items():
        write(tmp_path, "train", kind, "W1", fields)
    return tmp_path
