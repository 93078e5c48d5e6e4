"""Excerpts show the words that matched, as they stand, and mark them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.results.snippet import LENGTH, excerpt, excerpt_and_words, marking, marks_in, surface, words_in
from recollect.text.terms import terms

LONG = "nothing of note here. " * 200


def marked(text: str, query: str, phrases: tuple[tuple[str, ...], ...] = ()) -> list[str]:
    snippet = excerpt(text, terms(query), phrases)
    return [snippet.text[a:b] for a, b in snippet.marks]


def test_the_words_are_marked_as_written() -> None:
    assert marked("The Herons stand; one heron's nest.", "heron nest") == ["Herons", "heron's", "nest"]


def test_the_excerpt_is_where_most_different_words_stand() -> None:
    text = LONG + "heron heron heron. " + LONG + "The heron guards the river nest. " + LONG
    snippet = excerpt(text, terms("heron river nest"))
    assert "heron guards the river nest" in snippet.text
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= LENGTH + 2


def test_a_text_without_matches_begins_at_its_beginning() -> None:
    assert excerpt(LONG, terms("heron")).text.startswith("nothing of note")
    assert excerpt("", terms("heron")).text == ""


def test_phrases_are_marked_whole() -> None:
    assert marked("a reverse proxy, no proxy", "", (("reverse", "proxy"),)) == ["reverse proxy"]


def test_runs_without_blanks_and_parts_of_compounds_are_marked_inside() -> None:
    assert marked("我们下周安排会议时间", "会议") == ["会议"]
    assert marked("see the nginx.conf file", "nginx.conf") == ["nginx", "conf"]


@pytest.mark.parametrize(
    ("query", "marks"),
    [
        ("3.14", ["3.14"]),
        ("python 3.14", ["3.14", "Python"]),
        ("3.14 or 14", ["3.14", "14"]),
        ("at 10:30", ["10:30"]),
        ("v2.10", []),
    ],
)
def test_a_number_is_marked_whole(query: str, marks: list[str]) -> None:
    text = "It is 3.14, for 14 days, 3 of them at 10:30 with 10 people and 30 boats in Python."
    snippet, words = excerpt_and_words(text, *marking(query, terms(query)))
    assert [snippet.text[a:b] for a, b in snippet.marks] == marks
    assert words == tuple(mark.lower() for mark in marks)


def test_accents_do_not_hinder() -> None:
    assert marked("Ein schöner Café-Besuch", "cafe") == ["Café"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("try", "try"),
        ("skies", "sky"),
        ("use", "using"),
        ("die", "dying"),
        ("école", "e\u0301cole"),
        ("cafe", "cafe\u0301"),
        ("c++", "C++"),
        ("C#", "C#"),
        ("สวัสดี", "สวัสดี"),
        ("น้ำ", "น้ำ"),
        ("हिन्दी", "हिन्दी"),
        ("كتاب", "كِتَاب"),
        ("software", "soft\u00adware"),
        ("2024", "２０２４"),
        ("テスト", "ﾃｽﾄ"),
    ],
)
def test_words_are_marked_however_they_are_spelled(query: str, text: str) -> None:
    assert marked(text, query) == [text]


@pytest.mark.parametrize("text", ["C++ and C, C#", "C++ and C, C# – and more"])
def test_a_language_is_not_marked_in_the_name_of_another(text: str) -> None:
    marks = marks_in(text, terms("c"))
    assert marks == [(8, 9)]


@pytest.mark.parametrize("text", ["of use, because of it", "of use, because of it …, é"])
def test_nothing_is_marked_in_a_word_that_is_no_term(text: str) -> None:
    assert marks_in(text, terms("use")) == [(3, 6)]


@given(
    st.lists(st.sampled_from(["heron", "重跑gen", "ﾃｽﾄ", "Étés", "C++", "of", "x"]), max_size=9),
    st.text("xnテét", max_size=2),
)
def test_the_marks_of_a_text_are_those_of_its_words(written: list[str], more: str) -> None:
    wanted, text, apart, at = {*terms("heron c++ été"), *terms(more)}, " ".join(["é", *written]), [], 2
    for word in written:
        apart += [(at + a, at + b) for a, b in marks_in(f"é {word}", wanted) if a >= 2]
        at += len(word) + 1
    assert [mark for mark in marks_in(text, wanted) if mark[0] >= 2] == [(a - 2, b - 2) for a, b in apart]


def test_of_a_number_of_several_parts_no_other_forms_are_marked() -> None:
    wanted, phrases = marking("3.14", ("3", "3rd", "14", "14th"))
    assert marks_in("On the 3rd, not the 14th, it was 3.14.", wanted, phrases) == [(33, 37)]


def test_what_grows_when_it_is_folded_moves_no_mark() -> None:
    assert marked("İİİ漢字会議 and more", "会議") == ["会議"]


@given(
    st.text("aeßﬁİŉǰΐ漢字会議ไทยสำำั\u0301\u0308\u00ad’ '.1２", max_size=60), st.text("aİ漢字会議ไทยสำs1２", max_size=4)
)
def test_marks_of_texts_that_change_their_length_lie_within_them(text: str, query: str) -> None:
    assert all(0 <= a < b <= len(text) for a, b in marks_in(text, terms(query)))


def test_the_words_of_a_question_that_a_text_holds_are_told_once() -> None:
    assert words_in("Heron, heron and Nest", terms("heron nests")) == ("heron", "nest")


def test_surface_words_are_those_of_phrases() -> None:
    assert surface("Reverse-Proxy") == ("reverse", "proxy")


@given(st.text(max_size=600), st.text(max_size=20))
def test_marks_lie_in_order_within_the_text(text: str, query: str) -> None:
    snippet = excerpt(text, terms(query), (surface(query),) if surface(query) else ())
    for marks, inside in ((snippet.marks, snippet.text), (marks_in(text, terms(query)), text)):
        edges = [0, *(edge for mark in marks for edge in mark), len(inside)]
        assert edges == sorted(edges)
        assert all(a < b for a, b in marks)


def test_an_excerpt_begins_and_ends_with_whole_words() -> None:
    text = (
        "extraordinarily-long-compound-words here and " * 20 + "the heron " + "incomprehensibilities everywhere " * 20
    )
    shown = excerpt(text, terms("heron")).text
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert set(shown.strip("…").split()) <= set(text.split())


def test_code_and_tables_keep_their_lines_and_prose_runs_on() -> None:
    code = "```nginx\nserver {\n    listen 443 ssl;\n}\n```"
    snippet = excerpt(f"Put\nthis:\n\n{code}\n| step | heron |\n|---|:--:|\n| mix | 2 |\n", terms("heron listen"))
    lines = ["Put this:", "server {", "    listen 443 ssl;", "}", "step | heron", "mix | 2"]
    assert snippet.text.split("\n") == lines
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["listen", "heron"]


def test_of_long_code_the_lines_around_the_first_match_are_shown() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(10)) + "\nheron = fly()\nafter = 1\n"
    shown = excerpt(f"```\n{code}```", terms("heron"), length=400).text
    assert "heron = fly()" in shown
    assert len(shown.split("\n")) <= 6
