"""What the port promises of `View.sharing`: the rarest words first, then the newest, at a cost that does not grow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.index import candidates
from recollect.record import Node, NodeKind, stable_id
from recollect.store import Change, Mark, Space
from recollect.store.passages import Partition
from recollect.text.terms import terms
from tests.store.builders import node_change


def fact(number: int, text: str) -> Node:
    return Node(stable_id("fact", number), NodeKind.FACT, text=text)


def put(space: Space, *texts: str) -> list[Node]:
    nodes = [fact(number, text) for number, text in enumerate(texts)]
    for node in nodes:
        space.write(node_change(node))
    return nodes


def ask(space: Space, text: str, most: int = 10, *, kinds: tuple[str, ...] = (), inside: bool = False) -> list[str]:
    with space.view() as view:
        found = view.sharing(Partition.DERIVED, terms(text), most, kinds=kinds, inside=inside)
        return [passage.text for passage in view.passages(found)]


def test_rare_words_go_before_common_ones_and_of_equals_the_newest_comes_first(space: Space) -> None:
    put(space, "red heron", "red boat", "red house", "blue boat", "red sky")
    assert ask(space, "red heron") == ["red heron", "red sky", "red house", "red boat"]
    assert ask(space, "red boat", 2) == ["red boat", "blue boat"]
    assert ask(space, "zeppelin") == ask(space, "") == []


def test_words_that_contain_a_term_count_where_they_are_asked_for(space: Space) -> None:
    put(space, "photosynthesis", "thesis", "photograph")
    assert ask(space, "synthe") == []
    assert ask(space, "synthe", inside=True) == ["photosynthesis"]
    assert ask(space, "thesi", inside=True) == ["thesis", "photosynthesis"]
    assert ask(space, "sthe", inside=True) == []  # not across two words


def test_only_the_living_of_the_kinds_that_are_asked_for(space: Space) -> None:
    first, second, third, _ = put(space, "heron one", "heron two", "heron three", "heron four")
    space.write(Change(mark=[Mark(ids=[first.id], state="stale")]))
    space.write(node_change(replace(second, state="superseded")))
    space.erase([third.id])
    assert sorted(ask(space, "heron")) == ["heron four", "heron two"]
    assert ask(space, "heron", kinds=("fact",)) == ["heron four"]
    assert ask(space, "heron", kinds=("past",)) == ["heron two"]


def test_of_common_words_only_so_many_are_looked_at(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_ROWS", 4)
    put(space, "red old heron", *(f"red thing {n}" for n in range(9)))
    assert ask(space, "red") == [f"red thing {n}" for n in (8, 7, 6, 5)]
    assert ask(space, "red heron")[0] == "red old heron"
