"""What kind of answer an English question wants, told by its words. Each rule pairs with one of the ranker's terms."""

from __future__ import annotations

import re

_WHEN = r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|how long ago|which (?:day|month|year)"
_HOW_MANY = r"\bhow (?:many|much|long|often|old|far)\b|what (?:number|percentage|price|cost|amount|score)"
_WHERE = r"\bwhere\b|(?:what|which) (?:city|country|place|state|town)"
_SUMMARY = r"\bsummar|\boverview\b|\brecap\b"
_OWN_WORDS = (
    r"\b(?:i|we)(?:'ve|'d|\ have|\ had)?\ (?:said|told|wrote|mentioned|asked|noted|explained|described|decided)\b"
)
_EVER = r"\bever\b|\bhave i (?:already|previously|\w+ed)\b"

# "you suggested", "your last two answers", "the plan you gave me": what an assistant does and makes.
_YOUR_WORDS = r"""\byou(?:r|'ve|'d)?\b (?:\ \w+){0,3}\ (?:
    suggest | recommend | advi[sc] | propos | offer | help
  | said | told | mention | explain | explanation | describ | answer | response
  | gave | give | provid | shar | shown? | list | outlin
  | wrote | draft | creat | code | plan | instruction | example
)"""
_DID_YOU = r"""\b(?:did|have)\ you\b | \byou\ (?:
    suggested | recommended | proposed | advised | said | told | mentioned | explained | described
  | gave | provided | listed
)"""
_POLITE_START = r"^(?:can|could|would|will) you\b[^?.,]*?\b(how|what|which|who|where|when|why|the|my|i)\b"

_HOW_TO = r"""
  ^(?:
      how\ to\b | how\ (?:do|should|can|could|would|might)\ (?:i|we|you|one)\b
    | what(?:'s|\ (?:is|are|would|should|can|could))?\b .*
      \b(?:would\ you\ (?:suggest|recommend)|should\ i|can\ i|best|some|strategies|steps|ways|options|common)\b
    | (?:can|could|would)\ you\ (?:please\ )?(?:
          show | help | explain | suggest | recommend | write | create
        | give\ me\ (?:some|an|advice|tips) | walk\ me\ through\ how | tell\ me\ how
        | provide\ (?:an?\ )?(?:example|code)
      )
    | which\ (?:libraries|tools)
    | i(?:'m|\ am)\ (?:planning|looking|trying|working|thinking|considering|interested)
    | i(?:'d|\ would)\ (?:like|love)[ ]
    | i\ (?:want|need)[ ]
  )
  | \bwould\ you\ (?:suggest|recommend)\b
  | \bshould\ i\b
"""
_ABOUT_THE_PAST = r"""\b(?:
    (?:did|have|had|was)\ i | were\ my | my\ discussions | (?:did|have)\ you
  | you\ (?:suggested|recommended|gave|told|said)
  | in\ order | order\ in\ which | summary | summari[sz]e | how\ many | how\ much | do\ i\ have
)\b"""

_ASKER = r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|you|your|yours)\b"


def _compiled(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | flags)


_WHEN_RE, _HOW_MANY_RE, _WHERE_RE = _compiled(_WHEN), _compiled(_HOW_MANY), _compiled(_WHERE)
_SUMMARY_RE, _EVER_RE, _POLITE_RE = _compiled(_SUMMARY), _compiled(_EVER), _compiled(_POLITE_START)
_YOURS_RE, _DID_YOU_RE = _compiled(_YOUR_WORDS, re.VERBOSE), _compiled(_DID_YOU, re.VERBOSE)
_ASKER_RE, _OWN_WORDS_RE = _compiled(_ASKER), _compiled(_OWN_WORDS)
_HOW_TO_RE, _PAST_RE = _compiled(_HOW_TO, re.VERBOSE), _compiled(_ABOUT_THE_PAST, re.VERBOSE)


def asks_when(question: str) -> bool:
    """Whether a time is sought: "when", "which year"."""
    return bool(_WHEN_RE.search(question))


def asks_how_many(question: str) -> bool:
    """Whether a number is sought: "how many", "what price"."""
    return bool(_HOW_MANY_RE.search(question))


def asks_where(question: str) -> bool:
    """Whether a place is sought: "where", "which city"."""
    return bool(_WHERE_RE.search(question))


def asks_assistant(question: str) -> bool:
    """Whether the assistant's own words are sought: "what did you suggest", "the code you gave me".

    "Could you tell me how …" is manners: what comes before its question word does not count.
    """
    plain = _POLITE_RE.sub(r"\1", question.strip())
    return bool(_YOURS_RE.search(plain) or _DID_YOU_RE.search(question))


def wants_summary(question: str) -> bool:
    """Whether an overview is sought, and not of what the asker has said."""
    return bool(_SUMMARY_RE.search(question)) and not _OWN_WORDS_RE.search(question)


def is_how_to(question: str) -> bool:
    """Whether advice is sought for what is to be done now, and not what was said in the past."""
    return bool(_HOW_TO_RE.search(question.strip())) and not _PAST_RE.search(question)


def asks_ever(question: str) -> bool:
    """Whether it is asked if something has been at all: "have I ever", "have I finished"."""
    return bool(_EVER_RE.search(question))


def speaks_of_asker(question: str) -> bool:
    """Whether the question speaks of the one who asks, or to the assistant: "what did I decide", "you suggested"."""
    return bool(_ASKER_RE.search(question))
