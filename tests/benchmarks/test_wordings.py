from __future__ import annotations

from benchmarks.wordings import keywords, with_opening


def test_an_opening_stands_before_the_question_as_it_is():
    assert with_opening("When did I move?") == "Can you remind me: When did I move?"


def test_keywords_are_the_first_five_words_with_meaning_as_they_were_written():
    assert keywords("When did Melanie go to the pottery workshop with her kids?") == "Melanie go pottery workshop kids"
    assert keywords("What is Rui's ERR_CONN_RESET about?") == "Rui ERR CONN RESET"


def test_a_question_of_stop_words_or_without_blanks_stays():
    assert keywords("who was it?") == "who was it?"
    assert keywords("雷老板在哪里买的羊绒衫") == "雷老板在哪里买的羊绒衫"
