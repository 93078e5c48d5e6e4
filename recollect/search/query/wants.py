"""What kind of answer an English question wants, told by its words. Each rule pairs with one of the ranker's terms."""

from __future__ import annotations

import re
from enum import StrEnum

from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY
from recollect.text.terms import terms

_META_WORDS = """
    ask asked tell told said mention mentioned mentioning bring brought remind remember recall please
    chat chats conversation conversations discuss discussed discussion discussions message messages session sessions
    talk talked walk only list order item items aspect aspects different clear comprehensive overview summary
    summarise summarize earlier previously throughout ever
"""

#: Index terms that speak of the asking; they count only where hardly another is left.
META_TERMS: frozenset[str] = frozenset(terms(_META_WORDS))

_REQUEST = (
    r"(?:walk me through|tell me(?: more)?(?: about)?|remind me(?: of| about)?|give me|show me|describe"
    r"|explain(?: to me)?|help me(?: to)?(?: understand| figure out| recall| remember)?|provide(?: me)?(?: with)?"
    r"|list(?: out)?|outline|summari[sz]e|share|recall|find|look up|search for)"
)
_REQUEST_WORDS = """
    walk tell remind give show describe explain help provide list outline summarise summarize share recall find look
    search
"""
_TALKS = (
    "(?:conversations?|chats?|discussions?|sessions?|messages|requests|queries|interactions|history)"
    "(?: history)?(?: so far| in order| over time)?"
)
_TALKS_WORDS = (
    "conversation conversations chat chats discussion discussions session sessions messages requests queries"
    " interactions history"
)
_WHICH_TALKS = (
    "(?:all )?(?:of )?(?:our|my|the|these|those) (?:(?:previous|past|earlier|prior|entire|various|different) )*"
)

# What goes and what is put in its place, in this order, each in what the one before left. First words of which it must
# hold one: most questions hold few of them, and what cannot match is not even compiled; none where it may always match.
_RULES: tuple[tuple[str, str, str], ...] = (
    # "Hi, …"
    ("hi hey hello okay ok so well", r"^(?:hi|hey|hello|okay|ok|so|well)\b[,!. ]+", ""),
    # "(mention only five items in order)"
    (
        "mention mentioning",
        r"\(?\bmention(?:ing)? (?:only(?: and only)? )?(?:\w+ )?(?:items?|things|points|aspects|topics)"
        r"(?: only)?(?: in (?:total|order))?\)?\.?",
        "",
    ),
    # "throughout our earlier conversations", "that we have discussed so far"
    (_TALKS_WORDS, rf"\b(?:throughout|across|over|during|in|from|based on|through) {_WHICH_TALKS}{_TALKS}\b", ""),
    (
        "discussed talked covered gone",
        r"\b(?:that )?we(?:'ve| have)? (?:discussed|talked about|covered|gone over)\b(?: so far| together| in order)?",
        "",
    ),
    # "How did my questions about X develop": X
    (
        "progress develop evolve",
        r"\bhow did my (?:discussions?|conversations?|questions?) (?:about|on|of|around) (.*?)"
        r" (?:progress|develop|evolve)\b",
        r"\1",
    ),
    # "the order in which I brought up"
    (
        "which",
        r"\bthe (?:order|sequence) in which (?:i|we)"
        r" (?:brought up|mentioned|discussed|talked about|raised|introduced)",
        "",
    ),
    # "different aspects of", "a clear and concise summary of", "including all …"
    (
        "different various several key main",
        r"\b(?:different|various|several|key|main)"
        r" (?:aspects?|topics?|parts?|points?|themes?|features or concerns|examples?)"
        r" (?:of|related to|about|regarding)\b",
        "",
    ),
    (
        "summary overview recap",
        r"\b(?:(?:a|the) )?(?:(?:clear|comprehensive|detailed|thorough|complete|full|brief|short|quick|and|concise) )*"
        r"(?:summary|overview|recap) of\b",
        "",
    ),
    ("including", r"\bincluding all (?:the )?.*$", ""),
    ("covering", r"\bcovering all (?:the )?.*$", ""),
    # "Could you walk me through", "Please remind me of"
    ("you", rf"^(?:please )?(?:can|could|would|will) you (?:please )?{_REQUEST}\b", ""),
    (_REQUEST_WORDS, rf"^(?:please )?{_REQUEST}\b(?= )", ""),
    # "do you remember", "did I mention that", "I told you", "how many different", "in order"
    ("you", r"\b(?:do|can) you (?:remember|recall|know)\b", ""),
    ("did", r"\bdid i (?:say|mention|tell you|state|report)(?: that)?\b", "did I"),
    ("said mentioned told", r"\bi (?:said|mentioned|told you)(?: that)?\b", "I"),
    ("different", r"\bhow (?:many|much) different\b", "how many"),
    ("order", r"\b(?:in|by) order\b", ""),
    # "did you recommend", "would you suggest"
    ("did", r"\bdid you (?:recommend|suggest|advise|propose|say|tell me|mention)\b", ""),
    ("would", r"\bwould you (?:suggest|recommend)\b", ""),
    # what is left over: blanks before punctuation, punctuation at the end, runs of blanks
    ("", r"(?<!\s)\s+([?.,!;:])", r"\1"),
    ("", r"(?<![,;: ])[,;: ]+$", ""),
    ("", r"\s+", " "),
)
_NEEDED = tuple(frozenset(words.split()) for words, _, _ in _RULES)
_WORD = re.compile(r"[A-Za-z]{3,}")


def without_meta(question: str) -> str:
    """The question without what it says about the asking; as it is where fewer than two words would be left.

    >>> without_meta("Can you remind me of the hotel near the harbour?")
    'the hotel near the harbour?'
    """
    left, words = question.strip(), words_of(question)
    for needed, (_, pattern, replacement) in zip(_NEEDED, _RULES, strict=True):
        if not needed or needed & words:
            left = re.sub(f"(?i){pattern}", replacement, left).strip()
    return left if len(_WORD.findall(left)) >= 2 else question


def words_of(question: str) -> set[str]:
    """The English words of a question, in small letters."""
    return set(re.findall(r"[a-z]+", question.lower()))


#: What may stand before a question of any kind; a verb that may be the matter itself ("I need to find a plumber") only
#: with a colon.
_OPENING = re.compile(
    r"""^\s* (?:(?:hi|hey|hello|ok|okay|so|well|please)\b [,!.]?\s+)* (?:
      (?: (?:(?:can|could|would|will)\ you\ (?:please\ |maybe\ |kindly\ )?)? (?:tell|remind)\ me (?:\ again)?
        | (?:i|i'd|i\ would|i['’]d)\ (?:really\ |just\ )?(?:want|wanted|like|love|need)\ to
          \ (?:know|find\ out|remember|recall|ask(?:\ you)?)
        | (?:i\ am|i['’]m|i\ was)\ (?:just\ )?(?:wondering|curious|trying\ to\ (?:find\ out|remember|recall))
        | (?:do|would)\ you\ (?:happen\ to\ )?(?:know|remember|recall)
        | let\ me\ ask(?:\ you)?
      )
      (?:,?\ please)?
      (?: (?:\ (?:of|about)\b)? ,?\s+ (?=\S+\s+\S|[^\x00-\u024f]) | \s*[:–—]\s*(?=\S) )
    | (?: (?:a\ |one\ |my\ )?(?:quick\ )?question
        | i\ have\ a\ (?:quick\ )?question
        | (?:i|i'd|i\ would|i['’]d)\ (?:want|like|love|need)\ to\ (?:find|see|look\ up)
        | (?:i\ am|i['’]m)\ (?:looking|searching)\ for
        | help\ me\ (?:find|remember|recall)
      ) \s*[:–—]\s*(?=\S)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MOST_OPENINGS = 3


def without_opening(question: str) -> str:
    """The question without what politely leads up to it; as it is where one word or none would be left.

    >>> without_opening("Can you remind me when Ann moved?"), without_opening("I want to know: who called?")
    ('when Ann moved?', 'who called?')
    """
    for _ in range(_MOST_OPENINGS):
        question = _OPENING.sub("", question)
    return question


class TimeOrder(StrEnum):
    """Which of several times is meant."""

    FIRST = "first"
    LAST = "last"


_WHEN = r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|how long ago|which (?:day|month|year)"
_HOW_MANY = r"\bhow (?:many|much|long|often|old|far)\b|what (?:number|percentage|price|cost|amount|score)"
_WHERE = r"\bwhere\b|(?:what|which) (?:city|country|place|state|town)"
_SUMMARY = r"\bsummar|\boverview\b|\brecap\b"
_OWN_WORDS = (
    r"\b(?:i|we)(?:'ve|'d|\ have|\ had)?\ (?:said|told|wrote|mentioned|asked|noted|explained|described|decided)\b"
)

# "you suggested", "your last two answers", "the plan you gave me": what an assistant does and makes.
_YOUR_WORDS = r"""(?x)\byou(?:r|'ve|'d)?\b (?:\ \w+){0,3}\ (?:
    suggest | recommend | advi[sc] | propos | offer | help
  | said | told | mention | explain | explanation | describ | answer | response
  | gave | give | provid | shar | shown? | list | outlin
  | wrote | draft | creat | code | plan | instruction | example
)"""
_DID_YOU = r"""(?x)\b(?:did|have)\ you\b | \byou\ (?:
    suggested | recommended | proposed | advised | said | told | mentioned | explained | described
  | gave | provided | listed
)"""
_POLITE_START = r"^(?:can|could|would|will) you\b[^?.,]*?\b(how|what|which|who|where|when|why|the|my|i)\b"

_HOW_TO = r"""(?x)
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
_ABOUT_THE_PAST = r"""(?x)\b(?:
    (?:did|have|had|was)\ i | were\ my | my\ discussions | (?:did|have)\ you
  | you\ (?:suggested|recommended|gave|told|said)
  | in\ order | order\ in\ which | summary | summari[sz]e | how\ many | how\ much | do\ i\ have
)\b"""

_OWN = r"\b(?:my|mine|we|our|ours)\b"
_ASKER = r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|you|your|yours)\b"


# What each rule's questions hold, in small letters: a pattern is compiled by the first question that has something of
# it, and most of what is typed are a few words of what is sought.
_OF_WHEN, _OF_HOW_MANY, _OF_WHERE = ("when", "what", "how", "which"), ("how", "what"), ("where", "what", "which")
_OF_SUMMARY = ("summar", "overview", "recap")
_OF_HOW_TO = ("how", "what", "you", "which", "should", "i'", "i ")


def _is_in(question: str, pattern: str, parts: tuple[str, ...] = ("",)) -> bool:
    lowered = question.lower()
    return any(part in lowered for part in parts) and re.search(pattern, question, re.IGNORECASE) is not None


def asks_when(question: str) -> bool:
    """Whether a time is sought: "when", "which year"."""
    return _is_in(question, _WHEN, _OF_WHEN)


def asks_how_many(question: str) -> bool:
    """Whether a number is sought: "how many", "what price"."""
    return _is_in(question, _HOW_MANY, _OF_HOW_MANY)


def asks_where(question: str) -> bool:
    """Whether a place is sought: "where", "which city"."""
    return _is_in(question, _WHERE, _OF_WHERE)


def asks_assistant(question: str) -> bool:
    """Whether the assistant's own words are sought: "what did you suggest", "the code you gave me".

    "Could you tell me how …" is manners: what comes before its question word does not count.
    """
    if "you" not in question.lower():
        return False
    plain = re.sub(_POLITE_START, r"\1", question.strip(), flags=re.IGNORECASE)
    return _is_in(plain, _YOUR_WORDS) or _is_in(question, _DID_YOU)


def wants_summary(question: str) -> bool:
    """Whether an overview is sought, and not of what the asker has said."""
    return _is_in(question, _SUMMARY, _OF_SUMMARY) and not _is_in(question, _OWN_WORDS)


def is_how_to(question: str) -> bool:
    """Whether advice is sought for what is to be done now, and not what was said in the past."""
    return _is_in(question.strip(), _HOW_TO, _OF_HOW_TO) and not _is_in(question, _ABOUT_THE_PAST)


def speaks_of_asker(question: str) -> bool:
    """Whether the question speaks of the one who asks, or to the assistant: "what did I decide", "you suggested"."""
    return _is_in(question, _ASKER)


def speaks_of_own(text: str) -> bool:
    """Whether it speaks of what is the asker's own or shared: "our decisions", "what we chose"."""
    return _is_in(text, _OWN)


_UNITS = rf"night|day|week|weekend|month|year|{ANY_SEASON}|{ANY_WEEKDAY}|{ANY_MONTH}|name|\d"
_TALK = "(?:time|conversation|chat|talk|discussion|meeting|session|mention)"
_SUBJECT = r"(?!(?:my|our|your|his|her|their|its|the|an?)\b)[\w'-]+(?:\ and\ [\w'-]+)?"
_WE = "(?:i|we|you|he|she|they)"
_OF_THE_LATEST = "(?:on|about|from|news|state|status|update|decision|plan|version)"
_FIRST = rf"""(?xi)
      (\b(?:the|my|our|that)\ (?:very\ )?first\ {_TALK}s?\b)
    | (\bat\ first\b | \binitially\b | \boriginally\b | \bin\ the\ beginning\b(?!\ of) | \bto\ begin\ with\b)
    | \b(?:did|have|has|had)\ {_SUBJECT}\ ((?:ever\ )?first)\ [a-z]+
    | \b{_WE}\ (first)\ [a-z]+
"""
_LAST = rf"""(?xi)
      (\b(?:the|my|our)\ (?:very\ )?(?:last|latest|most\ recent)\ {_TALK}s?\b)
    | (\bmost\ recently\b | \blately\b)
    | \bthe\ (latest|most\ recent)\ {_OF_THE_LATEST}\b
    | \b(?:did|have|has|had)\ {_SUBJECT}\ (last)\ (?!{_UNITS})[a-z]+
    | \bwhen\ (?:was|were)\ .*\ (last)\ (?!{_UNITS})[a-z]+
    | \b{_WE}\ (last)\ (?!{_UNITS})[a-z]+
"""
_FIRST_WORDS = frozenset({"first", "initially", "originally", "beginning", "begin"})
_LAST_WORDS = frozenset({"last", "latest", "recent", "recently", "lately"})


def read_order(question: str) -> TimeOrder | None:
    """Whether the first or the last of several times is meant: "when did we first", "most recently".

    >>> read_order("When did I last bake bread?"), read_order("What did I say last night?")
    (<TimeOrder.LAST: 'last'>, None)
    """
    words = words_of(question)
    if _FIRST_WORDS & words and re.search(_FIRST, question):
        return TimeOrder.FIRST
    return TimeOrder.LAST if _LAST_WORDS & words and re.search(_LAST, question) else None
