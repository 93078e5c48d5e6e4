"""Texts in pieces: sentences, runs of sentences that overlap, chunks of so many tokens, windows of messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

from recollect.errors import InvalidInput

# Latin, Arabic, Urdu and Indian stops want a blank after them, those of Chinese and Japanese do not.
_STOPS = r".!?\u061f\u06d4\u0964\u0965"
_STOPS_ALONE = "。！？｡"
_END = re.compile(
    rf"""
      (?<=[{_STOPS}…]) (?: (?=\s) | ["'”’)\]*_]+(?=\s+[^\sa-z]|\s*\Z) )  # 'the "Why?" page' goes on
    | (?<=[{_STOPS_ALONE}])["'”’」』）]*
    | (?<=[\U0001f300-\U0001faff])\ufe0f?(?=\s+[^\W\d_a-z])  # an emoji before a capital is one
    """,
    re.VERBOSE,
)
_NO_END = re.compile(
    r"(?:^|[\s(])(?:Dr|Mr|Mrs|Ms|Prof|St|vs|approx|Nr|ca|bzw|etc|Fig|Inc|Ltd|Sra?|[A-Za-z]|e\.g|i\.e|z\.B|a\.m|p\.m)\.$"
)
_NO_END_BEFORE_FIGURES = re.compile(
    r"(?:^|[\s(])(?:art|nos|nr|vol|op|pp|ch|sec|par|kap|abs|fig|eq|kl|avg|incl|max|min|tel|ext|apt)\.$", re.IGNORECASE
)


def sentence_places(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Where each sentence of a paragraph, or a part of it, begins and ends, blanks around it left out.

    >>> text = "Dr. Ito left at 5 p.m. on foot. Why? 我不知道。Nobody asked!"
    >>> [text[first:last] for first, last in sentence_places(text)]
    ['Dr. Ito left at 5 p.m. on foot.', 'Why?', '我不知道。', 'Nobody asked!']
    """
    end = len(text) if end is None else end
    first = start
    for match in _END.finditer(text, start, end):
        at = match.end()
        if at <= first or (text[at - 1] == "." and _is_abbreviation(text, first, at)):
            continue
        yield from _without_blanks(text, first, at)
        first = at
    yield from _without_blanks(text, first, end)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return [text[first:last] for first, last in sentence_places(text)]


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    """Whether the word before `end` is cut short by its full stop: "Dr." is, "art." is before a figure."""
    word = text[max(start, end - 12) : end]
    return bool(_NO_END.search(word)) or (
        text[end : end + 2].lstrip().isdigit() and bool(_NO_END_BEFORE_FIGURES.search(word))
    )


def _without_blanks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if kept := len(piece.strip()):
        first = start + len(piece) - len(piece.lstrip())
        yield first, first + kept


# --- runs of sentences, as the index has them: cut at stops alone, since another cut would want another index ---------
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


# --- long texts in pieces: the unit that is loaded when the whole is too much [4] ------------------------------------

#: Longer texts are cut in pieces of so many tokens, each so many into the next.
CHUNK_TOKENS, CHUNK_OVERLAP = 4000, 200

_PARAGRAPH, _LINE = "\n\n", "\n"
_STOP = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]")
_WORD = re.compile(r"\s")
_CHARACTERS_PER_TOKEN = 4.0  # only the first guess; each piece corrects it for the next
_FULL_ENOUGH = 0.7  # of the size; below, a longer piece is tried
_TRIES = 10


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]`, and how many tokens it has."""

    start: int
    end: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long texts are cut: in pieces of at most `size` tokens, each about `overlap` tokens into the next.

    Raises InvalidInput where the overlap is no smaller than half the size.
    """

    size: int = CHUNK_TOKENS
    overlap: int = CHUNK_OVERLAP

    def __post_init__(self) -> None:
        if not 0 <= self.overlap * 2 < self.size:
            raise InvalidInput(
                f"Chunks of {self.size} tokens cannot overlap by {self.overlap}.",
                hint=f"Use an overlap of less than half: from 0 to {max(self.size - 1, 0) // 2}.",
            )

    @classmethod
    def of(cls, size: int, overlap: int | None = None) -> Self:
        """Without an overlap it is 200 tokens, of small pieces a twentieth."""
        return cls(size, min(CHUNK_OVERLAP, size // 20) if overlap is None else overlap)


#: How texts are cut unless something else is set.
USUAL = Chunking()


def chunk_spans(text: str, chunking: Chunking = USUAL, *, count_tokens: Callable[[str], int]) -> list[Span]:
    """Pieces that cover the text without gaps.

    Pieces end at a paragraph, line, sentence or blank where one is near, and never inside of what is read as one
    character (an emoji with its modifiers, a letter with its accents) where that can be helped. Only a single
    character may have more tokens than `size`. Time is linear: each part of the text is counted a few times.
    """
    size, overlap = chunking.size, chunking.overlap
    spans: list[Span] = []
    start, density = 0, _CHARACTERS_PER_TOKEN
    while start < len(text):
        span = _piece(text, start, size, density, count_tokens)
        if spans and span.end <= spans[-1].end:  # the overlap filled the piece: go on without one
            span = _piece(text, spans[-1].end, size, density, count_tokens)
        spans.append(span)
        if span.end == len(text):
            break
        density = max((span.end - span.start) / max(span.tokens, 1), 0.1)
        start = _overlap_start(text, span, overlap, density, count_tokens)
    return spans


def first_span(text: str, start: int, size: int, count_tokens: Callable[[str], int]) -> Span:
    """The piece from `start` that has at most `size` tokens, cut as `chunk_spans` cuts."""
    return _piece(text, start, size, _CHARACTERS_PER_TOKEN, count_tokens)


def _piece(text: str, start: int, size: int, density: float, count_tokens: Callable[[str], int]) -> Span:
    """The longest piece from `start` that fits, found by a few guesses."""
    best: Span | None = None
    shortest, longest = start, len(text)
    guess = start + max(int(size * density * 0.95), 1)
    for _ in range(_TRIES):
        end = _good_end(text, start, min(max(guess, shortest + 1), longest))
        tokens = count_tokens(text[start:end])
        if tokens <= size:
            if best is None or end > best.end:
                best = Span(start, end, tokens)
            shortest = max(shortest, end)
            if end == len(text) or tokens >= size * _FULL_ENOUGH:
                return best
        else:
            longest = end - 1
        if shortest >= longest:
            break
        guess = start + max(int((end - start) * size * 0.92 / max(tokens, 1)), 1)
    return best or _forced_piece(text, start, longest, size, count_tokens)


def _forced_piece(text: str, start: int, longest: int, size: int, count_tokens: Callable[[str], int]) -> Span:
    """What is left to do where all guesses were too long: halve until it fits, down to one character."""
    end = max(longest, start + 1)
    while True:
        tokens = count_tokens(text[start:end])
        if tokens <= size or end - start == 1:
            return Span(start, end, tokens)
        end = start + (end - start) // 2


def _overlap_start(text: str, span: Span, overlap: int, density: float, count_tokens: Callable[[str], int]) -> int:
    """Where the next piece begins: about `overlap` tokens before the end of this one, after a blank if one is near."""
    length = min(int(overlap * density), (span.end - span.start) // 2)
    for _ in range(_TRIES):
        tokens = count_tokens(text[span.end - length : span.end]) if length else 0
        if tokens <= overlap * 1.25:
            break
        length = int(length * overlap / tokens)
    start = span.end - length
    blank = _WORD.search(text, start, start + length // 2)
    return _whole(text, blank.end() if blank else start, span.start + 1)


def _good_end(text: str, start: int, end: int) -> int:
    """The best place to cut at or shortly before `end`: within the last quarter, the strongest boundary there is."""
    if end >= len(text):
        return len(text)
    low = end - (end - start) // 4
    for mark in (_PARAGRAPH, _LINE):
        found = text.rfind(mark, low, end)
        if found > start:
            return found + len(mark)
    for pattern in (_STOP, _WORD):
        found = _last_end(pattern, text, low, end)
        if found > start:
            return found
    return _whole(text, end, start + 1)


def _last_end(pattern: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the pattern's last match ends; looks at ever longer tails, so that a match near the end is cheap."""
    reach = 256
    while True:
        tail = max(low, high - reach)
        last = -1
        for match in pattern.finditer(text, tail, high):
            last = match.end()
        if last >= 0 or tail == low:
            return last
        reach *= 4


def _whole(text: str, position: int, lowest: int) -> int:
    """The nearest place at or before `position` that does not split what is read as one character."""
    place = position
    while place > lowest and position - place < 64 and _joined(text[place - 1], text[place]):
        place -= 1
    return place if place > lowest or not _joined(text[place - 1], text[place]) else position


def _joined(before: str, after: str) -> bool:
    """Whether two neighbours belong together: accents, emoji modifiers and joiners, flags, Hangul parts, CR LF."""
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        unicodedata.combining(after) != 0
        or unicodedata.category(after) in ("Mn", "Me", "Mc")
        or after == "\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
        or "\ud800" <= before <= "\udbff"
        or "\u1160" <= after <= "\u11ff"
        or "\U000e0020" <= after <= "\U000e007f"
    )


# --- runs of messages that overlap, so that what spans two of them is found in one [0] -------------------------------

WINDOW_SIZE, WINDOW_OVERLAP = 10, 2


def window_spans(count: int, size: int = WINDOW_SIZE, overlap: int = WINDOW_OVERLAP) -> list[tuple[int, int]]:
    """The first and last index of each window over `count` messages, both included.

    Windows are `size` long and share `overlap` messages with the next; the one that reaches the end is the last.
    Raises InvalidInput where the overlap leaves no step forward.

    >>> window_spans(12)
    [(0, 9), (8, 11)]
    """
    if not 0 <= overlap < size:
        raise InvalidInput(f"Windows of {size} messages cannot overlap by {overlap}.", hint="Use a smaller overlap.")
    spans: list[tuple[int, int]] = []
    first = 0
    while first < count:
        last = min(first + size, count) - 1
        spans.append((first, last))
        if last == count - 1:
            break
        first += size - overlap
    return spans


def windows_around(at: int, count: int) -> list[tuple[int, tuple[int, int]]]:
    """The windows over `count` messages that hold the one at a place: index, and first and last index.

    >>> windows_around(8, 12)
    [(0, (0, 9)), (1, (8, 11))]
    >>> windows_around(8, 10)
    [(0, (0, 9))]
    """
    step = WINDOW_SIZE - WINDOW_OVERLAP
    last = max(0, -(-(count - WINDOW_SIZE) // step))
    indexes = range(max(0, -(-(at - WINDOW_SIZE + 1) // step)), min(at // step, last) + 1)
    return [(index, (index * step, min(index * step + WINDOW_SIZE, count) - 1)) for index in indexes]
