"""What answers, in full: the best messages in order of rank as far as the budget goes, shown in order of time.

A long message is shown by the part of it that was found. Those of one conversation and day stand together under its
title, so that a title and a date are paid for once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from recollect.context import wording
from recollect.context.budget import PER_ENTRY, shortened, tokens_in, tokens_in_each
from recollect.context.result import ContextPart
from recollect.record import NodeId, to_microseconds
from recollect.search.recalling import Recalled
from recollect.search.results.snippet import excerpt

#: What one message may take of the room: of the first few, and of the others.
_FIRST, _OF_FIRST, _OF_OTHERS = 4, 0.6, 0.35
_LEAST = 96  # tokens that any may take
_CHARACTERS_PER_TOKEN = 4
_AT_ONCE = 24
_COUNTED_WHOLE = 20_000  # characters: longer ones are estimated when they are stored
_NOTHING_FITS = 16  # tokens: no message is shorter with its code and its speaker


#: What these cost as they stand in these lines.
_Costs = Callable[[Sequence[Recalled], Sequence[str]], list[int]]


@dataclass(slots=True)
class Shown:
    """Messages that are shown, and those that are left for the index, both in order of rank."""

    part: ContextPart | None = None
    left: list[Recalled] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Entry:
    found: Recalled
    line: str
    whole: bool
    rank: int
    head: str


def relevant(found: Sequence[Recalled], words: Sequence[str], room: int) -> Shown:
    """As many of them as fit into so many tokens, best first."""
    shown = _chosen(found, words, room, _stored_costs)
    if shown.part is not None and shown.part.tokens > room:  # the counts that came with an import were not ours
        shown = _chosen(found, words, room, _counted_costs)
    return shown


def _chosen(found: Sequence[Recalled], words: Sequence[str], room: int, costs: _Costs) -> Shown:
    shown, budget = Shown(), room - tokens_in(wording.RELEVANT) - 2 * PER_ENTRY
    heads: set[str] = set()
    kept: list[_Entry] = []
    for rank, (one, line, cost, head, of_head) in enumerate(_priced(found, costs)):
        if budget < _NOTHING_FITS:
            shown.left += found[rank:]
            break
        most = max(_LEAST, int(room * (_OF_FIRST if rank < _FIRST else _OF_OTHERS)))
        whole = cost <= most
        if not whole:
            line = _line(one, _excerpt(one, words, most))
            cost = tokens_in(line)
        extra = 0 if head in heads else of_head + PER_ENTRY
        if cost + PER_ENTRY + extra > budget:
            shown.left.append(one)
            continue
        heads.add(head)
        budget -= cost + PER_ENTRY + extra
        kept.append(_Entry(one, line, whole, rank, head))
    if kept:
        shown.part = _part(kept)
    return shown


def _priced(found: Sequence[Recalled], costs: _Costs) -> Iterator[tuple[Recalled, str, int, str, int]]:
    """Each with its line, its heading and what these cost, a few at a time: mostly not all are looked at."""
    for start in range(0, len(found), _AT_ONCE):
        some = found[start : start + _AT_ONCE]
        lines = [_line(one, one.text) for one in some]
        heads = [_head(one) for one in some]
        yield from zip(some, lines, costs(some, lines), heads, tokens_in_each(heads), strict=True)


def _counted_costs(_: Sequence[Recalled], lines: Sequence[str]) -> list[int]:
    return tokens_in_each(lines)


def _stored_costs(some: Sequence[Recalled], lines: Sequence[str]) -> list[int]:
    """By the counts that were made when they were stored; they are verified when all of it is put together."""
    known = [bool(one.tokens) and len(one.text) <= _COUNTED_WHOLE for one in some]
    rest = [
        line if not is_known else line[: len(line) - len(wording.shown(one.text))]
        for one, line, is_known in zip(some, lines, known, strict=True)
    ]
    counted = tokens_in_each(rest)
    return [cost + (one.tokens if is_known else 0) for one, cost, is_known in zip(some, counted, known, strict=True)]


def _part(kept: list[_Entry]) -> ContextPart:
    kept.sort(key=lambda entry: (_time(entry.found), entry.found.conversation_id or "", entry.rank))
    lines = [wording.RELEVANT]
    ordered: list[_Entry] = []
    groups: dict[str, list[_Entry]] = {}  # in order of their first messages
    for entry in kept:
        groups.setdefault(entry.head, []).append(entry)
    for head, entries in groups.items():
        lines += [head, *(entry.line for entry in entries)] if head else [entry.line for entry in entries]
        ordered += entries
    text = "\n".join(lines)
    ids = tuple(dict.fromkeys(entry.found.id for entry in ordered))
    return ContextPart("relevant", text, tokens_in(text) + PER_ENTRY, ids, _whole(ordered))


def _whole(entries: Sequence[_Entry]) -> frozenset[NodeId]:
    return frozenset(e.found.id for e in entries if e.whole and e.found.tokens)


def _time(one: Recalled) -> int:
    return to_microseconds(one.time) or 0


def _head(one: Recalled) -> str:
    """The conversation and the day, which the messages of both share."""
    title, day = wording.shown(" ".join(one.title.split())[:80]), wording.day(one.time)
    return f"{title} ({day}):" if title and day else f"{title or day}:" if title or day else ""


def _line(one: Recalled, words: str) -> str:
    said = wording.who(one.role if one.kind in ("said", "document") else one.kind, one.speaker)
    return f"{wording.code(one.id)} {said}: {wording.shown(words)}"


def _excerpt(one: Recalled, words: Sequence[str], most: int) -> str:
    """About so many tokens of the passage, where most of what is asked stands."""
    room = most - 12
    found = excerpt(one.passage, words, length=room * _CHARACTERS_PER_TOKEN).text
    return shortened(found, room)
