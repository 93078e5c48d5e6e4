"""The sentences of messages that a summary may quote: prose without code, tables, markup, greetings and scraps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.derive.summaries.features import Candidate, own_columns
from recollect.derive.summaries.policy import Policy
from recollect.index.passages import is_person
from recollect.record import Message, Role
from recollect.text.markdown import without_code
from recollect.text.sentences import sentences
from recollect.text.terms import stemmed, words


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
