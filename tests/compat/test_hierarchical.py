"""`HierarchicalMemory`: what is stored, linked, found and told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.compat.hierarchical import (
    HierarchicalMemory,
    KnowledgeEdge,
    KnowledgeNode,
    KnowledgeSubgraph,
    MemoryCategory,
    MemoryClassifier,
    compute_similarity,
    detect_contradiction,
    extract_entity_name,
)
from recollect.errors import InvalidInput
from recollect.record import Node, NodeKind
from recollect.store import Where


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[HierarchicalMemory]:
    with HierarchicalMemory("agent", tmp_path) as opened:
        yield opened


def at(index: float, **more: object) -> dict[str, object]:
    return {"temporal_index": index, **more}


def medals(memory: HierarchicalMemory, count: int, index: float, who: str = "Klaebo") -> str:
    return memory.store_knowledge(f"{who} has {count} gold medals", f"{who} medals", temporal_metadata=at(index))


def chain(memory: HierarchicalMemory) -> list[tuple[str, str]]:
    """What each value became."""
    found = [edge for edge in memory.export_graph()["edges"] if edge["relationship"] == "TRANSITIONED_TO"]
    return sorted((edge["metadata"]["to_value"], edge["metadata"]["from_value"]) for edge in found)


# --- words ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Step 1: open the door", MemoryCategory.PROCEDURAL),
        ("How to bake bread", MemoryCategory.PROCEDURAL),
        ("Follow these steps to bake a cake", MemoryCategory.PROCEDURAL),
        ("I plan to visit Paris", MemoryCategory.PROSPECTIVE),
        ("She planned it", MemoryCategory.PROSPECTIVE),
        ("todo: call back", MemoryCategory.PROSPECTIVE),
        ("It happened yesterday", MemoryCategory.EPISODIC),
        ("An event in the park", MemoryCategory.EPISODIC),
        ("The plan happened in two steps", MemoryCategory.PROCEDURAL),
        ("Plants use photosynthesis on this planet", MemoryCategory.SEMANTIC),
        ("William and Stephen eventually prevented it", MemoryCategory.SEMANTIC),
        ("", MemoryCategory.SEMANTIC),
    ],
)
def test_the_words_of_a_text_say_its_category(text: str, category: MemoryCategory) -> None:
    assert MemoryClassifier().classify(text) is category


@pytest.mark.parametrize(
    ("content", "concept", "name"),
    [
        ("Sarah Chen loves painting", "hobbies", "sarah chen"),
        ("Sarah Chen's hobby is painting", "", "sarah chen"),
        ("O\u2019Brien won the race", "", "o'brien"),
        ("The meeting with Al-Hassan", "", "al-hassan"),
        ("Don't panic", "", ""),
        ("Water freezes at zero", "", ""),
        ("The city of Paris is beautiful", "", "paris"),
        ("wins again", "Klæbo medals", "klæbo"),
        ("Zoë Müller wins", "", "zoë müller"),
        ("", "", ""),
    ],
)
def test_the_name_that_a_fact_is_about(content: str, concept: str, name: str) -> None:
    assert extract_entity_name(content, concept) == name


def test_similarity_weighs_contents_concepts_and_tags() -> None:
    fact = {"content": "red fast car", "concept": "vehicle", "tags": ["A"]}
    assert compute_similarity(fact, {"content": "red fast car"}) == 0.5
    assert compute_similarity(fact, {"concept": "vehicle"}) == 0.3
    assert compute_similarity(fact, {"tags": ["a"]}) == 0.2
    assert compute_similarity({}, {}) == 0.0


def test_a_contradiction_is_other_numbers_about_the_same() -> None:
    told = detect_contradiction("9 golds, 2024", "10 golds, 2024", "Klaebo medals", "medals")
    assert told == {"contradiction": True, "conflicting_values": "9 vs 10"}
    assert detect_contradiction("9 golds", "10 golds", "ski", "swim") == {}
    assert detect_contradiction("9 golds", "9 golds", "ski", "ski") == {}


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        ("The rent is $1,350 now", "The rent was $1,200", "$1,350 vs $1,200"),
        ("Die Miete beträgt 1.350,50 €", "Die Miete betrug 1.200 €", "1.350,50 € vs 1.200 €"),
        ("He takes 20mg", "He takes 15 mg", "20 vs 15"),
        ("Django 4.2.3", "Django 4.2.1", "4.2.3 vs 4.2.1"),
        ("due 2026-04-05", "due 2026-04-12", "2026-04-05 vs 2026-04-12"),
        ("He takes 20mg", "He takes 5 ml", "20mg vs 5 ml"),
        ("He takes 15mg", "He takes 15 mg", ""),
        ("She weighs 0.5 kg", "She weighs 500 g", ""),
        ("The rent is $1,200", "The rent is $1200", ""),
        ("9 golds", "9 kg", ""),
        ("won his 10th gold medal", "has 9 gold medals", "10 vs 9"),
        ("won his 10th gold medal", "won his 9th gold medal", "10 vs 9"),
        ("finished 15th", "finished 12th", "15 vs 12"),
        ("won his 10th gold medal", "has 10 gold medals", ""),
        ("has 9 medals as of February 12th", "has 9 medals as of February 8th", ""),
    ],
)
def test_amounts_are_compared_whole_and_whatever_their_spelling(one: str, other: str, values: str) -> None:
    assert detect_contradiction(one, other, "value", "value").get("conflicting_values", "") == values


def test_a_price_becomes_another(memory: HierarchicalMemory) -> None:
    for index, rent in enumerate(("$1,200", "$1,350"), 1):
        memory.store_knowledge(f"The rent of the flat is {rent}", "flat rent", temporal_metadata=at(index))
    assert chain(memory) == [("$1,200", "$1,350")]


# --- storing -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["", "  ", "../x", "a b", "-a", "a" * 65, "a\n"])
def test_an_agent_needs_a_proper_name(tmp_path: Path, name: str) -> None:
    if name.strip() == "a":
        HierarchicalMemory(name, tmp_path).close()
        return
    with pytest.raises(ValueError, match="agent_name"):
        HierarchicalMemory(name, tmp_path)


@pytest.mark.parametrize("content", ["", "  \n", "\0"])
def test_there_is_no_fact_without_words(memory: HierarchicalMemory, content: str) -> None:
    for store in (memory.store_knowledge, memory.store_episode):
        with pytest.raises(ValueError, match="content cannot be empty"):
            store(content)
    assert memory.get_all_facts() == []


def test_a_path_may_be_a_folder_or_a_file(tmp_path: Path) -> None:
    for path in ("new_folder", "with.dot", "one.db", "one.db"):
        with HierarchicalMemory("agent", str(tmp_path / path)) as memory:
            memory.store_fact("kept")
    assert (tmp_path / "new_folder" / "memory.db").is_file()
    assert (tmp_path / "with.dot" / "memory.db").is_file()
    with HierarchicalMemory("agent", tmp_path / "one.db") as memory:
        assert len(memory.get_all_facts()) == 2


def test_what_is_stored_comes_back_as_it_was_given(memory: HierarchicalMemory) -> None:
    content = 'Dose: 2.50 mg "b.i.d." — naïve \U0001f9ea ½\n\tline two; DROP TABLE x; --'
    metadata = {"source_date": "2024-01-01", "nested": {"list": [1, 2.5, None]}}
    name = memory.store_knowledge(
        content, "ibu'profen", 0.55, MemoryCategory.WORKING, "no-such-episode", ["a", "B"], metadata
    )
    (found,) = memory.get_all_knowledge()
    assert (found.node_id, found.content, found.concept, found.confidence) == (name, content, "ibu'profen", 0.55)
    assert (found.category, found.tags, found.source_id) == (MemoryCategory.WORKING, ["a", "B"], "no-such-episode")
    assert found.metadata == {"category": "working", **metadata}
    assert found.created_at
    assert memory.get_statistics()["derives_from_edges"] == 0


@pytest.mark.parametrize("wrong", [5, -1, 1.01, float("nan"), float("inf"), "high", "0.5", None, True])
def test_a_confidence_is_a_number_from_0_to_1(memory: HierarchicalMemory, wrong: Any) -> None:
    memory.store_fact("sure", confidence=1)
    memory.store_fact("a guess", confidence=0)
    with pytest.raises(InvalidInput, match="confidence") as told:
        memory.store_fact("wrong", confidence=wrong)
    assert "from 0 to 1" in str(told.value.hint)
    assert [fact["confidence"] for fact in memory.get_all_facts()] == [0.0, 1.0]


def test_a_category_is_one_of_the_five(memory: HierarchicalMemory) -> None:
    memory.store_knowledge("by its value", category="procedural")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="'bogus' is no category") as told:
        memory.store_knowledge("wrong", category="bogus")  # type: ignore[arg-type]
    assert "prospective" in str(told.value.hint)
    assert [node.category.value for node in memory.get_all_knowledge()] == ["procedural"]


def test_half_a_character_and_a_very_long_text_are_stored(memory: HierarchicalMemory) -> None:
    memory.store_fact("broken \ud83d here", "odd")
    memory.store_fact("word " * 200_000 + "needle", "long")
    assert memory.search_facts("broken")[0]["content"] == "broken \ufffd here"
    assert len(memory.search_facts("needle")[0]["content"]) == 1_000_006


def test_the_same_content_twice_is_two_facts_that_are_alike(memory: HierarchicalMemory) -> None:
    first, second = (memory.store_fact("The quay closes at ten", "quay") for _ in range(2))
    edges = memory.export_graph()["edges"]
    assert [(e["source_id"], e["target_id"], e["relationship"], e["weight"]) for e in edges] == [
        (second, first, "SIMILAR_TO", 0.8)
    ]


def test_an_old_fact_is_found_to_be_alike_among_many(memory: HierarchicalMemory) -> None:
    old = memory.store_fact("Common words are the red thread here", "thread colour 3")
    for number in range(130):
        memory.store_fact(f"The common words number {number} are in the house", "house")
    new = memory.store_fact("Common words are the red thread now", "thread colour 5")
    assert (new, old) in {
        (e["source_id"], e["target_id"]) for e in memory.export_graph()["edges"] if e["relationship"] == "SIMILAR_TO"
    }


# --- chains --------------------------------------------------------------------------------------------------------
def test_values_form_a_chain_over_any_number_of_updates(memory: HierarchicalMemory) -> None:
    ids = [medals(memory, 8 + i, i + 1) for i in range(5)]
    assert chain(memory) == [("10", "11"), ("11", "12"), ("8", "9"), ("9", "10")]
    found = memory.retrieve_subgraph("Klaebo")
    places = {node.node_id: node.metadata.get("chain_position") for node in found.nodes}
    assert [places[i] for i in ids] == ["first", *["intermediate"] * 3, "latest"]
    by_id = {node.node_id: node for node in found.nodes}
    assert by_id[ids[0]].metadata["superseded_by"] == ids[1]
    assert by_id[ids[4]].confidence == 0.8
    assert by_id[ids[3]].confidence == by_id[ids[0]].confidence == 0.4
    context = found.to_llm_context()
    assert context.index("  - 8 -> 9 (turn 2)") < context.index("  - 11 -> 12 (turn 5)")
    assert context.index("Klaebo has 12") < context.index("Klaebo has 11")


def test_a_fact_that_comes_late_takes_its_place_in_the_chain(memory: HierarchicalMemory) -> None:
    for count, index in ((8, 1), (10, 3), (11, 4), (9, 2), (7, 0.5)):
        medals(memory, count, index)
    assert chain(memory) == [("10", "11"), ("7", "8"), ("8", "9"), ("9", "10")]
    assert {f["content"]: f["confidence"] for f in memory.get_all_facts()}["Klaebo has 11 gold medals"] == 0.8


def test_only_the_same_of_the_same_is_superseded(memory: HierarchicalMemory) -> None:
    medals(memory, 9, 1)
    medals(memory, 8, 2, "Bolt")
    memory.store_knowledge("Klaebo is 27 years old", "Klaebo age", temporal_metadata=at(3))
    medals(memory, 9, 7)  # the same again
    memory.store_knowledge("Klaebo has 3 gold medals", "Klaebo medals")  # without a place in time
    memory.store_knowledge("Klaebo has 4 gold medals", "Klaebo medals", temporal_metadata={"temporal_index": "x"})
    assert chain(memory) == []


@pytest.mark.parametrize("metadata", [None, {"temporal_index": 0}])
def test_a_fact_with_a_place_replaces_one_without(memory: HierarchicalMemory, metadata: Any) -> None:
    memory.store_knowledge("Klaebo has 9 gold medals", "Klaebo medals", temporal_metadata=metadata)
    medals(memory, 10, 2)
    medals(memory, 11, 3)
    assert chain(memory) == [("10", "11"), ("9", "10")]
    assert {fact["content"]: fact["confidence"] for fact in memory.get_all_facts()} == {
        "Klaebo has 9 gold medals": 0.4,
        "Klaebo has 10 gold medals": 0.4,
        "Klaebo has 11 gold medals": 0.8,
    }


def test_what_comes_late_and_begins_a_chain_replaces_nothing_without_a_place(memory: HierarchicalMemory) -> None:
    medals(memory, 10, 2)
    memory.store_knowledge("Klaebo has 3 gold medals", "Klaebo medals")
    medals(memory, 9, 1)
    assert chain(memory) == [("9", "10")]


def test_an_ordinal_is_a_value_like_any_number(memory: HierarchicalMemory) -> None:
    memory.store_knowledge("Klaebo has 9 gold medals", "Klaebo medals", temporal_metadata=at(1))
    memory.store_knowledge("Klaebo won his 10th gold medal today", "Klaebo medals", temporal_metadata=at(2))
    assert chain(memory) == [("9", "10")]
    assert "  - 9 -> 10 (turn 2)" in memory.retrieve_subgraph("Klaebo").to_llm_context()


def test_a_concept_in_the_plural_is_the_same(memory: HierarchicalMemory) -> None:
    memory.store_knowledge("Klaebo has 9 gold medals", "Klaebo medals", temporal_metadata=at(1))
    memory.store_knowledge("Klaebo has 10 gold medals", "Klaebo medal", temporal_metadata=at(2))
    assert chain(memory) == [("9", "10")]
    assert detect_contradiction("9 golds", "10 golds", "medals", "medal")


def test_a_transition_names_what_changed(memory: HierarchicalMemory) -> None:
    for index, count in enumerate((9, 15, 16), 1):
        content = f"Norway won {count} gold medals in 2024 Olympics"
        memory.store_knowledge(content, "Norway medals", temporal_metadata=at(index))
    assert chain(memory) == [("15", "16"), ("9", "15")]


@pytest.mark.parametrize("concept", ["olympics medals", "Olympics medals", "medals"])
def test_others_of_whom_something_is_told_replace_nobody(memory: HierarchicalMemory, concept: str) -> None:
    stored = [("Norway", 15), ("Sweden", 5), ("Norway", 16), ("Sweden", 7)]
    for index, (who, count) in enumerate(stored, 1):
        content = f"{who} won {count} gold medals in 2024 Olympics"
        memory.store_knowledge(content, concept, temporal_metadata=at(index))
    assert chain(memory) == [("15", "16"), ("5", "7")]
    assert "WARNING" not in memory.retrieve_subgraph("gold medals").to_llm_context()


@pytest.mark.parametrize("later", ["Rent of the flat: 1350", "Now the flat costs a rent of 1350", "Flat rent is 1350"])
def test_a_capital_at_the_beginning_is_no_other_name(memory: HierarchicalMemory, later: str) -> None:
    memory.store_knowledge("The rent of the flat is 1200", "flat rent", temporal_metadata=at(1))
    memory.store_knowledge(later, "flat rent", temporal_metadata=at(2))
    assert chain(memory) == [("1200", "1350")]


def test_a_long_chain_ends_in_a_subgraph_of_the_size_that_was_asked_for(memory: HierarchicalMemory) -> None:
    for i in range(60):
        medals(memory, i, i + 1)
    found = memory.retrieve_subgraph("Klaebo medals", max_nodes=10)
    assert len(found.nodes) == 10
    assert found.nodes[0].content == "Klaebo has 59 gold medals"


# --- finding -------------------------------------------------------------------------------------------------------
def test_keywords_are_found_in_content_and_concept_be_it_within_words(memory: HierarchicalMemory) -> None:
    memory.store_fact("Plants convert light", "photosynthesis")
    memory.store_fact("The Photosynthetic rate is high", "leaf")
    memory.store_fact("Nothing of that", "stone")
    assert len(memory.search_facts("photosynth")) == 2
    assert len(memory.search_facts("SYNTHE")) == 2
    assert memory.search_facts("of is") == []
    assert memory.search_facts("") == memory.search_facts("   ") == memory.search_facts("x", max_nodes=0) == []


def test_short_keywords_are_found_as_whole_words(memory: HierarchicalMemory) -> None:
    for content in (
        "我住在東京",
        "The UK left in 2020",
        "Go compiles fast",
        "Ukraine has a duke",
        "Google ranks pages",
    ):
        memory.store_fact(content, "")

    def found(query: str) -> list[str]:
        return [fact["content"] for fact in memory.search_facts(query)]

    assert found("東京") == ["我住在東京"]
    assert found("When did the UK leave?") == ["The UK left in 2020"]
    assert found("Go") == ["Go compiles fast"]
    assert [node.content for node in memory.search_by_concept(["UK", "go"])] == [
        "The UK left in 2020",
        "Go compiles fast",
    ]
    assert [node.content for node in memory.retrieve_by_entity("UK")] == ["The UK left in 2020"]
    assert found("is it of") == []


def test_similar_facts_are_found_one_step_away(memory: HierarchicalMemory) -> None:
    memory.store_fact("The heron stands near the weir", "bird")
    memory.store_fact("The egret stands near the weir", "bird")
    assert len(memory.search_facts("heron")) == 2
    assert len(memory.search_facts("heron", similarity_threshold=0.9)) == 1


def test_an_entity_is_found_by_its_name(memory: HierarchicalMemory) -> None:
    memory.store_fact("Sarah Chen plays the piano", "music")
    memory.store_fact("Piano tuning is costly", "music")
    assert [node.content for node in memory.retrieve_by_entity("sarah")] == ["Sarah Chen plays the piano"]
    assert memory.retrieve_by_entity("Nobody") == memory.retrieve_by_entity(" ") == []
    assert len(memory.search_by_concept(["piano", "xx"])) == 2


def test_facts_are_counted_and_listed(memory: HierarchicalMemory) -> None:
    memory.store_fact("Sarah Chen plays the piano", "music")
    memory.store_fact("Bach wrote fugues", "music")
    memory.store_fact("A brief", "SUMMARY")
    assert memory.execute_aggregation("count_total")["count"] == 3
    assert memory.execute_aggregation("list_concepts")["items"] == ["music"]
    assert memory.execute_aggregation("count_by_concept", "MUS")["items"] == {"music": 2}
    assert "sarah chen" in memory.execute_aggregation("list_entities")["items"]
    assert "error" in memory.execute_aggregation("nonsense")
    assert memory.get_statistics()["semantic_nodes"] == 3


def test_what_the_agent_knows_is_counted_like_all_else(tmp_path: Path) -> None:
    with HierarchicalMemory("agent", tmp_path) as memory:
        memory.store_episode("The games are over.", "news")
        for i in range(3):
            medals(memory, 8 + i, i + 1)
        told = memory.get_statistics()
    with recollect.open(tmp_path / "memory.db", namespace="agent", background=False) as opened:
        counted = opened.upkeep.stats().by_node
    assert counted == {"fact": 1, "past": 2, "episode": 1}
    assert told["semantic_nodes"] == counted["fact"] + counted["past"]
    assert told["episodic_nodes"] == counted["episode"]


def test_agents_in_one_place_do_not_see_each_other(tmp_path: Path) -> None:
    with HierarchicalMemory("one", tmp_path) as one, HierarchicalMemory("two", tmp_path) as two:
        one.store_fact("The secret is a zeppelin", "secret")
        two.store_fact("The secret is a balloon", "secret")
        assert [fact["content"] for fact in two.search_facts("secret")] == ["The secret is a balloon"]
        assert two.export_graph()["edges"] == []


# --- context -------------------------------------------------------------------------------------------------------
def test_an_empty_subgraph_says_so() -> None:
    assert KnowledgeSubgraph(query="x").to_llm_context() == "No relevant knowledge found."


def test_both_orders_and_all_sections_of_a_context() -> None:
    nodes = [
        KnowledgeNode("aaaaaaaaaa", MemoryCategory.SEMANTIC, "A", "c", 0.5, metadata={"temporal_index": 2}),
        KnowledgeNode("bbbbbbbbbb", MemoryCategory.SEMANTIC, "B", "c", 0.9, metadata={"temporal_order": "Day 1"}),
        KnowledgeNode("cccccccccc", MemoryCategory.SEMANTIC, "C", "c", 0.7, metadata={"temporal_index": 1}),
    ]
    edges = [
        KnowledgeEdge(
            "aaaaaaaaaa", "cccccccccc", "TRANSITIONED_TO", 1.0, {"from_value": "5", "to_value": "3", "turn": 2}
        ),
        KnowledgeEdge(
            "aaaaaaaaaa", "bbbbbbbbbb", "SIMILAR_TO", 0.62, {"contradiction": True, "conflicting_values": "3 vs 5"}
        ),
    ]
    text = KnowledgeSubgraph(nodes, edges, "q").to_llm_context()
    assert text == (
        "Knowledge graph context for: q\n\n"
        "Facts:\n  1. [c] B (confidence: 0.9)\n  2. [c] C (confidence: 0.7)\n  3. [c] A (confidence: 0.5)\n\n"
        "Transition history:\n  - 3 -> 5 (turn 2)\n\n"
        "Contradictions detected:\n  - WARNING: Conflicting information found: 3 vs 5\n\n"
        "Relationships:\n"
        "  - TRANSITIONED_TO: 3 -> 2\n"
        "  - SIMILAR_TO: 1, 3 (weight: 0.62)"
    )
    chronological = KnowledgeSubgraph(nodes, [], "q").to_llm_context(chronological=True)
    assert chronological.endswith(
        "Facts (in chronological order):\n  1. [c] C (confidence: 0.7)\n  2. [c] A (confidence: 0.5)\n"
        "  3. [c] [Time: Day 1] B (confidence: 0.9)"
    )


def test_relationships_cost_less_than_the_facts_that_they_relate(memory: HierarchicalMemory) -> None:
    source = memory.store_episode("The minutes of the meeting.", "minutes")
    for month in range(20):
        memory.store_fact(
            f"The budget of the harbour project is {month + 100} thousand euros", "budget", source_id=source
        )
    found = memory.retrieve_subgraph("harbour budget")
    assert len(found.edges) == 20 + 190
    facts, _, rest = found.to_llm_context().partition("\n\nContradictions detected:")
    _, _, related = rest.partition("\n\nRelationships:\n")
    assert len(facts.splitlines()) > 20
    assert len(rest) < len(facts) / 3
    assert related.splitlines() == [f"  - DERIVES_FROM {source[:8]}..: 1-20", related.splitlines()[1]]
    assert re.fullmatch(r"  - SIMILAR_TO: 1-20 \(weight: 0\.\d\d( to 0\.\d\d)?\)", related.splitlines()[1])


def test_a_history_of_values_is_a_line_and_names_each_value_once(memory: HierarchicalMemory) -> None:
    for i in range(12):
        medals(memory, 8 + i, i + 1)
    context = memory.retrieve_subgraph("Klaebo").to_llm_context(chronological=True)
    assert "  - SUPERSEDES: 12 -> 11 -> 10 -> 9 -> 8 -> 7 -> 6 -> 5 -> 4 -> 3 -> 2 -> 1\n" in context
    assert re.findall(r"  - (\d+) -> \d+ \(turn", context) == [str(8 + i) for i in range(11)]
    assert "WARNING" not in context


def test_a_conflict_that_nothing_resolves_is_a_warning(memory: HierarchicalMemory) -> None:
    for i in range(3):
        memory.store_knowledge(f"Klaebo has {8 + i} gold medals", "Klaebo medals")
    (warning,) = re.findall("Conflicting information found: (.*)", memory.retrieve_subgraph("Klaebo").to_llm_context())
    assert set(warning.split(" vs ")) == {"8", "9", "10"}


def test_a_correction_changes_what_contradicts(tmp_path: Path) -> None:
    with HierarchicalMemory("agent", tmp_path) as memory:
        _, second = (memory.store_knowledge(f"Klaebo has {n} gold medals", "Klaebo medals") for n in (9, 10))

        def warnings() -> list[str]:
            return re.findall("found: (.*)", memory.retrieve_subgraph("Klaebo").to_llm_context())

        assert warnings() == ["10 vs 9"]
        with recollect.open(tmp_path / "memory.db", namespace="agent", background=False) as opened:
            opened.knowledge.edit_fact(second, "Klaebo has 11 gold medals")
            assert warnings() == ["11 vs 9"]
            opened.knowledge.edit_fact(second, "Klaebo has 9 gold medals")
        assert warnings() == []
        assert not any("contradiction" in edge["metadata"] for edge in memory.export_graph()["edges"])


def test_what_is_related_apart_is_listed_apart() -> None:
    nodes = [KnowledgeNode(name * 10, MemoryCategory.SEMANTIC, name, "c") for name in "abcdef"]
    pairs = [("a", "b"), ("c", "d"), ("b", "d"), ("e", "f")]
    edges = [KnowledgeEdge(one * 10, other * 10, "SIMILAR_TO", 0.5) for one, other in pairs]
    edges += [KnowledgeEdge("a" * 10, "unknown-source", "DERIVES_FROM"), KnowledgeEdge("c" * 10, "x", "LATER")]
    assert KnowledgeSubgraph(nodes, edges, "q").to_llm_context().partition("Relationships:\n")[2].splitlines() == [
        "  - SIMILAR_TO: 1-4 (weight: 0.50)",
        "  - SIMILAR_TO: 5-6 (weight: 0.50)",
        "  - DERIVES_FROM unknown-..: 1",
        "  - LATER: 3, x.. (weight: 1.00)",
    ]


# --- export and import ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("data", [{}, [], None, {"facts": []}])
def test_what_is_no_export_replaces_nothing(memory: HierarchicalMemory, data: Any) -> None:
    memory.store_fact("Klebb owns 3 belts", "Klebb")
    with pytest.raises(ValueError, match="no export"):
        memory.import_from_json(data)
    assert [fact["content"] for fact in memory.get_all_facts()] == ["Klebb owns 3 belts"]


def test_what_was_drawn_from_conversations_is_not_replaced(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", namespace="agent", durable=False) as talks:
        talks.store_message("I live in York.")
        talks.upkeep.consolidate()
        with HierarchicalMemory("agent", tmp_path) as memory:
            memory.store_fact("Klebb owns 3 belts", "Klebb")
            memory.import_from_json({"semantic_nodes": []})
        assert [fact.content for fact in talks.facts()] == ["The user lives in York."]


def test_importing_twice_is_importing_once(memory: HierarchicalMemory) -> None:
    medals(memory, 9, 1)
    medals(memory, 10, 2)
    data = memory.export_graph()
    again = memory.import_graph(data)
    assert (again["skipped"], again["edges_imported"]) == (2, 0)
    assert memory.export_graph()["nodes"] == data["nodes"]
    assert memory.import_from_json(memory.export_to_json())["semantic_nodes_imported"] == 2
    assert memory.export_graph()["nodes"] == data["nodes"]
    assert memory.export_graph()["edges"] == data["edges"]


def test_an_export_of_the_other_library_is_taken_in(memory: HierarchicalMemory) -> None:
    def theirs(name: str, content: str, index: int) -> dict[str, object]:
        return {"memory_id": name, "content": content, "concept": "Klaebo medals", "confidence": 0.8,
                "source_id": "e", "tags": ["ski"], "metadata": {"category": "semantic", "temporal_index": index},
                "created_at": "2026-01-01T00:00:00", "entity_name": "klaebo"}  # fmt: skip

    data = {
        "format_version": "1.0",
        "semantic_nodes": [theirs("a", "Klaebo has 9", 1), theirs("b", "Klaebo has 10", 2), {"content": "no id"}],
        "episodic_nodes": [{"memory_id": "e", "content": "An article", "source_label": "news"}],
        "similar_to_edges": [{"source_id": "b", "target_id": "a", "weight": 0.9, "metadata": {"contradiction": True}}],
        "derives_from_edges": [{"source_id": "a", "target_id": "e", "extraction_method": "llm", "confidence": 1.0}],
        "supersedes_edges": [{"source_id": "b", "target_id": "a", "reason": "Updated", "temporal_delta": "1 -> 2"}],
    }
    assert memory.import_from_json(data) == {
        "semantic_nodes_imported": 2,
        "episodic_nodes_imported": 1,
        "edges_imported": 3,
        "skipped": 0,
        "errors": 1,
    }
    found = memory.retrieve_subgraph("Klaebo")
    assert [(n.content, n.confidence, n.metadata["chain_position"]) for n in found.nodes] == [
        ("Klaebo has 10", 0.8, "latest"),
        ("Klaebo has 9", 0.4, "first"),
    ]
    assert found.nodes[0].metadata["source_label"] == "news"
    with pytest.raises(ValueError, match="no nodes"):
        memory.import_graph({"edges": []})


def test_what_is_stored_is_said_and_superseded_facts_have_an_end(memory: HierarchicalMemory) -> None:
    medals(memory, 9, 1)
    medals(memory, 10, 2)
    with memory._space.view() as view:
        facts = view.find(Node, Where(kinds=(NodeKind.FACT.value,), order="newest")).items
    assert [(fact.state, fact.key, fact.origin.value) for fact in facts] == [
        ("live", "klaebo", "said"),
        ("superseded", "klaebo", "said"),
    ]
    assert facts[1].valid_to == facts[0].valid_from
    assert memory._space.check() == []
