"""What every engine must do: tasks, erasing, upkeep, many hands at once. Written against the port alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from datetime import timedelta

import pytest

from recollect.errors import NotFound, StoreUnusable
from recollect.record import (
    Chunk,
    Conversation,
    Document,
    Edge,
    Message,
    Node,
    NodeId,
    NodeKind,
    Part,
    PartKind,
    ToolCall,
    Turn,
    Version,
    new_id,
    stable_id,
)
from recollect.store import Change, Fenced, IndexChange, Lease, Mark, Space, Stale, Store, Task, Where
from recollect.store.passages import EmbedderId, Partition
from tests.store.builders import (
    DEFAULT,
    START,
    Clock,
    branched,
    change_of,
    document_change,
    edited,
    holding,
    index_of,
    node_change,
    passages_of,
    quality_of,
    query,
    records,
    talk,
    texts,
    thread,
)

MINUTE = timedelta(minutes=1)


def maintained(space: Space) -> None:
    while space.maintain(timedelta(seconds=30)):
        pass


# --- tasks ---------------------------------------------------------------------------------------------------------


def task(name: str, kind: str = "summarise", **more: object) -> Task:
    return Task(id=stable_id("task", name), kind=kind, **more)  # type: ignore[arg-type]


def claim(space: Space, worker: str = "w", most: int = 9) -> list[Lease]:
    return space.claim(worker, ["summarise"], most, MINUTE)


def states(space: Space) -> dict[str, list[str]]:
    with space.view() as view:
        return {state: [t.id for t, _ in view.tasks(state)] for state in ("due", "leased", "dead")}  # type: ignore[arg-type]


def test_tasks_come_with_the_change_that_they_are_about(space: Space, clock: Clock) -> None:
    whole, first = talk("a", "one"), task("1", subject=talk("a", "one").conversation.id, payload=b"\x00x")
    with pytest.raises(Stale):
        space.write(replace(change_of(whole, expect={whole.conversation.id: 3}), tasks=[first]))
    assert states(space)["due"] == []
    space.write(change_of(whole, tasks=[first]))
    clock.forward(seconds=1)
    space.write(Change(tasks=[replace(first, payload=b"other"), task("2"), task("later", due=clock.now + MINUTE)]))
    assert states(space) == {"due": [first.id, task("2").id, task("later").id], "leased": [], "dead": []}
    held = claim(space)
    assert [lease.task for lease in held] == [first, task("2")]  # as it was first put, oldest first, and none too early
    assert [(lease.attempt, lease.answer, lease.until) for lease in held] == [(1, None, clock.now + MINUTE)] * 2
    assert states(space) == {"due": [task("later").id], "leased": [first.id, task("2").id], "dead": []}
    with space.view() as view:
        assert dict(view.counts().tasks) == {"due": 1, "leased": 2}
    assert claim(space) == []
    assert space.claim("w", ["other"], 9, MINUTE) == []


def test_a_task_is_done_by_the_change_that_holds_its_lease(space: Space) -> None:
    space.write(Change(tasks=[task("1")]))
    lease = claim(space)[0]
    fact = Node(stable_id("n"), NodeKind.SUMMARY, text="short")
    space.write(Change(leases=[lease], put=[fact]))
    assert states(space) == {"due": [], "leased": [], "dead": []}
    with pytest.raises(Fenced):
        space.write(Change(leases=[lease], put=[replace(fact, text="again")]))
    with space.view() as view:
        assert view.get(Node, [fact.id]) == [fact]


def test_a_change_may_do_several_tasks_and_put_one_of_them_anew(space: Space) -> None:
    space.write(Change(tasks=[task("1"), task("2")]))
    space.write(Change(leases=claim(space), tasks=[task("1")]))
    assert states(space) == {"due": [task("1").id], "leased": [], "dead": []}


def test_a_lease_that_ran_out_is_somebody_elses(space: Space, clock: Clock) -> None:
    space.write(Change(tasks=[task("1")]))
    late = claim(space, "slow")[0]
    space.keep(late, b"what the model said")
    clock.forward(minutes=2)
    assert states(space)["due"] == [task("1").id]
    taken = claim(space, "quick")[0]
    assert (taken.attempt, taken.answer) == (2, b"what the model said")  # no model call is paid for twice
    assert taken.fence > late.fence
    with pytest.raises(Fenced):
        space.keep(late, b"too late")
    with pytest.raises(Fenced):
        space.release(late, "too late", None)
    with pytest.raises(Fenced):
        space.write(Change(leases=[late], put=[Node(stable_id("n"), NodeKind.SUMMARY)]))
    with space.view() as view:
        assert view.find(Node, Where()).items == []
    space.write(Change(leases=[taken]))


def test_a_task_that_fails_is_tried_again_or_kept_as_dead(space: Space, clock: Clock) -> None:
    space.write(Change(tasks=[task("1")]))
    space.release(claim(space)[0], "the model is away", clock.now + 5 * MINUTE)
    assert claim(space) == []
    with space.view() as view:
        assert view.tasks("due") == [(task("1"), "the model is away")]
    clock.forward(minutes=5)
    lease = claim(space)[0]
    space.release(lease, "five times", None)
    assert claim(space) == []
    with space.view() as view:
        assert view.tasks("dead") == [(task("1"), "five times")]
    with pytest.raises(Fenced):
        space.write(Change(leases=[lease]))
    space.write(Change(tasks=[task("1")]))  # there already: left as it is
    assert states(space)["dead"] == [task("1").id]


def test_a_lease_is_held_for_longer_while_its_work_goes_on(space: Space, clock: Clock) -> None:
    space.write(Change(tasks=[task("1"), task("2")]))
    first, second = claim(space)
    clock.forward(seconds=50)
    (renewed,) = space.renew([first], MINUTE)
    assert renewed == replace(first, until=clock.now + MINUTE)
    clock.forward(seconds=50)
    (other,) = claim(space, "other")  # the one that was not renewed
    assert other.task == second.task
    assert [lease.task for lease in space.renew([renewed, second], MINUTE)] == [first.task]
    space.write(Change(leases=[renewed]))
    assert space.renew([renewed], MINUTE) == []


def test_a_lease_that_ran_out_is_not_held_through_the_next_one_of_its_task(space: Space, clock: Clock) -> None:
    space.write(Change(tasks=[task("1")]))
    (first,) = claim(space)
    clock.forward(seconds=70)
    (second,) = claim(space)
    assert [lease.fence for lease in space.renew([first, second], MINUTE)] == [second.fence]


def test_dead_tasks_are_tried_again_when_somebody_says_so(space: Space, clock: Clock) -> None:
    assert space.revive() == 0
    space.write(Change(tasks=[task("1"), task("2")]))
    for lease in claim(space):
        space.keep(lease, b"paid for")
        space.release(lease, "no", None)
    assert space.revive([stable_id("task", "unknown")]) == 0
    assert space.revive([task("2").id]) == 1
    with space.view() as view:
        assert view.tasks("due") == [(task("2"), "no")]
        assert view.tasks("dead") == [(task("1"), "no")]
    (lease,) = claim(space)
    assert (lease.attempt, lease.answer) == (1, b"paid for")
    assert space.revive() == 1
    assert [lease.task for lease in claim(space)] == [task("1")]


def test_what_is_due_at_once_is_due_by_a_clock_that_went_back(space: Space, clock: Clock) -> None:
    space.write(Change(tasks=[task("1"), task("later", due=clock.now)]))
    clock.forward(days=-400)
    assert [lease.task for lease in claim(space)] == [task("1")]


def test_erasing_drops_the_answers_that_are_kept_since_they_may_repeat_it(space: Space) -> None:
    whole = talk("a", "the zeppelin is late", "it is")
    space.write(change_of(whole, tasks=[task("1"), task("2")]))
    for lease, again in zip(claim(space), (START, None), strict=True):
        space.keep(lease, b"late is the zeppelin")
        space.release(lease, "", again)
    space.erase([whole.messages[0].id])
    space.revive()
    assert [lease.answer for lease in claim(space)] == [None, None]


def test_each_task_is_claimed_once_however_many_ask(open_store: Callable[[], Store]) -> None:
    open_store().space(DEFAULT).write(Change(tasks=[task(str(i)) for i in range(40)]))
    spaces = [open_store().space(DEFAULT) for _ in range(2)]
    held: list[list[NodeId]] = [[] for _ in range(4)]

    def work(number: int) -> None:
        while found := claim(spaces[number % 2], f"w{number}", most=3):
            held[number] += [lease.task.id for lease in found]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(held_id for ids in held for held_id in ids) == sorted(task(str(i)).id for i in range(40))


# --- erasing -------------------------------------------------------------------------------------------------------


def test_an_erased_message_leaves_its_place_and_nothing_else(space: Space) -> None:
    whole = branched()
    call = replace(whole.tool_calls[0], arguments="zeppelin", result="zeppelin")
    messages = [
        replace(
            m,
            content="zeppelin",
            parts=(Part(PartKind.ATTACHMENT, "zeppelin", "zeppelin"),),
            metadata={"z": "zeppelin"},
            versions=(Version("zeppelin", START),),
            speaker="zeppelin",
            model="zeppelin",
            timestamp=START,
            tokens=7,
        )
        if m.id == call.message_id
        else m
        for m in whole.messages
    ]
    turn = replace(whole.turns[0], resolved_query="zeppelin", entities=("zeppelin",))
    turn = replace(turn, response_ids=(*turn.response_ids, call.message_id))
    whole = replace(whole, messages=tuple(messages), tool_calls=(call,), turns=(turn, *whole.turns[1:]))
    space.write(change_of(whole, edges=[Edge(call.message_id, "MENTIONS", stable_id("x"), {"as": "zeppelin"})]))
    before = next(m for m in whole.messages if m.id == call.message_id)
    place = {"kind", "parent_id", "source_id", "position", "active", "deleted", "erased"}
    optional = [f for f in fields(Message) if f.default is not MISSING and f.name not in place]
    assert [f.name for f in optional if getattr(before, f.name) == f.default] == [], "erasing is tried on every field"

    erased = space.erase([call.message_id])
    assert (erased.messages, erased.conversations) == (1, 0)
    assert erased.passages >= 2
    with space.view() as view:
        after = view.get(Message, [call.message_id])[0]
        assert after == Message(
            id=before.id,
            conversation_id=before.conversation_id,
            role=before.role,
            content="",
            kind=before.kind,
            parent_id=before.parent_id,
            source_id=before.source_id,
            position=before.position,
            active=before.active,
            deleted=True,
            erased=True,
        )
        assert view.get(ToolCall, [call.id]) == []
        assert (view.get(Turn, [turn.id])[0].resolved_query, view.get(Turn, [turn.id])[0].entities) == (None, ())
        assert view.edges([call.message_id], ["MENTIONS"]) == []
        assert view.counts().messages == 6
        assert "zeppelin" not in view.speakers()
        assert view.vocabulary().compounds("zeppelin") == []
    assert holding(space, "zeppelin") == []
    assert holding(space, "zeppelin", Partition.OTHER) == []
    assert space.check() == []
    assert space.erase([call.message_id]).messages == 0  # twice is once


def test_a_conversation_is_erased_with_all_in_it(space: Space) -> None:
    whole, other = branched(), talk("a", "the heron stands", "and waits")
    summary = Node(stable_id("n"), NodeKind.SUMMARY, "0", "bread", conversation_id=whole.conversation.id, body={"b": 1})
    own = Node(stable_id("o"), NodeKind.FACT, "Luna", "sails", body={"b": 1})
    document = Document(stable_id("d"), "claude", "Harbour", "tides", versions=(Version("old", START),))
    about = task("1", subject=whole.conversation.id, payload=b"bread")
    space.write(change_of(whole, other, tasks=[about]))
    space.write(node_change(summary, own))
    space.write(document_change(document))
    erased = space.erase([whole.conversation.id, document.id])
    assert (erased.conversations, erased.messages, erased.documents, erased.nodes) == (1, 7, 1, 1)
    with space.view() as view:
        found = view.get(Conversation, [whole.conversation.id])[0]
        assert (found.title, found.metadata, found.deleted, found.erased) == ("", {}, True, True)
        assert found.source_id == whole.conversation.source_id
        assert view.revisions([whole.conversation.id])[whole.conversation.id].erased
        gone = view.get(Node, [summary.id])[0]
        assert (gone.key, gone.text, dict(gone.body), gone.erased) == ("", "", {}, True)
        assert view.get(Node, [own.id]) == [own]
        paper = view.get(Document, [document.id])[0]
        assert (paper.title, paper.content, paper.versions, paper.erased) == ("", "", (), True)
        assert view.counts().messages == 2
        assert view.counts().documents == 0
        assert view.tasks("due") == []
        assert view.find(Turn, Where(conversation=whole.conversation.id)).items == []
        assert view.find(Conversation, Where(deleted=False)).items == [other.conversation]
    assert holding(space, "bread water", Partition.TITLE) == []
    assert holding(space, "heron") == ["the heron stands"]
    assert space.check() == []


def test_what_was_erased_is_not_brought_back_by_an_import(space: Space) -> None:
    whole = talk("a", "the zeppelin", "and waits")
    space.write(change_of(whole))
    space.erase([whole.messages[0].id])
    space.write(change_of(whole))
    with space.view() as view:
        assert view.get(Message, [whole.messages[0].id])[0].erased
        assert view.revisions([whole.conversation.id])[whole.conversation.id].number == 3
    assert holding(space, "zeppelin") == []
    longer = talk("a", "the zeppelin", "and waits", "a third zeppelin")
    space.erase([whole.conversation.id])
    space.write(change_of(longer))
    with space.view() as view:
        assert view.counts().messages == 0
        assert view.get(Conversation, [whole.conversation.id])[0].title == ""
    assert holding(space, "zeppelin") == []
    assert space.check() == []
    space.write(change_of(longer, revive=True))
    with space.view() as view:
        assert view.thread(longer.conversation.id) == longer
    assert len(holding(space, "zeppelin")) == 2
    assert space.check() == []


def test_a_turn_that_comes_again_says_nothing_of_a_message_that_was_erased(space: Space) -> None:
    whole = branched()
    turn = replace(whole.turns[0], resolved_query="zeppelin", entities=("zeppelin",))
    space.write(Change(put=[whole.conversation, *whole.messages, turn]))
    space.erase([turn.query_id])
    for revive in (False, True):
        space.write(Change(put=[turn], revive=revive))
        with space.view() as view:
            assert view.get(Turn, [turn.id])[0].resolved_query == ("zeppelin" if revive else None)


def test_a_document_that_was_erased_keeps_its_revision_when_it_comes_again(space: Space) -> None:
    document = Document(stable_id("d"), "notes", "Harbour", "The tides of the harbour. " * 200)
    space.write(document_change(document))
    space.erase([document.id])
    with space.view() as view:
        before = view.revisions([document.id])
    space.write(document_change(document))
    with space.view() as view:
        assert view.revisions([document.id]) == before
        assert view.find(Chunk, Where()).items == []


def test_an_edge_of_what_was_erased_is_not_written(space: Space) -> None:
    """An edge may repeat in its name what the node said; and whoever drew it did not know yet."""
    whole, luna, rex = talk("a", "the zeppelin", "and waits"), stable_id("luna"), stable_id("rex")
    nodes = [Node(luna, NodeKind.ENTITY, "Luna"), Node(rex, NodeKind.ENTITY, "Rex")]
    space.write(change_of(whole))
    space.write(Change(put=nodes))
    space.erase([whole.messages[0].id, luna])
    gone = [Edge(whole.messages[0].id, "MENTIONS", rex, name="zeppelin"), Edge(rex, "RELATED_TO", luna, name="LIKES")]
    kept = Edge(whole.messages[1].id, "MENTIONS", rex)
    space.write(Change(put=nodes, edges=[*gone, kept]))
    with space.view() as view:
        assert view.edges(None) == [kept]
    assert space.check() == []
    space.write(Change(put=nodes, revive=True, edges=gone))
    with space.view() as view:
        assert view.edges(None) == [kept, gone[1]]
    assert space.check() == []


def test_erasing_reaches_what_is_sealed_and_every_generation(space: Space) -> None:
    other = EmbedderId("other@1", 256)
    threads = [talk(f"f{i}", *(f"zeppelin {i} {j}" for j in range(50))) for i in range(60)]
    space.write(change_of(*threads))
    maintained(space)
    with space.view() as view:
        space.write(Change(index=IndexChange(quality=quality_of(view.unembedded(20)))))
    changed, message = edited(threads[0], 0, "once an airship")
    space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    number = space.generation("begin", other)
    index = index_of([p for t in threads for p in passages_of(t)])
    space.write(Change(index=replace(index, embedder=other, generation=number)))
    maintained(space)
    space.erase([message.id, threads[59].conversation.id])
    with space.view() as view:
        features = view.candidates(query("zeppelin", pool=5000))
        assert features.size == 2949
        assert features.frequencies.tolist() == [2949]
        assert view.counts().quality == 0
        todo = view.index().todo
    space.write(Change(index=replace(index_of([]), generation=number, refreshed=todo, embedder=other)))
    space.generation("publish")
    with space.view() as view:
        assert view.candidates(query("zeppelin", pool=5000)).size == 2949
    maintained(space)
    assert space.check() == []


def test_erasing_what_is_not_there_changes_nothing(space: Space) -> None:
    whole = talk("a", "one")
    space.write(change_of(whole))
    with pytest.raises(NotFound):
        space.erase([whole.messages[0].id, new_id()])
    with space.view() as view:
        assert view.thread(whole.conversation.id) == whole


def test_what_was_replaced_is_purged_from_what_is_sealed_and_search_stays_the_same(space: Space) -> None:
    threads = [talk(f"p{i}", *(f"zeppelin {i} {j}" for j in range(50))) for i in range(30)]
    space.write(change_of(*threads))
    maintained(space)
    changed, message = edited(threads[0], 0, "once an airship")
    space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    with space.view() as view:
        before = texts(view, view.candidates(query("zeppelin 7")))
    for _ in range(2):
        space.purge()
        with space.view() as view:
            assert texts(view, view.candidates(query("zeppelin 7"))) == before
            assert view.candidates(query("zeppelin", pool=5000)).frequencies.tolist() == [1499]
        assert holding(space, "airship") == ["once an airship"]
        assert space.check() == []
    maintained(space)
    assert space.check() == []


def test_passages_are_told_by_a_flag_whatever_their_partition(space: Space) -> None:
    whole = talk("a", "one", "two", "three", title="A title")
    second = whole.messages[1]
    made = [
        replace(one, flags=one.flags | 256) if one.owner_id in (second.id, whole.conversation.id) else one
        for one in passages_of(whole)
    ]
    space.write(Change(put=records(whole), index=index_of(made)))

    def flagged() -> set[str]:
        with space.view() as view:
            return {one.owner_id for one in view.passages(view.flagged(256))}

    assert flagged() == {second.id, whole.conversation.id}
    space.write(Change(mark=[Mark(ids=[second.id], deleted=True)]))
    assert flagged() == {whole.conversation.id}


# --- upkeep --------------------------------------------------------------------------------------------------------


def test_what_died_is_taken_out_and_search_stays_the_same(space: Space) -> None:
    threads = [talk(f"f{i}", *(f"heron {i} {j}" for j in range(60))) for i in range(100)]
    for i in range(0, 100, 20):
        space.write(change_of(*threads[i : i + 20]))
    maintained(space)
    gone = [m.id for t in threads[:50] for m in t.messages]
    space.write(Change(mark=[Mark(ids=gone, deleted=True)]))
    with space.view() as view:
        before = view.candidates(query("heron 77"))
        texts_before = texts(view, before)
    maintained(space)
    with space.view() as view:
        after = view.candidates(query("heron 77"))
        assert texts(view, after) == texts_before
        assert (after.size, before.size) == (3000, 3000)
    assert not space.maintain(timedelta(0))
    assert space.check() == []


# --- many at once --------------------------------------------------------------------------------------------------


def test_two_writers_of_one_conversation_lose_nothing(open_store: Callable[[], Store]) -> None:
    spaces = [open_store().space(DEFAULT) for _ in range(2)]
    base = talk("a", "m0")
    spaces[0].write(change_of(base))
    template = base.messages[0]

    def append(space: Space, text: str) -> None:
        while True:
            with space.view() as view:
                end = view.end(base.conversation.id)
            assert end is not None
            message = replace(
                template,
                id=stable_id(text),
                content=text,
                parent_id=end.leaf.id if end.leaf else None,
                position=end.message_count,
                source_id=text,
            )
            grown = replace(end.conversation, leaf_id=message.id)
            try:
                space.write(Change(expect={grown.id: end.revision}, put=[grown, message]))
            except Stale:
                continue
            return

    def work(number: int) -> None:
        for i in range(10):
            append(spaces[number % 2], f"w{number} {i}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with spaces[0].view() as view:
        found = view.thread(base.conversation.id)
    assert found is not None
    assert [m.position for m in found.messages] == list(range(41))
    assert [m.parent_id for m in found.messages[1:]] == [m.id for m in found.messages[:-1]]


def test_searching_while_others_write_and_maintain(open_store: Callable[[], Store]) -> None:
    """S2, S20: readers on other snapshots, a writer, upkeep; nothing is lost, nothing is there twice."""
    store = open_store()
    space = store.space(DEFAULT)
    space.write(change_of(talk("base", "heron 0")))
    problems: list[BaseException] = []
    stop = threading.Event()

    def guarded(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                while not stop.is_set():
                    work()
            except BaseException as problem:
                problems.append(problem)

        return run

    def search() -> None:
        with space.view() as view:
            messages = view.counts().messages
            features = view.candidates(query("heron"))
            assert features.size == features.frequencies[0] >= messages

    readers = [threading.Thread(target=guarded(search)) for _ in range(2)]
    readers.append(threading.Thread(target=guarded(lambda: bool(space.maintain(timedelta(0))) or None)))
    for one in readers:
        one.start()
    for i in range(30):
        space.write(change_of(talk(f"t{i}", *(f"heron {i} {j}" for j in range(100)))))
    stop.set()
    for one in readers:
        one.join()
    assert problems == []
    maintained(space)
    with space.view() as view:
        assert view.candidates(query("heron")).size == 3001
    assert space.check() == []


def test_a_thousand_threads_that_end_leave_nothing_behind(open_store: Callable[[], Store]) -> None:
    """S7: connections of threads that have ended are used again."""
    space = open_store().space(DEFAULT)
    whole = talk("a", "one")
    space.write(change_of(whole))
    problems: list[BaseException] = []

    def read() -> None:
        try:
            with space.view() as view:
                assert view.counts().messages == 1
        except BaseException as problem:
            problems.append(problem)

    for _ in range(40):
        threads = [threading.Thread(target=read) for _ in range(25)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert problems == []


def test_closing_while_another_thread_reads_is_told_there(open_store: Callable[[], Store]) -> None:
    """S7: a clean error, whatever the reader is doing."""
    store = open_store()
    space = store.space(DEFAULT)
    space.write(change_of(*(talk(f"t{i}", *(f"heron {i} {j}" for j in range(50))) for i in range(20))))
    reading, problems = threading.Event(), list[BaseException]()

    def read() -> None:
        try:
            with space.view() as view:
                while True:
                    view.scan(["heron"], 5)
                    reading.set()
        except BaseException as problem:
            problems.append(problem)

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait(10)
    store.close()
    reader.join(20)
    assert not reader.is_alive()
    assert [type(p) for p in problems] == [StoreUnusable]


def test_threads_are_whole(space: Space) -> None:
    whole = thread("t", [], title="nothing in it")
    space.write(Change(put=[whole.conversation]))
    with space.view() as view:
        assert view.thread(whole.conversation.id) == whole
