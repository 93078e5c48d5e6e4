"""What models of one's own think before they answer, in the words of the answer itself."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


def without_thought(text: str) -> str:
    """The text without the thought that it begins with; without one, the very same.

    >>> without_thought("<think>Rain in Porto, hm.</think>It rains.")
    'It rains.'
    """
    return _THOUGHT.sub("", text, count=1)
