"""Where a list goes on: opaque texts that hold for the request that they were given for."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated, TypeVar

import orjson
from fastapi import Depends, Query, Request

from recollect.errors import InvalidInput

T = TypeVar("T")

_APART = ("cursor", "limit")  # a page may be larger than the one before


class Cursor:
    """The cursor of a request, and those of the pages that follow. `at` is where this page begins: a number, or what
    the store gave; None at the beginning.
    """

    def __init__(self, request: Request, given: str | None) -> None:
        asked = sorted((name, value) for name, value in request.query_params.multi_items() if name not in _APART)
        raw = orjson.dumps([request.url.path, asked])
        self._of = hashlib.blake2b(raw, digest_size=8).hexdigest()
        self.at: int | str | None = self._read(given) if given else None

    @property
    def offset(self) -> int:
        """How many were given before."""
        if self.at is None:
            return 0
        if not isinstance(self.at, int) or self.at < 0:
            raise _unknown()
        return self.at

    @property
    def after(self) -> str | None:
        """What the store said that the page comes after."""
        if self.at is not None and not isinstance(self.at, str):
            raise _unknown()
        return self.at

    def following(self, at: int | str | None) -> str | None:
        """The cursor of a page that begins there."""
        if at is None:
            return None
        return base64.urlsafe_b64encode(orjson.dumps([self._of, at])).decode().rstrip("=")

    def page(self, found: Iterable[T], limit: int) -> tuple[list[T], str | None]:
        """So many of all that were found, and the cursor of what follows."""
        first = self.offset
        some = list(islice(found, first, first + limit + 1))
        return some[:limit], self.following(first + limit if len(some) > limit else None)

    def rest(self, found: Sequence[T], limit: int) -> tuple[list[T], str | None]:
        """The same of what begins at the offset already, and holds one more than the page where there is more."""
        return list(found[:limit]), self.following(self.offset + limit if len(found) > limit else None)

    def _read(self, given: str) -> int | str:
        try:
            of, at = orjson.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        except (ValueError, TypeError):
            raise _unknown() from None
        if of != self._of or not isinstance(at, int | str) or isinstance(at, bool):
            raise _unknown()
        return at


def _unknown() -> InvalidInput:
    return InvalidInput(
        "This cursor belongs to another request.", hint="Ask again as before, with the `next` of that answer."
    )


def _cursor(
    request: Request,
    cursor: Annotated[str | None, Query(max_length=2_000, description="The `next` of the page before.")] = None,
) -> Cursor:
    return Cursor(request, cursor)


#: What handlers of lists take.
Paged = Annotated[Cursor, Depends(_cursor)]
