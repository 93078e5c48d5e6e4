"""`recollect search` on the screen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import recollect
from recollect.testing import FakeModel
from tests.faces.conftest import CommandLine


def test_a_hit_shows_title_source_day_speaker_and_the_words_in_brackets(sample: CommandLine) -> None:
    ran = sample("search", "nginx", "reverse", "proxy")
    assert ran.code == 0
    first, *messages = ran.out.splitlines()[:3]
    assert first.startswith("1  Full Stack App Planning")
    assert "ChatGPT - 13 Jan 2024" in first
    assert {message.removeprefix("   >").split()[0] for message in messages} == {"you", "ChatGPT"}
    assert "[nginx] [reverse] [proxy]" in next(message for message in messages if message.startswith("   > "))
    assert ran.out.splitlines()[-1].endswith("recollect show 1 - --full - --why - --json")
    assert ran.err == ""


def test_marks_are_bold_and_underlined_in_colour(sample: CommandLine) -> None:
    ran = sample("search", "nginx reverse proxy", "--color", "always")
    assert "\033[1;4mnginx\033[0m" in ran.out
    assert "[nginx]" not in ran.out


def test_filters_beside_and_within_the_query_are_the_same(sample: CommandLine) -> None:
    beside = sample("search", "rate limits", "--source", "claude", "--since", "2025", "--json").document
    within = sample("search", "rate limits source:claude since:2025", "--json").document
    assert beside["results"] == within["results"] != []
    assert {result["conversation"]["source"] for result in beside["results"]} == {"claude"}


def test_grouped_by_message_each_result_is_one_message(sample: CommandLine) -> None:
    found = sample("search", "nginx", "--group-by", "message", "--limit", "4", "--json").document["results"]
    assert [len(result["messages"]) for result in found] == [1, 1, 1, 1]


def test_only_one_conversation_is_searched_with_in(sample: CommandLine) -> None:
    found = sample("search", "which one", "--in", "Which wave forecast API", "--json").document["results"]
    assert {result["conversation"]["title"] for result in found} == {"Which wave forecast API"}


def test_why_says_rank_terms_and_words(sample: CommandLine) -> None:
    ran = sample("search", "nginx reverse proxy", "--why")
    why = next(line for line in ran.out.splitlines() if "why: rank 1 " in line)
    assert "contains nginx, reverse, proxy" in why


def test_nothing_found_says_where_and_what_else_would_find_and_exits_1(sample: CommandLine) -> None:
    ran = sample("search", '"full stack" source:openai')
    assert ran.code == 1
    first, other = ran.out.splitlines()
    assert first == "Nothing found in 119 conversations."
    assert "without the filters: " in other
    narrow = sample("search", '"reverse proxy"', "--source", "openai")
    assert narrow.out.splitlines()[0] == "Nothing found in 19 OpenAI conversations."
    assert "without --source openai: " in narrow.out
    assert "  without --in zzz: 9 messages\n" in sample("search", "kiln", "--in", "zzz").out  # those with the word


def test_a_misspelt_word_is_told_what_was_meant(run: CommandLine) -> None:
    run("remember", "the kubernetes ingress lost its certificate")
    ran = run("search", '"kubrenetes ingress"')
    assert ran.code == 1
    assert '\nDid you mean: "kubernetes ingress" (1 message)\n' in ran.out


def test_nothing_found_in_json_is_an_empty_list_and_exit_1(sample: CommandLine) -> None:
    ran = sample("search", '"no such phrase anywhere"', "--json")
    assert ran.code == 1
    assert ran.document["results"] == []


def test_a_dash_reads_the_query_from_standard_input(sample: CommandLine) -> None:
    ran = sample("search", "-", stdin="nginx reverse proxy\n")
    assert "Full Stack App Planning" in ran.out


def test_an_empty_query_is_wrong_usage(sample: CommandLine) -> None:
    ran = sample("search", "-", stdin="\n")
    assert ran.code == 2
    assert "nothing to search for" in ran.err


def test_open_shows_the_hit_at_once(sample: CommandLine) -> None:
    ran = sample("search", "nginx reverse proxy", "--open", "1")
    assert ran.out.startswith("Full Stack App Planning")


def test_a_search_before_any_import_says_how_to_begin(run: CommandLine, home: object) -> None:
    ran = run("search", "anything")
    assert ran.code == 1
    assert "recollect import" in ran.err


def test_bad_filters_are_told_in_words(sample: CommandLine) -> None:
    ran = sample("search", "x", "--role", "wizard")
    assert ran.code == 2
    assert "There is no role 'wizard'" in ran.err
    assert "user, assistant" in ran.err


def test_the_best_three_are_shown_in_full_and_the_rest_a_line_each(sample: CommandLine) -> None:
    lines = sample("search", "water", "-n", "8").out.splitlines()
    titles = [line for line in lines if line[:1].isdigit() and "  " in line[:5]]
    assert len(titles) == 8
    assert lines[-6:-1] == titles[3:]
    messages = [line for line in lines if line not in titles][:-1]
    assert 3 <= len(messages) <= 6
    full = sample("search", "water", "-n", "8", "--full").out.splitlines()
    assert len(full) > len(lines)


def test_how_many_of_how_many(sample: CommandLine) -> None:
    few = sample("search", "water", "-n", "2")
    total = few_total(sample)
    assert few.out.splitlines()[-1].startswith(f"2 of {total} conversations - ")
    assert "keyword + semantic" in few.out.splitlines()[-1]
    by_message = sample("search", "water", "-n", "2", "--group-by", "message")
    assert " messages - " in by_message.out.splitlines()[-1]


def few_total(sample: CommandLine) -> int:
    return int(sample("search", "water", "-n", "2", "--json").document["total"])


def test_the_day_of_a_message_is_shown_where_it_is_another_than_the_conversations(run: CommandLine) -> None:
    import recollect

    run("remember", "bread needs flour", "--title", "Bread")
    with recollect.open() as memory:
        thread = memory.resolve("Bread")[0]
    ran = run("search", "flour")
    assert thread.conversation.created is not None
    assert f"{thread.messages[0].timestamp:%H:%M}" in ran.out


def test_moments_are_told_with_the_day_only_where_it_differs() -> None:
    from datetime import UTC, datetime

    from recollect.faces.present.names import moment_after

    began = datetime(2024, 3, 15, 22, 47).astimezone()
    assert moment_after(began, began) == "22:47"
    assert moment_after(began.replace(day=19), began) == "19 Mar 22:47"
    assert moment_after(began.replace(year=2025), began) == "15 Mar 2025 22:47"
    assert moment_after(began, None) == "15 Mar 2024 22:47"
    assert moment_after(None, datetime.now(UTC)) == ""


def test_a_clear_typo_is_searched_corrected_and_told(run: CommandLine) -> None:
    run("remember", "the kubernetes ingress lost its certificate")
    ran = run("search", "kubrenetes ingress")
    assert ran.code == 0
    first, second = ran.out.splitlines()[:2]
    assert first == (
        'Showing results for kubernetes ingress. Only "kubrenetes ingress": '
        "recollect search --literal 'kubrenetes ingress'"
    )
    assert second.startswith("1  ")
    assert run("search", "--literal", "kubrenetes ingress").code == 1


def test_a_message_without_words_shows_what_came_with_it(run: CommandLine) -> None:
    import recollect
    from recollect.record import Part, PartKind

    run("remember", "a lighthouse at dusk", "--title", "Holiday")
    with recollect.open() as memory:
        home = memory.resolve("Holiday")[0].conversation.id
        memory.store_message(
            "", conversation_id=home, parts=[Part(PartKind.ASSET, "photo-harbour.jpg")], title="Holiday"
        )
    ran = run("search", "photo-harbour.jpg")
    assert "[asset photo-harbour.jpg]" in ran.out


def test_the_newest_come_first_on_request(sample: CommandLine) -> None:
    found = sample("search", "water", "--sort", "newest", "--group-by", "message", "--json").document["results"]
    times = [result["messages"][0]["timestamp"] for result in found]
    assert times == sorted(times, reverse=True)
    assert len(times) == 10


def test_an_empty_memory_is_said_to_be_empty(run: CommandLine) -> None:
    recollect.open(background=False).close()
    ran = run("search", "bread")
    assert (ran.code, ran.out) == (1, "Nothing found: your memory is empty (in default).\n")
    assert "recollect import PATH" in ran.err


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_memory_of_facts_alone_is_not_empty(run: CommandLine, command: str) -> None:
    with recollect.open(background=False) as memory:
        memory.store_fact("Norway won 15 gold medals")
        memory.store_fact("Sweden won 5 gold medals")
    ran = run(command, "bread")
    assert (ran.code, ran.out) == (1, "Nothing found: there are no messages and 2 facts (in default).\n")
    assert "recollect facts" in ran.err
    assert run().out.startswith("No messages yet, and 2 facts.")


def test_a_fact_that_answers_is_said_to_the_person(run: CommandLine) -> None:
    with recollect.open(background=False) as memory:
        memory.store_message("I live in Leeds.", title="House")
        memory.upkeep.consolidate()
    ran = run("search", "where do I live")
    assert "You live in Leeds." in ran.out
    assert "The user" not in ran.out
    assert run("search", "where do I live", "--json").document["derived"][0]["text"] == "The user lives in Leeds."


def test_a_summary_that_answers_is_shown_with_its_conversation(run: CommandLine) -> None:
    with recollect.open(background=False) as memory:
        said = [{"role": "user", "content": f"We booked ferry number {n} to the island of Ven."} for n in range(8)]
        memory.store_messages(said, title="Ferries")
        memory.upkeep.consolidate()
    shown = run("search", "which ferry to the island of Ven did we book").out
    assert "summary of Ferries" in shown


def test_what_only_a_summary_tells_of_is_shown_with_how_to_open_it(run: CommandLine) -> None:
    message = summarised_as("The conversation covers a zephyrine quokka migration roadmap.")
    ran = run("search", "zephyrine quokka")
    assert ran.code == 0
    assert "zephyrine quokka migration roadmap" in ran.out
    assert "summary of Plain title" in ran.out
    assert "Nothing" not in ran.out
    assert f"recollect show {message[-6:]}" in ran.out
    assert run("search", "zephyrine quokka", "--kind", "tool").code == 1
    assert "Nothing found" in run("search", "zephyrine quokka", "--since", "2031").out


def summarised_as(summary: str) -> str:
    """Stores a conversation whose summary a model wrote; gives the id of its first message."""
    model = FakeModel("x", data={"conversation": {"title": "T", "summary": summary, "open": []}})
    at = datetime(2025, 3, 1, 10, tzinfo=UTC)
    said = [{"role": "user", "timestamp": at, "content": f"Sentence number {n} about shop pages."} for n in range(8)]
    with recollect.open(background=False, model=model) as memory:
        memory.store_messages(said, conversation_id="plain", title="Plain title")
        memory.upkeep.consolidate()
        return memory.conversation("plain").messages[0].id
