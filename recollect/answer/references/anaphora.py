"""Words in a question that stand for something said before: found by rules of English, and rather too few than too many.

What has its antecedent in the question itself ("Why did Karl sell the boat, and what did he do with the money?") refers
to nothing outside of it, and neither does an "it" that stands for nothing ("Is it going to rain?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from recollect.answer.references.candidates import COUNTED, PERSONS, TYPED, TurnText, plural_before, things
from recollect.derive.entities.message import found_in
from recollect.derive.entities.naming import folded
from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY
from recollect.text.sentences import sentences
from recollect.text.terms import PRONOUNS, STOP_WORDS


class Wants(Enum):
    """What an expression can stand for."""

    THING = auto()
    HE = auto()
    SHE = auto()
    GROUP = auto()
    PLACE = auto()
    TYPED = auto()  # "the company": something of that type


@dataclass(frozen=True, slots=True)
class Anaphor:
    """An expression in a question, from `start` to `end`. `types` are those of entities that "the company" may mean."""

    wants: Wants
    start: int
    end: int
    possessive: bool = False
    types: frozenset[str] = frozenset()


_WORDS: dict[str, tuple[Wants, bool]] = {
    "it": (Wants.THING, False),
    "its": (Wants.THING, True),
    "he": (Wants.HE, False),
    "him": (Wants.HE, False),
    "his": (Wants.HE, True),
    "she": (Wants.SHE, False),
    "her": (Wants.SHE, False),
    "they": (Wants.GROUP, False),
    "them": (Wants.GROUP, False),
    "their": (Wants.GROUP, True),
    "there": (Wants.PLACE, False),
}
_PRONOUN = re.compile(rf"(?<![\w'’.-])(?:{'|'.join(_WORDS)})(?![\w’'-]|\.\w)(?!['’](?!s\b))", re.IGNORECASE)

#: "It" that stands for nothing: the weather, the time, a clause that follows.
_EXPLETIVE = re.compile(
    r"\bit(?:['’]s|\s+is|\s+was|\s+has been|\s+will be)?\s+(?:going to |gonna |still |always |currently )?"
    r"(?:rain|snow|hail|freez|thunder|drizzl|storm)\w*"
    r"|\bhow (?:cold|hot|warm|windy|humid|sunny|dark) (?:is|was|does|did|will|can|might) it\b(?!.*\bthere\b)"
    r"|\b(?:is|was) it (?:where|that|who|when|which)\b"
    r"|\b(?:what|which) (?:time|day|date|year|month) (?:is|was) it\b|\bhow (?:late|early) (?:is|was) it\b"
    r"|\b(?:is|was|isn['’]t|would|will|be|wasn['’]t) it (?:be |even |really |still |ever |too )?"
    r"(?!able|going|supposed|allowed|meant|ready|designed|used|likely|enough|compatible|available|related|similar|good|"
    r"bad|safe for|close|next|due|compared|made|known|said)\w+ (?:for (?:me|us|him|her|them|\w+) )?(?:to|that|if|when)\b"
    r"|\bit (?:be )?(?:safe|good|bad|ok|okay|better|best|worth|possible|hard|easy|legal|normal|wise|healthy|polite) "
    r"(?:\w+ing\b|(?:for \w+ )?to\b(?!\s*[?.!]))"
    r"|\b(?:does|did|do|would|will|should|can|could|must|might|to) it (?:usually |normally |typically |really )?"
    r"(?:take|cost|require|need)\b[^.?!]*\bto\b"
    r"|\bit (?:takes?|took|costs?) [^.?!]*\bto\b"
    r"|\bit (?:seems?|seemed|appears?|appeared|turns? out|turned out|looks like|sounds like|happens|depends|follows)\b"
    r"|\bit['’]?s? (?:is |was )?(?:clear|true|likely|possible|important|necessary|strange|funny|sad|nice|great|time|"
    r"a pity|a shame)\b"
    r"|\bhow['’]?s? (?:is )?it going\b|\bdoes it (?:matter|make sense)\b|\bis it (?:just )?me\b|\bit['’]s me\b"
    r"|\b(?:make|made|take it|call it|get it|got|worth|as if|believe|put it|that['’]s) it\b|\bit (?:is|was) (?:me|i)\b",
    re.IGNORECASE,
)
_EXISTENTIAL = re.compile(
    r"\b(?:is|are|was|were|be|been|isn['’]t|aren['’]t|will|would|could|can|might|may|must|should|hi|hey|hello) there\b"
    r"|\bthere(?:['’](?:s|re|ll|d)|\s+(?:is|are|was|were|will|would|has|have|had|seems?|exists?|must|might|may|can))\b",
    re.IGNORECASE,
)
#: "What do they call …", "what do they speak in Brazil": people in general.
_GENERIC = re.compile(
    r"\b(?:what|which \w+|how) (?:do|did|would) they (?:say|call|speak|celebrate|drive|eat|drink)\b", re.IGNORECASE
)
#: "How many days off do they …": what is asked for is not who does it.
_ASKED_FOR = re.compile(
    r"\W*(?:and |but |so )?(?:how|what|which|when|where|why)\b[^,;]*\b(?:do|does|did|are|is|were|was|have|has|had|can|could|"
    r"will|would|should|might|must)\s*",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    rf"\b(?:the|that|this) ({'|'.join(sorted(TYPED, key=len, reverse=True))})\b(?!['’-]\w*[^\Ws])"
    r"(?!\s+(?:that|which|who|whom|whose|where|of|from|with|for|on|about|called|named|by|we|i|you|he|she|they|my|our)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|`[^`]*`|(?<!\w)'[^']{8,}'(?!\w)|```.*?```", re.DOTALL)
_CODE = re.compile(r"[{}\[\];=<>]|\w\(|::|->|\w\.\w+\(")
_ENDS = re.compile(r"[A-Za-zÀ-ÿ]+")
_LONGEST = 200  # characters: who writes more says what is meant
_BEFORE_IT = re.compile(
    r"(?:(?:ok(?:ay)?|thanks?(?: you)?(?: a lot| so much)?|great|good|nice|cool|perfect|hm+|well|hi|hello|hey|please|yes|no|"
    r"and|but|so|then|also|right|sure|got it|i see|sounds good|good idea|very good|super|fine)[,.!:;–-]*\s+)*",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|have|has|had|"
    r"may|might|must|am|isn['’]t|aren['’]t|doesn['’]t|didn['’]t|won['’]t|can['’]t|in which|on which|at what|by when|for how|"
    r"since when|tell|show|remind|explain|give|list|compare|summari[sz]e|find|describe|suggest|recommend|name)\b",
    re.IGNORECASE,
)


def is_request(text: str) -> bool:
    """Whether a text is one short question or request, with at most a word of thanks before it. What people tell is
    full of references too; but it needs no answer, and one who tells has the whole story in mind.
    """
    body = text.strip()
    body = body[_BEFORE_IT.match(body).end() :]  # type: ignore[union-attr]
    return len(body) <= _LONGEST and bool(_REQUEST.match(body)) and len(sentences(body)) == 1


def is_bare(text: str) -> bool:
    """Whether a text is thanks and the like alone: "Sure.", "Ok, great!". Yes and no are answers."""
    said = text.strip()
    return _BEFORE_IT.fullmatch(f"{said} ") is not None and not _YES_NO.search(said)


def anaphora(question: str) -> list[Anaphor]:
    """The expressions of a question that stand for something said before it, in order."""
    if not is_request(question) or _CODE.search(question):
        return []
    hidden = [(m.start(), m.end()) for m in _QUOTED.finditer(question)]
    found = [*_pronouns(question), *_definites(question)]
    kept = [one for one in found if not any(start <= one.start < end for start, end in hidden)]
    return sorted(kept, key=lambda one: one.start)


def _pronouns(question: str) -> list[Anaphor]:
    expletive = [(m.start(), m.end()) for m in _EXPLETIVE.finditer(question)]
    existential = [(m.start(), m.end()) for m in _EXISTENTIAL.finditer(question)]
    found: list[Anaphor] = []
    for match in _PRONOUN.finditer(question):
        word = match[0].lower()
        wants, possessive = _WORDS[word]
        if word == "it" and _inside(match.start(), expletive):
            continue
        if word == "there" and _inside(match.start(), existential):
            continue
        if word == "they" and _inside(match.start(), [(m.start(), m.end()) for m in _GENERIC.finditer(question)]):
            continue
        if match[0] == "IT" or (word == "it" and _is_name(question, match)):
            continue
        if word == "her":
            possessive = _followed_by_noun(question[match.end() :])
        before = question[: match.start()]
        if (_ASKED_FOR.fullmatch(before) and not found_in(before)) or not _HAS_ANTECEDENT[wants](before):
            found.append(Anaphor(wants, match.start(), match.end(), possessive))
    return found


def _definites(question: str) -> list[Anaphor]:
    found = []
    for match in _DEFINITE.finditer(question):
        types = TYPED[match[1].lower()]
        if not any(mention.type in types for mention in found_in(question)):
            end = match.end()
            possessive = bool(re.match(r"['’]s\b", question[end:]))
            found.append(Anaphor(Wants.TYPED, match.start(), end + 2 * possessive, possessive, types))
    return found


def _inside(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _is_name(question: str, match: re.Match[str]) -> bool:
    """Stephen King's "It", which is no pronoun: a capital where no sentence begins."""
    before = question[: match.start()].rstrip()
    return match[0] == "It" and bool(before) and before[-1] not in ".!?:;\"'“"


def _followed_by_noun(rest: str) -> bool:
    """Whether "her" is a possessive here: "her nerves", but not "give her a present", "with her?"."""
    word = _ENDS.match(rest.lstrip(" "))
    if word is None or not rest.startswith(" "):
        return False
    return word[0].lower() not in STOP_WORDS and word[0].lower() not in COUNTED


def _thing_before(text: str) -> bool:
    return bool(found_in(text) or _capitals(text)) or any(not thing.plural for thing in things(text))


def _person_before(text: str) -> bool:
    named = any(mention.type in ("person", "concept") for mention in found_in(text)) or bool(_capitals(text))
    return named or any(not thing.plural and (thing.head in PERSONS or thing.living) for thing in things(text))


def _group_before(text: str) -> bool:
    named = [mention for mention in found_in(text) if mention.type in ("person", "organisation", "concept", "animal")]
    return bool(named) or plural_before(text) or any(thing.plural for thing in things(text))


def _place_before(text: str) -> bool:
    return any(mention.type in ("place", "concept", "organisation") for mention in found_in(text))


def _capitals(text: str) -> list[str]:
    """Capitalised words inside of sentences, which name something even where nobody knows them."""
    return re.findall(r"(?<=[a-z,] )[A-ZÀ-Þ][\wÀ-ÿ]+", text)


_HAS_ANTECEDENT: dict[Wants, Callable[[str], bool]] = {
    Wants.THING: _thing_before,
    Wants.HE: _person_before,
    Wants.SHE: _person_before,
    Wants.GROUP: _group_before,
    Wants.PLACE: _place_before,
}


# Questions that leave out what the question before them said: "What about Germany?", "And in February?", "Why?".

_PREPOSITIONS = "in|on|at|for|of|from|with|to|under|after|before|during|by|about|near|without|between|since|until"
_OTHER = re.compile(
    rf"(?:(?:and|but|ok(?:ay)?|so|then|or)[, ]+)?(?:what about|how about|what of|and|or)\s+(?:(?P<by>{_PREPOSITIONS})\s+)?"
    r"(?P<new>(?:[^?!.;:,]|\.(?=\w))+)\s*\?*\s*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?)[, ]+)?(?:why|why not|when|where|who|how|how so|how come|how long|how much|how many|"
    r"how often|how far|since when|until when|from when|by when|by whom|with whom|what for|where to|where from|"
    r"for how long|how exactly|why exactly|when exactly|where exactly|why is that|how much exactly)\s*\?+\s*",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:(?:and|but|so|ok(?:ay)?)[, ]+)?(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|"
    r"could|should|would|will|have|has|had|may|might|must|am)\b",
    re.IGNORECASE,
)
_TIMES = frozenset(f"{ANY_MONTH}|{ANY_WEEKDAY}|{ANY_SEASON}".split("|"))
_YEAR = re.compile(r"(?:19|20)\d\d|Q[1-4](?: (?:19|20)\d\d)?")
_NO_NEW = re.compile(
    r"^(?:a|an|the|my|our|your|we|i|you|if|when|that|this|some|any|it|then)\b|^\w+ing\b", re.IGNORECASE
)
_MOST_WORDS = 4
_WHOSE = (PRONOUNS | {"this", "that", "these", "those", "one", "if", "when"}) - {"my", "our", "your"}


@dataclass(frozen=True, slots=True)
class Completed:
    """A question with what it left out, and what of it stands in place of what."""

    text: str
    said: str
    meant: str


def completed(question: str, lines: Sequence[TurnText]) -> Completed | None:
    """The question with what it leaves out, from the question that was asked before it; None where it is whole."""
    before = _asked_before(lines)
    if before is None:
        return None
    if _BARE.fullmatch(question):
        return Completed(f"{question.strip()} ({before})", question.strip(), before)
    match = _OTHER.fullmatch(question.strip())
    if match is None:
        return None
    new, by = match["new"].strip(), match["by"]
    if len(new.split()) > _MOST_WORDS or (not by and _NO_NEW.match(new)) or set(new.lower().split()) & _WHOSE:
        return None
    text = _by_preposition(before, by, new) if by else _by_type(before, new)
    return Completed(text, question.strip(), before) if text else None


def _asked_before(lines: Sequence[TurnText]) -> str | None:
    """The question that the person asked last, where the last thing they said was one."""
    said = next((line.text.strip() for line in reversed(lines) if line.is_user), None)
    if said is None:
        return None
    last = re.split(r"(?<=[.!?])\s+", said)[-1]
    return last if len(last) < 300 and _QUESTION.match(last) and len(last.split()) > 2 else None


def _by_preposition(before: str, by: str, new: str) -> str | None:
    """As in "And in February?": what stands after that preposition is replaced, or it is added at the end."""
    kind = _kind(new)
    phrases = list(
        re.finditer(rf"\b{by}\s+((?:the\s+)?[\w.+#'’-]+(?:\s+[A-ZÀ-Þ0-9][\w.+#'’-]*)*)", before, re.IGNORECASE)
    )
    same = [phrase for phrase in phrases if _kind(phrase[1].rstrip("?.!")) == kind]
    if same or len(phrases) == 1:
        phrase = (same or phrases)[-1]
        end = phrase.end(1) - len(phrase[1]) + len(phrase[1].rstrip("?.!"))
        return f"{before[: phrase.start(1)]}{new}{before[end:]}"
    body = before.rstrip("?!. ")
    return f"{body} {by} {new}?"


def _by_type(before: str, new: str) -> str | None:
    """As in "What about Germany?": it takes the place of what is of its kind in the question before."""
    kind = _kind(new)
    if kind == "":
        return None
    named = [(mention.name, mention.type) for mention in found_in(before)]
    named += [(word, "time") for word in re.findall(r"[\w’'-]+", before) if _kind(word) == "time"]
    spelled = [(name, type_) for name, type_ in named if folded(name) != folded(new)]
    same = [name for name, type_ in spelled if type_ == kind]
    vague = [name for name, type_ in spelled if "concept" in (type_, kind) and "time" not in (type_, kind)]
    if kind == "time" and not same:
        return None
    old = next(iter(same or vague), None)
    if old is None:
        old = _capital(before)
        if old is None or kind == "time":
            return None
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, before, count=1)


def _capital(before: str) -> str | None:
    """The one capitalised word inside of the question, whatever it names: "Does Notion work offline?"."""
    words = re.findall(r"(?<=[a-z,] )[A-ZÀ-Þ][\w.+#’'-]*", before)
    words += re.findall(r"^(?:Is|Are|Was|Do|Does|Did|Can|Will|Has|Have) ([A-ZÀ-Þ][\w.+#’'-]*)", before)
    kept = [word for word in dict.fromkeys(words) if word != "I" and not word.startswith("I'")]
    return kept[0] if len(kept) == 1 else None


def _kind(text: str) -> str:
    """The type of what is named; "time" for a month, a day or a year, "concept" for any capital, "" for none."""
    if text.lower() in _TIMES or _YEAR.fullmatch(text):
        return "time"
    for mention in found_in(f"It is about {text}."):
        if folded(mention.name) == folded(text):
            return mention.type
    return "concept" if re.match(r"[A-ZÀ-Þ]|[a-z]+[A-Z]", text) else ""
