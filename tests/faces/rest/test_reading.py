"""What is read: the same as the façade gives, a page at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import recollect
from recollect.memory import Memory

API = "/api/v1"


@pytest.fixture(scope="module")
def memory(derived_store: Path) -> Any:
    with recollect.open(derived_store, durable=False, background=False) as opened:
        yield opened


def whole(client: TestClient, path: str, **asked: Any) -> list[Any]:
    """All pages of a list."""
    items: list[Any] = []
    cursor = None
    while True:
        page = client.get(API + path, params=asked | ({"cursor": cursor} if cursor else {})).json()
        items += page["results"] if "results" in page else page["items"]
        cursor = page["next"]
        if cursor is None:
            return items


def test_a_search_gives_the_document_of_the_command_line(reading: TestClient, memory: Memory) -> None:
    found = reading.get(f"{API}/search", params={"q": "sourdough hydration", "limit": 5}).json()
    plain = memory.search("sourdough hydration", limit=5).to_json()
    assert found["total"] == plain["total"]
    for shown, told in zip(found["results"], plain["results"], strict=True):
        assert shown["conversation"] == told["conversation"]
        for one, other in zip(shown["messages"], told["messages"], strict=True):
            assert {name: one[name] for name in other} == other | {"why": one["why"]}
            assert one["why"]["words"] == other["why"]["words"]
    assert found["derived"] == plain["derived"]


def test_the_pages_of_a_search_are_the_search(reading: TestClient) -> None:
    asked = {"q": "plan", "group_by": "message"}
    at_once = reading.get(f"{API}/search", params=asked | {"limit": 40}).json()["results"]
    in_pages = whole(reading, "/search", **asked, limit=16)[:40]
    assert [hit["messages"][0]["id"] for hit in in_pages] == [hit["messages"][0]["id"] for hit in at_once]


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/conversations", {}),
        ("/conversations", {"source": "claude", "since": "2024"}),
        ("/facts", {}),
        ("/facts", {"about": "me", "include_past": True}),
        ("/entities", {}),
        ("/topics", {}),
        ("/summaries", {"kind": "l1"}),
        ("/vector-search", {"q": "plan"}),
        ("/cluster", {"id": "garden"}),
    ],
)
def test_pages_repeat_nothing_and_skip_nothing(reading: TestClient, path: str, asked: dict[str, Any]) -> None:
    if path == "/cluster":
        asked = {"id": reading.get(f"{API}/topics").json()["items"][0]["id"]}
    first = reading.get(API + path, params=asked | {"limit": 30}).json()["items"]
    in_pages, size = [], max(2, len(first) // 4)
    cursor: str | None = None
    while len(in_pages) < len(first):
        page = reading.get(API + path, params=asked | {"limit": size} | ({"cursor": cursor} if cursor else {})).json()
        in_pages += page["items"]
        cursor = page["next"]
        assert cursor or len(in_pages) >= len(first)
    assert [one["id"] for one in in_pages[: len(first)]] == [one["id"] for one in first]
    assert len({one["id"] for one in first}) == len(first) > size


def test_a_cluster_begins_with_what_it_comes_down_to(reading: TestClient, memory: Memory) -> None:
    topic = memory.topics(1)[0].id
    first = reading.get(f"{API}/cluster", params={"id": topic, "limit": 2}).json()
    assert first["summary"] == memory.toolbox().cluster_summary(topic) != ""
    assert reading.get(f"{API}/cluster", params={"id": topic, "cursor": first["next"]}).json()["summary"] == ""


def test_every_conversation_is_on_one_page(reading: TestClient, memory: Memory) -> None:
    rows = whole(reading, "/conversations", limit=25)
    assert [row["id"] for row in rows] == [row.conversation.id for row in memory.conversations(limit=1000)]
    assert sum(row["messages"] for row in rows) == memory.upkeep.stats().messages


def test_a_period_is_read_back_from_its_end(reading: TestClient, memory: Memory) -> None:
    pages: list[list[str]] = []
    cursor: str | None = None
    while cursor or not pages:
        asked = {"period": "2024-02", "limit": 9} | ({"cursor": cursor} if cursor else {})
        page = reading.get(f"{API}/period", params=asked).json()
        pages.append([message["id"] for message in page["items"]])
        cursor = page["next"]
    together = [own for page in reversed(pages) for own in page]
    assert together == [message.id for message in memory.toolbox().get_period_messages("2024-02", 999)]


def test_a_cursor_is_for_the_request_that_gave_it(reading: TestClient) -> None:
    cursor = reading.get(f"{API}/facts", params={"limit": 2}).json()["next"]
    for path, asked in (("/facts", {"about": "me"}), ("/entities", {}), ("/conversations", {})):
        refused = reading.get(API + path, params={**asked, "cursor": cursor})
        assert refused.status_code == 400
        assert refused.json()["code"] == "invalid_input"
        assert "another request" in refused.json()["detail"]
    for nonsense in ("x", "AAAA", "WzEsMl0", "é"):
        assert reading.get(f"{API}/facts", params={"cursor": nonsense}).status_code == 400


def test_a_conversation_is_whole(reading: TestClient, memory: Memory) -> None:
    own = memory.conversations(title="Full Stack")[0].conversation.id
    thread = reading.get(f"{API}/conversations/{own}").json()
    there = memory.conversation(own)
    assert [m["id"] for m in thread["messages"]] == [m.id for m in there.messages]
    assert [m["content"] for m in thread["messages"]] == [m.content for m in there.messages]
    assert [m["index"] for m in thread["messages"]] == list(range(len(there.messages)))
    assert reading.get(f"{API}/conversations/{own}/about").json() == thread["conversation"]
    assert thread["turns"][0]["query_id"] == there.turns[0].query_id
    message = thread["messages"][3]
    assert reading.get(f"{API}/messages/{message['id']}").json() == message
    around = reading.get(f"{API}/messages/{message['id']}/thread", params={"depth": 1}).json()["items"]
    assert [m["index"] for m in around] == [2, 3, 4]
    named = reading.get(f"{API}/resolve", params={"name": message["id"][-8:]}).json()
    assert (named["conversation"]["id"], named["message"]["id"]) == (own, message["id"])


def test_facts_have_their_proofs_and_their_history(reading: TestClient, memory: Memory) -> None:
    shown = {fact["id"]: fact for fact in whole(reading, "/facts", include_past=True)}
    for fact in memory.facts(include_past=True):
        told = shown[fact.id]
        assert (told["content"], told["value"], told["current"]) == (fact.content, fact.value, fact.current)
        assert [p["message"] for p in told["proofs"]] == [p.message_id for p in fact.proofs]
        assert [h["id"] for h in told["history"]] == [h.id for h in fact.history]
    past = reading.get(f"{API}/facts", params={"as_of": "2020"}).json()["items"]
    assert past == []


def test_the_graph_of_an_entity_and_the_ways_between_two(reading: TestClient, memory: Memory) -> None:
    first, second = (entity["name"] for entity in reading.get(f"{API}/entities").json()["items"][:2])
    graph = reading.get(f"{API}/graph", params={"name": first, "limit": 12}).json()
    told = memory.knowledge.graph(first, 1, 12)
    assert graph["entity"]["name"] == first
    assert [e["id"] for e in graph["entities"]] == [e.id for e in told.entities]
    assert [(r["source"], r["relation"], r["target"]) for r in graph["relations"]] == [
        (r.source, r.name, r.target) for r in told.relations
    ]
    ways = reading.get(f"{API}/paths", params={"source": first, "target": second}).json()
    assert [way["text"] for way in ways["paths"]] == [str(way) for way in memory.knowledge.paths(first, second).paths]


def test_what_is_not_there_is_said_as_the_command_line_says_it(reading: TestClient) -> None:
    missing = reading.get(f"{API}/messages/01JB3Z7Q2KABCDEFGHJKMNPQRS")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    assert missing.json()["code"] == "not_found"
    wrong = reading.get(f"{API}/search", params={"q": "x", "source": "chatgtp"})
    assert wrong.status_code == 400
    assert wrong.json()["hint"]
    assert reading.get(f"{API}/search").status_code == 422
    assert reading.get(f"{API}/conversations/nothing/about").json()["code"] == "not_found"


def test_the_numbers_are_those_of_the_memory(reading: TestClient, memory: Memory) -> None:
    told, counts = reading.get(f"{API}/stats").json(), memory.upkeep.stats()
    assert (told["conversations"], told["messages"]) == (counts.conversations, counts.messages)
    assert told["first"].startswith("20")
    assert told["first"].endswith("Z")
    store = reading.get(f"{API}/store").json()
    assert store["embedder"] == store["stored_embedder"] == memory.upkeep.embedder_name
    assert reading.get(f"{API}/check").json() == {"ok": True, "violations": []}
    assert reading.get(f"{API}/namespaces").json() == {"namespaces": ["default"]}


def test_the_tools_of_a_model(reading: TestClient, memory: Memory) -> None:
    schemas = reading.get(f"{API}/tools", params={"provider": "openai", "read_only": True}).json()["tools"]
    assert schemas == memory.toolbox(read_only=True).schemas("openai")
    answer = reading.post(f"{API}/tools/vector_search", json={"arguments": {"query": "sourdough", "limit": 2}}).json()
    assert not answer["is_error"]
    assert "sourdough" in answer["text"].lower()
    again = reading.post(f"{API}/tools/vector_serch", json={}).json()
    assert again["is_error"]
    assert "vector_search" in again["text"]


def test_the_memory_by_time(reading: TestClient, memory: Memory) -> None:
    timeline = reading.get(f"{API}/timeline", params={"topics": 3}).json()
    told = memory.knowledge.timeline(3)
    assert [(day["day"], day["messages"]) for day in timeline["days"]] == [(d.isoformat(), n) for d, n in told.days]
    assert [band["topic"]["id"] for band in timeline["bands"]] == [band.topic.id for band in told.bands]
    assert timeline["bands"][0]["months"][0]["messages"] > 0
    days = reading.get(f"{API}/days", params={"period": "2024-02"}).json()["items"]
    assert [day["day"] for day in days] == [day.day.isoformat() for day in memory.knowledge.days("2024-02")]
    assert days[0]["messages"] == sum(row["messages"] for row in days[0]["rows"])


def test_what_matches_is_counted_by_what_it_can_be_filtered_by(reading: TestClient) -> None:
    found = reading.get(f"{API}/search", params={"q": "plan", "facets": True, "limit": 1}).json()
    assert sum(found["facets"]["sources"].values()) == found["facets"]["messages"] > 0
    assert reading.get(f"{API}/search", params={"q": "plan"}).json()["facets"] is None


def test_the_messages_that_mention_an_entity(reading: TestClient, memory: Memory) -> None:
    name = reading.get(f"{API}/entities").json()["items"][0]["name"]
    told = reading.get(f"{API}/entity/mentions", params={"name": name, "limit": 3}).json()["items"]
    assert [m["id"] for m in told] == [m.id for m in memory.knowledge.mentions(name, limit=3)]


def test_health_is_a_search_that_finds(reading: TestClient) -> None:
    health = reading.get(f"{API}/health").json()
    assert health["well"]
    assert health["message_id"]


def test_every_list_can_be_read(reading: TestClient) -> None:
    """Every reading route that needs no more than words gives an answer, not an error."""
    words = {"q": "plan", "name": "garden", "period": "2024", "topic": "x", "id": "x", "source": "x", "target": "y"}
    described = reading.get("/api/v1/openapi.json").json()["paths"]
    for path, methods in described.items():
        if "get" not in methods or not path.startswith(API) or path.endswith("/events"):
            continue
        needed = [p["name"] for p in methods["get"].get("parameters", ()) if p["in"] == "query" and p["required"]]
        asked = {name: words.get(name, "x") for name in needed}
        answer = reading.get(path.replace("{id}", "01JB3Z7Q2KABCDEFGHJKMNPQRS"), params=asked)
        assert answer.status_code in (200, 400, 404), (path, answer.text)
        assert answer.status_code == 200 or "{" in path or needed, (path, answer.text)
