"""What every engine must do: search, and what is derived for it. Written against the port alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from recollect.errors import StoreError
from recollect.record import Document, Message, Namespace, Node, NodeKind, stable_id, to_microseconds
from recollect.store import Change, IndexChange, Mark, Space, Stale, Store, WrongEmbedder
from recollect.store.passages import EmbedderId, Features, Filter, Owner, Partition
from recollect.store.results import Near
from recollect.text.terms import terms, words
from tests.store.builders import (
    DEFAULT,
    START,
    branched,
    change_of,
    document_change,
    edited,
    embedder_id,
    holding,
    index_of,
    node_change,
    passages_of,
    quality_of,
    query,
    said,
    talk,
    texts,
    thread,
    write,
)

OTHER = EmbedderId("other@1", 256)


def ask(space: Space, text: str, partition: Partition = Partition.SAID, **more: Any) -> Features:
    with space.view() as view:
        return view.candidates(query(text, partition, **more))


def found(space: Space, text: str, partition: Partition = Partition.SAID, **more: Any) -> list[str]:
    with space.view() as view:
        return texts(view, view.candidates(query(text, partition, **more)))


# --- candidates ----------------------------------------------------------------------------------------------------


def test_what_was_said_and_what_is_no_chat_text_are_sought_apart(store: Store, space: Space) -> None:
    write(store, branched())
    assert holding(space, "hydration table") == []
    assert holding(space, "hydration table", Partition.OTHER) == ["hydration table: focaccia 85"]
    assert holding(space, "brief", Partition.OTHER) == ["be brief"]
    assert holding(space, "bread water", Partition.TITLE) == ["Bread and water"]


def test_every_filter_holds_exactly(store: Store, space: Space) -> None:
    write(store, *(talk(f"c{i}", "the tide is high", "the tide is low", minute=60 * i) for i in range(30)))
    write(store, talk("other", "the tide turns", source="claude"))
    assert len(ask(space, "tide", filter=Filter(roles=("assistant",)))) == 30
    assert len(ask(space, "tide", filter=Filter(sources=("claude",)))) == 1
    assert len(ask(space, "tide", filter=Filter(sources=("nowhere",)))) == 0
    one = talk("c3", "the tide is high").conversation.id
    assert len(ask(space, "tide", filter=Filter(conversation_ids=(one,)))) == 2
    assert len(ask(space, "tide", filter=Filter(conversation_ids=()))) == 0
    since = int((START + timedelta(hours=10)).timestamp() * 1e6)
    until = int((START + timedelta(hours=12)).timestamp() * 1e6)
    assert len(ask(space, "tide", filter=Filter(since=since, until=until))) == 4
    assert len(ask(space, "tide", filter=Filter(kinds=("attachment",)))) == 0


def test_a_time_before_1970_is_one_and_an_unknown_time_is_none(store: Store, space: Space) -> None:
    years = -60 * 24 * 365 * 60  # minutes
    undated = thread("undated", [replace(said("the tide, some day", source_id="u"), timestamp=None)])
    write(store, talk("new", "the tide of now"), talk("old", "the tide of then", minute=years), undated)
    start = to_microseconds(START + timedelta(minutes=years))
    assert found(space, "tide", filter=Filter(until=start + 1)) == ["the tide of then"]
    assert found(space, "tide", filter=Filter(until=start)) == []
    assert sorted(found(space, "tide", filter=Filter(since=start))) == ["the tide of now", "the tide of then"]
    assert found(space, "tide", filter=Filter(since=start, until=0)) == ["the tide of then"]


def test_words_whose_signs_make_the_name_are_words_of_their_own(store: Store, space: Space) -> None:
    texts_told = ("a linker for C++", "a linker for C#", "a linker for C", "a linker for Java")
    write(store, talk("a", *texts_told))
    for name, told in zip(("c++", "c#", "c"), texts_told, strict=False):
        assert found(space, "linker", phrases=((name,),)) == [told]
        assert found(space, "linker", phrases=(("for", name),)) == [told]
        assert sorted(found(space, "linker", excluded=((name,),))) == sorted({*texts_told} - {told})
    assert found(space, "linker", excluded=(("c++",), ("c#",))) == [*texts_told[2:]]


def test_conversations_are_told_by_their_numbers(store: Store, space: Space) -> None:
    write(store, branched())
    with space.view() as view:
        features = view.candidates(query("hydration"))
        numbers = sorted(set(features.conversations.tolist()) - {0})
        told = view.origins([*numbers, 10**9])
        there = {text.conversation_id for text in view.passages(features.passages.tolist())}
    assert sorted(told) == numbers
    assert {named for named, _ in told.values()} == there
    assert all(source for _, source in told.values())
    with store.space(Namespace("elsewhere")).view() as view:
        assert view.origins(numbers) == {}


def test_all_that_holds_a_word_is_told_beside_the_pool(store: Store, space: Space) -> None:
    write(store, branched())
    features = ask(space, "hydration flour")
    assert features.matches is not None
    held = features.holds[:, 0].any(axis=1)
    assert features.matches.rows.passages.tolist() == features.passages[held].tolist()
    assert features.matches.conversations.tolist() == sorted(set(features.conversations[held].tolist()))
    assert (features.matches.shares > 0).all()


def test_phrases_are_kept_together_and_words_can_be_excluded(store: Store, space: Space) -> None:
    write(store, talk("a", "the proxy sends it back", "send the reverse proxy back", "reverse the proxy"))
    assert found(space, "proxy", phrases=(tuple(words("reverse proxy")),)) == ["send the reverse proxy back"]
    assert found(space, "proxy", excluded=(("reverse",),)) == ["the proxy sends it back"]
    sought = ask(space, "proxy", sought=(("reverse", "proxy"),))
    assert [bool(s) for s in sought.sought] == [False, True, False]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_phrase_is_found_in_each_partition_of_one_view(store: Store, space: Space, sealed: bool) -> None:
    """Some words look like what tells the partitions apart within an engine."""
    if sealed:
        write(store, *(talk(f"s{i}", *(f"a plover {i} {k}" for k in range(60)), title="") for i in range(5)))
        maintained(space)
    write(store, talk("a", "the heron of g1p0 stands", title="The heron of g1p0"), talk("b", "no egret stands here"))
    there = ((Partition.SAID, "the heron of g1p0 stands"), (Partition.TITLE, "The heron of g1p0"))
    with space.view() as view:
        for phrase in (("the", "heron"), ("of", "g1p0"), ("g1p0",), ("the", "heron")):
            for partition, one in there:
                assert texts(view, view.candidates(query("heron egret", partition, phrases=(phrase,)))) == [one]
        for phrase in (("g1p1",), ("p0",), ("heron", "the"), ("stands", "no")):
            assert not len(view.candidates(query("heron egret", phrases=(phrase,))))


def test_phrases_in_an_empty_namespace_find_nothing(space: Space) -> None:
    """Q2 of the close reading."""
    assert len(ask(space, "nginx", phrases=(("nginx", "conf"),))) == 0
    assert len(ask(space, "nginx", sought=(("nginx", "conf"),), excluded=(('q"uo',), ()))) == 0


def test_neighbours_follow_the_reading_order_within_a_session(store: Store, space: Space) -> None:
    names = ["alpha", "beta", "gamma", "delta", "epsilon"]
    messages = [said(t, minute=i, source_id=t) for i, t in enumerate(names)]
    messages += [said("zeta", minute=60 * 24, source_id="zeta"), said("eta", minute=60 * 24 + 1, source_id="eta")]
    write(store, thread("a", messages, linear=True))
    features = ask(space, "gamma zeta")
    by_text = dict(zip(found(space, "gamma zeta"), range(len(features)), strict=True))
    named = {int(features.passages[i]): text for text, i in by_text.items()}

    def around(text: str) -> list[str | None]:
        return [named.get(int(n)) for n in features.neighbours[by_text[text]]]

    assert around("gamma") == ["gamma", "beta", "delta", "alpha", "epsilon"]
    assert around("epsilon") == ["epsilon", "delta", None, "gamma", None]
    assert around("zeta") == ["zeta", None, "eta", None, None]
    assert list(features.holds[by_text["delta"], :, 0]) == [0, 1, 0, 0, 0]


def test_bm25_is_over_the_whole_partition(store: Store, space: Space) -> None:
    write(store, talk("a", *(["nothing of note"] * 50), "the heron stands"))
    features = ask(space, "heron")
    assert features.bm25[:, 0].max() == pytest.approx((51 - 1) ** 0.5, rel=0.01)  # one of 51: z = sqrt(n - 1)
    assert list(features.frequencies) == [1]


def test_many_passages_are_found_like_few(store: Store, space: Space) -> None:
    filler = [talk(f"f{i}", *(f"filler {i} {j} about nothing much" for j in range(25))) for i in range(100)]
    for i in range(0, 100, 10):
        write(store, *filler[i : i + 10])
    write(store, talk("needle", "the axolotl lives in Xochimilco", "indeed it does"))
    features = ask(space, "axolotl Xochimilco")
    assert features.size == 2502
    assert len(features) < 1500
    for _ in range(2):
        assert holding(space, "axolotl Xochimilco") == ["the axolotl lives in Xochimilco"]
        maintained(space)
    write(store, talk("late", "another axolotl, in Xochimilco too"))
    assert len(holding(space, "axolotl Xochimilco")) == 2
    assert space.check() == []


def maintained(space: Space) -> None:
    while space.maintain(timedelta(seconds=30)):
        pass


def test_another_handle_sees_what_was_written_after_it_searched(open_store: Callable[[], Store]) -> None:
    mine, theirs = open_store(), open_store()
    reader, writer = mine.space(DEFAULT), theirs.space(DEFAULT)
    write(theirs, talk("a", "the first heron"))
    assert len(holding(reader, "heron")) == 1
    for i in range(0, 40, 10):
        write(theirs, *(talk(f"b{j}", *(f"heron {j} {k}" for k in range(60))) for j in range(i, i + 10)))
    assert ask(reader, "heron").size == 2401
    maintained(writer)
    late = talk("c", "the very last heron flies")
    writer.write(change_of(late))
    assert holding(reader, "last heron flies") == ["the very last heron flies"]
    writer.write(Change(mark=[Mark(ids=[late.messages[0].id], deleted=True)]))
    assert holding(reader, "last heron flies") == []


def test_added_and_deleted_between_two_searches_is_not_found(open_store: Callable[[], Store]) -> None:
    """S12: deaths are read for what came after the last search, too."""
    reader, writer = open_store().space(DEFAULT), open_store().space(DEFAULT)
    writer.write(change_of(talk("a", "the first heron")))
    assert len(ask(reader, "heron")) == 1
    whole = talk("b", "a second heron", "a third heron")
    writer.write(change_of(whole))
    writer.write(Change(mark=[Mark(ids=[whole.messages[0].id], deleted=True)]))
    changed, message = edited(whole, 1, "no bird at all")
    writer.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    assert sorted(found(reader, "heron")) == ["no bird at all", "the first heron"]
    assert list(ask(reader, "heron").frequencies) == [1]


def test_a_view_stays_as_it_was(open_store: Callable[[], Store]) -> None:
    """S2: what is cached belongs to the snapshot that filled it."""
    one, other = open_store(), open_store()
    reader, writer = one.space(DEFAULT), other.space(DEFAULT)
    writer.write(change_of(*(talk(f"a{i}", *(f"heron {i} {j}" for j in range(40))) for i in range(50))))
    with reader.view() as old:
        before = old.candidates(query("heron"))
        writer.write(change_of(*(talk(f"b{i}", *(f"heron egret {i} {j}" for j in range(40))) for i in range(30))))
        maintained(writer)
        with reader.view() as new:
            assert new.candidates(query("egret")).frequencies.tolist() == [1200]
        assert old.candidates(query("heron")).size == before.size == 2000
        assert old.candidates(query("egret")).frequencies.tolist() == [0]
        assert old.counts().messages in (2000, 3200)  # Neo4j's statements see later commits
    assert ask(reader, "egret").frequencies.tolist() == [1200]
    assert ask(reader, "heron").frequencies.tolist() == [3200]


# --- owners --------------------------------------------------------------------------------------------------------


def test_the_passages_of_an_owner_replace_what_it_had(space: Space) -> None:
    whole = talk("a", "the heron stands", "and waits")
    first = whole.messages[0].id
    for _ in range(3):
        space.write(Change(put=[*change_of(whole).put], index=index_of(passages_of(whole))))
    assert holding(space, "heron") == ["the heron stands"]
    space.write(Change(index=IndexChange(passages={first: ()})))
    assert holding(space, "heron") == []
    with space.view() as view:
        assert view.counts().passages == 2  # the answer, the title


def test_passages_of_what_is_deleted_or_absent_are_not_taken(space: Space) -> None:
    whole, other = talk("a", "the heron stands", "and waits"), talk("b", "an egret")
    space.write(change_of(whole))
    space.write(Change(mark=[Mark(ids=[whole.messages[0].id], deleted=True)]))
    space.write(Change(index=index_of([*passages_of(whole), *passages_of(other)])))
    assert sorted(found(space, "heron")) == ["and waits"]
    assert space.check() == []


def test_documents_and_nodes_are_found(space: Space) -> None:
    document = Document(stable_id("d"), "claude", "Harbour book", "The quixotic lighthouse closes at ten.")
    fact = Node(stable_id("n"), NodeKind.FACT, key="Luna", text="Luna keeps a zeppelin")
    space.write(document_change(document))
    space.write(node_change(fact))
    assert holding(space, "quixotic lighthouse", Partition.DOCUMENT) == [document.content]
    with space.view() as view:
        features = view.candidates(query("zeppelin", Partition.DERIVED))
        text = view.passages([int(features.passages[int(np.argmax(features.bm25[:, 0]))])])[0]
    assert (text.owner, text.owner_id, text.text) == (Owner.NODE, fact.id, fact.text)
    assert space.check() == []


def test_a_text_leads_to_its_message(store: Store, space: Space) -> None:
    whole = branched()
    write(store, whole)
    with space.view() as view:
        features = view.candidates(query("Ciabatta"))
        by_text = {t.text: t for t in view.passages([int(n) for n in features.passages])}
    answer, message = by_text["Ciabatta."], next(m for m in whole.messages if m.source_id == "a1")
    assert (answer.message_id, answer.conversation_id) == (message.id, whole.conversation.id)
    assert not answer.active


# --- vocabulary ----------------------------------------------------------------------------------------------------


def test_compounds_and_misspellings_are_known(store: Store, space: Space) -> None:
    write(store, talk("a", "Die Heizkostenabrechnung ist da", "Kubernetes kubernetes", "Weist hin"))
    with space.view() as view:
        vocabulary = view.vocabulary()
        assert vocabulary.compounds(terms("Heizkosten")[0]) == terms("Heizkostenabrechnung")
        assert vocabulary.compounds(terms("Abrechnung")[0]) == terms("Heizkostenabrechnung")
        assert [near.word for near in vocabulary.near("kubernetis")] == ["kubernetes"]
        assert vocabulary.near("kubernetis", 0) == []
        assert vocabulary.near("heist") == []  # of a short word the first letter is right
        assert view.years() == [2025]


def test_a_slip_in_an_ending_is_known_though_the_index_holds_stems(store: Store, space: Space) -> None:
    write(store, talk("a", "Meditation", "Meditations and meditating", "medals"))
    with space.view() as view:
        vocabulary = view.vocabulary()
        assert terms("meditation") == ["medit"]
        assert vocabulary.near("meditaton")[0] == Near("meditation", 1, 2)
        assert vocabulary.near("medtiation")[0].word == "meditation"
        assert vocabulary.near("mediator") == []


def test_nothing_deleted_shows_in_the_vocabulary(store: Store, space: Space) -> None:
    """S11: words, people and years of what is deleted."""
    messages = [
        said("the zeppelin landed", source_id="1", speaker="Grace"),
        said("did it", source_id="2", speaker="Ada", minute=1),
        said("next year", source_id="3", speaker="Ada", minute=600_000),
    ]
    whole = thread("a", messages, linear=True)
    write(store, whole)
    with space.view() as view:
        assert view.speakers() == ["Ada", "Grace"]
        assert view.vocabulary().near("zepelin") == [Near("zeppelin", 1, 1)]
        assert view.years() == [2025, 2026]
    gone = [whole.messages[0].id, whole.messages[2].id]
    space.write(Change(mark=[Mark(ids=gone, deleted=True)]))
    with space.view() as view:
        assert view.speakers() == ["Ada"]
        assert view.vocabulary().near("zepelin") == []
        assert view.years() == [2025]


def test_the_record_is_scanned_where_the_index_cannot_be_read(store: Store, space: Space) -> None:
    write(store, talk("a", "the heron STANDS", "an egret", "a heron and an egret"), talk("b", "heron", minute=99))
    with space.view() as view:
        found = [m.content for m in view.scan(["heron", "Egret"], 9)]
        assert found == ["a heron and an egret", "heron", "an egret", "the heron STANDS"]
        assert [m.content for m in view.scan(["stands"], 9)] == ["the heron STANDS"]
        assert view.scan([], 9) == []
    space.write(Change(mark=[Mark(ids=[talk("b", "heron").messages[0].id], deleted=True)]))
    with space.view() as view:
        assert len(view.scan(["heron"], 9)) == 2
        assert len(view.scan(["heron"], 1)) == 1


# --- embedders and generations -------------------------------------------------------------------------------------


def test_another_embedder_is_refused_inside_the_write(open_store: Callable[[], Store]) -> None:
    """S1: by name and by size, whoever writes, and whatever it knew when it was opened."""
    one, other = open_store().space(DEFAULT), open_store().space(DEFAULT)
    whole = talk("a", "one", "two")
    one.write(change_of(whole))
    changed, message = edited(whole, 0, "uno")
    index = index_of(passages_of(changed, [message.id], titled=False))
    for wrong in (OTHER, EmbedderId(embedder_id().name, 128)):
        with pytest.raises(WrongEmbedder, match="made by"):
            other.write(Change(put=[message], index=replace(index, embedder=wrong)))
    small = {owner: [replace(p, vector=p.vector[:128]) for p in passages] for owner, passages in index.passages.items()}
    with pytest.raises(WrongEmbedder):
        other.write(Change(put=[message], index=replace(index, passages=small)))
    with one.view() as view:
        assert view.get(Message, [message.id]) == [whole.messages[0]]
        assert (view.index().generation, view.index().embedder) == (1, embedder_id())
    assert holding(one, "one") == ["one"]
    assert one.check() == []


def build(space: Space, number: int, *threads: Any, **more: Any) -> None:
    index = index_of([p for t in threads for p in passages_of(t)])
    space.write(Change(index=replace(index, embedder=OTHER, generation=number, **more)))


def test_a_generation_is_built_beside_and_published(space: Space) -> None:
    a, b = talk("a", "the heron stands", "and waits"), talk("b", "an egret flies")
    space.write(change_of(a, b))
    number = space.generation("begin", OTHER)
    assert space.generation("begin", OTHER) == number  # goes on
    build(space, number, a, built=a.conversation.id)
    with space.view() as view:
        info = view.index()
        assert (info.generation, info.embedder, info.building, info.building_embedder, info.built, info.todo) == (
            1, embedder_id(), number, OTHER, a.conversation.id, (),
        )  # fmt: skip
    assert holding(space, "heron") == ["the heron stands"]
    assert holding(space, "egret") == ["an egret flies"]
    build(space, number, b)
    assert space.generation("publish") == number
    with space.view() as view:
        assert (view.index().generation, view.index().embedder, view.index().building) == (number, OTHER, None)
    assert holding(space, "heron") == ["the heron stands"]
    maintained(space)
    assert holding(space, "egret") == ["an egret flies"]
    assert space.check() == []
    with pytest.raises(WrongEmbedder):
        space.write(change_of(talk("c", "late")))
    with pytest.raises(StoreError):
        space.generation("publish")
    with pytest.raises(StoreError):
        build(space, number, a)  # it is published


def test_what_is_written_while_a_generation_is_built_must_be_done_again(space: Space) -> None:
    a, b = talk("a", "the heron stands", "and waits"), talk("b", "an egret flies")
    space.write(change_of(a))
    number = space.generation("begin", OTHER)
    build(space, number, a)
    changed, message = edited(a, 0, "the egret stands")
    space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    space.write(change_of(b))
    space.write(Change(mark=[Mark(ids=[a.messages[1].id], deleted=True)]))
    with space.view() as view:
        todo = view.index().todo
    assert {message.id, b.messages[0].id, b.conversation.id} <= set(todo)
    with pytest.raises(Stale):
        space.generation("publish")
    with space.view() as view:
        revision = view.revisions([a.conversation.id])[a.conversation.id].number
    build(space, number, changed, b, refreshed=todo)
    space.generation("publish")
    assert sorted(found(space, "egret")) == ["an egret flies", "the egret stands"]
    assert revision == 3
    assert space.check() == []


def test_a_generation_can_be_dropped_or_begun_with_another_embedder(space: Space) -> None:
    whole = talk("a", "the heron stands")
    space.write(change_of(whole))
    first = space.generation("begin", OTHER)
    build(space, first, whole)
    second = space.generation("begin", EmbedderId("third@1", 256))
    assert second > first
    with pytest.raises(StoreError):
        build(space, first, whole)
    space.generation("drop")
    maintained(space)
    with space.view() as view:
        assert (view.index().generation, view.index().building) == (1, None)
        assert view.counts().passages == 2
    assert holding(space, "heron") == ["the heron stands"]
    assert space.check() == []


# --- quality vectors -----------------------------------------------------------------------------------------------


def test_quality_vectors_are_kept_with_their_tokens(store: Store, space: Space) -> None:
    write(store, talk("a", "one", "two", "three"))
    with space.view() as view:
        todo = view.unembedded(10)
        assert [text.text for text in todo] == ["three", "two", "one"]  # newest first
        assert not view.index().quality
    rows = quality_of(todo[:2])
    for _ in range(2):  # twice is once
        space.write(Change(index=IndexChange(quality=rows)))
    with space.view() as view:
        assert view.index().quality
        assert [text.text for text in view.unembedded(10)] == ["one"]
        tokens = {t.text: t.tokens for t in view.passages([text.number for text in todo], tokens=True)}
        assert tokens["one"] is None
        assert tokens["two"] is not None
        assert list(tokens["two"].pieces) == [7, 7, 10]
        assert tokens["two"].tokens.shape == (3, 128)
        features = view.candidates(query("two", similarity=np.eye(384, dtype=np.float32)[1], pieces=(7, 10)))
        assert features.quality
        assert texts(view, features)[int(np.argmax(features.similarity))] == "two"
        assert features.piece_idf[10] > features.piece_idf[7]
        assert view.counts().quality == 2
    assert space.check() == []


def test_quality_vectors_die_with_their_passages(store: Store, space: Space) -> None:
    whole = talk("a", "one", "two")
    write(store, whole)
    with space.view() as view:
        rows = quality_of(view.unembedded(10))
    space.write(Change(index=IndexChange(quality=rows)))
    space.write(Change(mark=[Mark(ids=[whole.messages[0].id], deleted=True)]))
    space.write(Change(index=IndexChange(quality=rows)))
    with space.view() as view:
        assert view.counts().quality == 1
        assert view.passages([row.passage for row in rows], tokens=True)[0].text == "two"
    assert space.check() == []


def test_quality_vectors_are_taken_over_where_the_passages_are_the_same(store: Store, space: Space) -> None:
    """U3: building anew costs nobody the quality vectors that are still right."""
    whole, other = talk("a", "one", "two"), talk("b", "three")
    write(store, whole, other)
    with space.view() as view:
        space.write(Change(index=IndexChange(quality=quality_of(view.unembedded(10)))))
    number = space.generation("begin", OTHER)
    build(space, number, whole, other)
    changed, message = edited(whole, 0, "uno")
    space.write(Change(put=[message], index=index_of(passages_of(changed, [message.id], titled=False))))
    build(space, number, changed, refreshed=[message.id])
    space.generation("publish")
    with space.view() as view:
        assert [text.text for text in view.unembedded(10)] == ["uno"]
        features = view.candidates(query("two", similarity=np.eye(384, dtype=np.float32)[0], pieces=(7, 9)))
        assert texts(view, features)[int(np.argmax(features.similarity))] == "three"
    maintained(space)
    assert space.check() == []


def test_which_words_are_known_is_told_without_a_search(store: Store, space: Space) -> None:
    assert known(space, "heron") is None
    write(store, talk("a", "the heron stands", "herring"), talk("b", "an egret"))
    assert known(space, "heron zeppelin egret") == [True, False, True]
    assert known(space, "heron", Partition.DOCUMENT) is None
    space.write(Change(mark=[Mark(ids=[talk("b", "an egret").messages[0].id], deleted=True)]))
    assert known(space, "heron zeppelin egret") == [True, False, False]


def known(space: Space, text: str, partition: Partition = Partition.SAID) -> Sequence[bool] | None:
    with space.view() as view:
        return view.known(partition, query(text).terms)
