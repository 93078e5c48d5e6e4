"""What is asked, read against a namespace: all that is known before candidates are looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice

import numpy as np

from recollect.models.embedding import Embedder, TokenEmbedder, TokenVectors
from recollect.models.embedding.base import reads_latin_alone
from recollect.search.query.question import Question, named, read_question, without_names
from recollect.search.query.request import Query, Search
from recollect.search.query.spelling import other_forms, surface
from recollect.search.weights import FEW_TERMS, LIKE_SHARE
from recollect.store import View
from recollect.store.passages import SAID_KINDS, CandidateQuery, Filter, Float, Partition
from recollect.text.language import is_sentence
from recollect.text.terms import is_identifier

_QUESTION_TOKENS = 64
#: Each is looked up by itself.
_MOST_PHRASES, _LONGEST_PHRASE, _LONGEST_IDENTIFIER = 16, 50, 12

#: The words of a question, each with the others that stand for it and how much they count.
Groups = tuple[tuple[tuple[str, float], ...], ...]
#: Surface words in order.
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its vectors.

    `named` are the people in it, in its order. Of what is quoted, `phrases` are demanded and `quoted` only wished for;
    so is what is `sought`: identifiers as they were typed, and what is quoted. `typed` says that it is a few words
    rather than a sentence. `similarity` and `tokens` are for the quality mode.
    `today` is the day on which it is asked.
    """

    search: Search
    question: Question
    named: Words
    phrases: tuple[Words, ...]
    quoted: tuple[Words, ...]
    sought: tuple[Words, ...]
    excluded: tuple[Words, ...]
    typed: bool
    vector: Float
    similarity: Float | None = None
    tokens: TokenVectors | None = None
    today: date = field(default_factory=date.today)


def ask(
    view: View, search: Search, embedder: Embedder, quality: Callable[[], TokenEmbedder], today: date | None = None
) -> Asked:
    """Reads what is asked."""
    query, today = search.query, today or date.today()
    question = read_question(query.text, years=view.years(), today=today)
    if search.wording:
        other = read_question(search.wording, years=view.years(), today=today)
        question = replace(question, clean=other.clean, terms=other.terms) if other.terms else question
    if question.is_sentence and query.phrases and not is_sentence(_beside_phrases(query)):
        question = replace(question, is_sentence=False)  # what is quoted may be one, or begin like one
    # Among typed words quotes demand; in a sentence they are titles and sayings, which the answer need not repeat.
    quoted = _phrases(query.phrases)
    demanded = quoted if not question.is_sentence or query.literal else ()
    if not question.terms and not demanded:
        words = surface(question.text)
        demanded = (words,) if len(words) > 1 else ()  # all too common to search by: "to be or not to be"
    wished = () if demanded else quoted
    people = named(question.clean, view.speakers())
    plain = without_names(question.clean, people)
    vector = _towards(embedder.embed([plain, *search.like]))
    if query.literal or (question.is_foreign_script and reads_latin_alone(embedder.name)):
        vector = np.zeros_like(vector)
    typed = _phrases(dict.fromkeys(word for word in question.text.split() if is_identifier(word)))  # code, a file
    asked = Asked(
        search=search,
        question=question,
        named=tuple(sorted(people, key=lambda name: people[name])),
        phrases=demanded,
        quoted=wished,
        sought=(*(words[:_LONGEST_IDENTIFIER] for words in typed if len(words) > 1), *wished),
        excluded=_phrases(query.excluded),
        typed=len(question.terms) <= FEW_TERMS and not question.is_sentence,
        vector=vector,
        today=today,
    )
    if search.mode == "instant" or search.sort == "newest" or not vector.any() or not view.index().quality:
        return asked
    model = quality()
    vectors, tokens = model.embed_with_tokens([plain], max_tokens=_QUESTION_TOKENS)
    if search.like:
        vectors = np.concatenate([vectors, model.embed(list(search.like))])
    return replace(asked, similarity=_towards(vectors), tokens=tokens[0])


def _towards(vectors: Float) -> Float:
    """The direction (d,) between a question, the first row, and the texts that an answer may be like: as far towards
    these together as LIKE_SHARE says [HyDE].
    """
    question = np.asarray(vectors[0], np.float32)
    if len(vectors) == 1 or not question.any():
        return question
    mixed = (1 - LIKE_SHARE) * question + LIKE_SHARE * vectors[1:].mean(axis=0)
    return np.asarray(mixed / (np.linalg.norm(mixed) + 1e-9), np.float32)


def candidate_query(asked: Asked, partition: Partition) -> CandidateQuery:
    """What the store is asked for passages of a partition."""
    question, wanted, said = asked.question, asked.search.filter, partition == Partition.SAID
    if partition == Partition.DOCUMENT:  # in no conversation, of no kind but one
        wanted = Filter(since=wanted.since, until=wanted.until)
    return CandidateQuery(
        partition=partition,
        terms=_groups(asked),
        vector=asked.vector,
        similarity=asked.similarity if said else None,
        pieces=tuple(int(piece) for piece in asked.tokens.ids) if said and asked.tokens else (),
        phrases=asked.phrases,
        excluded=asked.excluded,
        sought=asked.sought,
        filter=replace(wanted, kinds=tuple(k for k in wanted.kinds if (k in SAID_KINDS) == said)),
        named=asked.named,
        spans=tuple((_day(span.start), _day(span.end)) for span in question.dates),
        newest=asked.search.sort == "newest",
    )


def title_query(asked: Asked) -> CandidateQuery:
    """What the store is asked for titles: by words and meaning alone, wherever the filter lets look."""
    wanted = asked.search.filter
    return CandidateQuery(
        partition=Partition.TITLE,
        terms=_groups(asked),
        vector=asked.vector,
        filter=Filter(sources=wanted.sources, conversation_ids=wanted.conversation_ids),
    )


def _groups(asked: Asked) -> Groups:
    """Each term with the other forms of the word, unless words are meant literally. These are those of English; figures
    are the same in any language.
    """
    english, literal = asked.question.is_english, asked.search.query.literal
    groups = []
    for term in asked.question.terms:
        others = other_forms(term) if not literal and (english or term[0].isdigit()) else ()
        groups.append(tuple((form, 1.0) for form in (term, *others)))
    return tuple(groups)


def _phrases(texts: Iterable[str]) -> tuple[Words, ...]:
    """Their words, each once; of what was pasted only the first."""
    found = dict.fromkeys(words for text in islice(texts, _MOST_PHRASES) if (words := surface(text)))
    return tuple(words[:_LONGEST_PHRASE] for words in found)


def _beside_phrases(query: Query) -> str:
    """What was typed beside the quotations."""
    text = query.text
    for phrase in query.phrases:
        text = re.sub(rf"(?<!\w){re.escape(' '.join(phrase.split()))}(?!\w)", " ", text, count=1)
    return text


def _day(day: date) -> int:
    return int(np.datetime64(day, "D").astype(np.int64))
