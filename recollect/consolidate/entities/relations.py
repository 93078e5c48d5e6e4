"""What a text says of the names in it, by rules: plain statements only, no questions, conditions or denials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.consolidate.entities.extract import Mention
from recollect.consolidate.entities.lines import lines
from recollect.consolidate.entities.naming import YOU, folded

#: Relations that say that two names mean the same.
SAME = "SAME_AS"


@dataclass(frozen=True, slots=True)
class Assertion:
    """That one name stands in a relation to another, as one message says it."""

    source: str
    relation: str
    target: str


_GAP = r"[^.!?;\n]"
_LONGEST_GAP = 70
_BEFORE = 60

#: Between two names, first to second.
_BETWEEN: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"^,?\s*(?:(?:is|was|also|really|now|currently|mainly|still|already|all|both|has|have|had|been|being)\s+){{0,3}}(?:{verbs})\s+(?:(?:the|a|an|our|my|your|its|their|all|for|on|in|to|with|official|local|new|old|existing|overall|better)\s+){{0,3}}$", re.IGNORECASE))
    for name, verbs in (
        ("USES", r"uses?|runs? on|running on|relies on|rely on|depends? on|built (?:on|with|in)|written in|powered by|backed by|integrates? with|stores? (?:\w+ )?in|deployed (?:on|to|with)|hosted (?:on|by|at)"),
        ("REPLACES", r"replaces?|replaced|replacing|supersedes?|superseded|instead of|rather than|took over from"),
        ("IMPROVES", r"improves?|improved|improving|speeds? up|boosts?|boosted|helps? with|enhances?|enhanced|is good for|is better for"),
        ("PART_OF", r"part of|belongs? to|a module of|a component of|a subsidiary of|owned by|a member of|included in|comes with"),
        ("WORKS_AT", r"works? (?:at|for)|working (?:at|for)|worked (?:at|for)|joined|employed (?:at|by)|got a job at|ceo of|cto of|interns? at|professor at|teaches at"),
        ("LIVES_IN", r"lives? in|living in|lived in|moved to|relocated to|resides in|based in|is from|comes from|grew up in|was born in"),
        ("LOCATED_IN", r"located in|situated in|a (?:city|town|village|island|region|suburb|district|neighborhood|neighbourhood) (?:in|of)|the capital of"),
        ("CREATED", r"created|built|founded|wrote|invented|developed|made|designed|directed|composed|painted|author of|founder of|creator of"),
        ("MARRIED_TO", r"married to|married|(?:the )?(?:wife|husband) of"),
        ("KNOWS", r"met|knows|friends with|a friend of|works with"),
        ("CAUSES", r"causes?|caused|leads? to|led to|triggers?|triggered"),
        ("SUPPORTS", r"supports?|supported|compatible with|works well with|works with"),
        (SAME, r"aka|a\.k\.a\.?|also known as|also called|short for|stands for|abbreviated as|nicknamed|better known as|formerly"),
    )
)  # fmt: skip
_REJECTED_FOR = re.compile(r"^,?\s*(?:because of|due to|for its|over its|for)\s+(?:the\s+)?$", re.IGNORECASE)
_OVER = re.compile(r"^,?\s*(?:over|instead of|rather than|and not|not|in favou?r of)\s+(?:the\s+|plain\s+)?$", re.IGNORECASE)
_TO = re.compile(r"^\s*(?:to|with|by)\s+(?:the\s+)?$", re.IGNORECASE)
_AND = re.compile(r"^(?:,|,?\s*(?:and|&|\+|plus|or))\s*(?:the\s+|also\s+)?$", re.IGNORECASE)
_BRACKET = re.compile(r"^\s*\(\s*(?:aka |i\.e\. |or )?$")

#: Before a name, with the one who speaks as what the relation begins with.
_ADVERBS = r"(?:(?:also|now|already|mostly|mainly|still|currently|finally|have|had|has|just|both|will|then|recently|actually|always|are|am|were|was|been)\s+){0,3}"
_ARTICLE = r"(?:(?:the|a|an|our|my|plain|just|for|on|with|new|old|local|to use|to go with)\s+){0,3}$"
_WE = rf"(?:\b(?:we|I)(?:'ve|'re|'m|'d)?)\s+{_ADVERBS}"
_SPEAKER: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"{_WE}(?:{verbs})\s+{_ARTICLE}", re.IGNORECASE))
    for name, verbs in (
        ("CHOSE", r"chose|chosen|choose|picked|went with|going with|go with|decided on|decided for|decided to use|settled on|opted for|selected|switched to|moved to using|migrated to"),
        ("REJECTED", r"rejected|ruled out|dropped|dismissed|discarded|abandoned|decided against|gave up on|got rid of|moved away from|stopped using|killed|replaced|said no to"),
        ("USES", r"use|uses|used|using|run on|rely on|deploy (?:to|on|with)|deployed (?:to|on|with)|host (?:\w+ )?(?:on|at)|built (?:it |this )?(?:on|with|in)|write in|work with|working with|code in|store \w+ in"),
        ("WORKS_AT", r"work (?:at|for)|works (?:at|for)|working (?:at|for)|worked (?:at|for)|joined|got a job at|accepted (?:an|the) offer from|started at|intern at"),
        ("LIVES_IN", r"live in|living in|lived in|moved to|moving to|relocated to|settled in|am from|'m from|come from|grew up in"),
        ("LIKES", r"love|loved|like|liked|enjoy|enjoyed|prefer|adore"),
        ("VISITED", r"visited|went to|flew to|travel(?:l)?ed to|came back from|got back from"),
        ("CREATED", r"created|founded|launched|am building|building|started"),
    )
)  # fmt: skip
_KIN = (
    "wife husband brother sister son daughter mother father mom mum dad boss manager mentor colleague coworker partner "
    "girlfriend boyfriend neighbor neighbour cousin aunt uncle roommate flatmate teacher doctor dentist therapist vet niece "
    "nephew friend dog cat puppy kitten fiancee fiance grandmother grandfather grandma grandpa landlord landlady accountant "
    "lawyer coach"
)
_MY = re.compile(
    rf"\b(?:my|our)\s+(?:(?:best|old|older|younger|little|big|new|good|close|dear|eldest|youngest|late)\s+)?"
    rf"({'|'.join(_KIN.split())})(?:'s name)?(?:\s+is(?:\s+called)?|\s+is named|,|\s+called|\s+named)?\s+$",
    re.IGNORECASE,
)
_IS_MY = re.compile(
    rf"^(?:\s+is\s+my\s+(?:(?:best|older|younger|little|new|old|good)\s+)?({'|'.join(_KIN.split())})\b(?!')"
    rf"|,\s+my\s+(?:(?:best|older|younger|little|new|old|good)\s+)?({'|'.join(_KIN.split())})(?=[,.;]|$))",
    re.IGNORECASE,
)
#: What may follow where the name is all that is spoken of: not "the LGBTQ support group".
_NO_NOUN = re.compile(
    r"^(?:\s*$|\s*[,.;:!)(\"“”–—-]|'s\s+(?:place|house)|\s+(?:and|or|in|on|at|for|with|last|this|next|yesterday|today|because|since|"
    r"to|as|from|now|instead|over|when|after|before|so|but|is|was|again|too|then|who|which|where|while|by|until|during|"
    r"rather|about|v?\d[\w.]*|myself|very|a|every|once|two|years?|months?|not)\b(?! off))"
)
_ALONE_ONLY = frozenset({"VISITED", "LIKES", "LIVES_IN", "WORKS_AT", "REJECTED", "CREATED"})
#: Which types may not begin or end a relation.
_NEVER_FROM = {
    "WORKS_AT": {"technology", "place", "project"},
    "LIVES_IN": {"technology", "place", "project"},
    "MARRIED_TO": {"technology", "place", "organisation", "project"},
    "KNOWS": {"technology", "place", "organisation", "project"},
    "CREATED": {"technology", "place"},
    "LOCATED_IN": {"person", "technology"},
}
_NEVER_TO = {
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

_KINDS = (
    "framework library database language tool company startup city town country island village restaurant cafe bakery dog cat "
    "puppy friend doctor dentist teacher book novel film movie band game app application service platform protocol editor "
    "bank school university hospital museum park beach river mountain lake author writer singer band artist engineer developer "
    "lawyer nurse architect designer manager professor student philosopher scientist format standard algorithm model server "
    "client plugin extension package module website newspaper magazine podcast medication drug disease allergy breed horse "
    "bird parrot rabbit retriever labrador terrier orm cli api sdk runtime compiler cache queue broker proxy registry store"
)
_IS_A = re.compile(
    rf"^(?:\s+(?:is|was)|,)\s+(?:an?|one of the|the)\s+(?:[\w'-]+\s+){{0,3}}?({'|'.join(_KINDS.split())})s?\b(?!\s+(?:of\s+(?:mine|a)|to\s|for\s+that|name))",
    re.IGNORECASE,
)
_QUALITIES = (
    "performance speed latency security reliability seo accuracy readability productivity scalability maintainability sleep "
    "mood health focus throughput accessibility usability quality stability efficiency availability conversion retention "
    "memory digestion concentration energy"
)
_IMPROVES = re.compile(
    rf"^(?:\s+\w+)?\s+(?:improves?|improved|boosts?|boosted|speeds? up|enhances?|enhanced|helps? with)\s+(?:the\s+|our\s+|my\s+|your\s+)?(?:[\w-]+\s+)?({'|'.join(_QUALITIES.split())})\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\b(?:move|moved|moving|migrate|migrated|migrating|switch|switched|switching|change|changed|went|ported)\b[^.!?\n]{0,30}\bfrom\s+(?:the\s+|plain\s+)?$", re.IGNORECASE)
_REPLACED = re.compile(r"\b(?:replaced|replace|replacing|swap|swapped)\s+(?:the\s+|our\s+|my\s+|plain\s+)?$", re.IGNORECASE)
_UNSAID = re.compile(
    r"\b(?:not|never|no|n't|cannot|without|if|whether|would|could|should|might|may|maybe|perhaps|unless|wish|wanted to|"
    r"want to|plan to|planning to|thinking of|thinking about|considering|consider|hope to|hoping to|let's|suppose|"
    r"imagine|example|e\.g\.|try|trying to|need to|needs? to)\b|n't\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])")


def relations(text: str, found: Sequence[Mention], me: str | None) -> list[Assertion]:
    """What is said of the names that were found in a text; `me` is who says it, None where "I" is nobody.

    >>> from recollect.consolidate.entities.extract import mentions
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
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    said: dict[Assertion, None] = {}
    for line in lines(text.replace("’", "'")):
        if line.heading:
            continue
        for sentence in _SENTENCE.split(line.text):
            if sentence.rstrip().endswith("?"):
                continue
            for assertion in _of_sentence(sentence, pattern, me):
                if folded(assertion.source) != folded(assertion.target) and _fits(assertion, types):
                    said[_shown(assertion, known)] = None
    return list(said)


def _fits(assertion: Assertion, types: Mapping[str, str]) -> bool:
    """Whether the types of both ends allow it."""
    source, target = types.get(folded(assertion.source)), types.get(folded(assertion.target))
    return source not in _NEVER_FROM.get(assertion.relation, ()) and target not in _NEVER_TO.get(assertion.relation, ())


def _shown(assertion: Assertion, known: dict[str, str]) -> Assertion:
    """With names as the text first has them."""
    source, target = (known.get(folded(name), name) for name in (assertion.source, assertion.target))
    return Assertion(source, assertion.relation, target)


def _of_sentence(sentence: str, pattern: re.Pattern[str], me: str | None) -> Iterator[Assertion]:
    spans = [(match.start(), match.end(), match[0]) for match in pattern.finditer(sentence)]
    last: tuple[str, str] | None = None  # with what an enumeration goes on
    for number, (start, end, name) in enumerate(spans):
        before, after = sentence[max(0, start - _BEFORE) : start], sentence[end : end + _LONGEST_GAP]
        follows = spans[number + 1] if number + 1 < len(spans) else None
        between = sentence[end : follows[0]] if follows else ""
        if number and last and _AND.match(sentence[spans[number - 1][1] : start]):
            yield Assertion(last[0], last[1], name)
        elif not (number and last and _OVER.match(sentence[spans[number - 1][1] : start])):
            last = None
        if me is not None and not _UNSAID.search(sentence[:start]):
            for assertion in _of_speaker(before, name, after, me):
                last = (me, assertion.relation)
                yield assertion
        if _UNSAID.search(after[: len(between)] if follows else after[:40]) or _UNSAID.search(before):
            continue
        yield from _alone(name, after, me)
        if follows and len(between) <= _LONGEST_GAP:
            for assertion in _of_pair(name, between, follows[2], before, last, me):
                if assertion.source == name and assertion.relation not in ("REPLACES", SAME):
                    last = (name, assertion.relation)
                yield assertion


def _of_speaker(before: str, name: str, after: str, me: str) -> Iterator[Assertion]:
    if kin := _MY.search(before):
        yield Assertion(me, kin[1].upper(), name)
    for relation, pattern in _SPEAKER:
        if pattern.search(before):
            if relation not in _ALONE_ONLY or _NO_NOUN.match(after):
                yield Assertion(me, relation, name)
            return


def _alone(name: str, after: str, me: str | None) -> Iterator[Assertion]:
    """What a sentence says of one name: its kind, what it improves, whose wife it is."""
    if kind := _IS_A.match(after):
        yield Assertion(name, "IS_A", kind[1].lower())
    if quality := _IMPROVES.match(after):
        yield Assertion(name, "IMPROVES", quality[1] if quality[1].isupper() else quality[1].lower())
    if me is not None and (kin := _IS_MY.match(after)):
        yield Assertion(me, (kin[1] or kin[2]).upper(), name)


def _of_pair(
    name: str, between: str, other: str, before: str, last: tuple[str, str] | None, me: str | None
) -> Iterator[Assertion]:
    if last and last[1] in ("CHOSE", "USES", "LIKES") and _OVER.match(between) and last[0] == me:
        if last[1] != "LIKES":
            yield Assertion(last[0], "REJECTED", other)
            yield Assertion(name, "REPLACES", other)
        return
    if last and last[1] == "REJECTED" and _REJECTED_FOR.match(between):
        yield Assertion(name, "REJECTED_FOR", other)
        return
    if (_FROM_TO.search(before) or _REPLACED.search(before)) and _TO.match(between):
        yield Assertion(other, "REPLACES", name)
        return
    if _BRACKET.match(between) and (_is_acronym(other, name) or _is_acronym(name, other)):
        short, long = sorted((name, other), key=len)
        yield Assertion(short, SAME, long)
        return
    for relation, pattern in _BETWEEN:
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


__all__ = ["SAME", "YOU", "Assertion", "relations"]
