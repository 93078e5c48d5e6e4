"""The excerpt of a text that shows best why it was found, with the words that matched."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from unicodedata import category

from recollect.search.query.spelling import other_forms, pictures, surface
from recollect.search.results.result import Snippet
from recollect.text.terms import fold, terms

_FENCES = ("```", "~~~")
_TAB = 4


def readable(text: str) -> str:
    r"""The text with prose on one line and each line of code or row of a table on its own, without fences and rulers.

    >>> print(readable("For 1 kg:\n\n| step | water |\n|---|---|\n| mix | 680 g |\n\nThen\nwait."))
    For 1 kg:
    step | water
    mix | 680 g
    Then wait.
    """
    if "|" not in text and not any(fence in text for fence in _FENCES):
        return " ".join(text.split())
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    prose: list[str] = []
    fence = ""
    for line in text.splitlines():
        bare = line.strip()
        if bare[:3] in _FENCES and (not fence or bare[:3] == fence):
            yield from _run_on(prose)
            fence = "" if fence else bare[:3]
        elif fence:
            if bare:
                yield line.expandtabs(_TAB).rstrip()
        elif is_row(bare):
            yield from _run_on(prose)
            if not is_ruler(bare):
                yield " | ".join(cells(bare))
        else:
            prose += bare.split()
    yield from _run_on(prose)


def is_row(line: str) -> bool:
    """Whether a stripped line is a row of a Markdown table."""
    return len(line) > 2 and line.startswith("|") and line.endswith("|")


def is_ruler(row: str) -> bool:
    """Whether a row is the line between the head of a table and its body."""
    return not row.strip("|-: \t") and "-" in row


def cells(row: str) -> list[str]:
    """What stands in a row of a table."""
    return [" ".join(cell.split()) for cell in row.strip("|").split("|")]


def _run_on(prose: list[str]) -> Iterator[str]:
    if prose:
        yield " ".join(prose)
        prose.clear()


LENGTH = 220

_Match = tuple[int, int, str]  # start, end, the term that matched
#: A number of several parts: "3.14", "10:30", "v2.10".
_NUMBER = re.compile(r"(?<![^\W_])[^\W\d_]*\d+(?:[.,:]\d+)+(?![^\W_])")

_LINES = 6  # of code or a table
_SCRAP = 16  # characters of a line that say nothing without those before
_LONGEST_CUT = 60  # characters that are given up so that no word is cut
_TYPOGRAPHY = str.maketrans("’‘“”—–…•", "''\"\"--.*")
#: Of stems that begin otherwise than a word of theirs; else at most the last letter differs ("tri" of "try").
_OTHER_BEGINNINGS = {"die": "dy", "lie": "ly", "tie": "ty"}
_SHORT = 2  # letters of a stem that is the whole word
_SIGN = "+#"
_SIGNED = re.compile(r"[A-Za-z](?:\+\+|#)(?![A-Za-z+#])")
_REST = re.compile(r"[^\W_]*(?:'s\b)?")
_BLANK = re.compile(r"\s+")
_LOOKED_AT = 40_000  # characters: a passage is shorter, unless its tokens are very long


def marking(
    question: str, wanted: Collection[str], phrases: Sequence[Sequence[str]] = ()
) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    """The terms and phrases that are marked for a question: a number of several parts only whole, for of "3.14" neither
    the 3 nor the 14 says anything by itself.
    """
    numbers = dict.fromkeys(_NUMBER.findall(question))
    alone, parts = _with_forms(terms(_NUMBER.sub(" ", question))), _with_forms(terms(" ".join(numbers)))
    whole = (*map(surface, numbers), *((sign,) for sign in pictures(question)))
    return frozenset(wanted) - (parts - alone), (*map(tuple, phrases), *whole)


def _with_forms(found: Iterable[str]) -> set[str]:
    return {form for term in found for form in (term, *other_forms(term))}


def excerpt(
    text: str, wanted: Collection[str], phrases: Sequence[Sequence[str]] = (), *, length: int = LENGTH
) -> Snippet:
    """The run of about `length` characters that holds most of the wanted index terms and phrases (surface words).

    Prose runs on, code and tables keep their lines; "…" stands where the text goes on.
    """
    return excerpt_and_words(text, wanted, phrases, length=length)[0]


def excerpt_and_words(
    text: str, wanted: Collection[str], phrases: Sequence[Sequence[str]] = (), *, length: int = LENGTH
) -> tuple[Snippet, tuple[str, ...]]:
    """The same, with the words and numbers of the whole text, as written, that are wanted; each once, in order."""
    flat = readable(text[:_LOOKED_AT])
    sought = frozenset(wanted)
    found = _matches(flat, sought, tuple(map(tuple, phrases)))
    told = sought | {" ".join(phrase) for phrase in phrases if all(word.isdigit() for word in phrase)}
    words_found = dict.fromkeys(flat[a:b].lower() for a, b, term in found if term in told)
    return _excerpt(flat, found, length, more=len(text) > _LOOKED_AT), tuple(words_found)


def _excerpt(flat: str, found: Sequence[_Match], length: int, *, more: bool) -> Snippet:
    start = _best_start(flat, found, length)
    end = min(len(flat), start + length)
    start, end = _few_lines(flat, *_at_words(flat, start, end), found)
    head, tail = ("…" if start else ""), ("…" if end < len(flat) or more else "")
    shift = len(head) - start
    marks = tuple((a + shift, b + shift) for a, b, _ in _merged(found) if a >= start and b <= end)
    return Snippet(head + flat[start:end] + tail, marks)


def marks_in(text: str, wanted: Collection[str], phrases: Sequence[Sequence[str]] = ()) -> list[tuple[int, int]]:
    """The places of the wanted index terms and phrases in a whole text, in order and without overlap."""
    return [(a, b) for a, b, _ in _merged(_matches(text, frozenset(wanted), tuple(map(tuple, phrases))))]


def densest(text: str, wanted: Collection[str], phrases: Sequence[Sequence[str]] = ()) -> int:
    """Where the run of about `LENGTH` characters begins that holds most of the wanted terms; 0 where none is held."""
    found = _merged(_matches(text[:_LOOKED_AT], frozenset(wanted), tuple(map(tuple, phrases))))
    return found[_richest(found, LENGTH)][0] if found else 0


def words_in(text: str, wanted: Collection[str]) -> tuple[str, ...]:
    """Which words of the text, as written, are wanted; each once, in order."""
    seen = {text[a:b].lower(): None for a, b, _ in _matches(text[:_LOOKED_AT], frozenset(wanted), ())}
    return tuple(seen)


def _matches(text: str, wanted: frozenset[str], phrases: tuple[tuple[str, ...], ...]) -> list[_Match]:
    found: list[_Match] = []
    plain = text.translate(_TYPOGRAPHY)
    spans = list(_likely(plain, wanted) if plain.isascii() else _words_of(text))
    there = [text[start:end] for start, end in spans]
    held = {word: inside for word in set(there) if (inside := _held(word, wanted))}
    found += [
        (start + a, start + b, term)
        for (start, _), word in zip(spans, there, strict=True)
        if word in held
        for a, b, term in held[word]
    ]
    for phrase in phrases:
        pattern = r"\W+".join(map(re.escape, phrase))
        found += [(*m.span(), " ".join(phrase)) for m in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)]
    return sorted(found)


def _likely(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where words of an ASCII text begin like a wanted term, in order: a stem differs from its word at the end, so that
    no others need a look.
    """
    lowered, ends = text.lower(), dict[int, int]()
    stems = {term.rstrip(_SIGN) for term in wanted if term.isascii()} - {""}
    beginnings = {stem if len(stem) <= _SHORT else stem[:-1] for stem in stems}
    beginnings |= {_OTHER_BEGINNINGS[term] for term in wanted & _OTHER_BEGINNINGS.keys()}
    for beginning in beginnings:
        at = lowered.find(beginning)
        while at >= 0:
            if not at or not lowered[at - 1].isalnum():
                rest = _REST.match(lowered, at + len(beginning))
                signed = _SIGNED.match(text, at)
                ends[at] = signed.end() if signed else max(ends.get(at, 0), rest.end() if rest else 0)
            at = lowered.find(beginning, at + 1)
    last = 0
    for start, end in sorted(ends.items()):
        if start >= last:
            yield start, end
            last = end


@cache
def _signs() -> str:
    """Signs that stand within words and are no letters, for use within [...]: accents and vowels that are written
    apart, and joiners. A blank without width parts words.
    """
    codes = [
        code for code in range(0x300, 0x2100) if category(chr(code)) in ("Mn", "Mc", "Me", "Cf") and code != 0x200B
    ]
    begins = [code for before, code in pairwise([0, *codes]) if code != before + 1]
    ends = [code for code, after in pairwise([*codes, 0]) if after != code + 1]
    return "\u00ad\u3099\u309a" + "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(begins, ends, strict=True))


@cache
def _word() -> re.Pattern[str]:
    letters = rf"[^\W_]++(?:[{_signs()}]++[^\W_]*+)*+"
    return re.compile(rf"(?<![^\W_]){_SIGNED.pattern}|{letters}(?:[’']s\b)?")


@cache
def _character() -> re.Pattern[str]:
    return re.compile(rf".[{_signs()}]*", re.DOTALL)


def _words_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the words of a text stand."""
    return (match.span() for match in _word().finditer(text))


def _held(word: str, wanted: frozenset[str]) -> list[_Match]:
    """What is wanted of a word: all of it, or parts of a run of a script without blanks or of a word of several."""
    own = _term_of(word)
    if own in wanted:
        return [(0, len(word), own)]
    return _inside(word, wanted) if own == "" else []


def _inside(word: str, wanted: frozenset[str]) -> list[_Match]:
    folded, places = _folded(word)
    found: list[_Match] = []
    for term in wanted:
        at = folded.find(term)
        while at >= 0 and term:
            found.append((places[at], places[at + len(term)], term))
            at = folded.find(term, at + 1)
    return [match for match in found if match[0] < match[1]]


def _folded(word: str) -> tuple[str, Sequence[int]]:
    """A word as terms are folded, and where in it each character of that comes from; the end is that of the word."""
    folded = fold(word)
    if len(folded) == len(word):
        return folded, range(len(word) + 1)
    parts, places = list[str](), list[int]()
    for match in _character().finditer(word):
        parts.append(_folded_character(match[0]))
        places += [match.start()] * len(parts[-1])
    return "".join(parts), [*places, len(word)]


@lru_cache(maxsize=4_096)
def _folded_character(character: str) -> str:
    return fold(character)


@lru_cache(maxsize=20_000)
def _term_of(word: str) -> str | None:
    """The term of a word; "" for several, None for none."""
    found = terms(word)
    return (found[0] if len(found) == 1 else "") if found else None


def _best_start(text: str, found: Sequence[_Match], length: int) -> int:
    """Where the excerpt begins: so that it holds the most different terms, and of equals the most matches."""
    if not found or len(text) <= length:
        return 0
    best = found[_richest(found, length)][0]
    return max(0, min(best - length // 5, len(text) - length))


def _richest(found: Sequence[_Match], length: int) -> int:
    """The match with which the run begins that holds the most different terms, and of equals the most matches."""
    best, best_value = 0, (0, 0)
    last = 0
    for first in range(len(found)):
        last = max(last, first)
        while last < len(found) and found[last][1] <= found[first][0] + length * 3 // 4:
            last += 1
        inside = found[first:last]
        value = (len({term for _, _, term in inside}), len(inside))
        if value > best_value:
            best, best_value = first, value
    return best


def _at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The same run, not beginning or ending within a word, where blanks are near."""
    if start and not text[start - 1].isspace():
        blank = _BLANK.search(text, start, min(start + _LONGEST_CUT, end))
        start = blank.end() if blank else start
    scrap = text.find("\n", start, start + _SCRAP) if start else -1
    start = scrap + 1 if 0 <= scrap < end - 1 else start
    if end < len(text) and not text[end].isspace():
        cut = re.search(r"\s+\S*\Z", text[max(start, end - _LONGEST_CUT) : end])
        end = max(start, end - _LONGEST_CUT) + cut.start() if cut else end
    return start, end


def _few_lines(text: str, start: int, end: int, found: Sequence[_Match]) -> tuple[int, int]:
    """The same run, or so many of its lines that hold the first match, where code or a table makes it long."""
    edges = [start, *(m.end() for m in re.finditer("\n", text[start:end]))]
    edges = [start, *(start + edge for edge in edges[1:]), end + 1]
    if len(edges) - 1 <= _LINES:
        return start, end
    first = next((a for a, _, _ in found if start <= a < end), start)
    line = max(i for i, edge in enumerate(edges[:-1]) if edge <= first)
    top = max(0, min(line - 1, len(edges) - 1 - _LINES))
    return edges[top], edges[top + _LINES] - 1


def _merged(found: Sequence[_Match]) -> list[_Match]:
    merged: list[_Match] = []
    for start, end, term in found:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, term))
    return merged
