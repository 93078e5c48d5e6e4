from types import MappingProxyType

import pytest

from recollect.text.clean import TITLE_LENGTH, clean_metadata, clean_text, clean_title


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
