"""`recollect.wrap`: a client of OpenAI or Anthropic with an endless memory, in one line.

The client is the vendor's own; only what carries its requests is another. Whatever it can do it can still do: streams,
tools, helpers, retries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from recollect.errors import InvalidInput
from recollect.gateway.exchange import BUDGET
from recollect.gateway.transport import AsyncTransport, Carrier, Transport

if TYPE_CHECKING:
    from recollect.memory import Memory

C = TypeVar("C")


def wrap(
    client: C,
    memory: Memory | None = None,
    *,
    conversation: str | None = None,
    budget: int = BUDGET,
    window: int | None = None,
    store: bool = True,
) -> C:
    """A copy of an `openai` or `anthropic` client that remembers, sync or async; use it in the place of the client.

    Each request is given what the memory knows of it, in at most `budget` tokens; what is said is stored, unless
    `store` is False. A request of more than `window` tokens, or than its model allows, is sent without its oldest
    exchanges; 0 leaves out nothing. Without a `memory` it is the one of the command line, closed with the client.
    `conversation` is a name of your own; with one, sending only the newest message is enough. A request may say
    otherwise: `extra_headers={"X-Recollect-Conversation": "…"}`. Of a client that is wrapped already the new wrapping
    takes the place of the old one. Raises InvalidInput for another client, or for fewer than 0 tokens.
    """
    if budget < 0 or (window or 0) < 0:
        raise InvalidInput("A budget or a window of fewer than 0 tokens.", hint="Use 0 for none, or leave it out.")
    vendor, inner = _vendor(client), getattr(client, "_client", None)
    if not vendor or not isinstance(inner, httpx2.Client | httpx2.AsyncClient):
        others = "Give an OpenAI, AsyncOpenAI, Anthropic or AsyncAnthropic client; for others: recollect serve."
        is_old = vendor and any(kind.__module__.partition(".")[0] == "httpx" for kind in type(inner).__mro__)
        raise InvalidInput(
            f"{type(client).__module__}.{type(client).__qualname__} cannot be wrapped.",
            hint=f"This one is too old: pip install -U {vendor}; or use recollect serve." if is_old else others,
        )
    transport = getattr(inner, "_transport", None)  # of a client that is wrapped already
    before = transport.carrier if isinstance(transport, Transport | AsyncTransport) else None
    carrier = Carrier(vendor, memory, conversation, budget, window, store, before)
    copy: Any = client
    kept: dict[str, Any] = {
        "headers": inner.headers,
        "cookies": inner.cookies,
        "timeout": inner.timeout,
        "follow_redirects": inner.follow_redirects,
    }
    http: httpx2.Client | httpx2.AsyncClient
    if isinstance(inner, httpx2.Client):
        bare = transport.inner if isinstance(transport, Transport) else inner
        http = httpx2.Client(transport=Transport(bare, carrier), **kept)
    else:
        awaited = transport.inner if isinstance(transport, AsyncTransport) else inner
        http = httpx2.AsyncClient(transport=AsyncTransport(awaited, carrier), **kept)
    return copy.with_options(http_client=http)  # type: ignore[no-any-return]


def _vendor(client: object) -> str:
    """Whose client it is; empty for those of other clouds, which write their requests differently."""
    modules = [kind.__module__ for kind in type(client).__mro__]
    if any(module.startswith("anthropic.lib.") for module in modules):
        return ""
    return next((module.partition(".")[0] for module in modules if module.startswith(("openai.", "anthropic."))), "")
