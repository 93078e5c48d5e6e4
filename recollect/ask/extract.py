"""The answer where no model is asked: the best sentences, as they were said, each with its message."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from recollect.ask.answer import Citation
from recollect.ask.evidence import Evidence, Passage
from recollect.text.terms import terms

_SENTENCE = re.compile(r"[^\s](?:[^.!?\n]|[.!?](?!\s|$))*[.!?]?")
_MOST_WORDS, _MOST_CITED = 120, 5


@dataclass(frozen=True, slots=True)
class Draft:
    """A text with numbers, and what they stand for: 1, 2, 3 …"""

    text: str
    citations: tuple[Citation, ...]


def extract(evidence: Evidence) -> Draft:
    """The best sentence of each of the best passages, within 120 words."""
    wanted = frozenset(terms(evidence.question))
    cited, lines, room = list[Citation](), list[str](), _MOST_WORDS
    for passage in evidence.passages[:_MOST_CITED]:
        citation = best_quote(passage, wanted)
        size = len(citation.quote.split())
        if size <= room:
            room -= size
            cited.append(replace(citation, number=len(cited) + 1))
            lines.append(f"{' '.join(citation.quote.split())} [{len(cited)}]")
    return Draft("\n".join(lines), tuple(cited))


def best_quote(passage: Passage, wanted: frozenset[str]) -> Citation:
    """The sentence of a passage that holds most of the wanted terms, the first of equals."""
    content = passage.message.content
    spans = [match.span() for match in _SENTENCE.finditer(content)] or [(0, len(content))]
    start, end = max(spans, key=lambda span: len(wanted & set(terms(content[span[0] : span[1]]))))
    return Citation(passage.number, passage.message, passage.conversation, start, end, passage.cited, passage.offset)
