"""LangGraph's store on a memory. Beside these, tools/langgraph_store_tests.py runs LangGraph's own tests of stores."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.memory import Memory
from recollect.record import Document
from recollect.store import Where

base = pytest.importorskip("langgraph.store.base", reason="langgraph-checkpoint is not installed")

from recollect.frameworks.langgraph import RecollectStore  # noqa: E402

VALUE = {"text": "Ana keeps the spare key", "n": 2**70, "f": 0.1, "deep": {"list": [None, True, "\ud800\0 ü"]}}


@pytest.fixture
def store(memory: Memory) -> RecollectStore:
    return RecollectStore(memory)


def test_values_come_back_as_they_were_given(store: RecollectStore) -> None:
    store.put(("users", "7"), "key", VALUE)
    item = store.get(("users", "7"), "key")
    assert (item.value, item.key, item.namespace) == (VALUE, "key", ("users", "7"))
    assert item.created_at == item.updated_at
    assert store.get(("users",), "key") is None
    assert store.get(("users", "7"), "other") is None


def test_a_value_is_replaced_and_deleted(store: RecollectStore) -> None:
    store.put(("a",), "k", {"text": "the old harbour"})
    first = store.get(("a",), "k")
    store.put(("a",), "k", {"text": "the new airport"})
    second = store.get(("a",), "k")
    assert (first.created_at, second.value) == (second.created_at, {"text": "the new airport"})
    assert second.updated_at >= first.updated_at
    store.delete(("a",), "k")
    assert store.get(("a",), "k") is None
    assert store.search(("a",)) == store.list_namespaces() == []
    assert not store.of(("a",)).search("airport", kind="document").documents
    with store.of(("a",)).handle.space.view() as view:
        [kept] = view.find(Document, Where(sources=("langgraph",))).items
    assert [version.content for version in kept.versions] == ['{"text": "the old harbour"}']
    store.put(("a",), "k", {"text": "again"})
    assert store.get(("a",), "k").value == {"text": "again"}
    assert not store.of(("a",)).upkeep.check()


def test_a_search_is_recollects(store: RecollectStore) -> None:
    store.put(("users", "7"), "a", {"text": "The sourdough wants more water", "kind": "bread", "rank": 3})
    store.put(("users", "7"), "b", {"text": "The ferry to the island leaves at nine", "kind": "travel", "rank": 5})
    store.put(("users", "8"), "c", {"text": "The ferry timetable of winter", "kind": "travel"})
    store.put(("users", "7"), "hidden", {"text": "The ferry that nobody may find"}, index=False)
    found = store.search(("users", "7"), query="ferry")
    assert [item.key for item in found] == ["b", "a", "hidden"]
    assert 1 >= found[0].score > found[1].score >= 0
    assert found[2].score is None
    assert {item.key for item in store.search(("users",), query="ferry", limit=2)} == {"b", "c"}
    assert [item.key for item in store.search(("users",), query="ferry", filter={"rank": {"$gte": 4}})] == ["b"]
    assert [item.key for item in store.search((), filter={"kind": "travel"}, offset=1)] == ["c"]
    assert [item.key for item in store.search(("users",), query='source:nobody "ferry" -', limit=1)] in (["b"], ["c"])
    assert len(store.search(("users",), query="???")) == 4
    with pytest.raises(ValueError, match="operator"):
        store.search((), filter={"rank": {"$like": 1}})
    assert store.of(("users", "7")).search("ferry island").documents[0].document.title == "users/7/b"


def test_fields_say_what_is_searched(memory: Memory) -> None:
    store = RecollectStore(memory, index={"dims": 3, "embed": None, "fields": ["text", "list[*].title"]})
    store.put(("a",), "k", {"text": "harbour", "list": [{"title": "ferry"}], "secret": "swordfish"})
    store.put(("a",), "l", {"text": "harbour", "secret": "swordfish"}, index=["secret"])
    memory = store.of(("a",))
    assert memory.search("ferry", kind="document").documents[0].document.title == "a/k"
    assert [hit.document.title for hit in memory.search("swordfish", kind="document").documents] == ["a/l"]


def test_items_expire(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with recollect.open(tmp_path / "memory.db", durable=False) as memory:
        memory.handle.clock = lambda: now
        store = RecollectStore(memory)
        store.put(("a",), "k", {"x": 1}, ttl=10)
        now += timedelta(minutes=9)
        assert store.get(("a",), "k") is not None  # which lets it live on
        now += timedelta(minutes=9)
        assert store.search(("a",), refresh_ttl=False)
        now += timedelta(minutes=2)
        assert store.get(("a",), "k") is None
        assert store.search(()) == store.list_namespaces() == []


def test_a_batch_reads_before_it_writes(store: RecollectStore) -> None:
    store.put(("a",), "k", {"x": 1})
    ops = [base.PutOp(("a",), "k", {"x": 2}), base.GetOp(("a",), "k"), base.PutOp(("a",), "k", {"x": 3})]
    assert store.batch(ops)[1].value == {"x": 1}
    assert asyncio.run(store.aget(("a",), "k")).value == {"x": 3}


def test_what_json_cannot_hold_is_refused(store: RecollectStore) -> None:
    with pytest.raises(TypeError):
        store.put(("a",), "k", {"x": object()})
    assert store.get(("a",), "k") is None


def test_a_graph_keeps_its_memory(store: RecollectStore) -> None:
    graph = pytest.importorskip("langgraph.graph", reason="langgraph is not installed")

    def remember(state: dict[str, Any], *, store: Any) -> dict[str, Any]:
        store.put(("said",), "last", {"text": state["text"]})
        return {"text": store.search(("said",), query="harbour")[0].value["text"].upper()}

    remember.__annotations__["store"] = base.BaseStore
    builder = graph.StateGraph(dict)
    builder.add_node("remember", remember)
    builder.add_edge(graph.START, "remember")
    assert builder.compile(store=store).invoke({"text": "the harbour"}) == {"text": "THE HARBOUR"}


def test_a_dotted_filter_leads_into_a_value(memory: Memory) -> None:
    store = RecollectStore(memory)
    store.put(("people",), "a", {"user": {"name": "Ana", "home": {"town": "Porto"}}})
    store.put(("people",), "b", {"user": {"name": "Ben"}, "user.name": "Ana"})
    store.put(("people",), "c", {"user": "Ana"})
    for wanted, keys in (({"user.name": "Ana"}, ["a", "b"]), ({"user.home.town": {"$eq": "Porto"}}, ["a"])):
        assert sorted(item.key for item in store.search(("people",), filter=wanted)) == keys
