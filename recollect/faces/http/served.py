"""How a server is reached, and by whom: set once, read by everything that answers."""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from typing import TypeVar

from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.memory.settings import Places, Settings

_ABOVE = re.compile(r"(?<![\w/.:-])/(?:[^\s/'\"<>]+/)+(?=[^\s/])")  # the folders of a path

E = TypeVar("E", bound=RecollectError)

#: The names of this machine for itself.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Served:
    """`names` are further ones under which the server is reached, as `memory.example.org` or with a port. `token` is
    asked of everybody where there is one; `tokens` are those of namespaces, with which only these and those below them
    are reached. `model` is the name of the one that answers, empty without one.
    """

    settings: Settings
    places: Places
    host: str = "127.0.0.1"
    port: int = 7070
    names: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    model: str = ""

    @cached_property
    def all_tokens(self) -> frozenset[str]:
        """The server's own, and those of namespaces."""
        return frozenset({self.token, *self.tokens} - {""})

    def reach(self, shown: str) -> tuple[str, ...] | None:
        """The namespaces that a token reaches, none for all; None for what is no token of this server."""
        known = [(self.token, ()), *self.tokens.items()] if self.token else self.tokens.items()
        told = shown.encode("utf-8", "replace")
        return next((to for token, to in known if hmac.compare_digest(token.encode(), told)), None)

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

    def public(self, error: E) -> E:
        """The error without the folders of this machine, which are nobody's business who asks over a network: of a path
        the last part is left.
        """
        error.message, error.hint = (self._without_folders(text, error) for text in (error.message, error.hint))
        return error

    def _without_folders(self, text: str, error: RecollectError) -> str:
        for folder in self._folders:
            text = text.replace(f"{folder}{os.sep}", "")
        # What was asked is repeated to the letter.
        return text if isinstance(error, InvalidInput | NotFound) else _ABOVE.sub("", text)

    @cached_property
    def _folders(self) -> list[str]:
        """The longest first, for some lie in others."""
        store = [self.settings.store.parent] if isinstance(self.settings.store, Path) else []
        places = [*store, self.places.data, self.places.state, self.places.config.parent, Path.home(), gettempdir()]
        return sorted({str(place) for place in places} - {os.sep}, key=len, reverse=True)

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
