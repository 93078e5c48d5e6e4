"""Each face leads to every conversation that holds a word, page by page, and says that it is everything when it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import recollect
from tests.faces.conftest import CommandLine
from tests.faces.rest.conftest import serve
from tests.search.flooded import messages_with, write_flooded

SORTS = ("relevance", "newest")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flooded")
    with recollect.open(folder / "memory.db", durable=False, background=False) as memory:
        memory.import_file(write_flooded(folder / "flooded.jsonl"))
    return folder / "memory.db"


@pytest.fixture(scope="module")
def wanted(store: Path) -> set[str]:
    """The conversations that hold the word, as a loop over the record tells them."""
    with recollect.open(store, background=False) as memory:
        return {message.conversation_id for message in messages_with(memory, "kiln")}


@pytest.fixture(scope="module")
def client(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serve(store, tmp_path_factory.mktemp("home")) as client:
        yield client


@pytest.mark.parametrize("sort", SORTS)
def test_in_rest(client: TestClient, wanted: set[str], sort: str) -> None:
    seen: list[str] = []
    asked: dict[str, str | int] = {"q": "kiln", "sort": sort, "limit": 4, "facets": "true"}
    page = client.get("/api/v1/search", params=asked).json()
    assert page["facets"]["conversations"] == len(wanted)
    while True:
        seen += [hit["conversation"]["id"] for hit in page["results"]]
        if page["next"] is None:
            break
        page = client.get("/api/v1/search", params={**asked, "cursor": page["next"]}).json()
    assert len(seen) == len(set(seen)) == page["total"]
    assert wanted <= set(seen)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("part", [False, True])
def test_on_the_pages(client: TestClient, wanted: set[str], sort: str, part: bool) -> None:
    seen: list[str] = []
    headers = {"Accept": "text/html", **({"HX-Request": "true"} if part else {})}
    address = f"/search?q=kiln&sort={sort}"
    while True:
        text = client.get(address, headers=headers).text
        for shown in re.findall(r'<li class="hit">(.*?)</details>', text, re.DOTALL):
            seen += re.findall(r"/c/([^?#\"]+)", shown)[:1]
        more = re.search(r'href="([^"]+)"[^>]*data-further', text)
        assert (more is None) == ("That is everything" in text)
        if more is None:
            break
        address = unescape(more[1])
    assert len(seen) == len(set(seen))
    assert wanted <= set(seen)


def test_on_the_first_page_words_are_counted_exactly(client: TestClient, wanted: set[str]) -> None:
    text = client.get("/search?q=kiln&sort=newest", headers={"Accept": "text/html"}).text
    assert f"in {len(wanted)} conversations with the word" in text
    assert "or more" not in text


@pytest.mark.parametrize("sort", SORTS)
def test_on_the_command_line(
    run: CommandLine, store: Path, wanted: set[str], sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_STORE", str(store))
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        asked = ("search", "kiln", "--sort", sort, "--offset", str(offset))
        last = run(*asked).out.splitlines()[-1]
        page = run(*asked, "--json").document
        seen += [hit["conversation"]["id"] for hit in page["results"]]
        offset = page["next"]
        assert (f"--offset {offset}" in last) == (offset is not None)
    assert len(seen) == len(set(seen)) == page["total"]
    assert wanted <= set(seen)
    beyond = run("search", "kiln", "--sort", sort, "--offset", "9999").out.splitlines()
    assert beyond == [f"No further results: there are {page['total']}."]


def test_a_tool_pages_through_every_message(store: Path) -> None:
    with recollect.open(store, background=False) as memory:
        held = {message.id for message in messages_with(memory, "kiln")}
        seen: list[str] = []
        while page := memory.toolbox().vector_search("kiln", 400, len(seen)):
            seen += [one.message_id for one in page]
            assert len(seen) < 2_000
    assert len(seen) == len(set(seen))
    assert held <= set(seen)
