"""What `walk` finds, and what it refuses to be harmed by."""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import ImportProblem, NotFound
from recollect.importers.base import Entry, Problems
from recollect.importers.reading.archive import growing, walk
from recollect.importers.reading.zip import ZipLimits
from tests.properties import examples

JSON = b'[{"title": "Trip to Porto"}]'
LONG = b"".join(b"%d lines of a long talk\n" % number for number in range(40_000))
TIGHT = ZipLimits(harmless=1 << 20)


def zipped(members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", packing) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return archive.getvalue()


def streamed(members: dict[str, bytes]) -> bytes:
    """A zip as servers write it on the fly: sizes stand behind each member, not before."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.written = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            self.written += bytes(data)  # type: ignore[call-overload]
            return len(bytes(data))  # type: ignore[call-overload]

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as target:  # type: ignore[call-overload]
        for name, data in members.items():
            target.writestr(name, data)
    return bytes(pipe.written)


def stored(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def content(entry: Entry) -> bytes:
    with entry.open() as stream:
        return stream.read()


def drain(stream: BinaryIO) -> None:
    while stream.read(1000):
        pass


def walked(path: Path, limits: ZipLimits | None = None) -> tuple[dict[str, Entry], Problems]:
    problems = Problems()
    return {entry.path: entry for entry in walk(path, problems, limits)}, problems


def test_a_file_is_its_own_container(tmp_path: Path) -> None:
    path = stored(tmp_path, "conversations.json", JSON)
    entries, problems = walked(path)
    entry = entries["conversations.json"]
    assert (entry.place, entry.container, entry.size) == ("conversations.json", str(path), len(JSON))
    assert content(entry) == JSON
    assert not problems.found


def test_members_of_a_zip_are_read_where_they_lie_as_often_as_asked(tmp_path: Path) -> None:
    path = stored(tmp_path, "export.zip", zipped({"a/conversations.json": JSON, "b.txt": LONG}))
    entries, problems = walked(path)
    assert [entry.place for entry in entries.values()] == ["export.zip: a/conversations.json", "export.zip: b.txt"]
    assert entries["a/conversations.json"].container == str(path)
    assert [content(entries["b.txt"]) for _ in range(2)] == [LONG, LONG]
    assert entries["b.txt"].peek(100) == LONG[:100]
    assert list(tmp_path.iterdir()) == [path]
    assert not problems.found


def test_a_folder_is_read_in_order_of_names_without_what_belongs_to_programs(tmp_path: Path) -> None:
    for name in ("b.json", "a/x.json", ".git/config", "node_modules/p/x.json", ".claude/projects/s.jsonl", ".DS_Store"):
        stored(tmp_path, name, JSON)
    assert list(walked(tmp_path)[0]) == [".claude/projects/s.jsonl", "a/x.json", "b.json"]


def test_a_folder_of_zips_is_one_container_line_1(tmp_path: Path) -> None:
    """What other readers got wrong, line 1: a folder of zips."""
    stored(tmp_path, "conversations-000.zip", zipped({"conversations.json": JSON}))
    stored(tmp_path, "projects-000.zip", zipped({"projects/p.json": JSON}))
    entries, problems = walked(tmp_path)
    assert list(entries) == ["conversations-000.zip/conversations.json", "projects-000.zip/projects/p.json"]
    assert {entry.container for entry in entries.values()} == {str(tmp_path)}
    assert entries["projects-000.zip/projects/p.json"].place == "projects-000.zip: projects/p.json"
    assert not problems.found


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zips_inside_of_zips_are_read_one_level_deep(tmp_path: Path, packing: int) -> None:
    innermost = zipped({"c.json": JSON})
    inner = zipped({"b.json": JSON, "long.txt": LONG, "deeper.zip": innermost})
    path = stored(tmp_path, "outer.zip", zipped({"inner.zip": inner, "a.json": JSON}, packing))
    entries, problems = walked(path)
    assert list(entries) == ["inner.zip/b.json", "inner.zip/long.txt", "inner.zip/deeper.zip", "a.json"]
    assert entries["inner.zip/b.json"].place == "outer.zip: inner.zip: b.json"
    assert content(entries["inner.zip/long.txt"]) == LONG
    assert content(entries["inner.zip/deeper.zip"]) == innermost
    assert not problems.found


def test_documents_that_are_zips_inside_are_left_alone(tmp_path: Path) -> None:
    stored(tmp_path, "letter.docx", zipped({"word/document.xml": b"<w/>"}))
    assert list(walked(tmp_path)[0]) == ["letter.docx"]


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 ...", bytes(range(256)), b"PK but no zip"])
def test_what_is_no_archive_is_an_entry_like_any_other(tmp_path: Path, data: bytes) -> None:
    entries, problems = walked(stored(tmp_path, "download.zip", data))
    assert content(entries["download.zip"]) == data
    assert not problems.found


def test_a_path_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        walk(tmp_path / "missing.zip", Problems())
    assert caught.value.hint


def test_an_empty_archive_is_told(tmp_path: Path) -> None:
    entries, problems = walked(stored(tmp_path, "export.zip", zipped({})))
    assert not entries
    assert problems.found[0].lost


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    stored(tmp_path, "a/b/x.json", JSON)
    (tmp_path / "a/b/up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a/nowhere").symlink_to(tmp_path / "missing")
    entries, problems = walked(tmp_path)
    assert list(entries) == ["a/b/x.json"]
    assert not problems.found


@pytest.mark.parametrize("name", ["../evil.json", "a/../../evil.json", "/etc/evil.json", "C:\\evil.json", "..\\evil"])
def test_names_that_lead_out_are_told_and_left_out(tmp_path: Path, name: str) -> None:
    entries, problems = walked(stored(tmp_path, "export.zip", zipped({name: JSON, "good.json": JSON})))
    assert list(entries) == ["good.json"]
    assert "leads out" in problems.found[0].reason


def test_encrypted_and_strangely_packed_members_are_told_and_others_read(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("secret.json", JSON)
        target.writestr("rare.json", JSON, zipfile.ZIP_BZIP2)
        target.writestr("good.json", JSON)
    data = bytearray(archive.getvalue())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag of encryption in the directory
    entries, problems = walked(stored(tmp_path, "export.zip", bytes(data)))
    assert list(entries) == ["good.json"]
    assert [problem.place for problem in problems.found] == ["export.zip: secret.json", "export.zip: rare.json"]
    assert "encrypted" in problems.found[0].reason


def test_a_damaged_member_gives_what_stands_before_the_damage_and_then_a_problem(tmp_path: Path) -> None:
    data = zipped({"bad.txt": LONG, "good.json": JSON}, zipfile.ZIP_STORED).replace(b"39999 lines", b"39999 wines")
    entries, _ = walked(stored(tmp_path, "export.zip", data))
    assert content(entries["good.json"]) == JSON
    with entries["bad.txt"].open() as stream:
        assert stream.read(20) == LONG[:20]
        with pytest.raises(ImportProblem, match="checksum"):
            drain(stream)


def test_a_member_that_cannot_be_read_at_all_is_told_at_once(tmp_path: Path) -> None:
    data = bytearray(zipped({"bad.txt": LONG, "good.json": JSON}))
    data[30 + len("bad.txt")] = 0xFF  # an impossible block type
    entries, problems = walked(stored(tmp_path, "export.zip", bytes(data)))
    assert list(entries) == ["good.json"]
    assert problems.found[0].place == "export.zip: bad.txt"


@pytest.mark.parametrize("make", [zipped, streamed])
def test_a_zip_that_is_cut_gives_its_leading_members(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    whole = make({"folder/": b"", "a.json": JSON, "b.txt": LONG, "c.txt": LONG})
    path = stored(tmp_path, "export.zip", whole[: whole.index(b"c.txt") + 5000])
    entries, problems = walked(path)
    assert list(entries) == ["a.json", "b.txt", "c.txt"]
    assert content(entries["a.json"]) == JSON
    assert content(entries["b.txt"]) == LONG
    assert [(problem.place, problem.lost) for problem in problems.found] == [("export.zip", False)]
    with entries["c.txt"].open() as stream:
        assert LONG.startswith(start := stream.read(1 << 20))
        assert start
        with pytest.raises(ImportProblem, match="ends in the middle"):
            stream.read(1)


def test_forty_two_gigabytes_of_zeros_end_quickly_whatever_the_header_claims(tmp_path: Path) -> None:
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    million = bytes(1 << 20)
    packed = b"".join(deflater.compress(million) for _ in range(100)) + deflater.flush()
    honest = zipped({"conversations.json": b"x"}, zipfile.ZIP_STORED)
    bomb = _member_replaced(honest, packed, claimed=42 << 30)
    started = time.monotonic()
    entries, problems = walked(stored(tmp_path, "bomb.zip", bomb))
    assert not entries
    assert "300 times" in problems.found[0].reason

    liar = _member_replaced(honest, packed, claimed=1000)
    entries, problems = walked(stored(tmp_path, "liar.zip", liar))
    with entries["conversations.json"].open() as stream, pytest.raises(ImportProblem, match="300 times"):
        drain(stream)
    assert time.monotonic() - started < 5


def test_limits_hold_for_a_member_for_all_of_them_and_for_their_number(tmp_path: Path) -> None:
    path = stored(tmp_path, "export.zip", zipped({"a.txt": LONG, "b.txt": LONG, "c.txt": LONG}))
    entries, _ = walked(path, ZipLimits(member=1000))
    with pytest.raises(ImportProblem, match="unpacks to more"):
        list(entries["a.txt"].open())
    entries, _ = walked(path, ZipLimits(total=len(LONG) + 1000))
    assert content(entries["a.txt"]) == LONG
    with entries["b.txt"].open() as stream, pytest.raises(ImportProblem, match="in all"):
        drain(stream)
    entries, problems = walked(path, ZipLimits(entries=2))
    assert list(entries) == ["a.txt", "b.txt"]
    assert problems.found[-1].lost


@settings(max_examples=examples(150))
@given(st.data())
def test_whatever_is_broken_in_a_zip_nothing_but_problems_comes_of_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    broken = bytearray(zipped({"a.json": JSON * 50, "inner.zip": zipped({"b.json": JSON * 50})}))
    for _ in range(data.draw(st.integers(1, 4))):
        broken[data.draw(st.integers(4, len(broken) - 1))] = data.draw(st.integers(0, 255))
    path = stored(
        tmp_path_factory.mktemp("fuzz"), "export.zip", bytes(broken[: data.draw(st.integers(4, len(broken)))])
    )
    for entry in walked(path)[0].values():
        try:
            with entry.open() as stream:
                drain(stream)
        except ImportProblem:
            pass


def _member_replaced(archive: bytes, packed: bytes, *, claimed: int) -> bytes:
    """The one member of the archive with other packed bytes, and a size in the directory that may be a lie."""
    name = b"conversations.json"
    size = min(claimed, 0xFFFFFFFE)
    local = bytearray(archive[: 30 + len(name)])
    local[8:10] = (8).to_bytes(2, "little")
    local[18:22], local[22:26] = len(packed).to_bytes(4, "little"), size.to_bytes(4, "little")
    central = bytearray(archive[archive.index(b"PK\x01\x02") :])
    central[10:12] = (8).to_bytes(2, "little")
    central[20:24], central[24:28] = len(packed).to_bytes(4, "little"), size.to_bytes(4, "little")
    end = central.index(b"PK\x05\x06")
    central[end + 16 : end + 20] = (len(local) + len(packed)).to_bytes(4, "little")
    return bytes(local) + packed + bytes(central)


# Files that are being written: whole lines, and no byte more than there was when they were looked at.


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
