"""`recollect show`: by number, id and title, around a message or whole, marked."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from tests.faces.conftest import CommandLine


def test_a_number_opens_the_hit_at_its_message_with_two_around_it(sample: CommandLine) -> None:
    found = sample("search", "nginx reverse proxy", "--json").document["results"][0]
    best = max(found["messages"], key=lambda message: message["score"])
    shown = sample("show", "1", "--json").document["messages"]
    assert [message["index"] for message in shown] == list(range(best["index"] - 2, best["index"] + 3))
    assert best["id"] in [message["id"] for message in shown if message["marks"]]


def test_matches_are_marked_and_pointed_at(sample: CommandLine) -> None:
    sample("search", "nginx reverse proxy")
    ran = sample("show", "1")
    assert "[nginx] [reverse] [proxy]" in ran.out
    assert "\n> ChatGPT  " in ran.out
    assert "Messages 40 to 44 of 50. All: recollect show " in ran.out


def test_a_title_shows_the_whole_conversation(sample: CommandLine) -> None:
    whole = sample("show", "Full Stack App Planning", "--json").document
    assert whole["conversation"]["title"] == "Full Stack App Planning"
    assert len(whole["messages"]) == 50


def test_around_takes_a_message_and_context_its_neighbours(sample: CommandLine) -> None:
    whole = sample("show", "full stack app planning", "--json").document["messages"]
    near = sample("show", "full stack app planning", "--around", whole[20]["id"][-6:], "-C", "1", "--json").document
    assert [message["index"] for message in near["messages"]] == [19, 20, 21]


def test_the_end_of_an_id_is_enough_and_so_is_the_exports_id(sample: CommandLine) -> None:
    whole = sample("show", "full stack app planning", "--json").document
    by_end = sample("show", whole["conversation"]["id"][-6:], "--json").document
    by_source = sample("show", whole["conversation"]["source_id"], "--json").document
    assert by_end == by_source == whole


@pytest.mark.parametrize(
    ("which", "words"), [("99", "There is no result 99"), ("no such title", "No conversation or message matches")]
)
def test_what_is_not_there_is_said_and_exits_1(sample: CommandLine, which: str, words: str) -> None:
    ran = sample("show", which)
    assert ran.code == 1
    assert words in ran.err


def test_a_title_that_means_several_lists_them(sample: CommandLine) -> None:
    ran = sample("show", "dough")
    assert ran.code == 2
    first, *several, hint = ran.err.splitlines()
    assert first == "'dough' matches several:"
    assert len(several) == 2
    for line in several:
        short, title = line.split(maxsplit=1)
        assert "dough" in title.lower()
        assert sample("show", short).out.startswith(title)
    assert hint == "Name one by these characters, or by more of its title."


def test_the_messages_around_one_are_those_of_the_chat(run: CommandLine, tmp_path: Path) -> None:
    store = tmp_path / "folded.db"
    with recollect.open(store, durable=False) as memory:
        first = memory.store_message("one", title="Count")
        for words, kind in (("two", "said"), ("thinking", "reasoning"), ("more", "reasoning"), ("three", "said")):
            memory.store_message(words, "assistant", conversation_id=first.conversation_id, kind=kind)
    shown = run("show", first.id, "--context", "2", "--json", "--store", store).document["messages"]
    assert [message["content"] for message in shown if message["kind"] == "said"] == ["one", "two", "three"]


def test_other_branches_and_folded_kinds_are_shown_on_request(run: CommandLine, tmp_path: Path) -> None:
    store = tmp_path / "branches.db"
    with recollect.open(store, durable=False) as memory:
        asked = memory.store_message("What is bassinage?", title="Bread")
        memory.store_message("Wetting by degrees.", "assistant", conversation_id=asked.conversation_id)
        memory.store_message("Late water.", "assistant", conversation_id=asked.conversation_id, parent_id=asked.id)
        memory.store_tool_call("web.search", '{"q": "bassinage"}', "three pages\nof results", asked.id)
    plain = run("show", "Bread", "--store", store)
    assert "on other branches" in plain.out
    whole = run("show", "Bread", "--store", store, "--all-branches", "--full")
    for words in ("Wetting by degrees.", "Late water.", "three pages", "another branch"):
        assert words in whole.out
    folded = run("show", "Bread", "--store", store, "--all-branches")
    assert "  of results" not in folded.out
    assert "web.search" in folded.out


def test_what_a_terminal_would_obey_is_not_printed(run: CommandLine, tmp_path: Path) -> None:
    store = tmp_path / "escape.db"
    with recollect.open(store, durable=False) as memory:
        asked = memory.store_message("red \033[31malert\033[0m and a bell \a", title="Escapes", speaker="A\033[1mna")
        memory.store_message("Noted.", "assistant", conversation_id=asked.conversation_id, model="m\033[31m1")
    assert "\033" not in run("show", "Escapes", "--store", store).out
    assert "\033" not in run("search", "alert bell", "--store", store).out


def test_the_last_code_of_an_answer_comes_alone(run: CommandLine) -> None:
    with recollect.open() as memory:
        asked = memory.store_message("How do I list files?", title="Shell")
        memory.store_message(
            "Either\n```sh\nls\n```\nor\n```sh\nfind . -type f |\n  sort\n```\nDone.",
            "assistant",
            conversation_id=asked.conversation_id,
        )
    assert run("show", "Shell", "--code").out == "find . -type f |\n  sort\n"
    assert run("show", "Shell", "--code", "--json").document == {"code": "find . -type f |\n  sort"}
    nothing = run("show", asked.id, "--code")
    assert (nothing.code, nothing.out) == (1, "")
    assert nothing.err.startswith("There is no code in this message.")
