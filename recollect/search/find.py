"""From what somebody typed to the messages they meant: question, pool, score, late interaction, groups."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recollect.embedding import QUALITY_TOKENS, Embedder, TokenEmbedder
from recollect.search.grouping import Ranked, by_conversation, by_message
from recollect.search.late import add_late, late_interaction, wanted
from recollect.search.question import Question, named, read_question, without_names
from recollect.search.ranker import Scores, own_coverage, score
from recollect.search.result import SearchResults
from recollect.search.scan import scanned
from recollect.search.snippet import surface
from recollect.search.syntax import Query
from recollect.search.weights import INSTANT, INSTANT_TOPIC, QUALITY, QUALITY_TOPIC, Weights
from recollect.store import IndexDamaged, Space, View
from recollect.store.passages import (
    KINDS,
    PEOPLE,
    SAID_KINDS,
    Bool,
    CandidateQuery,
    Features,
    Filter,
    Float,
    Int,
    Partition,
    TokenRows,
)
from recollect.text.flags import Flag
from recollect.text.terms import is_identifier, terms, words

#: Passages of the instant mode that late interaction scores again (RANKING.md 1).
LATE_POOL = 100

#: How much of a compound counts that holds a word of the question.
_COMPOUND_WEIGHT = 0.6
#: So many token vectors that are still missing are made while the user waits.
_MISSING_TOKENS = 24
#: Typed words, no sentence: at most so many terms.
_FEW_TERMS = 5
#: What it adds to a score to hold all of a few typed words, an identifier as typed, a quotation of a sentence.
_ALL_WORDS, _AS_TYPED, _QUOTED = 6.0, 3.0, 1.0
#: So many passages are ranked for each result wanted; the groups are made of them.
_RANKED = 50
_CLOSE = 0.15  # likelihood under which nothing close was said
_ALL = 0.999  # of the question's idf: every word of it
_LIKE = 0.30  # cosine of a run of sentences from which meaning alone makes a result
_TITLES = 100  # that are scored
#: Cosines of titles between which meaning counts: below are titles that say nothing ("Session 5"), however they vary.
_TITLE_LIKE = (0.05, 0.45)
_TITLE_SHARE = 0.6  # of the question that a title must hold to count


@dataclass(frozen=True, slots=True)
class Search:
    """What to search for, all read and checked."""

    query: Query
    filter: Filter
    limit: int = 10
    group_by: str = "conversation"
    mode: str = "auto"  # auto, instant, quality
    sort: str = "relevance"  # or newest


class Searcher:
    """Searches one space."""

    def __init__(self, space: Space, embedder: Embedder, quality: Callable[[], TokenEmbedder]) -> None:
        self._space, self._embedder, self._quality = space, embedder, quality

    def __call__(self, search: Search) -> SearchResults:
        """Finds, in one snapshot. Where the index is damaged or not made yet, words in the record are all it goes by.

        Raises StoreError.
        """
        began = time.perf_counter()
        with self._space.view() as view:
            try:
                found = self._find(view, search)
            except IndexDamaged as damage:
                found = scanned(view, search.query, search.filter, search.group_by, search.limit, _told(view, damage))
        return replace(found, took_ms=(time.perf_counter() - began) * 1000)

    def _find(self, view: View, search: Search) -> SearchResults:
        asked = _Asked(view, self, search)
        ranked = asked.ranked()
        group = by_message if search.group_by == "message" else by_conversation
        hits = group(view, asked.words, asked.phrases, ranked, asked.titles(), search.limit)
        return SearchResults(
            query=search.query.text,
            hits=hits,
            took_ms=0.0,
            mode=asked.mode,
            signals=asked.signals_used(),
            suggestion=asked.suggestion(),
            close=asked.close,
            searched=asked.searched,
        )

    def embed(self, text: str) -> Float:
        """The vector of a text, as the store's passages have it."""
        vector: Float = self._embedder.embed([text])[0]
        return vector

    def quality(self) -> TokenEmbedder:
        """The model of the quality mode."""
        return self._quality()


class _Asked:
    """One question under way, in one view."""

    def __init__(self, view: View, searcher: Searcher, search: Search) -> None:
        self._view, self._searcher, self._search = view, searcher, search
        vocabulary = view.vocabulary()
        self.question: Question = read_question(search.query.text, years=vocabulary.years())
        quoted = tuple(words for phrase in search.query.phrases if (words := surface(phrase)))
        # Among typed words quotes demand; in a sentence they are titles and sayings, which the answer need not repeat.
        self.phrases = () if self.question.is_sentence else quoted
        self._quoted = quoted if self.question.is_sentence else ()
        self.names = named(self.question.clean, vocabulary.speakers())
        self.mode, self.searched, self.close = "instant", 0, True
        self._unknown: tuple[str, ...] = ()
        self.words: tuple[str, ...] = tuple(self.question.terms)
        self._vector = searcher.embed(without_names(self.question.clean, self.names))

    # --- ranking ---------------------------------------------------------------------------------------------------
    def ranked(self) -> list[Ranked]:
        """Passages, best first. What nobody said comes among the rest where its kind is asked for, else after it."""
        kinds = set(self._search.filter.kinds)
        said = self._partition(Partition.SAID) if not kinds or kinds & set(SAID_KINDS) else []
        if kinds - set(SAID_KINDS):
            return sorted([*said, *self._partition(Partition.OTHER)], key=lambda entry: -entry.score)
        if self._is_typed() and not self.close and not any(entry.share > 0 for entry in said):
            said = []  # words that nobody used, and nothing like them: that is nothing, not something vaguely alike
        if kinds or (said and not self._is_typed()) or any(entry.share >= _ALL for entry in said):
            return said
        other = [entry for entry in self._partition(Partition.OTHER) if entry.share >= _ALL or not said]
        return [entry for entry in said if entry.share > 0] + other if other else said

    def _partition(self, partition: Partition) -> list[Ranked]:
        signals = self._signals(partition)
        if not len(signals):
            return []
        if partition == Partition.SAID and self.question.terms:
            self.close = _likelihood(signals) >= _CLOSE
        scores = self._scores(signals, INSTANT if self.question.is_personal else INSTANT_TOPIC)
        order = np.argsort(-scores.total, kind="stable")
        if signals.quality:
            late = self._late(signals, order[:LATE_POOL])
            if late is not None:
                scores, order = late
                self.mode = "quality"
        matching = order[self._matches(signals)[order]]
        return _ranked(signals, scores, matching[: _RANKED * self._search.limit])

    def _scores(self, signals: Features, weights: Weights) -> Scores:
        scores = score(signals, self.question, weights)
        if self._is_typed():
            scores.add("all words", _ALL_WORDS * own_coverage(signals) ** 2)
        scores.add("as typed", (_QUOTED if self._quoted else _AS_TYPED) * signals.sought)
        people = (signals.flags & PEOPLE).astype(bool)
        if weights.title_ua and not self.phrases and not people.all():
            scores.add("title", np.where(people, 0, weights.title_ua * self._title_meaning(signals.conversations)))
        return scores

    def _is_typed(self) -> bool:
        """Whether the question is a few words rather than a sentence."""
        q = self.question
        return len(q.terms) <= _FEW_TERMS and not q.is_sentence

    def _matches(self, signals: Features) -> Bool:
        """Which passages have anything to do with the question at all."""
        if self.phrases and not self.question.terms:
            return np.ones(len(signals), bool)
        if self._is_typed():
            return (own_coverage(signals) > 0) | (signals.windows >= _LIKE) | signals.sought
        return np.ones(len(signals), bool)

    def _signals(self, partition: Partition) -> Features:
        asked = self._asked(partition)
        signals = self._view.candidates(asked)
        self.searched += signals.size
        unknown = [i for i, n in enumerate(signals.frequencies) if n == 0]
        if partition == Partition.SAID:
            self._unknown = tuple(self.question.terms[i] for i in unknown)
        groups = self._with_compounds(asked, unknown if self.question.is_english else range(len(asked.terms)))
        if groups != asked.terms:
            self.words = tuple({term for group in groups for term, _ in group})
            signals = self._view.candidates(replace(asked, terms=groups))
        return signals

    def _asked(self, partition: Partition) -> CandidateQuery:
        q = self.question
        weights = INSTANT
        speaker, weight = None, 0.0
        if self.names:
            speaker = min(self.names, key=lambda name: self.names[name])
            weight = weights.only_speaker if len(self.names) == 1 else weights.first_speaker
        similarity, pieces = self._similarity(partition)
        return CandidateQuery(
            partition=partition,
            terms=tuple(((term, 1.0),) for term in q.terms),
            vector=self._vector,
            similarity=similarity,
            pieces=pieces,
            phrases=self.phrases,
            excluded=tuple(words for text in self._search.query.excluded if (words := surface(text))),
            sought=self._sought(),
            filter=self._filter(partition),
            speaker=speaker,
            speaker_weight=weight,
            spans=tuple((_day(span.start), _day(span.end)) for span in q.dates),
            span_weights=(weights.date_inside, weights.date_near),
        )

    def _sought(self) -> tuple[tuple[str, ...], ...]:
        """What is looked for as it was typed, without being demanded: identifiers, and what a sentence quotes."""
        typed = (surface(word) for word in self._search.query.text.split() if is_identifier(word))
        return (*(words for words in typed if len(words) > 1), *self._quoted)

    def _filter(self, partition: Partition) -> Filter:
        wanted = self._search.filter
        own = [k for k in wanted.kinds if (k in SAID_KINDS) == (partition == Partition.SAID)]
        return replace(wanted, kinds=tuple(own))

    def _with_compounds(
        self, asked: CandidateQuery, places: Sequence[int] | range
    ) -> tuple[tuple[tuple[str, float], ...], ...]:
        groups = list(asked.terms)
        for place in places:
            term = self.question.terms[place]
            similar = self._view.vocabulary().compounds(term)
            groups[place] = ((term, 1.0), *((other, _COMPOUND_WEIGHT) for other in similar))
        return tuple(groups)

    # --- quality ---------------------------------------------------------------------------------------------------
    def _similarity(self, partition: Partition) -> tuple[Float | None, tuple[int, ...]]:
        if partition != Partition.SAID or self._search.mode == "instant":
            return None, ()
        if not self._view.index().quality:
            return None, ()
        clean = without_names(self.question.clean, self.names)
        vectors, tokens = self._searcher.quality().embed_with_tokens([clean], max_tokens=64)
        self._tokens = tokens[0]
        return vectors[0], tuple(int(piece) for piece in tokens[0].ids)

    def _late(self, signals: Features, best: Int) -> tuple[Scores, Int] | None:
        """The scores of the quality mode and the order of the best; None where too many token vectors are missing."""
        needed = wanted(signals, best)
        texts = self._view.passages(needed, tokens=True)
        rows = {text.number: text.tokens for text in texts if text.tokens is not None}
        missing = [text for text in texts if text.tokens is None]
        if len(missing) > max(_MISSING_TOKENS, len(needed) // 10):
            return None
        if 0 < len(missing) <= _MISSING_TOKENS:
            made = self._searcher.quality().token_embed([text.text for text in missing], max_tokens=QUALITY_TOKENS)
            rows.update({t.number: TokenRows(m.ids, m.vectors) for t, m in zip(missing, made, strict=True)})
        weights = QUALITY if self.question.is_personal else QUALITY_TOPIC
        scores = self._scores(signals, weights)
        self._rescale(scores)
        own, window = late_interaction(signals, best, self._tokens, rows)
        add_late(scores, signals, best, own, window, weights)
        return scores, best[np.argsort(-scores.total[best], kind="stable")]

    def _rescale(self, scores: Scores) -> None:
        """The asked weighs speaker and dates for the instant mode; the quality mode weighs them differently."""
        factors = {}
        if self.names:
            only = len(self.names) == 1
            factors["who"] = (
                QUALITY.only_speaker / INSTANT.only_speaker if only else QUALITY.first_speaker / INSTANT.first_speaker
            )
        factors["date"] = QUALITY.date_near / INSTANT.date_near
        for name, factor in factors.items():
            if name in scores.terms:
                scores.add(name, (factor - 1) * scores.terms[name])

    # --- titles and words ------------------------------------------------------------------------------------------
    def titles(self) -> dict[int, tuple[int, float]]:
        """Conversations whose titles hold most of the question: number to passage and bonus."""
        if self._search.group_by == "message" or not self.question.terms or self.phrases:
            return {}
        signals = self._titles
        share = own_coverage(signals)
        found = np.flatnonzero(share >= _TITLE_SHARE)
        texts = self._view.passages([int(n) for n in signals.passages[found]])
        asked = set(self.question.terms)
        bonus = {t.number: len(asked & set(terms(t.text))) / (len(set(terms(t.text))) or 1) for t in texts}
        return {
            int(signals.conversations[i]): (number, _ALL_WORDS * (float(share[i]) ** 2 + bonus.get(number, 0.0) ** 2))
            for i in found
            for number in [int(signals.passages[i])]
        }

    @cached_property
    def _titles(self) -> Features:
        asked = replace(
            self._asked(Partition.TITLE),
            filter=self._filter_titles(),
            similarity=None,
            speaker=None,
            spans=(),
            pool=_TITLES,
        )
        return self._view.candidates(asked)

    def _title_meaning(self, conversations: Int) -> Float:
        """How near in meaning the titles of these conversations are, as a cosine above the least; 0 for a mere date."""
        titles = self._titles
        if not len(titles):
            return np.zeros(len(conversations), np.float32)
        near = np.clip(titles.dense - _TITLE_LIKE[0], 0, _TITLE_LIKE[1] - _TITLE_LIKE[0])
        near = np.where(titles.flags & int(Flag.DATE), 0, near)
        order = np.argsort(titles.conversations)
        places = np.searchsorted(titles.conversations[order], conversations)
        at = order[np.minimum(places, len(order) - 1)]
        return np.asarray(np.where(titles.conversations[at] == conversations, near[at], 0), np.float32)

    def _filter_titles(self) -> Filter:
        wanted = self._search.filter
        return Filter(sources=wanted.sources, conversation_ids=wanted.conversation_ids)

    def signals_used(self) -> tuple[str, ...]:
        """What the search went by."""
        used = ["words", "meaning"]
        if self.mode == "quality":
            used.append("late interaction")
        if self.names:
            used.append("people")
        if self.question.dates:
            used.append("dates")
        return tuple(used)

    def suggestion(self) -> str | None:
        """The question with words that are nowhere replaced by ones that are spelled nearly so."""
        suggested = self._search.query.text
        for unknown in self._unknown:
            typed = next((word for word in words(suggested) if unknown in terms(word)), None)
            near = self._view.vocabulary().nearest(typed) if typed else None
            if near and typed:
                suggested = re.sub(re.escape(typed), near, suggested, flags=re.IGNORECASE)
        return suggested if suggested != self._search.query.text else None


def _told(view: View, damage: IndexDamaged) -> str:
    """What a search by words alone says of itself, and what mends it."""
    if view.index().embedder is None:
        return f"The search index is not built yet, so this search went by words alone. {damage.hint}"
    return "The search index is damaged, so this search went by words alone. Rebuild it: recollect check --repair"


def _ranked(signals: Features, scores: Scores, order: Int) -> list[Ranked]:
    columns = (order, signals.passages[order], signals.messages[order], signals.conversations[order])
    figures = (signals.kinds[order], scores.total[order], own_coverage(signals)[order])
    values = zip(*(column.tolist() for column in (*columns, *figures)), strict=True)
    return [
        Ranked(passage, message, conversation, KINDS[kind], total, share, _Terms(scores, i))
        for i, passage, message, conversation, kind, total, share in values
    ]


class _Terms(Mapping[str, float]):
    """What each term of the scorer added to one passage: looked up for those that are shown, not for all."""

    __slots__ = ("_at", "_scores")

    def __init__(self, scores: Scores, at: int) -> None:
        self._scores, self._at = scores, at

    def __getitem__(self, name: str) -> float:
        return float(self._scores.terms[name][self._at])

    def __iter__(self) -> Iterator[str]:
        return (name for name, values in self._scores.terms.items() if values[self._at])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _likelihood(signals: Features) -> float:
    """How likely the partition holds an answer at all (RANKING.md 3): from the best share of the words, how many of
    them are known, and the best cosine, in absolute values.
    """
    known = float((signals.frequencies > 0).mean())
    logit = 3.2 * float(own_coverage(signals).max()) + 1.0 * known + 5.4 * float(signals.dense.max()) - 4.6
    return 1 / (1 + math.exp(-logit))


def _day(date: object) -> int:
    return int(np.datetime64(str(date), "D").astype(np.int64))
