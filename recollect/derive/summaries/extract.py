"""Extracts: the sentences of messages that are worth keeping most, verbatim and in order. No model is asked.

What a sentence is worth is a weighted sum of features.py. The weights were fitted on questions about conversations, so
that the sentences that answer them are taken first.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from recollect.index.passages import is_person
from recollect.models.embedding.base import Embedder, Vectors
from recollect.record import Message, Role
from recollect.text.markdown import without_code
from recollect.text.sentences import sentences
from recollect.text.terms import stemmed, words
from recollect.text.words import word_lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What decides about summaries beside the messages. The defaults are those of the seeds where they name any."""

    # An exchange is a question with what answers it.
    longest_exchange: int = 8  # messages; an agent that works on alone is cut into several
    session_gap: timedelta = timedelta(hours=6)  # of silence, after which a new session begins

    # L1 [1]: a run of exchanges.
    gathered: int = 10  # exchanges that wait, and then are cut; also the longest run
    shortest_run: int = 5
    reach: int = 3  # exchanges on each side of a cut that are compared
    natural: float = 0.5  # how strong a boundary must be to cut there, from 0 to 1
    topic_drop: float = 0.3  # fall of likeness across a boundary that is as good as the end of a session
    looked_at: int = 600  # characters of a message that its topic is told by

    # L2 [1]: a block of L1 summaries.
    block: int = 3

    # Conversation [0] and period [4].
    more_than: int = 5  # messages
    quiet: timedelta = timedelta(minutes=15)  # before a model is asked about a conversation that goes on

    # The length of an extract: a share of what it covers, within bounds, in characters.
    share: float = 0.1
    shortest: int = 500
    longest: int = 1_600
    longest_of_block: int = 2_000

    # What is looked at of a message to extract from it.
    most_characters: int = 12_000  # the rest of a huge one is left out in the middle
    most_sentences: int = 40  # of one message, two thirds of them from its beginning
    longest_sentence: int = 320  # characters; longer ones are cut in pieces

    # The parts of a summary.
    themes: int = 6
    of_each: int = 4  # concerns, actions, progressions …

    def length(self, characters: int) -> int:
        """How long the extract of so many characters may be."""
        return max(self.shortest, min(self.longest, round(characters * self.share)))


DEFAULT = Policy()


# Words that tell what kind of sentence it is, in the languages that most is written in: looked up, not understood.

_CALENDAR, _SIGNS = word_lists("calendar"), {sign: frozenset(listed) for sign, listed in word_lists("signs").items()}

#: Somebody speaks of themselves.
OWN = _SIGNS["own"]
OWN_SIGNS = frozenset("我咱俺私僕")

#: A day or another time is named. "May" is a word, too.
DATES = frozenset(_CALENDAR["weekdays"] + _CALENDAR["months"] + _CALENDAR["times in any language"]) - {"may"}

#: What must not be lost, whatever else is: health, danger, what holds always or never, what is decided or due.
VITAL = _SIGNS["vital"]
VITAL_BEGINNINGS = word_lists("signs")["vital beginnings"]

#: Worry, and what gives cause for it.
CONCERNS = _SIGNS["concerns"]

#: Feelings, by the word that names them in a summary.
FEELINGS = {sign.removeprefix("feeling "): listed for sign, listed in _SIGNS.items() if sign.startswith("feeling ")}

#: Somebody advises, asks for something to be done, or means to do it.
ACTIONS = _SIGNS["actions"]
STRONG_ACTIONS = (
    "i'll ", "i will ", "we'll ", "we will ", "let's ", "i'm going to ", "we're going to ", "i am going to ",
    "please ", "make sure", "you should", "i'd recommend", "i recommend", "i suggest", "i'd suggest",
    "remember to", "don't forget", "remind me", "need to ", "try to ", "i plan to", "we decided to",
    "i decided to", "start with", "ich werde ", "wir werden ", "bitte ", "il faut ", "je vais ", "voy a ",
    "vamos a ", "建议", "记得", "打算", "提醒我", "我会", "我要", "请",
)  # fmt: skip

#: An assistant's sentence that begins so tells somebody what to do.
IMPERATIVES = _SIGNS["imperatives"]


# What tells of a sentence how much it is worth keeping: where it stands, what it is about, and what is exact in it.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence as it was said: of which message (by its place among those given), where in it, by whom."""

    text: str
    message: int
    place: int
    of: int  # sentences of that message
    answer: bool  # an assistant's
    terms: frozenset[str]
    columns: tuple[float, ...]  # what it tells by itself: own_columns


#: The columns of `features`, in order.
FEATURES = (
    "length", "short", "central", "off its message", "first", "last", "rare", "density", "numbers", "date", "names",
    "question", "own", "answer", "vital",
)  # fmt: skip

_NUMBER = re.compile(r"\d+")
_CLOCK_OR_YEAR = re.compile(r"\b\d{1,2}:\d\d\b|\b(?:19|20)\d\d\b|\d[月日号]")
#: A capital inside of a sentence, a quoted name, an identifier: what is called something.
_NAME = re.compile(
    r"(?<=[a-z0-9,;:'’)] )[A-ZÀ-Þ][\w'’-]+|[“\"「『《][^”\"」』》]{2,40}[”\"」』》]|[a-z][A-Z]|\w[._/]\w"
)
_AMOUNT = re.compile(r"\d ?(?:mg|ml|mcg|µg|kg|km|cm|mm|gb|mb|%|€|\$|g\b)|[€$£¥] ?\d")
_QUESTION = ("?", "？", "؟")


def is_vital(text: str, surface: frozenset[str]) -> bool:
    """Whether a sentence holds what must not be lost: an allergy, a dose, a date that is due, a decision."""
    if not VITAL.isdisjoint(surface) or _AMOUNT.search(text):
        return True
    return any(word.startswith(VITAL_BEGINNINGS) for word in surface)


def own_columns(text: str, terms: frozenset[str], surface: frozenset[str]) -> tuple[float, ...]:
    """What a sentence tells by itself, in the order of FEATURES; 0 where others have to be known."""
    length = len(text) if text.isascii() else len(text) + 1.5 * sum(char >= "\u2e80" for char in text)
    return (
        min(math.log1p(length) / 5, 1.2),
        float(length < 30),
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        len(terms) / (1 + length / 8),
        min(len(_NUMBER.findall(text)), 4) / 4,
        float(not DATES.isdisjoint(surface) or bool(_CLOCK_OR_YEAR.search(text))),
        min(len(_NAME.findall(text)), 3) / 3,
        float(text.endswith(_QUESTION)),
        float(not OWN.isdisjoint(surface) or not OWN_SIGNS.isdisjoint(text)),
        0.0,
        float(is_vital(text, surface)),
    )


def features(found: Sequence[Candidate], vectors: Vectors) -> NDArray[np.float64]:
    """A row a sentence, a column for each of FEATURES, from the sentences and their vectors."""
    table = np.array([one.columns for one in found], np.float64).reshape(len(found), len(FEATURES))
    table[:, 2], table[:, 3] = _places(found, vectors)
    table[:, 4] = [one.place == 0 for one in found]
    table[:, 5] = [one.place == one.of - 1 and one.of > 1 for one in found]
    table[:, 6] = _rarities(found)
    table[:, 13] = [one.answer for one in found]
    return table


def _rarities(found: Sequence[Candidate]) -> list[float]:
    """How rare the terms of each sentence are among all sentences, on the average."""
    often = Counter(term for one in found for term in one.terms)
    count = len(found)
    scale = 1 / math.log(count + 1) if count else 0.0
    rarity = {term: math.log(count / number) * scale for term, number in often.items()}
    return [math.fsum(rarity[term] for term in one.terms) / max(len(one.terms), 1) for one in found]


def _places(found: Sequence[Candidate], vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How near each sentence is to the centre of all, and how far from that of its message."""
    if not found:
        return np.zeros(0), np.zeros(0)
    numbers = np.array([one.message for one in found])
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    own = np.repeat(np.add.reduceat(vectors, starts, axis=0), np.diff(starts, append=len(found)), axis=0)
    within = np.einsum("ij,ij->i", vectors, own) / np.maximum(np.linalg.norm(own, axis=1), 1e-9)
    centre = vectors.sum(axis=0)
    central = vectors @ centre / max(float(np.linalg.norm(centre)), 1e-9)
    return central.astype(np.float64), 1 - within.astype(np.float64)


# The sentences of messages that a summary may quote: prose without code, tables, markup, greetings and scraps.


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence, whatever stands around it."""

    text: str
    terms: frozenset[str]
    columns: tuple[float, ...]


_MARKUP = re.compile(
    r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)|`|^#+\s*|^\s*>\s?|</?[a-z][a-z0-9]*/?>", re.MULTILINE
)
_BULLET = re.compile(r"^\s*(?:[-*+•–]|\(?\d{1,2}[.)])\s+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\s]{1,500}\)")
_CLAUSE = re.compile(r"(?<=[;:,])\s+|(?<=[，；：、])\s*|\s+(?=[-–—]\s)|\Z")
_CODE = re.compile(
    r"[{}<>;=|\\]|->|\(\)|::|^\s*(?:def|class|import|from|return|const|let|var|if|for|SELECT|INSERT)\b.*[:;({]$"
)
_GREETING = re.compile(
    r"""(?:\W*(?:
        hi | hey | hello | hiya | yo | dear | good\ (?:morning|afternoon|evening|night) | bye | goodbye
      | see\ you | take\ care | thanks? | thank\ you | ok(?:ay)? | sure | yes | yeah | yep | no | nope | great
      | cool | nice | perfect | awesome | wow | alright | right | exactly | absolutely | certainly | of\ course
      | sounds\ good | no\ problem | you're\ welcome | got\ it | will\ do | please | very\ much | so\ much
      | a\ lot | there | again | for\ (?:your|the)\ (?:help|advice|tips?|reply|answer)
      | that(?:'s|\ is)\ (?:great|good|awesome|amazing) | good | much | and | hallo | danke | bitte | gerne
      | tschüss | bonjour | salut | merci | hola | gracias | ciao | grazie | olá | obrigad[oa] | 你好 | 您好
      | 谢谢(?:你|您)? | 好的? | 嗯+ | 哈+ | 是的? | 当然(?:可以)? | 没问题 | 不客气 | 再见 | 早安? | 晚安
      | 可以 | こんにちは | ありがとう(?:ございます)? | はい | 안녕하세요 | 감사합니다 | 네 | привет | спасибо
      | да | нет | хорошо
    )(?=\W|$))+\W*""",
    re.VERBOSE | re.IGNORECASE,
)
_FILLER = re.compile(
    r"""^\W*(?:
        (?:hope|i\ hope)\ (?:this|that|it)\ helps? | let\ me\ know\ (?:if|how|what|when) | feel\ free\ to
      | happy\ to\ help | (?:is\ there\ )?anything\ else | (?:i'd|i\ would)\ be\ happy\ to
      | if\ you\ have\ any\ (?:other|more|further)?\ ?questions
      | here(?:'s|\ is|\ are)\ (?:a|an|the|some|my)?\ ?[\w\ '-]{0,60}:?$ | good\ question
      | great\ (?:question|choice|idea) | i'm\ sorry\ to\ hear | how\ are\ you | how(?:'ve|\ have)\ you\ been
      | what's\ up | good\ to\ (?:see|hear) | long\ time\ no
      | (?:certainly|sure|absolutely|of\ course)[!,.]\ (?:here|let|i'll|i\ can|to)
      | 希望(?:这|以上|能)?.{0,12}(?:帮助|有用|帮到) | 如果(?:你|您)?还?有(?:任何|其他|什么)?.{0,6}(?:问题|疑问)
      | 以下是 | 有什么.{0,10}帮
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_GREETING_LENGTH = 80  # characters
_BLOB = re.compile(r"[!-~]{120}")
_LONG = 20_000  # characters of a message that is not kept for the next reading


def candidates(messages: Sequence[Message], policy: Policy) -> list[Candidate]:
    """The sentences worth a look, in order. The very same words are taken once."""
    found: list[Candidate] = []
    seen: set[str] = set()
    for number, message in enumerate(messages):
        answer = message.role is Role.ASSISTANT and not is_person(message.speaker)
        read = _read if len(message.content) < _LONG else _read.__wrapped__
        fresh = [one for one in read(message.content, policy) if one.text not in seen]
        seen.update(one.text for one in fresh)
        for place, one in enumerate(fresh):
            found.append(Candidate(one.text, number, place, len(fresh), answer, one.terms, one.columns))
    return found


@lru_cache(maxsize=4_096)
def _read(text: str, policy: Policy) -> tuple[_Read, ...]:
    """A message is read several times in a short while: for its conversation, its day and its topic."""
    read = []
    for sentence in _few(list(sentences_of(text, policy)), policy):
        surface = words(sentence)
        terms = frozenset(stemmed(surface))
        read.append(_Read(sentence, terms, own_columns(sentence, terms, frozenset(surface))))
    return tuple(read)


def sentences_of(text: str, policy: Policy) -> Iterator[str]:
    """The sentences of a message that say something."""
    for whole in (one for line in plain(text, policy).splitlines() for one in sentences(line)):
        for sentence in _short_enough(whole, policy.longest_sentence):
            if _says_something(sentence):
                yield sentence


def plain(text: str, policy: Policy) -> str:
    """Prose alone, without code and markup; of a huge text the beginning and the end."""
    if len(text) > policy.most_characters:
        half = policy.most_characters // 2
        text = f"{text[:half]}\n{text[-half:]}"
    text = without_code(text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return _BULLET.sub("", _MARKUP.sub("", text))


def _few(read: list[str], policy: Policy) -> list[str]:
    """Of a long message its beginning and its end."""
    if len(read) <= policy.most_sentences:
        return read
    head = policy.most_sentences * 2 // 3
    return read[:head] + read[head - policy.most_sentences :]


def _short_enough(sentence: str, longest: int) -> Iterator[str]:
    """The sentence on one line, in pieces at its commas where it is long."""
    sentence = " ".join(sentence.split())
    if len(sentence) <= longest:
        yield sentence
        return
    begin = end = 0
    for clause in _CLAUSE.finditer(sentence):
        if end > begin and clause.start() - begin > longest:
            yield sentence[begin:end].rstrip()
            begin = end
        end = clause.end()
        if len(sentence[begin:end].rstrip()) > longest:  # nothing to cut it at
            yield sentence[begin : begin + longest - 1].rsplit(" ", 1)[0] + "…"
            begin = end
    if end > begin:
        yield sentence[begin:end].rstrip()


def _says_something(sentence: str) -> bool:
    letters = sum(map(str.isalnum, sentence))
    if letters < 4 or letters * 2 < len(sentence) - sentence.count(" "):
        return False
    if sentence[0] == "|" or sentence[-1] in ":：" or len(_CODE.findall(sentence)) > 2 or _BLOB.search(sentence):
        return False
    return not (len(sentence) < _GREETING_LENGTH and _GREETING.fullmatch(sentence)) and not _FILLER.match(sentence)


# Vectors of sentences, kept for a while: a sentence is weighed for its conversation, its day and its topic.

_MOST = 16_384  # of them: 16 MiB

_kept: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
_lock = threading.Lock()


def sentence_vectors(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Unit rows (n, dimensions). Each vector is that of its sentence alone, whatever it is asked for with."""
    keys = [(embedder.name, text) for text in texts]
    with _lock:
        known = {key: _kept[key] for key in keys if key in _kept}
    missing = list(dict.fromkeys(key for key in keys if key not in known))
    if missing:
        made = embedder.embed([text for _, text in missing])
        known |= zip(missing, made, strict=True)
    with _lock:
        for key in keys:
            _kept[key] = known[key]
            _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
    return np.stack([known[key] for key in keys]) if keys else np.zeros((0, embedder.dimensions), np.float32)


WEIGHTS = {
    "length": 6.96, "short": -0.12, "central": -0.79, "off its message": -1.88, "first": 0.06, "last": -0.16,
    "rare": 3.64, "density": 1.51, "numbers": -0.37, "date": 0.40, "names": 0.0, "question": -0.04, "own": -0.19,
    "answer": -2.05, "vital": 0.57,
}  # fmt: skip

#: Set by hand, beyond what questions of a test set ask for: an allergy that was mentioned once is never lost [1].
_VITAL = 2.5
_ENDS = 1.0  # for the beginning of the first message and the end of the last
_PER_LENGTH = 0.3  # of two sentences worth the same the shorter one, by this power of its length
_REPEATS = 2.0  # what it costs to say again, in full, what is said already

_WEIGHTS = np.array([WEIGHTS[name] for name in FEATURES])
_IS_VITAL, _IS_QUESTION, _IS_ANSWER = (FEATURES.index(name) for name in ("vital", "question", "answer"))


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence that may be kept. `worth` compares it with others, `vital` are those that should not be lost."""

    text: str
    message: int  # its place among the messages that were given
    worth: float
    vital: bool
    own: bool  # said by a person, not by an assistant
    terms: frozenset[str]


def weighed(messages: Sequence[Message], policy: Policy, embedder: Embedder) -> list[ScoredSentence]:
    """All sentences worth a look with what they are worth, in order."""
    found = candidates(messages, policy)
    if not found:
        return []
    table = features(found, sentence_vectors([one.text for one in found], embedder))
    vital = (table[:, _IS_VITAL] > 0) & (table[:, _IS_QUESTION] == 0) & (table[:, _IS_ANSWER] == 0)
    worth = table @ _WEIGHTS + _VITAL * vital + _ENDS * _ends(found, len(messages))
    return [
        ScoredSentence(one.text, one.message, round(float(value), 3), bool(kept), not one.answer, one.terms)
        for one, value, kept in zip(found, worth, vital, strict=True)
    ]


def _ends(found: Sequence[Candidate], messages: int) -> NDArray[np.float64]:
    return np.array(
        [
            float(one.message == 0 and one.place == 0) + float(one.message == messages - 1 and one.place == one.of - 1)
            for one in found
        ]
    )


def choose(sentences: Sequence[ScoredSentence], length: int) -> list[int]:
    """Which of them make the best extract of at most `length` characters: their places, in order.

    One after the other the best that still fits; what repeats a chosen one is worth less. The best of all is taken
    even where it alone is longer.
    """
    lengths = [len(one.text) + 1 for one in sentences]
    if sum(lengths) <= length:
        return list(range(len(sentences)))
    worth = [one.worth - _PER_LENGTH * math.log(size) for one, size in zip(sentences, lengths, strict=True)]
    waiting = [(-round(value, 3), place, 0) for place, value in enumerate(worth)]
    heapify(waiting)
    chosen: list[int] = []
    left = max(length, lengths[waiting[0][1]])
    while waiting:
        _, place, compared = heappop(waiting)
        if lengths[place] > left:
            continue
        if compared < len(chosen):  # what was chosen since may say the same: then it waits again, for it is worth less
            worth[place] -= _REPEATS * sum(
                _shared(sentences[place].terms, sentences[other].terms) for other in chosen[compared:]
            )
            heappush(waiting, (-round(worth[place], 3), place, len(chosen)))
            continue
        chosen.append(place)
        left -= lengths[place]
    return sorted(chosen)


def _shared(terms: frozenset[str], said: frozenset[str]) -> float:
    """How much of what it says is said already, beyond a third."""
    if not terms:
        return 1.0
    return max(0.0, len(terms & said) / len(terms) - 1 / 3) * 1.5
