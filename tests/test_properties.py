"""The number of examples goes by the profile: all that a test asks for, or a quarter, but never next to none."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.properties import choose_profile, examples


@pytest.mark.parametrize(
    ("profile", "asked", "tried"),
    [("whole", 200, 200), ("whole", 8, 8), ("quick", 200, 50), ("quick", 8, 5), ("quick", 3, 3), ("", 100, 25)],
)
def test_a_profile_decides_how_many_examples_are_tried(
    profile: str, asked: int, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings.get_current_profile_name()
    monkeypatch.setenv("HYPOTHESIS_PROFILE", profile)
    try:
        choose_profile()
        assert examples(asked) == tried
        assert settings.default is not None
        assert settings.default.deadline is None
    finally:
        settings.load_profile(before)
