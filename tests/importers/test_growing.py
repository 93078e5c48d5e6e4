"""Files that are being written: whole lines, and no byte more than there was when they were looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.importers.base import Problems
from recollect.importers.reading.growing import growing


def read(file: Path) -> bytes:
    problems = Problems()
    (entry,) = growing(file.parent, [file], problems)
    assert problems.found == []
    with entry.open() as stream:
        data = stream.read()
    assert entry.size == len(data)
    return data


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        (b"", b""),
        (b'{"a":1}\n', b'{"a":1}\n'),
        (b'{"a":1}\n{"b":', b'{"a":1}\n'),
        (b'{"a":1}\n{"b":2}', b'{"a":1}\n{"b":2}'),
        (b'{"a":', b""),
        (b'{"a":1}\n\0\0\0', b'{"a":1}\n'),
        (b'{"a":1}\n' + b'{"b":"' + b"x" * 200_000, b'{"a":1}\n'),
        (b'{"a":1}\n{"b":"\xe2\x82', b'{"a":1}\n'),
    ],
)
def test_up_to_the_last_whole_line(written: bytes, whole: bytes, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(written)
    assert read(file) == whole


def test_other_files_are_read_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "output.txt"
    file.write_bytes(b"no line")
    assert read(file) == b"no line"


def test_what_is_appended_later_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(b'{"a":1}\n')
    (entry,) = growing(tmp_path, [file], Problems())
    with file.open("ab") as stream:
        stream.write(b'{"b":2}\n')
    with entry.open() as stream:
        assert list(stream) == [b'{"a":1}\n']
    assert entry.peek(4) == b'{"a"'


def test_what_has_gone_is_left_out(tmp_path: Path) -> None:
    problems = Problems()
    assert list(growing(tmp_path, [tmp_path / "gone.jsonl"], problems)) == []
    assert problems.found == []


def test_places_are_told_from_the_folder_on(tmp_path: Path) -> None:
    file = tmp_path / "project" / "session.jsonl"
    file.parent.mkdir()
    file.write_bytes(b"{}\n")
    (entry,) = growing(tmp_path, [file], Problems())
    assert (entry.place, entry.path) == ("project/session.jsonl", "project/session.jsonl")
    assert entry.container == str(tmp_path)
