"""Without a model, an answer is made of what was said: whole sentences with what they refer to, each with its proof."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.answer.extract.quotes import shortened, size
from recollect.answer.results import AskAnswer
from recollect.memory import Memory
from recollect.record import Role

Talk = list[tuple[str, str]]


def told(memory: Memory, talk: Talk, conversation: str = "talk", day: int = 9) -> None:
    for minute, (role, text) in enumerate(talk):
        memory.store_message(
            text, role=role, conversation_id=conversation, timestamp=datetime(2025, 5, day, 10, minute, tzinfo=UTC)
        )


def proven(answer: AskAnswer) -> bool:
    """Whether each number in the text stands for exact words of a message."""
    return all(
        c.message.content[c.start : c.end] == c.quote and f"[{c.number}]" in answer.text for c in answer.citations
    )


QUEUE: Talk = [
    ("user", "Which queue should we use for the mail jobs, Redis or Postgres?"),
    (
        "assistant",
        "Redis is quick to set up. Postgres keeps jobs in the same transaction as the orders, so that none is lost.",
    ),
    ("user", "Redis lost jobs at failover twice in May, because it writes to disk once a second."),
    ("user", "Decided: we go with Postgres and SKIP LOCKED for the queue."),
    ("assistant", "Noted. What about the dashboard?"),
]


def test_a_decision_is_told_with_the_choice_first_and_then_its_reasons(quiet: Memory) -> None:
    told(quiet, QUEUE)
    answer = quiet.ask("why did we choose Postgres for the queue?")
    first, heading, *rest = answer.text.splitlines()
    assert first == "You, 9 May 2025: Decided: we go with Postgres and SKIP LOCKED for the queue. [1]"
    assert heading == "Reasons:"
    assert any("because it writes to disk once a second" in line for line in rest)
    assert any("so that none is lost" in line for line in rest)
    assert proven(answer)


def test_what_answers_a_question_is_quoted_rather_than_the_question(quiet: Memory) -> None:
    told(
        quiet,
        [("user", "How hot should the oven be for the bread?"), ("assistant", "Sure! Start at 250 °C with steam.")],
    )
    answer = quiet.ask("what oven temperature did we say for the bread?")
    assert "Start at 250 °C with steam." in answer.text
    assert answer.citations[0].quote.endswith("Start at 250 °C with steam.")


def test_a_question_at_the_end_of_a_message_is_quoted_with_what_replied_to_it(quiet: Memory) -> None:
    told(
        quiet,
        [
            ("user", "I want to plan a small web shop for our pottery."),
            ("assistant", "Good plan: three tables. Which database do you have in mind, SQLite or Postgres?"),
            ("user", "Postgres 16, I know it from work. Most pieces are one of a kind, so stock is 1."),
        ],
    )
    answer = quiet.ask("which database for the shop?")
    reply = "Postgres 16, I know it from work. [1], to “Which database do you have in mind, SQLite or Postgres?” [2]"
    assert reply in answer.text
    assert proven(answer)


def test_an_item_of_a_list_stands_with_what_introduces_it(quiet: Memory) -> None:
    text = (
        "Before the trip to Porto, check three things about the car:\n\n- tyres\n- oil: 5W-30, half a litre\n- lights"
    )
    told(quiet, [("assistant", text)])
    answer = quiet.ask("which oil does the car need before the trip to Porto?", intent="qa")
    assert "check three things about the car" in answer.text
    assert "oil: 5W-30, half a litre" in answer.text


def test_a_sentence_that_refers_to_another_stands_with_it(quiet: Memory) -> None:
    text = (
        "The boiler in Graça is a Vulcano. It loses water when it gets warm. Lunch was good. " + "Then we talked. " * 60
    )
    told(quiet, [("user", text)])
    answer = quiet.ask("when does it lose water?", intent="qa")
    assert "The boiler in Graça is a Vulcano. It loses water when it gets warm." in answer.text


def test_code_is_given_as_it_was_written_with_its_language_and_source(quiet: Memory) -> None:
    block = "SELECT maker, sum(price)\n  FROM orders\n GROUP BY maker;"
    told(
        quiet,
        [("user", "the report for each maker?"), ("assistant", f"This sums the sales:\n\n```sql\n{block}\n```\n")],
    )
    answer = quiet.ask("show me the SQL query for the report of each maker")
    assert answer.intent.value == "CODE_LOOKUP"
    assert f"```sql\n{block}\n```" in answer.text
    assert "Assistant, 9 May 2025" in answer.text
    assert answer.citations[0].quote == block


def test_of_long_code_the_first_lines_are_given_and_how_many_there_are(quiet: Memory) -> None:
    block = "\n".join(f"echo step {number} of the sync" for number in range(300))
    told(quiet, [("assistant", f"The sync script:\n\n```bash\n{block}\n```\n")])
    answer = quiet.ask("show me the sync script")
    [citation] = answer.citations
    assert f"```bash\n{citation.quote}\n```\n({citation.quote.count(chr(10)) + 1} of 300 lines)" in answer.text
    assert block.startswith(f"{citation.quote}\n")
    assert len(citation.quote) > 3_900


def test_code_that_holds_fences_stands_between_longer_ones(quiet: Memory) -> None:
    told(quiet, [("assistant", "The template of the release notes:\n\n~~~markdown\n````\nx = 1\n````\n~~~\n")])
    answer = quiet.ask("the template of the release notes", intent="code-lookup")
    assert "`````markdown\n````\nx = 1\n````\n`````" in answer.text


def test_an_overview_goes_by_conversation_in_the_order_of_time(quiet: Memory) -> None:
    told(quiet, [("user", "The garden needs a new fence, 12 metres of larch.")], "fence", day=20)
    told(quiet, [("user", "I planted three apple trees in the garden.")], "trees", day=2)
    answer = quiet.ask("summarize what I did in the garden")
    assert answer.text.index("apple trees") < answer.text.index("larch")


def test_times_told_by_the_day_are_told_as_dates(quiet: Memory) -> None:
    told(quiet, [("user", "Yesterday we adopted Luna from the shelter.")])
    assert "(8 May 2025)" in quiet.ask("when did we adopt Luna?").text


@pytest.mark.parametrize("intent", ["retrieval", "qa", "decision", "code-lookup", "synthesis"])
def test_an_extract_is_short_and_cites_at_most_five_messages(quiet: Memory, intent: str) -> None:
    long = "We talked about the harbour festival, the boats and the long queue at the bakery. " * 12
    for number in range(9):
        told(quiet, [("user", f"Day {number}. {long}"), ("assistant", f"Noted for {number}. {long}")], f"c{number}")
    answer = quiet.ask("what about the harbour festival?", intent=intent)
    assert size(answer.text) <= 130
    assert 1 <= len(answer.citations) <= 5
    assert proven(answer)


def test_the_dates_that_are_told_count_as_words(quiet: Memory) -> None:
    for day in range(1, 6):
        text = (
            f"Lately I did great, and I won a really big tournament number {day} last week, which was awesome for me!"
        )
        told(
            quiet,
            [("user", f"{text} My friends came to watch it, and they loved the final as much as I.")],
            f"t{day}",
            day,
        )
    answer = quiet.ask("when did I win a big tournament?")
    assert "April 2025" in answer.text
    assert len(answer.text.split()) <= 120


def test_numbers_in_brackets_in_a_quote_are_not_taken_for_citations(quiet: Memory) -> None:
    told(quiet, [("user", "The paper of Ott [7] says that the bridge stands on oak piles.")])
    answer = quiet.ask("what does the bridge stand on?")
    assert "Ott (7)" in answer.text
    assert "[7]" in answer.citations[0].quote


def test_what_has_changed_is_told_with_its_dates(quiet: Memory) -> None:
    told(quiet, [("user", "I live in Lisbon.")], "old", day=2)
    told(quiet, [("user", "I live in Porto now.")], "new", day=20)
    quiet.upkeep.consolidate()
    now, before, *_ = quiet.ask("where do I live?").text.splitlines()
    assert now.startswith("Said 20 May 2025: You live in Porto.")
    assert before.startswith("Before that, said 2 May 2025: You live in Lisbon.")


def test_a_figure_that_was_said_anew_is_told_with_the_one_before_it(quiet: Memory) -> None:
    for day, said in ((3, "is 300 euros"), (9, "is now 500 euros")):
        told(quiet, [("user", f"The deductible of my car insurance {said}.")], f"d{day}", day)
    first, second, *_ = quiet.ask("what is the deductible of my car insurance?").text.splitlines()
    assert first == "Since 9 May 2025: “The deductible of my car insurance is now 500 euros.” [1]"
    assert second == "Before that, since 3 May 2025: “The deductible of my car insurance is 300 euros.” [2]"


@pytest.mark.parametrize("said", ["I ran {} km today.", "The dinner was {} euros.", "Is the rent {} euros?"])
def test_what_holds_for_a_day_is_no_state(quiet: Memory, said: str) -> None:
    for day in (3, 9):
        told(quiet, [("user", said.format(day))], f"d{day}", day)
    assert "Before that" not in quiet.ask("how much was it, the dinner, the rent, or how many km I ran?").text


def test_what_is_nearest_is_told_where_nothing_answers(quiet: Memory) -> None:
    told(quiet, [("user", "The boiler in Graça is a Vulcano."), ("assistant", "Noted.")])
    answer = quiet.ask("which trombone did Xaver buy in Osaka?")
    assert not answer.known
    assert answer.text.startswith("Your conversations do not say.")
    assert len(answer.citations) <= 3
    assert proven(answer)


def test_a_question_without_its_mark_is_no_answer(quiet: Memory) -> None:
    talk = [("user", "which flour for the focaccia"), ("assistant", "Take a strong bread flour with 13 % protein.")]
    told(quiet, talk)
    answer = quiet.ask("what flour is best for focaccia?")
    assert answer.citations[0].quote == "Take a strong bread flour with 13 % protein."
    assert answer.citations[1].quote == "which flour for the focaccia"


def test_a_name_of_a_file_is_not_taken_for_a_citation(quiet: Memory, tmp_path: Path) -> None:
    (tmp_path / "piles [4].md").write_text("The old bridge stands on oak piles.\n")
    quiet.import_documents(tmp_path / "piles [4].md")
    answer = quiet.ask("what does the old bridge stand on?")
    assert "piles (4).md" in answer.text
    assert proven(answer)


def test_a_row_of_a_table_is_quoted_without_the_bars_around_it(quiet: Memory) -> None:
    told(
        quiet, [("user", "| part | price |\n|---|---|\n| glass for the greenhouse | 340 euros |\n| putty | 12 euros |")]
    )
    answer = quiet.ask("what did the glass for the greenhouse cost?")
    assert "part: glass for the greenhouse; price: 340 euros [1]" in answer.text
    assert answer.citations[0].quote == "glass for the greenhouse | 340 euros"
    assert proven(answer)


def test_a_part_of_a_document_is_named_once(quiet: Memory, tmp_path: Path) -> None:
    rule = "Staff book hotels through the office by the first of the month."
    (tmp_path / "travel.md").write_text(f"# Travel\n\n## Hotels\n\n{rule}\n", encoding="utf-8")
    quiet.import_documents(tmp_path / "travel.md")
    answer = quiet.ask("how do staff book hotels?")
    assert answer.text.count("Hotels") <= 1
    (tmp_path / "hotels.md").write_text(f"# Hotels\n\n{rule.replace('hotels', 'rooms')}\n", encoding="utf-8")
    quiet.import_documents(tmp_path / "hotels.md")
    answer = quiet.ask("how do staff book rooms?")
    assert "hotels.md, Hotels, " in answer.text
    assert ": Hotels: " not in answer.text


def test_filters_hold_for_what_stands_around(quiet: Memory) -> None:
    told(quiet, QUEUE)
    question = "why did we choose Postgres for the queue?"
    assert "so that none is lost" in quiet.ask(question).text
    assert {c.message.role for c in quiet.ask(question, role="user").citations} == {Role.USER}
    assert "so that none is lost" not in quiet.ask(f"{question} -transaction").text
    late = quiet.ask(question, since="2025-05-09T10:02")
    assert min(c.message.position for c in late.citations) == 2


@pytest.mark.parametrize("noise", ["," * 8_000, ",".join(map(str, range(2_500))), "、" * 8_000, ", " * 4_000])
def test_a_pasted_table_is_cut_at_once(noise: str) -> None:
    text = f"The harbour {'and the town ' * 30}{noise} and {'so on ' * 40}"
    began = time.perf_counter()
    start, end = shortened(text, (0, len(text)), frozenset({"harbour"}), 50)
    assert time.perf_counter() - began < 3
    assert 0 < size(text[start:end]) <= 50
