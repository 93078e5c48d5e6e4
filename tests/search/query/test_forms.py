"""Irregular forms of English words stand for each other; regular ones share a stem."""

from __future__ import annotations

import pytest

from recollect.search.query.forms import other_forms
from recollect.text.terms import terms


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("kept", {"keep"}),
        ("keeps", {"kept"}),
        ("written", {"write", "wrote"}),
        ("children", {"child"}),
        ("found", {"find"}),
        ("led", set()),
        ("roses", set()),
        ("leaves", {"left"}),
        ("40th", {"40"}),
        ("1st", {"1"}),
        ("40", {"40th"}),
        ("13", {"13th"}),
        ("2024", set()),
        ("gave", set()),
        ("garden", set()),
        ("walked", set()),
    ],
)
def test_the_other_forms_of_a_word(word: str, others: set[str]) -> None:
    (term,) = terms(word)
    assert {*other_forms(term)} >= others
    assert bool(other_forms(term)) == bool(others)


def test_forms_are_index_terms_and_tell_of_each_other() -> None:
    for word in ("keep", "bring", "woman", "shelf", "choose"):
        (term,) = terms(word)
        assert all(term in other_forms(other) and terms(other) == [other] for other in other_forms(term))
