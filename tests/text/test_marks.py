import pytest

from recollect.text.marks import CLOSE, OPEN, cut_recall

RECALL = f'{OPEN} namespace="acme/rex">\nIn March you said that the boiler leaks.\n\nAnd more.\n{CLOSE}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{RECALL}\n\nWhat did I say?", "What did I say?"),
        (f"What did I say?\n\n{RECALL}", "What did I say?"),
        (f"Before.\n{RECALL}\nAfter.", "Before.\n\nAfter."),
        (f"{RECALL}\n{RECALL}\nTwo blocks.", "Two blocks."),
        (f"one{OPEN}>x{CLOSE}two", "onetwo"),
        (RECALL, ""),
    ],
)
def test_what_recollect_handed_out_is_cut(text: str, left: str) -> None:
    assert cut_recall(text) == left


def test_a_block_within_a_block_goes_with_it() -> None:
    assert cut_recall(f"{OPEN}>a {OPEN}>b{CLOSE} c{CLOSE}\nHello") == "Hello"


def test_an_unclosed_block_ends_with_its_paragraph() -> None:
    assert cut_recall(f"{OPEN}>\nrecalled\nrecalled\n\nMy question.") == "My question."
    assert cut_recall(f"My question.\n\n{OPEN}>\nrecalled") == "My question."


def test_an_unclosed_block_before_a_closed_one_does_not_swallow_what_lies_between() -> None:
    text = f"{OPEN}>\nrecalled\n\nMy question.\n\n{RECALL}\n\nMy other question."
    assert cut_recall(text) == "My question.\n\nMy other question."


@pytest.mark.parametrize(
    "text",
    ["Nothing here.", f"What does `{OPEN}>` mean?", f"A stray {CLOSE} is only a word.", f"{OPEN}ual help> is no mark"],
)
def test_talk_about_the_mark_stays_as_it_is(text: str) -> None:
    assert cut_recall(text) == text


def test_many_marks_take_no_longer_than_their_text() -> None:
    assert cut_recall(f"{OPEN}>\n" * 50_000) == ""
    assert cut_recall(RECALL * 20_000 + "end") == "end"
