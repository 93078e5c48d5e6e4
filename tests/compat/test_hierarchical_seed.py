"""All examples of the page that `HierarchicalMemory` is known by, as printed there, with the import changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.compat.hierarchical import HierarchicalMemory, KnowledgeSubgraph, MemoryCategory, extract_entity_name

EXAMPLES = [
    """
mem = HierarchicalMemory("my-agent", "/tmp/mem_db")

# Auto-classified as SEMANTIC (default)
nid = mem.store_knowledge(
    content="Python was created by Guido van Rossum",
    concept="python-history",
    confidence=0.95,
    tags=["python", "history"],
)

# Explicitly set category
nid = mem.store_knowledge(
    content="Step 1: Clone repo. Step 2: Run tests. Step 3: Deploy.",
    concept="deployment-procedure",
    category=MemoryCategory.PROCEDURAL,
)
""",
    """
episode_id = mem.store_episode(
    content="In the 2024 Olympics, Norway won 15 gold medals...",
    source_label="news-article-2024",
)

# Later, store a fact derived from this episode
fact_id = mem.store_knowledge(
    content="Norway won 15 gold medals in 2024 Olympics",
    concept="norway-olympics",
    source_id=episode_id,  # Creates DERIVES_FROM edge
)
""",
    """
# Day 1: Initial fact
mem.store_knowledge(
    content="Klaebo has 9 gold medals",
    concept="Klaebo medals",
    temporal_metadata={"temporal_index": 1, "source_date": "Day 1"},
)

# Day 2: Updated fact (auto-detected via contradiction)
mem.store_knowledge(
    content="Klaebo has 10 gold medals",
    concept="Klaebo medals",
    temporal_metadata={"temporal_index": 2, "source_date": "Day 2"},
)
# Result: (Day 2 fact)-[:SUPERSEDES]->(Day 1 fact)
""",
    """
subgraph = mem.retrieve_subgraph(
    query="python type features",
    max_nodes=20,
    similarity_threshold=0.3,
)

# Get LLM-ready context
context = subgraph.to_llm_context()
print(context)
""",
    """
# Default: sorted by confidence
context = subgraph.to_llm_context()

# Chronological: sorted by temporal_index
context = subgraph.to_llm_context(chronological=True)
""",
    """
name = extract_entity_name("Klaebo won 10 gold medals", "Klaebo medals")
# Returns: "klaebo"
""",
    """
# Export the full graph to a dict
data = mem.export_graph()
# Returns: {"nodes": [...], "edges": [...], "agent_name": "...", "exported_at": "..."}

# Import into a different memory instance
other_mem = HierarchicalMemory("other-agent", "/tmp/other_db")
other_mem.import_graph(data)
""",
    """
# These are equivalent:
mem.store_knowledge("Python is great", "python")
mem.store_fact("Python is great", "python")

# search_facts returns dicts instead of KnowledgeSubgraph
facts = mem.search_facts("python")
# [{"content": "Python is great", "concept": "python", "confidence": 0.8, ...}]
""",
    """
# Get recent discoveries from memory
discoveries = HierarchicalMemory.get_recent_discoveries(db_path, agent_name)

# Store a discovery
HierarchicalMemory.store_discovery(db_path, agent_name, discovery_dict)
""",
]


@pytest.fixture
def run(tmp_path: Path) -> dict[str, Any]:
    """The names that the examples leave, run in the order of the page; its folders lie in the test's."""
    names: dict[str, Any] = {
        "HierarchicalMemory": recollect.HierarchicalMemory,
        "MemoryCategory": MemoryCategory,
        "extract_entity_name": extract_entity_name,
        "db_path": str(tmp_path / "mem_db"),
        "agent_name": "my-agent",
        "discovery_dict": {"content": "The tests run twice", "confidence": 0.6, "file": "ci.yml"},
    }
    for example in EXAMPLES:
        exec(re.sub(r'"/tmp/(\w+)"', lambda found: repr(str(tmp_path / found.group(1))), example), names)
    return names


def test_every_example_runs_and_does_what_its_comments_say(run: dict[str, Any], tmp_path: Path) -> None:
    mem: HierarchicalMemory = run["mem"]
    by_content = {node.content: node for node in mem.get_all_knowledge()}
    assert by_content["Python was created by Guido van Rossum"].category is MemoryCategory.SEMANTIC
    assert by_content["Python was created by Guido van Rossum"].confidence == 0.95
    procedure = by_content["Step 1: Clone repo. Step 2: Run tests. Step 3: Deploy."]
    assert procedure.category is MemoryCategory.PROCEDURAL
    assert run["name"] == "klaebo"
    assert "Guido van Rossum" in run["context"]
    assert isinstance(run["subgraph"], KnowledgeSubgraph)
    assert set(run["data"]) == {"nodes", "edges", "agent_name", "exported_at"}
    assert run["data"]["agent_name"] == "my-agent"
    assert run["facts"][0]["content"].startswith("Python")
    assert {"content", "concept", "confidence"} <= set(run["facts"][0])
    assert [fact["confidence"] for fact in run["facts"] if fact["content"] == "Python is great"] == [0.8, 0.8]
    kinds = {edge["relationship"] for edge in run["data"]["edges"]}
    assert {"DERIVES_FROM", "SUPERSEDES", "TRANSITIONED_TO"} <= kinds
    other: HierarchicalMemory = run["other_mem"]
    assert other.export_graph()["nodes"] == run["data"]["nodes"]
    assert run["discoveries"] == []  # none had been stored yet
    (found,) = HierarchicalMemory.get_recent_discoveries(tmp_path / "mem_db", "my-agent")
    assert (found["content"], found["file"], found["confidence"]) == ("The tests run twice", "ci.yml", 0.6)


def test_the_newer_fact_supersedes_the_older_one(run: dict[str, Any]) -> None:
    mem: HierarchicalMemory = run["mem"]
    found = mem.retrieve_subgraph("How many medals does Klaebo have?")
    ids = {node.content: node.node_id for node in found.nodes}
    newer, older = ids["Klaebo has 10 gold medals"], ids["Klaebo has 9 gold medals"]
    edges = {(edge.source_id, edge.relationship, edge.target_id): edge for edge in found.edges}
    assert (newer, "SUPERSEDES", older) in edges
    assert edges[newer, "TRANSITIONED_TO", older].metadata == {
        "from_value": "10",
        "to_value": "9",
        "turn": 2,
        "transition_type": "update",
    }
    confidence = {node.content: node.confidence for node in found.nodes}
    assert confidence["Klaebo has 9 gold medals"] < confidence["Klaebo has 10 gold medals"] == 0.8
    context = found.to_llm_context(chronological=True)
    assert "1. [Klaebo medals] [Date: Day 1] [first] Klaebo has 9 gold medals" in context
    assert "2. [Klaebo medals] [Date: Day 2] [latest] Klaebo has 10 gold medals" in context
    assert "  - 9 -> 10 (turn 2)" in context
    assert "WARNING: Conflicting information found: 10 vs 9" in context


def test_a_fact_says_where_it_comes_from(run: dict[str, Any]) -> None:
    found = run["mem"].retrieve_subgraph("Norway olympics")
    assert (run["fact_id"], "DERIVES_FROM", run["episode_id"]) in {
        (edge.source_id, edge.relationship, edge.target_id) for edge in found.edges
    }
    assert "[Source: news-article-2024]" in found.to_llm_context()
    assert "DERIVES_FROM" in found.to_llm_context()
