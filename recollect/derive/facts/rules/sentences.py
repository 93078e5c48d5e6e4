"""The sentences of a message that its author says in his own voice: no code, no quotations, nothing pasted or played."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from recollect.text.markdown import lines_of
from recollect.text.sentences import sentence_places

#: Of longer lines nothing is drawn: they are pasted.
_LONGEST_LINE = 2_000
_LONGEST_SENTENCE = 400
_LONGEST_MESSAGE = 20_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is `content[start:start + len(text)]` of the message, but for quotations, which are masked. `is_led_in`: a
    line before it ends in a colon, so that it may be a text that is handed over.
    """

    text: str
    start: int
    end: int
    is_led_in: bool = False


def own_sentences(
    content: str, speaker: str | None, is_heading: Callable[[str], bool] | None = None
) -> Iterator[Sentence]:
    """The sentences that may be drawn from, in order. A line after a label is another's, unless `is_heading` knows it."""
    if len(content) > _LONGEST_MESSAGE or _PASTED.search(content):
        return
    led_in = False
    for start, text, is_code in lines_of(content):
        if is_code or not text or len(text) > _LONGEST_LINE or _QUOTED_LINE.match(text) or _looks_like_code(text):
            continue
        if label := _LABEL.match(text):
            if _may_speak(label[1], speaker):
                text, start = text[label.end() :], start + label.end()
            elif is_heading is None or not is_heading(label[1]):
                continue
        for sentence in _sentences(_masked(text), start):
            if _PLAYED.search(sentence.text):
                return
            if not _ASKED_FOR.search(sentence.text):
                yield replace(sentence, is_led_in=led_in)
            elif sentence.text.rstrip().endswith(":") or ":" in sentence.text:
                return
        ends = text.rstrip()
        led_in = led_in or (ends.endswith(":") and not _may_speak(ends[:-1], speaker))


def is_play(content: str) -> bool:
    """Whether the message begins a role play, or hands over a text to work on: what follows is not meant."""
    beginning = content[:1000]
    return bool(_MAY_PLAY.search(beginning)) and any(_ROLE_PLAY.search(s.text) for s in _sentences(beginning, 0))


def _sentences(line: str, at: int) -> Iterator[Sentence]:
    for first, last in sentence_places(line):
        if 3 < last - first <= _LONGEST_SENTENCE:
            yield Sentence(line[first:last], at + first, at + last)


def _masked(text: str) -> str:
    """The text with longer quotations and inline code made unreadable; a short quoted name stays ("Dune")."""
    return _QUOTATION.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    inside = match.group()[1:-1]
    if match.group()[0] != "`" and len(inside.split()) <= 4 and not _VERBAL.search(inside):
        return match.group()
    return match.group()[0] + "¤" * len(inside) + match.group()[-1]


def _may_speak(label: str, speaker: str | None) -> bool:
    """Whether what follows "Label: " at the start of a line is the author's own."""
    name = label.strip().lower()
    if _LEADS_IN.match(name):
        return True
    return name in _OWN_LABELS or (speaker is not None and name == speaker.strip().lower())


def _looks_like_code(line: str) -> bool:
    return bool(_CODE.search(line))


_QUOTED_LINE = re.compile(r"\s*[>|#]|\s*(?:On .{5,60} wrote:|e\.g\.|Example)", re.IGNORECASE)
_CODE = re.compile(
    r"[{};]\s*$|^\s*(?:SELECT|INSERT|UPDATE|import|from \w+ import|def|class|return|const|let|var|print)\b(?! in )"
    r"|\w\(.*\)|=>|::|</?\w+>|^\s*[\w.]+\s*="
)
_LABEL = re.compile(r"\s*([A-Z][\w.'-]*(?: [\w.'-]+){0,3}):\s+")
_LEADS_IN = re.compile(r"before (?:you|we|i)\b|as (?:i|we) (?:said|mentioned|told|wrote)\b")  # a clause is no name
_OWN_LABELS = frozenset(
    """me i myself note update edit ps p.s fyi also btw heads up reminder important correction fact context background
    info for reference for context for the record good news bad news news question remember so""".split()
) | {
    "constraints",
    "facts",
    "details",
    "about me",
    "background",
    "setup",
    "my setup",
    "heads up",
    "good news",
    "bad news",
    "for reference",
    "for context",
    "for the record",
    "just so you know",
}
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,600}\"|“[^”\n]{1,600}”|«[^»\n]{1,600}»|`[^`\n]{1,600}`|(?<![\w])'[A-Z][^'\n]{12,}'(?!\w)"
)
_VERBAL = re.compile(r"\b(?:I|I'm|my|we|our|am|is|are|was|have|has|live)\b", re.IGNORECASE)

# A letter, an email, a transcript, a post: somebody's text that is talked about.
_PASTED = re.compile(
    r"\A\s*(?:Dear\b|Subject:|From:|To:|Re:|Reddit\b|AITA\b)|^(?:Best regards|Kind regards|Sincerely|Yours)\b"
    r"|^(?:User|Human|Assistant|Bot|AI|Agent|Customer|Client|Patient|Doctor|Interviewer|Narrator|Q|A|Speaker \d+)\s*:"
    r"|\(\d\d[FM]\)",
    re.MULTILINE,
)

_TRANSFORM = r"translate|proofread|rewrite|reword|rephrase|paraphrase|summari[sz]e|correct|grammar|edit|polish|shorten|analy[sz]e"
_ROLE_PLAY = re.compile(
    r"\brole-?\s?play|\bpretend\b|\bact as\b|\bact like\b|^(?:now )?you are (?:a|an|my|the|now)\b|^you're (?:a|an) \w+"
    r"|\bplay the (?:role|part)\b|\bimagine\b|\bin (?:my|the|this|our) (?:story|novel|book|game|script|screenplay|scene)\b"
    r"|\b(?:my|the) (?:character|protagonist|hero|narrator|persona)(?:'s)?\b|\bbackstory\b|\bin character\b",
    re.IGNORECASE,
)
_MAY_PLAY = re.compile(_ROLE_PLAY.pattern.replace("^", ""), re.IGNORECASE)
_PLAYED = re.compile(
    rf"{_ROLE_PLAY.pattern}"
    rf"|^(?:please |can you |could you |help me |pls )*(?:{_TRANSFORM})\b|^(?:fix|check|improve) (?:the|this|my) "
    r"|^(?:assume|suppose|hypothetically|let's say|let us say|say)\b|\bjust kidding\b|\bi'm kidding\b|\bi am kidding\b"
    r"|\bhere(?:'s| is| are) (?:what|how|my (?:\w+ )?(?:text|essay|letter|draft|story|email|script|poem|bio|cv|resume)"
    r"|the (?:\w+ )?(?:text|essay|letter|draft|story|email|message|paragraph|article|transcript))\b"
    r"|\b(?:wrote|writes|said|says|reads|following|goes)\s*(?:this|that|text|paragraph|message|email)?\s*:",
    re.IGNORECASE,
)
# What is to be written says nothing of who asks for it.
_ASKED_FOR = re.compile(
    r"\b(?:write|draft|compose|generate|come up with|create) (?:me |us |him |her |up )?(?:a|an|the|some|my|two|three|\d+) "
    r"|\b(?:sentence|phrase|line|text|word|string|example)s?\b.{0,20}[\"“]|¤",
    re.IGNORECASE,
)
