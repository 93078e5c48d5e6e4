"""How a server is reached, by whom, and whose memory a request is about: it says so, else the server's own."""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from threading import Lock
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import Depends, Header, HTTPException, Query, Request

from recollect.errors import InvalidInput, NotAllowed, NotFound, RecollectError, StoreError
from recollect.memory import Memory
from recollect.memory.settings import Places, Settings
from recollect.record import NAMESPACE_FORM, NAMESPACE_LENGTH, is_within
from recollect.record import namespace as checked
from recollect.text.clean import header_text

_MOST = 256  # handles beside the first that are kept open


class Memories:
    """Thread-safe. `main` is the namespace of the server, for who names none."""

    def __init__(self, main: Memory) -> None:
        self.main = main
        self._lock = Lock()
        self._beside: dict[str, Memory] = {}

    def of(self, namespace: str | None = None) -> Memory:
        """The memory of a namespace, which need not hold anything yet. Raises InvalidInput."""
        if not namespace or namespace == self.main.namespace:
            return self.main
        name = checked(namespace)
        with self._lock:
            memory = self._beside.pop(name, None) or self.main.beside(name)
            self._beside[name] = memory  # the last is the one that was asked for last
            left = self._beside.pop(next(iter(self._beside))) if len(self._beside) > _MOST else None
        if left is not None:
            left.close()  # writes what is still to be written; who works with it goes on
        return memory

    def names(self) -> tuple[str, ...]:
        """The namespaces that hold anything, and the server's own."""
        there = [str(name) for name in self.main.upkeep.namespaces()]
        return tuple(dict.fromkeys([str(self.main.namespace), *there]))

    def within(self, namespaces: Sequence[str]) -> Memories:
        """The same, of which only these namespaces and those below them are reached; all, where none is named."""
        return _Within(self, namespaces) if namespaces else self

    def close(self) -> None:
        """Closes the store, once everything is written."""
        with self._lock:
            beside, self._beside = list(self._beside.values()), {}
        for memory in beside:
            memory.close()
        self.main.close()


class _Within(Memories):
    """What the token of some namespaces reaches. The first is that for who names none."""

    def __init__(self, all_: Memories, namespaces: Sequence[str]) -> None:
        self._all, self._namespaces = all_, namespaces
        self.main = all_.of(namespaces[0])

    def of(self, namespace: str | None = None) -> Memory:
        """The memory of a namespace. Raises InvalidInput, and NotAllowed for one that is not reached."""
        name = checked(namespace) if namespace else self.main.namespace
        if not is_within(name, self._namespaces):
            whose = ", ".join(self._namespaces)
            raise NotAllowed(f"This token is not one of the namespace {name}.", hint=f"It is of {whose}.")
        return self._all.of(name)

    def names(self) -> tuple[str, ...]:
        """The namespaces that are reached and hold anything, and those of the token."""
        there = (name for name in self._all.names() if is_within(name, self._namespaces))
        return tuple(dict.fromkeys([*self._namespaces, *there]))


# How a server is reached, and by whom: set once, read by everything that answers.

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


HEADER = "X-Recollect-Namespace"
#: One that is empty is as one that is not named.
_FORM: dict[str, Any] = {"pattern": f"^$|{NAMESPACE_FORM}", "maxLength": NAMESPACE_LENGTH}
REACH = "recollect.reach"  #: in the scope of a request: the namespaces that it may reach, none for all


def memories(request: Request) -> Memories:
    """Those of the server that the request may reach."""
    found: Memories = request.app.state.memories
    return found.within(reach(request))


def reach(request: Request) -> tuple[str, ...]:
    """The namespaces of the token that the request shows; empty where it may reach all."""
    found: tuple[str, ...] = request.scope.get(REACH, ())
    return found


def served(request: Request) -> Served:
    """How the server is reached."""
    found: Served = request.app.state.served
    return found


def memory(
    request: Request,
    named: Annotated[
        str | None,
        Header(alias=HEADER, description="The namespace; it may hold slashes.", json_schema_extra=_FORM),
    ] = None,
    namespace: Annotated[
        str | None, Query(description="The same, where no header can be set.", json_schema_extra=_FORM)
    ] = None,
) -> Memory:
    """The memory that the request is about. Raises InvalidInput, NotAllowed."""
    if named and namespace:
        checked(namespace)
    return memories(request).of(asked_namespace(request))


def asked_namespace(request: Request) -> str | None:
    """The namespace that a request names."""
    return header_text(request.headers.get(HEADER, "")) or request.query_params.get("namespace")


def whole_store(request: Request) -> None:
    """For routes that are about more than a namespace. Raises NotAllowed for the token of one."""
    if reach(request):
        raise NotAllowed("This is not for the token of a namespace.", hint="Ask whoever runs the server.")


def who_may_name_files(request: Request) -> None:
    """For routes that read or write files of the server's machine by their path. Without a token every account of the
    machine may ask, and would reach files with the rights of who started the server. Raises HTTPException, NotAllowed.
    """
    whole_store(request)
    if not served(request).token:
        raise HTTPException(
            403,
            "Files of the server's machine are named only to a server that asks for a token: recollect serve --token. "
            "An export can be sent instead: POST /api/v1/imports/upload.",
        )


#: The dependency of routes about the whole store.
WHOLE_STORE = Depends(whole_store)

#: The dependency of routes that take paths.
NAMES_FILES = Depends(who_may_name_files)

#: What handlers take: `def search(memory: Scoped, …)`.
Scoped = Annotated[Memory, Depends(memory)]
AllMemories = Annotated[Memories, Depends(memories)]
ServedHere = Annotated[Served, Depends(served)]


# The tokens of a server: made once, each kept in a file that only its owner reads.


def kept_token(state: Path, namespace: str = "") -> str:
    """The server's token in the state folder, or that of a namespace; made where there is none. Raises StoreError."""
    place = state / (f"serve.{quote(namespace, safe='')}.token" if namespace else "serve.token")
    try:
        state.mkdir(parents=True, exist_ok=True)
        try:
            made = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            place.chmod(0o600)
        else:
            with os.fdopen(made, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
        token = place.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"The token cannot be kept at {place}: {error}.", hint="Remove the file.") from error
    if len(token) < 32:
        raise StoreError(f"{place} does not hold a token of 32 characters or more.", hint="Remove the file.")
    return token
