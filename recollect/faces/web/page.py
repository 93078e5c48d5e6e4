"""Drawing a page: a template in the frame that all pages share, the part of it that changed, or the same as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from recollect.faces.http.scope import asked_namespace, memories
from recollect.faces.present.views import as_json
from recollect.faces.web.files import asset
from recollect.version import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment

#: What stands in the bar: the address, the name, the key after `g`.
PAGES = (
    ("/search", "Search", "s"),
    ("/ask", "Ask", "a"),
    ("/timeline", "Timeline", "t"),
    ("/graph", "Graph", "g"),
    ("/facts", "Facts", "f"),
    ("/import", "Import", "i"),
    ("/status", "Status", "u"),
)

#: An answer depends on these, so that going back never shows a part where a page was.
_VARIES = "Accept, HX-Request, HX-Request-Type"
#: A page that a browser keeps to go back to would show what was forgotten since.
_KEPT_NOWHERE = "no-store"


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    data: Callable[[], object] | object = None,
    fragment: str | None = None,
    here: str | None = None,
    **context: Any,
) -> Response:
    """The page of a template. `data` (or what it returns) is the answer where JSON is asked for.

    `fragment` names the block of the template that htmx gets when it asks for a part. `here` is the page of the bar
    that this one belongs to, else the one whose address it begins with. Templates have `url`, `asset`, `namespace`,
    `scoped` (the namespace as a field of a form), and the filters of wording.py.
    """
    headers = {"Vary": _VARIES, "Cache-Control": _KEPT_NOWHERE}
    if data is not None and wants_json(request):
        return json_response(data() if callable(data) else data, status=status, headers=headers)
    drawn = environment().get_template(template)
    values = _frame(request, here) | context
    if fragment is not None and wants_part(request):
        return HTMLResponse("".join(drawn.blocks[fragment](drawn.new_context(values))), status, headers)
    return HTMLResponse(drawn.render(values), status, headers)


def json_response(content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON as the command line writes it: records are shown by their views."""
    return Response(orjson.dumps(as_json(content)), status, headers, "application/json")


def wants_json(request: Request) -> bool:
    """Whether JSON is asked for rather than a page."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def wants_part(request: Request) -> bool:
    """Whether htmx asks for a part of the page; the whole where it goes back in the history."""
    return request.headers.get("hx-request") == "true" and request.headers.get("hx-request-type") != "full"


def address(path: str, request: Request, /, **query: object) -> str:
    """A path of ours with its query, in the namespace of the request. Values that are None or empty are left out."""
    named = request.query_params.get("namespace")
    pairs = [(name.rstrip("_"), str(one)) for name, value in query.items() for one in _each(value)]
    if named:
        pairs.append(("namespace", named))
    path, hash_, anchor = path.partition("#")
    return quote(path, safe="/:@!$&'()*+,;=~") + (f"?{urlencode(pairs)}" if pairs else "") + hash_ + anchor


def _each(value: object) -> list[object]:
    """The values of a name in a query."""
    if value is None or value == "" or value is False:
        return []
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _frame(request: Request, here: str | None) -> dict[str, Any]:
    """What every template knows."""
    path = request.url.path
    current = here or next((at for at, _, _ in PAGES if path == at or path.startswith(f"{at}/")), "")

    def url(path: str, **query: object) -> str:
        return address(path, request, **query)

    namespace = scope_of(request)
    return {
        "request": request,
        "url": url,
        "asset": asset,
        "pages": PAGES,
        "here": current,
        "namespace": namespace,
        "scoped": lambda: _scope_field(request),
        "version": VERSION,
    }


def _scope_field(request: Request) -> Markup:
    """The namespace of the request as a hidden field, for forms."""
    named = request.query_params.get("namespace")
    return Markup('<input type="hidden" name="namespace" value="{}">').format(named) if named else Markup("")


def scope_of(request: Request) -> str:
    """The namespace that a request is about."""
    named = asked_namespace(request)
    return named or str(memories(request).main.namespace)


@cache
def environment() -> Environment:
    """The templates, read from the package; what is put into them is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    from recollect.faces.web.wording import FILTERS

    made = Environment(
        loader=PackageLoader("recollect.faces.web"),
        autoescape=select_autoescape(default=True),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(FILTERS)
    return made


def fragments(request: Request, template: str, names: Sequence[str], /, **context: Any) -> dict[str, str]:
    """Some blocks of a template, each drawn by itself: what is sent anew where it changes."""
    drawn = environment().get_template(template)
    values = drawn.new_context(_frame(request, None) | context)
    return {name: "".join(drawn.blocks[name](values)) for name in names}
