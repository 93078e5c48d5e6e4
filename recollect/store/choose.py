"""Which engine a place asks for: a path is a SQLite file, an address a Neo4j server."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.store.base import Store

#: How the addresses of Neo4j servers begin (+s: encrypted, +ssc: encrypted with a certificate of one's own).
NEO4J_SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


def open_store(
    place: str | Path, *, durable: bool = True, wait: float = 120.0, on_wait: Callable[[], None] | None = None
) -> Store:
    """Opens the store at a path, or at an address such as `neo4j://localhost:7687`.

    The user and the password of a server are NEO4J_USER (neo4j where it is not set) and NEO4J_PASSWORD in the
    environment. Raises InvalidInput for an address of another kind, StoreError.
    """
    text = str(place)
    if text.startswith(NEO4J_SCHEMES):
        return _open_neo4j(text, wait, on_wait)
    if "://" in text:
        raise InvalidInput(f"{text} is no place for a memory.", hint="Use a path, or neo4j://HOST:PORT.")
    from recollect.store.sqlite.engine import SQLiteStore

    return SQLiteStore(Path(place).expanduser(), durable=durable, wait=wait, on_wait=on_wait)


def _open_neo4j(address: str, wait: float, on_wait: Callable[[], None] | None) -> Store:
    try:
        from recollect.store.neo4j.engine import Neo4jStore
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"{address} needs the Neo4j driver ({missing.name}).", hint='Install it: pip install "recollect[neo4j]"'
        ) from missing
    password = os.environ.get("NEO4J_PASSWORD")
    auth = (os.environ.get("NEO4J_USER", "neo4j"), password) if password else None
    return Neo4jStore(address, auth, wait=wait, on_wait=on_wait)
