"""The commands `recollect entities`, `graph` and `topics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recollect
from tests.faces.cli.test_cli_json import SHAPES, differences
from tests.faces.conftest import CommandLine

SAID = {
    "a": ("We chose Next.js over React. Next.js improves SEO.", "PostgreSQL runs on Linux, says Maria Lopez."),
    "b": ("Kjell Berg bakes rye bread in Malmö.",),
    **{f"s{n}": (f"The surf in Ericeira is high today, number {n}, with offshore wind.",) for n in range(3)},
}


@pytest.fixture
def told(run: CommandLine, home: Path) -> CommandLine:
    """A memory with all of this in it, consolidated."""
    with recollect.open(home / "recollect" / "memory.db", durable=False) as memory:
        for conversation, words in SAID.items():
            for said in words:
                memory.store_message(said, conversation_id=conversation, title=f"Talk {conversation}")
        memory.upkeep.consolidate()
    return run


def shown(told: CommandLine, name: str, *words: str) -> Any:
    """What a command prints as JSON, after a look at its shape."""
    document = told(*words, "--json").document
    assert differences(document, SHAPES[name]) == []
    return document


def test_entities_are_listed_by_salience_and_told_with_their_names(told: CommandLine) -> None:
    listed = shown(told, "entities", "entities", "--type", "place")["entities"]
    assert [entity["name"] for entity in listed] == ["Ericeira", "Malmö"]
    assert "Kjell Berg" in told("entities").out
    assert told("entities", "postgresql").out.startswith("PostgreSQL  technology - 1 message")
    assert shown(told, "entity", "entities", "next.js")["entity"]["type"] == "technology"


def test_the_graph_tells_relations_and_where_they_were_said(told: CommandLine) -> None:
    ran = told("graph", "Next.js")
    assert "Next.js --[IMPROVES]--> SEO" in ran.out
    evidence = shown(told, "graph", "graph", "Next.js")["relations"][0]["evidence"]
    assert "We chose Next.js over React." in told("show", evidence[0]).out


def test_two_names_are_connected_in_words(told: CommandLine) -> None:
    assert told("graph", "React", "SEO").out.startswith("React <--[REPLACES]-- Next.js --[IMPROVES]--> SEO\n")
    assert shown(told, "paths", "graph", "Next.js", "SEO")["paths"][0]["text"] == "Next.js --[IMPROVES]--> SEO"
    ran = told("graph", "SEO", "Malmö")
    assert ran.code == 1
    assert ran.out.startswith("No path leads from SEO to Malmö.\n")
    assert "Next.js --[IMPROVES]--> SEO" in ran.out


def test_names_that_are_not_there_are_answered_with_the_nearest(told: CommandLine) -> None:
    ran = told("graph", "Malmoe")
    assert (ran.code, ran.err) == (1, "No entity is called 'Malmoe'. Did you mean: Malmö?\n")
    assert shown(told, "error", "graph", "Malmoe")["error"]["code"] == "not_found"
    ran = told("graph", "Maria", "Lopez", "Linux")
    assert ran.code == 2
    assert "Quote names" in ran.err


def test_only_names_that_are_near_are_suggested(told: CommandLine) -> None:
    assert told("graph", "Erice").err == "No entity is called 'Erice'. Did you mean: Ericeira?\n"
    assert told("graph", "Lopez").err == "No entity is called 'Lopez'. Did you mean: Maria Lopez?\n"
    assert told("graph", "Max").err == "No entity is called 'Max'. To see what there is: recollect entities\n"


def test_entities_and_relations_are_added(told: CommandLine) -> None:
    assert told("entities", "add", "Sam Berg", "--type", "person").out.startswith("Sam Berg  person - 0 messages")
    entity = shown(told, "entity", "entities", "add", "Sam Berg")["entity"]
    assert (entity["type"], entity["provenance"]) == ("person", ["by hand"])
    ran = told("relate", "Sam Berg", "LIVES_IN", "Malmö", "--since", "2024-05", "--until", "2024-12")
    assert ran.out.startswith("Sam Berg --[LIVES_IN]--> Malmö  since 1 May 2024, until 1 Jan 2025")
    relation = shown(told, "relate", "relate", "Sam Berg", "LIVES_IN", "Porto", "--since", "2025")["relation"]
    assert (relation["current"], relation["provenance"]) == (True, ["by hand"])
    assert "Sam Berg --[LIVES_IN]--> Porto  since" in told("graph", "Sam Berg").out
    assert "Malmö" not in told("graph", "Sam Berg").out
    assert "Sam Berg --[LIVES_IN]--> Malmö" in told("graph", "Sam Berg", "--past").out
    assert told("relate", "Sam Berg", "Porto").code == 2
    assert told("relate", "Sam Berg", "LIVES_IN!", "Porto").code != 0


def test_a_relation_names_the_message_that_it_is_drawn_from(told: CommandLine) -> None:
    own = shown(told, "graph", "graph", "Next.js")["relations"][0]["evidence"][0]
    relation = shown(told, "relate", "relate", "Tidepool", "DEPENDS_ON", "Kafka", "--from", own[-6:])["relation"]
    assert relation["evidence"] == [own]
    assert told("relate", "Tidepool", "DEPENDS_ON", "Redis", "--from", "Talk a").code == 2


def test_entities_are_corrected_by_hand(told: CommandLine) -> None:
    assert told("entities", "edit", "Malmö", "--name", "Malmo", "--type", "place").out.startswith("Malmo  place")
    assert shown(told, "entity", "entities", "merge", "React", "Next.js")["done"] == "merge"
    assert "React  said by hand" in told("entities", "Next.js").out
    assert told("entities", "unmerge", "React").out.startswith("React  ")
    assert "To undo: recollect entities undo" in told("entities", "forget", "Linux").out
    assert told("entities", "Linux").code == 1
    assert told("entities", "undo", "Linux").out.startswith("Linux  ")
    assert "pinned" in told("entities", "pin", "SEO").out
    assert told("entities").out.split("\n")[0].split()[-2:] == ["SEO", "[ok]"]
    for wrong in (("merge", "React"), ("edit",), ("pin", "a", "b")):
        assert told("entities", *wrong).code == 2
    assert told("entities", "--name", "x").code == 2


def test_topics_are_listed_with_their_messages_and_segments(told: CommandLine) -> None:
    topics = shown(told, "topics", "topics")["topics"]
    assert [topic["messages"] for topic in topics] == [3]
    assert topics[0]["label"] in told("topics").out
    assert len(shown(told, "topic", "topics", topics[0]["label"])["messages"]) == 3
    assert told("topics", topics[0]["id"][-6:], "-n", "1").out.count("\n") == 1
    segments = shown(told, "segments", "topics", "--conversation", "Talk s1")["segments"]
    assert [(s["messages"], s["topic"]) for s in segments] == [(1, topics[0]["label"])]
    (band,) = shown(told, "timeline", "timeline")["bands"]
    assert band["topic"] == topics[0]
    assert f"  {topics[0]['label']}  3 messages - {band['months'][0]['month']}" in told("timeline").out
    assert shown(told, "timeline", "timeline", "--topics", "0")["bands"] == []
    assert told("topics", "astronomy").err.startswith("No topic is called 'astronomy'.")
    assert told("topics", "x", "--conversation", "Talk a").code == 2


@pytest.mark.parametrize("command", ["facts", "entities", "topics", "summaries"])
def test_who_finds_nothing_is_told_what_to_do_where_that_helps(run: CommandLine, command: str) -> None:
    run("remember", "hello there")
    waiting = run(command)
    assert (waiting.code, "recollect worker --once" in waiting.err) == (1, True)
    with recollect.open() as memory:
        memory.upkeep.consolidate()
    after = run(command)
    assert (after.code, after.out.count("\n"), after.err) == (1, 1, "")
    assert " yet." in after.out


def test_what_is_named_and_not_there_is_not_called_yet_to_come(told: CommandLine) -> None:
    for words in (("facts", "zebra"), ("entities", "--type", "work"), ("summaries", "--kind", "l2")):
        assert told(*words).out.endswith(" match.\n")
    assert "more than 5 messages" in told("summaries", "Talk a").err


def test_an_empty_memory_has_none(run: CommandLine) -> None:
    run("remember", "hello there")
    assert (run("entities").code, run("entities").out) == (1, "No entities yet.\n")
    assert (run("topics").code, run("topics").out) == (1, "No topics yet.\n")
