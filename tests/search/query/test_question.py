from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query.question import Question, named, read_question, without_names
from recollect.text.dates import DateSpan
from tests.reference import needs_shared, reference, talks

OPENINGS = (
    "Can you remind me:",
    "Hey, could you please tell me,",
    "I want to know:",
    "I'd like to know",
    "I’m wondering:",
    "Do you remember:",
    "Hello! Quick question:",
    "Please help me remember:",
    "Hi, do you know: can you tell me",
)


def test_a_question_keeps_its_text_and_seeks_its_telling_words_once() -> None:
    question = read_question("Can you remind me of the boats, the old boats and the harbour we discussed?")
    assert question.text.startswith("Can you remind me")
    assert question.clean == "the boats, the old boats and the harbour?"
    assert question.terms == ("boat", "old", "harbour")


def test_words_about_the_asking_count_only_where_hardly_another_is_left() -> None:
    assert read_question("which earlier session mentioned sails and maps").terms == ("sail", "map")
    assert read_question("earlier session").terms == ("earlier", "session")


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("When did Tilda sail?", "asks_when"),
        ("How many maps are there?", "asks_how_many"),
        ("Where is the harbour?", "asks_where"),
        ("Which recipe did you suggest?", "asks_assistant"),
        ("Give me a recap of the trip", "wants_summary"),
        ("How do I mend a sail?", "is_how_to"),
        ("how to mend a sail", "is_how_to"),
    ],
)
def test_an_english_question_tells_what_it_wants(text: str, want: str) -> None:
    assert _wants(read_question(text)) >= {want}


def test_rules_of_english_leave_other_languages_alone() -> None:
    question = read_question("Wann war ich im Hafen, und wo ist mein Boot? (how many, overview)")
    assert not question.is_english
    assert not _wants(question)
    assert question.clean == question.text


def test_dates_without_a_year_are_those_of_the_history() -> None:
    question = read_question("What happened on 3 May?", years=[2022, 2023])
    assert [span.start.isoformat() for span in question.dates] == ["2022-05-03", "2023-05-03"]


def test_times_are_counted_from_the_day_of_the_question() -> None:
    asked = read_question("what did I say last week about bread", years=[2023, 2025], today=date(2025, 3, 14))
    assert asked.dates == (DateSpan(date(2025, 3, 3), date(2025, 3, 9)),)
    assert read_question("what did I say today").dates[0].end == date.today()


def test_words_of_times_within_the_history_are_not_sought() -> None:
    asked = read_question("what did I bake last week", years=[2025], today=date(2025, 3, 14))
    assert asked.terms == ("bake",)
    assert read_question("what did I bake last week", years=[2023], today=date(2025, 3, 14)).terms == (
        "bake", "last", "week",
    )  # fmt: skip
    assert read_question("yesterday", years=[2025], today=date(2025, 3, 14)).terms == ("yesterday",)


def test_last_march_is_the_latest_and_not_every_march() -> None:
    asked = read_question("what did I say last March", years=range(2015, 2026), today=date(2025, 3, 14))
    assert [str(span.start) for span in asked.dates] == ["2024-03-01"]
    asked = read_question("in March last year", years=range(2015, 2026), today=date(2025, 3, 14))
    assert [str(span.end) for span in asked.dates] == ["2024-03-31"]


@pytest.mark.parametrize("text", ["Где мой чай?", "我的nginx配置文件在哪里", "ما هذا", "ชาอยู่ไหน", "Πού είναι το τσάι;"])
def test_what_is_not_written_in_latin_letters_is_foreign(text: str) -> None:
    assert read_question(text).is_foreign_script


@pytest.mark.parametrize("text", ["Wo ist mein Müsli?", "đường", "what does 重跑 mean", "?? 42", ""])
def test_latin_letters_whatever_their_accents_are_not_foreign(text: str) -> None:
    assert not read_question(text).is_foreign_script


def test_a_date_is_read_in_any_language() -> None:
    assert read_question("Was habe ich am 2024-02-29 gesagt?").dates


def test_sentences_and_typed_words_are_told_apart() -> None:
    assert read_question("what did we decide").is_sentence
    assert not read_question("nginx 502").is_sentence


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize(
    "question",
    [
        "When did Tilda sail?",
        "Where did we go in March 2024?",
        "Which rope did you suggest for the winter?",
        "How do I mend a torn sail?",
        "how to mend a torn sail",
        "What did I say about the boat?",
        "Wo ist mein Boot?",
        "小明在哪里工作",
        "nginx 502",
    ],
)
def test_an_opening_changes_nothing(opening: str, question: str) -> None:
    assert read_question(f"{opening} {question}") == replace(read_question(question), text=f"{opening} {question}")


@given(st.text(), st.lists(st.integers(), max_size=3))
def test_any_text_can_be_asked(text: str, years: list[int]) -> None:
    question = read_question(text, years=years)
    assert question.text == text
    assert len(set(question.terms)) == len(question.terms)


def _wants(question: Question) -> set[str]:
    names = ("asks_when", "asks_how_many", "asks_where", "asks_assistant", "wants_summary", "is_how_to")
    return {name for name in names if getattr(question, name)}


@needs_shared
@pytest.mark.parametrize("opening", ["Can you remind me:", "I want to know:"])
def test_no_question_of_the_sets_is_read_otherwise_for_an_opening(opening: str) -> None:
    questions = [question for talk in talks() for question in talk.questions]
    opened = [(text, read_question(f"{opening} {text}")) for text in questions]
    assert questions
    assert not [text for text, read in opened if read != replace(read_question(text), text=read.text)]


@needs_shared
def test_every_question_is_read_as_by_the_reference() -> None:
    qa, ranker = reference("qa"), reference("ranker")
    questions = [question for talk in talks() for question in talk.questions]

    def terms(clean: str) -> tuple[str, ...]:
        every = tuple(dict.fromkeys(ranker.toks(clean)))
        telling = tuple(term for term in every if term not in ranker.METAS)
        return telling if len(telling) >= 2 else every

    different = []
    for text in questions:
        read = read_question(text, years=(2022, 2023, 2024), today=date(2099, 1, 1))
        expected = {
            "clean": qa.clean(text),
            "terms": terms(qa.clean(text)) if text.isascii() else read.terms,
            "is_english": True,
            "asks_when": bool(ranker.WHEN.search(text)),
            "asks_how_many": bool(ranker.MANY.search(text)),
            "asks_where": bool(ranker.WHERE.search(text)),
            "asks_assistant": ranker.asks(text),
            "wants_summary": bool(ranker.SUMM.search(text)),
            "is_how_to": qa.howto(text),
        }
        found = {name: getattr(read, name) for name in expected}
        different += [(text, name, found[name], value) for name, value in expected.items() if found[name] != value]
    assert questions
    assert not different


CREW = ("Bo", "Tilda Marsh", "Will", "小明", "민수")


def test_people_are_named_by_full_or_first_name_where_it_first_stands() -> None:
    assert named("Did Bo see Tilda before Tilda Marsh left?", CREW) == {"Bo": 4, "Tilda Marsh": 11}


def test_longer_names_are_found_in_any_case_short_ones_as_written() -> None:
    assert named("tilda and bo", CREW) == {"Tilda Marsh": 0}


def test_a_part_of_a_word_is_nobody() -> None:
    assert named("the boat of Tildason", CREW) == {}


def test_names_are_found_in_scripts_that_run_words_together() -> None:
    assert named("小明在哪里", CREW) == {"小明": 0}
    assert named("어제 민수는 뭐 했어", CREW) == {"민수": 3}


PEOPLE = ("Will", "Mark", "Rose", "Bill Marsh", "May")


@pytest.mark.parametrize(
    "question",
    [
        "when will the package arrive",
        "When will the package arrive?",
        "Will the package arrive today?",
        "Will he come?",
        "what mark did I get in maths",
        "Mark the date",
        "how high is the electricity bill",
        "prices rose in spring",
        "the rose by the gate",
        "the bill's total",
        "what did I plant in May",
        "May 3 and the harvest",
        "May I ask about the rent?",
        "what may have happened",
    ],
)
def test_words_that_are_names_too_name_nobody(question: str) -> None:
    assert named(question, PEOPLE) == {}


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("How many cats does Rose have?", "Rose"),
        ("what did will say about the boat", "Will"),
        ("When will Will arrive?", "Will"),
        ("Will said that the boat leaks", "Will"),
        ("Rose's garden", "Rose"),
        ("has mark moved", "Mark"),
        ("mark's birthday", "Mark"),
        ("when did bill marsh call", "Bill Marsh"),
        ("What did I buy for Bill?", "Bill Marsh"),
        ("Where does May live?", "May"),
        ("Rose", "Rose"),
    ],
)
def test_words_that_are_names_too_are_people_where_the_sentence_says_so(question: str, who: str) -> None:
    assert list(named(question, PEOPLE)) == [who]


def test_people_speak_of_themselves_as_i_and_my() -> None:
    assert without_names("Is Tilda's boat where Bo’s is, and does Will Tilda Marsh know?", CREW) == (
        "Is my boat where my is, and does I I know?"
    )


def test_names_that_are_blank_or_full_of_signs_do_no_harm() -> None:
    odd = ("", "  ", "C++", "(x)", "a.b [c]")
    assert named("is (x) here with C++ code?", odd) in ({}, {"(x)": 3})
    assert without_names("plain", odd) == "plain"


@needs_shared
def test_people_are_found_and_replaced_as_by_the_reference() -> None:
    clean, ranker = reference("qa").clean, reference("ranker")
    seen, different = 0, []
    for talk in talks():
        for text in map(clean, talk.questions):
            seen += 1
            if named(text, talk.names) != ranker.names_of(text, talk.names):
                different.append(text)
            if without_names(text, talk.names) != ranker.dename(text, talk.names):
                different.append(text)
    assert seen
    assert not different
