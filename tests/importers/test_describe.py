"""The shape of an unknown export: keys, types and counts, and nothing that anybody wrote."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from recollect.errors import NotFound
from recollect.importers.describe import describe

SECRETS = ("Trip to Porto", "we leave at nine", "0b5e2a6c-1111-4222-8333-944445555666", "Ana", "porto_2024")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    chats = [
        {
            "chatId": SECRETS[2],
            "Trip to Porto": {"title": SECRETS[0]},
            "byTopic": {name: {"text": SECRETS[1], "n": 1} for name in ("porto", "lisbon", "faro")},
            "turns": [{"who": "Ana", "text": SECRETS[1], "at": 1_700_000_000}, {"who": None, "text": ""}],
            "ids": {SECRETS[2]: True, "porto_2024": True},
        }
        for _ in range(3)
    ]
    path = tmp_path / "Ana private.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("chats/porto_2024.json", json.dumps(chats))
        archive.writestr("conversations-017.json", json.dumps({"a": 1}))
        archive.writestr("Trip to Porto.txt", "we leave at nine")
    return path


def test_it_shows_keys_types_and_counts(export: Path) -> None:
    text = "\n".join(describe(export))
    assert ".zip, 3 files" in text
    assert "chats/*.json" in text
    assert "conversations-#.json" in text
    assert "turns: list 3 (2)" in text
    assert "at: number like a time 3" in text
    assert "who: text 3 (3), null 3" in text
    assert "chatId: text like an id 3 (36)" in text


def test_it_shows_no_text_no_id_no_title_and_no_name_of_a_file(export: Path) -> None:
    text = "\n".join(describe(export))
    for secret in (*SECRETS, "porto", "lisbon", "private"):
        assert secret not in text


def test_what_is_no_json_is_only_counted(tmp_path: Path) -> None:
    (tmp_path / "letter.md").write_text("dear diary")
    lines = list(describe(tmp_path / "letter.md"))
    assert lines == [".md, 1 file", "*.md  1 x 10 bytes", "  no JSON"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(describe(tmp_path / "nothing.zip"))
