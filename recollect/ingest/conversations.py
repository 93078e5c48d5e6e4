"""Conversations of an import: each is told from what is stored, and what is new of it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from recollect.derive.tasks import queue
from recollect.importers.records.forgotten import COUNT, without
from recollect.importers.records.identity import Chains, Known, Settled, tokens
from recollect.importers.records.merge import MergePlan, plan
from recollect.ingest.secrets import TITLE, Withheld
from recollect.ingest.writer import Writer
from recollect.record import Node, NodeId, Thread
from recollect.record.wire import digest
from recollect.store import Change, Mark
from recollect.store.update import insist


@dataclass(slots=True)
class WrittenThreads:
    """What a write did, in conversations and messages. `ids`: under which the conversations are stored; `apart`: those
    that came under the id of another conversation and got one of their own.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    forgotten: int = 0
    messages: int = 0
    ids: dict[NodeId, None] = field(default_factory=dict, repr=False)
    apart: list[NodeId] = field(default_factory=list, repr=False)

    def add(self, other: WrittenThreads) -> None:
        """Counts another write in."""
        self.new += other.new
        self.changed += other.changed
        self.same += other.same
        self.forgotten += other.forgotten
        self.messages += other.messages
        self.ids |= other.ids
        self.apart += other.apart


@dataclass(slots=True)
class _WritingDone:
    """What goes into one transaction: conversations as they came, and under the ids that they are stored by."""

    written: WrittenThreads = field(default_factory=WrittenThreads)
    came: dict[NodeId, Thread] = field(default_factory=dict)
    threads: dict[NodeId, Thread] = field(default_factory=dict)
    _unread: list[Thread] = field(default_factory=list)  # with ids, their words not looked at yet
    _with_ids: Chains = field(default_factory=Chains)
    _without_ids: Chains = field(default_factory=Chains)

    def may_hold(self, incoming: Thread) -> bool:
        """Whether this may be one of them: by its id or, where one of the two has none, by its words."""
        if incoming.conversation.id in self.came or incoming.conversation.id in self.threads:
            return True
        if incoming.conversation.source_id:
            return bool(self._without_ids) and any(self._without_ids.like(incoming, tokens(incoming)))
        for thread in self._unread:
            self._with_ids.add(thread, tokens(thread))
        self._unread.clear()
        says = tokens(incoming)
        return any(self._without_ids.like(incoming, says)) or any(self._with_ids.like(incoming, says))

    def add(self, incoming: Thread, thread: Thread) -> None:
        """Takes a conversation in."""
        self.came[incoming.conversation.id] = incoming
        self.threads[thread.conversation.id] = thread
        if incoming.conversation.source_id:
            self._unread.append(incoming)
        else:
            self._without_ids.add(thread, tokens(incoming))


@dataclass(frozen=True, slots=True)
class Planned:
    """A transaction that writes conversations (None: nothing of them is new), and those that have to wait for it.

    `alters`: not all of them are new.
    """

    done: _WritingDone
    waiting: list[Thread]
    change: Change | None
    alters: bool

    def may_concern(self, threads: Iterable[Thread]) -> bool:
        """Whether writing it may decide what one of these is the same as: then they are planned afterwards.

        It does not where it only adds conversations with ids, and these have others: words are not compared then.
        """
        came = [thread.conversation for thread in self.done.came.values()]
        ids = {(conversation.source, conversation.source_id) for conversation in came}
        if self.alters or any(not source_id for _, source_id in ids):
            return True
        incoming = [thread.conversation for thread in threads]
        return any(
            not one.source_id or one.id in self.done.threads or (one.source, one.source_id) in ids for one in incoming
        )


class Conversations(Writer):
    """Writes conversations as an import brings them: whole."""

    def threads(self, threads: Sequence[Thread], *, again: bool = False, known: Known | None = None) -> WrittenThreads:
        """Writes conversations, in one transaction where they are different ones. What is stored just so is left alone.

        `known` tells which stored conversation each is; without it their ids do. What was erased stays away unless it
        is asked for `again`.
        """
        written, waiting = WrittenThreads(), list(threads)
        while waiting:
            planned = insist(partial(self._threads, waiting, again, known), "These conversations are")
            written.add(self.written(planned, known))
            waiting = planned.waiting
        return written

    def plan_threads(self, threads: Sequence[Thread], *, again: bool, known: Known | None) -> Planned:
        """Plans a transaction, for `write_planned`. What may be the same as something in it has to wait."""
        done, waiting, plans, revived = _WritingDone(), list[Thread](), list[MergePlan](), list[Node]()
        with self._space.view() as view:
            revisions = view.revisions([thread.conversation.id for thread in threads])
            withheld = Withheld.read(view)
            forgotten = {COUNT: known.forgotten.as_of(view)} if known is not None else {}
            sources = {thread.conversation.source for thread in threads}
            told_again = {
                one for thread in threads if again for one in withheld.of(thread.conversation.source).held_in(thread)
            }
            titles = {thread.conversation.title for thread in threads if again}
            told_again |= {(title, TITLE) for title in titles if withheld.holds_title(title)}
            for came in threads:
                incoming = came if again else withheld.of_thread(came, self._count_tokens)
                if done.came.get(incoming.conversation.id) == incoming:
                    done.written.same += 1
                    continue
                if done.may_hold(incoming):
                    waiting.append(incoming)
                    continue
                own = revisions.get(incoming.conversation.id)
                fingerprint = digest(incoming)
                if known is None or (own and own.digest == fingerprint and not again):
                    settled = Settled(incoming)
                else:
                    settled = known.settle(view, incoming, own)
                thread = settled.thread
                stored_as = thread.conversation.id
                if stored_as in done.threads:
                    waiting.append(incoming)
                    continue
                revision = own if stored_as == incoming.conversation.id else view.revisions([stored_as]).get(stored_as)
                erased = revision is not None and revision.erased and not again
                gone = known.forgotten(thread) if known is not None and not erased else []
                if again:
                    revived += [one.revived() for one in gone]
                elif revision is not None:  # what is there stays
                    single = [one for one in gone if one.gone is not None]
                    thread = without(thread, single, settled.load(view)) if single else thread
                elif any(one.gone is None for one in gone):
                    done.add(incoming, thread)
                    done.written.forgotten += 1
                    continue
                elif gone:
                    thread = without(thread, gone)
                as_it_came = fingerprint if thread is incoming else None
                made = plan(thread, revision, partial(settled.load, view), fingerprint=as_it_came, again=again)
                done.add(incoming, thread)
                plans += [made] if made else []
                done.written.forgotten += bool(revision and revision.erased and not again)
                done.written.apart += [stored_as] if settled.apart else []
        written = done.written
        written.new = sum(not made.revision for made in plans)
        written.changed = sum(bool(made.revision) and made.changes for made in plans)
        written.same += len(done.threads) - written.new - written.changed - written.forgotten
        written.messages = sum(made.added for made in plans)
        written.ids = dict.fromkeys(done.threads)
        alters = bool(written.apart) or any(made.revision for made in plans)
        if told_again:
            revived.append(withheld.without(told_again, sources).node())
        return Planned(done, waiting, self._change(plans, revived, again, forgotten), alters)

    def write_planned(self, planned: Planned) -> None:
        """Writes what was planned. Raises Stale where somebody else has changed one of these conversations since."""
        if planned.change is not None:
            self._space.write(planned.change)

    def written(self, planned: Planned, known: Known | None) -> WrittenThreads:
        """What was done, once it is written; `known` learns of it."""
        if known is not None:
            for thread in planned.done.threads.values():
                known.learn(thread)
        return planned.done.written

    def _threads(self, threads: Sequence[Thread], again: bool, known: Known | None) -> Planned:
        planned = self.plan_threads(threads, again=again, known=known)
        self.write_planned(planned)
        return planned

    def _change(
        self, plans: Sequence[MergePlan], beside: Sequence[Node], again: bool, expect: Mapping[NodeId, int]
    ) -> Change | None:
        if not plans:
            return None
        passages = self.threads_passages([(made.thread, set(made.fresh), made.retitled) for made in plans])
        ids = [made.thread.conversation.id for made in plans if made.changes or not made.revision]
        return Change(
            expect={**expect, **{made.thread.conversation.id: made.revision for made in plans}},
            put=[*(record for made in plans for record in made.put), *beside],
            digests={made.thread.conversation.id: made.digest for made in plans if made.digest},
            revive=again,
            mark=[*(mark for made in plans for mark in made.mark), *self._stale(plans)],
            index=self._index_change(passages),
            tasks=queue.due(ids),
        )

    def _stale(self, plans: Sequence[MergePlan]) -> list[Mark]:
        """What was derived from conversations that are there already and change now."""
        changed = [made for made in plans if made.revision]
        if not changed:
            return []
        messages = [i for made in changed for i in (*made.fresh, *(i for mark in made.mark for i in mark.ids))]
        with self._space.view() as view:
            return queue.stale(view, [made.thread.conversation.id for made in changed], messages)
