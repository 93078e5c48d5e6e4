"""The page about the names of the seed documents: its queries answer on a real server what theirs ask [2], [4]."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("neo4j", reason="the Neo4j driver is not installed")

import recollect
from recollect.testing import FakeModel
from tests.paths import ROOT
from tests.store import neo4j_server

QUERIES = re.findall(
    r"^```cypher\n(.*?)^```$", (ROOT / "docs/explanation/seeds.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)
SCALES = "Project Titan scales with the Horizontal Pod Autoscaler."


def test_their_questions_are_answered(neo4j_uri: str, home: Path) -> None:
    """[2] Step 1, Step 2, Ambiguity Resolution, Step 5; [4] CALLED_BY. Names, sources, relations, turns, calls."""
    path = home / "titan.md"
    path.write_text(f"# Project Titan\n\n{SCALES}\n", "utf-8")
    model = FakeModel("Project Titan runs on Kubernetes [1].", "Project Titan scales with an autoscaler [1].")
    with recollect.open(neo4j_server.with_auth(neo4j_uri), model=model, background=False) as memory:
        memory.import_documents(path)
        first = memory.chat(None, "Tell me about Project Titan.")
        second = memory.chat(first.conversation_id, "How does it scale?")
        memory.store_tool_call("web_search", {"query": "HPA"}, "Autoscaling by load.", str(second.answer_id))
        memory.store_message("Kafka depends on Zookeeper.", conversation_id="notes")
        memory.knowledge.add_relationship(source="Kubernetes", relation="RELATED_TO", target="HPA")
        memory.upkeep.consolidate()
    names, sources, nearest, added, turns, calls = (rows_of(neo4j_uri, query) for query in QUERIES)
    assert {(row[0], row[1]) for row in names} >= {(first.question, "Project Titan"), (first.question, "Kubernetes")}
    assert [(SCALES in str(text), score) for text, score in sources] == [(True, 1.0)]
    assert nearest == [["Kafka", 1]]
    assert added == [["Kubernetes", "related to", "HPA"]]
    assert [row[1:3] for row in turns] == [
        ["Tell me about Project Titan.", "Tell me about Project Titan."],
        ["How does it scale?", "How does Project Titan scale?"],
    ]
    assert [row[:3] for row in calls] == [["web_search", '{"query": "HPA"}', "Autoscaling by load."]]
    assert str(calls[0][3]).startswith("Project Titan scales with an autoscaler")


def rows_of(uri: str, query: str) -> list[list[object]]:
    with neo4j_server.driver(uri).session() as session:
        return [record.values() for record in session.run(query)]
