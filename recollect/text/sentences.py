"""Runs of sentences that overlap: what is said in one place of a long message is found by that place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.errors import InvalidInput

# Latin, Arabic, Urdu and Indian stops want a blank after them, those of Chinese and Japanese do not.
_STOPS = r".!?\u061f\u06d4\u0964\u0965"
_STOPS_ALONE = "。！？｡"
#: Begins with the blank and looks back from there: most characters are passed over at once.
_SENTENCE_END = re.compile(rf"\s(?: (?<=[{_STOPS}].)\s* | (?<=\n)\n* )", re.VERBOSE | re.DOTALL)
_SENTENCE_END_WITHOUT_BLANK = re.compile(rf"(?<=[{_STOPS}])\s+ | (?<=[{_STOPS_ALONE}]) | \n+", re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Sentences:
    """A text cut up. `runs` are ranges of `parts`, the end excluded; `scraps` are parts of one character, in no run."""

    text: str
    parts: list[str]
    scraps: list[str]
    runs: list[tuple[int, int]]


def cut_sentences(text: str, *, length: int = 3, step: int = 2, limit: int = 40) -> Sentences:
    """The sentences of a text and the runs of `length` of them, one every `step`, at most `limit`.

    Where that many runs do not cover the whole text, they become longer until they do. A text without any sentence is
    one itself. Raises InvalidInput unless 1 <= step <= length and limit >= 1.
    """
    if not 1 <= step <= length or limit < 1:
        raise InvalidInput(f"Runs of {length} sentences every {step}, at most {limit}: that leaves some out.")
    unspaced = not text.isascii() and any(stop in text for stop in _STOPS_ALONE)
    found = (_SENTENCE_END_WITHOUT_BLANK if unspaced else _SENTENCE_END).split(text)
    parts = [part for part in found if len(part.strip()) > 1]
    scraps = [part for part in found if len(part.strip()) == 1] if parts else []
    parts = parts or [text]
    overlap = length - step
    to_cover = max(1, len(parts) - overlap)
    step = max(step, -(-to_cover // limit))
    runs = [(first, min(first + step + overlap, len(parts))) for first in range(0, to_cover, step)]
    return Sentences(text, parts, scraps, runs)


def passages(text: str, *, length: int = 3, step: int = 2, limit: int = 40) -> list[str]:
    """The runs of `cut_sentences` as texts; the text itself where it is one sentence. Raises InvalidInput as that does.

    >>> passages("One. Two. Three. Four. Five.")
    ['One. Two. Three.', 'Three. Four. Five.']
    """
    cut = cut_sentences(text, length=length, step=step, limit=limit)
    return [" ".join(cut.parts[first:end]) for first, end in cut.runs]
