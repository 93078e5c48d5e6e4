import pytest

from recollect.errors import InvalidInput
from recollect.text.windows import window_spans


def test_windows_are_ten_long_and_share_two() -> None:
    assert window_spans(26) == [(0, 9), (8, 17), (16, 25)]


@pytest.mark.parametrize(
    ("count", "spans"),
    [(0, []), (1, [(0, 0)]), (10, [(0, 9)]), (11, [(0, 9), (8, 10)]), (18, [(0, 9), (8, 17)])],
)
def test_the_window_that_reaches_the_end_is_the_last(count: int, spans: list[tuple[int, int]]) -> None:
    assert window_spans(count) == spans


def test_windows_follow_the_rule_of_the_seed_for_every_length() -> None:
    for count in range(200):
        starts = list(range(0, count, 8))
        enough = next((n for n, start in enumerate(starts, 1) if start + 10 >= count), len(starts))
        assert window_spans(count) == [(start, min(start + 10, count) - 1) for start in starts[:enough]]


def test_an_overlap_that_leaves_no_step_is_refused() -> None:
    with pytest.raises(InvalidInput):
        window_spans(20, size=5, overlap=5)
