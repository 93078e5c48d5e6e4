"""What a message says in its author's own voice, and how: no quotations, nothing pasted or played, no doubts or jokes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY, DateSpan, named_dates
from recollect.text.markdown import lines_of
from recollect.text.relative import coming_dates, relative_dates
from recollect.text.sentences import sentence_places
from recollect.text.terms import STOP_WORDS

#: Of longer lines nothing is drawn: they are pasted.
_LONGEST_LINE = 2_000
_LONGEST_SENTENCE = 400
_LONGEST_MESSAGE = 20_000


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """`text` is `content[start:start + len(text)]` of the message, but for quotations, which are masked. `is_led_in`: a
    line before it ends in a colon, so that it may be a text that is handed over.
    """

    text: str
    start: int
    end: int
    is_led_in: bool = False


def own_sentences(
    content: str, speaker: str | None, is_heading: Callable[[str], bool] | None = None
) -> Iterator[OwnSentence]:
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


def _sentences(line: str, at: int) -> Iterator[OwnSentence]:
    for first, last in sentence_places(line):
        if 3 < last - first <= _LONGEST_SENTENCE:
            yield OwnSentence(line[first:last], at + first, at + last)


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


# What keeps a clause from being drawn: a question, a doubt, a condition, a negation, a joke, somebody else's words.

#: Each works on what stands to its right in the sentence.
_BEFORE = re.compile(
    r"""\b(?:
      if | unless | whether | suppose | supposing | assuming | assume | imagine | pretend | hypothetically | in\ case
    | wonder(?:ing)? | wish | hope | hoping | dream(?:ed|ing|t)? | might | maybe | perhaps | possibly | probably | may\ be
    | could | would | should | must | almost | nearly | i\ think | i\ guess | i\ suppose | i\ believe | not\ sure
    | (?:want|wants|wanted|like|love|need|plan|planned|used|going|trying|try|thinking)\ to | thinking\ (?:about|of)
    | as\ if | as\ though | feels?\ like | felt\ like | like\ (?=i\b) | never | nobody | no\ one | everyone | anyone | someone
    | neither | hardly | barely | scarcely | (?<!not\ )forget(?!\ to\b) | (?:take|takes|taking|took)\ back
    | pretend(?:s|ed|ing) | for\ instance | in\ (?:the|a|this|that)\ (?:song|lyrics?|poem|film|movie|show|series|episode|play|joke)
    | doubts? | doubt(?:ed|ful|ing) | not\ that | (?:false|untrue|wrong|incorrect|a\ lie|a\ myth)\ that | not\ the\ case | (?:rules?|ruled|ruling)\ out
    | den(?:y|ies|ied|ying) | far\ from | am\ thinking | people\ who | those\ who | (?:man|woman|guy|girl|person|somebody|kid)\ (?:who|that)
    | when\ (?:i|we|he|she)\ (?:was|were) | as\ a\ (?:child|kid|boy|girl|student) | since\ when | did\ i | do\ you | you\ said
    | in\ a\ dream | example
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAID = re.compile(
    r"\b(?:sa(?:id|ys?|ying)|t(?:old|ells?|elling)|wrote|writes|writing|asked|asks|claim(?:s|ed)|thinks?|thought|heard|read|"
    r"mention(?:s|ed)|according to|believes?|insists?|joke[sd]?)\b",
    re.IGNORECASE,
)
# Whose words may be taken: one's own, and those of who must know.
_KNOWS = re.compile(
    r"\b(?:vet|veterinarian|doctor|dr\.? \w+|gp|dentist|allergist|dermatologist|specialist|paediatrician|pediatrician|"
    r"test|tests|bloodwork|results?|x-ray|scan)\b|\b(?:i|we) (?:already )?(?:told you|mentioned)\b",
    re.IGNORECASE,
)
# Behind a clause: "I'm allergic to nuts, my sister claims."
_SAID_BEHIND = re.compile(
    r"[,\"”]\s*(?:"
    r"(?!(?:[\w'’-]+ ){0,4}(?:i|we|ich|wir)\b)(?:[\w'’-]+ ){1,4}(?:says?|said|claims?|claimed|thinks?|thought|wrote|writes?"
    r"|insists?|insisted|believes?|tells (?:me|us)|told (?:me|us)|sagt|sagte|meint|meinte|behauptet)"
    r"|(?:says?|said|claims?|claimed|wrote|writes|according to|sagt|sagte|meint|behauptet) [\w'’ -]{1,40}"
    r")[.!]*$",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"\b(?:lol|lmao|rofl|haha\w*|jk|just kidding|kidding|joking|apparently|figuratively)\b|😂|🤣|😜|/s\b|;-?\)",
    re.IGNORECASE,
)
_LIE = re.compile(
    r"\b(?:was a lie|not true|isn't true|is not true|was wrong|fell through|in a dream|misdiagnos\w+)\b", re.IGNORECASE
)

# A sentence without a subject that goes on with what is to be stored: "Store the fact that …", "Save this: …".
_COMMAND = re.compile(
    r"(?:[\W_]*(?:please|now|also|then|and|so|ok(?:ay)?|bitte|(?:can|could|will|would|must|should) you|you (?:must|should|have to|need to))\b,? ?)*"
    r"(?P<first>[^\W\d_]+)(?: [^\s.!?;:]+){0,8}?(?: (?:that|dass|daß)\b|:)\s*",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(r"(?:i|i['’]m|i['’]ve|we|my|our|ich|wir|meine?|unsere?)\b", re.IGNORECASE)
_SHARED_OUT = re.compile(r"\b(?:respectively|in that order|beziehungsweise|jeweils)\b", re.IGNORECASE)

# A sentence that takes back what stands before it: "Just kidding!", "Haha, not."
_TAKEN_BACK = re.compile(
    r"(?:[.!?…]\s+|\n[^\S\n]*)(?:(?:ha(?:ha)+|lol|lmao|ok(?:ay)?|no),? )?(?:(?:(?:i am|i'm|i’m|just|only) )*(?:kidding|joking)|j/?k|not)[.!]*\s*(?=$|\n|[.!?]|(?<=[.!]\s)[A-Z])",
    re.IGNORECASE,
)

_QUESTION_BEGINS = re.compile(
    r"(?:[,;:—–-]\s*|\b(?:and|but|so)\s+|^)(?=(?:so |and |but |now |please )*(?:can|could|would|will|shall|should|is|are|am|was"
    r"|were|do|does|did|have|has|what|which|who|whose|where|when|why|how|any|or|right|isn't|don't|aren't|won't|can't|what's"
    r"|how's|where's|who's)\b)",
    re.IGNORECASE,
)


def is_joke(sentence: str) -> bool:
    """Whether the sentence laughs, or takes itself back."""
    return bool(_JOKE.search(sentence) or _LIE.search(sentence))


def is_commanded(sentence: str, at: int) -> bool:
    """Whether what stands at a place of a sentence is what somebody is told to store, note or say, rather than stated;
    but one may ask to remember what one says of oneself.
    """
    command = _COMMAND.match(sentence)
    if command is None or at > len(sentence):
        return False
    first = command["first"].lower()
    if first in STOP_WORDS or first.endswith(("s", "ed", "ing")):
        return False
    return not _OF_ONESELF.match(sentence, command.end())


def is_shared_out(sentence: str) -> bool:
    """Whether several things are said of several, each of one: "Rex and Luna need 5 and 10 mg, respectively"."""
    return bool(_SHARED_OUT.search(sentence))


def taken_back(content: str) -> int:
    """The character up to which a message takes back what it says."""
    return max((match.end() for match in _TAKEN_BACK.finditer(content)), default=0)


def is_said_by_another(sentence: str) -> bool:
    """Whether the sentence ends by saying that it is somebody else's, who need not know."""
    behind = _SAID_BEHIND.search(sentence)
    return bool(behind) and not _KNOWS.search(sentence)


def told_part(sentence: str) -> str:
    """What a sentence states before it asks: "I'm vegan, what can I eat?" states that I am; empty where it only asks."""
    if not sentence.rstrip("\"”') ").endswith(("?", "？")):
        return sentence
    for match in _QUESTION_BEGINS.finditer(sentence):
        before = sentence[: match.start()]
        if before.strip():
            return before
        return ""
    return ""


def is_held_back(before: str) -> bool:
    """Whether what stands before a clause in its sentence takes its force: a doubt, a condition, another's words."""
    if _BEFORE.search(before):
        return True
    return bool(_SAID.search(before)) and not _KNOWS.search(before)


# When something holds from, or until, where it is told: "in May", "since 2015", "last Friday", "this weekend", as
# of the day it was said.

_SINCE_YEAR = re.compile(r"\bsince ((?:19|20)\d\d)\b")
_TIME_WORDS = re.compile(rf"\b(?:\d|yesterday|today|last|ago|since|in|on|this|{ANY_MONTH})", re.IGNORECASE)


def told_since(text: str, said_at: datetime | None) -> datetime | None:
    """The beginning of the one time that a text names, if it lies before what was said; None where it is not sure."""
    if said_at is None or not _TIME_WORDS.search(text):
        return None
    if match := _SINCE_YEAR.search(text):
        return _moment(date(int(match[1]), 1, 1))
    today = said_at.date()
    spans = _spans(text, today)
    past = [span for span in spans if span.start <= today]
    starts = {span.start for span in past}
    if len(starts) == 1:
        return _moment(past[0].start)
    return None


def told_until(text: str, said_at: datetime | None) -> datetime | None:
    """The end of the day, week, month, season or year that is named and not over yet; None where it is not sure."""
    if said_at is None:
        return None
    today = said_at.date()
    ends = {span.end for span in named_dates(text, (today.year, today.year + 1)) if span.end >= today}
    ends.update(coming_dates(text, today))
    if not ends:
        return None
    return _moment(min(ends)) + timedelta(days=1)


def _spans(text: str, today: date) -> list[DateSpan]:
    relative = list(relative_dates(text, today))
    if relative:
        return relative
    this_year = [span for span in named_dates(text, (today.year,)) if span.start <= today]
    return this_year or list(named_dates(text, (today.year - 1,)))


def _moment(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


# Values: where they end, how lists come apart, and what is none.

_ENDS = re.compile(
    rf"""[.;:!?¤()\n]+(?:\s|$) | (?<!\d)[—–] | [—–](?!\d) | [.;!?()]$ | \s[–—-]\s | (?!(?<=\d),\d),(?!\s*(?:and|or)\s+[\w-]+\s*(?:[.,;!?]|$)|\s*[\w-]+(?:,|\s+(?:and|or)\s)) | ,?\s+
    (?: because | so(?!\s+called) | but | since | which | who | that | when | while | where(?!\w) | although | though | if | as\ (?=well|i\b|an?\b|my|we|it)
      | right\ now | these\ days | at\ the\ moment | any\s?more | any\ longer | now | today | nowadays | lately | recently | currently | already | too | either
      | for\ (?:now|the\ past|the\ last|over|about|almost|\d+|a\ (?:few|couple|while|long|year|decade)|two|three|four|five|six|seven|eight|nine|ten|many|years|months)
      | (?:and|or)\ (?=(?:i|we|he|she|they|it|you|my|our|his|her|their|its|the\ vet|that|this|then|now|have|has|had|am|is|are|was|do|does|did
          |work|works|live|lives|love|loves|like|hate|hates|need|want|wants|enjoy|been|got|just|also|so|very|still|never|always|not|can|will|would|it's|i'm|named|called)\b)
      | (?:yesterday|tomorrow|last\ \w+|this\ (?:week|month|year|morning|summer|spring|fall|autumn|winter)|next\ \w+|\d+\ \w+\ ago|(?:a|two|three|some)\ \w+\ ago)
      | (?:in|since|on|until|from|by)\ (?:early\ |late\ |mid-?)?(?:\d{{4}}|{ANY_MONTH}|{ANY_WEEKDAY})
      | in\ (?:the\ )?(?:{ANY_SEASON}) | with\ (?:my|our|his|her|a|the|me) | the\ most | (?:more|less|better)\ than | lol | haha | originally | once | twice | every | each | daily | per\ day
      | myself | ourselves | though | basically | actually | btw | please | thanks | thank
    )\b.*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_AROUND = " ,.;:!?\"“”'*_~"
_DANGLING = re.compile(r"\s(?:and|or|but|&)$| ?[(\[][^()\[\]]*$", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:a|an|the|my|our|some|any|any kind of|all|all kinds of)\s+", re.IGNORECASE)
_ADJECTIVE_OF = re.compile(r"^[\w-]+ and (?!a )[\w-]+ (?!in |at |on |with |for |to )\w+s$")
_RESTRICTED = re.compile(
    r"[^,.;:!?]+ (?:that|who|which|where|i|we|they|you|with an?|with the) [^,.;:!?]", re.IGNORECASE
)
_AND = re.compile(r"\s*(?!(?<=\d),\d),\s*(?:and|or)?\s*|\s+(?:and|or|&)\s+", re.IGNORECASE)
_EMPTY = re.compile(
    r"""^(?:it|this|that|these|those|them|him|her|you|me|us|one|ones|some|any|all|both|what|how|when|where|why|who|which|there|here|so|not
    |your|his|their|its|to|nothing|anything|everything|something|someone|everyone|things?|stuff|such|being|having|doing|seeing|getting|each|every|much|more|most(?!\ \w+s\b)
    |first|second|third|latter|former|last|same|other|another|idea|ideas|way|fact|version|answer|suggestion|sound|thought|look|if|whether|as|than|no|none|too|very
    |let|like|just|also|only|even|will|is|are|was|be|been|at|in|on|of|for|from|with|about|up|out|off|by|into|over|and|or|neither|either|nor)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_restricted(value: str) -> bool:
    """Whether a clause says which of them are meant: "stories that end well" are not all stories."""
    return bool(_RESTRICTED.match(value))


def trimmed(value: str, *, article: bool = False) -> str:
    """The value without what follows it in its sentence; with its article only where that is wanted.

    >>> trimmed("the smell of fish, because it is bad"), trimmed("York now.")
    ('smell of fish', 'York')
    """
    cut = _DANGLING.sub("", _ENDS.split(value, maxsplit=1)[0].strip(_AROUND)).strip(_AROUND)
    return cut if article else _ARTICLE.sub("", cut).strip()


def listed(value: str) -> list[str]:
    """The things of a list: "eggs, milk and nuts" are three.

    >>> listed("tree nuts, milk and eggs")
    ['tree nuts', 'milk', 'eggs']
    """
    parts = [_ARTICLE.sub("", part.strip()) for part in _AND.split(value) if part.strip()]
    if len(parts) > 1 and _ADJECTIVE_OF.search(value):
        return [_ARTICLE.sub("", value.strip())]  # "action and sci-fi movies" are one thing
    return parts if parts and is_value(parts[0], 99) else []


def is_value(value: str, most_words: int = 6) -> bool:
    """Whether something is named, rather than pointed at."""
    words = value.split()
    return (
        bool(words)
        and len(words) <= most_words
        and value.lower() not in ("the", "a", "an")
        and not _EMPTY.match(value)
        and any(c.isalnum() for c in value)
        and not any(c in '"“”' for c in value)
    )
