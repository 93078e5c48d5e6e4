"""The settings: one typed class, filled from the defaults, config.toml, the environment and the flags, in that order.

Each value knows where it came from. Files lie where uv and its like put them: XDG on Linux and macOS, APPDATA and
LOCALAPPDATA on Windows; RECOLLECT_HOME moves all of them into one folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput, StoreError
from recollect.record.ids import DEFAULT_NAMESPACE, Namespace, namespace
from recollect.runtime.files import Address, Place, read_address, read_place

if TYPE_CHECKING:
    from recollect.models.language.budget import Limits

COLORS = ("auto", "always", "never")
MOST_RESULTS = 1000
UNLIMITED = "unlimited"
LEARNED = "learned"

_PREFIX = "RECOLLECT_"
#: As a store: the server at the address in this variable. Alone it chooses nothing, since other programs have it too.
NEO4J, NEO4J_URI = "neo4j", "NEO4J_URI"
_AT_NEO4J_URI = Address("")
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie: the folder of the data, the config file (it need not exist), the folder of the state."""

    data: Path
    config: Path
    state: Path

    @property
    def store(self) -> Path:
        """The data file."""
        return self.data / "memory.db"

    @property
    def prices(self) -> Path:
        """The folder that may hold a table of prices."""
        return self.config.parent


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. `origins` names for each setting the default, file, variable or flag it came from,
    and under NEO4J_URI what is to be said of that server where nothing chose it.

    `store` is the path of a file or the address of a server. `model` is the language model for what is asked for now,
    `background_model` the one for work in the background, for which a key alone never pays; both may be empty.
    `reranker` reads the best results of a search again. The daily limits are those of background work, None where there
    is none; the cost is in US dollars. `pager` empty means $PAGER, else `less -FRX`. `durable=False` may lose the last
    moments before a power cut. `background`: writing leaves a worker behind. `proxy_window` None is what servers tell.
    `leave_out` are patterns of folders that are not recorded.
    """

    store: Place
    namespace: Namespace = DEFAULT_NAMESPACE
    embedder: str = "static"
    model: str = ""
    background_model: str = ""
    reranker: str = ""
    daily_calls: int | None = 1000
    daily_tokens: int | None = 2_000_000
    daily_cost: float | None = 1.0
    color: str = "auto"
    pager: str = ""
    limit: int = 10
    durable: bool = True
    background: bool = True
    openai_upstream: str = ""
    anthropic_upstream: str = ""
    proxy_budget: int = 4_000
    proxy_window: int | None = None
    leave_out: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def unused(self) -> str:
        """What is to be said of a server that is there and was not chosen as the store; empty where there is none."""
        return self.origins.get(NEO4J_URI, "")

    @property
    def limits(self) -> Limits:
        """What background work may spend on models a day."""
        from recollect.models.language.budget import Limits

        return Limits(calls=self.daily_calls, tokens=self.daily_tokens, cost=self.daily_cost)


def places(environment: Mapping[str, str], home: Path, *, windows: bool = sys.platform == "win32") -> Places:
    """Where things lie for the user with this environment and home."""
    if moved := environment.get("RECOLLECT_HOME"):
        base = Path(moved).expanduser().absolute()
        return Places(base, base / "config.toml", base / "state")
    if windows:
        local = _folder(environment.get("LOCALAPPDATA"), home / "AppData" / "Local") / "recollect"
        roaming = _folder(environment.get("APPDATA"), home / "AppData" / "Roaming") / "recollect"
        return Places(local, roaming / "config.toml", local / "state")
    data = _folder(environment.get("XDG_DATA_HOME"), home / ".local" / "share")
    config = _folder(environment.get("XDG_CONFIG_HOME"), home / ".config")
    state = _folder(environment.get("XDG_STATE_HOME"), home / ".local" / "state")
    return Places(data / "recollect", config / "recollect" / "config.toml", state / "recollect")


def own_places() -> Places:
    """Where things lie for the user of this process."""
    return places(os.environ, Path.home())


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    where: Places | None = None,
) -> Settings:
    """The settings in force. Flags that are None were not given.

    Raises InvalidInput, naming the place and the key, for an unknown key or a value that cannot be used.
    """
    environment = os.environ if environment is None else environment
    where = where or own_places()
    values: dict[str, Any] = {"store": where.store}
    origins = {"store": "default"} | dict.fromkeys(_READERS, "default")
    for name, value in _file_values(where.config).items():
        values[name] = _read(name, value, f"{where.config}: {name}", base=where.config.parent)
        origins[name] = str(where.config)
    for name in _READERS:
        variable = _PREFIX + name.upper()
        if value := environment.get(variable):
            values[name] = _read(name, value, variable)
            origins[name] = variable
    for name, given in (flags or {}).items():
        if given is not None:
            values[name] = _read(name, given, f"--{name}")
            origins[name] = f"--{name}"
    server = environment.get(NEO4J_URI, "").strip()
    if values["store"] is _AT_NEO4J_URI:
        if not server:
            raise InvalidInput(
                f"{origins['store']} chooses the server at {NEO4J_URI}, which is not set.",
                hint=f"Set {NEO4J_URI} to neo4j://HOST:PORT, or the store to that address.",
            )
        values["store"] = _told(NEO4J_URI, lambda: read_address(server))
    elif server and origins["store"] == "default":
        origins[NEO4J_URI] = (
            f"{NEO4J_URI} is set, but its server was not chosen as the store: the memory is {where.store}. "
            f"To use the server: recollect config store {NEO4J}. "
            f"To keep the file: recollect config store {shlex.quote(str(where.store))}"
        )
    return Settings(**values, origins=origins)


def usual_store() -> Place:
    """The store for programs that name none. Logs a warning where a server is there that was not chosen."""
    settings = load_settings()
    if settings.unused:
        import logging  # takes longer than reading the settings

        logging.getLogger("recollect").warning("%s", settings.unused)
    return settings.store


def keep_setting(name: str, value: str, where: Places) -> None:
    """Writes a setting to the config file, which is made where there is none; everything else in it stays as it is.

    Raises InvalidInput for an unknown setting, a value that cannot be used and a file that cannot be changed so, and
    StoreError where it cannot be written.
    """
    before = _file_values(where.config)
    if name not in _READERS:
        raise InvalidInput(f"Unknown setting: {name}.", hint=f"Settings: {', '.join(_READERS)}.")
    meant = _read(name, value, name)
    usual = Settings.__dataclass_fields__[name].default
    plain = isinstance(usual, bool | int | float) and re.fullmatch(r"true|false|[0-9]+(\.[0-9]+)?", value)
    told = value if plain else json.dumps(str(meant) if isinstance(meant, Path) else value, ensure_ascii=False)
    text = where.config.read_text("utf-8-sig") if where.config.exists() else ""
    line, own = f"{name} = {told}", re.compile(rf"^{name}[ \t]*=.*$", re.MULTILINE)
    text = own.sub(lambda _: line, text) if own.search(text) else f"{line}\n{text}"
    import tomllib

    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        after = {}
    if {**before, name: after.get(name)} != after:
        raise InvalidInput(f"{where.config} cannot be changed here.", hint=f"Write into it: {line}")
    from recollect.runtime.files import whole_file

    try:
        where.config.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{where.config} could not be written: {error.strerror or error}.") from error
    with whole_file(where.config, overwrite=True) as stream:
        stream.write(text.encode())


def _file_values(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    import tomllib

    try:
        values = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} is not TOML: {error}.", hint='Lines look like this: limit = 20 or namespace = "acme".'
        ) from error
    for name in values:
        if name not in _READERS:
            from difflib import get_close_matches

            near = get_close_matches(name, _READERS, 1)
            hint = f"Did you mean {near[0]}?" if near else f"Settings: {', '.join(_READERS)}."
            raise InvalidInput(f"{path}: unknown setting {name!r}.", hint=hint)
    return values


def _read(name: str, value: object, place: str, base: Path | None = None) -> Any:
    return _told(place, lambda: _READERS[name](value, base))


def _told(place: str, read: Callable[[], Any]) -> Any:
    """What is read; where it cannot be used, the error names the place."""
    try:
        return read()
    except InvalidInput as problem:
        raise InvalidInput(f"{place}: {problem.message}", hint=problem.hint) from None


def _store(value: object, base: Path | None) -> Place:
    place = _AT_NEO4J_URI if value == NEO4J else read_place(_text(value, None), base)
    return place.absolute() if isinstance(place, Path) else place


def _text(value: object, _: Path | None) -> str:
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{value!r} is not a text.", hint="Put it in quotes.")
    return value.strip()


def _namespace(value: object, _: Path | None) -> Namespace:
    return namespace(_text(value, None))


def _model(value: object, _: Path | None) -> str:
    from recollect.models.language.choose import split_spec

    spec = "" if value == "" else _text(value, None)
    return spec if split_spec(spec)[0] else ""


def _upstream(value: object, _: Path | None) -> str:
    from recollect.models.language.wire import checked_base_url

    return "" if value == "" else checked_base_url(_text(value, None))


def _tokens(value: object, _: Path | None) -> int:
    try:
        number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else -1
    except ValueError:
        number = -1
    if number != 0 and not 400 <= number <= 100_000:
        raise InvalidInput(f"{value!r} is out of range.", hint="Use 400 to 100000 tokens, or 0 for none.")
    return number


def _window(value: object, _: Path | None) -> int | None:
    if value == LEARNED:
        return None
    try:
        number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else -1
    except ValueError:
        number = -1
    if number != 0 and not 1_000 <= number <= 100_000_000:
        raise InvalidInput(
            f"{value!r} is out of range.", hint=f"Use 1000 tokens or more, 0 to cut nothing, or {LEARNED}."
        )
    return number


def _reranker(value: object, base: Path | None) -> str:
    from recollect.models.rerank.choose import read_reranker

    spec = "" if value == "" else _text(value, None)
    meant = read_reranker(spec, base)
    if meant is None:
        return ""
    return spec if meant.folder is None else f"folder:{meant.folder.absolute()}"


def _daily_count(value: object, _: Path | None) -> int | None:
    number = _daily(value)
    if number is not None and number != int(number):
        raise InvalidInput(f"{value!r} is not a whole number.", hint=f"Use a number, or {UNLIMITED}.")
    return None if number is None else int(number)


def _daily_cost(value: object, _: Path | None) -> float | None:
    return _daily(value)


def _daily(value: object) -> float | None:
    if value == UNLIMITED:
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e15:
        raise InvalidInput(f"{value!r} is not an amount a day.", hint=f"Use 0 or more, or {UNLIMITED}.")
    return number


def _pager(value: object, _: Path | None) -> str:
    return "" if value == "" else _text(value, None)


def _color(value: object, _: Path | None) -> str:
    if value not in COLORS:
        raise InvalidInput(f"{value!r} is not a choice.", hint=f"Use one of: {', '.join(COLORS)}.")
    return str(value)


def _patterns(value: object, _: Path | None) -> tuple[str, ...]:
    """A list, or one text with a pattern on each line or between commas. It is read here, not first when it counts."""
    from pathspec import GitIgnoreSpec

    listed = re.split(r"[\n,]", value) if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise InvalidInput(f"{value!r} is no list of folders.", hint='Write them so: ["~/work/secret", "*.private/"].')
    patterns = tuple(one.strip() for one in listed if one.strip() and not one.lstrip().startswith("#"))
    if unknown := next((one for one in patterns if re.match(r"!?(?:\$|~[^/\\])", one)), None):
        raise InvalidInput(f"{unknown!r} would fit no folder.", hint="Write ~ for your home, or the whole path.")
    try:
        GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise InvalidInput(f"{error}.", hint="Patterns are written as in a .gitignore.") from None
    return patterns


def _limit(value: object, _: Path | None) -> int:
    try:
        number = int(value) if isinstance(value, int | str) and not isinstance(value, bool) else 0
    except ValueError:
        number = 0
    if not 1 <= number <= MOST_RESULTS:
        raise InvalidInput(f"{value!r} is out of range.", hint=f"Use 1 to {MOST_RESULTS}.")
    return number


def _switch(value: object, _: Path | None) -> bool:
    word = str(value).lower()
    if word not in _YES + _NO:
        raise InvalidInput(f"{value!r} is neither yes nor no.", hint="Use true or false.")
    return word in _YES


def _folder(named: str | None, default: Path) -> Path:
    """The XDG rule: a relative path counts as none."""
    return Path(named) if named and Path(named).is_absolute() else default


_READERS: Mapping[str, Callable[[object, Path | None], Any]] = {
    "store": _store,
    "namespace": _namespace,
    "embedder": _text,
    "model": _model,
    "background_model": _model,
    "reranker": _reranker,
    "daily_calls": _daily_count,
    "daily_tokens": _daily_count,
    "daily_cost": _daily_cost,
    "color": _color,
    "pager": _pager,
    "limit": _limit,
    "durable": _switch,
    "background": _switch,
    "openai_upstream": _upstream,
    "anthropic_upstream": _upstream,
    "proxy_budget": _tokens,
    "proxy_window": _window,
    "leave_out": _patterns,
}
