"""How much a sentence says on a question: its words, its meaning, and whether it holds what is asked for.

What is asked for is read from the question: a time, a number, a place, a reason. A question is no answer, and neither
is a greeting.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np

from recollect.answer.intents import Intent
from recollect.index.passages import is_person
from recollect.models.embedding.static import StaticEmbedder
from recollect.record import Message, Role
from recollect.search.query.question import Question, read_question
from recollect.search.results.snippet import densest
from recollect.text.dates import ANY_MONTH, ANY_WEEKDAY
from recollect.text.markdown import code_blocks
from recollect.text.sentences import sentence_places
from recollect.text.terms import terms


def _signs(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


NUMBER = _signs(
    r"\d | \b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|half|hundred|thousand|once|twice)\b"
    r" | [一二三四五六七八九十]"
)
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
#: How something is, and that it is so for a day alone.
STATE = _signs(r"\b(?: is|are|am | has|have | costs?|weighs?|lasts?|charges? )\b | ['’](?:s|m|re)\b")
PASSING = _signs(
    r"\b(?: today|tonight|yesterday|tomorrow | this\ (?:morning|afternoon|evening|week|month|time) | currently\ at"
    r" | was|were|had )\b | \?"
)
TIME = _signs(
    rf"""\b(?:19|20)\d\d\b | \b\d{{1,2}}(?: :\d\d | \s?[ap]m\b | (?:st|nd|rd|th)\b ) | \b(?:
        {ANY_MONTH}
      | {ANY_WEEKDAY} | today|tonight|yesterday|tomorrow | ago|last|next
      | week(?:end|s)?|month|years? | spring|summer|autumn|winter | morning|evening | since|until
    )\b | \d+[月日年号] | 昨天|今天|明天|上周|下周"""
)
PLACE = re.compile(r"\b(?:in|at|to|from|near|on|by)\s+(?:the\s+)?[A-Z]\w+|\b(?:street|road|city|town|park|beach)\b")
#: That a reason is given, plainly or by the way.
CAUSE = _signs(
    r"""\b(?:
        because|since|therefore|hence | so\ that | due\ to | thanks\ to | in\ order\ to | the\ (?:main\ )?reasons?
      | deciding | which\ (?:is\ why|means) | that(?:'s|\ is)\ why | the\ point\ is | inspired
    )\b | 因为|所以|由于|为了"""
)
REASON = _signs(
    CAUSE.pattern
    + r""" | \b(?:
        otherwise | so\ (?:i|we)\b | instead\ of | rather\ than | better|cheaper|simpler|easier|faster|safer
      | benefits?|advantages?|drawbacks? | matters?|important | need(?:s|ed)? | want(?:s|ed)?\ to | makes?
      | reminds? | love[sd]? | hope
    )\b"""
)
CHOICE = _signs(
    r"""\b(?:
        decid(?:ed|e|ing) | decision | chose|chosen | (?:i|we)['’]?(?:ll|d)?\ (?:go|choose|pick|use|take|keep|stay|drop)
      | (?:going|go|went|gone)\ (?:with|for) | settled?\ (?:on|for) | picked|opted|agreed|dropped
      | let['’]s\ (?:go|use|take|do|keep|drop) | switch(?:ed|ing)?\ to | mov(?:ed|ing)\ to | ended\ up
      | no\ \w+\ for\ now | signed|bought|booked|ordered|hired|accepted|rejected|cancelled
    )\b | 决定|选择了?|最终"""
)
ASKS_WHY = _signs(r"\bwhy\b | \bhow\ come\b | \breasons?\b | 为什么|原因")

#: How questions begin, and what one says that tells something as well.
QUESTION = _signs(
    r"""\W*(?:(?:and|so|but|also|then|or|ok(?:ay)?|hey|hi|great|thanks|well|now|hmm)\b[,:!.\ ]*){0,3}(?:
        what|which|who|whom|whose|when|where|why|how | is|are|was|were|am | do|does|did
      | can|could|would|will|shall|should|may|might | has|have|had | any|if
    )\b | [^?]{0,200}[吗呢么][?？]"""
)
UNMARKED = _signs(
    r"""\W*(?:(?:and|so|but|ok(?:ay)?|now|hi|hey)\b[,:.\ ]*){0,2}(?:
        (?:what|which|how|why|who|where)\b(?!.*[.!:;…]\s*$)
      | how\ (?:do|can|to)\b | (?:can|could|should|do|does)\ (?:i|we|you)\b
    )[^.!]*$"""
)
TELLS = _signs(r"\b(?:i|we)(?:['’](?:m|ve|d)|\ (?:am|was|have|had|want(?:ed)?|need(?:ed)?|got|made|just))\b")

GREETING = _signs(
    r"""(?:\W*(?:
        hi|hey|hello | thanks?|thank\ you | so\ much|a\ lot|very\ much | sure|great|ok(?:ay)?|wow|nice|cool|done|right
      | yes|yeah|yep|no|nope | good\ (?:question|morning|idea|plan|catch|choice|point|luck) | got\ it | of\ course
      | absolutely|certainly|exactly|agreed|perfect|awesome | bye|take\ care | you['’]re\ welcome
      | sounds\ (?:good|great) | that['’]s\ (?:so\ |really\ )?(?:great|awesome|amazing|cool|good|nice)
      | for\ (?:the|your)\ (?:help|advice|tips?|information)
    )\b)*\W*"""
)
OFFER = _signs(
    r"""\W*(?:
        (?:i\ )?hope\ (?:this|that|it)\ helps? | let\ me\ know | feel\ free | happy\ to\ help | would\ you\ like
      | do\ you\ want\ me\ to | i['’](?:d|ll)\ be\ happy | shall\ i\b | if\ you\ have\ any | good\ luck
      | if\ you\ (?:need|want|like)\b.{0,60}(?:let\ me\ know|ask|tell\ me)
    )"""
)
REFERS = _signs(
    r"""\W*(?:
        it|its|it's | they|their|they're|them | this|that|that's|those|these | he|she|his|her | there|then
      | so|but|and|also|however|instead|otherwise|therefore|because | both|such|neither|either|same|one|which|or
      | yes|no|yeah|yep|sure
    )\b | \W*(?:它|他|她|这|那|但|所以|因此|而且)"""
)
CODE = re.compile(r"[{}<>;=\\|$]|\(\)|->")
#: A name with which some exports begin each message.
LABEL = re.compile(r"\W{0,2}[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,2}:\s+")


# A message cut into what can be quoted: sentences, items of lists, rows of tables, blocks of code, with their
# places.

Place = tuple[int, int]


class SpanKind(StrEnum):
    """What a span is."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    HEADING = "heading"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """`content[start:end]`. `lead` is the place of what introduces it, `before` that of the sentence it follows in its
    paragraph. `language` is what a block of code says it is in.
    """

    kind: SpanKind
    start: int
    end: int
    lead: Place | None = None
    before: Place | None = None
    language: str = ""

    def of(self, content: str) -> str:
        """The words."""
        return content[self.start : self.end]

    def asks(self, content: str) -> bool:
        """Whether it is a question and tells nothing besides: "I moved to Rome in May, what should I see?" does."""
        text = self.of(content).rstrip("\"'”’)*_ ")
        if not text.endswith(("?", "？", "؟")):
            return False
        return len(text) < _SHORT_QUESTION or (bool(QUESTION.match(text)) and not TELLS.search(text))


_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•–][ \t]+(?:\[[ xX]\][ \t]+)?|\(?\d{1,3}[.)、][ \t]+)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+|[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*$")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_RULE = re.compile(r"[\s|:*_=–-]*")
_SHORT_QUESTION = 60  # characters
_WRAPPED = 50  # characters of a line that may be cut where the next one goes on


def spans(content: str) -> list[QuoteSpan]:
    """All of a message, in order, without what only lays it out."""
    found: list[QuoteSpan] = []
    at = 0
    for block in code_blocks(content):
        found += _prose(content, at, block.start)
        at = block.end
        if code := block.of(content).rstrip():
            lead = _lead_of_code(content, found)
            found.append(QuoteSpan(SpanKind.CODE, block.first, block.first + len(code), lead, language=block.language))
    return found + list(_prose(content, at, len(content)))


def _lead_of_code(content: str, found: list[QuoteSpan]) -> Place | None:
    """The last line before a block, which says what it is."""
    if not found or found[-1].kind is SpanKind.CODE:
        return None
    last = found[-1]
    return last.start, last.end


def _prose(content: str, start: int, end: int) -> Iterator[QuoteSpan]:
    lead: Place | None = None
    before: Place | None = None
    head: Place | None = None
    for first, last in _lines(content, start, end):
        line = content[first:last]
        if not line.strip() or _RULE.fullmatch(line):
            before = None
            continue
        if line.lstrip().startswith("|") and line.count("|") > 1:
            if head is None:
                head = (first, last)
            else:
                yield QuoteSpan(SpanKind.ROW, *_cells(content, first, last), head)
            continue
        head = None
        marked = _HEADING.match(line)
        if marked:
            at = first + (marked.end() if not marked[1] else 0)
            lead, before = _trimmed(content, at, last), None
            if lead[0] < lead[1]:
                yield QuoteSpan(SpanKind.HEADING, *lead)
            continue
        item = _ITEM.match(line)
        begins = first + (item.end() if item else 0)
        if quoted := _QUOTED.match(content, begins, last):
            begins = quoted.end()
        before = None if item else before
        for one in sentence_places(content, begins, last):
            kind = SpanKind.ITEM if item else SpanKind.SENTENCE
            yield QuoteSpan(kind, *one, lead if item or before is None else None, before)
            before = one
        if before is not None and content[: before[1]].rstrip("*_ ").endswith((":", "：")):
            if not item:
                lead = before
        elif not item:
            lead = None


def _lines(content: str, start: int, end: int) -> Iterator[Place]:
    """The lines, those in one that were cut only to be short."""
    first = start
    while first < end:
        last = content.find("\n", first, end)
        last = end if last < 0 else last
        while last < end and _goes_on(content, first, last, end):
            after = content.find("\n", last + 1, end)
            last = end if after < 0 else after
        yield first, last
        first = last + 1


def _goes_on(content: str, first: int, last: int, end: int) -> bool:
    line = content[content.rfind("\n", first, last) + 1 : last].rstrip() if "\n" in content[first:last] else ""
    line = line or content[first:last].rstrip()
    if content.count("`", first, last) % 2:  # within code
        return True
    following = content[last + 1 : end].lstrip(" \t")
    return (
        len(line) >= _WRAPPED
        and line[-1] not in ".!?:;|。！？：…"
        and bool(following)
        and following[0].islower()
        and not _ITEM.match(following)
    )


def _cells(content: str, start: int, end: int) -> Place:
    """A row of a table without the bars that frame it."""
    first, last = _trimmed(content, start, end)
    first, last = _trimmed(content, first + (content[first] == "|"), last - (content[last - 1] == "|"))
    return (first, last) if first < last else _trimmed(content, start, end)


def _trimmed(content: str, start: int, end: int) -> Place:
    while start < end and content[start].isspace():
        start += 1
    while end > start and content[end - 1].isspace():
        end -= 1
    return start, end


_LONG, _AROUND = 16_000, 12_000  # characters of a message, and of what is read of a longer one
_LONG_QUESTION = 140  # characters
_MOST = 160  # spans of a message that are weighed by their meaning

#: They say that something was chosen, and not what.
_CHOOSING = frozenset(
    terms(
        "choose chose chosen decide decided decision pick picked drop dropped use used switch switched go went reason"
    )
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A span of a message with what it is worth. `share` is how much of the question's words it holds itself."""

    message: Message
    span: QuoteSpan
    worth: float
    share: float

    @property
    def text(self) -> str:
        """The words."""
        return self.span.of(self.message.content)

    @property
    def asks(self) -> bool:
        """Whether it is a question: a user's may go without its mark."""
        return self.span.asks(self.message.content) or (
            self.message.role is Role.USER and bool(UNMARKED.match(self.text)) and len(self.text) < _LONG_QUESTION
        )

    @property
    def prose(self) -> bool:
        """Whether it is a sentence or an item that tells something."""
        return self.span.kind in (SpanKind.SENTENCE, SpanKind.ITEM) and not self.asks


class Scale:
    """Weighs what messages say against one question; how telling its words are, `messages` tell."""

    def __init__(self, question: str, messages: Iterable[Message], intent: Intent = Intent.QA) -> None:
        self.question: Question = read_question(question)
        self._intent = intent
        self._why = bool(ASKS_WHY.search(question)) or intent is Intent.DECISION
        told = {m.id: m for m in messages}.values()
        self._spans = {m.id: (m, _spans_of(m, self.question.terms)) for m in told}
        speakers = {term for m in told if is_person(m.speaker) for term in terms(m.speaker or "")}
        empty = speakers | (_CHOOSING if intent is Intent.DECISION else frozenset())
        self.terms = [term for term in self.question.terms if term not in empty] or list(self.question.terms)
        self._idf = self._weights(self.terms)
        self._total = sum(self._idf.values()) or 1.0
        self._known: dict[str, list[Weighed]] = {}
        meaning = not self.question.is_foreign_script
        self._vector = _embedder().embed([self.question.clean])[0] if meaning else None

    def weigh(self, message: Message) -> list[Weighed]:
        """Its spans with what they are worth, in order."""
        if message.id not in self._known:
            found = self._spans[message.id][1] if message.id in self._spans else _spans_of(message, self.terms)
            self._known[message.id] = self._weigh(message, found[:_MOST])
        return self._known[message.id]

    def best(self, message: Message) -> Weighed | None:
        """The span that says most; None for a message without words."""
        return max(self.weigh(message), key=lambda one: one.worth, default=None)

    def _weigh(self, message: Message, found: Sequence[QuoteSpan]) -> list[Weighed]:
        if not found:
            return []
        content = message.content
        near = np.zeros(len(found))
        if self._vector is not None:
            near = _embedder().embed([one.of(content) for one in found]) @ self._vector
        shares = [self.share(one.of(content)) for one in found]
        weighed = []
        for place, (span, share) in enumerate(zip(found, shares, strict=True)):
            lent = max((self.share(content[a:b]) for a, b in filter(None, (span.lead, span.before))), default=0.0)
            worth = share + 0.4 * max(0.0, lent - share) + 0.8 * float(near[place]) + self._fits(message, span)
            weighed.append(Weighed(message, span, worth - 0.01 * place / len(found), share))
        return weighed

    def share(self, text: str) -> float:
        """How much of the question's words a text holds, the telling ones counting more."""
        held = set(terms(text))
        return sum(weight for term, weight in self._idf.items() if term in held) / self._total

    def _fits(self, message: Message, span: QuoteSpan) -> float:
        """What it gains for holding what is asked for, and loses for being no answer."""
        text, question = span.of(message.content), self.question
        gain = 0.0
        if question.asks_when and TIME.search(text):
            gain += 0.25
        if question.asks_how_many and NUMBER.search(text):
            gain += 0.25
        if question.asks_where and PLACE.search(text):
            gain += 0.15
        if self._why and REASON.search(text):
            gain += 0.2
        if span.asks(message.content):
            gain -= 0.5
        if span.kind is SpanKind.HEADING:
            gain -= 0.6
        if span.kind is SpanKind.CODE:
            gain -= 0.4
        if len(CODE.findall(text)) > max(3, len(text) // 30):  # code outside of a block
            gain -= 0.5
        if text.rstrip().endswith((":", "：")):
            gain -= 0.7
        if GREETING.fullmatch(text) or OFFER.match(text):
            gain -= 0.6
        return gain

    def _weights(self, wanted: Sequence[str]) -> dict[str, float]:
        """How telling each term is among these spans."""
        held = Counter[str]()
        count = 0
        for message, found in self._spans.values():
            for span in found:
                count += 1
                held.update(set(terms(span.of(message.content))).intersection(wanted))
        return {term: math.log(1 + (count + 1) / (held[term] + 1)) for term in wanted}


def _spans_of(message: Message, wanted: Sequence[str]) -> list[QuoteSpan]:
    """Those of a message without the speaker's name before them; of a huge one those where most of the words are."""
    content = message.content
    found = spans(content)
    if len(content) > _LONG:
        middle = densest(content, wanted)
        first, last = max(0, middle - _AROUND // 2), middle + _AROUND // 2
        found = [span for span in found if first <= span.start and span.end <= last]
    label = LABEL.match(content) if is_person(message.speaker) else None
    if label and found and found[0].start < label.end() < found[0].end:
        found[0] = replace(found[0], start=label.end())
    return found


@lru_cache(maxsize=1)
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()
