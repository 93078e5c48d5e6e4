"""The page about Neo4j, on a real server: its commands run, its queries find something, the picture is as promised."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import recollect
from recollect.faces.cli.main import main
from tests.paths import ROOT
from tests.store import neo4j_server
from tests.store.builders import branched, talk

PAGE = (ROOT / "docs" / "how-to" / "neo4j.md").read_text(encoding="utf-8")
SERVER, FILE = "neo4j://localhost:7687", "~/.local/share/recollect/memory.db"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def rows_of(uri: str, query: str) -> list[list[object]]:
    with neo4j_server.driver(uri).session() as session:
        return [record.values() for record in session.run(query)]


def test_there_are_five_queries() -> None:
    assert len(blocks("cypher")) == 5


def test_each_query_finds_something_and_the_picture_is_the_promised_one(
    neo4j_uri: str, sample_archive: list[Path]
) -> None:
    with recollect.open(neo4j_server.with_auth(neo4j_uri)) as memory:
        memory.import_file(sample_archive[0])
        memory.handle.ingest.threads([branched()])
    for query in blocks("cypher"):
        assert rows_of(neo4j_uri, query), query
    picture = """MATCH (a)-[r]->(b) WHERE a.namespace = 'default' AND NOT a:Passage
        RETURN DISTINCT labels(a), type(r), labels(b)"""
    assert {(label_of(a), relation, label_of(b)) for a, relation, b in rows_of(neo4j_uri, picture)} == {
        ("Session", "HAS_TURN", "Turn"),
        ("Turn", "NEXT_TURN", "Turn"),
        ("Turn", "HAS_QUERY", "Query"),
        ("Turn", "HAS_RESPONSE", "Response"),
        ("Response", "REPLIES_TO", "Query"),
        ("Query", "REPLIES_TO", "Response"),
        # beside them tools and context, which no turn holds
        ("ToolCall", "CALLED_BY", "Message"),
        ("Message", "REPLIES_TO", "Query"),
        ("Message", "REPLIES_TO", "Message"),
        ("Query", "REPLIES_TO", "Message"),
        ("Response", "REPLIES_TO", "Message"),
    }


def label_of(labels: object) -> str:
    """What a node is in the picture: the narrowest of its labels."""
    assert isinstance(labels, list)
    own = [label for label in labels if label != "Node"]  # which every record has
    return str(next((label for label in ("Session", "Query", "Response") if label in own), own[0]))


def test_a_short_conversation_is_drawn_as_two_turns_in_a_chain(neo4j_uri: str) -> None:
    with recollect.open(neo4j_server.with_auth(neo4j_uri)) as memory:
        memory.handle.ingest.threads(
            [talk("X", "Tell me about Project X", "It uses Kubernetes.", "How does it scale?", "HPA.")]
        )
    found = rows_of(
        neo4j_uri,
        """MATCH (s:Session)-[:HAS_TURN]->(first:Turn)-[:NEXT_TURN]->(second:Turn)<-[:HAS_TURN]-(s)
        MATCH (first)-[:HAS_QUERY]->(q1:Query) MATCH (first)-[:HAS_RESPONSE]->(r1:Response)
        MATCH (second)-[:HAS_QUERY]->(q2:Query) MATCH (second)-[:HAS_RESPONSE]->(r2:Response)
        RETURN s.title, q1.content, r1.content, q2.content, r2.content""",
    )
    assert found == [["X", "Tell me about Project X", "It uses Kubernetes.", "How does it scale?", "HPA."]]


def test_the_commands_of_the_page_move_a_memory_there_and_back(
    home: Path, neo4j_place: str, sample_archive: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.delenv("RECOLLECT_HOME")
    assert main(["import", str(sample_archive[0])]) == 0
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("recollect ")]
    assert any("--store " + FILE in command for command in commands)
    for command in commands[1:]:  # before the move there is nothing to count
        words = shlex.split(command.replace(SERVER, neo4j_place).replace("~", str(home)))
        assert main(words[1:]) == 0, command
    assert Path("back.jsonl").read_bytes() == Path("moving.jsonl").read_bytes()
