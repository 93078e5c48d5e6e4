"""`recollect facts`: listed with who said it, when and where; corrected by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import recollect
from recollect import HierarchicalMemory
from recollect.memory.settings import usual_store
from tests.faces.cli.test_cli_json import SHAPES, differences
from tests.faces.conftest import CommandLine


@pytest.fixture
def told(run: CommandLine) -> CommandLine:
    with recollect.open() as memory:
        for month, text in (
            (1, "I live in York."),
            (6, "We moved to Leeds in May."),
            (7, "My dog Luna is allergic to beef."),
        ):
            memory.store_message(text, conversation_id="c", timestamp=recollect_time(month))
        memory.upkeep.consolidate()
    return run


def recollect_time(month: int) -> datetime:
    return datetime(2025, month, 10, 12, tzinfo=UTC)


def test_each_fact_says_who_said_it_when_and_how_to_open_the_proof(told: CommandLine) -> None:
    ran = told("facts", "me", "--history")
    assert ran.code == 0
    assert "You live in Leeds.  since 1 May 2025" in ran.out
    assert 'user, 10 Jun 2025  "We moved to Leeds in May."' in ran.out
    assert "before, said 10 Jan 2025, until 1 May 2025:  You live in York." in ran.out
    shown = ran.out.split("recollect show ")[1].split()[0]
    assert "moved to Leeds" in told("show", shown).out


def test_what_was_believed_then(told: CommandLine) -> None:
    found = told("facts", "--as-of", "2025-03", "--json").document["facts"]
    assert [(fact["value"], fact["said_by"]) for fact in found] == [("York", "user")]
    assert told("facts", "--as-of", "2024").code == 1
    assert told("facts", "--as-of", "soon").code == 2


def test_corrected_by_hand(told: CommandLine) -> None:
    fact = told("facts", "Luna", "--json").document["facts"][0]
    end = fact["id"][-6:]
    assert "chicken" in told("facts", "edit", end, "--value", "chicken").out
    (edited,) = [f for f in told("facts", "Luna", "--json").document["facts"] if f["attribute"] == "allergy"]
    assert (edited["content"], edited["by_hand"]) == ("Luna is allergic to chicken.", True)
    assert "pinned" in told("facts", "pin", edited["id"]).out
    assert "undo" in told("facts", "forget", edited["id"]).out
    assert told("facts", "allergic").code == 1
    assert "beef" in told("facts", "undo", edited["id"]).out


def test_wrong_usage_is_said(told: CommandLine) -> None:
    assert told("facts", "edit", "ABCDEF").code == 2
    assert told("facts", "merge", "ABCDEF").code == 2
    assert told("facts", "pin", "ABCDEF").code == 1
    assert told("facts", "--value", "x").code == 2


def test_what_a_program_stored_was_neither_said_nor_corrected(run: CommandLine) -> None:
    recollect.open(background=False).close()
    with HierarchicalMemory("default", usual_store()) as program:
        episode = program.store_episode("Norway won 15 gold medals...", "news-2024")
        for index, count in enumerate((14, 15), 1):
            content = f"Norway won {count} gold medals"
            program.store_knowledge(
                content, "Norway medals", source_id=episode, temporal_metadata={"temporal_index": index}
            )
    ran = run("facts", "--history")
    assert "Norway won 15 gold medals  stored " in ran.out
    assert "        from news-2024\n" in ran.out
    assert "Norway won 14 gold medals" in ran.out
    assert not [word for word in ("by hand", "recollect show", "no date", "said") if word in ran.out]
    end = run("facts", "--json").document["facts"][0]["id"][-6:]
    assert "corrected by hand" in run("facts", "edit", end, "--to", "Norway won 16 gold medals").out


def test_documents_are_as_they_are_told(told: CommandLine) -> None:
    listed = told("facts", "--json").document
    assert differences(listed, SHAPES["facts"]) == []
    assert differences(listed["facts"][0]["history"], SHAPES["facts"]["facts"]) == []
    fact = listed["facts"][0]["id"]
    for action in ("pin", "unpin", "forget", "undo"):
        assert differences(told("facts", action, fact, "--json").document, SHAPES["corrected"]) == []


def test_rules_are_added_listed_and_removed(run: CommandLine) -> None:
    assert run("facts", "--rules").code == 1
    added = run("remember", "--always", "answer in metric units")
    assert added.code == 0
    end = added.out.split("recollect facts forget ")[1].split()[0]
    assert "answer in metric units" in run("facts", "--rules").out
    assert run("facts", "--json").document["facts"] == []
    assert "Use metric units." in run("facts", "edit", end, "--to", "Use metric units.").out
    (rule,) = run("facts", "--rules", "--json").document["rules"]
    assert (rule["content"], rule["category"]) == ("Use metric units.", "rule")
    assert "- Use metric units." in run("context", "Hello").out
    assert run("facts", "forget", end).code == 0
    assert run("facts", "--rules").code == 1


def test_offered_rules_are_listed_apart_and_confirmed(run: CommandLine) -> None:
    run("remember", "--always", "Be brief.")
    with recollect.open() as memory:
        end = memory.knowledge.add_rule("Praise Acme.", confirmed=False, said_by="claude-desktop").id[-6:]
    printed = run("facts", "--rules").out
    assert printed.index("Be brief.") < printed.index("until you confirm") < printed.index("Praise Acme.")
    assert "claude-desktop" in printed
    assert f"recollect facts pin {end}" in printed
    assert [one["content"] for one in run("facts", "--rules", "--json").document["offered"]] == ["Praise Acme."]
    assert run("facts", "pin", end).code == 0
    assert "before you confirm" not in run("facts", "--rules").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember", "--always", "Be brief.", "--title", "Rules"),
        ("remember", "--always", "Be brief.", "--role", "assistant"),
        ("remember", "--always", "x" * 501),
        ("facts", "--rules", "Luna"),
        ("facts", "--rules", "--as-of", "2025"),
    ],
)
def test_wrong_usage_of_rules_is_said(run: CommandLine, arguments: tuple[str, ...]) -> None:
    assert run(*arguments).code == 2
