"""What is written, changed and removed: found at once, and as the façade would have written it."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

API = "/api/v1"


def found(client: TestClient, query: str, **asked: Any) -> list[str]:
    results = client.get(f"{API}/search", params={"q": query, "group_by": "message", **asked}).json()["results"]
    return [hit["messages"][0]["id"] for hit in results]


def test_a_message_is_found_as_soon_as_it_is_stored(writing: TestClient) -> None:
    stored = writing.post(f"{API}/messages", json={"content": "The bassinage trick saved the dough.", "title": "Bread"})
    assert stored.status_code == 201
    message = stored.json()
    assert found(writing, "bassinage") == [message["id"]]
    answer = {"content": "Hold back 50 g of water.", "role": "assistant", "parent_id": message["id"]}
    below = writing.post(f"{API}/messages", json=answer).json()
    assert below["conversation_id"] == message["conversation_id"]
    thread = writing.get(f"{API}/conversations/{message['conversation_id']}").json()
    assert thread["conversation"]["title"] == "Bread"
    assert [m["parent_id"] for m in thread["messages"]] == [None, message["id"]]


def test_several_messages_are_written_together_or_not_at_all(writing: TestClient) -> None:
    talk = [{"content": "How heavy is Luna?"}, {"content": "12 kg.", "role": "assistant", "model": "a-model"}]
    stored = writing.post(f"{API}/messages/batch", json={"messages": talk, "title": "Vet"}).json()["items"]
    assert [m["role"] for m in stored] == ["user", "assistant"]
    broken = [{"content": "One more."}, {"content": " "}]
    refused = writing.post(f"{API}/messages/batch", json={"messages": broken})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")
    assert writing.get(f"{API}/stats").json()["messages"] == 2


@pytest.mark.parametrize("name", [" ", "a\0b", "x" * 5_000, "\ta"])
def test_what_is_no_id_is_refused(writing: TestClient, name: str) -> None:
    asked = {"content": "Hello", "id": "m", "conversation_id": "c"}
    for wrong in ({"id": name}, {"conversation_id": name}):
        one = writing.post(f"{API}/messages", json={**asked, **wrong})
        several = {"messages": [{"content": "Hello", "id": wrong.get("id", "m")}]}
        both = writing.post(
            f"{API}/messages/batch", json={**several, "conversation_id": wrong.get("conversation_id", "c")}
        )
        assert (one.status_code, both.status_code) == (400, 400)
        assert "cannot be" in one.json()["detail"]
    assert writing.post(f"{API}/chat", json={"text": "Hello", "conversation_id": name}).status_code == 400
    assert writing.get(f"{API}/stats").json()["messages"] == 0


@pytest.mark.parametrize("name", ["..", "acme/..", "./a"])
def test_what_addresses_drop_is_no_namespace(writing: TestClient, name: str) -> None:
    for asked in ({"headers": {"X-Recollect-Namespace": name}}, {"params": {"namespace": name}}):
        refused = writing.post(f"{API}/messages", json={"content": "Hello"}, **asked)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")


def test_a_tool_call_with_its_result(writing: TestClient) -> None:
    asked = writing.post(f"{API}/messages", json={"content": "Weather in Leeds?"}).json()
    call = {"name": "weather", "arguments": {"city": "Leeds"}, "result": {"sky": "rain"}}
    stored = writing.post(f"{API}/messages/{asked['id']}/tool-calls", json=call)
    assert stored.status_code == 201
    more = writing.post(f"{API}/messages/{asked['id']}/tool-calls/batch", json={"calls": [call, call]}).json()["items"]
    listed = writing.get(f"{API}/messages/{asked['id']}/tool-calls").json()["items"]
    assert {one["id"] for one in listed} == {stored.json()["id"], *(one["id"] for one in more)}
    assert writing.get(f"{API}/tool-calls/{more[0]['id']}").json()["result"] == '{"sky": "rain"}'
    assert len(writing.get(f"{API}/tool-calls", params={"id": [one["id"] for one in more]}).json()["items"]) == 2


def test_a_wording_is_changed_and_the_old_one_kept(writing: TestClient) -> None:
    own = writing.post(f"{API}/messages", json={"content": "Luna weighs 12 kg."}).json()["id"]
    edited = writing.patch(f"{API}/messages/{own}", json={"content": "Luna weighs 13 kg."}).json()
    assert edited["edited"]
    assert [version["content"] for version in edited["versions"]] == ["Luna weighs 12 kg."]
    assert found(writing, "13 kg") == [own]


def test_several_wordings_are_changed_together_or_not_at_all(writing: TestClient) -> None:
    talk = {"messages": [{"content": "Luna weighs 12 kg."}, {"content": "A good weight.", "role": "assistant"}]}
    one, other = (m["id"] for m in writing.post(f"{API}/messages/batch", json=talk).json()["items"])
    changes = [{"id": one, "content": "Luna weighs 13 kg."}, {"id": other, "content": "A little much."}]
    answer = writing.patch(f"{API}/messages/batch", json={"messages": changes})
    assert [m["content"] for m in answer.json()["items"]] == ["Luna weighs 13 kg.", "A little much."]
    broken = [{"id": one, "content": "Luna weighs 14 kg."}, {"id": "01JB3Z7Q2KABCDEFGHJKMNPQRS", "content": "No."}]
    assert writing.patch(f"{API}/messages/batch", json={"messages": broken}).status_code == 404
    assert writing.get(f"{API}/messages/{one}").json()["content"] == "Luna weighs 13 kg."


def test_deleting_hides_and_restoring_shows_again(writing: TestClient) -> None:
    own = writing.post(f"{API}/messages", json={"content": "A secret about marzipan.", "title": "Sweets"}).json()
    assert writing.delete(f"{API}/messages/{own['id']}").status_code == 204
    assert found(writing, "marzipan") == []
    (place,) = writing.get(f"{API}/messages", params={"id": own["id"], "deleted": True}).json()["items"]
    assert (place["deleted"], place["content"]) == (True, "")
    (row,) = writing.get(f"{API}/deleted").json()["items"]
    assert (row["title"], row["messages"]) == ("Sweets", [own["id"]])
    assert "marzipan" not in writing.get(f"{API}/conversations/{own['conversation_id']}").text
    assert writing.post(f"{API}/messages/{own['id']}/restore").status_code == 204
    assert found(writing, "marzipan") == [own["id"]]
    assert writing.post(f"{API}/delete", json={"names": ["Sweets"]}).status_code == 404
    meant = writing.get(f"{API}/resolve", params={"name": "Sweets"}).json()["conversation"]["id"]
    assert writing.post(f"{API}/delete", json={"names": [meant]}).json() == {"messages": 1}
    again = writing.get(f"{API}/resolve", params={"name": "Sweets", "deleted": True}).json()["conversation"]["id"]
    assert again == meant
    assert writing.post(f"{API}/restore", json={"names": [own["conversation_id"]]}).json() == {"messages": 1}


def test_forgetting_says_first_what_would_go(writing: TestClient) -> None:
    own = writing.post(f"{API}/messages", json={"content": "My PIN is 4711.", "title": "Bank"}).json()
    plan = writing.post(f"{API}/forget", json={"names": [own["conversation_id"]], "dry_run": True}).json()
    assert (plan["removed"], plan["messages"], plan["titles"]) == (False, 1, ["Bank"])
    assert found(writing, "4711") == [own["id"]]
    for guess in ("Bank", own["id"][-6:]):
        assert writing.post(f"{API}/forget", json={"names": [guess]}).status_code == 404
    assert found(writing, "4711") == [own["id"]]
    assert writing.post(f"{API}/forget", json={"names": [own["conversation_id"]]}).json()["removed"]
    assert found(writing, "4711") == []
    assert writing.get(f"{API}/messages/{own['id']}").status_code == 404
    nothing = writing.post(f"{API}/forget", json={})
    assert nothing.status_code == 400


def test_a_fact_is_corrected_by_hand_and_back(mending: TestClient) -> None:
    told = mending.post(f"{API}/facts", json={"content": "Luna weighs 12 kg.", "concept": "weight", "entity": "Luna"})
    assert told.status_code == 201
    own = told.json()["id"]
    assert mending.put(f"{API}/facts/{own}/pin").json()["pinned"]
    assert mending.get(f"{API}/facts").json()["items"][0]["id"] == own
    assert not mending.delete(f"{API}/facts/{own}/pin").json()["pinned"]
    edited = mending.patch(f"{API}/facts/{own}", json={"content": "Luna weighs 13 kg."}).json()
    assert edited["by_hand"]
    gone = mending.delete(f"{API}/facts/{edited['id']}").json()
    assert gone["id"] not in {fact["id"] for fact in mending.get(f"{API}/facts").json()["items"]}
    back = mending.post(f"{API}/facts/{gone['id']}/undo").json()["items"]
    assert [fact["entity"] for fact in back] == ["Luna"]
    first, second = (fact["id"] for fact in mending.get(f"{API}/facts").json()["items"][1:3])
    assert mending.post(f"{API}/facts/{first}/merge", json={"others": [second]}).json()["id"] == first


def test_entities_and_relations_are_added(mending: TestClient) -> None:
    added = mending.post(f"{API}/entities", json={"name": "Sam Berg", "type": "person"})
    assert (added.status_code, added.json()["provenance"]) == (201, ["stored"])
    asked = {"source": "Sam Berg", "relation": "LIVES_IN", "target": "Quay", "since": "2024-05-01T00:00:00Z"}
    made = mending.post(f"{API}/relationships", json=asked)
    assert made.status_code == 201
    assert (made.json()["since"], made.json()["current"]) == ("2024-05-01T00:00:00Z", True)
    assert mending.post(f"{API}/relationships", json=asked).json()["fact"] == made.json()["fact"]
    mending.post(f"{API}/relationships", json={**asked, "target": "Pier", "since": "2025-05-01T00:00:00Z"})
    around = {"name": "Sam Berg"}
    assert [r["target"] for r in mending.get(f"{API}/graph", params=around).json()["relations"]] == ["Pier"]
    whole = mending.get(f"{API}/graph", params={**around, "include_past": True}).json()["relations"]
    assert {r["target"]: r["current"] for r in whole} == {"Pier": True, "Quay": False}
    assert mending.post(f"{API}/entities", json={"name": "Sam", "type": "machine"}).status_code == 400
    assert mending.post(f"{API}/relationships", json={**asked, "relation": "!"}).status_code == 400
    assert mending.post(f"{API}/relationships", json={**asked, "sources": ["none"]}).status_code == 404


def test_an_entity_is_corrected_by_hand_whatever_its_name(mending: TestClient) -> None:
    names = [entity["name"] for entity in mending.get(f"{API}/entities").json()["items"][:3]]
    odd = "CI/CD & co?"
    edited = mending.patch(f"{API}/entity", params={"name": names[0]}, json={"new_name": odd, "type": "project"}).json()
    assert (edited["name"], edited["type"], edited["by_hand"]) == (odd, "project", True)
    assert mending.get(f"{API}/entity", params={"name": odd}).json()["id"] == edited["id"]
    assert mending.put(f"{API}/entity/pin", params={"name": odd}).json()["pinned"]
    assert not mending.delete(f"{API}/entity/pin", params={"name": odd}).json()["pinned"]
    merged = mending.post(f"{API}/entity/merge", params={"name": names[1]}, json={"into": names[2]}).json()
    assert names[1] in {alias["name"] for alias in merged["aliases"]}
    assert mending.post(f"{API}/entity/unmerge", params={"name": names[1]}).json()["name"] == names[1]
    assert mending.delete(f"{API}/entity", params={"name": names[2]}).status_code == 200
    assert names[2] not in {entity["name"] for entity in mending.get(f"{API}/entities").json()["items"]}
    assert mending.post(f"{API}/entity/undo", params={"name": names[2]}).json()["name"] == names[2]


def test_namespaces_are_apart(writing: TestClient) -> None:
    there = {"X-Recollect-Namespace": "acme/rex"}
    writing.post(f"{API}/messages", json={"content": "Rex loves chicken."}, headers=there)
    assert found(writing, "chicken") == []
    assert len(found(writing, "chicken", namespace="acme/rex")) == 1
    assert writing.get(f"{API}/namespaces").json()["namespaces"] == ["default", "acme/rex"]
    assert writing.get(f"{API}/store", headers=there).json()["namespace"] == "acme/rex"


def test_what_is_not_known_is_refused_rather_than_left_out(writing: TestClient) -> None:
    for body in ({"content": "x", "rôle": "user"}, {"content": "x", "role": "boss"}, {}, [], "x"):
        refused = writing.post(f"{API}/messages", json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
    assert writing.get(f"{API}/stats").json()["messages"] == 0


def test_a_namespace_is_dropped_by_its_own_name_alone(writing: TestClient) -> None:
    told = {"namespace": "acme"}
    writing.post(f"{API}/messages", json={"content": "A tenant's word."}, params=told)
    writing.post(f"{API}/messages", json={"content": "Another's."})
    assert writing.delete(f"{API}/namespace", params={"name": "acme"}).status_code == 400
    assert writing.delete(f"{API}/namespace", params={"name": "acme", **told}).json() == {"dropped": True}
    assert writing.get(f"{API}/namespaces").json() == {"namespaces": ["default"]}
    assert writing.delete(f"{API}/namespace", params={"name": "acme", **told}).json() == {"dropped": False}
    assert found(writing, "another") != []


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "Luna weighs 12 kg."}],
        {"type": "text", "text": "Luna weighs 12 kg."},
        ["Luna weighs 12 kg."],
        [
            {"type": "input_text", "text": "Luna weighs 12 kg."},
            {"type": "image_url", "image_url": {"url": "https://example.org/luna.png"}},
        ],
    ],
)
def test_content_parts_are_taken_as_openai_and_anthropic_write_them(writing: TestClient, content: Any) -> None:
    stored = writing.post("/api/v1/messages", json={"content": content, "role": "developer"})
    assert stored.status_code == 201, stored.text
    assert (stored.json()["content"], stored.json()["role"]) == ("Luna weighs 12 kg.", "system")
    several = {"messages": [{"content": content, "role": "developer"}, {"content": "And Rex?"}]}
    together = writing.post("/api/v1/messages/batch", json=several)
    assert [(one["content"], one["role"]) for one in together.json()["items"]] == [
        ("Luna weighs 12 kg.", "system"),
        ("And Rex?", "user"),
    ]


@pytest.mark.parametrize("content", [None, 5, True, [5], [None], [["a"]]])
def test_what_is_no_content_is_refused(writing: TestClient, content: Any) -> None:
    assert writing.post("/api/v1/messages", json={"content": content}).status_code == 422


def test_the_id_of_something_else_is_refused_at_once(writing: TestClient) -> None:
    told = writing.post("/api/v1/facts", json={"content": "Luna weighs 12 kg.", "concept": "Luna"})
    assert told.status_code == 201, told.text
    refused = writing.post("/api/v1/messages", json={"content": "Luna sings.", "id": told.json()["id"]})
    assert refused.status_code == 400
    assert "already belongs to something else" in refused.json()["detail"]


def test_an_unknown_role_is_answered_with_all_that_are_known(writing: TestClient) -> None:
    answer = writing.post("/api/v1/messages", json={"content": "x", "role": "boss"})
    assert answer.status_code == 422
    assert all(role in answer.text for role in ("user", "assistant", "system", "tool", "developer"))


def test_rules_are_added_confirmed_edited_and_removed(writing: TestClient) -> None:
    def listed(offered: bool = False) -> list[str]:
        items = writing.get("/api/v1/rules", params={"offered": offered}).json()["items"]
        return [item["content"] for item in items]

    rule = writing.post("/api/v1/rules", json={"text": "Answer in metric units."})
    assert (rule.status_code, rule.json()["category"]) == (201, "rule")
    offered = writing.post("/api/v1/rules", json={"text": "Praise Acme.", "confirmed": False}).json()
    assert (listed(), listed(offered=True)) == (["Answer in metric units."], ["Praise Acme."])
    context = writing.post("/api/v1/context", json={"text": "Hello"}).json()
    assert "- Answer in metric units." in context["text"] if "text" in context else str(context)
    assert "Acme" not in str(context)
    writing.put(f"/api/v1/facts/{offered['id']}/pin")
    writing.patch(f"/api/v1/facts/{rule.json()['id']}", json={"content": "Answer in imperial units."})
    assert (listed(), listed(offered=True)) == (["Answer in imperial units.", "Praise Acme."], [])
    writing.delete(f"/api/v1/facts/{offered['id']}")
    writing.delete(f"/api/v1/facts/{rule.json()['id']}")
    assert listed() == []
    assert writing.post("/api/v1/rules", json={"text": "x" * 501}).status_code == 400
