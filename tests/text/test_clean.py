from types import MappingProxyType

import pytest

from recollect.text.clean import CLOSE, OPEN, TITLE_LENGTH, clean_metadata, clean_text, clean_title, cut_recall


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("a\0b", "a b"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("\ud83d\ude00", "😀"),
        ("é\0\udc00", "é\ufffd"),
    ],
)
def test_texts_are_valid_unicode_without_nul(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_titles_stand_on_one_line_and_are_not_endless() -> None:
    assert clean_title("  Trip\n to \t Porto ") == "Trip to Porto"
    assert len(clean_title("word " * 1000)) <= TITLE_LENGTH


def test_metadata_becomes_plain_json() -> None:
    given = {"a": "x\0", "b": [1, 2**70, float("nan")], "c": {"d": ("\ud800",)}, "e": None, "f": True}
    wanted = {"a": "x", "b": [1, str(2**70), "nan"], "c": {"d": ["\ufffd"]}, "e": None, "f": True}
    assert clean_metadata(MappingProxyType(given)) == wanted


def test_metadata_without_end_is_cut() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"in": deep}
    assert "…" in str(clean_metadata(deep))


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
