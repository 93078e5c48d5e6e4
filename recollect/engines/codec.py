"""The one codec of records: to plain values that any engine can store, in the order of the fields, and back.

Plain values are text, whole numbers, floats and None: times are microseconds, flags 0 or 1, maps and lists JSON (None
where they are empty). Values go by position: a list of columns names the fields
in the order of the record.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson

from recollect.errors import InvalidInput, StoreDamaged
from recollect.record import (
    NOTHING,
    Document,
    Message,
    Metadata,
    Part,
    PartKind,
    Version,
    from_microseconds,
    to_microseconds,
)

T = TypeVar("T")
Plain = str | int | float | None

#: What a sector that a disk has lost reads as. No text that is stored holds it (recollect.text.clean).
ZEROED = "\0" * 16

#: What keeps its earlier wordings.
_EDITED = (Message, Document)


_names: dict[type[Any], tuple[str, ...]] = {}


def names(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of record, in the order of `encode` and `decode`.

    >>> from recollect.record import Chunk
    >>> names(Chunk)
    ('id', 'parent_id', 'index', 'start', 'end', 'tokens', 'part')
    """
    if kind not in _names:
        _names[kind] = tuple(f.name for f in fields(kind))
    return _names[kind]


#: Where the earlier wordings stand, and the content.
_PLACES: dict[type[Any], tuple[int, int]] = {
    kind: (names(kind).index("versions"), names(kind).index("content")) for kind in _EDITED
}


def encode(record: Any) -> tuple[Plain, ...]:
    """The plain values of a record."""
    kind = type(record)
    encoded = tuple(
        [
            value if code is None else code(value)
            for (name, code, _) in _fields(kind)
            for value in [getattr(record, name)]
        ]
    )
    if kind in _EDITED and record.versions:
        at = names(kind).index("versions")
        return (*encoded[:at], _pack_versions(record.versions, record.content), *encoded[at + 1 :])
    return encoded


def decode(kind: type[T], values: Sequence[Any]) -> T:
    """The inverse. `values` may hold more than the fields; what follows them is left alone.

    Raises StoreDamaged for values that are no record of this kind: bytes that have flipped.
    """
    try:
        return _decode(kind, values)
    except (ValueError, TypeError, KeyError, OverflowError) as problem:
        raise StoreDamaged(
            f"A stored {kind.__name__.lower()} is damaged: {type(problem).__name__}.",
            hint="To go back to a backup: recollect restore FILE --replace. Without one, save what can be read: "
            "recollect export FILE",
        ) from problem


def _decode(kind: type[T], values: Sequence[Any]) -> T:
    count, coded = _coded(kind)
    found = list(values[:count])
    _require_types(kind, found)
    for at, code in coded:
        found[at] = code(found[at])
    if kind in _EDITED:
        at, content = _PLACES[kind]
        if ZEROED in values[content]:
            raise ValueError("zeros in the text")
        if values[at]:
            found[at] = _unpack_versions(values[at], values[content])
    return kind(*found)


_fitting = set[tuple[type[Any], ...]]()  # kinds, each with the types of its values


def _require_types(kind: type[Any], values: Sequence[Any]) -> None:
    """Raises TypeError for values that are not of the types that the fields are stored as; remembers those that are."""
    found = (kind, *map(type, values))
    if found not in _fitting:
        for (name, code, _), hint, value in zip(_fields(kind), get_type_hints(kind).values(), values, strict=True):
            if not isinstance(value, _stored_as(hint, coded=code is not None)):
                raise TypeError(f"{name} is {type(value).__name__}")
        _fitting.add(found)


def _stored_as(hint: Any, *, coded: bool) -> tuple[type[Any], ...]:
    """The types of a field's values; a float may have been written as a whole number."""
    inner = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if coded:
        return (int, types.NoneType) if {datetime, bool} & {*inner} else (str, types.NoneType)
    plain = tuple(getattr(one, "__supertype__", one) for one in inner)
    return (*plain, int) if float in plain else plain


def pack(value: Any) -> str | None:
    """JSON, or None for what is empty."""
    if not value:
        return None
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()


def ids_json(ids: Iterable[object]) -> str:
    """A list as JSON, for the statements that take one."""
    return orjson.dumps(list(ids)).decode()


def unpack_map(text: str | None) -> Metadata:
    """The inverse of `pack` for maps."""
    return MappingProxyType(orjson.loads(text)) if text else NOTHING


_Code = Callable[[Any], Any] | None


_known: dict[type[Any], tuple[tuple[str, _Code, _Code], ...]] = {}


def _fields(kind: type[Any]) -> tuple[tuple[str, _Code, _Code], ...]:
    if kind not in _known:
        hints = get_type_hints(kind)
        _known[kind] = tuple((f.name, *_codes(kind, f.name, hints[f.name])) for f in fields(kind))
    return _known[kind]


_coded_fields: dict[type[Any], tuple[int, tuple[tuple[int, Callable[[Any], Any]], ...]]] = {}


def _coded(kind: type[Any]) -> tuple[int, tuple[tuple[int, Callable[[Any], Any]], ...]]:
    """How many fields there are, and how those are read that do not stand there as they are: about half of them."""
    if kind not in _coded_fields:
        codes = [code for _, _, code in _fields(kind)]
        _coded_fields[kind] = len(codes), tuple((at, code) for at, code in enumerate(codes) if code is not None)
    return _coded_fields[kind]


def _codes(kind: type[Any], name: str, hint: Any) -> tuple[_Code, _Code]:
    """How a field of this type is written and read."""
    if kind in _EDITED and name == "versions":
        return (lambda _: None), (lambda _: ())
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(inner for inner in get_args(hint) if inner is not type(None))
    hint = getattr(hint, "__supertype__", hint)
    if hint is datetime:
        return to_microseconds, from_microseconds
    if hint is bool:
        return int, bool
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return (lambda value: value.value), {one.value: one for one in hint}.__getitem__
    if get_origin(hint) is tuple:
        if get_args(hint)[0] is Part:
            return _pack_parts, _unpack_parts
        return (lambda value: pack(list(value))), (lambda text: tuple(orjson.loads(text)) if text else ())
    if hint is Metadata or get_origin(hint) is get_origin(Metadata):
        return (lambda value: pack(dict(value)) if value else None), unpack_map
    return None, None


def _pack_parts(parts: Sequence[Part]) -> str | None:
    return pack(
        [
            _without_empty({"kind": p.kind.value, "name": p.name, "text": p.text, "metadata": dict(p.metadata)})
            for p in parts
        ]
    )


def _unpack_parts(text: str | None) -> tuple[Part, ...]:
    if not text:
        return ()
    return tuple(
        Part(PartKind(p["kind"]), p.get("name", ""), p.get("text", ""), MappingProxyType(p.get("metadata", {})))
        for p in orjson.loads(text)
    )


def _pack_versions(versions: Sequence[Version], content: str) -> str | None:
    """Each wording as what it shares with the beginning of the one after it, and the rest: an answer that was streamed
    into the store in 400 edits would else stand in it 400 times.
    """
    packed = []
    for version, after in zip(versions, [*(v.content for v in versions[1:]), content], strict=True):
        shared = _shared(version.content, after)
        packed.append(
            _without_empty(
                {
                    "shared": shared,
                    "rest": version.content[shared:],
                    "replaced_at": to_microseconds(version.replaced_at),
                }
            )
        )
    return pack(packed)


def _unpack_versions(text: str, content: str) -> tuple[Version, ...]:
    found: list[Version] = []
    after = content
    for packed in reversed(orjson.loads(text)):
        after = after[: packed.get("shared", 0)] + packed.get("rest", "")
        moment = from_microseconds(packed["replaced_at"])
        assert moment is not None
        found.append(Version(after, moment))
    return tuple(reversed(found))


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _plain(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return dict(value)
    return str(value)


_LAST_TIME, _LAST_ID = (1 << 63) - 1, "\U0010ffff"  # before the first of the newest


def page_end(row: Sequence[Any], newest: bool) -> str:
    """The cursor of a page: where it ends, by its last row, which begins with an id and ends with a time.

    >>> page_end(("m", 5), newest=True), page_begin('[5,"m"]', newest=True)
    ('[5,"m"]', (5, 'm'))
    """
    return orjson.dumps([row[-1], row[0]]).decode() if newest else str(row[0])


def page_begin(after: str | None, newest: bool) -> tuple[int, str]:
    """The time and the id behind which a page begins. Raises InvalidInput for a cursor that no page gave."""
    if not newest:
        return 0, after or ""
    if after is None:
        return _LAST_TIME, _LAST_ID
    try:
        given = orjson.loads(after)
    except orjson.JSONDecodeError:
        given = None
    match given:
        case [int(time), str(id)] if -(2**63) <= time < 2**63:
            return time, id
    raise InvalidInput("This is not the cursor of a page.", hint="Give the `next` of the page before.")
