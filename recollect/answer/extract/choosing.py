"""Which words of each passage are quoted, so that all together stay short: each quote with its place and its number."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from recollect.answer.evidence import Evidence, SourcePassage, Statement
from recollect.answer.extract import quotes as showing
from recollect.answer.extract.quotes import FIRST, Quote, dated, size_of, stated
from recollect.answer.extract.weighing import FIGURE, PASSING, STATE, Place, Scale, SpanKind, Weighed
from recollect.answer.intents import Intent
from recollect.record import Message, NodeId, Role, iso
from recollect.text.terms import terms

MOST_WORDS = 112  # of the 120 of an answer: the rest is for dashes and headings
MOST_CITED = 5
_LEAST = 16  # words that each quote may have
_COMPARED = 5  # passages that are put in an order of our own
_SENTENCE = 0.25  # of a passage's score, what its best sentence is worth (benchmarks/ask.py)
_QUOTE_WORDS = 60, 36, 26, 20  # words of a quote: as many as leave room for all quotes
_ALL = 0.99  # of what is asked for, that a fact must hold to be told first
_ASKED = 12  # words of a question before its answer
_NEAR, _NEAR_WORDS = 3.0, 18  # below the best is only near; words of what is near
_FEWEST, _LESS = 6, 0.3  # words of a sentence that stands for a longer one, and what it may be worth less
_WORTH_MORE = 0.12  # what a sentence beside a quote must be worth to be quoted as well
_PROSE = (SpanKind.SENTENCE, SpanKind.ITEM)
_TELLING = 4  # words of a sentence that tells something beside a question
_SHORT = 9  # words of a message that says nothing without what it answers


class Chooser:
    """Chooses quotes from the evidence for a question."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.scale = Scale(evidence.question, [p.message for p in evidence.passages], evidence.intent)
        self.wanted = frozenset(self.scale.terms)
        known = [*evidence.around, *(p.message for p in evidence.passages if not p.cited)]
        self.passages = self._ranked()
        self._at = {(m.conversation_id, m.position): m for m in known}

    def _ranked(self) -> list[tuple[SourcePassage, float]]:
        """The passages with what they are worth, best first: what the search says of each, and what its best sentence
        does. A part of a document is worth what the message before it is, for their scores do not compare.
        """
        found, score = list[tuple[SourcePassage, float]](), 0.0
        for place, passage in enumerate(self.evidence.passages):
            score = score if passage.cited and place else passage.score
            best = self.scale.best(passage.message) if place < _COMPARED else None
            found.append((passage, score + (_SENTENCE * best.worth if best is not None else 0.0)))
        return sorted(found[:_COMPARED], key=lambda pair: -pair[1]) + found[_COMPARED:]

    def quotes(self, most: int = MOST_CITED, without: Collection[NodeId] = ()) -> list[Quote]:
        """The best of each of the best passages, no message twice, with at most so many citations. A question that was
        answered stands before its answer.
        """
        found, asked = dict[NodeId, Quote](), dict[NodeId, SourcePassage]()
        top = self.passages[0][1] if self.passages else 0.0
        for passage, worth in self.passages:
            if len(found) + len(asked) >= most:
                break
            message, answer = passage.message, self._answered(passage)
            if answer is not None and answer.id not in asked and len(found) + len(asked) + 1 < most:
                asked[answer.id] = passage
                message = answer
            best = self.scale.best(message) if message is passage.message else self._reply(message, passage.message)
            if message.id in found or message.id in without or best is None:
                continue
            is_near = worth < top - _NEAR or bool(without)
            quote = self.quote(passage, best, _NEAR_WORDS if is_near else FIRST)
            found[message.id] = replace(quote, is_near=is_near)
        return [self._with_question(quote, asked.get(message)) for message, quote in found.items()]

    def _answered(self, passage: SourcePassage) -> Message | None:
        """What answers a passage that only asks, or that asks at its end what is looked for."""
        asks = self._only_asks(passage.message) or self._asks_at_its_end(passage.message)
        return self.answer_to(passage.message) if asks else None

    def _reply(self, answer: Message, asked: Message) -> Weighed | None:
        """What replies to a question: what takes up most of its words, else what says most."""
        asking = self.scale.best(asked)
        words = frozenset(terms(asking.text)) if asking is not None else frozenset()

        def replies(one: Weighed) -> tuple[int, float]:
            return len(words & set(terms(one.text))) if one.prose else 0, one.worth

        return max(self.scale.weigh(answer), key=replies, default=None)

    def _with_question(self, quote: Quote, asked: SourcePassage | None) -> Quote:
        best = self.scale.best(asked.message) if asked is not None else None
        if asked is None or best is None:
            return quote
        return replace(quote, context="", asked=self.quote(asked, best, _ASKED))

    def pool(self) -> list[tuple[SourcePassage, Message]]:
        """Every message that may be quoted, with the passage that leads to it: the passages, then what is around."""
        led = [(p, p.message) for p in self.evidence.passages]
        of = {p.message.conversation_id: p for p in reversed(self.evidence.passages) if not p.cited}
        there = {p.message.id for p in self.evidence.passages}
        return led + [(of[m.conversation_id], m) for m in self.evidence.around if m.id not in there]

    def known(self) -> list[Quote]:
        """What a fact says that holds all that is asked for, in the words that prove it; where it has not always held,
        what holds now and what held before.
        """
        for change in self.evidence.changes:
            fact = change[0]
            is_named = len(self.scale.terms) > 1 or (fact.is_own and self.scale.question.is_personal)
            if is_named and self.scale.share(fact.text) > _ALL:
                if len(change) > 1:
                    return [stated(held, not place) for place, held in enumerate(change)]
                return self._proof(fact)
        return []

    def _proof(self, held: Statement) -> list[Quote]:
        """The sentence that a fact was drawn from."""
        told = [one for one in self.scale.weigh(held.message) if one.prose and one.span.end > held.start]
        return [self.quote(SourcePassage(0, held.message, held.conversation, 0.0), told[0])] if told else []

    def quote(self, passage: SourcePassage, best: Weighed, room: int = FIRST) -> Quote:
        """A span as a quote of at most so many words."""
        content = best.message.content
        place = showing.whole(content, best.span, room)
        place = showing.shortened(content, place, self.wanted, room)
        context = self._context(best, place, passage)
        dates = self.scale.question.asks_when and self.evidence.intent is Intent.QA
        return Quote(passage, best.message, best.span, place, best.worth, best.share, context, tells_dates=dates)

    def within(self, quotes: Sequence[Quote], words: int = MOST_WORDS) -> list[Quote]:
        """The quotes, each as long as there is room for all of them; what is left over goes to the first ones."""
        quotes = dated(quotes)
        fitted = list[Quote]()
        for longest in _QUOTE_WORDS:
            short = [quote if size_of(quote) <= longest else self._cut(quote, longest) for quote in quotes]
            fitted = self._fitted(short, words)
            if len(fitted) == len(quotes):
                break
        left = words - sum(map(size_of, fitted))
        for place, quote in enumerate(fitted):
            if not quote.is_near:
                longer = self._longer(quote, size_of(quote) + left)
                left -= size_of(longer) - size_of(quote)
                fitted[place] = longer
        return fitted

    def _fitted(self, quotes: Sequence[Quote], words: int) -> list[Quote]:
        """The quotes cut to the room that there is, without those for which there is none."""
        left, fitted = words, list[Quote]()
        sizes = [size_of(quote) for quote in quotes]
        for place, quote in enumerate(quotes):
            waiting = sizes[place + 1 :]
            room = max(left - sum(waiting), (left - sum(min(size, _LEAST) for size in waiting)) // (1 + bool(place)))
            one = quote if sizes[place] <= room else self._cut(quote, room)
            if size_of(one) <= left:
                left -= size_of(one)
                fitted.append(one)
        return fitted

    def _longer(self, quote: Quote, room: int) -> Quote:
        """The quote with the sentences around it that say most besides, while there is room."""
        if quote.instead:
            return quote
        told = self.scale.weigh(quote.message)
        at = next((i for i, one in enumerate(told) if one.span == quote.span), None)
        if at is None or quote.span.kind not in _PROSE or quote.place[1] < quote.span.end:
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
                if size_of(longer) <= room and not _code_in(told, place):
                    quote, first, last = longer, min(first, i), max(last, i)
                    break
            else:
                return quote

    def _cut(self, quote: Quote, room: int) -> Quote:
        """The quote in at most so many words: rather another whole sentence that says nearly as much than a piece."""
        if quote.instead:
            return quote
        most = max(room - size_of(quote) + showing.size(quote.text), _FEWEST)
        told = [one for one in self.scale.weigh(quote.message) if one.prose and one.worth > quote.worth - _LESS]
        telling = [one for one in told if one.share >= quote.share / 2]
        if whole := [one for one in telling if _FEWEST <= showing.size(one.text) <= most]:
            shorter = self.quote(quote.passage, max(whole, key=lambda one: one.worth), most)
            return replace(shorter, asked=quote.asked, is_near=quote.is_near, is_dated=quote.is_dated)
        context = quote.context if showing.size(quote.context) * 2 < most else ""
        span = (quote.span.start, quote.span.end)
        place = showing.shortened(quote.message.content, span, self.wanted, max(most - showing.size(context), _FEWEST))
        return replace(quote, place=place, context=context)

    def _only_asks(self, message: Message) -> bool:
        """Whether it tells nothing: each of its sentences is a question or says less than a few words."""
        told = [one for one in self.scale.weigh(message) if one.span.kind is not SpanKind.HEADING]
        return bool(told) and told[-1].asks and all(one.asks or showing.size(one.text) < _TELLING for one in told)

    def _asks_at_its_end(self, message: Message) -> bool:
        """Whether what it says most on the question is a question itself, with which it ends."""
        best = self.scale.best(message)
        return best is not None and best.asks and best.span == self.scale.weigh(message)[-1].span

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

    def _context(self, best: Weighed, place: Place, passage: SourcePassage) -> str:
        content = best.message.content
        lead = showing.lead_of(content, best.span, place, passage.cited)
        if lead and showing.size(lead) <= 14:
            return lead
        if showing.size(content) < _SHORT and (asked := self.before(best.message)):
            last = [w for w in self.scale.weigh(asked) if w.asks][-1:]
            if last and showing.size(last[0].text) <= 20:
                return f"“{showing.plain(last[0].text)}” – "
        return ""


def _code_in(told: Sequence[Weighed], place: Place) -> bool:
    return any(o.span.kind not in _PROSE and place[0] <= o.span.start and o.span.end <= place[1] for o in told)


def _voice(message: Message) -> tuple[str, str]:
    return message.role.value, message.speaker or ""


# What was said of one thing at different times with different figures: the latest holds, and the others held
# before.

_SAME = 0.7  # of the words but figures, what two statements have in common at least (Jaccard)
_LONGEST_STATE = 24  # words: what is longer says more than one thing


def in_succession(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, those of one state together and told with the time from which each held, the latest first."""
    told, left = list[Quote](), list(quotes)
    while left:
        first = left.pop(0)
        same = [other for other in left if _succeeds(first, other)]
        left = [other for other in left if other not in same]
        if not same:
            told.append(first)
            continue
        states = sorted([first, *same], key=lambda quote: iso(quote.message.timestamp) or "", reverse=True)
        told += [_since(quote, "Before that, since" if place else "Since") for place, quote in enumerate(states)]
    return told


def _since(quote: Quote, since: str) -> Quote:
    return replace(quote, instead=f"{since} {showing.day(quote.message.timestamp)}: “{quote.text}”", is_near=False)


def _succeeds(one: Quote, other: Quote) -> bool:
    """Whether both say of the same thing how it is, with other figures, on different days."""
    if not (_is_state(one) and _is_state(other)) or _day(one) == _day(other):
        return False
    words = [frozenset(term for term in terms(quote.text) if not term[0].isdigit()) for quote in (one, other)]
    figures = [frozenset(FIGURE.findall(quote.text)) for quote in (one, other)]
    return figures[0] != figures[1] and len(words[0] & words[1]) >= _SAME * len(words[0] | words[1])


def _is_state(quote: Quote) -> bool:
    """Whether the asker said how something is, rather than how it was or is today."""
    text = quote.text
    return (
        quote.message.role is Role.USER
        and quote.message.timestamp is not None
        and not (quote.instead or quote.asked)
        and showing.size(text) <= _LONGEST_STATE
        and bool(FIGURE.search(text) and STATE.search(text))
        and not PASSING.search(text)
    )


def _day(quote: Quote) -> str:
    return showing.day(quote.message.timestamp)
