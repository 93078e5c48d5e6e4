"""What a question says about the asking rather than about what is sought: "walk me through", "in our earlier chats".

Such phrases stand in no message that answers; they are taken out before words and meaning are compared. An opening
("can you remind me: …") goes before anything is read: it speaks of the asker and asks for help in form only.
"""

from __future__ import annotations

import re

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
