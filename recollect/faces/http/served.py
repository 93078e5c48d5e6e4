"""How a server is reached, and by whom: set once, read by everything that answers."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from functools import cached_property

from recollect.memory.settings import Places, Settings

#: The names of this machine for itself.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Served:
    """`names` are further ones under which the server is reached, as `memory.example.org` or with a port. `token` is
    asked of everybody where there is one. `model` is the name of the one that answers, empty without one.
    """

    settings: Settings
    places: Places
    host: str = "127.0.0.1"
    port: int = 7070
    names: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    model: str = ""

    @property
    def destination(self) -> str:
        """Where questions go with the messages found; empty where they stay here."""
        from recollect.models.language.choose import destination

        return destination(self.model) if self.model else ""

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        return f"http://{self._shown}:{self.port}"

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What a Host header may say, to the letter."""
        own = LOOPBACK if is_loopback(self.host) else (_bracketed(self.host),)
        named = {name.lower() for name in self.names}
        with_port = {f"{name}:{self.port}" for name in (*own, *named) if not _has_port(name)}
        return frozenset(with_port | named)

    @cached_property
    def origins(self) -> frozenset[str]:
        """What an Origin header may say: pages of this server alone."""
        return frozenset(f"{scheme}://{host}" for scheme in ("http", "https") for host in self.hosts)

    @property
    def _shown(self) -> str:
        if self.host in ("0.0.0.0", "::"):
            return self.names[0] if self.names else "127.0.0.1"
        return _bracketed(self.host)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach what listens there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _has_port(name: str) -> bool:
    return ":" in name.rpartition("]")[2]
