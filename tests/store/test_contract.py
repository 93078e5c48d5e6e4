"""What every engine must do. Written against the port alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from recollect.embedding.tokenizer import count_tokens
from recollect.errors import NotFound, StoreError
from recollect.importers.merge import plan
from recollect.ingest import Ingest
from recollect.record import Document, Edge, Kind, Version, namespace, new_id, stable_id
from recollect.store import Batch, ConversationFilter, StaleChange, Store, ThreadChange
from recollect.store.passages import Filter, Lane, Probe, QualityVectors, Signals
from recollect.store.transfer import dump_lines
from recollect.text.terms import terms, words
from tests.store.builders import DEFAULT, START, branched, embedder, said, talk, thread, write

ELSEWHERE = namespace("acme/luna")


def ask(store: Store, text: str, *, lane: Lane = Lane.SAID, into: str = "default", **more: object) -> Signals:
    groups = tuple(((term, 1.0),) for term in dict.fromkeys(terms(text)))
    probe = Probe(lane=lane, terms=groups, vector=embedder().embed([text])[0], **more)  # type: ignore[arg-type]
    return store.signals(namespace(into), probe)


def found(store: Store, signals: Signals, into: str = "default") -> list[str]:
    return [text.text for text in store.passage_texts(namespace(into), list(signals.passages))]


def holding(store: Store, text: str, **more: object) -> list[str]:
    """The passages that hold every term of a text."""
    signals = ask(store, text, **more)
    whole = np.flatnonzero((signals.holds[:, 0, :] > 0).all(axis=1))
    into = str(more.get("into", "default"))
    return [t.text for t in store.passage_texts(namespace(into), [int(signals.passages[i]) for i in whole])]


# --- the record ----------------------------------------------------------------------------------------------------


def test_a_conversation_comes_back_as_it_was_written(store: Store) -> None:
    whole = branched()
    write(store, whole)
    assert store.thread(DEFAULT, whole.conversation.id) == whole


def test_writing_again_changes_nothing(store: Store) -> None:
    write(store, branched(), talk("a", "one", "two"))
    before = list(dump_lines(store, DEFAULT))
    write(store, branched(), talk("a", "one", "two"))
    assert list(dump_lines(store, DEFAULT)) == before
    assert store.check() == []


def test_the_order_of_writing_does_not_show(open_store: Callable[[], Store]) -> None:
    store = open_store()
    write(store, talk("a", "one", "two"))
    write(store, branched())
    write(store, branched(), into=ELSEWHERE)
    write(store, talk("a", "one", "two"), into=ELSEWHERE)
    assert list(dump_lines(store, DEFAULT)) == list(dump_lines(store, ELSEWHERE))


def test_what_is_written_is_there_for_another_handle(open_store: Callable[[], Store]) -> None:
    first, second = open_store(), open_store()
    write(first, branched())
    assert [row.messages for row in second.conversations(DEFAULT, ConversationFilter(), limit=5)] == [7]
    assert holding(second, "focaccia percent") == ["Focaccia, at 85 percent."]


def test_a_stale_change_writes_nothing(store: Store) -> None:
    whole = talk("a", "one", "two")
    write(store, whole)
    late = talk("a", "one", "two", "three")
    made = plan(late, None, lambda: None)  # as if nothing were there
    assert made is not None
    other = ThreadChange(talk("b", "x").conversation, base_revision=0)
    with pytest.raises(StaleChange) as caught:
        store.write(DEFAULT, Batch(changes=[other, made.change]))
    assert caught.value.conversation_ids == (whole.conversation.id,)
    assert store.conversation_ids(DEFAULT) == [whole.conversation.id]
    assert store.thread(DEFAULT, whole.conversation.id) == whole


def test_an_edit_keeps_the_old_wording_and_is_found_by_the_new_one(store: Store) -> None:
    write(store, talk("a", "Where is the zeppelin?", "In the hangar."))
    changed = talk("a", "Where is the submarine?", "In the hangar.")
    write(store, replace(changed, conversation=replace(changed.conversation, updated=START + timedelta(days=1))))
    message = store.messages(DEFAULT, [changed.messages[0].id])[0]
    assert message.content == "Where is the submarine?"
    assert message.versions == (Version("Where is the zeppelin?", START + timedelta(days=1)),)
    assert holding(store, "submarine") == ["Where is the submarine?"]
    assert holding(store, "zeppelin") == []
    assert store.check() == []


def test_an_older_export_adds_but_does_not_undo(store: Store) -> None:
    newer = talk("a", "Where is the submarine?", "In the hangar.")
    newer = replace(newer, conversation=replace(newer.conversation, updated=START + timedelta(days=9)))
    write(store, newer)
    write(store, talk("a", "Where is the zeppelin?", "In the hangar.", "Thanks"))
    stored = store.thread(DEFAULT, newer.conversation.id)
    assert stored is not None
    assert [m.content for m in stored.messages] == ["Where is the submarine?", "In the hangar.", "Thanks"]
    assert store.check() == []


def test_a_newer_export_with_fewer_messages_takes_nothing_away(store: Store) -> None:
    write(store, talk("a", "one", "two", "three", "four"))
    shorter = talk("a", "one", "two")
    write(store, replace(shorter, conversation=replace(shorter.conversation, updated=START + timedelta(days=9))))
    stored = store.thread(DEFAULT, shorter.conversation.id)
    assert stored is not None
    assert [m.content for m in stored.messages] == ["one", "two", "three", "four"]
    assert store.check() == []


def test_an_append_grows_everything_that_belongs_to_it(store: Store) -> None:
    ingest = Ingest(store, DEFAULT, embedder(), count_tokens)
    whole = talk("a", *(f"message number {i}" for i in range(25)))
    write(store, talk("a", "message number 0"))
    for message in whole.messages[1:]:
        ingest.append(whole.conversation, replace(message, parent_id=None))
    stored = store.thread(DEFAULT, whole.conversation.id)
    assert stored is not None
    assert stored.messages == whole.messages
    assert stored.windows == whole.windows
    assert stored.turns == whole.turns
    assert store.check() == []
    assert holding(store, "message number 24") == ["message number 24"]


def test_an_answer_to_an_earlier_message_opens_a_branch(store: Store) -> None:
    ingest = Ingest(store, DEFAULT, embedder(), count_tokens)
    whole = talk("a", "Which way?", "Left.", "Sure?")
    write(store, whole)
    other = replace(whole.messages[1], id=new_id(), content="Right.", parent_id=whole.messages[0].id, source_id=None)
    ingest.append(whole.conversation, other)
    stored = store.thread(DEFAULT, whole.conversation.id)
    assert stored is not None
    assert [(m.content, m.active) for m in stored.messages] == [
        ("Which way?", True),
        ("Right.", True),
        ("Left.", False),
        ("Sure?", False),
    ]
    assert stored.conversation.leaf_id == other.id
    assert set(stored.turns[0].response_ids) == {whole.messages[1].id, other.id}
    assert store.check() == []


def test_appending_below_a_message_of_another_conversation_is_refused(store: Store) -> None:
    ingest = Ingest(store, DEFAULT, embedder(), count_tokens)
    a, b = talk("a", "one"), talk("b", "two")
    write(store, a, b)
    stray = replace(b.messages[0], id=new_id(), conversation_id=a.conversation.id, parent_id=b.messages[0].id)
    with pytest.raises(NotFound):
        ingest.append(a.conversation, stray)


# --- deletion ------------------------------------------------------------------------------------------------------


def test_what_is_deleted_is_found_no_more_and_can_be_restored(store: Store) -> None:
    ingest = Ingest(store, DEFAULT, embedder(), count_tokens)
    whole = talk("a", "The password is swordfish", "Noted.")
    write(store, whole)
    ingest.delete([whole.messages[0].id])
    assert holding(store, "swordfish") == []
    assert store.counts(DEFAULT).messages == 1
    assert store.messages(DEFAULT, [whole.messages[0].id])[0].deleted
    assert store.check() == []
    ingest.restore([whole.messages[0].id])
    assert holding(store, "swordfish") == ["The password is swordfish"]
    assert store.counts(DEFAULT).messages == 2
    assert store.check() == []


def test_importing_again_does_not_bring_back_what_was_deleted(store: Store) -> None:
    whole = talk("a", "The password is swordfish", "Noted.")
    write(store, whole)
    Ingest(store, DEFAULT, embedder(), count_tokens).delete([whole.messages[0].id])
    longer = talk("a", "The password is swordfish", "Noted.", "Good.")
    write(store, longer)
    assert holding(store, "swordfish") == []
    assert store.messages(DEFAULT, [whole.messages[0].id])[0].deleted
    assert store.check() == []


def test_deleting_what_is_not_there_changes_nothing(store: Store) -> None:
    whole = talk("a", "one", "two")
    write(store, whole)
    with pytest.raises(NotFound):
        store.set_deleted(DEFAULT, [whole.messages[0].id, new_id()], True)
    assert store.counts(DEFAULT).messages == 2


# --- namespaces ----------------------------------------------------------------------------------------------------


def test_nothing_of_one_namespace_is_seen_from_another(store: Store) -> None:
    write(store, branched(), into=ELSEWHERE)
    write(store, talk("a", "one"))
    whole = branched()
    ids = [m.id for m in whole.messages]
    assert store.thread(DEFAULT, whole.conversation.id) is None
    assert store.end(DEFAULT, whole.conversation.id) is None
    assert store.stands(DEFAULT, [whole.conversation.id]) == {}
    assert store.messages(DEFAULT, ids) == []
    assert store.tool_calls(DEFAULT, [c.id for c in whole.tool_calls]) == []
    assert store.around(DEFAULT, [(whole.conversation.id, 0, 9)]) == []
    assert store.ids_ending(DEFAULT, whole.conversation.id[-8:]) == []
    assert store.neighbours(DEFAULT, ids[1], inward=True) == []
    assert store.outlines(DEFAULT, [(whole.conversation.id, 0, 9)]) == {}
    assert store.counts(DEFAULT).messages == 1
    assert ask(store, "focaccia hydration").size == 1
    assert found(store, ask(store, "focaccia hydration")) == ["one"]
    assert list(ask(store, "focaccia").frequencies) == [0]
    assert store.similar_terms(DEFAULT, "focac") == []
    assert store.nearest_word(DEFAULT, "focacia") is None
    theirs = ask(store, "focaccia", into="acme/luna")
    assert store.passage_texts(DEFAULT, list(theirs.passages)) == []
    assert store.namespaces() == [ELSEWHERE, DEFAULT]


def test_the_same_export_in_two_namespaces_is_two_records(store: Store) -> None:
    write(store, branched())
    write(store, branched(), into=ELSEWHERE)
    message_id = branched().messages[1].id
    store.set_deleted(DEFAULT, [message_id], True)
    assert not store.messages(ELSEWHERE, [message_id])[0].deleted
    assert store.check() == []


# --- reading -------------------------------------------------------------------------------------------------------


def test_conversations_are_listed_newest_first_and_filtered(store: Store) -> None:
    write(
        store,
        talk("a", "x", title="Bread at home", minute=0),
        talk("b", "x", title="Trip to Porto", minute=10, source="claude"),
        talk("c", "x", title="bread again", minute=20),
    )

    def titles(wanted: ConversationFilter) -> list[str]:
        return [row.conversation.title for row in store.conversations(DEFAULT, wanted, limit=10)]

    assert titles(ConversationFilter()) == ["bread again", "Trip to Porto", "Bread at home"]
    assert titles(ConversationFilter(title="BREAD")) == ["bread again", "Bread at home"]
    assert titles(ConversationFilter(sources=("claude",))) == ["Trip to Porto"]
    assert [r.conversation.title for r in store.conversations(DEFAULT, ConversationFilter(), limit=1, offset=1)] == [
        "Trip to Porto"
    ]


def test_short_ids_and_source_ids_lead_to_their_owners(store: Store) -> None:
    whole = branched()
    write(store, whole)
    assert store.ids_ending(DEFAULT, whole.messages[2].id[-7:].lower()) == [whole.messages[2].id]
    assert store.ids_ending(DEFAULT, "a2") == [next(m.id for m in whole.messages if m.source_id == "a2")]
    assert store.ids_ending(DEFAULT, whole.conversation.id) == [whole.conversation.id]
    assert store.ids_ending(DEFAULT, "%") == []


def test_the_relations_that_fields_say_can_be_walked_both_ways(store: Store) -> None:
    whole = branched()
    write(store, whole)
    by_source = {m.source_id: m.id for m in whole.messages}
    out = store.neighbours(DEFAULT, by_source["a2"])
    assert [(e.type, e.target_id) for e in out] == [("REPLIES_TO", by_source["out"])]
    into = store.neighbours(DEFAULT, by_source["q"], inward=True)
    assert {(e.type, e.source_id) for e in into} == {
        ("REPLIES_TO", by_source["a1"]),
        ("REPLIES_TO", by_source["call"]),
        ("HAS_QUERY", whole.turns[0].id),
    }
    assert [e.target_id for e in store.neighbours(DEFAULT, whole.conversation.id, ["HAS_TURN"])] == sorted(
        turn.id for turn in whole.turns
    )
    assert [e.target_id for e in store.neighbours(DEFAULT, whole.turns[0].id, ["NEXT_TURN"])] == [whole.turns[1].id]
    called = store.neighbours(DEFAULT, by_source["call"], ["CALLED_BY"], inward=True)
    assert [e.source_id for e in called] == [whole.tool_calls[0].id]


def test_written_edges_are_put_by_their_ends(store: Store) -> None:
    a, b = stable_id("a"), stable_id("b")
    store.write(DEFAULT, Batch(edges=[Edge(a, "RELATED_TO", b, {"weight": 1})]))
    store.write(DEFAULT, Batch(edges=[Edge(a, "RELATED_TO", b, {"weight": 2})]))
    assert [dict(e.properties) for e in store.edges(DEFAULT)] == [{"weight": 2}]
    assert [e.source_id for e in store.neighbours(DEFAULT, b, inward=True)] == [a]


def test_a_tool_call_is_read_with_the_result_that_is_a_message(store: Store) -> None:
    whole = branched()
    write(store, whole)
    call = store.tool_calls(DEFAULT, [whole.tool_calls[0].id])[0]
    assert (call.name, call.result) == ("search", "hydration table: focaccia 85")
    assert whole.tool_calls[0].result == ""  # stored once


def test_the_end_of_a_conversation_is_what_an_append_needs(store: Store) -> None:
    whole = talk("a", *(f"m {i}" for i in range(13)))
    write(store, whole)
    end = store.end(DEFAULT, whole.conversation.id)
    assert end is not None
    assert end.leaf == whole.messages[-1]
    assert end.message_count == 13
    assert end.window == whole.windows[-1]
    assert end.turn == whole.turns[-1]


def test_documents_are_kept_with_their_chunks_and_found(store: Store) -> None:
    text = "\n\n".join(
        f"Paragraph {i} speaks of tides and moorings at some length, as harbour books do." for i in range(900)
    )
    document = Document(stable_id("d"), "claude", "Harbour book", text + "\n\nThe quixotic lighthouse closes at ten.")
    Ingest(store, DEFAULT, embedder(), count_tokens).documents([(document, ())])
    assert list(store.documents(DEFAULT)) == [document]
    chunks = store.document_chunks(DEFAULT, document.id)
    assert len(chunks) > 1
    assert (chunks[0].start, chunks[-1].end) == (0, len(document.content))
    hits = holding(store, "quixotic lighthouse", lane=Lane.OTHER)
    assert len(hits) == 1
    assert hits[0].endswith("closes at ten.")
    assert store.check() == []


def test_counts_are_read_back(store: Store) -> None:
    write(store, branched(), talk("a", "one", "two", source="claude"))
    counts = store.counts(DEFAULT)
    assert (counts.conversations, counts.messages, counts.active, counts.tool_calls) == (2, 9, 8, 1)
    assert counts.by_kind == {"context": 1, "said": 6, "tool": 2}
    assert counts.by_source == {"claude": 1, "test": 1}
    one = store.counts(DEFAULT, [branched().conversation.id])
    assert (one.conversations, one.messages) == (1, 7)


# --- search --------------------------------------------------------------------------------------------------------


def test_what_was_said_and_what_nobody_said_are_sought_apart(store: Store) -> None:
    write(store, branched())
    assert holding(store, "hydration table") == []
    assert holding(store, "hydration table", lane=Lane.OTHER) == ["hydration table: focaccia 85"]
    assert holding(store, "brief", lane=Lane.OTHER) == ["be brief"]
    assert holding(store, "bread water", lane=Lane.TITLE) == ["Bread and water"]


def test_every_filter_holds_exactly(store: Store) -> None:
    write(store, *(talk(f"c{i}", "the tide is high", "the tide is low", minute=60 * i) for i in range(30)))
    write(store, talk("other", "the tide turns", source="claude"))
    assert len(ask(store, "tide", filter=Filter(roles=("assistant",)))) == 30
    assert len(ask(store, "tide", filter=Filter(sources=("claude",)))) == 1
    assert len(ask(store, "tide", filter=Filter(sources=("nowhere",)))) == 0
    one = talk("c3", "the tide is high").conversation.id
    assert len(ask(store, "tide", filter=Filter(conversation_ids=(one,)))) == 2
    assert len(ask(store, "tide", filter=Filter(conversation_ids=()))) == 0
    since = int((START + timedelta(hours=10)).timestamp() * 1e6)
    until = int((START + timedelta(hours=12)).timestamp() * 1e6)
    assert len(ask(store, "tide", filter=Filter(since=since, until=until))) == 4
    assert len(ask(store, "tide", filter=Filter(kinds=("attachment",)))) == 0


def test_phrases_are_kept_together_and_words_can_be_excluded(store: Store) -> None:
    write(store, talk("a", "the proxy sends it back", "send the reverse proxy back", "reverse the proxy"))
    assert found(store, ask(store, "proxy", phrases=(tuple(words("reverse proxy")),))) == [
        "send the reverse proxy back"
    ]
    left = found(store, ask(store, "proxy", excluded=(("reverse",),)))
    assert left == ["the proxy sends it back"]
    signals = ask(store, "proxy", sought=(("reverse", "proxy"),))
    assert [bool(s) for s in signals.sought] == [False, True, False]


def test_neighbours_follow_the_reading_order_within_a_sitting(store: Store) -> None:
    texts = ["alpha", "beta", "gamma", "delta", "epsilon"]
    messages = [said(t, minute=i, source_id=t) for i, t in enumerate(texts)]
    messages += [said("zeta", minute=60 * 24, source_id="zeta"), said("eta", minute=60 * 24 + 1, source_id="eta")]
    write(store, thread("a", messages, linear=True))
    signals = ask(store, "gamma zeta")
    by_text = dict(zip(found(store, signals), range(len(signals)), strict=True))
    number = {text: int(signals.passages[i]) for text, i in by_text.items()}

    def around(text: str) -> list[str | None]:
        named = {value: key for key, value in number.items()}
        return [named.get(int(n)) for n in signals.neighbours[by_text[text]]]

    assert around("gamma") == ["gamma", "beta", "delta", "alpha", "epsilon"]
    assert around("epsilon") == ["epsilon", "delta", None, "gamma", None]
    assert around("zeta") == ["zeta", None, "eta", None, None]
    assert list(signals.holds[by_text["delta"], :, 0]) == [0, 1, 0, 0, 0]


def test_neighbours_skip_what_nobody_said(store: Store) -> None:
    write(store, branched())
    signals = ask(store, "focaccia")
    texts = found(store, signals)
    answer, query = texts.index("Focaccia, at 85 percent."), texts.index("Which bread holds most water?")
    assert signals.neighbours[answer][1] == signals.passages[query]


def test_bm25_is_over_the_whole_lane(store: Store) -> None:
    write(store, talk("a", *(["nothing of note"] * 50), "the heron stands"))
    signals = ask(store, "heron")
    assert signals.bm25[:, 0].max() == pytest.approx((51 - 1) ** 0.5, rel=0.01)  # one of 51: z = sqrt(n - 1)
    assert list(signals.frequencies) == [1]


def test_compounds_and_misspellings_are_known(store: Store) -> None:
    write(store, talk("a", "Die Heizkostenabrechnung ist da", "Kubernetes kubernetes", "Weist hin"))
    assert store.similar_terms(DEFAULT, terms("Heizkosten")[0]) == terms("Heizkostenabrechnung")
    assert store.similar_terms(DEFAULT, terms("Abrechnung")[0]) == terms("Heizkostenabrechnung")
    assert store.nearest_word(DEFAULT, "kubernetis") == "kubernetes"
    assert store.nearest_word(DEFAULT, "heist") is None  # of a short word the first letter is right


def test_many_passages_are_found_like_few(store: Store) -> None:
    filler = [talk(f"f{i}", *(f"filler {i} {j} about nothing much" for j in range(25))) for i in range(100)]
    for i in range(0, 100, 10):
        write(store, *filler[i : i + 10])
    write(store, talk("needle", "the axolotl lives in Xochimilco", "indeed it does"))
    signals = ask(store, "axolotl Xochimilco")
    assert signals.size == 2502
    assert len(signals) < 1500
    assert holding(store, "axolotl Xochimilco") == ["the axolotl lives in Xochimilco"]
    store.settle(DEFAULT)
    assert holding(store, "axolotl Xochimilco") == ["the axolotl lives in Xochimilco"]
    write(store, talk("late", "another axolotl, in Xochimilco too"))
    assert len(holding(store, "axolotl Xochimilco")) == 2
    assert store.check() == []


def test_another_handle_sees_what_was_written_after_it_searched(open_store: Callable[[], Store]) -> None:
    reader, writer = open_store(), open_store()
    write(writer, talk("a", "the first heron"))
    assert len(holding(reader, "heron")) == 1
    write(writer, *(talk(f"b{i}", *(f"heron {i} {j}" for j in range(60))) for i in range(40)))
    assert len(ask(reader, "heron", pool=600)) > 0
    assert ask(reader, "heron").size == 2401
    writer.settle(DEFAULT)
    write(writer, talk("c", "the very last heron flies"))
    assert holding(reader, "last heron flies") == ["the very last heron flies"]
    writer.set_deleted(DEFAULT, [talk("c", "the very last heron flies").messages[0].id], True)
    assert holding(reader, "last heron flies") == []


# --- vectors -------------------------------------------------------------------------------------------------------


def test_another_embedder_is_refused(store: Store) -> None:
    write(store, talk("a", "one"))
    assert store.embedder(DEFAULT) == embedder().name
    with pytest.raises(StoreError, match="made by"):
        store.set_embedder(DEFAULT, "other@1")
    store.clear_passages(DEFAULT)
    store.set_embedder(DEFAULT, "other@1")


def test_everything_derived_can_be_made_again(store: Store) -> None:
    write(store, branched(), talk("a", "the heron stands", "and waits"))
    store.clear_passages(DEFAULT)
    assert holding(store, "heron") == []
    Ingest(store, DEFAULT, embedder(), count_tokens).reindex()
    assert holding(store, "heron") == ["the heron stands"]
    assert holding(store, "hydration table", lane=Lane.OTHER) == ["hydration table: focaccia 85"]
    assert store.check() == []


def test_quality_vectors_are_kept_with_their_tokens(store: Store) -> None:
    write(store, talk("a", "one", "two", "three"))
    todo = store.without_quality(DEFAULT, 10)
    assert [text.text for text in todo] == ["three", "two", "one"]  # newest first
    assert not store.has_quality(DEFAULT)
    unit = np.eye(384, dtype=np.float32)
    rows = [
        QualityVectors(text.number, unit[i], np.array([7, 7, 9 + i], np.uint16), np.full((3, 128), i, np.int8))
        for i, text in enumerate(todo[:2])
    ]
    store.store_quality(DEFAULT, rows)
    store.store_quality(DEFAULT, rows)  # twice is once
    assert store.has_quality(DEFAULT)
    assert [text.text for text in store.without_quality(DEFAULT, 10)] == ["one"]
    tokens = store.token_rows(DEFAULT, [text.number for text in todo])
    assert list(tokens[todo[1].number].pieces) == [7, 7, 10]
    assert tokens[todo[1].number].tokens.shape == (3, 128)
    signals = ask(store, "two", similarity=unit[1], pieces=(7, 10))
    assert signals.quality
    best = int(np.argmax(signals.similarity))
    assert found(store, signals)[best] == "two"
    assert signals.piece_idf[10] > signals.piece_idf[7]
    assert store.counts(DEFAULT).quality == 2
    assert store.check() == []


# --- whose words ---------------------------------------------------------------------------------------------------


def test_kinds_survive_the_store(store: Store) -> None:
    write(store, branched())
    stored = store.thread(DEFAULT, branched().conversation.id)
    assert stored is not None
    assert {m.kind for m in stored.messages} == {Kind.CONTEXT, Kind.SAID, Kind.TOOL}
