"""The sentences that extracts are made of are the words of the messages, to the letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.derive.summaries.extract import DEFAULT, candidates
from tests.derive.summaries.talks import message

CLAUSES = st.lists(
    st.sampled_from(
        ["the rent of $2,500", "12:30", "a café – by the sea", "1,000,000 yen", "房租是2,500元，", "and so on"]
    ),
    min_size=8,
    max_size=60,
)


@given(CLAUSES, st.sampled_from([", ", "; ", ": ", " - ", " "]))
def test_a_long_sentence_is_cut_and_not_changed(clauses: list[str], between: str) -> None:
    said = between.join(["We agreed that", *clauses]) + "."
    for found in candidates([message(0, "user", said)], DEFAULT):
        assert found.text.removesuffix("…") in said
