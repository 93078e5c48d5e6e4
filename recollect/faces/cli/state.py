"""What is remembered from one run to the next, beside the memory: the hits of the last search, the last import.

One small file a store and namespace, readable by its owner alone. It is a convenience: damaged or gone, it is empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import NotFound
from recollect.faces.cli.times import parse_stored

if TYPE_CHECKING:
    from recollect.importers.base import Problem
    from recollect.place import Place
    from recollect.search.result import SearchResults

_PROBLEMS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class LastHit:
    """A numbered hit of the last search: its conversation, its best message, all its messages, and the words found."""

    conversation: str
    message: str
    messages: tuple[str, ...]
    words: tuple[str, ...]


class State:
    """Reads and writes the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, folder: Path, store: Place, namespace: str) -> State:
        """The state of a store and namespace. A server is known by its address without user and password."""
        name = hashlib.blake2b(f"{store}\0{namespace}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return cls(folder / f"{name}.json")

    def remember_search(self, results: SearchResults) -> None:
        """Keeps what `show N` needs."""
        self._update(
            query=results.query,
            hits=[
                {
                    "conversation": hit.conversation.id,
                    "message": hit.best.message.id,
                    "messages": [m.message.id for m in hit.messages],
                    "words": sorted({word for m in hit.messages for word in m.why.words}),
                }
                for hit in results
            ],
        )

    def hit(self, number: int) -> LastHit:
        """A hit of the last search, counted from 1. Raises NotFound."""
        hits = self._hits()
        if not 1 <= number <= len(hits):
            searched = "hits" in self._read()
            found = f"The last search found {len(hits) or 'nothing'}." if searched else "Nothing was searched for yet."
            raise NotFound(f"There is no hit {number}. {found}", hint='Search first: recollect search "…"')
        return hits[number - 1]

    def hit_in(self, conversation: str) -> LastHit | None:
        """The hit of the last search in a conversation."""
        return next((hit for hit in self._hits() if hit.conversation == conversation), None)

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

    def _hits(self) -> list[LastHit]:
        kept = self._read().get("hits")
        with suppress(KeyError, TypeError):
            return [
                LastHit(h["conversation"], h["message"], tuple(h["messages"]), tuple(h["words"])) for h in kept or []
            ]
        return []

    def _read(self) -> Mapping[str, Any]:
        with suppress(OSError, ValueError):
            value = json.loads(self._path.read_text(encoding="utf-8"))
            return value if isinstance(value, dict) else {}
        return {}

    def _update(self, **values: object) -> None:
        """A state that cannot be kept must not fail the command."""
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(".part")
            partial.touch(mode=0o600)
            partial.write_text(json.dumps({**self._read(), **values}), encoding="utf-8")
            partial.replace(self._path)
