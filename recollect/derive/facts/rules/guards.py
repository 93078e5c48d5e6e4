"""What keeps a clause from being drawn: a question, a doubt, a condition, a negation, a joke, somebody else's words."""

from __future__ import annotations

import re

from recollect.text.terms import STOP_WORDS

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
