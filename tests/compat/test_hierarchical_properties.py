"""What holds for any facts: chains, orders, exports."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.compat.hierarchical import (
    HierarchicalMemory,
    KnowledgeNode,
    KnowledgeSubgraph,
    MemoryCategory,
    compute_similarity,
)
from tests.properties import examples

FEW = settings(max_examples=examples(12), suppress_health_check=[HealthCheck.too_slow])
WORDS = st.sampled_from(["heron", "weir", "tide", "quay", "otter", "lamp", "müll", "重跑", "o'neil", '"q"', "𝔘"])
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
FACTS = st.fixed_dictionaries(
    {"content": TEXTS, "concept": st.one_of(st.just(""), TEXTS)},
    optional={
        "confidence": st.floats(0, 1),
        "tags": st.lists(WORDS, max_size=3),
        "category": st.sampled_from(list(MemoryCategory)),
        "temporal_metadata": st.fixed_dictionaries({"temporal_index": st.integers(-1, 5)}),
    },
)


def shown(memory: HierarchicalMemory, query: str) -> list[Any]:
    found = memory.retrieve_subgraph(query, max_nodes=50)
    return [found.nodes, sorted(found.edges, key=lambda e: (e.source_id, e.target_id, e.relationship))]


@FEW
@given(st.permutations(range(1, 9)))
def test_the_chain_is_the_same_in_whatever_order_its_values_come(order: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder, HierarchicalMemory("agent", folder) as memory:
        for index in order:
            memory.store_fact(f"The dose is {100 + index} mg", "Rex dose", temporal_metadata={"temporal_index": index})
        found = memory.retrieve_subgraph("dose", max_nodes=20)
        steps = [edge.metadata for edge in found.edges if edge.relationship == "TRANSITIONED_TO"]
        assert sorted((step["to_value"], step["from_value"], step["turn"]) for step in steps) == [
            (f"{100 + i} mg", f"{101 + i} mg", i + 1) for i in range(1, 8)
        ]
        superseded = [edge for edge in found.edges if edge.relationship == "SUPERSEDES"]
        assert len(superseded) == 7
        confidence = {node.metadata["temporal_index"]: node.confidence for node in found.nodes}
        assert confidence == {**dict.fromkeys(range(1, 8), 0.4), 8: 0.8}
        assert memory._space.check() == []


@FEW
@given(st.lists(FACTS, min_size=1, max_size=12), TEXTS)
def test_what_is_exported_and_imported_answers_the_same(facts: list[dict[str, Any]], query: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        HierarchicalMemory("one", Path(folder) / "one") as one,
        HierarchicalMemory("two", f"{folder}/two.db") as two,
    ):
        episode = one.store_episode("An old book", "book")
        for number, fact in enumerate(facts):
            one.store_fact(**fact, source_id=episode if number % 2 else "")
        two.import_graph(one.export_graph())
        assert two.export_graph()["nodes"] == one.export_graph()["nodes"]
        assert two.export_graph()["edges"] == one.export_graph()["edges"]
        assert shown(two, query) == shown(one, query)
        two.import_from_json(one.export_to_json())
        assert shown(two, query) == shown(one, query)
        for memory in (one, two):
            assert memory._space.check() == []


@FEW
@given(st.lists(FACTS, min_size=1, max_size=12))
def test_facts_are_linked_as_they_are_alike(facts: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder, HierarchicalMemory("agent", folder) as memory:
        names = [memory.store_fact(**fact) for fact in facts]
        alike = {
            (names[i], names[j])
            for i in range(len(facts))
            for j in range(i)
            if compute_similarity(facts[i], facts[j]) > 0.3
        }
        edges = memory.export_graph()["edges"]
        assert {(e["source_id"], e["target_id"]) for e in edges if e["relationship"] == "SIMILAR_TO"} == alike
        assert [fact["node_id"] for fact in memory.get_all_facts()] == names[::-1]


@given(st.lists(st.tuples(st.floats(0, 1), st.one_of(st.none(), st.integers(-3, 9))), min_size=1, max_size=9))
def test_both_orders_of_a_context_are_orders(given_nodes: list[tuple[float, int | None]]) -> None:
    nodes = [
        KnowledgeNode(
            str(n), MemoryCategory.SEMANTIC, f"<{n}>", "c", score, metadata={} if i is None else {"temporal_index": i}
        )
        for n, (score, i) in enumerate(given_nodes)
    ]
    graph = KnowledgeSubgraph(nodes, [], "q")
    by_confidence, by_time = graph.to_llm_context(), graph.to_llm_context(chronological=True)
    places = [by_confidence.index(f"<{n}>") for n in range(len(nodes))]
    in_order = sorted(range(len(nodes)), key=lambda n: places[n])
    assert [given_nodes[n][0] for n in in_order] == sorted((score for score, _ in given_nodes), reverse=True)
    in_time = sorted(range(len(nodes)), key=lambda n: by_time.index(f"<{n}>"))
    dated = [i for n in in_time if (i := given_nodes[n][1]) is not None]
    assert dated == sorted(dated)
    assert all(given_nodes[n][1] is not None for n in in_time[: len(dated)])
