"""`recollect config`: every setting with where it comes from."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Command, Words
from recollect.faces.cli.terminal.session import Session
from recollect.memory.settings import LEARNED, UNLIMITED


def config(session: Session, what: str | None = None) -> int:
    """Print each setting and where it comes from.

    Settings come from options, environment variables, the config file or the defaults, in this order. `recollect config
    path` prints where the config file is, or would be.
    """
    out, places = session.out, session.places
    if what not in (None, "path"):
        raise InvalidInput(f"Unknown argument: {what}.", hint="Use recollect config, or recollect config path.")
    if what == "path":
        if session.json:
            out.document({"path": str(places.config)})
        else:
            out.line(str(places.config))
        return 0
    settings, origins = _values(session), session.settings.origins
    folders = {"data": str(places.data), "config": str(places.config), "state": str(places.state)}
    if session.json:
        plain = {name: {"value": value, "from": origins[name]} for name, value in settings.items()}
        out.document({"settings": plain, "places": folders})
        return 0
    longest = max(map(len, settings))
    for name, value in settings.items():
        out.line(f"{name:<{longest}} = {_as_toml(name, value):<40}  {out.dim('# ' + origins[name])}")
    for name, path in folders.items():
        out.line(out.dim(f"# {name:<8} {path}"))
    return 0


def _values(session: Session) -> dict[str, Any]:
    values = {f.name: getattr(session.settings, f.name) for f in fields(session.settings) if f.name != "origins"}
    return {
        name: value if isinstance(value, bool | int | float | None) else str(value) for name, value in values.items()
    }


def _as_toml(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        value = LEARNED if name == "proxy_window" else UNLIMITED
    return str(value) if isinstance(value, int | float) else f'"{value}"'


COMMAND = Command(
    config,
    ("recollect config", "recollect config path"),
    words=Words("path", "what", values=("path",)),
)
