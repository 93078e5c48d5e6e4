"""Runs of sentences that overlap: what is said in one place of a long message is found by that place."""

from __future__ import annotations

import re

from recollect.errors import InvalidInput

_SENTENCE_END = re.compile(
    r"""
      (?<=[.!?\u061f\u06d4\u0964\u0965])\s+  # Latin, Arabic, Urdu and Indian stops want a blank after them
    | (?<=[。！？｡])                          # those of Chinese and Japanese do not
    | \n+
    """,
    re.VERBOSE,
)


def passages(text: str, *, length: int = 3, step: int = 2, limit: int = 40) -> list[str]:
    """The runs of `length` sentences, one every `step`, at most `limit`; the text itself where it is one sentence.

    Where that many runs do not cover the whole text, they become longer until they do.
    Raises InvalidInput unless 1 <= step <= length and limit >= 1.

    >>> passages("One. Two. Three. Four. Five.")
    ['One. Two. Three.', 'Three. Four. Five.']
    """
    if not 1 <= step <= length or limit < 1:
        raise InvalidInput(f"Runs of {length} sentences every {step}, at most {limit}: that leaves some out.")
    sentences = [part for part in _SENTENCE_END.split(text) if len(part.strip()) > 1] or [text]
    overlap = length - step
    to_cover = max(1, len(sentences) - overlap)
    step = max(step, -(-to_cover // limit))
    return [" ".join(sentences[first : first + step + overlap]) for first in range(0, to_cover, step)]
