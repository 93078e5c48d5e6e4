"""[3] `HierarchicalMemory`: the examples of its page as printed there, and each promise with its heading.

The import is another one, and `mem_db` and `other_db` stand for the paths. Elsewhere, in tests/compat: the weights of
similarity, edges above 0.3, names, amounts, dumps of the other library (test_hierarchical.py), chains in any order
(test_hierarchical_properties.py), several threads and processes (test_hierarchical_together.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.compat.hierarchical import (
    HierarchicalMemory,
    KnowledgeSubgraph,
    MemoryCategory,
    MemoryClassifier,
    extract_entity_name,
)

EXAMPLES = [
    """
mem = HierarchicalMemory("my-agent", mem_db)

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
other_mem = HierarchicalMemory("other-agent", other_db)
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


Names = dict[str, Any]


@pytest.fixture
def run(place: str, tmp_path: Path) -> Iterator[Names]:
    """The names that the examples leave, run in the order of the page, on each engine."""
    on_server = place.startswith(("neo4j", "bolt"))
    names: Names = {
        "HierarchicalMemory": recollect.HierarchicalMemory,
        "MemoryCategory": MemoryCategory,
        "extract_entity_name": extract_entity_name,
        "mem_db": place if on_server else str(tmp_path / "mem_db"),
        "other_db": place if on_server else str(tmp_path / "other_db"),
        "db_path": place if on_server else str(tmp_path / "mem_db"),
        "agent_name": "my-agent",
        "discovery_dict": {"content": "The tests run twice", "confidence": 0.6, "file": "ci.yml"},
    }
    for example in EXAMPLES:
        exec(example, names)
    yield names
    names["mem"].close()
    names["other_mem"].close()


def edges(subgraph: KnowledgeSubgraph) -> set[tuple[str, str, str]]:
    return {(edge.source_id, edge.relationship, edge.target_id) for edge in subgraph.edges}


@pytest.mark.parametrize(
    ("category", "keywords"),
    [
        ("episodic", ["happened", "event", "observed"]),
        ("procedural", ["step", "how to", "procedure", "recipe"]),
        ("prospective", ["plan", "goal", "future", "will", "todo"]),
        ("semantic", ["working", "Python was created by Guido van Rossum"]),
    ],
)
def test_each_keyword_of_the_table_means_its_category(category: str, keywords: list[str]) -> None:
    """[3] Memory Categories. The words of each row; none of them means working, which is only ever set."""
    assert {MemoryClassifier().classify(word) for word in keywords} == {MemoryCategory(category)}


def test_facts_are_stored_with_their_category(run: Names) -> None:
    """[3] Basic Storage. One is classified, one is told; what else was given comes back."""
    found = {node.content: node for node in run["mem"].get_all_knowledge()}
    python = found["Python was created by Guido van Rossum"]
    assert (python.category, python.confidence) == (MemoryCategory.SEMANTIC, 0.95)
    assert (python.concept, python.tags) == ("python-history", ["python", "history"])
    assert found["Step 1: Clone repo. Step 2: Run tests. Step 3: Deploy."].category is MemoryCategory.PROCEDURAL


def test_a_fact_says_where_it_comes_from(run: Names) -> None:
    """[3] Storing Episodes. The edge from the fact to its source, and the label of the source in a context."""
    found = run["mem"].retrieve_subgraph("Norway olympics")
    assert (run["fact_id"], "DERIVES_FROM", run["episode_id"]) in edges(found)
    assert "[Source: news-article-2024]" in found.to_llm_context()
    assert "DERIVES_FROM" in found.to_llm_context()


def test_the_newer_fact_supersedes_the_older_one(run: Names) -> None:
    """[3] SUPERSEDES Edges; TRANSITIONED_TO Edges. Both edges, what the second stores, and the older one less sure."""
    found = run["mem"].retrieve_subgraph("How many medals does Klaebo have?")
    ids = {node.content: node.node_id for node in found.nodes}
    newer, older = ids["Klaebo has 10 gold medals"], ids["Klaebo has 9 gold medals"]
    assert (newer, "SUPERSEDES", older) in edges(found)
    (transition,) = [edge for edge in found.edges if edge.relationship == "TRANSITIONED_TO"]
    assert (transition.source_id, transition.target_id) == (newer, older)
    assert transition.metadata == {"from_value": "10", "to_value": "9", "turn": 2, "transition_type": "update"}
    confidence = {node.content: node.confidence for node in found.nodes}
    assert confidence["Klaebo has 9 gold medals"] < confidence["Klaebo has 10 gold medals"] == 0.8


def test_values_are_told_in_the_order_of_time(run: Names) -> None:
    """[3] TRANSITIONED_TO Edges; LLM Context Formatting. The chain of three in the picture; what nothing resolves."""
    mem: HierarchicalMemory = run["mem"]
    mem.store_knowledge("Klaebo has 8 gold medals", "Klaebo medals", temporal_metadata={"temporal_index": 0.5})
    context = mem.retrieve_subgraph("How many medals does Klaebo have?").to_llm_context(chronological=True)
    told = [line.partition("] ")[2] for line in context.splitlines() if "gold medals (confidence" in line]
    assert [line.split(" Klaebo has ")[0].split()[-1] for line in told] == ["[first]", "[intermediate]", "[latest]"]
    assert [line.split(" Klaebo has ")[1].split()[0] for line in told] == ["8", "9", "10"]
    assert "  - 9 -> 10 (turn 2)" in context
    assert "WARNING" not in context
    mem.store_knowledge("Klaebo has 12 gold medals", "Klaebo medals")
    context = mem.retrieve_subgraph("How many medals does Klaebo have?").to_llm_context(chronological=True)
    (conflict,) = [line for line in context.splitlines() if "WARNING: Conflicting information found: " in line]
    assert set(conflict.partition("found: ")[2].split(" vs ")) == {"10", "12"}


def test_by_default_the_surest_fact_comes_first(run: Names) -> None:
    """[3] LLM Context Formatting. Numbered, with concept and confidence, and the relations behind."""
    context = run["mem"].retrieve_subgraph("Klaebo").to_llm_context()
    first, second = (line for line in context.splitlines() if "gold medals (confidence" in line)
    assert first.startswith("  1. [Klaebo medals]")
    assert first.endswith("Klaebo has 10 gold medals (confidence: 0.8)")
    assert second.endswith("Klaebo has 9 gold medals (confidence: 0.4)")
    assert "SUPERSEDES" in context.partition("Relationships:")[2]


def test_a_subgraph_holds_what_its_words_match(run: Names) -> None:
    """[3] Retrieve Subgraph. The example: facts about Python for a model, none about medals."""
    assert isinstance(run["subgraph"], KnowledgeSubgraph)
    assert "Guido van Rossum" in run["context"]
    assert "Klaebo" not in run["context"]
    assert len(run["subgraph"].nodes) <= 20


def test_facts_are_found_by_who_they_are_about(run: Names) -> None:
    """[3] Entity-Centric Retrieval. The name of the example, and its question in words that no fact has."""
    assert run["name"] == "klaebo"
    found = run["mem"].retrieve_subgraph("Which trophies did Klaebo win?")
    assert {"Klaebo has 9 gold medals", "Klaebo has 10 gold medals"} <= {node.content for node in found.nodes}


def test_a_graph_is_taken_to_another_agent(run: Names) -> None:
    """[3] Export / Import. The four entries of the export, and the same nodes and edges on the other side."""
    data = run["data"]
    assert set(data) == {"nodes", "edges", "agent_name", "exported_at"}
    assert data["agent_name"] == "my-agent"
    assert {edge["relationship"] for edge in data["edges"]} >= {"DERIVES_FROM", "SUPERSEDES", "TRANSITIONED_TO"}
    copy = run["other_mem"].export_graph()
    assert copy["nodes"] == data["nodes"]
    assert len(copy["edges"]) == len(data["edges"])


def test_aliases_do_what_they_stand_for(run: Names) -> None:
    """[3] Protocol-Compatible Aliases. Stored by either name; found as dictionaries, of the usual confidence."""
    assert {"content", "concept", "confidence"} <= set(run["facts"][0])
    assert [one["confidence"] for one in run["facts"] if one["content"] == "Python is great"] == [0.8, 0.8]
    assert len(run["mem"].get_all_facts(2)) == 2


def test_two_like_facts_are_linked(run: Names) -> None:
    """[3] How Similarity Works. The two of the aliases are the same text: 0.5 for words, 0.3 for the concept."""
    alike = [edge for edge in run["mem"].export_graph()["edges"] if edge["relationship"] == "SIMILAR_TO"]
    great = {node["node_id"] for node in run["mem"].export_graph()["nodes"] if node["content"] == "Python is great"}
    (weight,) = [edge["weight"] for edge in alike if {edge["source_id"], edge["target_id"]} == great]
    assert weight == pytest.approx(0.8)


def test_discoveries_are_kept_without_an_instance(run: Names) -> None:
    """[3] Static Utility Methods. None at first; what is stored is found again."""
    assert run["discoveries"] == []
    (found,) = HierarchicalMemory.get_recent_discoveries(run["db_path"], "my-agent")
    assert (found["content"], found["file"], found["confidence"]) == ("The tests run twice", "ci.yml", 0.6)
