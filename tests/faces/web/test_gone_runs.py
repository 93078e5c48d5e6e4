"""What a run has told is told again only as long as the memory holds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import recollect
from tests.faces.rest.conftest import BASE, serve

ORIGIN = {"Origin": BASE}
PIN = "What is the PIN of my savings account?"
SAID = "The PIN of my savings account is 4711, at the bank in Leeds."


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with serve(tmp_path / "memory.db", tmp_path / "home") as opened:
        yield opened


def run_of(client: TestClient, kind: str) -> str:
    """The newest run, which has ended."""
    runs = client.app.state.runs.all(kind, "default")  # type: ignore[attr-defined]
    assert runs[-1].wait(10)
    return str(runs[-1].id)


@pytest.mark.parametrize(
    ("kind", "gone"), [("message", "forget"), ("message", "delete"), ("message", "edit"), ("document", "forget")]
)
def test_an_answer_goes_with_what_it_cites(client: TestClient, tmp_path: Path, gone: str, kind: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bank.md").write_text(SAID)
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as elsewhere:
        if kind == "document":
            elsewhere.import_documents(tmp_path / "notes")
            (stored,) = [one.id for one in elsewhere.documents()]
        else:
            stored = elsewhere.store_message(SAID).id
        client.get("/ask", params={"q": PIN})
        run = run_of(client, "ask")
        assert "4711" in client.get("/ask", params={"q": PIN}).text
        assert "4711" in client.get(f"/runs/{run}/events").text
        {"forget": elsewhere.forget, "delete": elsewhere.delete}.get(
            gone, lambda stored: elsewhere.update_message(stored, "Nothing of it.")
        )(stored)
    assert client.get(f"/runs/{run}/events").status_code == 404
    client.get("/ask", params={"q": PIN})
    again = run_of(client, "ask")
    assert again != run
    for page in (client.get("/ask", params={"q": PIN}), client.get(f"/runs/{again}/events")):
        assert page.status_code == 200
        assert "4711" not in page.text


def test_a_report_that_went_is_in_no_run(client: TestClient, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as elsewhere:
        stored = elsewhere.store_message(SAID)
        client.post("/research", data={"q": PIN}, headers=ORIGIN)
        run = run_of(client, "research")
        assert "4711" in client.get(f"/research/run/{run}").text
        elsewhere.forget(stored.id)
    for path in (f"/research/run/{run}", f"/runs/{run}/events"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "4711" not in answer.text


def test_what_was_not_known_is_asked_again_when_the_memory_has_grown(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/ask", params={"q": PIN})
    first = run_of(client, "ask")
    assert "4711" not in client.get("/ask", params={"q": PIN}).text
    assert run_of(client, "ask") == first
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as elsewhere:
        elsewhere.store_message(SAID)
    monkeypatch.setattr("recollect.faces.web.pages.answers._NOT_KNOWN_FOR", 0.0)
    client.get("/ask", params={"q": PIN})
    run_of(client, "ask")
    assert "4711" in client.get("/ask", params={"q": PIN}).text
