"""The engines behind the port `store`. A path asks for SQLite, an address for Neo4j."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.record import utc_now
from recollect.runtime.files import Address, Place, read_place
from recollect.store.base import Store

_USER, _OTHER_USER, _PASSWORD = "NEO4J_USER", "NEO4J_USERNAME", "NEO4J_PASSWORD"


def open_store(
    place: str | Place,
    *,
    durable: bool = True,
    create: bool = True,
    wait: float = 120.0,
    on_wait: Callable[[], None] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Store:
    """Opens the store at a path, or at an address such as `neo4j://localhost:7687`.

    Without `create` the file must be there. By `clock` tasks are due and leases run out. The user and the password of a
    server are those of the address, else NEO4J_USER (neo4j where it is not set) and NEO4J_PASSWORD in the environment.
    Raises InvalidInput for an address of another kind, StoreError.
    """
    if isinstance(place, str):
        place = read_place(place)
    if isinstance(place, Address):
        return _open_neo4j(place, wait, on_wait, clock)
    from recollect.engines.sqlite.engine import SQLiteStore

    return SQLiteStore(
        Path(place).expanduser(), durable=durable, create=create, wait=wait, on_wait=on_wait, clock=clock
    )


def credentials(address: Address, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """User and password for a server, each from its address, else from the environment; None without a password."""
    user = address.user or environment.get(_USER) or environment.get(_OTHER_USER) or "neo4j"
    password = address.password or environment.get(_PASSWORD)
    return (user, password) if password else None


def _open_neo4j(
    address: Address, wait: float, on_wait: Callable[[], None] | None, clock: Callable[[], datetime]
) -> Store:
    try:
        from recollect.engines.neo4j.engine import Neo4jStore
    except ModuleNotFoundError as missing:
        raise InvalidInput(
            f"{address} needs the Neo4j driver ({missing.name}).", hint='Install it: pip install "recollect[neo4j]"'
        ) from missing
    return Neo4jStore(str(address), credentials(address, os.environ), wait=wait, on_wait=on_wait, clock=clock)
