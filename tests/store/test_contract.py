"""What every engine must do: the record. Written against the port alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.engines.codec import encode
from recollect.errors import NotFound, StoreError
from recollect.record import (
    REPORTS,
    Chunk,
    Conversation,
    Document,
    Edge,
    Kind,
    Message,
    Node,
    NodeId,
    NodeKind,
    Origin,
    ToolCall,
    Turn,
    Version,
    new_id,
    stable_id,
    to_microseconds,
)
from recollect.store import Change, IndexChange, Mark, Space, Stale, Store, Where
from recollect.store.results import Revision
from tests.store.builders import (
    DEFAULT,
    ELSEWHERE,
    START,
    branched,
    change_of,
    document_change,
    edited,
    holding,
    index_of,
    passages_of,
    quality_of,
    talk,
    write,
)


def node(name: str, kind: NodeKind = NodeKind.FACT, **more: object) -> Node:
    return Node(stable_id("node", name), kind, **more)  # type: ignore[arg-type]


# --- putting -------------------------------------------------------------------------------------------------------


def test_a_conversation_comes_back_as_it_was_written(store: Store) -> None:
    whole = branched()
    write(store, whole)
    with store.space(DEFAULT).view() as view:
        assert view.thread(whole.conversation.id) == whole
        assert view.thread(stable_id("nobody")) is None


def test_every_record_comes_back_in_the_order_asked_for(store: Store, space: Space) -> None:
    whole = branched()
    document = Document(
        stable_id("d"), "claude", "Harbour", "tides", "src", START, {"a": [1]}, (Version("old", START),)
    )
    fact = node("f", key="Luna", text="Luna sails", valid_from=START, score=0.5, made_by="p@1", body={"n": [1, "é"]})
    write(store, whole)
    space.write(Change(put=[document, fact]))
    with space.view() as view:
        ids = [m.id for m in reversed(whole.messages)]
        assert view.get(Message, [stable_id("no"), *ids]) == list(reversed(whole.messages))
        assert view.get(Conversation, [whole.conversation.id]) == [whole.conversation]
        assert view.get(Turn, [t.id for t in whole.turns]) == list(whole.turns)
        assert view.get(Document, [document.id]) == [document]
        assert view.get(Node, [fact.id]) == [fact]
        assert view.get(Chunk, [document.id]) == []


def test_a_tool_call_is_read_with_the_result_that_is_a_message(store: Store, space: Space) -> None:
    whole = branched()
    write(store, whole)
    with space.view() as view:
        call = view.get(ToolCall, [whole.tool_calls[0].id])[0]
        assert (call.name, call.result) == ("search", "hydration table: focaccia 85")
        found = view.thread(whole.conversation.id)
    assert found is not None
    assert found.tool_calls[0].result == ""  # stored once


def test_writing_again_changes_nothing_but_revisions(store: Store, space: Space) -> None:
    whole = branched()
    for _ in range(2):
        write(store, whole, talk("a", "one", "two"))
        with space.view() as view:
            assert view.thread(whole.conversation.id) == whole
            assert view.counts().passages == len(passages_of(whole)) + len(passages_of(talk("a", "one", "two")))
    assert space.check() == []


def test_a_planned_change_that_is_written_twice_is_written_once(store: Store, space: Space) -> None:
    whole = talk("a", "one", "two")
    change = change_of(whole, expect={whole.conversation.id: 0})
    space.write(change)
    with pytest.raises(Stale):
        space.write(change)
    with space.view() as view:
        assert view.revisions([whole.conversation.id]) == {whole.conversation.id: Revision(1)}


def test_of_a_record_that_a_change_puts_twice_the_last_counts(space: Space) -> None:
    whole = talk("herons", "the heron waits", "for the tide", title="Herons")
    _, message = edited(whole, 0, "the heron sleeps")
    change = change_of(whole)

    space.write(replace(change, put=[*change.put, *change.put, message]))
    assert space.check() == []
    with space.view() as view:
        end = view.end(whole.conversation.id)
        assert end is not None
        assert end.message_count == 2
        assert view.get(Message, [message.id]) == [message]
        assert len(view.edges([message.id], way="in")) == 2


def test_a_stale_change_writes_nothing(space: Space) -> None:
    whole = talk("a", "one", "two")
    space.write(change_of(whole))
    late, other = talk("a", "one", "two", "three"), talk("b", "x")
    with pytest.raises(Stale) as caught:
        space.write(change_of(other, late, expect={whole.conversation.id: 7, other.conversation.id: 0}))
    assert caught.value.ids == (whole.conversation.id,)
    with space.view() as view:
        assert view.find(Conversation, Where()).items == [whole.conversation]
        assert view.thread(whole.conversation.id) == whole
        assert view.index().embedder is not None


def test_every_write_raises_the_revision_by_one(space: Space) -> None:
    whole = talk("a", "one", "two")
    document, fact = Document(stable_id("d"), "claude", "t", "w"), node("f")
    ids = [whole.conversation.id, document.id, fact.id]
    message = whole.messages[0]
    for number, change in enumerate(
        [
            replace(
                change_of(whole, digests={whole.conversation.id: "same"}), put=[*change_of(whole).put, document, fact]
            ),
            Change(put=[replace(message, content="uno"), replace(whole.messages[1], content="due"), document, fact]),
        ],
        1,
    ):
        space.write(change)
        with space.view() as view:
            found = view.revisions([*ids, stable_id("no")])
        assert {i: r.number for i, r in found.items()} == dict.fromkeys(ids, number)
        assert found[whole.conversation.id].digest == ("same" if number == 1 else None)
    space.write(Change(mark=[Mark(ids=[message.id], deleted=True)]))
    space.write(Change(digests={whole.conversation.id: "other"}))
    with space.view() as view:
        assert view.revisions(ids)[whole.conversation.id] == Revision(4, "other")
    with pytest.raises(Stale):
        space.write(Change(expect={document.id: 1}))
    with pytest.raises(Stale):
        space.write(Change(expect={fact.id: 0}))


def test_a_put_replaces_a_record_and_its_chunks_whole(space: Space) -> None:
    whole = talk("a", "one", "two")
    message = whole.messages[0]
    chunks = [Chunk(stable_id("c", i), message.id, i, i * 2, i * 2 + 2, 1) for i in range(2)]
    space.write(Change(put=[*change_of(whole).put, *chunks]))
    with space.view() as view:
        assert view.get(Chunk, [message.id]) == chunks
    longer = Version("one", START)
    space.write(Change(put=[replace(message, content="uno", versions=(longer,))]))
    with space.view() as view:
        assert view.get(Message, [message.id]) == [replace(message, content="uno", versions=(longer,))]
        assert view.get(Chunk, [message.id]) == []


def test_a_message_never_moves(space: Space) -> None:
    whole, other = talk("a", "one", "two"), talk("b", "x")
    space.write(change_of(whole, other))
    for moved in (
        replace(whole.messages[0], position=5),
        replace(whole.messages[0], conversation_id=other.conversation.id),
        replace(whole.messages[0], id=new_id()),  # another one at the same place
    ):
        with pytest.raises(StoreError):
            space.write(Change(put=[moved]))
    with pytest.raises(StoreError):
        space.write(Change(put=[replace(whole.messages[0], id=new_id(), conversation_id=new_id())]))
    with space.view() as view:
        assert view.thread(whole.conversation.id) == whole


def test_four_hundred_edits_do_not_store_the_text_four_hundred_times(space: Space) -> None:
    """S19: an answer that is streamed into the store."""
    whole = talk("a", "Tell me")
    words = " ".join(f"word{i}" for i in range(400)).split()
    versions = tuple(Version(" ".join(words[:i]), START + timedelta(seconds=i)) for i in range(1, 400))
    message = replace(whole.messages[0], content=" ".join(words), versions=versions)
    assert sum(len(value) for value in encode(message) if isinstance(value, str)) < 20 * len(message.content)
    space.write(Change(put=[whole.conversation, message]))
    with space.view() as view:
        assert view.get(Message, [message.id]) == [message]


# --- marks ---------------------------------------------------------------------------------------------------------


def test_what_is_deleted_is_found_no_more_and_can_be_restored(space: Space) -> None:
    whole = talk("a", "The password is swordfish", "Noted.")
    first = whole.messages[0].id
    space.write(change_of(whole))
    space.write(Change(mark=[Mark(ids=[first], deleted=True)]))
    assert holding(space, "swordfish") == []
    with space.view() as view:
        assert view.counts().messages == 1
        assert view.sizes([whole.conversation.id]) == {whole.conversation.id: (1, 2)}
        assert view.get(Message, [first])[0] == replace(whole.messages[0], deleted=True)
    assert space.check() == []
    passages = passages_of(whole, [first], titled=False)
    space.write(Change(mark=[Mark(ids=[first], deleted=False)], index=index_of(passages)))
    assert holding(space, "swordfish") == ["The password is swordfish"]
    assert space.check() == []


def test_deleting_a_message_takes_its_tool_calls_out_of_the_search(space: Space) -> None:
    whole = branched()
    call = replace(whole.tool_calls[0], result="quixotic result", result_message_id=None)
    whole = replace(whole, tool_calls=(call,))
    space.write(change_of(whole))
    from recollect.store.passages import Partition

    assert len(holding(space, "quixotic result", Partition.OTHER)) == 1
    space.write(Change(mark=[Mark(ids=[call.message_id], deleted=True)]))
    assert holding(space, "quixotic result", Partition.OTHER) == []


def test_marks_leave_the_words_alone(space: Space) -> None:
    whole, fact = branched(), node("f", text="Luna sails")
    space.write(change_of(whole))
    space.write(Change(put=[fact]))
    space.write(Change(mark=[Mark(ids=[whole.messages[2].id], active=True), Mark(ids=[fact.id], state="superseded")]))
    with space.view() as view:
        assert view.get(Message, [whole.messages[2].id]) == [replace(whole.messages[2], active=True)]
        assert view.get(Node, [fact.id]) == [replace(fact, state="superseded")]


def test_marking_what_is_not_there_changes_nothing(space: Space) -> None:
    whole = talk("a", "one", "two")
    space.write(change_of(whole))
    with pytest.raises(NotFound):
        space.write(Change(mark=[Mark(ids=[whole.messages[0].id, new_id()], deleted=True)]))
    with space.view() as view:
        assert view.counts().messages == 2
        assert view.revisions([whole.conversation.id])[whole.conversation.id].number == 1


# --- namespaces ----------------------------------------------------------------------------------------------------


def test_nothing_of_one_namespace_is_seen_from_another(store: Store, space: Space) -> None:
    whole = branched()
    write(store, whole, into=ELSEWHERE)
    write(store, talk("a", "one"))
    other = store.space(ELSEWHERE)
    other.write(Change(put=[node("f", key="Luna")], edges=[Edge(whole.messages[0].id, "MENTIONS", stable_id("x"))]))
    ids = [m.id for m in whole.messages]
    with space.view() as view:
        assert view.thread(whole.conversation.id) is None
        assert view.end(whole.conversation.id) is None
        assert view.revisions([whole.conversation.id]) == {}
        assert view.get(Message, ids) == []
        assert view.get(ToolCall, [c.id for c in whole.tool_calls]) == []
        assert view.around([(whole.conversation.id, 0, 9)]) == []
        assert view.above(ids[-1], 9) == []
        assert view.sizes([whole.conversation.id]) == {}
        assert view.named(whole.conversation.id[-8:]) == []
        assert view.edges(ids) == view.edges(ids, way="in") == view.edges(None) == []
        assert view.find(Node, Where()).items == []
        assert view.counts().messages == 1
        assert view.scan(["focaccia"], 9) == []
        numbers = other_numbers(other)
        assert view.passages(numbers, tokens=True) == []
    assert store.namespaces() == [ELSEWHERE, DEFAULT]


def test_quality_vectors_reach_no_other_namespace(store: Store, space: Space) -> None:
    """S14: the numbers of passages mean something in their own namespace only."""
    other = store.space(ELSEWHERE)
    write(store, talk("a", "one"))
    write(store, branched(), into=ELSEWHERE)
    with other.view() as view:
        theirs = view.unembedded(99)
    space.write(Change(index=IndexChange(quality=quality_of(theirs))))
    with other.view() as view:
        assert view.unembedded(99) == theirs
        assert not view.index().quality
    other.write(Change(index=IndexChange(quality=quality_of(theirs))))
    numbers = [text.number for text in theirs]
    with space.view() as view:
        assert {text.owner_id for text in view.passages(numbers, tokens=True)}.isdisjoint(t.owner_id for t in theirs)
    with other.view() as view:
        assert all(text.tokens is not None for text in view.passages(numbers, tokens=True))


def other_numbers(space: Space) -> list[int]:
    with space.view() as view:
        return [text.number for text in view.unembedded(99)]


def test_a_namespace_that_was_never_written_is_empty(store: Store) -> None:
    space = store.space(ELSEWHERE)
    with space.view() as view:
        assert view.counts().messages == 0
        assert view.find(Message, Where(order="newest")).items == []
        assert view.index().embedder is None
        assert view.speakers() == view.years() == []
        assert view.tasks("due") == []
    assert space.check() == []
    assert store.namespaces() == []


# --- reading -------------------------------------------------------------------------------------------------------


def test_the_end_of_a_conversation_is_what_an_append_needs(space: Space) -> None:
    whole = talk("a", *(f"m {i}" for i in range(13)))
    space.write(change_of(whole))
    with space.view() as view:
        end = view.end(whole.conversation.id)
    assert end is not None
    assert (end.leaf, end.turn, end.message_count, end.revision) == (whole.messages[-1], whole.turns[-1], 13, 1)
    assert end.conversation == whole.conversation
    assert not end.named


def test_what_stands_above_and_around(space: Space) -> None:
    whole = branched()
    space.write(change_of(whole))
    by_source = {m.source_id: m for m in whole.messages}
    with space.view() as view:
        above = view.above(by_source["q2"].id, 3)
        assert [m.source_id for m in above] == ["a2", "out", "call"]
        assert [m.source_id for m in view.above(by_source["q2"].id, 99)] == ["a2", "out", "call", "q", "s"]
        of = whole.conversation.id
        around = view.around([(of, 5, 9), (of, 0, 1)])
        assert [m.position for m in around] == [5, 6, 0, 1]


def test_ids_are_found_as_typed_by_their_ends_and_by_source_ids(space: Space) -> None:
    """S15: an id of one's own is no short id."""
    whole = branched()
    own = replace(talk("own", "hello"), conversation=replace(talk("own", "hello").conversation, id=NodeId("chat-1")))
    own = replace(own, messages=(replace(own.messages[0], conversation_id=NodeId("chat-1")),), turns=())
    space.write(change_of(whole))
    space.write(Change(put=[own.conversation, *own.messages]))
    with space.view() as view:
        assert view.named("chat-1") == ["chat-1"]
        assert view.named("CHAT-1") == ["chat-1"]
        assert view.named(whole.messages[2].id[-7:].lower()) == [whole.messages[2].id]
        assert view.named("a2") == [next(m.id for m in whole.messages if m.source_id == "a2")]
        assert view.named(whole.conversation.id.lower()) == [whole.conversation.id]
        assert view.named("%") == view.named("_") == view.named("") == []
        assert view.named("\0") == view.named("\0A") == view.named(f"{whole.messages[2].id[-3:]}\0") == []
        assert len(view.named(whole.conversation.id[0:0] or "0", 1)) <= 1


def test_conversations_are_found_newest_first_and_filtered(space: Space) -> None:
    threads = [
        talk("a", "x", title="Bread at home", minute=0),
        talk("b", "x", title="Trip to Porto", minute=10, source="claude"),
        talk("c", "x", title="brÉad again", minute=20),
    ]
    space.write(change_of(*threads))
    with space.view() as view:

        def titles(**where: object) -> list[str]:
            found = view.find(Conversation, Where(order="newest", **where))  # type: ignore[arg-type]
            return [c.title for c in found.items]

        assert titles() == ["brÉad again", "Trip to Porto", "Bread at home"]
        assert titles(title="BREAD") == ["Bread at home"]
        assert titles(title="bréad") == ["brÉad again"]
        assert titles(sources=("claude",)) == ["Trip to Porto"]
        since = to_microseconds(START + timedelta(minutes=5))
        assert titles(since=since) == ["brÉad again", "Trip to Porto"]
        assert titles(until=since) == ["Bread at home"]
        assert titles(deleted=True) == []


@pytest.mark.parametrize("order", ["id", "newest"])
def test_pages_follow_each_other_whatever_comes_between(space: Space, order: str) -> None:
    whole = talk("a", *(f"m {i}" for i in range(25)))
    space.write(change_of(whole))
    where = Where(order=order)  # type: ignore[arg-type]
    found: list[Message] = []
    after: str | None = None
    while True:
        with space.view() as view:
            page = view.find(Message, where, after=after, limit=10)
        found += page.items
        after = page.next
        if after is None:
            break
        space.write(change_of(talk(f"later {len(found)}", "x", minute=-9999 + len(found))))
    known = {m.id for m in whole.messages}
    own = [m for m in found if m.id in known]
    assert len(found) == len({m.id for m in found})
    by_id = sorted(whole.messages, key=lambda m: m.id)
    assert own == (by_id if order == "id" else list(reversed(whole.messages)))


@pytest.mark.parametrize("order", ["id", "newest"])
def test_nodes_of_a_conversation_are_found_page_by_page(space: Space, order: str) -> None:
    whole = talk("a", "x")
    times = [None, START, START + timedelta(days=1), START, None, START + timedelta(days=2)]
    own = [node(str(n), conversation_id=whole.conversation.id, valid_from=time) for n, time in enumerate(times)]
    space.write(Change(put=[*change_of(whole).put, *own, node("another", valid_from=START)]))
    where = Where(conversation=whole.conversation.id, order=order)  # type: ignore[arg-type]
    found: list[Node] = []
    after: str | None = None
    with space.view() as view:
        while after is not None or not found:
            page = view.find(Node, where, after=after, limit=2)
            found += page.items
            after = page.next
    by_id = sorted(own, key=lambda one: one.id)
    newest = sorted(own, key=lambda one: (to_microseconds(one.valid_from) or -1, one.id), reverse=True)
    assert found == (by_id if order == "id" else newest)


def test_edges_of_several_types_are_read_in_order_each_once(space: Space) -> None:
    whole = talk("a", "x", "y")
    first, second = (message.id for message in whole.messages)
    said = [node(name) for name in ("one", "two")]
    written = [Edge(one.id, kind, to) for one in said for kind in ("COVERS", "ABOUT") for to in (first, second)]
    space.write(Change(put=[*change_of(whole).put, *said], edges=written))
    wanted = sorted(written, key=lambda edge: (edge.type, edge.source_id, edge.target_id))
    with space.view() as view:
        assert view.edges([second, first, first], ["COVERS", "ABOUT", "COVERS"], "in") == wanted
        assert view.edges([one.id for one in said], ("ABOUT",)) == wanted[:4]
        assert view.edges([first], ("COVERS", "REPLIES_TO"), "in", limit=2) == [
            edge for edge in wanted if edge.type == "COVERS" and edge.target_id == first
        ]


def test_a_page_by_id_begins_after_any_id(space: Space) -> None:
    space.write(change_of(talk("a", *(f"m {i}" for i in range(9)))))
    with space.view() as view:
        ids = [m.id for m in view.find(Message, Where()).items]
        assert ids == sorted(ids)
        assert [m.id for m in view.find(Message, Where(), after=ids[3][:-1] + "\U0010ffff").items] == ids[4:]


def test_nodes_are_found_by_what_they_are_asked_for(space: Space) -> None:
    whole = talk("a", "x")
    day = timedelta(days=1)
    facts = [
        node("one", key="Luna", text="lives in Porto", valid_from=START, valid_to=START + day),
        node("two", key="Luna", text="lives in Faro", valid_from=START + day, origin=Origin.SAID),
        node("three", key="Rex", text="barks", state="superseded"),
        node("four", NodeKind.SUMMARY, key="0", conversation_id=whole.conversation.id, valid_from=START + 2 * day),
    ]
    space.write(Change(put=[*change_of(whole).put, *facts]))

    with space.view() as view:

        def found(**where: object) -> list[str]:
            return [n.text for n in view.find(Node, Where(**where)).items]  # type: ignore[arg-type]

        at = to_microseconds(START + timedelta(hours=1))
        assert found(keys=("Luna",), current=at) == ["lives in Porto"]
        assert found(keys=("Luna",), current=to_microseconds(START + day)) == ["lives in Faro"]
        assert found(keys=("Luna",), order="newest") == ["lives in Faro", "lives in Porto"]
        assert sorted(found(kinds=("fact",), states=("live",))) == ["lives in Faro", "lives in Porto"]
        assert found(states=("superseded",)) == ["barks"]
        assert found(conversation=whole.conversation.id) == [""]
        assert found(order="newest", since=to_microseconds(START + day)) == ["", "lives in Faro"]
        assert found(keys=("Rex",), current=at) == ["barks"]  # unknown ends are open
        assert view.counts().by_node == {"fact": 2, "past": 1, "summary": 1}


def test_nodes_are_found_by_what_their_bodies_say(space: Space) -> None:
    said = {
        "food": {"attribute": "allergy", "value": '"attribute":"home"'},
        "pills": {"attribute": "dose of enalapril", "pinned": True},
        "town": {"attribute": "home", "pinned": False},
        "none": {},
    }
    space.write(Change(put=[node(name, key="Luna", text=name, body=body) for name, body in said.items()]))
    with space.view() as view:

        def found(where: Where) -> set[str]:
            return {n.text for n in view.find(Node, where).items}

        assert found(Where(attributes=("allergy", "dose"), keys=("Luna",), order="newest")) == {"food", "pills"}
        assert found(Where(attributes=("home",))) == {"town"}
        facts = Where(kinds=("fact",), states=("live",), attributes=("allergy", "dose"))
        assert found(facts) == found(replace(facts, order="newest")) == {"food", "pills"}
        assert found(replace(facts, pinned=True)) == {"pills"}
        assert found(replace(facts, states=("stale",))) == set()
        assert found(Where(attributes=("enalapril", "dose of enalapril"))) == set()
        assert found(Where(pinned=True, order="newest")) == {"pills"}
        assert found(Where(pinned=True, attributes=("home",), keys=("Luna",))) == set()


def test_messages_calls_turns_and_chunks_of_a_conversation_are_found(space: Space) -> None:
    whole, other = branched(), talk("a", "one", "two")
    space.write(change_of(whole, other))
    text = "\n\n".join(f"Paragraph {i} speaks of tides and moorings, as harbour books do." for i in range(1500))
    document = Document(stable_id("d"), "claude", "Harbour book", text)
    space.write(document_change(document))
    where = Where(conversation=whole.conversation.id)
    with space.view() as view:
        assert {m.id for m in view.find(Message, where).items} == {m.id for m in whole.messages}
        assert [c.id for c in view.find(ToolCall, where).items] == [c.id for c in whole.tool_calls]
        assert {t.id for t in view.find(Turn, where).items} == {t.id for t in whole.turns}
        chunks = view.get(Chunk, [document.id])
        assert len(chunks) > 1
        assert (chunks[0].start, chunks[-1].end) == (0, len(text))
        assert view.find(Document, Where(title="harbour")).items == [document]
        until = to_microseconds(START + timedelta(minutes=2))
        assert [m.source_id for m in view.find(Message, Where(since=until, order="newest")).items][:2] == ["q2", "a2"]
        assert all(
            m.timestamp and m.timestamp < START + timedelta(minutes=2)
            for m in view.find(Message, Where(until=until)).items
        )
    assert space.check() == []


def test_our_own_reports_are_no_documents(space: Space) -> None:
    space.write(document_change(Document(stable_id("d"), "documents", "Harbour", "tides")))
    space.write(document_change(Document(stable_id("r"), REPORTS, "Tides", "what the memory says of tides")))
    with space.view() as view:
        assert view.counts().documents == 1


def test_counts_are_read_back(store: Store, space: Space) -> None:
    write(store, branched(), talk("a", "one", "two", source="claude"))
    with space.view() as view:
        counts, one = view.counts(), view.counts([branched().conversation.id])
    assert (counts.conversations, counts.messages, counts.active, counts.tool_calls) == (2, 9, 8, 1)
    assert counts.by_kind == {"context": 1, "said": 6, "tool": 2}
    assert counts.by_source == {"claude": 1, "test": 1}
    assert (one.conversations, one.messages) == (1, 7)
    assert (counts.first, counts.last) == (START, START + timedelta(minutes=6))


# --- edges ---------------------------------------------------------------------------------------------------------


def test_the_relations_that_fields_say_can_be_walked_both_ways(store: Store, space: Space) -> None:
    whole = branched()
    write(store, whole)
    by_source = {m.source_id: m.id for m in whole.messages}
    with space.view() as view:
        assert [(e.type, e.target_id) for e in view.edges([by_source["a2"]])] == [("REPLIES_TO", by_source["out"])]
        assert {(e.type, e.source_id) for e in view.edges([by_source["q"]], way="in")} == {
            ("REPLIES_TO", by_source["a1"]),
            ("REPLIES_TO", by_source["call"]),
            ("HAS_QUERY", whole.turns[0].id),
        }
        assert [e.target_id for e in view.edges([whole.conversation.id], ["HAS_TURN"])] == sorted(
            turn.id for turn in whole.turns
        )
        assert [e.target_id for e in view.edges([whole.turns[0].id], ["NEXT_TURN"])] == [whole.turns[1].id]
        assert [e.source_id for e in view.edges([whole.turns[1].id], ["NEXT_TURN"], "in")] == [whole.turns[0].id]
        called = view.edges([by_source["call"]], ["CALLED_BY"], "in")
        assert [e.source_id for e in called] == [whole.tool_calls[0].id]
        answers = view.edges([by_source["a2"], by_source["a1"]], ["HAS_RESPONSE"], "in")
        assert {e.target_id for e in answers} == {by_source["a2"], by_source["a1"]}
        frontier = view.edges([by_source["a1"], by_source["call"]], ["REPLIES_TO"])
        assert [e.target_id for e in frontier] == [by_source["q"]] * 2
        assert len(view.edges([m.id for m in whole.messages], limit=3)) == 3


def test_written_edges_are_put_by_their_ends_and_names(space: Space) -> None:
    a, b, c = sorted(stable_id(x) for x in "abc")
    space.write(
        Change(edges=[Edge(a, "RELATED_TO", b, {"weight": 1}, "USES"), Edge(a, "RELATED_TO", b, {}, "REPLACES")])
    )
    space.write(Change(edges=[Edge(a, "RELATED_TO", b, {"weight": 2}, "USES"), Edge(b, "MENTIONS", c)]))
    with space.view() as view:
        everything = view.edges(None)
        assert [(e.source_id, e.name, dict(e.properties)) for e in everything] == [
            (a, "REPLACES", {}),
            (a, "USES", {"weight": 2}),
            (b, "", {}),
        ]
        assert [e.source_id for e in view.edges([b, c], way="in")] == [b, a, a]
        assert view.edges([a], ["MENTIONS"]) == []
    space.write(Change(cut=[(a, "RELATED_TO", b, "USES"), (a, "NOTHING", b, "")]))
    with space.view() as view:
        assert [(e.type, e.name) for e in view.edges(None)] == [("RELATED_TO", "REPLACES"), ("MENTIONS", "")]


# --- views ---------------------------------------------------------------------------------------------------------


def test_what_is_written_is_there_for_another_handle(open_store: Callable[[], Store]) -> None:
    first, second = open_store(), open_store()
    write(first, branched())
    with second.space(DEFAULT).view() as view:
        assert view.counts().messages == 7
    assert holding(second.space(DEFAULT), "focaccia percent") == ["Focaccia, at 85 percent."]


def test_a_closed_store_says_so(open_store: Callable[[], Store]) -> None:
    store = open_store()
    write(store, talk("a", "one"))
    space = store.space(DEFAULT)
    store.close()
    for use in (store.namespaces, store.info, lambda: space.write(Change()), lambda: space.view().__enter__()):
        with pytest.raises(StoreError, match="closed"):
            use()


def test_a_thread_survives_an_edit(space: Space) -> None:
    whole = talk("a", "Where is the zeppelin?", "In the hangar.")
    space.write(change_of(whole))
    changed, message = edited(whole, 0, "Where is the submarine?")
    space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    assert holding(space, "submarine") == ["Where is the submarine?"]
    assert holding(space, "zeppelin") == []
    assert space.check() == []


def test_kinds_survive_the_store(store: Store, space: Space) -> None:
    write(store, branched())
    with space.view() as view:
        stored = view.thread(branched().conversation.id)
    assert stored is not None
    assert {m.kind for m in stored.messages} == {Kind.CONTEXT, Kind.SAID, Kind.TOOL}
