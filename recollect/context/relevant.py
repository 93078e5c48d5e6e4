"""What answers, in full: the best messages in order of rank as far as the budget goes, shown in order of time.

A long message is shown by the part of it that was found. Those of one conversation and day stand together under its
title, so that a title and a date are paid for once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from recollect.context import result
from recollect.context.result import PER_ENTRY, ContextPart, shortened, tokens_in, tokens_in_each
from recollect.context.settings import SnippetStrategy
from recollect.derive.summaries.extract import Policy, choose, weighed
from recollect.models.embedding import Embedder
from recollect.record import Message, NodeId, Role, to_microseconds
from recollect.search.recalling import Recalled
from recollect.search.results.snippet import excerpt
from recollect.text.sentences import cut_sentences

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
    shown, budget = Shown(), room - tokens_in(result.RELEVANT) - 2 * PER_ENTRY
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
        line if not is_known else line[: len(line) - len(result.shown(one.text))]
        for one, line, is_known in zip(some, lines, known, strict=True)
    ]
    counted = tokens_in_each(rest)
    return [cost + (one.tokens if is_known else 0) for one, cost, is_known in zip(some, counted, known, strict=True)]


def _part(kept: list[_Entry]) -> ContextPart:
    kept.sort(key=lambda entry: (_time(entry.found), entry.found.conversation_id or "", entry.rank))
    lines = [result.RELEVANT]
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
    title, day = result.shown(" ".join(one.title.split())[:80]), result.day(one.time)
    return f"{title} ({day}):" if title and day else f"{title or day}:" if title or day else ""


def _line(one: Recalled, words: str) -> str:
    said = result.who(one.role if one.kind in ("said", "document") else one.kind, one.speaker)
    return f"{result.code(one.id)} {said}: {result.shown(words)}"


def _excerpt(one: Recalled, words: Sequence[str], most: int) -> str:
    """About so many tokens of the passage, where most of what is asked stands."""
    room = most - 12
    found = excerpt(one.passage, words, length=room * _CHARACTERS_PER_TOKEN).text
    return shortened(found, room)


# One line of a message, by the three strategies of the specification [4]: its beginning, its core, its summary.

_BLANKS = re.compile(r"\s+")
_MOST_SENTENCES = 6  # of a passage; a longer one is looked at by its beginning
_CENTRE = 0.5  # how much the centre of a passage counts beside what was asked


def snippets(
    found: Sequence[Recalled], strategy: SnippetStrategy, length: int, embedder: Embedder, text: str
) -> list[str]:
    """A line of at most `length` characters for each of these."""
    if strategy == "semantic_core":
        return _cores(found, length, embedder, text)
    if strategy == "summary":
        return [_summary(one, length, embedder) for one in found]
    return [first(one, length) for one in found]


def first(one: Recalled, length: int) -> str:
    """How it begins."""
    return cut(one.text, length)


def cut(text: str, length: int) -> str:
    """The text in one line, cut before a word that does not fit whole."""
    flat = _BLANKS.sub(" ", text[: 8 * length + 200]).strip()
    flat = result.shown(flat)
    if len(flat) <= length and len(text) <= 8 * length + 200:
        return flat
    head = flat[: max(1, length - 1)]
    blank = head.rfind(" ")
    return f"{(head[:blank] if blank > length // 2 else head).rstrip()}…"


def _cores(found: Sequence[Recalled], length: int, embedder: Embedder, text: str) -> list[str]:
    """Of each passage the sentence nearest in meaning to what was asked, and to the passage itself."""
    lines = [first(one, length) for one in found]
    parts = [
        [] if len(one.text) <= length else cut_sentences(one.passage, limit=1).parts[:_MOST_SENTENCES] for one in found
    ]
    every = [part for own in parts for part in own]
    if not every:
        return lines
    vectors = np.asarray(embedder.embed([text, *every]), np.float32)
    asked, at = vectors[0], 1
    for place, own in enumerate(parts):
        if own:
            rows = vectors[at : at + len(own)]
            at += len(own)
            centre = rows.mean(axis=0)
            likeness = rows @ asked + _CENTRE * (rows @ centre) / max(float(np.linalg.norm(centre)), 1e-6)
            best = int(likeness.argmax())
            lines[place] = cut(" ".join(own[best:]), length)
    return lines


def _summary(one: Recalled, length: int, embedder: Embedder) -> str:
    """The sentences that are worth most, as the summaries without a model choose them."""
    return first(one, length) if len(one.text) <= length else extract_of([one], length, embedder)


def extract_of(found: Sequence[Recalled], length: int, embedder: Embedder) -> str:
    """The same of several passages, in one line."""
    sentences = weighed([_as_message(one) for one in found], Policy(), embedder)
    chosen = " ".join(sentences[place].text for place in choose(sentences, length)) if sentences else ""
    return cut(chosen, length) if chosen else first(found[0], length)


def _as_message(one: Recalled) -> Message:
    return Message(
        id=one.id,
        conversation_id=one.conversation_id or NodeId(""),
        role=Role.ASSISTANT if one.role == Role.ASSISTANT.value else Role.USER,
        content=one.passage,
        speaker=one.speaker,
    )
