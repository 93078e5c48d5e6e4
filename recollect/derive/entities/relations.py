"""What a text says of the names in it, by rules: plain statements only, no questions, conditions or denials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.derive.entities.extract import Mention, lines
from recollect.derive.entities.naming import folded
from recollect.text.sentences import sentences

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
    PART_OF: part of | belongs? to | a module of | a component of | a subsidiary of | owned by |
        included in | comes with
    LOCATED_IN: located in | situated in | a (?:city | town | village | island | region | suburb | district |
        neighborhood | neighbourhood) (?:in | of) | the capital of
    CREATED: created | built | founded | wrote | invented | developed | made | designed | directed | composed |
        painted | author of | founder of | creator of
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
    USES: use | uses | using | run on | rely on | deploy (?:to | on | with) | host (?:\w+ )?(?:on | at) | write in |
        code in | store \w+ in
    CREATED: created | founded | launched
"""
_AUXILIARIES = "is also really now currently mainly still already all both has have been being".replace(" ", "|")
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
    "also now already mostly mainly still currently finally have has just both will then recently actually always "
)
_ADVERBS = rf"(?:(?:{(_ADVERBS + 'are am been').replace(' ', '|')})\s+){{0,3}}"
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
#: What may follow where the name is all that is spoken of: not "the LGBTQ support group".
NO_NOUN = re.compile(
    r"^(?:\s*$|\s*[,.;:!)(\"“”–—-]|'s\s+(?:place|house)|\s+(?:and|or|in|on|at|for|with|last|this|next|yesterday|today|"
    r"because|since|to|as|from|now|instead|over|when|after|before|so|but|is|was|again|too|then|who|which|where|while|by|until|during|"
    r"rather|about|v?\d[\w.]*|myself|very|a|every|once|two|years?|months?|not)\b(?! off))"
)
ALONE_ONLY = frozenset({"REJECTED", "CREATED"})
_BEINGS = frozenset({"person", "animal"})
_THINGS = frozenset({"technology", "product", "project", "work"})
#: Which types may not begin or end a relation: of people, places and work tell the facts, with when it held.
_NEVER_FROM = {
    **dict.fromkeys(("PART_OF", "OWNS", "REPLACES", "SUPPORTS", "IMPROVES"), _BEINGS),
    "USES": _BEINGS | {"place"},
    "CREATED": {"technology", "place"},
    "LOCATED_IN": _BEINGS | _THINGS | {"organisation"},
}
_NEVER_TO = {
    **dict.fromkeys(("PART_OF", "REPLACES", "SUPPORTS", "IMPROVES"), _BEINGS),
    "USES": _BEINGS | {"place"},
    "LOCATED_IN": _BEINGS | {"technology"},
    "CHOSE": {"person"},
    "REJECTED": {"person"},
}
_ELSEWHERE = frozenset({"place", "organisation"})


def is_apt(relation: str, source: str | None, target: str | None, *, by_speaker: bool = False) -> bool:
    """Whether a statement may relate two names of these types (None: unknown). What the one who speaks uses is what is
    used where they are: a person else uses nothing by a statement alone.

    >>> is_apt("USES", "project", "technology"), is_apt("LOCATED_IN", "person", "place")
    (True, False)
    """
    if relation == "REPLACES" and (not {source, target} & _THINGS or {source, target} & _ELSEWHERE):
        return False
    begins = (by_speaker and relation == "USES") or source not in _NEVER_FROM.get(relation, ())
    return begins and target not in _NEVER_TO.get(relation, ())


_KINDS = """
    framework library database language tool company startup city town country island village restaurant cafe bakery
    dog cat puppy book novel film movie band game app application service platform protocol editor bank school
    university hospital museum park beach river mountain lake format standard algorithm server client plugin
    extension package module website newspaper magazine podcast medication drug disease allergy breed horse bird
    parrot rabbit retriever labrador terrier orm cli api sdk runtime compiler cache queue broker proxy registry
"""
IS_A = re.compile(
    rf"^(?:\s+is|,)\s+(?:an?|one of the|the)\s+(?:[\w'-]+\s+){{0,3}}?({'|'.join(_KINDS.split())})s?\b"
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


@dataclass(frozen=True, slots=True)
class Assertion:
    """That one name stands in a relation to another, as one message says it."""

    source: str
    relation: str
    target: str


_LONGEST_GAP = 70
_BEFORE = 60
_CLAUSE = re.compile(r"(?<=;)\s+")


def relations(text: str, found: Sequence[Mention], me: str | None) -> list[Assertion]:
    """What is said of the names that were found in a text; `me` is who says it, None where "I" is nobody.

    >>> from recollect.derive.entities.extract import mentions
    >>> said = "We chose Next.js over React. Next.js improves SEO."
    >>> [(a.source, a.relation, a.target) for a in relations(said, mentions(said), "you")]
    [('you', 'CHOSE', 'Next.js'), ('you', 'REJECTED', 'React'), ('Next.js', 'REPLACES', 'React'), \
('Next.js', 'IMPROVES', 'SEO')]
    """
    if not found:
        return []
    names = sorted({mention.name for mention in found}, key=lambda name: (-len(name), name))
    known = {folded(name): name for name in names}
    types = {folded(mention.name): mention.type for mention in found}
    said: dict[Assertion, None] = {}
    for line in lines(text.replace("’", "'")):
        if line.heading:
            continue
        for sentence in (clause for one in sentences(line.text) for clause in _CLAUSE.split(one)):
            if sentence.endswith("?"):
                continue
            for assertion in _of_sentence(sentence, names, me):
                if folded(assertion.source) != folded(assertion.target) and _fits(assertion, types, me):
                    said[_shown(assertion, known)] = None
    return list(said)


def _fits(assertion: Assertion, types: Mapping[str, str], me: str | None) -> bool:
    """Whether the types of both ends allow it."""
    source, target = types.get(folded(assertion.source)), types.get(folded(assertion.target))
    return is_apt(assertion.relation, source, target, by_speaker=assertion.source == me)


def _shown(assertion: Assertion, known: dict[str, str]) -> Assertion:
    """With names as the text first has them."""
    source, target = (known.get(folded(name), name) for name in (assertion.source, assertion.target))
    return Assertion(source, assertion.relation, target)


def _of_sentence(sentence: str, names: Sequence[str], me: str | None) -> Iterator[Assertion]:
    spans = _spans(sentence, names)
    last: tuple[str, str] | None = None  # with what an enumeration goes on
    for number, (start, end, name) in enumerate(spans):
        before, after = sentence[max(0, start - _BEFORE) : start], sentence[end : end + _LONGEST_GAP]
        follows = spans[number + 1] if number + 1 < len(spans) else None
        between = sentence[end : follows[0]] if follows else ""
        if number and last and AND.match(sentence[spans[number - 1][1] : start]):
            yield Assertion(last[0], last[1], name)
        elif not (number and last and OVER.match(sentence[spans[number - 1][1] : start])):
            last = None
        if me is not None and not UNSAID.search(sentence[:start]):
            for assertion in _of_speaker(before, name, after, me):
                last = (me, assertion.relation)
                yield assertion
        if UNSAID.search(after[: len(between)] if follows else after[:40]) or UNSAID.search(before):
            continue
        yield from _alone(name, after)
        if follows and len(between) <= _LONGEST_GAP:
            for assertion in _of_pair(name, between, follows[2], before, last, me):
                if assertion.source == name and assertion.relation not in ("REPLACES", SAME):
                    last = (name, assertion.relation)
                yield assertion


def _spans(sentence: str, names: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where the names stand as whole words, in order; the longer before those that they hold."""
    spans: list[tuple[int, int, str]] = []
    for name in names:
        start = sentence.find(name)
        while start >= 0:
            end = start + len(name)
            apart = not (_is_part(sentence[start - 1 : start]) or _is_part(sentence[end : end + 1]))
            if apart and not any(a < end and start < b for a, b, _ in spans):
                spans.append((start, end, name))
            start = sentence.find(name, end)
    return sorted(spans)


def _is_part(char: str) -> bool:
    return char.isalnum() or char == "_"


def _of_speaker(before: str, name: str, after: str, me: str) -> Iterator[Assertion]:
    if DECIDED.search(before) or IT_IS.match(after):
        yield Assertion(me, "CHOSE", name)
        return
    for relation, pattern in SPEAKER:
        if pattern.search(before):
            if relation not in ALONE_ONLY or NO_NOUN.match(after):
                yield Assertion(me, relation, name)
            return


def _alone(name: str, after: str) -> Iterator[Assertion]:
    """What a sentence says of one name: its kind, what it improves."""
    if kind := IS_A.match(after):
        yield Assertion(name, "IS_A", kind[1].lower())
    if quality := IMPROVES.match(after):
        yield Assertion(name, "IMPROVES", quality[1] if quality[1].isupper() else quality[1].lower())


def _of_pair(
    name: str, between: str, other: str, before: str, last: tuple[str, str] | None, me: str | None
) -> Iterator[Assertion]:
    if last and last[1] in ("CHOSE", "USES") and OVER.match(between) and last[0] == me:
        yield Assertion(last[0], "REJECTED", other)
        yield Assertion(name, "REPLACES", other)
        return
    if last and last[1] == "REJECTED" and REJECTED_FOR.match(between):
        yield Assertion(name, "REJECTED_FOR", other)
        return
    if (FROM_TO.search(before) or REPLACED.search(before)) and TO.match(between):
        yield Assertion(other, "REPLACES", name)
        return
    if BRACKET.match(between) and (_is_acronym(other, name) or _is_acronym(name, other)):
        short, long = sorted((name, other), key=len)
        yield Assertion(short, SAME, long)
        return
    for relation, pattern in BETWEEN:
        if pattern.match(between):
            yield Assertion(name, relation, other)
            return


def _is_acronym(short: str, long: str) -> bool:
    """Whether a name is made of another's first letters.

    >>> _is_acronym("LLM", "Large Language Model"), _is_acronym("GDPR", "General Data Protection Regulation")
    (True, True)
    """
    letters = [word[0] for word in re.split(r"[\s-]+", long) if word[:1].isupper()]
    return len(letters) >= 2 and short.removesuffix("s").upper() == "".join(letters).upper()
