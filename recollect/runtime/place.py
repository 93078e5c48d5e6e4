"""Where a memory is kept: a SQLite file at a path, or a Neo4j server at an address."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from recollect.errors import InvalidInput

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
