"""Which format a file is, and what is said of one that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.errors import InvalidInput
from recollect.faces.present.names import source_label
from recollect.importers.base import Problems
from recollect.importers.reading.archive import walk
from recollect.importers.registry import READERS, detect, reader_named, shape_of

OPENAI = {"messages": [{"role": "user", "content": "Hello"}]}
CLAUDE = [{"uuid": "u", "name": "", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Hello"}]}]


def lay(folder: Path, **files: object) -> Path:
    for name, value in files.items():
        (folder / name.replace("_json", ".json").replace("_txt", ".txt")).write_text(json.dumps(value))
    return folder


def test_a_folder_of_several_formats_is_read_by_each_reader(tmp_path: Path) -> None:
    folder = lay(tmp_path, a_json=OPENAI, b_json=CLAUDE, notes_txt="no chat")
    found, unknown = detect(walk(folder, Problems()), Problems())
    assert {(group.reader.name, tuple(e.name for e in group.entries)) for group in found} == {
        ("openai", ("a.json",)),
        ("claude", ("b.json",)),
    }
    assert [entry.name for entry in unknown] == ["notes.txt"]


def test_a_forced_format_takes_every_file_that_could_be_one(tmp_path: Path) -> None:
    folder = lay(tmp_path, a_json=OPENAI, notes_txt="no chat")
    found, _ = detect(walk(folder, Problems()), Problems(), reader_named("chatgpt"))
    assert [len(group.entries) for group in found] == [2]


def test_an_unknown_format_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        reader_named("msn")
    assert all(reader.name in caught.value.hint for reader in READERS)


def test_what_lies_in_a_folder_is_told_in_few_words(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for i in range(3):
        (photos / f"{i}.png").write_bytes(b"png")
    lay(tmp_path, notes_txt="x")
    assert shape_of(list(walk(tmp_path, Problems()))) == "notes.txt, photos/ (3)"


def test_the_screen_knows_every_format_by_its_label() -> None:
    """Without what kind of file it is: a dump of Recollect is "Recollect", as what was written live."""
    assert all(reader.label.startswith(source_label(reader.name)) for reader in READERS)
