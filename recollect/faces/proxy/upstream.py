"""The servers that are asked, and how a request looks to them: nothing of ours goes along."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from recollect.errors import InvalidInput
from recollect.faces.http.served import Served, is_loopback
from recollect.models.language.wire import OWN_CALL, checked_base_url

_DEFAULTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
#: What a client sends as its key where it must send one and has none.
PLACEHOLDER = "recollect"
#: Headers of one connection, and such as tell of us or of a browser.
_OF_CONNECTIONS = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length"}
_DROPPED = _OF_CONNECTIONS | {"proxy-authorization", "host", "accept-encoding", "cookie", "origin", "referer"}
_DROPPED_OF_ANSWERS = _OF_CONNECTIONS | {"proxy-authenticate", "content-encoding", "set-cookie"}
_OURS, _BROWSERS = "x-recollect-", "sec-"


class SelfCall(InvalidInput):
    """A request that would come back to this proxy, or that the memory itself makes."""

    code = "self_call"


class NoKey(InvalidInput):
    """A request without a key for a vendor that asks for one."""

    code = "no_key"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server. `key` is that of the environment, for clients that bring none: empty where it is meant for another
    server, or where nobody chose a model of this vendor.
    """

    vendor: str
    base: str
    key: str = ""

    def url(self, path: str, query: str) -> str:
        """The address of a path below /v1."""
        root = self.base if self.vendor == "openai" else f"{self.base.removesuffix('/v1')}/v1"
        return f"{root}/{path}" + (f"?{query}" if query else "")


def upstream(vendor: str, served: Served, environment: Mapping[str, str] | None = None) -> Upstream:
    """The server of a vendor: that of the settings, of the vendor's own variable, or the vendor's. Raises SelfCall
    where that is this server, InvalidInput where it is no address.
    """
    environment = os.environ if environment is None else environment
    settings = served.settings
    chosen = settings.openai_upstream if vendor == "openai" else settings.anthropic_upstream
    base = chosen or checked_base_url(environment.get(f"{vendor.upper()}_BASE_URL") or _DEFAULTS[vendor])
    parts = urlsplit(base)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    if port == served.port and (host == served.host or is_loopback(host) or f"{host}:{port}" in served.hosts):
        raise SelfCall(
            f"{vendor.upper()}_BASE_URL names this proxy, so that it would ask itself.",
            hint=f"Start recollect serve without {vendor.upper()}_BASE_URL, or set {vendor}_upstream.",
        )
    lent = not chosen and served.model.startswith(f"{vendor}:")  # a key that is merely there was not chosen
    return Upstream(vendor, base, environment.get(f"{vendor.upper()}_API_KEY", "") if lent else "")


def refuse_own(headers: Mapping[str, str]) -> None:
    """Raises SelfCall for what the memory asks its own model, and for what has passed a proxy of ours already."""
    if headers.get(OWN_CALL.lower()):
        raise SelfCall(
            "The memory's own model calls must not pass through its proxy: it would remember itself.",
            hint="Name the model's own server: RECOLLECT_MODEL=openai:model@http://host/v1, "
            "or unset OPENAI_BASE_URL where the memory works.",
        )


def sent_headers(headers: Iterable[tuple[str, str]], to: Upstream, tokens: Collection[str]) -> dict[str, str]:
    """The headers as they go on: the client's own key, or that of `to` for who has none.

    Raises NoKey where the vendor itself would be asked without any.
    """
    sent: dict[str, str] = {}
    for name, value in headers:
        if name not in _DROPPED and not name.startswith((_OURS, _BROWSERS)) and not _is_none(name, value, tokens):
            sent[name] = f"{sent[name]}, {value}" if name in sent else value  # one that comes in several lines
    if to.key and not sent.keys() & {"authorization", "x-api-key"}:
        sent |= {"authorization": f"Bearer {to.key}"} if to.vendor == "openai" else {"x-api-key": to.key}
    if to.base == _DEFAULTS[to.vendor] and not sent.keys() & {"authorization", "x-api-key"}:
        raise NoKey(
            f"The request has no API key for {to.base}, so it was not sent.",
            hint="Send your own key, or let the server lend its key to such clients: "
            f"recollect serve --model {to.vendor}:MODEL",
        )
    if to.base != _DEFAULTS[to.vendor]:
        sent[OWN_CALL.lower()] = "proxy"  # so that one of ours knows it, should it stand there
    return {**sent, "accept-encoding": "identity"}


def answer_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer as they go back."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _DROPPED_OF_ANSWERS and not name.lower().startswith("access-control-")
    }


def _is_none(name: str, value: str, tokens: Collection[str]) -> bool:
    """Whether it is a key that is none: a placeholder, or a token of this server, which nobody else may see."""
    if name == "authorization":
        value = value.partition(" ")[2].strip()
    elif name != "x-api-key":
        return False
    return value in ("", PLACEHOLDER) or value in tokens
