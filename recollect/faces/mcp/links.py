"""How what is remembered is named towards a client: by an address of the web pages, or by one of our own scheme."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit

SCHEME = "recollect"

#: An id with the place from which on it is wanted, as long texts are handed out in parts: "01JB…+12000".
_PART = re.compile(r"^(?P<id>.+?)\+(?P<start>\d{1,12})$")


@dataclass(frozen=True, slots=True)
class ResourceLinks:
    """Makes addresses. `base` is where the web pages are served ("http://127.0.0.1:7070"); without one they are those
    of resources, which the same server can read. `namespace` is named where it is not the server's own.
    """

    base: str = ""
    namespace: str = ""

    def message(self, id: str, conversation_id: str) -> str:
        """A message in its conversation."""
        if not self.base:
            return resource("message", id)
        return self._page(f"/c/{quote(conversation_id)}", at=id) + f"#m-{quote(id)}"

    def conversation(self, id: str) -> str:
        """A conversation."""
        return self._page(f"/c/{quote(id)}") if self.base else resource("conversation", id)

    def document(self, id: str) -> str:
        """A document."""
        return self._page(f"/document/{quote(id)}") if self.base else resource("document", id)

    def _page(self, path: str, **query: str) -> str:
        named = query | ({"namespace": self.namespace} if self.namespace else {})
        return f"{self.base}{path}" + (f"?{urlencode(named)}" if named else "")


def resource(kind: str, *path: str) -> str:
    """The address of a resource: recollect://message/01JB…"""
    return f"{SCHEME}://{kind}/{'/'.join(quote(part, safe='+') for part in path)}"


def id_in(name: str) -> str:
    """The id that is meant where a client hands back an address in its place.

    >>> id_in("recollect://message/01JB3D9Q0Z5X8RV6M2T7KWYN4C")
    '01JB3D9Q0Z5X8RV6M2T7KWYN4C'
    >>> id_in("http://127.0.0.1:7070/c/01JB3C?at=01JB3D#m-01JB3D")
    '01JB3D'
    >>> id_in("01JB3D")
    '01JB3D'
    """
    if "://" not in name:
        return name
    parts = urlsplit(name)
    if parts.fragment.startswith("m-"):
        return unquote(parts.fragment[2:])
    return unquote(parts.path.rpartition("/")[2])


def part_in(name: str) -> tuple[str, int]:
    """An id, and from which place of its text on.

    >>> part_in("01JB3D+12000"), part_in("01JB3D")
    (('01JB3D', 12000), ('01JB3D', 0))
    """
    found = _PART.match(name)
    return (found["id"], int(found["start"])) if found else (name, 0)


def part(id: str, start: int) -> str:
    """The inverse."""
    return f"{id}+{start}" if start else id
