"""What is remembered from one run to the next, beside the memory: the hits of the last search, the last import.

One small file a store and namespace, and one that says where the last search was; readable by their owner alone. They
are a convenience: damaged or gone, they are empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.faces.present.names import parse_stored

if TYPE_CHECKING:
    from recollect.answer.evidence import Citation
    from recollect.importers.base import Problem
    from recollect.runtime.files import Place
    from recollect.search.results.result import SearchResults

_PROBLEMS_KEPT = 1000
_LAST_SEARCH = "last-search.json"


@dataclass(frozen=True, slots=True)
class LastHit:
    """A numbered hit of the last search: its conversation, its best message, all its messages, and the words found."""

    conversation: str
    message: str
    messages: tuple[str, ...]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastDocument:
    """A document that the last search found: its id, where in it, and the words found."""

    document: str
    at: int
    words: tuple[str, ...]


class State:
    """Reads and writes the files."""

    def __init__(self, folder: Path, memory: str, namespace: str) -> None:
        self._path = folder / f"{_digest(memory, namespace)}.json"
        self._last = folder / _LAST_SEARCH
        self._memory, self._namespace = _digest(memory), namespace

    @classmethod
    def of(cls, folder: Path, store: Place, namespace: str) -> State:
        """The state of a store and namespace. A server is known by its address without user and password."""
        return cls(folder, str(store), namespace)

    def remember_search(self, results: SearchResults) -> None:
        """Keeps what `show N` needs, documents last."""
        hits = [
            LastHit(
                hit.conversation.id,
                hit.best.message.id,
                tuple(m.message.id for m in hit.messages),
                tuple(sorted({word for m in hit.messages for word in m.why.words})),
            )
            for hit in results
        ]
        documents = [LastDocument(hit.document.id, hit.at, tuple(sorted(hit.why.words))) for hit in results.documents]
        self._remember([*hits, *documents])

    def remember_answer(self, citations: Sequence[Citation]) -> None:
        """Keeps the same of an answer: `show N` opens what it cites as [N]."""
        self._remember(
            [
                LastDocument(c.message.id, c.place, ())
                if c.conversation is None
                else LastHit(c.conversation.id, c.message.id, (c.message.id,), ())
                for c in citations
            ]
        )

    def _remember(self, shown: Sequence[LastHit | LastDocument]) -> None:
        self._update(shown=[asdict(one) for one in shown])
        _write(self._last, {"memory": self._memory, "namespace": self._namespace})

    def searched_elsewhere(self) -> str | None:
        """The namespace of this store that was searched last, if it is another one; "" for another store."""
        last = _read(self._last)
        if not last or (last.get("memory"), last.get("namespace")) == (self._memory, self._namespace):
            return None
        return str(last.get("namespace", "")) if last.get("memory") == self._memory else ""

    def forget(self) -> None:
        """Drops what repeats words of the memory: the last search and the places of problems."""
        if kept := self._read():
            _write(self._path, {name: value for name, value in kept.items() if name == "imported"})

    def hit(self, number: int) -> LastHit | LastDocument:
        """A hit of the last search, counted from 1, documents last. Raises NotFound."""
        shown = self._shown()
        if not 1 <= number <= len(shown):
            searched = "shown" in self._read()
            found = f"The last search found {len(shown) or 'nothing'}." if searched else "You have not searched yet."
            raise NotFound(f"There is no result {number}. {found}", hint='Search first: recollect search "…"')
        return shown[number - 1]

    def hit_in(self, conversation: str) -> LastHit | None:
        """The hit of the last search in a conversation."""
        hits = (hit for hit in self._shown() if isinstance(hit, LastHit))
        return next((hit for hit in hits if hit.conversation == conversation), None)

    def remember_import(self, when: datetime, problems: Sequence[Problem]) -> None:
        """Keeps when it was, and what could not be read."""
        kept = [[p.place, p.reason, p.lost] for p in problems[:_PROBLEMS_KEPT]]
        self._update(imported=when.isoformat(), problems=kept)

    def last_import(self) -> datetime | None:
        """When something was imported last."""
        return parse_stored(self._read().get("imported"))

    def problems(self) -> list[tuple[str, str, bool]]:
        """What the last import could not read: place, reason, whether it is lost."""
        kept = self._read().get("problems")
        rows = kept if isinstance(kept, list) else []
        return [(str(row[0]), str(row[1]), bool(row[2])) for row in rows if isinstance(row, list) and len(row) == 3]

    def remember_chat(self, conversation: str) -> None:
        """Keeps which conversation was chatted in last."""
        self._update(chat=conversation)

    def last_chat(self) -> str | None:
        """The conversation that was chatted in last."""
        kept = self._read().get("chat")
        return kept if isinstance(kept, str) else None

    def _shown(self) -> list[LastHit | LastDocument]:
        """What the last search or answer showed, in order of its numbers."""
        kept = self._read().get("shown")
        with suppress(KeyError, TypeError, ValueError):
            return [
                LastDocument(one["document"], int(one["at"]), tuple(one["words"]))
                if "document" in one
                else LastHit(one["conversation"], one["message"], tuple(one["messages"]), tuple(one["words"]))
                for one in kept or []
            ]
        return []

    def _read(self) -> Mapping[str, Any]:
        return _read(self._path)

    def _update(self, **values: object) -> None:
        _write(self._path, {**self._read(), **values})


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _read(path: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        value = json.loads(path.read_text(encoding="utf-8"))
        return value if isinstance(value, dict) else {}
    return {}


def _write(path: Path, values: Mapping[str, object]) -> None:
    """A state that cannot be kept must not fail the command."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_suffix(".part")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(values), encoding="utf-8")
        partial.replace(path)
