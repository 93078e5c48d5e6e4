"""Terms that are like a term, of what living passages hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.index.corpus import Corpus
from recollect.index.files import BlockFiles
from recollect.index.vocabulary import IndexVocabulary, spellings
from recollect.store.results import Near
from tests.index.rows import ListEngine, row
from tests.properties import examples

Make = Callable[..., Corpus]


def vocabulary(
    corpus: Make, *passages: str, titles: tuple[str, ...] = (), dead: tuple[int, ...] = (), sealed: int = 0
) -> IndexVocabulary:
    engine, others = ListEngine(), ListEngine()
    engine.add([row(n, dict.fromkeys(text.split(), 1)) for n, text in enumerate(passages, 1)])
    others.add([row(n, dict.fromkeys(text.split(), 1)) for n, text in enumerate(titles, 1)])
    while sealed and len(engine.tail) >= sealed:
        engine.seal(sealed)
    engine.kill(dead)
    said, named = corpus().snapshot(engine.source()), corpus().snapshot(others.source())
    return IndexVocabulary(lambda: said, lambda: named, lambda numbers: [], {})


def near(own: IndexVocabulary, word: str) -> list[str]:
    return [found.word for found in own.near(word)]


def test_compounds_begin_or_end_with_the_term(corpus: Make) -> None:
    own = vocabulary(corpus, "versicherung hausratversicherung", "versicherungsnummer hausratversicherung", "verse")
    assert own.compounds("versicherung") == ["hausratversicherung", "versicherungsnummer"]
    assert own.compounds("versicherung", 1) == ["hausratversicherung"]
    assert own.compounds("ver") == []


def test_a_single_character_is_found_wherever_it_stands(corpus: Make) -> None:
    own = vocabulary(corpus, "冰岛 去冰岛的 岛冰", "去冰岛的 冰", "ice")
    assert own.compounds("冰") == ["去冰岛的", "冰岛", "岛冰"]
    assert own.compounds("i") == []


def test_words_of_the_dead_are_not_offered(corpus: Make) -> None:
    """S11: neither as compounds nor as what somebody may have meant."""
    own = vocabulary(corpus, "sourdough", "sourdoughs", "bread sourdough", dead=(2,), sealed=2)
    assert own.compounds("sourdough") == []
    assert near(own, "sourdoughz") == ["sourdough"]
    own = vocabulary(corpus, "sourdough", "bread", dead=(1,), sealed=1)
    assert near(own, "sourdogh") == []


def test_the_dead_do_not_count(corpus: Make) -> None:
    own = vocabulary(corpus, "breadbox", "breadbox", "breadbin", "breadbox", dead=(1, 2, 4), sealed=2)
    assert own.compounds("bread") == ["breadbin"]


def test_near_is_what_lies_an_edit_or_two_away_most_frequent_first(corpus: Make) -> None:
    own = vocabulary(corpus, "sourdough bread", "bread", "breed", "elephant")
    assert own.near("bred") == [Near("bread", 1, 2), Near("breed", 1, 1)]
    assert own.near("bred", 1) == [Near("bread", 1, 2)]
    assert near(own, "soudrough") == ["sourdough"]
    assert near(own, "sourdogh") == ["sourdough"]
    assert near(own, "giraffe") == []
    assert near(own, "cat") == []
    assert near(own, "12345") == []
    assert near(own, "sourdough" * 10) == []


def test_a_word_that_is_known_comes_first(corpus: Make) -> None:
    own = vocabulary(corpus, "bread", "breed")
    assert own.near("bread") == [Near("bread", 0, 1), Near("breed", 1, 1)]


def test_two_letters_that_are_swapped_are_one_edit(corpus: Make) -> None:
    """Q7: also where only a title has the word."""
    assert vocabulary(corpus, "rad", titles=("fahrrad",)).near("fharrad") == [Near("fahrrad", 1, 1)]


def test_few_letters_of_a_stem_are_near_everything_and_so_to_nothing(corpus: Make) -> None:
    """U10: "buns" was taken for "buy", "elephants" for "eles"."""
    own = vocabulary(corpus, "buy bug ele eles", "buy", "eles")
    assert near(own, "buns") == []
    assert near(own, "elephants") == []


def test_a_slip_in_the_first_letter_of_a_short_word_is_another_word(corpus: Make) -> None:
    own = vocabulary(corpus, "least")
    assert near(own, "yeast") == []
    assert near(own, "lesst") == ["least"]


def test_words_beyond_ascii(corpus: Make) -> None:
    own = vocabulary(corpus, "кардамон", "brød", "smörgåsbord")
    assert near(own, "кардомон") == ["кардамон"]
    assert near(own, "smörgasbord") == ["smörgåsbord"]


word = st.text("abcdeé冰", min_size=1, max_size=7)


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    passages=st.lists(st.lists(word, min_size=1, max_size=6), min_size=1, max_size=12),
    asked=word,
    dead=st.sets(st.integers(1, 12)),
)
def test_compounds_are_what_a_plain_search_finds(
    passages: list[list[str]], asked: str, dead: set[int], tmp_path: Path
) -> None:
    texts = [" ".join(words) for words in passages]
    files = BlockFiles(tmp_path / str(hash(str(passages))), "s", 1, 0)
    living = [set(words) for n, words in enumerate(passages, 1) if n not in dead]
    counts = {w: sum(w in words for words in living) for words in living for w in words}
    single = len(asked) == 1 and not asked.isascii()
    like = (
        [w for w in counts if asked in w] if single else [w for w in counts if w.startswith(asked) or w.endswith(asked)]
    )
    expected = sorted({*like} - {asked}, key=lambda w: (-counts[w], w.encode()))[:3]
    found = vocabulary(lambda: Corpus(files, 4), *texts, dead=tuple(dead), sealed=2).compounds(asked, 3)
    assert found == (expected if single or len(asked) >= 4 else [])


def test_a_term_as_a_text_writes_it() -> None:
    assert list(spellings("bake", ["No such word.", "We were Baking bread and baked."])) == ["baking", "baked"]
    assert list(spellings("bake", [])) == []


@pytest.mark.parametrize("sealed", [0, 2])
def test_the_first_passages_that_hold_a_term(sealed: int, corpus: Make) -> None:
    engine = ListEngine()
    engine.add([row(n, {"bread": 1} if n % 2 else {"salt": 1}) for n in range(1, 9)])
    for _ in range(sealed):
        engine.seal(3)
    engine.kill([1])
    snapshot = corpus().snapshot(engine.source())
    assert snapshot.numbers("bread", 2) == [3, 5]
    assert snapshot.numbers("pepper", 2) == []
