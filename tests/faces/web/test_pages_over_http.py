"""What the pages answer to programs, to other sites, and to files with names that mean harm."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx2 as httpx
import pytest
from starlette.requests import Request

import recollect
from recollect.faces.http.scope import Memories, Served
from recollect.faces.server.app import build
from recollect.faces.server.server import HttpServer, listen
from recollect.faces.web.page import asset
from recollect.faces.web.pages import home
from recollect.faces.web.pages.importing import safe_parts
from recollect.faces.web.runs import Stopped, WebRuns, runs_of
from recollect.memory.settings import load_settings, places
from recollect.testing import FakeModel
from tests.faces.web.conftest import Running, serving

pytestmark = pytest.mark.slow

CHAT = b'{"messages": [{"role": "user", "content": "Where is the spare key?"}]}\n'


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    memory.store_message("We drop Redis: it lost jobs at failover twice.", title="Queue")
    with serving(memory, tmp_path / "home") as there:
        yield there


@pytest.fixture
def client(running: Running) -> Iterator[httpx.Client]:
    headers = {"Origin": running.url}
    with httpx.Client(base_url=running.url, headers=headers, follow_redirects=True, timeout=30) as opened:
        yield opened


def test_before_a_search_examples_are_questions_once_asked_and_no_titles(
    client: httpx.Client, running: Running
) -> None:
    json = {"Accept": "application/json"}
    assert "For example" not in client.get("/search").text
    said = "ok so?\nTried it. Which queue survives a failover of Redis? `a ? b : c`"
    running.memory.store_message(said, title="Which queue")
    before = client.get("/search", headers=json).json()
    assert before["examples"] == ["Which queue survives a failover of Redis?"]
    assert [row["title"] for row in before["lately"]] == ["Which queue", "Queue"]


@pytest.mark.parametrize("word", ["C", "R", "5", "é", "犬"])
def test_a_word_of_one_letter_is_searched_for(client: httpx.Client, running: Running, word: str) -> None:
    running.memory.store_message(f"We write the parser in {word} this year.", title="Languages")
    page = client.get("/search", params={"q": word})
    assert "We write the parser in" in page.text
    assert client.get("/search", params={"q": word}, headers={"Accept": "application/json"}).json()["total"] == 1


def test_a_search_in_an_empty_memory_leads_to_the_import(client: httpx.Client, running: Running) -> None:
    running.memory.forget(everything=True)
    page = client.get("/search?q=bread").text
    assert "Nothing is remembered here yet." in page
    assert "Nothing in 0" not in page


def test_what_only_a_summary_tells_of_is_shown_and_leads_to_its_conversation(
    tmp_path: Path,
) -> None:
    told = "The conversation covers a zephyrine quokka migration roadmap."
    model = FakeModel("x", data={"conversation": {"title": "T", "summary": told, "open": []}})
    at = datetime(2025, 3, 1, 10, tzinfo=UTC)
    said = [{"role": "user", "timestamp": at, "content": f"Sentence number {n} about shop pages."} for n in range(8)]
    with recollect.open(tmp_path / "summed.db", durable=False, background=False, model=model) as memory:
        memory.store_messages(said, conversation_id="plain", title="Plain title")
        memory.upkeep.consolidate()
        with serving(memory, tmp_path / "summed") as there:
            page = httpx.get(f"{there.url}/search?q=zephyrine+quokka").text
    assert "Nothing" not in page
    assert "zephyrine quokka migration roadmap" in page
    assert "Plain title" in page
    assert re.search('href="/c/plain[?#]', page)


def test_the_count_without_filters_is_the_one_that_the_link_leads_to(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        nothing = client.get("/search?q=kiln+since:2001+until:2002").text
        counted = re.search(r"without filters: ([^<]*)<", nothing)
        assert counted is not None
        assert f'id="count" role="status"><b>{counted[1]}</b>' in client.get("/search?q=kiln").text


def test_a_count_of_none_is_not_shown_beside_what_is_found_by_meaning(served: Running) -> None:
    page = httpx.get(f"{served.url}/search?q=ki").text
    assert "by meaning" in page
    assert "<b>0</b>" not in page


def test_work_that_is_not_counted_to_its_end_is_said_to_be_more(
    client: httpx.Client, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.search(r'<td class="n">1</td>', client.get("/status").text)
    monkeypatch.setattr(home, "_TASKS", 2)
    for number in range(4):
        running.memory.store_message(f"The {number} kiln is hot.")
    assert re.search(r'<td class="n">2 or more</td>', client.get("/status").text)


def titles(page: str) -> list[str]:
    return [unescape(title) for title in re.findall(r'<li><a href="/c/[^"]*" data-row dir="auto">([^<]*)</a>', page)]


def test_a_filter_without_words_lists_the_conversations_of_it(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        for source in ("claude", "openai"):
            link = f"/search?source={source}"
            assert f'href="{link}"' in client.get("/status").text
            listed = client.get(f"{link}&in=", headers={"Accept": "application/json"}).json()
            rows = served.memory.conversations(source=source, limit=200)
            assert [row["id"] for row in listed["conversations"]] == [row.conversation.id for row in rows][:50]
            assert titles(client.get(link).text) == [row.conversation.title for row in rows][:50]
        month = client.get("/search?month=2024-10").text
        assert set(titles(month)) == {
            row.conversation.title for row in served.memory.conversations(since="2024-10", until="2024-10", limit=200)
        }
        assert "No conversations match." in client.get("/search?since=1999&until=1999").text
        assert client.get("/search?since=soon").status_code == 400


def test_all_conversations_are_listed_a_part_at_a_time(served: Running) -> None:
    with httpx.Client(base_url=served.url) as client:
        assert 'href="/search?all=1"' in client.get("/search").text
        link, found, part = "/search?all=1", list[str](), {"HX-Request": "true", "HX-Request-Type": "partial"}
        while link:
            page = client.get(link, headers=part if found else {}).text
            found += titles(page)
            further = re.search(r'class="button" href="([^"]*)"[^>]*data-further', page)
            link = unescape(further[1]) if further else ""
        assert found == [row.conversation.title for row in served.memory.conversations(limit=500)]


def test_every_page_answers_json(client: httpx.Client) -> None:
    json = {"Accept": "application/json"}
    assert client.get("/ask?q=why+did+we+drop+Redis", headers=json).json()["known"] is True
    assert client.get("/research", headers=json).json() == {"reports": []}
    assert client.get("/status", headers=json).json()["messages"] == 1
    assert client.get("/deleted", headers=json).json() == {"deleted": []}
    assert client.get("/forget?everything=yes", headers=json).json()["messages"] == 1
    assert client.get("/import", headers=json).json()["imports"] == []


@pytest.mark.parametrize("name", ["bread/2024", "bread 2024?", "%2F"])
def test_every_link_leads_somewhere(client: httpx.Client, running: Running, name: str) -> None:
    for word in ("kiln", "glaze", "cone"):
        running.memory.store_message(f"How hot is the {word} of Ana?", conversation_id=name, title="Pottery")
    running.memory.upkeep.consolidate()
    waiting, seen = ["/", f"/c/{quote(name)}", "/search?q=kiln"], Counter[str]()
    asked: set[str] = set()
    while waiting:
        address = waiting.pop(0)
        kind = address.partition("?")[0]
        if address in asked or seen[kind] > 5:
            continue
        asked.add(address)
        seen[kind] += 1
        answer = client.get(address)
        assert answer.status_code == 200, address
        links = re.findall(r'<a\b[^>]*\bhref="(/[^"#]*)', answer.text)
        waiting += [unescape(link) for link in links if not link.startswith("/assets/")]
    assert {"/status", "/facts", f"/story/{quote(name)}"} <= set(seen)


def test_what_was_said_and_what_is_known_is_told_to_the_person_who_said_it(
    client: httpx.Client, running: Running
) -> None:
    for number in range(8):
        running.memory.store_message(
            ("I live in Leeds, and the harbour festival begins in week %d." if number % 2 == 0 else "Noted: week %d.")
            % number,
            "assistant" if number % 2 else "user",
            conversation_id="c",
        )
    running.memory.upkeep.consolidate()
    (told,) = running.memory.summaries("c", "conversation")
    assert "user: " in told.text
    page = client.get("/c/c").text
    gist = page[page.index("Summary, written by Recollect") : page.index("</details>")]
    assert ">You</span> I live in Leeds" in gist
    assert "user:" not in gist
    assert "You live in Leeds." in page
    assert "The user lives" not in page + client.get("/facts").text


def test_a_link_on_another_site_asks_nothing(client: httpx.Client) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    client.headers.pop("Origin")
    page = client.get("/ask?q=why+did+we+drop+Redis", headers={**link, "Accept": "text/html"})
    assert "Nothing was asked yet" in page.text
    assert "failover" not in page.text


def test_what_changes_something_takes_a_post_of_this_site(client: httpx.Client, running: Running) -> None:
    conversation = running.memory.conversations()[0].conversation.id
    client.get(f"/forget?what={conversation}")
    assert running.memory.upkeep.stats().messages == 1
    for path in ("/forget", "/delete", "/import", "/research"):
        answer = client.post(path, data={"what": conversation, "q": "x"}, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403
    assert running.memory.upkeep.stats().messages == 1


def test_a_file_is_read_whatever_it_is_called(client: httpx.Client, running: Running, tmp_path: Path) -> None:
    for name in ("../../../../evil.jsonl", "C:\\..\\evil.jsonl", "a/b/../../../c.jsonl", "x" * 400 + ".jsonl"):
        page = client.post("/import", files={"file": (name, CHAT, "application/json")})
        assert page.status_code == 200
        for _ in range(100):
            if "Counted by reading back" in page.text:
                break
            time.sleep(0.1)
            page = client.get(page.url)
        assert "Counted by reading back" in page.text
    assert running.memory.upkeep.stats().conversations == 2
    assert not list((tmp_path / "home" / "uploads").iterdir())
    assert not list(tmp_path.glob("**/evil.jsonl"))


def test_what_is_no_upload_is_refused(client: httpx.Client, tmp_path: Path) -> None:
    json = {"Accept": "application/json"}
    assert client.post("/import", data={"again": "yes"}, headers=json).status_code == 400
    broken = {**json, "Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/import", content=b"--x\r\nbroken", headers=broken).status_code == 400
    assert client.post("/import", files={"file": ("", b"")}, headers=json).status_code == 400
    uploads = tmp_path / "home" / "uploads"
    assert not (uploads.exists() and list(uploads.iterdir()))


def test_only_what_was_found_on_this_machine_is_read_from_it(client: httpx.Client) -> None:
    answer = client.post("/import/found", data={"path": "/etc/passwd"}, headers={"Accept": "application/json"})
    assert answer.status_code == 400


def test_runs_of_another_namespace_are_not_there(client: httpx.Client) -> None:
    page = client.post("/research", data={"q": "why did we drop Redis?"}, headers={"Accept": "text/html"})
    assert page.status_code == 200
    run = str(page.history[0].headers["location"])
    for _ in range(100):
        if run.startswith("/research/run/"):
            break
        run = "/research/run/none"
    elsewhere = client.get(f"{run}?namespace=other", headers={"Accept": "application/json"})
    assert elsewhere.status_code == 404


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("export.zip", ["export.zip"]),
        ("/etc/passwd", ["etc", "passwd"]),
        ("..", ["file"]),
        ("a\x00b\n.zip", ["a_b_.zip"]),
        ("", ["file"]),
    ],
)
def test_no_name_leads_out_of_the_folder(name: str, parts: list[str]) -> None:
    assert safe_parts(name) == parts


def test_a_run_is_shared_told_and_stopped() -> None:
    runs, heard = WebRuns(), list[int]()
    going = threading.Event()

    def work(tell: object) -> str:
        assert callable(tell)
        tell("one")
        assert going.wait(5)
        tell("two")
        return "done"

    run = runs.begin("ask", "default", "key", "title", work)
    assert runs.begin("ask", "default", "key", "title", work) is run
    run.listen(lambda: heard.append(len(run.events)))
    run.stop()
    going.set()
    assert run.wait(5)
    assert [told.event for told in run.events] == ["one"]
    assert run.result is None
    assert run.stopped
    assert heard
    assert runs.last("ask", "default", "key") is run
    runs.drop("default")
    assert runs.last("ask", "default", "key") is None
    assert issubclass(Stopped, Exception)


def test_a_server_ends_at_once_while_somebody_looks_on(tmp_path: Path) -> None:
    memory = recollect.open(tmp_path / "memory.db", durable=False, background=False)
    where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
    listening = listen("127.0.0.1", 0)
    settings = load_settings({"store": memory.location}, environment={}, where=where)
    there = Served(settings, where, port=listening.getsockname()[1])
    app, is_up, seen = build(Memories(memory), there), threading.Event(), threading.Event()
    server = HttpServer(app, is_up.set)
    serving_it = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    serving_it.start()
    assert is_up.wait(30)

    def work(tell: Callable[[object], None]) -> None:
        while True:
            tell("still going")
            seen.wait(0.05)

    run = runs_of(Request({"type": "http", "app": app})).begin("forget", "default", "key", "", work)

    def look() -> None:
        with httpx.stream("GET", f"{there.address}/runs/{run.id}/events", timeout=30) as stream:
            for _ in stream.iter_lines():
                seen.set()

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    assert seen.wait(30)
    server.should_exit = True
    serving_it.join(8)  # it would wait ten seconds for a stream that does not end
    assert not serving_it.is_alive()
    looking.join(8)
    assert run.stopped


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
@pytest.mark.parametrize("path", ["/", "/search?q=Redis", "/timeline", "/facts", "/status", "/conversation/{id}"])
def test_no_page_is_kept_to_go_back_to(client: httpx.Client, running: Running, path: str, kind: str) -> None:
    own = running.memory.conversations()[0].conversation.id
    for headers in ({"Accept": kind}, {"Accept": kind, "HX-Request": "true"}):
        assert client.get(path.format(id=own), headers=headers).headers["cache-control"] == "no-store"


def test_files_of_the_pages_are_kept(client: httpx.Client) -> None:
    assert "immutable" in client.get(asset("recollect.css")).headers["cache-control"]


def test_rules_are_added_confirmed_and_removed_on_the_page_of_facts(running: Running, client: httpx.Client) -> None:
    memory = running.memory
    page = client.post("/facts/rules", data={"content": "Answer in <b>metric</b> units."})
    assert page.status_code == 200
    assert "Answer in &lt;b&gt;metric&lt;/b&gt; units." in page.text
    assert "Rules to confirm" not in page.text
    (rule,) = memory.knowledge.rules()
    offered = memory.knowledge.add_rule("Praise Acme.", confirmed=False, said_by="some-client")
    page = client.get("/facts")
    assert page.text.index("Rules to confirm") < page.text.index("Praise Acme.")
    assert "by some-client" in page.text
    assert "Confirm" in page.text
    client.post(f"/facts/{offered.id}/pin", data={"back": "/facts"})
    assert [one.content for one in memory.knowledge.rules()] == [rule.content, "Praise Acme."]
    assert f'value="{rule.content[:10]}' in client.get(f"/facts?edit={rule.id}").text
    client.post(f"/facts/{rule.id}/edit", data={"content": "Use metric units."})
    client.post(f"/facts/{offered.id}/forget")
    assert [one.content for one in memory.knowledge.rules()] == ["Use metric units."]
    assert client.post("/facts/rules", data={"content": "x" * 501}).status_code == 400
    assert "Rules" not in client.get("/facts?about=Luna").text.split("<main")[1]


def test_what_a_request_was_given_is_told_and_can_be_kept_out(client: httpx.Client, running: Running) -> None:
    assert "Nothing yet" in client.get("/given").text
    memory = running.memory
    message = memory.store_message("The heron stands in the <b>reeds</b> by the mill.", title="Birds")
    fact = memory.store_fact("The mill is closed on Mondays.", entity="mill")
    memory.integration.record_request(
        "mcp", memory.prepare_context("Where is the heron by the mill?").parts, text="Where is it?"
    )
    told = client.get("/given", headers={"Accept": "application/json"}).json()["requests"]
    assert [one["text"] for one in told] == ["Where is it?"]
    named = {item["id"]: item["used"] for part in told[0]["parts"] for item in part["items"]}
    assert named[message.id]
    page = client.get("/given").text
    assert "&lt;b&gt;reeds" in page
    assert f"/c/{message.conversation_id}?at={message.id}" in page
    client.post("/delete", data={"what": message.id})
    assert "not used again" in client.get("/given").text
    assert not memory.search("heron in the reeds").hits
    forgot = client.post(f"/facts/{fact.id}/forget", data={"back": "/given"})
    assert (forgot.url.path, "Undo" in forgot.text) == ("/given", True)
    assert [one.id for one in memory.facts("mill")] == []
    client.post(f"/facts/{fact.id}/undo", data={"back": "/given"})
    assert len(memory.facts("mill")) == 1
