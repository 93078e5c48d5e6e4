"""Key phrases: the words and short runs of words that messages come back to, as they are written there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache

from recollect.text.language import SMALL_WORDS
from recollect.text.terms import fold, has_unspaced_script

#: Words, and signs and numbers, which part phrases.
_TOKEN = re.compile(r"[^\W\d_][\w'’+#-]*|[,.;:!?()\[\]{}\"“”„«»/|\n\t…—–\d]+")
_RUN = re.compile(r"[\u3400-\u9fff]{2,}")
_EMPTY_SIGNS = frozenset(
    "的了是在我你您他她它们这那吗呢吧啊就都也很不有和与个一上下到说要会去能好么什怎哦嗯呀嘛把被让给对从为以及可没还再太最更多少来看做想得着过等如果因"
)
_LONGEST_PHRASE, _LONGEST_RUN = 3, 4

#: English words that are in every talk and name nothing.
_COMMON_WORDS = """
    able absolutely across actually additionally also always amazing another anything approach around ask
    assistant away awesome back bad based best better big bit bye came cant certainly come coming consider cool
    couldnt course create day days definitely didn different does doesnt doing done dont easy else enough ensure
    even ever every everything exactly example feel feeling felt find fine first five following four fun get
    gets getting give glad go goes going gone good got great guess hand happy hard hello help helps heres hey hi
    high hope hour hours however id idea im important including instead isnt ive job just keep key kind know
    last later least left less let lets life like likely little ll long look looking looks lot lots love made
    main make makes making many may maybe mean might mind minute minutes moment month months morning much must
    need needs never new next nice night now number often oh ok okay old one ones overall part people per
    perhaps place plan point possible pretty probably provide put question quite re ready really right said say
    saying see seem seems seen set several since small something sometimes soon sorry sort sound sounds specific
    start started step steps still stuff support sure take takes taking talk tell thank thanks thats theres
    thing things think thinking thought three time times today together told tomorrow took totally tried try
    trying turn two use used useful user using usually various ve via want wanted wasnt way ways week weeks well
    went will within without won wonder word work working works world worth would wow yeah year years yep yes
    yesterday yet youre
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def phrases(texts: Sequence[str], most: int) -> list[str]:
    """At most so many key phrases of these messages, the weightiest first.

    A phrase counts by how many messages hold it and by its words; a longer one replaces the shorter ones in it.
    """
    held: dict[str, set[int]] = defaultdict(set)
    written: dict[str, str] = {}
    for number, text in enumerate(texts):
        for folded, shown in _phrases_of(text):
            held[folded].add(number)
            written.setdefault(folded, shown)
    often = {phrase: len(numbers) for phrase, numbers in held.items()}
    least = 2 if len(texts) > 2 else 1
    weights = {
        phrase: (count - 0.5) * _weight(written[phrase])
        for phrase, count in often.items()
        if count >= least or (least == 2 and _is_name(written[phrase]) and len(texts) < 8)
    }
    chosen: list[str] = []
    for phrase in sorted(weights, key=lambda p: (-round(weights[p], 6), p)):
        if not any(_within(phrase, other) or _within(other, phrase) for other in chosen):
            chosen.append(phrase)
        if len(chosen) == most:
            break
    return [written[phrase] for phrase in chosen]


def _phrases_of(text: str) -> Iterator[tuple[str, str]]:
    """All phrases of a text that may tell what it is about: folded, and as written."""
    if not text.isascii() and has_unspaced_script(text):
        for run in _RUN.findall(text):
            for size in range(2, _LONGEST_RUN + 1):
                for start in range(len(run) - size + 1):
                    piece = run[start : start + size]
                    if _EMPTY_SIGNS.isdisjoint(piece):
                        yield piece, piece
    before: list[tuple[str, str]] = []  # phrases that end with the word before
    for token in _TOKEN.findall(text):
        word = _telling(token)
        if not word:
            before = []
            continue
        longer = [(f"{folded} {word}", f"{shown} {token}") for folded, shown in before[: _LONGEST_PHRASE - 1]]
        before = [(word, token), *longer]
        yield from before


@lru_cache(maxsize=50_000)
def _telling(token: str) -> str:
    """The word folded, or "" for one that no phrase has in it, and for what stands between phrases."""
    word = fold(token).replace("'s", "").replace("’s", "")
    if len(word) < 3 or word in SMALL_WORDS or word in _COMMON or "'" in word or not word[0].isalpha():
        return ""
    return word


def _weight(shown: str) -> float:
    words: float = shown.count(" ") + 1
    if not shown.isascii() and has_unspaced_script(shown):
        words = len(shown) / 2
    return (1 + 0.6 * (words - 1)) * (1.5 if _is_name(shown) else 1.0)


def _is_name(shown: str) -> bool:
    return shown[0].isupper() and not shown.isupper()


def _within(phrase: str, other: str) -> bool:
    if has_unspaced_script(phrase):
        return phrase in other or any(phrase[i : i + 2] in other for i in range(len(phrase) - 1))
    return not set(phrase.split()).isdisjoint(other.split())
