"""One line of a message, by the three strategies of the specification [4]: its beginning, its core, its summary."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from recollect.context import wording
from recollect.context.choices import SnippetStrategy
from recollect.derive.summaries.extract import Policy, choose, weighed
from recollect.models.embedding import Embedder
from recollect.record import Message, NodeId, Role
from recollect.search.recalling import Recalled
from recollect.text.sentences import cut_sentences

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
    flat = wording.shown(flat)
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
