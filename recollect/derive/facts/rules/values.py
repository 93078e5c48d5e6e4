"""Values: where they end, how lists come apart, and what is none."""

from __future__ import annotations

import re

from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY

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
