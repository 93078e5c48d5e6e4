"""LangGraph: a `BaseStore`, so that the long-term memory of graphs is kept and searched here.

    from recollect.frameworks.langgraph import RecollectStore

    graph = builder.compile(store=RecollectStore(recollect.open()))

No `index` is needed: the whole value of an item is searched by Recollect's own vectors and words, or the `fields` of an
`index`; its `embed` and `dims` are not used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

from recollect.frameworks.records import Records, below, place, synced
from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.memory.removal import Removal
from recollect.record import Document, NodeId

_SOURCE = "langgraph"
_DEPTH = 3  # names of a namespace that have one of their own; what is deeper lies there too
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda own, wanted: own == wanted,
    "$ne": lambda own, wanted: own != wanted,
    "$gt": lambda own, wanted: float(own) > float(wanted),
    "$gte": lambda own, wanted: float(own) >= float(wanted),
    "$lt": lambda own, wanted: float(own) < float(wanted),
    "$lte": lambda own, wanted: float(own) <= float(wanted),
}


class RecollectStore(BaseStore):
    """Items as documents, each namespace of LangGraph in one of its own below that of the memory; those that 0.2.0 kept
    together are moved there when it is opened. Values are JSON; a time to live is in minutes, counted from the last
    access.
    """

    supports_ttl = True

    def __init__(
        self, memory: Memory | AsyncMemory, *, index: Mapping[str, Any] | None = None, ttl: TTLConfig | None = None
    ) -> None:
        self._base = synced(memory)
        self._records = Records(self._base, _SOURCE)  # of old: what is there is moved
        for record in list(self._records.every(deleted=True)):
            Removal(self._base.handle).move([record.id], to=self._place(record.metadata["namespace"]))
        self._fields: list[str] = list((index or {}).get("fields") or ["$"])
        self.ttl_config = ttl

    def of(self, namespace: Sequence[str]) -> Memory:
        """The memory that the items of a namespace are kept in, with all that Recollect does."""
        return self._base.beside(self._place(namespace))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does what is asked, reads first; what is put is one transaction for each namespace, the last of each key."""
        asked = list(ops)
        results = [self._answer(op) for op in asked]
        put = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for namespace in dict.fromkeys(namespace for namespace, _ in put):
            self._put(self._of(namespace), {name: op for name, op in put.items() if name[0] == namespace})
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _answer(self, op: Op) -> Result:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            found = self._read(
                self._of(op.namespace).get([self._id(op.namespace, op.key)]).values(), refresh=op.refresh_ttl
            )
            return _item(found[0]) if found else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _put(self, records: Records, ops: Mapping[tuple[tuple[str, ...], str], PutOp]) -> None:
        known = records.get([self._id(*name) for name in ops])
        gone = [known[i] for name, op in ops.items() if op.value is None and (i := self._id(*name)) in known]
        made = [self._record(op, known.get(self._id(*name))) for name, op in ops.items() if op.value is not None]
        records.remove(gone)
        records.put(made)

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
            found = [one for records in self._under(prefix) for one in records.search(op.query) if fits(one[0])]
            best = max((score for _, score in found), default=0.0)
            found.sort(key=lambda one: -one[1])
            scored = {record.id: (record, _within(score, best)) for record, score in found}
        most = op.offset + op.limit
        if len(scored) < most:  # what the search does not find comes after it, as in LangGraph's own stores
            rest = sorted(
                (r for records in self._under(prefix) for r in records.every() if fits(r)),
                key=lambda r: (r.hidden, r.metadata["updated"]),
            )
            nothing = 0.0 if op.query else None
            scored |= {r.id: (r, None if r.hidden else nothing) for r in rest if r.id not in scored}
        scores = {own: score for own, (_, score) in scored.items()}
        living = self._read([record for record, _ in scored.values()], refresh=False)[op.offset : most]
        self._read(living, refresh=op.refresh_ttl)
        return [SearchItem(**_fields(record), score=scores[record.id]) for record in living]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        living = self._read((one for records in self._under(()) for one in records.every()), refresh=False)
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
        for record in renewed:
            self._of(record.metadata["namespace"]).put([record])
        return living

    def _place(self, namespace: Sequence[str]) -> str:
        return place(self._base, _SOURCE, *namespace[:_DEPTH])

    def _of(self, namespace: Sequence[str]) -> Records:
        """The items of a namespace."""
        return Records(self.of(namespace), _SOURCE)

    def _under(self, prefix: Sequence[str]) -> Iterator[Records]:
        """The items of a namespace and of those below it."""
        own = self._place(prefix)
        for memory in below(self._base, _SOURCE):
            if f"{memory.namespace}/".startswith(f"{own}/"):
                yield Records(memory, _SOURCE)

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
