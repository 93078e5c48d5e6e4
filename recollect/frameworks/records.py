"""A framework's own records (items of a store, files of a memory tool) as documents of the memory.

What is deleted is hidden, and stays in the record; what is written anew keeps what it said before as its versions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.memory import Memory
from recollect.memory.async_memory import AsyncMemory
from recollect.record import HIDDEN, Document, NodeId, namespace_part, stable_id
from recollect.store import Where
from recollect.text.clean import clean_text, clean_title

_GONE = "deleted"
_PAGE = 500
_MOST_FOUND = 1000
_OPERATORS = re.compile(r'[:"]')


class Records:
    """The records of one source. Thread-safe."""

    def __init__(self, memory: Memory, source: str) -> None:
        self._memory, self._source = memory, source

    @property
    def now(self) -> datetime:
        """The time, by the clock of the memory."""
        return self._memory.handle.clock()

    def id(self, *name: str) -> NodeId:
        """The id of the record of a name."""
        return stable_id("document", self._source, *name)

    def get(self, ids: Iterable[NodeId]) -> dict[NodeId, Document]:
        """Those that are there."""
        with self._memory.handle.space.view() as view:
            return {found.id: found for found in view.get(Document, list(ids)) if _is_there(found)}

    def every(self, *, deleted: bool = False) -> Iterator[Document]:
        """All that are there; with `deleted` also those that are hidden."""
        after = None
        with self._memory.handle.space.view() as view:
            while True:
                page = view.find(Document, Where(sources=(self._source,), deleted=False), after=after, limit=_PAGE)
                yield from (one for one in page.items if not one.erased if deleted or _is_there(one))
                if page.next is None:
                    return
                after = page.next

    def made(
        self,
        id: NodeId,
        title: str,
        text: str,
        metadata: Mapping[str, Any],
        *,
        created: datetime | None = None,
        searched: bool = True,
    ) -> Document:
        """A record to be put."""
        kept = dict(metadata) if searched else {**metadata, HIDDEN: True}
        words = clean_text(text)
        return Document(id, self._source, clean_title(title), words, created=created or self.now, metadata=kept)

    def read(self, id: NodeId) -> tuple[Document | None, int]:
        """A record, where it is there, and the number of its revision, for `put_as_read`."""
        with self._memory.handle.space.view() as view:
            found, revisions = view.get(Document, [id]), view.revisions([id])
        there = next(filter(_is_there, found), None)
        return there, revisions[id].number if id in revisions else 0

    def put(self, records: Sequence[Document]) -> None:
        """Writes records, in one transaction."""
        if records:
            left = self._memory.handle.as_left(tuple(records))
            self._memory.handle.ingest.documents([(record, ()) for record in left], again=True, newest=True)

    def put_as_read(self, records: Sequence[Document], read: Mapping[NodeId, int]) -> None:
        """The same, unless what was read before was changed since, by whomever. Raises Stale."""
        self._memory.handle.ingest.documents_as_read(self._memory.handle.as_left(tuple(records)), read)

    def remove(self, records: Iterable[Document]) -> None:
        """Hides records for good; the record keeps them."""
        self.put(self.hidden(records))

    def hidden(self, records: Iterable[Document]) -> list[Document]:
        """Records as they are when they are removed."""
        when = self.now.isoformat()
        return [replace(one, metadata={**one.metadata, HIDDEN: True, _GONE: when}) for one in records]

    def search(self, query: str) -> list[tuple[Document, float]]:
        """The records that have to do with a query, best first, with their scores."""
        words = plain(query)
        with self._memory.handle.space.view() as view:
            there = view.find(Document, Where(sources=(self._source,)), limit=1).items
        if not words or not there:
            return []
        found = self._memory.search(words, kind="document", source=self._source, limit=_MOST_FOUND)
        return [(hit.document, hit.score) for hit in found.documents]


def plain(query: str) -> str:
    """A query of a framework, which knows no operators: words alone; empty where there is none.

    >>> plain('-12 "source:nobody"')
    '12 source nobody'
    """
    words = (word.lstrip("-") for word in _OPERATORS.sub(" ", query).split())
    text = " ".join(filter(None, words))
    return text if any(letter.isalnum() for letter in text) else ""


def _is_there(record: Document) -> bool:
    return not record.erased and _GONE not in record.metadata


# Whose memory an adapter reads and writes: a namespace for each user, so that nobody is told another's facts.

USER, SESSION = "user", "session"


def synced(memory: Memory | AsyncMemory) -> Memory:
    """The memory itself, whichever face of it a program holds."""
    return memory.sync if isinstance(memory, AsyncMemory) else memory


def place(memory: Memory, *names: str) -> str:
    """The namespace below a memory's own that these names make; other names make another one."""
    return "/".join([str(memory.namespace), *map(namespace_part, names)])


def below(memory: Memory, *kinds: str) -> Iterator[Memory]:
    """The memories below a memory's own whose first name is one of these."""
    heads = tuple(f"{place(memory, kind)}/" for kind in kinds)
    for name in memory.upkeep.namespaces():
        if name.startswith(heads):
            yield memory.beside(name)
