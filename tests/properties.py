"""How many examples a property is tried on: by the profile of Hypothesis, which HYPOTHESIS_PROFILE names.

`quick` is for while one works and for continuous integration; `whole`, four times as many, is for the long tests.
Neither has a deadline for an example: machines are noisy, and how long something takes is measured in tests of their
own.
"""

from __future__ import annotations

import os

from hypothesis import settings

_FEWEST = 5  # below, Hypothesis hardly leaves the simplest ones


def choose_profile() -> None:
    """Before any test is collected."""
    settings.register_profile("whole", max_examples=100, deadline=None)
    settings.register_profile("quick", max_examples=25, deadline=None)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "quick")


def examples(whole: int) -> int:
    """So many in the whole profile, and its share of them in another."""
    return min(whole, max(_FEWEST, whole * settings.default.max_examples // 100))
