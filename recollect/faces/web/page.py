"""Pages made of templates, the files they load, addresses, redirects and problems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import orjson
from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect.errors import NotFound
from recollect.faces.http.scope import asked_namespace, memories
from recollect.faces.present.views import as_json
from recollect.version import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment


router = APIRouter()

_FOLDER = "assets"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
_FOREVER = "public, max-age=31536000, immutable"


@cache
def asset(name: str) -> str:
    """The address of one of the package's files: it may be kept for ever, since other bytes have another address.

    The address counts all files, so that those a stylesheet names beside itself may be kept as well.
    """
    _content(name)
    return f"/assets/{_version()}/{name}"


@router.get("/assets/{version}/{name}")
def served_asset(version: str, name: str) -> Response:
    """One file. An old address gives the file of today, which no cache keeps."""
    content = _content(name)
    kept = _FOREVER if version == _version() else "no-cache"
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers={"Cache-Control": kept})


@cache
def _content(name: str) -> bytes:
    """Raises NotFound for a name that is none of the files to be served."""
    if name in _names():
        return (resources.files(__package__) / _FOLDER / name).read_bytes()
    raise NotFound(f"There is no file {name} here.")


@cache
def _names() -> frozenset[str]:
    return frozenset(
        f.name for f in (resources.files(__package__) / _FOLDER).iterdir() if f.name.rpartition(".")[2] in _TYPES
    )


@cache
def _version() -> str:
    """What the addresses of this version's files have in common."""
    return hashlib.sha256(b"".join(_content(name) for name in sorted(_names()))).hexdigest()[:12]


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


_PROGRAMS = ("/api/", "/v1/", "/mcp", "/assets/")


def wants_page(request: Request) -> bool:
    """Whether somebody looks at the answer, rather than a program."""
    if request.scope["path"].startswith(_PROGRAMS):
        return False
    return "text/html" in request.headers.get("accept", "") or request.headers.get("hx-request") == "true"


def problem_page(request: Request, problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """The page of problem details; for htmx the note alone, in place of what was asked for."""
    answer = page(request, "problem.html", status=int(problem["status"]), fragment="note", problem=problem, here="-")
    answer.headers.update(headers)
    return answer


def refusal(problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """The same for who may not ask: a page by itself, for its styles would be refused as well."""
    drawn = environment().get_template("refusal.html").render(problem=problem)
    return HTMLResponse(drawn, int(problem["status"]), dict(headers))
