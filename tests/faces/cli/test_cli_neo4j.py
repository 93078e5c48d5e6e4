"""Every command on a Neo4j server; what it says of the server, and what it never says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.exports import chat, export
from tests.faces.conftest import CommandLine
from tests.store import neo4j_server

TALK = chat("Which bread holds most water?", "Focaccia, at 85 percent.", title="Bread and water")


@pytest.fixture
def server(run: CommandLine, neo4j_place: str, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on an empty server."""
    monkeypatch.setenv("RECOLLECT_STORE", neo4j_place)
    return run


def test_every_command_works_on_a_server(server: CommandLine, neo4j_uri: str, tmp_path: Path) -> None:
    assert "Imported 1 conversation, 2 messages" in server("import", export(tmp_path / "export", [TALK])).out
    status = server()
    assert status.out.startswith("2 messages in 1 conversation")
    assert f"default - {neo4j_uri}\n" in status.out, "nothing is said of bytes that are not known"
    assert server("--json").document["bytes"] is None
    assert "[bread]" in server("search", "which bread").out
    assert "Focaccia" in server("show", "1").out
    assert "Bread and water" in server("list").out
    assert f"store              {neo4j_uri}\n" in server("stats").out
    assert server("stats", "--json").document["bytes"] is None
    assert server("remember", "rye wants more", "--in", "Bread and water").code == 0
    assert server("embed", "--json").document["quality"] == {"made": 3, "wanted": 3}
    assert server("search", "rye", "--json").document["mode"] == "quality"
    assert server("reindex").code == 0
    assert server("embed", "--json").document["quality"] == {"made": 3, "wanted": 3}
    assert server("delete", "Bread and water").code == 0
    assert server("restore", "Bread and water").out == "Restored 3 messages.\n"
    backup = server("backup", tmp_path / "copy.db")
    assert backup.code == 2
    assert "recollect export" in backup.err
    assert server("export", tmp_path / "dump.jsonl").code == 0
    assert server("restore", tmp_path / "dump.jsonl").code == 2
    assert server("check").code == 0
    assert server("forget", "Bread and water", "--yes").code == 0
    assert server("search", "rye").code == 1
    assert server("check").code == 0
    assert server("config", "--json").document["settings"]["store"] == {"value": neo4j_uri, "from": "RECOLLECT_STORE"}


def test_check_says_in_plain_words_what_is_wrong_and_what_mends_it(
    server: CommandLine, neo4j_uri: str, tmp_path: Path
) -> None:
    server("import", export(tmp_path / "export", [TALK]))
    damaged = ("MATCH (p:Passage) DETACH DELETE p", "MATCH (m:Message {position: 1}) SET m.position = 7")
    with neo4j_server.driver(neo4j_uri).session() as session:
        for statement in damaged:
            session.run(statement).consume()
    ran = server("check")
    assert ran.code == 1
    assert "[bad] missing from the search index (2 times): " in ran.out
    assert "[bad] messages of the conversation are missing: " in ran.out
    assert "does not hold" not in ran.out
    assert "recollect check --repair" in ran.err
    assert "Restore the database from a backup" in ran.err
    assert "recollect restore" not in ran.err, "that brings back files only"


@pytest.mark.parametrize("command", [("search", "bread"), ("list",), ("stats",), ("export", "-"), ("check",)])
def test_where_nothing_was_written_there_is_no_memory_yet(
    server: CommandLine, neo4j_uri: str, command: tuple[str, ...]
) -> None:
    ran = server(*command)
    assert ran.code == 1
    assert ran.err.startswith(f"No memory at {neo4j_uri} yet.")


def test_an_empty_server_and_an_empty_namespace_are_told_apart(server: CommandLine, neo4j_uri: str) -> None:
    assert server().out.startswith("Your memory is empty.")
    server("remember", "the spare key is with Ana")
    ran = server("search", "key", "--namespace", "acme/rex")
    assert ran.code == 1
    assert ran.err.startswith(f"No memory of acme/rex at {neo4j_uri} yet.")


def test_the_variables_of_others_name_the_server_once_it_is_chosen(
    run: CommandLine, neo4j_place: str, neo4j_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", neo4j_place)
    ran = run("remember", "the boat is called Tern")
    assert ran.code == 0
    assert "NEO4J_URI is set" in ran.err
    assert "recollect config store neo4j" in ran.err
    assert run("stats", "--json").document["store"] != neo4j_uri
    assert "NEO4J_URI is set" in run().err
    assert run("config", "store", "neo4j").code == 0
    ran = run("remember", "the spare key is with Ana")
    assert (ran.code, "NEO4J_URI" in ran.err) == (0, False)
    assert run("stats", "--json").document["store"] == neo4j_uri
    assert run("config", "--json").document["settings"]["store"]["value"] == neo4j_uri


@pytest.mark.parametrize("command", [(), ("search", "x"), ("import", "."), ("stats", "--json"), ("config",)])
def test_no_command_shows_a_password(run: CommandLine, home: Path, command: tuple[str, ...]) -> None:
    for address in ("bolt://ana:s%65cret@127.0.0.1:1", "bolt://ana:se/secret@127.0.0.1:1", "http://ana:secret@host"):
        ran = run(*command, "--store", address) if command else run("--store", address)
        assert "secret" not in ran.out + ran.err
        assert "s%65cret" not in ran.out + ran.err
    kept = [path.read_text(encoding="utf-8") for path in home.rglob("*") if path.is_file()]
    assert not any("secret" in text for text in kept)


def test_the_state_of_a_server_keeps_no_password(server: CommandLine, home: Path, neo4j_uri: str) -> None:
    scheme, _, host = neo4j_uri.partition("://")
    server("remember", "the spare key is with Ana")
    server("search", "spare key")
    kept = [path.read_text(encoding="utf-8") + path.name for path in home.rglob("*") if path.is_file()]
    assert kept
    assert not any(host in text or scheme in text for text in kept)


def test_a_server_that_is_down_is_told_within_seconds(run: CommandLine) -> None:
    began = time.monotonic()
    ran = run("search", "bread", "--store", "neo4j://127.0.0.1:1")
    assert time.monotonic() - began < 5
    assert ran.code == 2
    assert ran.err.startswith("neo4j://127.0.0.1:1 does not answer")
    assert "Traceback" not in ran.err
