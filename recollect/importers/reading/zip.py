"""The bytes of one member of a zip, inflated as they are read and counted as they come out.

All limits stand on real bytes: what headers claim is only claimed.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, cast

from recollect.errors import ImportProblem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


LOCAL = b"PK\x03\x04"
HEADER = struct.Struct("<4sHHHHHIIIHH")

_ENCRYPTED = 1
_FARTHEST = 1 << 62  # a damaged directory may send us anywhere
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """What is read of one archive or folder at most. Sizes are bytes that really came out, whatever headers say."""

    entries: int = 200_000
    member: int = 16 << 30
    total: int = 128 << 30
    ratio: int = 300  # bytes out for one byte in, asked only beyond `harmless`; text packs up to 50 times
    harmless: int = 64 << 20


class Meter:
    """Counts the bytes that came out of all archives of one walk."""

    def __init__(self, limits: ZipLimits) -> None:
        self.limits = limits
        self._total = 0

    def suspects(self, member: Member) -> bool:
        """Whether the header itself claims more than the limits allow."""
        return member.size > self.limits.harmless and member.size > self.limits.ratio * (member.packed or 0)

    def count(self, fresh: int, member: int, packed: int) -> None:
        """Adds `fresh` bytes of a member that has given `member` bytes for `packed`. Raises ImportProblem beyond."""
        self._total += fresh
        limits = self.limits
        if member > limits.harmless and member > limits.ratio * packed:
            raise ImportProblem(f"it unpacks to more than {limits.ratio} times its size, as no export does")
        if member > limits.member:
            raise ImportProblem(f"it unpacks to more than {limits.member >> 30} GB")
        if self._total > limits.total:
            raise ImportProblem(f"the archive unpacks to more than {limits.total >> 30} GB in all")


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a zip. `offset` is where its local header stands; `packed` and `crc` are None where only reading
    tells. `size` is what the header claims, 0 for unknown.
    """

    name: str
    offset: int
    method: int
    flags: int
    packed: int | None
    size: int
    crc: int | None

    @property
    def obstacle(self) -> str:
        """Why it cannot be read, empty where it can."""
        if self.flags & _ENCRYPTED:
            return "it is encrypted; unpack the archive with its password and import the folder"
        if self.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return f"it is packed by a method that is not read here ({self.method}); unpack the archive first"
        return ""


def open_member(archive: BinaryIO, member: Member, meter: Meter) -> BinaryIO:
    """A stream of the member's bytes, seekable at the price of reading again; closing it closes the archive.

    Reading raises ImportProblem where the archive is damaged, cut or beyond the limits, after giving what came before.
    """
    try:
        return cast(BinaryIO, MemberStream(archive, member, meter))
    except BaseException:
        archive.close()
        raise


class MemberStream(io.RawIOBase):
    """The bytes of one member; see `open_member`. It closes the archive where that was opened for it alone."""

    def __init__(self, archive: BinaryIO, member: Member, meter: Meter, *, alone: bool = True) -> None:
        self._alone = alone
        self._archive, self._member, self._meter = archive, member, meter
        if member.obstacle:
            raise ImportProblem(member.obstacle)
        header = b""
        if 0 <= member.offset < _FARTHEST:
            archive.seek(member.offset)
            header = archive.read(HEADER.size)
        if len(header) < HEADER.size or not header.startswith(LOCAL):
            raise ImportProblem("it is not where the archive's directory says")
        self._start = member.offset + HEADER.size + sum(HEADER.unpack(header)[-2:])
        self._restart()

    def _restart(self) -> None:
        self._archive.seek(self._start)
        self._given = 0
        self._taken = 0
        self._crc: int | None = 0
        self._failure: ImportProblem | None = None
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS) if self._member.method == zipfile.ZIP_DEFLATED else None

    @property
    def packed(self) -> int:
        """How many bytes of the archive the member takes, as far as it was read."""
        return self._taken - (len(self._inflater.unused_data) if self._inflater else 0)

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes, but going back begins anew."""
        return True

    def tell(self) -> int:
        """How many bytes were given."""
        return self._given

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As for files; the end of what is deflated is found by reading to it."""
        target = max(0, offset + self._base(whence))
        if self._inflater is None:
            target = min(target, self._member.packed or 0)
            self._archive.seek(self._start + target)
            self._crc = self._crc if target == self._given else None
            self._given = self._taken = target
        elif target < self._given:
            self._restart()
        while self._given < target and self.read(min(_CHUNK, target - self._given)):
            pass
        return self._given

    def _base(self, whence: int) -> int:
        if whence == io.SEEK_END:
            if self._inflater is None:
                return self._member.packed or 0
            while self.read(_CHUNK):
                pass
        return 0 if whence == io.SEEK_SET else self._given

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fills the buffer as far as bytes come; a failure is raised when nothing came before it."""
        target = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(target) and self._failure is None:
            try:
                piece = self._next(len(target) - filled)
            except ImportProblem as failure:
                self._failure = failure
                break
            if not piece:
                break
            target[filled : filled + len(piece)] = piece
            filled += len(piece)
        if self._failure and not filled:
            raise self._failure
        return filled

    def close(self) -> None:
        """Closes the stream, and the archive with it."""
        if not self.closed and self._alone:
            self._archive.close()
        super().close()

    def _next(self, most: int) -> bytes:
        piece = self._inflate(most) if self._inflater else self._take(most)
        if piece:
            self._given += len(piece)
            self._crc = None if self._crc is None else zlib.crc32(piece, self._crc)
            self._meter.count(len(piece), self._given, self._taken)
        elif self._crc is not None and self._member.crc is not None and self._crc != self._member.crc:
            raise ImportProblem("it is damaged: its checksum is wrong")
        return piece

    def _inflate(self, most: int) -> bytes:
        inflater = self._inflater
        assert inflater is not None
        piece = b""
        try:
            while not piece and not inflater.eof:
                packed = inflater.unconsumed_tail or self._take(_CHUNK)
                if not packed:
                    raise ImportProblem("the archive ends in the middle of it")
                piece = inflater.decompress(packed, most)
        except zlib.error as error:
            raise ImportProblem("it is damaged") from error
        return piece

    def _take(self, most: int) -> bytes:
        """Bytes as they stand in the archive; none at the end of the member."""
        left = most if self._member.packed is None else min(most, self._member.packed - self._taken)
        piece = self._archive.read(left) if left > 0 else b""
        if left > 0 and not piece:
            raise ImportProblem("the archive ends in the middle of it")
        self._taken += len(piece)
        return piece


# Which members a zip has: by its directory, or, where its end is missing, by the headers before each member.

EMPTY = b"PK\x05\x06"  # how a zip without members begins

_DIRECTORY, _DESCRIPTOR = b"PK\x01\x02", b"PK\x07\x08"
_SIZES_FOLLOW, _UTF8 = 8, 0x800
_ZIP64 = 0xFFFFFFFF


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
