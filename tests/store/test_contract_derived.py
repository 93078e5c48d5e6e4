"""What the port promises of the passages of derived nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from recollect.ingest import Ingest
from recollect.ingest.reindex import reindex
from recollect.models.embedding.tokenizer import count_tokens
from recollect.record import Node, NodeKind, stable_id
from recollect.store import Change, IndexChange, Mark, Space, Store
from recollect.store.passages import Filter, Owner, Partition
from tests.store.builders import START, embedder, holding, node_change, query, talk, texts, write


def fact(name: str = "1", text: str = "Luna keeps a zeppelin", **more: object) -> Node:
    return Node(stable_id("fact", name), NodeKind.FACT, key="luna", text=text, body={"concept": "hobby"}, **more)  # type: ignore[arg-type]


def derived(space: Space, text: str) -> list[str]:
    return holding(space, text, Partition.DERIVED)


def test_facts_and_summaries_are_found_in_a_partition_of_their_own(store: Store, space: Space) -> None:
    summary = Node(stable_id("s"), NodeKind.SUMMARY, key="l1", text="They talked about a zeppelin.", valid_from=START)
    write(store, talk("a", "my zeppelin", "how nice"))
    space.write(node_change(fact(), summary))
    assert sorted(derived(space, "zeppelin")) == [fact().text, summary.text]
    assert derived(space, "hobby") == [fact().text]
    assert holding(space, "zeppelin") == ["my zeppelin"]
    with space.view() as view:
        found = view.candidates(query("zeppelin", Partition.DERIVED, filter=Filter(kinds=("summary",))))
        assert texts(view, found) == [summary.text]
        text = view.passages([int(found.passages[0])])[0]
        assert (text.owner, text.owner_id, text.message_id) == (Owner.NODE, summary.id, None)
        assert view.counts().passages == 3  # the messages and the title
    assert space.check() == []


def test_a_node_that_is_put_again_is_found_by_its_new_words(space: Space) -> None:
    space.write(node_change(fact()))
    space.write(node_change(fact(text="Luna sold the balloon")))
    assert derived(space, "zeppelin") == []
    assert derived(space, "balloon") == ["Luna sold the balloon"]


@pytest.mark.parametrize("state", ["stale", "superseded", "merged"])
def test_a_node_that_lives_no_more_is_found_no_more(space: Space, state: str) -> None:
    space.write(node_change(fact("1"), fact("2", "A zeppelin rises"), fact("3", "This zeppelin stays")))
    space.write(Change(mark=[Mark(ids=[fact("1").id], state=state)], put=[replace(fact("2"), state=state)]))
    assert derived(space, "zeppelin") == ["This zeppelin stays"]
    assert space.check() == []


def test_a_superseded_fact_is_found_as_past_where_it_is_given_passages(space: Space) -> None:
    space.write(node_change(fact()))
    space.write(node_change(replace(fact(), state="superseded")))
    with space.view() as view:
        assert len(view.candidates(query("zeppelin", Partition.DERIVED, filter=Filter(kinds=("past",))))) == 1
        assert len(view.candidates(query("zeppelin", Partition.DERIVED, filter=Filter(kinds=("fact",))))) == 0
    stale = replace(fact(), state="stale")
    given = node_change(fact()).index
    assert given is not None
    space.write(Change(put=[stale], index=given))
    assert derived(space, "zeppelin") == []


def test_an_erased_node_is_found_no_more(space: Space) -> None:
    space.write(node_change(fact()))
    assert space.erase([fact().id]).nodes == 1
    assert derived(space, "zeppelin") == []
    space.write(node_change(fact(), revive=True))
    assert derived(space, "zeppelin") == [fact().text]
    assert space.check() == []


def test_reindexing_makes_the_passages_of_nodes_again(open_store: Callable[[], Store], space: Space) -> None:
    nodes = [fact(str(i), f"Fact {i} of the zeppelin") for i in range(5)]
    nodes[1], nodes[2] = replace(nodes[1], state="superseded"), replace(nodes[2], state="stale")
    space.write(node_change(*nodes))
    before = sorted(derived(space, "zeppelin"))
    assert len(before) == 4
    reindex(space, Ingest(space, embedder(), count_tokens))
    assert sorted(derived(open_store().space(space.namespace), "zeppelin")) == before
    assert space.check() == []


def test_what_changes_while_an_index_is_built_is_looked_at_again(space: Space) -> None:
    space.write(node_change(fact("1"), fact("2", "Another zeppelin")))
    ingest = Ingest(space, embedder(), count_tokens)
    number = space.generation("begin", ingest.embedder_id)
    early = {node: tuple(ingest.node_passages(fact(node))) for node in ("1", "2")}
    space.write(Change(mark=[Mark(ids=[fact("1").id], state="stale"), Mark(ids=[fact("2").id], state="superseded")]))
    space.write(Change(put=[replace(fact("3", "A third zeppelin"), state="superseded")]))  # is made so, and findable
    late = {fact(node).id: passages for node, passages in early.items()}
    space.write(Change(index=IndexChange(embedder=ingest.embedder_id, passages=late, generation=number)))
    with space.view() as view:
        assert set(view.index().todo) == {fact(name).id for name in ("1", "2", "3")}
    reindex(space, ingest)
    with space.view() as view:
        found = view.candidates(query("zeppelin", Partition.DERIVED))
        assert sorted(texts(view, found)) == ["A third zeppelin", "Another zeppelin"]
        assert len(view.candidates(query("zeppelin", Partition.DERIVED, filter=Filter(kinds=("past",))))) == 2
