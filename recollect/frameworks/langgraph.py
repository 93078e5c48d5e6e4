"""LangGraph: a `BaseStore`, so that the long-term memory of graphs is kept and searched here.

    from recollect.frameworks.langgraph import RecollectStore

    graph = builder.compile(store=RecollectStore(recollect.open()))

No `index` is needed: the whole value of an item is searched by Recollect's own vectors and words, or the `fields` of an
`index`; its `embed` and `dims` are not used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
)

from recollect.frameworks.records import Records
from recollect.memory import Memory
from recollect.record import Document, NodeId

_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda own, wanted: own == wanted,
    "$ne": lambda own, wanted: own != wanted,
    "$gt": lambda own, wanted: float(own) > float(wanted),
    "$gte": lambda own, wanted: float(own) >= float(wanted),
    "$lt": lambda own, wanted: float(own) < float(wanted),
    "$lte": lambda own, wanted: float(own) <= float(wanted),
}


class RecollectStore(BaseStore):
    """Items as documents of the memory. Values are JSON; a time to live is in minutes, counted from the last access."""

    supports_ttl = True

    def __init__(self, memory: Memory, *, index: Mapping[str, Any] | None = None, ttl: TTLConfig | None = None) -> None:
        self._records = Records(memory, "langgraph")
        self._fields: list[str] = list((index or {}).get("fields") or ["$"])
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does what is asked, reads first; what is put is one transaction, the last of each key."""
        asked = list(ops)
        results = [self._answer(op) for op in asked]
        self._put({(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)})
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            found = self._read(self._records.get([self._id(op.namespace, op.key)]).values(), refresh=op.refresh_ttl)
            return _item(found[0]) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _put(self, ops: Mapping[tuple[tuple[str, ...], str], PutOp]) -> None:
        known = self._records.get([self._id(*name) for name in ops])
        gone = [known[i] for name, op in ops.items() if op.value is None and (i := self._id(*name)) in known]
        made = [self._record(op, known.get(self._id(*name))) for name, op in ops.items() if op.value is not None]
        self._records.remove(gone)
        self._records.put(made)

    def _record(self, op: PutOp, known: Document | None) -> Document:
        value, now = dict(op.value or {}), self._records.now
        paths = [] if op.index is False else op.index or self._fields
        texts = [text for path in paths for text in get_text_at_path(value, path)]
        kept: dict[str, Any] = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": json.dumps(value),
            "updated": now.isoformat(),
        }
        if op.ttl is not None:
            kept |= {"ttl": op.ttl, "expires": (now + timedelta(minutes=op.ttl)).isoformat()}
        title = "/".join([*op.namespace, op.key])
        created = known.created if known is not None else now
        return self._records.made(
            self._id(op.namespace, op.key), title, "\n".join(texts), kept, created=created, searched=bool(texts)
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = list(op.namespace_prefix)

        def fits(record: Document) -> bool:
            if record.metadata["namespace"][: len(prefix)] != prefix:
                return False
            value = _value(record)
            return all(_agrees(_field(value, key), wanted) for key, wanted in (op.filter or {}).items())

        scored: dict[NodeId, tuple[Document, float | None]] = {}
        if op.query:
            found = self._records.search(op.query)
            best = max((score for _, score in found), default=0.0)
            scored = {record.id: (record, _within(score, best)) for record, score in found if fits(record)}
        most = op.offset + op.limit
        if len(scored) < most:  # what the search does not find comes after it, as in LangGraph's own stores
            rest = sorted(
                (r for r in self._records.every() if fits(r)), key=lambda r: (r.hidden, r.metadata["updated"])
            )
            nothing = 0.0 if op.query else None
            scored |= {r.id: (r, None if r.hidden else nothing) for r in rest if r.id not in scored}
        scores = {own: score for own, (_, score) in scored.items()}
        living = self._read([record for record, _ in scored.values()], refresh=False)[op.offset : most]
        self._read(living, refresh=op.refresh_ttl)
        return [SearchItem(**_fields(record), score=scores[record.id]) for record in living]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        living = self._read(self._records.every(), refresh=False)
        found = {tuple(record.metadata["namespace"]) for record in living}
        found = {one for one in found if all(_matches(condition, one) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            found = {one[: op.max_depth] for one in found}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _read(self, records: Iterable[Document], *, refresh: bool) -> list[Document]:
        """Those that have not expired; with `refresh` they live on for their whole time from now."""
        now, living, renewed = self._records.now, [], []
        for record in records:
            expires = record.metadata.get("expires")
            if expires is not None and datetime.fromisoformat(expires) <= now:
                continue
            living.append(record)
            if expires is not None and refresh:
                until = now + timedelta(minutes=record.metadata["ttl"])
                renewed.append(replace(record, metadata={**record.metadata, "expires": until.isoformat()}))
        self._records.put(renewed)
        return living

    def _id(self, namespace: tuple[str, ...], key: str) -> NodeId:
        return self._records.id(json.dumps([*namespace, key]))


def _value(record: Document) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(record.metadata["value"])
    return value


def _fields(record: Document) -> dict[str, Any]:
    kept = record.metadata
    return {
        "namespace": tuple(kept["namespace"]),
        "key": kept["key"],
        "value": _value(record),
        "created_at": record.created,
        "updated_at": datetime.fromisoformat(kept["updated"]),
    }


def _item(record: Document) -> Item:
    return Item(**_fields(record))


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    own = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(namespace) >= len(path) and all(wanted in ("*", part) for wanted, part in zip(path, own, strict=True))


def _within(score: float, best: float) -> float:
    """A score from 0 to 1, as LangGraph's own stores give them; the order and the distances stay."""
    return max(score, 0.0) / max(best, 1.0)


def _field(value: Mapping[str, Any], key: str) -> Any:
    """A field of that name, else the one that a dotted path leads to, as in "user.name"."""
    if key in value or "." not in key:
        return value.get(key)
    first, _, rest = key.partition(".")
    below = value.get(first)
    return _field(below, rest) if isinstance(below, Mapping) else None


def _agrees(own: Any, wanted: Any) -> bool:
    """Whether a field is what a filter wants: equal, of the same fields, or as operators compare."""
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_compared(own, name, value) for name, value in wanted.items())
        return isinstance(own, Mapping) and all(_agrees(own.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list | tuple):
        return isinstance(own, list) and len(own) == len(wanted) and all(map(_agrees, own, wanted))
    return bool(own == wanted)


def _compared(own: Any, name: str, wanted: Any) -> bool:
    if name not in _COMPARED:
        raise ValueError(f"Unsupported operator: {name}")
    try:
        return bool(_COMPARED[name](own, wanted))
    except (TypeError, ValueError):  # a field that is not there, or no number
        return False
