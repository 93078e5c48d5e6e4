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
_TALKS = (
    "(?:conversations?|chats?|discussions?|sessions?|messages|requests|queries|interactions|history)"
    "(?: history)?(?: so far| in order| over time)?"
)
_WHICH_TALKS = (
    "(?:all )?(?:of )?(?:our|my|the|these|those) (?:(?:previous|past|earlier|prior|entire|various|different) )*"
)

# What goes, what is put in its place; in this order, each in what the one before left.
_RULES: tuple[tuple[str, str], ...] = (
    # "Hi, …"
    (r"^(?:hi|hey|hello|okay|ok|so|well)\b[,!. ]+", ""),
    # "(mention only five items in order)"
    (
        r"\(?\bmention(?:ing)? (?:only(?: and only)? )?(?:\w+ )?(?:items?|things|points|aspects|topics)"
        r"(?: only)?(?: in (?:total|order))?\)?\.?",
        "",
    ),
    # "throughout our earlier conversations", "that we have discussed so far"
    (rf"\b(?:throughout|across|over|during|in|from|based on|through) {_WHICH_TALKS}{_TALKS}", ""),
    (r"\b(?:that )?we(?:'ve| have)? (?:discussed|talked about|covered|gone over)(?: so far| together| in order)?", ""),
    # "How did my questions about X develop": X
    (
        r"\bhow did my (?:discussions?|conversations?|questions?) (?:about|on|of|around) (.*?)"
        r" (?:progress|develop|evolve)\b",
        r"\1",
    ),
    # "the order in which I brought up"
    (
        r"\bthe (?:order|sequence) in which (?:i|we)"
        r" (?:brought up|mentioned|discussed|talked about|raised|introduced)",
        "",
    ),
    # "different aspects of", "a clear and concise summary of", "including all …"
    (
        r"\b(?:different|various|several|key|main)"
        r" (?:aspects?|topics?|parts?|points?|themes?|features or concerns|examples?)"
        r" (?:of|related to|about|regarding)\b",
        "",
    ),
    (
        r"\b(?:a|the)? ?(?:(?:clear|comprehensive|detailed|thorough|complete|full|brief|short|quick|and|concise) )*"
        r"(?:summary|overview|recap) of\b",
        "",
    ),
    (r"\bincluding all (?:the )?.*$", ""),
    (r"\bcovering all (?:the )?.*$", ""),
    # "Could you walk me through", "Please remind me of"
    (rf"^(?:please )?(?:can|could|would|will) you (?:please )?{_REQUEST}\b", ""),
    (rf"^(?:please )?{_REQUEST}\b(?= )", ""),
    # "do you remember", "did I mention that", "I told you", "how many different", "in order"
    (r"\b(?:do|can) you (?:remember|recall|know)\b", ""),
    (r"\bdid i (?:say|mention|tell you|state|report)(?: that)?\b", "did I"),
    (r"\bi (?:said|mentioned|told you)(?: that)?\b", "I"),
    (r"\bhow (?:many|much) different\b", "how many"),
    (r"\b(?:in|by) order\b", ""),
    # "did you recommend", "would you suggest"
    (r"\bdid you (?:recommend|suggest|advise|propose|say|tell me|mention)\b", ""),
    (r"\bwould you (?:suggest|recommend)\b", ""),
    # what is left over: blanks before punctuation, punctuation at the end, runs of blanks
    (r"(?<!\s)\s+([?.,!;:])", r"\1"),
    (r"(?<![,;: ])[,;: ]+$", ""),
    (r"\s+", " "),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in _RULES)
_WORD = re.compile(r"[A-Za-z]{3,}")


def without_meta(question: str) -> str:
    """The question without what it says about the asking; as it is where fewer than two words would be left.

    >>> without_meta("Can you remind me of the hotel near the harbour?")
    'the hotel near the harbour?'
    """
    left = question.strip()
    for pattern, replacement in _COMPILED:
        left = pattern.sub(replacement, left).strip()
    return left if len(_WORD.findall(left)) >= 2 else question


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
