"""Which members a zip has: by its directory, or, where its end is missing, by the headers before each member."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from recollect.errors import ImportProblem
from recollect.importers.reading.zip_stream import HEADER, LOCAL, Member, MemberStream, Meter

EMPTY = b"PK\x05\x06"  # how a zip without members begins

_DIRECTORY, _DESCRIPTOR = b"PK\x01\x02", b"PK\x07\x08"
_SIZES_FOLLOW, _UTF8 = 8, 0x800
_ZIP64 = 0xFFFFFFFF
_CHUNK = 1 << 16


def list_members(archive: BinaryIO) -> list[Member]:
    """The members by the directory at the end, without folders. Raises ImportProblem where there is none."""
    try:
        with zipfile.ZipFile(archive) as directory:
            found = directory.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error, OSError) as error:
        raise ImportProblem(f"its directory cannot be read ({error})") from error
    return [
        Member(
            name=info.filename,
            offset=info.header_offset,
            method=info.compress_type,
            flags=info.flag_bits,
            packed=info.compress_size,
            size=info.file_size,
            crc=info.CRC,
        )
        for info in found
        if info.filename and not info.is_dir()
    ]


def scan_members(archive: BinaryIO, meter: Meter) -> Iterator[Member]:
    """The members as they stand one behind the other, where the directory is lost. The last may be cut."""
    place = 0
    while (found := _find(archive, place, LOCAL, _DIRECTORY)) is not None:
        place = found
        archive.seek(place)
        header = archive.read(HEADER.size)
        if len(header) < HEADER.size or header.startswith(_DIRECTORY):
            return
        member, start = _from_local_header(archive, header, place)
        packed = _measure(archive, member, start, meter) if member.packed is None else member.packed
        if member.name and not member.name.endswith("/"):
            yield replace(member, packed=packed)
        if packed is None:
            return
        place = start + packed


def _from_local_header(archive: BinaryIO, header: bytes, place: int) -> tuple[Member, int]:
    """The member that a local header tells of, and where its bytes start."""
    _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = HEADER.unpack(header)
    name = archive.read(name_length).decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    extra = archive.read(extra_length)
    large = _ZIP64 in (packed, size)
    if large:
        size, packed = _zip64_sizes(extra)
    unknown = not packed and bool(flags & _SIZES_FOLLOW or large)  # large and empty: whoever wrote it never came back
    member = Member(name, place, method, flags, None if unknown else packed, size, None if unknown else crc)
    return member, place + HEADER.size + name_length + extra_length


def _zip64_sizes(extra: bytes) -> tuple[int, int]:
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1 and length >= 16 and len(extra) >= 20:
            size, packed = struct.unpack_from("<QQ", extra, 4)
            return size, packed
        extra = extra[4 + length :]
    return 0, 0


def _measure(archive: BinaryIO, member: Member, start: int, meter: Meter) -> int | None:
    """How many bytes a member takes whose header does not say; None where it is cut or unreadable."""
    if member.obstacle or member.method == zipfile.ZIP_STORED:
        end = _find(archive, start, _DESCRIPTOR, LOCAL, _DIRECTORY)
        return None if end is None else end - start
    stream = MemberStream(archive, member, meter, alone=False)
    try:
        stream.seek(0, io.SEEK_END)
    except ImportProblem:
        return None
    return stream.packed


def _find(archive: BinaryIO, place: int, *signatures: bytes) -> int | None:
    """Where the next of these signatures of four bytes stands, from `place` on."""
    archive.seek(place)
    window, base = b"", place
    while chunk := archive.read(_CHUNK):
        window += chunk
        found = [at for signature in signatures if (at := window.find(signature)) >= 0]
        if found:
            return base + min(found)
        base += max(0, len(window) - 3)
        window = window[-3:]
    return None
