"""What somebody likes, dislikes, prefers, owns and uses."""

from __future__ import annotations

import re

from recollect.derive.facts.claim import Category, Polarity
from recollect.derive.facts.rules.predicate import Predicate, capital, predicate
from recollect.derive.facts.rules.words import is_technical

_ENDED = Polarity.ENDED


def _liked(value: str) -> bool:
    return not _NOT_LIKED.search(value)


def _thing(value: str) -> bool:
    return not re.match(
        r"(?i)(?:lot|bit|few|couple|number|bunch|ton|time|ticket|drink|coffee|beer|lunch|dinner|round|copy|bug|up|mistake|"
        r"decision|problem|issue|outcome|process|the|him|her|you|more|hard bargain|\d+ tickets)",
        value,
    )


def _product(value: str) -> bool:
    words = value.split()
    if is_technical(value) or _ORGANISED.search(value) or len(words) > 5:
        return False
    return bool(re.match(r"(?:19|20)\d\d |[A-Z][a-z]+ [A-Z0-9]", value)) and _thing(value)


def _durable(value: str) -> bool:
    return _thing(value) and bool(
        _DURABLE.search(value) or re.match(r"(?:[A-Z][\w-]+ )+[\w-]*[A-Z0-9]|(?:19|20)\d\d ", value)
    )


def _preferred(value: str) -> bool:
    return not _NOT_PREFERRED.search(value)


_ORGANISED = re.compile(
    r"\b(?:program\w*|plan|policy|committee|group|team|board|department|scheme|partnership|account)\b", re.IGNORECASE
)

_DURABLE = re.compile(
    r"\b(?:car|van|truck|bike|bicycle|e-bike|motorbike|motorcycle|scooter|boat|sailboat|kayak|canoe|surfboard|house|flat|apartment|condo"
    r"|cottage|camera|lens|laptop|computer|pc|tablet|phone|smartphone|printer|3d printer|console|tv|television|projector|monitor|drone|guitar"
    r"|piano|violin|keyboard|synth|drum kit|telescope|sewing machine|washing machine|dishwasher|fridge|oven|espresso machine|sofa|couch"
    r"|desk|bed|mattress|watch|smartwatch|treadmill|tent|camper|caravan|trailer|tractor|robot vacuum|heat pump|wheelchair|necklace|ring)s?$",
    re.IGNORECASE,
)

_NOT_PREFERRED = re.compile(
    r"^(?:not|to say|the|a|an|if|it|one|shorter|longer|using the|when|that|this|something|things?)\b"
    r"|\b(?:it|them|your?|yours|this|that|these|those|him|her|like you)\b",
    re.IGNORECASE,
)

# Things of this very talk ("the color", "your song"), and what says nothing alone.
_NOT_LIKED = re.compile(
    r"^(?:\w+ )?(?:way|idea|part|fact|sound|look|feel|one|point)\b|^(?:spending|more time|time|being|fun|parts?|lot|kind|sort)$"
    r"|\b(?:it|them|you|your|yours|this|that|these|those|him|her|us|me|so|both|everywhere|forever|here|there|one)\b",
    re.IGNORECASE,
)

TASTES: tuple[Predicate, ...] = (
    predicate(
        r"^(?:love|loves|adore|adores|enjoy|enjoys) (?P<v>(?!the (?![A-Z])|all (?:of |the|th[eo]se)).+)",
        "likes",
        _liked,
        several=True,
        most_words=5,
    ),
    predicate(
        r"^(?:like|likes) (?P<v>(?!the (?![A-Z])|all (?:of |the|th[eo]se)).+)",
        "likes",
        _liked,
        several=True,
        most_words=5,
    ),
    predicate(r"^is a (?:big |huge |massive |lifelong |long-time )?fan of (?P<v>.+)", "likes", _liked, most_words=5),
    predicate(
        r"^(?:hate|hates|despise|detest|loathe|dislike|dislikes|cannot stand|do(?:es)? not like|do(?:es)? not enjoy|is not a (?:big |huge )?fan of) (?P<v>(?!the (?!smell|taste|sound|noise|cold|heat|rain|snow|sea|beach|gym|[A-Z])).+)",
        "dislikes",
        _liked,
        several=True,
        most_words=5,
    ),
    predicate(
        r"^prefers? (?P<v>.+)",
        "prefers",
        _preferred,
        clause=True,
        most_words=14,
    ),
    predicate(r"^(?:drive|drives) (?:an? |the )(?P<v>.+)", "owns", _thing),
    predicate(
        r"^(?:bought|purchased|got myself|has bought|has purchased) (?:myself |ourselves )?(?:an? |another )(?:new |brand new |used |second-hand )?(?P<v>.+)",
        "owns",
        _durable,
        category=Category.EPISODIC,
    ),
    predicate(r"^owns? (?:an? |two |three |some )?(?P<v>.+)", "owns", _thing),
    predicate(r"^has an? (?P<v>.+)", "owns", _product),
    predicate(
        r"^(?:sold|lost|gave away|got rid of|has sold|donated) (?:my|our|his|her) (?:old )?(?P<v>.+)",
        "owns",
        lambda v: (
            _thing(v)
            and not re.match(
                r"(?i)(?:train|job|mind|temper|way|voice|appetite|mother|father|dog|cat|keys|soul|heart)\b", v
            )
        ),
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:use|uses|is using|run|runs|is running|is on|upgraded to|has upgraded to|updated to|switched to|migrated to|installed|is still on|is stuck on) (?P<a>[A-Za-z][\w.+#]*(?: [A-Z]\w+)?) v?(?P<v>\d+(?:\.\d+)+[\w-]*)(?=\W|$)",
        "version of {a}",
        exact=True,
    ),
    predicate(
        r"^(?:use|uses|is using) (?P<v>[A-Z][\w+#.]*(?: [A-Z][\w+#.]*)?)(?= (?:as (?:my|our)|for (?:all |most )?(?:my|our))\b)",
        "uses",
        capital,
        exact=True,
    ),
    predicate(
        r"^is (?:working on|building|developing|making|writing|creating|starting|running) (?:a|an|my|our|this) (?:[\w-]+ ){0,3}(?:project|app|startup|company|game|library|tool|website|novel|book|band|blog|podcast|business|shop|restaurant) (?:called|named) (?P<v>[\"“]?[A-Z][\w -]*)",
        "project",
        capital,
        most_words=4,
    ),
)
