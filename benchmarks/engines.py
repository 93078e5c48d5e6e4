"""The engines that are measured: a SQLite file, and where it is asked for a Neo4j server of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

SQLITE, NEO4J = "SQLite", "Neo4j"

#: More than the tests' server has: all that is measured fits into its page cache, and is soon in its files.
_SERVER = {"server.memory.pagecache.size": "1g", "db.checkpoint.interval.time": "10s"}


class Engine(Protocol):
    """Where memories are kept while they are measured."""

    name: str

    def place(self, folder: Path) -> str:
        """What `recollect.open` takes, for a measurement that has this folder."""
        ...

    def bytes_on_disk(self, folder: Path) -> int:
        """What everything that is kept there takes."""
        ...


class SQLite:
    """A file in the folder."""

    name = SQLITE

    def place(self, folder: Path) -> str:
        """The file."""
        return str(folder / "memory.db")

    def bytes_on_disk(self, folder: Path) -> int:
        """The file with its journal."""
        return sum(file.stat().st_size for file in folder.glob("memory.db*"))


@dataclass(frozen=True, slots=True)
class Neo4j:
    """One server for all, which holds what was measured before as well: in namespaces of their own."""

    address: str
    home: Path
    name: str = NEO4J

    def place(self, folder: Path) -> str:
        """The server."""
        return self.address

    def bytes_on_disk(self, folder: Path) -> int:
        """The store files as of the last checkpoint, without the transaction logs."""
        stored = (self.home / "data" / "databases" / "neo4j").rglob("*")
        return sum(file.stat().st_size for file in stored if file.is_file())


@contextmanager
def engines(chosen: str) -> Iterator[list[Engine]]:
    """SQLite, and for "neo4j" a server beside it, started for the while. Raises what tools.neo4j_server raises."""
    if chosen == "sqlite":
        yield [SQLite()]
        return
    from tools.neo4j_server import STRONG, Server

    with TemporaryDirectory(prefix="recollect-bench-neo4j-") as home:
        server = Server(Path(home), jvm=STRONG, settings=_SERVER)
        server.start()
        try:
            yield [SQLite(), Neo4j(server.uri, Path(home))]
        finally:
            server.kill()
