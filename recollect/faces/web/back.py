"""Going back to the page from which something was done."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import RedirectResponse


def back_to(address: str, page: str, *, at: str = "", **query: str) -> RedirectResponse:
    """The address of a state of a page, with more in its query, at an anchor; the page itself where the address is of
    another. What only that one answer should show (`edit`, `merge`, `forgotten`) is left out.

    >>> back_to("/facts?tab=then&edit=F1", "/facts", at="f-F2").headers["location"]
    '/facts?tab=then#f-F2'
    >>> back_to("//elsewhere.example/facts", "/facts").headers["location"]
    '/facts'
    """
    parts = urlsplit(address)
    ours = not parts.scheme and not parts.netloc and parts.path == page
    pairs = [
        (name, value)
        for name, value in parse_qsl(parts.query if ours else "")
        if name not in _ONCE and name not in query
    ]
    pairs += [(name, value) for name, value in query.items() if value]
    found = page + (f"?{urlencode(pairs)}" if pairs else "") + (f"#{at}" if at else "")
    return RedirectResponse(found, status_code=303)


_ONCE = frozenset({"edit", "merge", "forgotten", "done"})
