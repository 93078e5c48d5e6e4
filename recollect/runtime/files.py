"""Files of a user, written whole or not at all, for their owner alone; and the places where memories are kept.

Every command loads this module: what takes long to import is imported where it is used.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from recollect.errors import InvalidInput, StoreError
from recollect.runtime.processes import has_ended

if TYPE_CHECKING:
    import apsw


def unfinished(target: Path) -> Path:
    """A hidden name beside a file for what is to become it, or is made of it, by this process. What killed processes
    left behind under such names is removed.
    """
    import secrets
    import shutil

    name = re.compile(rf"\.{re.escape(target.name)}\.(\d+)-[0-9a-f]{{8}}\.part.*")
    with suppress(OSError):
        for left in target.parent.iterdir():
            if (found := name.fullmatch(left.name)) and has_ended(int(found[1])):
                if left.is_dir() and not left.is_symlink():
                    shutil.rmtree(left, ignore_errors=True)
                else:
                    left.unlink(missing_ok=True)
    return target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")


@contextmanager
def whole_file(path: Path, *, overwrite: bool = False, head: bytes = b'{"recollect_dump"') -> Iterator[BinaryIO]:
    """A stream to a file that takes its place when the block ends well, durable by then, readable by its owner alone.

    What is no regular file (a device, a pipe) is written to directly; a symbolic link is followed. A file that does not
    begin with `head` is somebody else's and is replaced only with `overwrite`. Raises InvalidInput, StoreError.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode  # of what a link leads to, also of /dev/fd/63, which has no real path
    except FileNotFoundError:
        mode = None
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror}.") from problem
    if mode is not None and stat.S_ISDIR(mode):
        raise InvalidInput(f"{path} is a folder.", hint="Name a file in it.")
    if mode is not None and not stat.S_ISREG(mode):
        with _named(path), path.open("wb") as stream:
            yield stream
        return
    if mode is not None and not overwrite and not _begins(target, head):
        raise InvalidInput(
            f"{path} exists and is not a Recollect export.", hint="Choose another name, or add --overwrite."
        )
    partial = unfinished(target)
    with _named(path):
        try:
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(target)
            _sync_folder(target.parent)
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)


def _begins(path: Path, head: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            found = stream.read(len(head))
    except OSError:
        return False
    return not found or found == head


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be opened
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the disk that name the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise StoreError(f"{path} could not be written: {problem.strerror or problem}.") from problem


# Where a memory is kept: a SQLite file at a path, or a Neo4j server at an address.

#: How the addresses of Neo4j servers begin (+s: encrypted, +ssc: encrypted with a certificate of one's own).
NEO4J_SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")

_LOOKS = "It looks so: neo4j://localhost:7687, or neo4j://user:password@host:7687/database, signs of them URL-quoted."


@dataclass(frozen=True, slots=True)
class Address:
    """A Neo4j server and a database on it. As a text it shows neither user nor password."""

    server: str  # scheme, host and port
    database: str | None = None
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.server}/{self.database}" if self.database else self.server


#: What the setting `store` holds.
Place = Path | Address


def read_place(text: str, base: Path | None = None) -> Place:
    """An address, or the path of a file; a relative one begins at `base`. Raises InvalidInput."""
    if text.strip() == ":memory:":
        raise InvalidInput(
            "A memory cannot be kept in the working memory alone.",
            hint="Use a file in a temporary folder, such as pytest's tmp_path, with durable=False.",
        )
    return read_address(text) if "://" in text else (base or Path()) / Path(text).expanduser()


def read_address(text: str) -> Address:
    """An address with its user and password unquoted.

    Raises InvalidInput, which repeats nothing of the text but how it begins: a password may stand anywhere in it.
    """
    scheme, found, _ = text.partition("://")
    if not found or scheme.lower() not in NEO4J_SCHEMES:
        what = f"{scheme}://…" if found and scheme.isalnum() else "This"
        raise InvalidInput(f"{what} is not a place for a memory.", hint="Use a path, or neo4j://HOST:PORT.")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    rest = f"{parts.path}{parts.query}{parts.fragment}" if host else ""
    if not host or "@" in rest:  # a "/" or "#" in the password ends what is read as the host
        raise InvalidInput(f"This {scheme}:// address has no host name.", hint=_LOOKS)
    if parts.query or parts.fragment or "/" in parts.path.strip("/"):
        raise InvalidInput(
            f"This {scheme}:// address has too many parts: only a database name may follow the host.", hint=_LOOKS
        )
    host = f"[{host}]" if ":" in host else host
    return Address(
        server=f"{parts.scheme}://{host}" + (f":{port}" if port else ""),
        database=parts.path.strip("/") or None,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
    )


# Small files of SQLite that belong to a user rather than to a memory: what is spent, what is not recorded.

_BUSY_MILLISECONDS = 10_000


@contextmanager
def own_database(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a file that only its user can read, made where it is missing; closed at the end.

    Waits ten seconds for other processes. Raises OSError and apsw.Error.
    """
    import apsw

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600)
    db = apsw.Connection(str(path))
    try:
        db.set_busy_timeout(_BUSY_MILLISECONDS)
        yield db
    finally:
        db.close()
