"""The worker: everything that is due is done once, whoever does it and whatever fails meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from recollect.derive.tasks import worker as desk
from recollect.derive.tasks.base import Effects, Retry, Setting
from recollect.derive.tasks.worker import Consolidated, _decoded
from recollect.errors import StoreBusy
from recollect.record import Namespace, NodeKind
from recollect.store import Change, Space, Store, Task, View, WrongEmbedder
from recollect.store.passages import EmbedderId
from tests.derive.workshop import Counting, Failing, Length, Parrot, Saying, handlers, nodes, tasks, worker, write
from tests.store.builders import DEFAULT, ELSEWHERE, Clock, talk

pytestmark = pytest.mark.slow

Open = Callable[[], Store]


def test_it_drains_what_is_due_without_a_model(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one", "two"), talk("b", "three"))
    assert worker(store, clock).drain() == Consolidated(messages=3, tasks=5)
    assert nodes(store, NodeKind.FACT) == {"one": 1, "two": 1, "three": 1}
    assert nodes(store, NodeKind.TOPIC) == {"3": 1, "5": 1}
    assert tasks(store) == []
    assert worker(store, clock).drain() == Consolidated()


def test_a_model_is_asked_once_for_each_task_a_few_at_a_time(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", *(f"word {n}" for n in range(12))))
    model, together = Parrot(), threading.Barrier(3, timeout=20)
    model.answering = lambda: together.wait() and None  # nobody is answered before three have asked
    done = worker(store, clock, model, concurrency=3).drain()
    assert (done.calls, done.tasks) == (12, 25)
    assert model.most_at_once == 3
    assert set(model.asked.values()) == {1}
    assert nodes(store, NodeKind.SUMMARY) == {f"word {n} & word {n}": 1 for n in range(12)}


def test_all_namespaces_of_a_store_or_those_that_are_named(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    write(store.space(ELSEWHERE), talk("a", "elsewhere"))
    assert worker(store, clock).drain([DEFAULT]).messages == 1
    assert worker(store, clock).drain().messages == 1
    assert nodes(store, NodeKind.FACT) == {"one": 1}
    assert worker(store, clock).drain([Namespace("never/seen")]) == Consolidated()


def test_a_limit_ends_it_early_and_the_rest_stays_due(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"), talk("b", "two"), talk("c", "three"))
    assert worker(store, clock).drain(limit=2).tasks == 2
    assert worker(store, clock).drain(limit=0) == Consolidated()
    assert worker(store, clock).drain().tasks == 4


def test_progress_is_told(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"), talk("b", "two"))
    told: list[int] = []
    worker(store, clock).drain(progress=lambda done: told.append(done.tasks))
    assert told == sorted(told)
    assert told[-1] == 4


def test_told_to_stop_it_gives_back_what_it_holds(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), *(talk(f"t{n}", f"word {n}") for n in range(20)))
    stop, model = threading.Event(), Parrot()
    model.answering = stop.set
    own = worker(store, clock, model)
    done = own.drain(stop=stop)
    assert done.calls >= 1  # what was asked is paid for, and written
    assert len(nodes(store, NodeKind.SUMMARY)) == done.calls
    assert tasks(store, "leased") == []
    worker(store, clock, Parrot()).drain()
    assert len(nodes(store, NodeKind.SUMMARY)) == 20


def test_interrupted_in_the_middle_it_gives_back_what_it_holds(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), *(talk(f"t{n}", f"word {n}") for n in range(20)))

    class Interrupted(Counting):
        def derive(self, view, portions, setting):  # type: ignore[no-untyped-def]
            if len(portions) > 1:
                raise KeyboardInterrupt
            return super().derive(view, portions, setting)

    with pytest.raises(KeyboardInterrupt):
        worker(store, clock, handlers=handlers(Interrupted())).drain()
    assert tasks(store, "leased") == []
    assert worker(store, clock).drain().messages == 19


def test_works_of_one_group_are_written_in_one_change(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store.space(DEFAULT), talk("a", *(f"word {n:02}" for n in range(30))))
    own = worker(store, clock)
    space = type(store.space(DEFAULT))
    released: list[int] = []
    whole = space.write

    def watched(self: Space, change: Change) -> None:
        released.append(sum(lease.task.kind == "length" for lease in change.leases))
        whole(self, change)

    monkeypatch.setattr(space, "write", watched)
    assert own.drain().tasks == 31
    assert sum(released) == 30
    assert max(released) > 10
    assert nodes(store, NodeKind.TOPIC) == {"7": 1}


def test_a_work_that_fails_holds_up_none_of_its_group(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", *(f"{n:02} words"[: 3 + n] for n in range(5))))

    class Picky(Length):
        def run(self, view: View, task: Task, setting: Setting) -> Effects:
            made = super().run(view, task, setting)
            if made.put[0].text == "5":
                raise ValueError
            return made

    done = worker(store, clock, handlers=handlers(work=Picky())).drain()
    assert (done.tasks, done.later) == (5, 1)
    assert set(nodes(store, NodeKind.TOPIC)) == {"3", "4", "6", "7"}


# --- failing -------------------------------------------------------------------------------------------------------


def test_what_fails_is_tried_again_later_and_is_dead_in_the_end(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("good", "one"), talk("bad", "poison"), talk("well", "two"))
    deriver = Counting()
    deriver.breaks_on = "poison"
    own = worker(store, clock, handlers=handlers(deriver), retry=Retry(attempts=3))
    assert own.drain().later >= 1  # and nobody else is held up
    assert nodes(store, NodeKind.FACT) == {"one": 1, "two": 1}
    ((kind, why),) = tasks(store)
    assert (kind, why.split(" in ")[0]) == ("conversation", "ValueError")  # what is said stays in the message
    for _ in range(4):
        clock.forward(hours=2)
        own.drain()
    assert tasks(store) == []
    assert [kind for kind, _ in tasks(store, "dead")] == ["conversation"]
    deriver.breaks_on = ""
    assert store.space(DEFAULT).revive() == 1
    assert own.drain().messages == 1
    assert nodes(store, NodeKind.FACT) == {"one": 1, "two": 1, "poison": 1}


def test_pauses_grow_are_random_and_obey_the_server() -> None:
    retry, random = Retry(), Random(5)
    for attempt in (1, 2, 5, 20):
        bound = min(timedelta(hours=1), timedelta(seconds=5) * 2 ** (attempt - 1))
        pauses = [retry.pause(attempt, random) for _ in range(200)]
        assert timedelta(0) <= min(pauses) < bound / 5
        assert bound * 0.8 < max(pauses) <= bound
    assert retry.pause(10**9, random) <= timedelta(hours=1)
    assert timedelta(seconds=30) <= retry.pause(1, random, 30.0) <= timedelta(seconds=35)
    assert retry.pause(1, random, -3.0) <= timedelta(seconds=5)
    assert retry.pause(1, random, float("inf")) < timedelta(days=3)


def test_a_model_that_asks_for_a_pause_gets_it(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", *(f"word {n}" for n in range(6))))
    model = Parrot(Failing("Too many requests.", retry_after=60, outage=True))
    own = worker(store, clock, model, concurrency=1)
    done = own.drain()
    assert (done.later, done.calls, sum(model.asked.values())) == (1, 0, 1)  # nothing else is asked meanwhile
    assert own.wake is not None
    assert timedelta(seconds=60) <= own.wake - clock.now <= timedelta(seconds=70)
    clock.forward(seconds=59)
    assert own.drain() == Consolidated()
    clock.forward(seconds=20)
    assert own.drain().calls == 6
    assert len(nodes(store, NodeKind.SUMMARY)) == 6


def test_a_model_that_is_away_kills_no_task_however_long(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    model = Parrot(*(Failing("Nobody answers.", outage=True) for _ in range(40)))
    own = worker(store, clock, model, retry=Retry(attempts=3))
    for _ in range(41):
        own.drain()
        clock.forward(hours=2)
    assert tasks(store, "dead") == []
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}


def test_a_model_that_refuses_is_not_asked_again(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    model = Parrot(Failing("It refused.", again=False))
    assert worker(store, clock, model).drain().dead == 1
    clock.forward(days=1)
    assert worker(store, clock, model).drain() == Consolidated()
    assert tasks(store, "dead") == [("say", "It refused.")]


def test_garbage_is_tried_again_so_many_times(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    model = Parrot(*(Failing("That is no answer.") for _ in range(9)))
    own = worker(store, clock, model, retry=Retry(attempts=3))
    for _ in range(9):
        own.drain()
        clock.forward(hours=2)
    assert model.asked == {"one": 3}
    assert tasks(store, "dead") == [("say", "That is no answer.")]


def test_what_is_no_longer_wanted_is_done_without_a_call(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    model = Parrot()
    own = worker(store, clock, model)
    assert own.drain(limit=1).messages == 1
    with store.space(DEFAULT).view() as view:
        (task, _) = next(found for found in view.tasks("due") if found[0].kind == "say")
    store.space(DEFAULT).erase([task.subject])  # type: ignore[list-item]
    own.drain()
    assert model.asked == {}
    assert tasks(store) == []


# --- answers that are kept -----------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here."""


def test_an_answer_that_was_kept_is_written_without_asking_again(open_store: Open, clock: Clock) -> None:
    store = open_store()
    write(store.space(DEFAULT), talk("a", "one"))
    model, saying = Parrot(), Saying()

    def killed() -> None:
        raise Killed

    saying.applied = killed
    with pytest.raises(Killed):
        worker(store, clock, model, handlers=handlers(saying=saying)).drain()
    clock.forward(minutes=3)
    done = worker(open_store(), clock, model).drain()
    assert (model.asked, done.calls, done.tasks) == ({"one": 1}, 0, 1)
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}


def test_an_answer_that_cannot_be_written_stays_paid_for(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    model, saying = Parrot(), Saying()

    def broken() -> None:
        raise KeyError("text")

    saying.applied = broken
    own = worker(store, clock, model, handlers=handlers(saying=saying), retry=Retry(attempts=2))
    for _ in range(3):
        own.drain()
        clock.forward(hours=2)
    assert [kind for kind, _ in tasks(store, "dead")] == ["say"]
    store.space(DEFAULT).revive()
    saying.applied = lambda: None
    own.drain()
    assert model.asked == {"one": 1}
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}


def test_a_store_that_is_busy_for_a_moment_loses_no_answer(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "_KEEPING", (0.0, 0.0))
    write(store.space(DEFAULT), talk("a", "one"))
    kind = type(store.space(DEFAULT))
    keep, refused = kind.keep, [True, True]

    def busy(self: object, lease: object, answer: bytes) -> None:
        if refused:
            refused.pop()
            raise StoreBusy("Somebody else writes.")
        keep(self, lease, answer)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "keep", busy)
    model = Parrot()
    assert worker(store, clock, model).drain().calls == 1
    assert not refused


@pytest.mark.parametrize("raw", [None, b"", b"{", b"[]", b'{"data": 3, "model": "m"}', b'{"what": 1}', b"\xff\xfe"])
def test_what_cannot_be_read_is_no_answer(raw: bytes | None) -> None:
    assert _decoded(raw) is None


# --- several workers -----------------------------------------------------------------------------------------------


def test_several_workers_do_everything_once(open_store: Open, clock: Clock) -> None:
    space = open_store().space(DEFAULT)
    write(space, *(talk(f"t{n}", f"word {n}", f"and {n}") for n in range(20)))
    model, done = Parrot(), [Consolidated()] * 3
    worker(open_store(), clock, model).drain(limit=0)  # enrols: else each of them would, and do it all again

    def work(number: int) -> None:
        done[number] = worker(stores[number], clock, model).drain()

    stores = [open_store() for _ in done]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(done))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum((one for one in done), Consolidated()) == Consolidated(messages=40, tasks=100, calls=40)
    assert set(model.asked.values()) == {1}
    assert set(nodes(stores[0], NodeKind.FACT).values()) == {1}
    assert set(nodes(stores[0], NodeKind.SUMMARY).values()) == {1}


def test_a_lease_that_ran_out_during_the_work_changes_nothing_twice(
    open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    write(store.space(DEFAULT), talk("a", "one"))
    slow, quick = Parrot(), Parrot()
    is_asleep, kind = threading.Event(), type(store.space(DEFAULT))
    claim, one_at_a_time = kind.claim, threading.Lock()

    def claimed(self: Any, *arguments: Any) -> Any:
        with one_at_a_time:  # a claim that began before it fell asleep ends before, or it would take over from itself
            sleeps = is_asleep.is_set() and threading.current_thread() is threading.main_thread()
            return [] if sleeps else claim(self, *arguments)

    def asleep() -> None:
        """A laptop that is closed in the middle of a call; meanwhile somebody else does the work."""
        with one_at_a_time:
            is_asleep.set()
            clock.forward(hours=1)
        assert worker(open_store(), clock, quick).drain().calls == 1
        is_asleep.clear()

    monkeypatch.setattr(kind, "claim", claimed)

    slow.answering = asleep
    assert worker(store, clock, slow).drain().tasks == 2  # without the one that was taken over
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}
    assert tasks(store) == tasks(store, "dead") == tasks(store, "leased") == []


def test_a_claim_in_the_moment_in_which_the_clock_jumps_takes_the_call_over_from_itself(
    open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interleaving behind the test before: the claim has begun when the clock jumps, and ends after."""
    store = open_store()
    write(store.space(DEFAULT), talk("a", "one"))
    slow, quick = Parrot(), Parrot()
    asking, claiming, jumped, claimed = (threading.Event() for _ in range(4))
    kind = type(store.space(DEFAULT))
    claim = kind.claim

    def slowly(self: Any, name: str, kinds: list[str], *arguments: Any) -> Any:
        if not (threading.current_thread() is threading.main_thread() and "say" in kinds and asking.is_set()):
            return claim(self, name, kinds, *arguments)
        claiming.set()
        assert jumped.wait(20)
        found = claim(self, name, kinds, *arguments)
        claimed.set()
        return found

    def jump() -> None:
        asking.set()
        assert claiming.wait(20)
        clock.forward(hours=1)
        jumped.set()
        assert claimed.wait(20)
        assert worker(open_store(), clock, quick).drain() == Consolidated()

    monkeypatch.setattr(kind, "claim", slowly)
    slow.answering = jump
    assert worker(store, clock, slow).drain().calls == 1
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}
    assert (sum(slow.asked.values()), sum(quick.asked.values())) == (1, 0)
    assert tasks(store) == tasks(store, "dead") == tasks(store, "leased") == []


def test_a_long_call_keeps_its_lease(open_store: Open, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.derive.worker.LEASE", timedelta(seconds=0.15))
    store = open_store()
    write(store.space(DEFAULT), talk("a", "one"))
    model = Parrot()
    kind, renewed = type(store.space(DEFAULT)), threading.Event()
    renew = kind.renew

    def seen(self: object, *args: object) -> object:
        held = renew(self, *args)  # type: ignore[arg-type]
        renewed.set()
        return held

    def long() -> None:
        clock.forward(seconds=110)
        renewed.clear()
        assert renewed.wait(20)
        monkeypatch.setattr("recollect.derive.tasks.base.Heartbeat.__init__", lambda self, length: None)

    monkeypatch.setattr(kind, "renew", seen)
    model.answering = long
    assert worker(store, clock, model).drain().calls == 1
    assert nodes(store, NodeKind.SUMMARY) == {"one & one": 1}


def test_a_clock_that_goes_back_holds_nothing_up(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))
    clock.forward(days=-300)
    model = Parrot()
    model.answering = lambda: clock.forward(hours=-1)
    done = worker(store, clock, model).drain()
    assert (done.tasks, done.calls) == (3, 1)
    assert tasks(store) == []


def test_a_namespace_of_another_embedder_is_left_out_and_named_where_it_was_meant(store: Store, clock: Clock) -> None:
    write(store.space(DEFAULT), talk("a", "one"))

    class Other:
        name, dimensions = "other@1", 256

        def embed(self, texts: object) -> object:
            raise NotImplementedError

    own = worker(store, clock)
    own._embedder = Other()  # type: ignore[assignment]
    assert own.drain() == Consolidated()
    with pytest.raises(WrongEmbedder, match="made by static"):
        own.drain([DEFAULT])
    assert EmbedderId("other@1", 256) != EmbedderId("static", 256)


def test_a_task_that_ends_its_worker_every_time_takes_nobody_with_it(open_store: Open, clock: Clock) -> None:
    store = open_store()
    write(store.space(DEFAULT), *(talk(f"t{n}", f"word {n}") for n in range(10)), talk("bad", "poison"))
    deriver = Deadly()
    for _ in range(8):
        try:
            worker(open_store(), clock, handlers=handlers(deriver), retry=Retry(attempts=2)).drain()
        except Killed:
            clock.forward(minutes=3)
    assert sorted(nodes(store, NodeKind.FACT)) == sorted(f"word {n}" for n in range(10))
    assert [kind for kind, _ in tasks(store, "dead")] == ["conversation"]


class Deadly(Counting):
    """One message ends the process, without any farewell."""

    def derive(self, view, portions, setting):  # type: ignore[no-untyped-def]
        if any("poison" in message.content for portion in portions for message in portion.messages):
            raise Killed
        return super().derive(view, portions, setting)
