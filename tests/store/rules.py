"""The rule-based test of the port: two handles on one store, two threads each, one at a time, beside the model.

An engine is what `opened` gives: a place, and how to open it with a clock. See test_rules.py for the engines.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect.errors import NotFound, StoreError
from recollect.record import Conversation, Namespace, NodeId, namespace
from recollect.store import (
    Change,
    Erased,
    Fenced,
    IndexChange,
    Lease,
    Space,
    Stale,
    View,
)
from recollect.store.passages import QualityVectors
from tests.store.browsing import browse, walk
from tests.store.comparing import (
    assert_empty,
    assert_same,
    assert_same_once_read,
    assert_same_words,
    look_for,
)
from tests.store.making_passages import EMBEDDERS
from tests.store.opening import Clock, Opening
from tests.store.planning import Planner
from tests.store.reference_model import Model

MINE, OTHER, UNTOUCHED = namespace("mine"), namespace("other"), namespace("untouched")
SPACES = st.sampled_from([MINE, MINE, MINE, OTHER])
SEEDS = st.integers(0, 1 << 16)
PATIENCE = 60.0  # seconds that a step may take
KINDS = ("facts", "summary")

T = TypeVar("T")


@dataclass(frozen=True)
class Kept:
    """A view that is kept open while others write, and the model as it was when the view began."""

    stack: ExitStack
    view: View
    model: Model
    handle: int
    thread: int


class Rules(RuleBasedStateMachine):
    """Every rule does one thing to the store and to the model; the invariants compare them."""

    #: Whether a view answers everything from its snapshot, or only what it has read before.
    still = True

    def __init__(self, opened: AbstractContextManager[Opening]) -> None:
        super().__init__()
        self.exit = ExitStack()
        self.open = self.exit.enter_context(opened)
        self.clock = Clock()
        self.handles = [self.open(self.clock), self.open(self.clock)]
        self.threads = [[self.exit.enter_context(ThreadPoolExecutor(1)) for _ in range(2)] for _ in range(2)]
        self.models = {MINE: Model(), OTHER: Model()}
        self.leases: list[tuple[Namespace, Lease]] = []
        self.kept: list[Kept] = []
        self.steps = self.reopened = 0
        self.handle = self.thread = 0

    def teardown(self) -> None:
        try:
            for kept in list(self.kept):
                self._put_away(kept)
            for space in (MINE, OTHER, UNTOUCHED):
                assert self._run(lambda space=space: self._space(space).check()) == []  # type: ignore[misc]
        finally:
            for handle in self.handles:
                handle.close()
            self.exit.close()

    @initialize(seed=SEEDS)
    def begin_with_something(self, seed: int) -> None:
        for number, what in enumerate(["grow", "grow", "document", "nodes", "tasks"]):
            for space in (MINE, OTHER):
                self._write(space, getattr(Planner(self.models[space], Random(seed + number), self.clock.now), what)())

    # --- what acts --------------------------------------------------------------------------------------------------
    @rule(handle=st.integers(0, 1), thread=st.integers(0, 1))
    def go_on_as(self, handle: int, thread: int) -> None:
        """What follows is done by this thread, with this handle."""
        self.handle, self.thread = handle, thread

    @rule(minutes=st.sampled_from([-300, -1, 0, 1, 10, 2000]))
    def let_time_pass(self, minutes: int) -> None:
        """The clock goes on, or back."""
        self.clock.now += timedelta(minutes=minutes)

    # --- writing ----------------------------------------------------------------------------------------------------
    @rule(
        space=SPACES,
        seed=SEEDS,
        what=st.sampled_from(
            [
                "grow",
                "rewrite",
                "retitle",
                "revive",
                "delete",
                "restore",
                "switch",
                "document",
                "nodes",
                "edges",
                "states",
                "tasks",
                "reindex_owners",
                "wrong",
                "wrong_embedder",
            ]
        ),
    )
    def change(self, space: Namespace, seed: int, what: str) -> None:
        self._plan(what, space, seed)

    @rule(space=SPACES, seed=SEEDS, what=st.sampled_from(["grow", "rewrite", "nodes", "delete", "restore"]))
    def change_a_little(self, space: Namespace, seed: int, what: str) -> None:
        self._plan(what, space, seed)

    def _plan(self, what: str, space: Namespace, seed: int) -> None:
        random = Random(seed)
        change = getattr(Planner(self.models[space], random, self.clock.now), what)()
        if change is None:
            return
        revisions = self.models[space].revisions
        how = random.random()
        if how < 0.3:  # planned on what is there
            touched = [r.id for r in change.put if r.id in revisions or isinstance(r, Conversation)]
            change = replace(change, expect={node_id: revisions.get(node_id, 0) for node_id in touched})
        elif how < 0.4 and revisions:  # planned on what was there before
            chosen = random.choice(sorted(revisions))
            change = replace(change, expect={chosen: revisions[chosen] - random.choice([-1, 1])})
        elif how < 0.45:
            change = replace(change, expect={NodeId("Conv-never"): 1})
        self._write(space, change)
        if how > 0.9:  # written twice it is written once
            self._write(space, change)

    @precondition(lambda self: self.steps % 3 == 0)
    @rule(space=SPACES, seed=SEEDS)
    def embed(self, space: Namespace, seed: int) -> None:
        """Quality vectors for some of what has none; and for a number that nobody has."""
        random = Random(seed)
        with_ = self._read(space, lambda view: view.unembedded(random.choice([1, 5])))
        if not with_:
            return
        numbers = [text.number for text in with_]
        numbers = [*numbers, numbers[0], 1 << 40]
        quality = [
            QualityVectors(
                number,
                np.ones(384, np.float32) / np.float32(384**0.5),
                np.array([7, number % 99], np.uint16),
                np.ones((2, 128), np.int8),
            )
            for number in numbers
        ]
        self._run(lambda: self._space(space).write(Change(index=IndexChange(quality=quality))))
        self.models[space] = self.models[space].embed((t.owner_id, t.part, t.start) for t in with_)

    # --- tasks ------------------------------------------------------------------------------------------------------
    @rule(
        space=SPACES,
        worker=st.sampled_from(["a", "b"]),
        kinds=st.sampled_from([KINDS, KINDS, KINDS[:1], ()]),
        most=st.integers(1, 3),
        minutes=st.sampled_from([1, 60]),
    )
    def claim(self, space: Namespace, worker: str, kinds: tuple[str, ...], most: int, minutes: int) -> None:
        model, now = self.models[space], self.clock.now
        leases = self._run(lambda: self._space(space).claim(worker, kinds, most, timedelta(minutes=minutes)))
        expected = model.due(kinds, most, now)
        assert [lease.task for lease in leases] == [held.task for held in expected]
        until = now + timedelta(minutes=minutes)
        assert [(x.until, x.attempt, x.answer) for x in leases] == [(until, h.attempt + 1, h.answer) for h in expected]
        known = {(space, lease.task.id, lease.fence) for space, lease in self.leases}
        assert not known & {(space, lease.task.id, lease.fence) for lease in leases}, "a fence was given twice"
        self.models[space] = model.claim(leases, worker)
        self.leases += [(space, lease) for lease in leases]

    @precondition(lambda self: self.leases)
    @rule(
        seed=SEEDS,
        what=st.sampled_from(["keep", "again", "dead", "done", "done"]),
        late=st.booleans(),
        elsewhere=st.sampled_from([False, False, False, True]),
    )
    def work(self, seed: int, what: str, late: bool, elsewhere: bool) -> None:
        """A worker ends its task, or gives it back; maybe with a lease that has long been taken over."""
        random = Random(seed)
        space, lease = random.choice(self.leases) if late else self.leases[-1]
        if elsewhere:
            space = OTHER if space == MINE else MINE
        model, port = self.models[space], self._space(space)
        if what == "keep":
            answer = bytes([random.randint(0, 255)])
            self._do(space, lambda: model.keep(lease, answer), lambda: port.keep(lease, answer))
        elif what == "done":
            change = Planner(model, random, self.clock.now).nodes()
            self._write(space, replace(change, leases=[lease]))
        else:
            again = self.clock.now + timedelta(minutes=random.choice([-5, 0, 20])) if what == "again" else None
            self._do(space, lambda: model.release(lease, "why", again), lambda: port.release(lease, "why", again))

    @precondition(lambda self: self.leases)
    @rule(space=SPACES, minutes=st.sampled_from([0, 1, 60]))
    def renew(self, space: Namespace, minutes: int) -> None:
        """A worker holds on to what it has, and to what it has no longer."""
        leases, length = [lease for _, lease in self.leases[-5:]], timedelta(minutes=minutes)
        after, expected = self.models[space].renew(leases, self.clock.now + length)
        assert self._run(lambda: self._space(space).renew(leases, length)) == expected
        self.models[space] = after

    @rule(space=SPACES, seed=SEEDS, everything=st.booleans())
    def revive(self, space: Namespace, seed: int, everything: bool) -> None:
        """Somebody has the dead tasks tried again."""
        known = sorted(self.models[space].tasks)
        ids = None if everything or not known else [Random(seed).choice(known)]
        after, expected = self.models[space].revive(ids)
        assert self._run(lambda: self._space(space).revive(ids)) == expected
        self.models[space] = after

    # --- erasing ----------------------------------------------------------------------------------------------------
    @rule(space=SPACES, seed=SEEDS)
    def erase(self, space: Namespace, seed: int) -> None:
        random, model = Random(seed), self.models[space]
        known: list[NodeId] = [*model.messages, *model.conversations, *model.documents, *model.nodes]
        ids = random.sample(known, min(len(known), random.choice([0, 1, 1, 2, 4])))
        if random.random() < 0.1:
            ids.append(random.choice([NodeId("nothing"), *model.calls, *model.turns]))
        try:
            after = model.erase(ids)
        except NotFound:
            with pytest.raises(NotFound):
                self._run(lambda: self._space(space).erase(ids))
            return
        erased = self._run(lambda: self._space(space).erase(ids))
        gone = {
            name: sum(
                r.erased and not getattr(model, name)[node_id].erased for node_id, r in getattr(after, name).items()
            )
            for name in ("conversations", "messages", "documents", "nodes")
        }
        passages = [sum(1 for _ in one.live.living()) if one.live else 0 for one in (model, after)]
        assert erased == Erased(**gone, passages=passages[0] - passages[1])
        self._adopt_revisions(space, model, after)

    def _adopt_revisions(self, space: Namespace, before: Model, after: Model) -> None:
        """Erasing raises the revisions of what it touches, by how much is left to the engine."""
        found = self._read(space, lambda view: view.revisions(list(after.revisions)))
        for node_id, number in before.revisions.items():
            of = [before.messages[m.id] != m for m in after.messages.values() if m.conversation_id == node_id]
            changed = any(of) or before.is_erased(node_id) != after.is_erased(node_id)
            assert found[node_id].number > number or (found[node_id].number == number and not changed), node_id
            after.revisions[node_id] = found[node_id].number
        self.models[space] = after

    # --- generations ------------------------------------------------------------------------------------------------
    @rule(space=SPACES, embedder=st.sampled_from(EMBEDDERS))
    def begin(self, space: Namespace, embedder: Any) -> None:
        after = self.models[space].begin(embedder)
        number = self._run(lambda: self._space(space).generation("begin", embedder))
        if not number:  # the namespace is not there
            assert not self.models[space].holds_anything()
            assert not self.models[space].generations
            return
        assert after.building is not None
        assert number == after.building.number
        self.models[space] = after

    @precondition(lambda self: any(model.building for model in self.models.values()))
    @rule(seed=SEEDS)
    def build(self, seed: int) -> None:
        """A part of what is being built; of the todo too."""
        random = Random(seed)
        space = random.choice([name for name, model in self.models.items() if model.building])
        planner = Planner(self.models[space], random, self.clock.now)
        if random.random() < 0.2:  # by somebody who builds what is not being built
            change = planner.built([*self.models[space].messages][:2])
            assert change.index is not None
            self._write(space, replace(change, index=replace(change.index, generation=99)))
            return
        owners = [*self.models[space].messages, *self.models[space].calls, *self.models[space].conversations]
        self._write(space, planner.built(random.sample(owners, min(3, len(owners)))))

    @precondition(lambda self: any(model.building for model in self.models.values()))
    @rule(seed=SEEDS, whole=st.booleans())
    def publish(self, seed: int, whole: bool) -> None:
        """Search reads the new one when there is nothing to do for it any more."""
        random = Random(seed)
        space = random.choice([name for name, model in self.models.items() if model.building])
        if whole:
            for refreshed in (False, True):
                model = self.models[space]
                assert model.building is not None
                owners = [*model.messages, *model.calls, *model.conversations, *model.documents, *model.nodes]
                todo = sorted(model.building.todo)
                planner = Planner(model, random, self.clock.now)
                self._write(space, planner.built(todo if refreshed else owners, refreshed=refreshed))
        model = self.models[space]
        assert model.building is not None
        number, embedder = model.building.number, model.building.embedder
        if model.building.todo or whole:
            self._do(space, model.publish, lambda: self._space(space).generation("publish", embedder))
            assert whole == (self.models[space].live is not None and self.models[space].live.number == number)  # type: ignore[union-attr]

    @precondition(lambda self: any(model.building for model in self.models.values()))
    @rule(seed=SEEDS)
    def drop(self, seed: int) -> None:
        """What is being built is given up; after that there is nothing to publish, and nothing to drop."""
        space = Random(seed).choice([name for name, model in self.models.items() if model.building])
        building = self.models[space].building
        assert building is not None
        assert self._run(lambda: self._space(space).generation("drop")) == building.number
        self.models[space] = self.models[space].drop()
        self._do(space, self.models[space].publish, lambda: self._space(space).generation("publish"))
        assert self._run(lambda: self._space(space).generation("drop")) == 0

    @rule(space=SPACES, times=st.sampled_from([1, 3, 40]))
    def maintain(self, space: Namespace, times: int) -> None:
        """Upkeep with hardly any time at once changes nothing that is seen."""
        for _ in range(times):
            if not self._run(lambda: self._space(space).maintain(timedelta(0))):
                break
        if times == 40:
            self._run(lambda: self._space(space).maintain(timedelta(seconds=5)))

    # --- looking ----------------------------------------------------------------------------------------------------
    @rule(space=SPACES, seed=SEEDS)
    def look(self, space: Namespace, seed: int) -> None:
        """Every question with random details."""
        self._read(space, lambda view: self._ask(view, self.models[space], seed))

    def _ask(self, view: View, model: Model, seed: int) -> None:
        for asked in range(4):
            random = Random(seed + asked)
            browse(view, model, random)
            walk(view, model, random, self.clock.now)
            look_for(view, model, random)
            assert_same_words(view, model, random)

    @precondition(lambda self: len(self.kept) < 3)
    @rule(space=SPACES, read=st.booleans())
    def keep_a_view(self, space: Namespace, read: bool) -> None:
        """A snapshot that is read again later, whatever was written meanwhile, or only then for the first time."""
        stack = ExitStack()
        view = self._run(lambda: stack.enter_context(self._space(space).view()))
        self.kept.append(Kept(stack, view, self.models[space], self.handle, self.thread))
        if read or not self.still:
            self._look_again(self.kept[-1])

    @precondition(lambda self: self.kept)
    @rule(seed=SEEDS, away=st.booleans())
    def look_at_a_kept_view(self, seed: int, away: bool) -> None:
        kept = self.kept[seed % len(self.kept)]
        self._look_again(kept)
        if self.still:
            self._run(lambda: self._ask(kept.view, kept.model, seed), kept)
        if away:
            self._put_away(kept)

    def _look_again(self, kept: Kept) -> None:
        look: Any = assert_same if self.still else assert_same_once_read
        self._run(lambda: look(kept.view, kept.model, self.clock.now), kept)

    def _put_away(self, kept: Kept) -> None:
        self.kept.remove(kept)
        self._run(kept.stack.close, kept)

    @precondition(lambda self: self.steps > self.reopened + 8 and all(k.handle != self.handle for k in self.kept))
    @rule()
    def reopen(self) -> None:
        """A handle is closed and refuses to go on; another one is opened."""
        space = self._space(MINE)
        self.handles[self.handle].close()
        with pytest.raises(StoreError):
            self._run(lambda: space.write(Change(put=[Conversation(NodeId("Conv-late"), "test")])))
        self.handles[self.handle] = self.open(self.clock)
        self.reopened = self.steps

    @precondition(lambda self: self.steps % 4 == 0)
    @rule(space=SPACES)
    def check(self, space: Namespace) -> None:
        assert self._run(lambda: self._space(space).check()) == []

    # --- what always holds ------------------------------------------------------------------------------------------
    @invariant()
    def both_are_the_same(self) -> None:
        """Seen by every thread of both handles in turn."""
        self.steps += 1
        handle, thread = self.steps % 2, self.steps // 2 % 2
        for space, model in self.models.items():
            if self.steps % 3 == 0 or space == MINE:
                self._read(
                    space, lambda view, m=model: assert_same(view, m, self.clock.now, self.steps), handle, thread
                )  # type: ignore[misc]

    @invariant()
    def what_nobody_touched_is_empty(self) -> None:
        if self.steps % 5 == 0:
            self._read(UNTOUCHED, assert_empty)
            found = self.handles[self.handle].namespaces()
            assert found == sorted(name for name, model in self.models.items() if model.holds_anything())

    # --- doing ------------------------------------------------------------------------------------------------------
    def _space(self, name: Namespace, handle: int | None = None) -> Space:
        return self.handles[self.handle if handle is None else handle].space(name)

    def _run(self, work: Callable[[], T], kept: Kept | None = None) -> T:
        """Does something in the thread whose turn it is, or in that of a view."""
        handle, thread = (kept.handle, kept.thread) if kept else (self.handle, self.thread)
        return self.threads[handle][thread].submit(work).result(PATIENCE)

    def _read(self, name: Namespace, look: Callable[[View], T], handle: int | None = None, thread: int = 0) -> T:
        def looking() -> T:
            with self._space(name, handle).view() as view:
                return look(view)

        if handle is None:
            return self._run(looking)
        return self.threads[handle][thread].submit(looking).result(PATIENCE)

    def _write(self, space: Namespace, change: Change) -> None:
        model, port = self.models[space], self._space(space)
        self._do(space, lambda: model.write(change), lambda: port.write(change))

    def _do(self, space: Namespace, expected: Callable[[], Model], real: Callable[[], Any]) -> None:
        """Does it in the model and in the store: both do it, or both refuse."""
        try:
            after, refusal = expected(), None
        except (Stale, Fenced, NotFound, StoreError) as problem:
            after, refusal = self.models[space], problem
        if refusal is None:
            self._run(real)
            self.models[space] = after
            return
        with pytest.raises(type(refusal)) as raised:
            self._run(real)
        if isinstance(refusal, Stale) and isinstance(raised.value, Stale):
            assert sorted(raised.value.ids) == sorted(refusal.ids)
