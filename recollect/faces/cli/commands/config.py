"""`recollect config`: every setting with where it comes from, and one of them set."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from recollect.errors import InvalidInput
from recollect.faces.cli.parser import Arguments, Command
from recollect.faces.cli.terminal.session import Invocation
from recollect.memory.settings import LEARNED, UNLIMITED, Settings, keep_setting, load_settings
from recollect.models.language.choose import open_model
from recollect.models.language.errors import ModelNotReady


def config(session: Invocation, words: list[str]) -> int:
    """Print each setting and where it comes from, or set one.

    Settings come from options, environment variables, the config file or the defaults, in this order. `recollect config
    path` prints where the config file is, or would be; `recollect config NAME VALUE` writes a setting to it.
    """
    out, places = session.out, session.places
    if len(words) == 2:
        return _keep(session, *words)
    if words not in ([], ["path"]):
        hint = "Use recollect config, recollect config path, or recollect config NAME VALUE."
        raise InvalidInput(f"Unknown argument: {' '.join(words)}.", hint=hint)
    if words:
        if session.json:
            out.document({"path": str(places.config)})
        else:
            out.line(str(places.config))
        return 0
    settings, origins = _values(session.settings), session.settings.origins
    folders = {"data": str(places.data), "config": str(places.config), "state": str(places.state)}
    if session.json:
        plain = {name: {"value": value, "from": origins[name]} for name, value in settings.items()}
        out.document({"settings": plain, "places": folders})
        return 0
    longest = max(map(len, settings))
    told = longest + 43 if out.width is None else min(longest + 43, out.width - 4 - max(map(len, origins.values())))
    for name, value in settings.items():
        out.verbatim(f"{f'{name:<{longest}} = {_as_toml(name, value)}':<{told}}  {out.dim('# ' + origins[name])}")
    for name, path in folders.items():
        out.line(out.dim(f"# {name:<8} {path}"))
    return 0


def _keep(session: Invocation, name: str, value: str) -> int:
    """Writes a setting, and says what keeps it from having an effect."""
    keep_setting(name, value, session.places)
    now = load_settings(where=session.places)
    if session.json:
        session.out.document({"name": name, "value": _values(now)[name], "from": now.origins[name]})
        return 0
    session.out.line(f"{name} is set in {session.places.config}")
    if now.origins[name] != str(session.places.config):
        session.out.note(f"{now.origins[name]} comes first and says otherwise: unset it for this to take effect.")
    if name.endswith("model"):
        try:
            open_model(value)
        except ModelNotReady as missing:
            session.out.note(str(missing))
    return 0


def _values(settings: Settings) -> dict[str, Any]:
    values = {f.name: getattr(settings, f.name) for f in _SETTINGS}
    return {
        name: value if isinstance(value, bool | int | float | tuple | None) else str(value)
        for name, value in values.items()
    }


def _as_toml(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    if value is None:
        value = LEARNED if name == "proxy_window" else UNLIMITED
    return str(value) if isinstance(value, int | float) else f'"{value}"'


_SETTINGS = [field for field in fields(Settings) if field.name != "origins"]

COMMAND = Command(
    config,
    ("recollect config", "recollect config path", "recollect config model anthropic:claude-haiku-5-5"),
    words=Arguments("path | NAME VALUE", "words", several=True, values=("path", *(field.name for field in _SETTINGS))),
)
