"""What several requests cost together."""

from __future__ import annotations

import pytest

from recollect.models.language.base import total_cost


def test_a_cost_that_is_not_known_makes_the_whole_unknown() -> None:
    assert total_cost([]) == 0
    assert total_cost([0.25, 0.5]) == pytest.approx(0.75)
    assert total_cost([0.25, None]) is None
