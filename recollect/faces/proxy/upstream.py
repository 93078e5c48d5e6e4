"""The servers that are asked, and how a request looks to them: nothing of ours goes along."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, unquote_to_bytes, urljoin, urlsplit

from recollect.errors import InvalidInput
from recollect.faces.http.scope import Served, is_loopback
from recollect.models.language.wire import OWN_CALL, checked_base_url

_DEFAULTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
#: What a client sends as its key where it must send one and has none.
PLACEHOLDER = "recollect"
#: Headers of one connection, and such as tell of us or of a browser.
_OF_CONNECTIONS = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
_DROPPED = _OF_CONNECTIONS | {"proxy-authorization", "host", "expect", "cookie", "origin", "referer"}
_DROPPED_OF_ANSWERS = _OF_CONNECTIONS | {"proxy-authenticate", "set-cookie"}
#: What only browsers heed: no upstream rules over the pages of this server, which have the same origin.
_OF_PAGES = {
    "alt-svc",
    "clear-site-data",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "refresh",
    "service-worker-allowed",
    "strict-transport-security",
    "x-content-type-options",
    "x-frame-options",
}
_NO_PAGE = {"content-security-policy": "default-src 'none'; sandbox"}
#: Headers of a body: they hold as long as it goes on as it came.
_OF_BODIES = {"content-length", "content-encoding", "accept-encoding"}
_KEYS = {"authorization", "x-api-key", "api-key"}  # headers that carry one; the last is Azure's
_SEVERAL = re.compile(r"\s*bearer\s+[^\s,]*[\s,]+[^\s,]", re.IGNORECASE)
_OURS, _BROWSERS = "x-recollect-", "sec-"
_TOP = "/v1/"
_ROUNDS = 8  # of decoding: nothing that is meant well is encoded more often
_ESCAPE_OF_IIS = re.compile(r"%u00([0-9a-f]{2})", re.IGNORECASE)


class SelfCall(InvalidInput):
    """A request that would come back to this proxy, or that the memory itself makes."""

    code = "self_call"


class NoKey(InvalidInput):
    """A request without a key for a vendor that asks for one."""

    code = "no_key"


@dataclass(frozen=True, slots=True)
class ProxiedPath:
    """An address of the proxy: the namespace that it names, and the path below /v1, decoded and as it was sent. `top`
    is what stands before that.
    """

    namespace: str
    path: str
    sent: str
    top: str


def place_of(path: str, raw: str = "") -> ProxiedPath | None:
    """What an address of this server names; None for one that is none of the proxy's. `raw` is the path as it was sent,
    where that is known.
    """
    inside, found, below = path.rpartition(_TOP)
    sent = raw.rpartition(_TOP)[2]
    if path.startswith(_TOP):
        inside, below, sent = "", path.removeprefix(_TOP), raw.removeprefix(_TOP)
    elif not (found and inside.startswith("/in/")):
        return None
    if unquote(sent) != below:  # /v1 itself is written in another way
        return ProxiedPath(inside.removeprefix("/in/"), below, quote(below), quote(inside) + _TOP)
    return ProxiedPath(inside.removeprefix("/in/"), below, sent, raw.removesuffix(sent))


def leads_out(path: str) -> bool:
    """Whether a server might go up from its base by a path, however often it decodes it and whatever it takes for a dot
    or a slash.
    """
    for _ in range(_ROUNDS):
        try:
            plain = unquote_to_bytes(_ESCAPE_OF_IIS.sub(r"%\1", path)).decode()
        except UnicodeDecodeError:  # some read a dot that is written in too many bytes
            return True
        plain = unicodedata.normalize("NFKC", plain)
        if plain == path:
            break
        path = plain
    else:
        return True
    parts = (part.partition(";")[0] for part in re.split(r"[/\\]", path))
    return any(set(filter(_is_visible, part)) == {"."} for part in parts)


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
        return (f"{root}/{path}" + (f"?{query}" if query else "")).replace("#", "%23")

    def location(self, told: str, asked: str, top: str) -> str:
        """Where an answer leads: what is below the base of this server is below `top` here."""
        found, root = urljoin(asked, told), self.url("", "")
        return top + found.removeprefix(root) if found.startswith(root) else found


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


def sent_headers(
    headers: Iterable[tuple[str, str]], to: Upstream, tokens: Collection[str], *, as_it_is: bool
) -> dict[str, str]:
    """The headers as they go on: the client's own key, or that of `to` for who has none. `as_it_is`: so does the body;
    else it is another, and the answer is read here.

    Raises NoKey where the vendor itself would be asked without any, InvalidInput for more than one key of a kind.
    """
    sent: dict[str, str] = {}
    dropped = _DROPPED if as_it_is else _DROPPED | _OF_BODIES
    keys: set[str] = set()
    for name, value in headers:
        if name in keys or (name == "authorization" and _SEVERAL.match(value)):
            raise InvalidInput(f"The request has more than one key in {name}.", hint="Send one.")
        keys |= {name} & _KEYS
        if name not in dropped and not name.startswith((_OURS, _BROWSERS)) and not _is_none(name, value, tokens):
            sent[name] = f"{sent[name]}, {value}" if name in sent else value  # one that comes in several lines
    if to.key and not sent.keys() & _KEYS:
        sent |= {"authorization": f"Bearer {to.key}"} if to.vendor == "openai" else {"x-api-key": to.key}
    if to.base == _DEFAULTS[to.vendor] and not sent.keys() & _KEYS:
        raise NoKey(
            f"The request has no API key for {to.base}, so it was not sent.",
            hint="Send your own key, or let the server lend its key to such clients: "
            f"recollect serve --model {to.vendor}:MODEL",
        )
    if to.base != _DEFAULTS[to.vendor]:
        sent[OWN_CALL.lower()] = "proxy"  # so that one of ours knows it, should it stand there
    return {"accept-encoding": "identity", **sent}


def answer_headers(headers: Mapping[str, str], *, as_it_is: bool) -> dict[str, str]:
    """The headers of an answer as they go back. `as_it_is`: so does the body."""
    dropped = _DROPPED_OF_ANSWERS | _OF_PAGES | (set() if as_it_is else _OF_BODIES)
    kept = {
        name: value
        for name, value in headers.items()
        if name.lower() not in dropped and not name.lower().startswith((_OURS, "access-control-"))
    }
    return kept | _NO_PAGE


def _is_visible(character: str) -> bool:
    return character.isprintable() and not character.isspace()


def _is_none(name: str, value: str, tokens: Collection[str]) -> bool:
    """Whether it is a key that is none: a placeholder, or a token of this server, which nobody else may see."""
    if any(re.search(rf"(?<![\w.~+/-]){re.escape(token)}(?![\w.~+/=-])", value) for token in tokens):
        return True
    if name == "authorization":
        value = value.partition(" ")[2].strip()
    return name in _KEYS and value in ("", PLACEHOLDER)
