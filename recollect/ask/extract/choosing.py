"""Which words of each passage are quoted, so that all together stay short: each quote with its place and its number."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from recollect.ask.answer import Citation
from recollect.ask.evidence import Evidence, Passage
from recollect.ask.extract import showing
from recollect.ask.extract.spans import Kind, Place, Span
from recollect.ask.extract.weighing import Scale, Weighed
from recollect.record import Message, NodeId
from recollect.search.relative import relative_dates
from recollect.text.terms import terms

MOST_WORDS, MOST_CITED = 120, 5
_ATTRIBUTION = 4  # words that say who and when
_FIRST, _LEAST = 50, 16  # words of the first quote, and that each other one may have at least
_COMPARED = 5  # passages that are put in an order of our own
_SENTENCE = 0.25  # of a passage's score, what its best sentence is worth (benchmarks/ask.py)
_LONGEST = 60, 36, 26, 20  # words of a quote: as many as leave room for all quotes
_ASKED = 12  # words of a question before its answer
_NEAR, _NEAR_WORDS = 3.0, 18  # below the best is only near; words of what is near
_FEWEST, _LESS = 6, 0.3  # words of a sentence that stands for a longer one, and what it may be worth less
_WORTH_MORE = 0.12  # what a sentence beside a quote must be worth to be quoted as well
_PROSE = (Kind.SENTENCE, Kind.ITEM)
_SHORT = 9  # words of a message that says nothing without what it answers


@dataclass(frozen=True, slots=True)
class Draft:
    """A text with numbers, and what they stand for: 1, 2, 3 …"""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage, or of what stands beside it; `place` is where they are in the message. `context` is what they
    refer to, in words: what introduces them, the question that they answer.
    """

    passage: Passage
    message: Message
    span: Span
    place: Place
    worth: float
    share: float
    context: str = ""
    asked: Quote | None = None  # the question that they answer, cited as well
    is_near: bool = False  # and no more than that: others are clearly better
    instead: str = ""  # what is told in place of the words, where these are long

    @property
    def text(self) -> str:
        """As it is shown, with its context."""
        return self.instead or self.context + showing.told(self.message.content, self.span, self.place)

    def citation(self, number: int) -> Citation:
        """With this number."""
        p = self.passage
        return Citation(number, self.message, p.conversation, *self.place, p.cited, p.offset)


class Chooser:
    """Chooses quotes from the evidence for a question."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.scale = Scale(evidence.question, [p.message for p in evidence.passages], evidence.intent)
        self.wanted = frozenset(self.scale.terms)
        known = [*evidence.around, *(p.message for p in evidence.passages if not p.cited)]
        self.passages = self._ranked()
        self._at = {(m.conversation_id, m.position): m for m in known}

    def _ranked(self) -> list[tuple[Passage, float]]:
        """The passages with what they are worth, best first: what the search says of each, and what its best sentence
        does. A part of a document is worth what the message before it is, for their scores do not compare.
        """
        found, score = list[tuple[Passage, float]](), 0.0
        for place, passage in enumerate(self.evidence.passages):
            score = score if passage.cited and place else passage.score
            best = self.scale.best(passage.message) if place < _COMPARED else None
            found.append((passage, score + (_SENTENCE * best.worth if best is not None else 0.0)))
        return sorted(found[:_COMPARED], key=lambda pair: -pair[1]) + found[_COMPARED:]

    def quotes(self, most: int = MOST_CITED, without: Collection[NodeId] = ()) -> list[Quote]:
        """The best of each of the best passages, no message twice, with at most so many citations. A question that was
        answered stands before its answer.
        """
        found, asked = dict[NodeId, Quote](), dict[NodeId, Passage]()
        top = self.passages[0][1] if self.passages else 0.0
        for passage, worth in self.passages:
            if len(found) + len(asked) >= most:
                break
            message, answer = passage.message, self._answered(passage)
            if answer is not None and answer.id not in asked and len(found) + len(asked) + 1 < most:
                asked[answer.id] = passage
                message = answer
            if message.id in found or message.id in without or (best := self.scale.best(message)) is None:
                continue
            is_near = worth < top - _NEAR or bool(without)
            quote = self.quote(passage, best, _NEAR_WORDS if is_near else _FIRST)
            found[message.id] = replace(quote, is_near=is_near)
        return [self._with_question(quote, asked.get(message)) for message, quote in found.items()]

    def _answered(self, passage: Passage) -> Message | None:
        """What answers a passage that only asks."""
        return self.answer_to(passage.message) if self._only_asks(passage.message) else None

    def _with_question(self, quote: Quote, asked: Passage | None) -> Quote:
        best = self.scale.best(asked.message) if asked is not None else None
        if asked is None or best is None:
            return quote
        return replace(quote, context="", asked=self.quote(asked, best, _ASKED))

    def pool(self) -> list[tuple[Passage, Message]]:
        """Every message that may be quoted, with the passage that leads to it: the passages, then what is around."""
        led = [(p, p.message) for p in self.evidence.passages]
        of = {p.message.conversation_id: p for p in reversed(self.evidence.passages) if not p.cited}
        there = {p.message.id for p in self.evidence.passages}
        return led + [(of[m.conversation_id], m) for m in self.evidence.around if m.id not in there]

    def changed(self) -> list[Quote]:
        """What holds now and what held before, where a fact that answers has not always held."""
        quotes = []
        for change in self.evidence.changes[:1]:
            for number, held in enumerate(change.statements):
                since = f"since {showing.day(held.since)}" if held.since else ""
                head = since or "now" if not number else ", ".join(filter(None, ("before that", since)))
                span = Span(Kind.SENTENCE, held.start, held.end)
                passage = Passage(0, held.message, held.conversation, 0.0)
                told = f"{head[0].upper()}{head[1:]}: {showing.plain(held.text)}"
                quotes.append(Quote(passage, held.message, span, (held.start, held.end), 1.0, 1.0, instead=told))
        return quotes

    def quote(self, passage: Passage, best: Weighed, room: int = _FIRST) -> Quote:
        """A span as a quote of at most so many words."""
        content = best.message.content
        place = showing.whole(content, best.span, room)
        place = showing.shortened(content, place, self.wanted, room)
        return Quote(passage, best.message, best.span, place, best.worth, best.share, self._context(best, place))

    def within(self, quotes: Sequence[Quote], words: int = MOST_WORDS) -> list[Quote]:
        """The quotes, each as long as there is room for all of them; what is left over goes to the first ones."""
        fitted = list[Quote]()
        for longest in _LONGEST:
            short = [quote if _size(quote) <= longest else self._cut(quote, longest) for quote in quotes]
            fitted = self._fitted(short, words)
            if len(fitted) == len(quotes):
                break
        left = words - sum(map(_size, fitted))
        for place, quote in enumerate(fitted):
            if not quote.is_near:
                longer = self._longer(quote, _size(quote) + left)
                left -= _size(longer) - _size(quote)
                fitted[place] = longer
        return fitted

    def _fitted(self, quotes: Sequence[Quote], words: int) -> list[Quote]:
        """The quotes cut to the room that there is, without those for which there is none."""
        left, fitted = words, list[Quote]()
        sizes = [_size(quote) for quote in quotes]
        for place, quote in enumerate(quotes):
            waiting = sizes[place + 1 :]
            room = max(left - sum(waiting), (left - sum(min(size, _LEAST) for size in waiting)) // (1 + bool(place)))
            one = quote if sizes[place] <= room else self._cut(quote, room)
            if _size(one) <= left:
                left -= _size(one)
                fitted.append(one)
        return fitted

    def _longer(self, quote: Quote, room: int) -> Quote:
        """The quote with the sentences around it that say most besides, while there is room."""
        if quote.instead:
            return quote
        told = self.scale.weigh(quote.message)
        at = next(i for i, one in enumerate(told) if one.span == quote.span)
        if quote.span.kind not in _PROSE or quote.place[1] < quote.span.end:
            return quote
        first = last = at
        while first and told[first - 1].span.start >= quote.place[0]:
            first -= 1
        while True:
            beside = [i for i in (first - 1, last + 1) if 0 <= i < len(told) and told[i].span.kind in _PROSE]
            telling = [i for i in beside if told[i].worth > _WORTH_MORE and not told[i].asks]
            fitting = [(told[i].worth, i) for i in telling if i < at or told[i].text[-1] not in ":："]
            for _, i in sorted(fitting, reverse=True):
                place = min(quote.place[0], told[i].span.start), max(quote.place[1], told[i].span.end)
                longer = replace(quote, place=place, context=quote.context if i > at else "")
                if _size(longer) <= room and not _code_in(told, place):
                    quote, first, last = longer, min(first, i), max(last, i)
                    break
            else:
                return quote

    def _cut(self, quote: Quote, room: int) -> Quote:
        """The quote in at most so many words: rather another whole sentence that says nearly as much than a piece."""
        if quote.instead:
            return quote
        most = max(room - _size(quote) + showing.size(quote.text), _FEWEST)
        told = [one for one in self.scale.weigh(quote.message) if one.prose and one.worth > quote.worth - _LESS]
        telling = [one for one in told if one.share >= quote.share / 2]
        if whole := [one for one in telling if _FEWEST <= showing.size(one.text) <= most]:
            shorter = self.quote(quote.passage, max(whole, key=lambda one: one.worth), most)
            return replace(shorter, asked=quote.asked, is_near=quote.is_near)
        context = quote.context if showing.size(quote.context) * 2 < most else ""
        span = (quote.span.start, quote.span.end)
        place = showing.shortened(quote.message.content, span, self.wanted, max(most - showing.size(context), _FEWEST))
        return replace(quote, place=place, context=context)

    def _only_asks(self, message: Message) -> bool:
        """Whether it tells nothing: each of its sentences is a question or says less than a few words."""
        telling = [w for w in self.scale.weigh(message) if not w.asks and w.span.kind is not Kind.HEADING]
        return not any(showing.size(w.text) >= 4 for w in telling) and message.content.rstrip().endswith(("?", "？"))

    def answer_to(self, message: Message) -> Message | None:
        """What was said next by somebody else."""
        for position in (message.position + 1, message.position + 2):
            other = self._at.get((message.conversation_id, position))
            if other is not None and other.active and _voice(other) != _voice(message):
                return other
        return None

    def before(self, message: Message) -> Message | None:
        """What was said before by somebody else."""
        for position in (message.position - 1, message.position - 2):
            other = self._at.get((message.conversation_id, position))
            if other is not None and other.active and _voice(other) != _voice(message):
                return other
        return None

    def _context(self, best: Weighed, place: Place) -> str:
        content = best.message.content
        lead = showing.lead_of(content, best.span, place)
        if lead and showing.size(lead) <= 14:
            return lead
        if showing.size(content) < _SHORT and (asked := self.before(best.message)):
            last = [w for w in self.scale.weigh(asked) if w.asks][-1:]
            if last and showing.size(last[0].text) <= 20:
                return f"“{showing.plain(last[0].text)}” – "
        return ""


def speaker_of(quote: Quote) -> str:
    """Who said it; of a part of a document the file and the place."""
    return quote.passage.cited or showing.speaker(quote.message)


def dates_of(quote: Quote) -> str:
    """What "yesterday" and the like meant on the day that it was said; nothing where there are no such words."""
    said = quote.message.timestamp
    if said is None:
        return ""
    found = relative_dates(quote.message.content[slice(*quote.place)], said.date())
    shown = [
        showing.day(span.start) if span.start == span.end else f"{showing.day(span.start)} to {showing.day(span.end)}"
        for span in dict.fromkeys(found)
    ]
    return f" ({'; '.join(shown)})" if shown else ""


def best_quote(passage: Passage, wanted: frozenset[str]) -> Citation:
    """The sentence of a passage that holds most of the wanted terms, the first of equals."""
    from recollect.ask.extract.spans import spans

    content = passage.message.content
    found = [span for span in spans(content) if span.kind is not Kind.HEADING] or spans(content)
    if not found:
        return Citation(
            passage.number, passage.message, passage.conversation, 0, len(content), passage.cited, passage.offset
        )
    best = max(found, key=lambda span: (len(wanted & set(terms(span.of(content)))), not span.asks(content)))
    place = showing.shortened(content, (best.start, best.end), wanted, _FIRST)
    return Citation(passage.number, passage.message, passage.conversation, *place, passage.cited, passage.offset)


def _size(quote: Quote) -> int:
    """Words, with those that say whose they are."""
    return showing.size(quote.text) + _ATTRIBUTION + (showing.size(quote.asked.text) + 1 if quote.asked else 0)


def _code_in(told: Sequence[Weighed], place: Place) -> bool:
    return any(o.span.kind not in _PROSE and place[0] <= o.span.start and o.span.end <= place[1] for o in told)


def _voice(message: Message) -> tuple[str, str]:
    return message.role.value, message.speaker or ""
