"""Typos are told from words that are merely unknown."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from recollect.search.query.question import read_question
from recollect.search.query.spelling import Correction, compounds, correction, other_forms, parts_of_compounds
from recollect.store.results import Near
from recollect.text.terms import terms

KNOWN = {
    "sordough": [Near("sourdough", 1, 4)],
    "sourdogh": [Near("sourdough", 1, 4)],
    "fharrad": [Near("Fahrrad", 1, 2)],
    "buns": [Near("buy", 1, 9)],
    "many": [Near("marie", 2, 1)],
    "tildea": [Near("Tilda", 1, 3)],
    "florr": [Near("flour", 1, 3), Near("floor", 1, 2)],
    "flor": [Near("flour", 1, 9)],
    "kubernetis": [Near("kubernetes", 1, 1)],
    "kbuernetis": [Near("kubernetes", 2, 1)],
    "mixer": [Near("mixer", 0, 1)],
    "yoghrt": [Near("yoghurt", 0, 1)],
    "nginxx": [Near("nginx", 1, 4)],
    "spurdough": [Near("sourdough", 1, 4)],
}


class Words:
    """A vocabulary that knows what is near to some words."""

    def __init__(self, known: Mapping[str, list[Near]]) -> None:
        self.known, self.asked = known, 0

    def compounds(self, term: str, limit: int = 12) -> list[str]:
        return {"chen": ["kitchen", "chenille"], "garten": ["kindergarten", "gartenhaus"]}.get(term, [])

    def near(self, word: str, limit: int = 3) -> list[Near]:
        self.asked += 1
        return self.known.get(word, [])[:limit]


def mended(text: str, *unknown: str) -> Correction | None:
    stems = [term for word in unknown for term in terms(word)]
    return correction(text, stems, Words(KNOWN))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "unknown", "meant"),
    [
        ("sordough flat", "sordough", "sourdough flat"),
        ("Why is my Sourdogh flat?", "Sourdogh", None),
        ("Sordough, and sordoughy", "sordough", "Sourdough, and sordoughy"),
        ("fharrad", "fharrad", "Fahrrad"),
        ("how to install kubernetis", "kubernetis", "how to install kubernetes"),
        ("kbuernetis", "kbuernetis", "kubernetes"),
    ],
)
def test_a_slip_that_leaves_one_word_to_be_meant_is_sure(text: str, unknown: str, meant: str | None) -> None:
    found = mended(text, unknown)
    assert found is not None
    assert found.is_sure == (meant is not None)
    assert meant is None or found.text == meant


@pytest.mark.parametrize(
    ("text", "unknown", "suggested"),
    [
        ("what did Tildea say", "Tildea", "what did Tilda say"),  # somebody else, perhaps
        ("florr", "florr", "flour"),  # or "floor"
        ("flor", "flor", "flour"),  # short
    ],
)
def test_what_may_be_meant_otherwise_is_only_suggested(text: str, unknown: str, suggested: str) -> None:
    assert mended(text, unknown) == Correction(suggested, is_sure=False)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("cardamom buns", "buns"),  # U10: English words are no typos
        ("How many cats does Rose have?", "many"),  # Q6: "How marie cats"
        ("a mixer", "mixer"),  # known after all, by a title
        ("yoghrt", "yoghrt"),
        ("/etc/nginxx/nginxx.conf", "nginxx"),
        ("sordough flat", "flat"),
        ("sordough", ""),
    ],
)
def test_what_is_no_typo_stays(text: str, unknown: str) -> None:
    assert mended(text, unknown) is None


def test_of_something_pasted_no_word_is_looked_up() -> None:
    vocabulary = Words({})
    text = " ".join(f"zq{'abcdefghij'[n % 10]}{'abcdefghij'[n // 10]}vv" for n in range(100))
    assert correction(text, terms(text), vocabulary) is None  # type: ignore[arg-type]
    assert vocabulary.asked == 0


@pytest.mark.parametrize(
    ("text", "unknown", "parts"),
    [
        ("Versicherung", "", "Versicherung"),
        ("Versicherung kündigen", "", "Versicherung kündigen"),
        ("garden insurance", "", ""),
        ("What did I say about the Versicherung?", "", ""),
        ("What did I say about the Versicherung?", "Versicherung", "Versicherung"),
        ("Was habe ich über die Versicherung gesagt?", "", "habe ich über die Versicherung gesagt"),
    ],
)
def test_compounds_are_looked_for_where_the_language_may_have_them(text: str, unknown: str, parts: str) -> None:
    """Q7: a single German word passed for English."""
    found = parts_of_compounds(read_question(text), terms(unknown))
    assert set(found) >= set(terms(parts)) - set(terms("habe ich"))
    assert bool(found) == bool(parts)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("apartment for chen", {"chen": ["chenille"]}),
        ("Wo ist der Garten?", {"garten": ["kindergarten", "gartenhaus"]}),
        ("kitchen", {}),
    ],
)
def test_no_english_word_is_a_compound_in_an_english_question(text: str, held: dict[str, list[str]]) -> None:
    found = compounds(read_question(text), terms("chen"), Words({}))  # type: ignore[arg-type]
    assert {term: others for term, others in found.items() if others} == held


# Irregular forms of English words stand for each other; regular ones share a stem.


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
