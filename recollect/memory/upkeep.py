"""Upkeep: what is in the store, its index, checks, copies, secrets, and the work of the background."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recollect.memory.handle import Handle, writes
from recollect.record import Conversation, Kind, Message, Namespace, NodeId, to_microseconds
from recollect.record import namespace as checked
from recollect.runtime.arguments import checked_arguments
from recollect.runtime.tracing import records, traced
from recollect.store import Counts, IndexInfo, StoreInfo, Task, Violation, Where
from recollect.store.transfer import every

if TYPE_CHECKING:
    from threading import Event

    from recollect.derive.tasks.runs import Backlog
    from recollect.derive.tasks.worker import Consolidated
    from recollect.derive.worker import Done, Worker
    from recollect.ingest.secrets import StoredSecret, TakenOut

_MAINTENANCE = timedelta(seconds=1)
_CONVERSATIONS, _MESSAGES = 5, 40  # that are looked through for something to search for
_WORDS = 8  # of it that are searched
_LEAST = 4
_WITHIN = 10  # results


@dataclass(frozen=True, slots=True)
class DeletedRow:
    """A conversation of which something was deleted softly, and can be restored: those messages, in order."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing of it is left to be seen."""
        return self.conversation.deleted


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of a search for a message that is there; `message_id` is None where there is none to search for."""

    well: bool
    when: datetime
    took_ms: float
    message_id: str | None = None


@checked_arguments
class Upkeep:
    """Keeps a memory in good shape, and out of harm's way."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle

    # --- what is there ---------------------------------------------------------------------------------------------

    def stats(self) -> Counts:
        """What is in the namespace."""
        with self.handle.space.view() as view:
            return view.counts()

    def index(self) -> IndexInfo:
        """What search reads, and what is being built beside it."""
        with self.handle.space.view() as view:
            return view.index()

    def info(self) -> StoreInfo:
        """About the whole store: engine, schema, bytes."""
        return self.handle.store.info()

    @property
    def embedder_name(self) -> str:
        """The identity of the embedder in use."""
        return self.handle.whole_embedder.name

    def stored_embedder(self) -> str | None:
        """The embedder that made the vectors of this namespace."""
        embedder = self.index().embedder
        return embedder.name if embedder else None

    def namespaces(self) -> list[Namespace]:
        """The namespaces of the store that hold anything."""
        return self.handle.store.namespaces()

    def drop_namespace(self, name: str) -> bool:
        """Removes a namespace of the store for good, with its name: no record, tombstone, task, index or file of it is
        left, and what its models cost is counted under no name. Whether it was there. Interrupted, run it again. What
        is being derived in it at this moment, in whatever process, is given up.
        Backups keep it. Raises InvalidInput.
        """
        from recollect.memory.settings import own_places
        from recollect.models.language.budget import FILE, SpendingLog

        namespace = checked(name)
        was_there = self.handle.store.drop(namespace)
        SpendingLog(own_places().data / FILE).forget(self.handle.location, namespace)
        return was_there

    def deleted(self, *, limit: int = 50, offset: int = 0) -> list[DeletedRow]:
        """What was deleted softly and not forgotten, by conversation, the newest first; `restore` brings it back."""
        of: dict[NodeId, list[Message]] = {}
        with self.handle.space.view() as view:
            for message in every(view, Message, Where(deleted=True)):
                if not message.erased:
                    of.setdefault(message.conversation_id, []).append(message)
            found = view.get(Conversation, list(of))
        found.sort(key=lambda c: to_microseconds(c.updated or c.created) or 0, reverse=True)
        return [
            DeletedRow(c, tuple(sorted(of[c.id], key=lambda m: m.position))) for c in found[offset : offset + limit]
        ]

    def secrets(self, *, sources: str | Sequence[str] = ()) -> list[StoredSecret]:
        """Where keys, tokens and passwords stand in everything that is stored, or in what came from some sources: which
        kind, in what, how often. None is told itself; `messages` and `document` show what holds it.

        All of it is read, deleted messages and earlier wordings too. Raises InvalidInput for a source that is none.
        """
        from recollect.ingest.secrets import stored_secrets

        named = self.handle.sources(sources)
        with self.handle.space.view() as view:
            return list(stored_secrets(view, named, self.handle.masking.of(view)))

    @traced("delete_memory", lambda gone: records(gone.messages))
    @writes
    def forget_secrets(
        self,
        *,
        sources: str | Sequence[str] = (),
        dry_run: bool = False,
        confirm: Callable[[TakenOut], bool] | None = None,
    ) -> TakenOut:
        """Takes keys, tokens and passwords out for good, of everything or of what came from some `sources` alone; the
        text around them stays, with `[secret: …]` in their place.

        No table, index or file of the namespace holds the strings any longer, and what comes in later does not bring
        them back, but for an import that is told to (`again`). Returns what goes; `confirm` is shown it before anything
        does. Raises InvalidInput for a source that is none, StoreError.
        """
        from recollect.ingest.secrets import TakenOut

        named = self.handle.sources(sources)
        if dry_run or confirm is not None:
            found = self.handle.ingest.take_out(named, dry_run=True)
            if dry_run or not found.secrets or (confirm is not None and not confirm(found)):
                return found if dry_run else TakenOut()
        return self.handle.ingest.take_out(named)

    # --- checks and copies -----------------------------------------------------------------------------------------

    def check(self) -> list[Violation]:
        """Verifies every invariant of the namespace; an empty list means that all hold."""
        return self.handle.space.check()

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> list[Violation]:
        """Makes anew what is derived, where something is wrong with it; returns what is wrong then."""
        if any(violation.remedy == "reindex" for violation in self.check()):
            self.reindex(progress=progress)
        return self.check()

    def reindex(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Makes anew what search derives from the messages, beside what is in use; returns how many messages.

        Search answers meanwhile; interrupted, it goes on where it was. `progress` gets the messages done and all.
        """
        from recollect.ingest.reindex import reindex

        done = reindex(self.handle.space, self.handle.ingest, progress)
        self.maintain()
        return done

    def maintain(self, budget: timedelta | None = None) -> bool:
        """Does what is due of the store's own upkeep, for so long at most; True while there is more."""
        if budget is not None:
            return self.handle.space.maintain(budget)
        while self.handle.space.maintain(_MAINTENANCE):
            pass
        return False

    def backup(self, target: str | Path, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Writes a verified copy of the whole store, all namespaces, while it is in use; returns its bytes.

        `recollect.restore` puts it back. Raises InvalidInput, StoreError.
        """
        path = Path(target).expanduser()
        self.handle.store.backup(path, progress)
        return path.stat().st_size

    def probe(self) -> Probe:
        """Searches for the beginning of one of the newest messages, and says whether that message was found.

        Raises StoreError where the store cannot be read.
        """
        from recollect.search.query.request import Filters

        message = self._something_said()
        if message is None:
            return Probe(well=True, when=self.handle.clock(), took_ms=0.0)
        query = " ".join(message.content.split()[:_WORDS])
        began = time.perf_counter()
        filters = Filters(conversation=message.conversation_id, mode="instant")
        search = self.handle.read_search(query, filters, limit=_WITHIN, group_by="message")
        found = self.handle.searcher(search)
        took = (time.perf_counter() - began) * 1000
        ids = {one for hit in found for entry in hit.messages for one in (entry.message.id, *entry.copies)}
        return Probe(message.id in ids, self.handle.clock(), took, message.id)

    def _something_said(self) -> Message | None:
        """Words of the newest conversations that can be searched for."""
        with self.handle.space.view() as view:
            newest = view.find(Conversation, Where(deleted=False, order="newest"), limit=_CONVERSATIONS).items
            for conversation in newest:
                for message in view.find(Message, Where(conversation=conversation.id), limit=_MESSAGES).items:
                    if message.kind is Kind.SAID and not message.deleted and len(message.content.split()) >= _LEAST:
                        return message
        return None

    # --- the work of the background --------------------------------------------------------------------------------

    def consolidate(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        progress: Callable[[Consolidated], None] | None = None,
    ) -> Consolidated:
        """Derives what is due in the namespace, or so many tasks of it; returns what was done.

        `again` derives everything anew from the messages: what a person corrected stays, and what a model wrote of
        words that have not changed is not asked for again. Interrupted, it goes on where it was. `progress` gets what
        has been done so far. Raises StoreError.
        """
        return self._worker.drain([self.handle.space.namespace], limit=limit, again=again, progress=progress)

    def embed(self, *, progress: Callable[[int, int], None] | None = None, limit: int | None = None) -> int:
        """Makes the vectors of the quality mode for what was said and has none yet, newest first; returns how many.

        Interrupted, it goes on where it was; while a background worker makes them, it waits for that. `progress` gets
        the passages made and wanted.
        """
        from recollect.derive.tasks.quality import embed_all

        return embed_all(self.handle.space, self.handle.make_quality, self.handle.clock, limit, progress)

    def backlog(self, *, namespaces: Sequence[str] | None = None) -> Backlog | None:
        """What waits for the model that is set, and about what it will take; in this namespace, or in some. None where
        none is set. Nothing is asked or changed.
        """
        from recollect.derive.tasks.runs import backlogs
        from recollect.derive.worker import model_works

        if self.handle.model is None:
            return None
        spaces = [self.handle.store.space(checked(name)) for name in namespaces or [self.handle.namespace]]
        return backlogs(spaces, model_works(), self.handle.model)

    def tasks(self, state: Literal["due", "leased", "dead"] = "due", *, limit: int = 100) -> list[tuple[Task, str]]:
        """What the worker has to do, is doing, or has given up, oldest first; with the reason of the last failure."""
        with self.handle.space.view() as view:
            return view.tasks(state, limit)

    def retry(self, *ids: str) -> int:
        """Has tasks that were given up tried again: those with these ids, or all. Returns how many."""
        revived = self.handle.space.revive([NodeId(i) for i in ids] if ids else None)
        if revived:
            self.handle.wrote()
        return revived

    def work(
        self,
        *,
        namespaces: Sequence[str] | None = None,
        once: bool = False,
        again: bool = False,
        stop: Event | None = None,
        is_over: Callable[[float, float | None], bool] | None = None,
        progress: Callable[[Done], None] | None = None,
    ) -> Done:
        """Does what the background worker does: consolidates, makes quality vectors, keeps the store in shape; in all
        namespaces of the store, or in some. Returns what was done.

        Until nothing is left to do (`once`), or until `stop` is set or `is_over` says so, which is told between rounds
        for how many seconds nothing was done, and in how many something that failed is tried again. `again` as in
        `consolidate`.
        """
        from recollect.derive.worker import WorkerLoop

        names = None if namespaces is None else [checked(name) for name in namespaces]
        shift = WorkerLoop(
            self.handle.store,
            self._worker,
            self.handle.make_quality,
            self._renew_passages,
            namespaces=names,
            again=again,
            stop=stop,
            clock=self.handle.clock,
            progress=progress,
        )
        return shift.once() if once else shift.run(is_over)

    def _renew_passages(self, name: Namespace, is_time: Callable[[], bool]) -> bool:
        """Makes anew the passages that an earlier version made, until it is time for other work; search uses those
        that there are meanwhile. Returns whether there were any.
        """
        from recollect.ingest.reindex import reindex

        there = self.handle.beside(name)
        with there.space.view() as view:
            made_by = view.index().embedder
        if made_by is None or not made_by.is_outdated or made_by.name != self.handle.embedder.name:
            return False
        reindex(there.space, there.ingest, stop=is_time)
        return True

    @cached_property
    def _worker(self) -> Worker:
        from recollect.derive.worker import Worker
        from recollect.models.language.budget import within

        model = self.handle.model  # not this handle, which holds the worker: who is dropped is gone at once
        return Worker(
            self.handle.store,
            self.handle.whole_embedder,
            model=lambda namespace: within(model, namespace) if model else None,
            clock=self.handle.clock,
        )
