"""The patterns of plain statements: what stands between two names, before one, or after one."""

from __future__ import annotations

import re

#: Relations that say that two names mean the same.
SAME = "SAME_AS"


def _read(table: str) -> list[tuple[str, str]]:
    """Rows of a relation and the verbs that say it."""
    rows = re.split(r"\n {4}(?=[A-Z_]+:)", f"\n{table.strip()}".replace("\n", "\n    ", 1))
    pairs = (row.partition(":") for row in rows if row.strip())
    return [(name.strip(), re.sub(r"\s*\|\s*", "|", " ".join(verbs.split()))) for name, _, verbs in pairs]


_BETWEEN_VERBS = r"""
    USES: uses? | runs? on | running on | relies on | rely on | depends? on | built (?:on | with | in) | written
        in | powered by | backed by | integrates? with | stores? (?:\w+ )?in | deployed (?:on | to | with) |
        hosted (?:on | by | at)
    REPLACES: replaces? | replaced | replacing | supersedes? | superseded | instead of | rather than | took over
        from
    IMPROVES: improves? | improved | improving | speeds? up | boosts? | boosted | helps? with | enhances? |
        enhanced | is good for | is better for
    PART_OF: part of | belongs? to | a module of | a component of | a subsidiary of | owned by | a member of |
        included in | comes with
    WORKS_AT: works? (?:at | for) | working (?:at | for) | worked (?:at | for) | joined | employed (?:at | by) |
        got a job at | ceo of | cto of | interns? at | professor at | teaches at
    LIVES_IN: lives? (?:\w+ )?in | living in | lived in | moved to | relocated to | resides in | based in | is from |
        comes from | grew up in | was born in
    LOCATED_IN: located in | situated in | a (?:city | town | village | island | region | suburb | district |
        neighborhood | neighbourhood) (?:in | of) | the capital of
    CREATED: created | built | founded | wrote | invented | developed | made | designed | directed | composed |
        painted | author of | founder of | creator of
    MARRIED_TO: married to | married | marries | marrying | engaged to | (?:the )?(?:wife | husband) of
    KNOWS: met | knows | friends with | a friend of | works with
    CAUSES: causes? | caused | leads? to | led to | triggers? | triggered
    SUPPORTS: supports? | supported | compatible with | works well with | works with
    SAME_AS: aka | a\.k\.a\.? | also known as | also called | short for | stands for | abbreviated as |
        nicknamed | better known as | formerly
"""
_SPEAKER_VERBS = r"""
    CHOSE: chose | chosen | choose | picked | went with | going with | go with | decided on | decided for |
        decided to use | settled on | opted for | selected | switched to | moved to using | migrated to
    REJECTED: rejected | ruled out | dropped | dismissed | discarded | abandoned | decided against | gave up on
        | got rid of | moved away from | stopped using | killed | replaced | said no to
    USES: use | uses | used | using | run on | rely on | deploy (?:to | on | with) | deployed (?:to | on | with)
        | host (?:\w+ )?(?:on | at) | built (?:it  | this )?(?:on | with | in) | write in | work with | working
        with | code in | store \w+ in
    WORKS_AT: work (?:at | for) | works (?:at | for) | working (?:at | for) | worked (?:at | for) | joined | got
        a job at | accepted (?:an | the) offer from | started at | intern at
    LIVES_IN: live in | living in | lived in | moved to | moving to | relocated to | settled in | am from | 'm
        from | come from | grew up in
    LIKES: love | loved | like | liked | enjoy | enjoyed | prefer | adore
    VISITED: visited | went to | flew to | travel(?:l)?ed to | came back from | got back from
    CREATED: created | founded | launched | am building | building | started
"""
_AUXILIARIES = "is was also really now currently mainly still already all both has have had been being".replace(
    " ", "|"
)
_ARTICLES = (
    "the a an our my your its their all for on in to with official local new old existing overall better".replace(
        " ", "|"
    )
)
#: Between two names, first to second.
BETWEEN = tuple(
    (
        name,
        re.compile(
            rf"^,?\s*(?:(?:{_AUXILIARIES})\s+){{0,3}}(?:{verbs})\s+(?:(?:{_ARTICLES})\s+){{0,3}}$", re.IGNORECASE
        ),
    )
    for name, verbs in _read(_BETWEEN_VERBS)
)
REJECTED_FOR = re.compile(r"^,?\s*(?:because of|due to|for its|over its|for)\s+(?:the\s+)?$", re.IGNORECASE)
OVER = re.compile(
    r"^,?\s*(?:over|instead of|rather than|and not|not|in favou?r of)\s+(?:the\s+|plain\s+)?$", re.IGNORECASE
)
TO = re.compile(r"^\s*(?:to|with|by)\s+(?:the\s+)?$", re.IGNORECASE)
AND = re.compile(r"^(?:,|,?\s*(?:and|&|\+|plus|or))\s*(?:the\s+|also\s+)?$", re.IGNORECASE)
BRACKET = re.compile(r"^\s*\(\s*(?:aka |i\.e\. |or )?$")

_ADVERBS = (
    "also now already mostly mainly still currently finally have had has just both will then recently actually always "
)
_ADVERBS = rf"(?:(?:{(_ADVERBS + 'are am were was been').replace(' ', '|')})\s+){{0,3}}"
_ARTICLE = r"(?:(?:the|a|an|our|my|plain|just|for|on|with|new|old|local|to use|to go with)\s+){0,3}$"
_WE = rf"(?:\b(?:we|I)(?:'ve|'re|'m|'d)?)\s+{_ADVERBS}"
#: Before a name, with the one who speaks as what the relation begins with.
SPEAKER = tuple(
    (name, re.compile(rf"{_WE}(?:{verbs})\s+{_ARTICLE}", re.IGNORECASE)) for name, verbs in _read(_SPEAKER_VERBS)
)
#: Decisions without "we": "Decision: Next.js", "Next.js it is".
DECIDED = re.compile(
    r"\b(?:decision|decided|settled|final choice|my choice|winner)\s*(?:is|was)?:?\s+(?:to use\s+)?$", re.IGNORECASE
)
IT_IS = re.compile(r"^\s+it is\b(?! (?:a|an|the|not|so|too|very)\b)", re.IGNORECASE)
_KIN = """
    wife husband brother sister son daughter mother father mom mum dad boss manager mentor colleague coworker partner
    girlfriend boyfriend neighbor neighbour cousin aunt uncle roommate flatmate teacher doctor dentist therapist vet
    niece nephew friend dog cat puppy kitten fiancee fiance grandmother grandfather grandma grandpa landlord landlady
    accountant lawyer coach
"""
MY = re.compile(
    rf"\b(?:my|our)\s+(?:(?:best|old|older|younger|little|big|new|good|close|dear|eldest|youngest|late)\s+)?"
    rf"({'|'.join(_KIN.split())})(?:'s name)?(?:\s+is(?:\s+called)?|\s+is named|,|\s+called|\s+named)?\s+$",
    re.IGNORECASE,
)
IS_MY = re.compile(
    rf"^(?:\s+is\s+my\s+(?:(?:best|older|younger|little|new|old|good)\s+)?({'|'.join(_KIN.split())})\b(?!')"
    rf"|,\s+my\s+(?:(?:best|older|younger|little|new|old|good)\s+)?({'|'.join(_KIN.split())})(?=[,.;]|$))",
    re.IGNORECASE,
)
#: What may follow where the name is all that is spoken of: not "the LGBTQ support group".
NO_NOUN = re.compile(
    r"^(?:\s*$|\s*[,.;:!)(\"“”–—-]|'s\s+(?:place|house)|\s+(?:and|or|in|on|at|for|with|last|this|next|yesterday|today|"
    r"because|since|to|as|from|now|instead|over|when|after|before|so|but|is|was|again|too|then|who|which|where|while|by|until|during|"
    r"rather|about|v?\d[\w.]*|myself|very|a|every|once|two|years?|months?|not)\b(?! off))"
)
ALONE_ONLY = frozenset({"VISITED", "LIKES", "LIVES_IN", "WORKS_AT", "REJECTED", "CREATED"})
#: Which types may not begin or end a relation.
NEVER_FROM = {
    "WORKS_AT": {"technology", "place", "project"},
    "LIVES_IN": {"technology", "place", "project"},
    "MARRIED_TO": {"technology", "place", "organisation", "project"},
    "KNOWS": {"technology", "place", "organisation", "project"},
    "CREATED": {"technology", "place"},
    "LOCATED_IN": {"person", "technology"},
}
NEVER_TO = {
    "WORKS_AT": {"person", "place", "technology"},
    "LIVES_IN": {"person", "technology", "organisation"},
    "LOCATED_IN": {"person", "technology"},
    "USES": {"person", "place"},
    "CHOSE": {"person"},
    "REJECTED": {"person"},
    "MARRIED_TO": {"technology", "place", "organisation"},
    "KNOWS": {"technology", "place", "organisation", "concept"},
    "VISITED": {"technology"},
}

_KINDS = """
    framework library database language tool company startup city town country island village restaurant cafe bakery
    dog cat puppy friend doctor dentist teacher book novel film movie band game app application service platform
    protocol editor bank school university hospital museum park beach river mountain lake author writer singer artist
    engineer developer lawyer nurse architect designer manager professor student philosopher scientist format standard
    algorithm server client plugin extension package module website newspaper magazine podcast medication drug disease
    allergy breed horse bird parrot rabbit retriever labrador terrier orm cli api sdk runtime compiler cache queue
    broker proxy registry
"""
IS_A = re.compile(
    rf"^(?:\s+(?:is|was)|,)\s+(?:an?|one of the|the)\s+(?:[\w'-]+\s+){{0,3}}?({'|'.join(_KINDS.split())})s?\b"
    r"(?!\s+(?:of\s+(?:mine|a)|to\s|for\s+that|name))",
    re.IGNORECASE,
)
_QUALITIES = """
    performance speed latency security reliability seo accuracy readability productivity scalability maintainability
    sleep mood health focus throughput accessibility usability quality stability efficiency availability conversion
    retention memory digestion concentration energy
"""
IMPROVES = re.compile(
    r"^(?:\s+\w+)?\s+(?:improves?|improved|boosts?|boosted|speeds? up|enhances?|enhanced|helps? with)\s+"
    rf"(?:(?:the|our|my|your)\s+)?(?:[\w-]+\s+)?({'|'.join(_QUALITIES.split())})\b",
    re.IGNORECASE,
)
FROM_TO = re.compile(
    r"\b(?:move|moved|moving|migrate|migrated|migrating|switch|switched|switching|change|changed|went|ported)\b[^.!?\n]{0,30}\bfrom\s+(?:the\s+|plain\s+)?$",
    re.IGNORECASE,
)
REPLACED = re.compile(
    r"\b(?:replaced|replace|replacing|swap|swapped)\s+(?:the\s+|our\s+|my\s+|plain\s+)?$", re.IGNORECASE
)
UNSAID = re.compile(
    r"\b(?:not|never|no|n't|cannot|without|if|whether|would|could|should|might|may|maybe|perhaps|unless|wish|wanted to|"
    r"want to|plan to|planning to|thinking of|thinking about|considering|consider|hope to|hoping to|let's|suppose|"
    r"imagine|example|e\.g\.|try|trying to|need to|needs? to)\b|n't\b",
    re.IGNORECASE,
)
