"""What all families of routes share: pages of lists, parameters, and answers that are shown as everywhere else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from inspect import isclass
from itertools import islice
from typing import Annotated, Any, TypeVar, get_type_hints

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.datastructures import DefaultPlaceholder

from recollect.errors import InvalidInput
from recollect.faces.http.once import WrittenOnce
from recollect.faces.present.results import PageView
from recollect.faces.rest.openapi import schema

T = TypeVar("T")

_APART = ("cursor", "limit")  # a page may be larger than the one before


class PageCursor:
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

    def page(self, found: Iterable[T], limit: int) -> PageView[T]:
        """So many of all that were found, and the cursor of what follows."""
        return self.rest(list(islice(found, self.offset, self.offset + limit + 1)), limit)

    def rest(self, found: Sequence[T], limit: int) -> PageView[T]:
        """The same of what begins at the offset already, and holds one more than the page where there is more."""
        return PageView(found[:limit], self.following(self.offset + limit if len(found) > limit else None))

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
) -> PageCursor:
    return PageCursor(request, cursor)


#: What handlers of lists take.
Paged = Annotated[PageCursor, Depends(_cursor)]

#: How many are given.
Limit = Annotated[int, Query(ge=1, le=1000, description="How many are given.")]

#: Several of a name: `?source=claude&source=chatgpt`.
Several = Annotated[list[str] | None, Query(description="May be repeated.")]

#: What is searched for.
SearchQuery = Annotated[
    str,
    Query(
        alias="q",
        description='May hold filters: `source:claude since:2025-03 role:user "exact phrase" -word`.',
        examples=["that sourdough hydration trick"],
    ),
]

WHEN = "2025-03, 2025-03-14, last spring …"
Since = Annotated[str | None, Query(description=f"From then on: {WHEN}", examples=["2025-03"])]
Until = Annotated[str | None, Query(description="Includes the day, month or year that it names.")]
Before = Annotated[str | None, Query(description="Does not.")]


class Route(WrittenOnce):
    """A route that shows what its handler returns, and says so in the description of the API."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        returned = get_type_hints(endpoint, include_extras=True)["return"]
        is_plain = isclass(returned) and issubclass(returned, Response)
        if isinstance(options.get("response_model"), DefaultPlaceholder) and not is_plain:
            options["response_model"] = schema(returned)
        super().__init__(path, endpoint, **options)


def family(name: str) -> APIRouter:
    """A router whose writes are done once for each key."""
    return APIRouter(tags=[name], route_class=Route)


def calls(*names: str) -> dict[str, Any]:
    """The calls of `Memory` that a route makes, where these are not its own name alone."""
    return {"x-calls": list(names)}
