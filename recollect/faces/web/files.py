"""The files that pages are made with, from the package itself, at addresses that change whenever their bytes do."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

from recollect.errors import NotFound

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
