"""Names of the sets that the project is measured on. Nothing may be trained on them."""

from __future__ import annotations

import re

#: Lower-case words. `LifeBench` and `QMSum` are not here: the conversations in `shared/data` may be used, no others.
FORBIDDEN = ("locomo", "beam", "xquad", "xquad-r", "xquadr")


def forbidden_name(text: str) -> str | None:
    """Return the forbidden set that a name or an address contains as a word, or None.

    >>> forbidden_name("snap-research/LoCoMo")
    'locomo'
    >>> forbidden_name("beam-dev.json")
    'beam'
    >>> forbidden_name("realmem/Ethan_Hunt") is None
    True
    """
    spaced = re.sub(r"[_/.:@]+", " ", text.lower())
    words = {word for part in spaced.split() for word in (part, *part.split("-"))}
    return next((name for name in FORBIDDEN if name in words), None)
