"""Who is who: names of oneself, of one's people, animals and projects; favourites; and other forms with "my"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.derive.facts.claim import Category, Polarity
from recollect.derive.facts.rules.predicates import AMOUNT, DATE, DOSE, WHEN
from recollect.derive.facts.rules.sentences import is_held_back, is_value, trimmed
from recollect.derive.facts.rules.subjects import (
    NAME,
    OWN,
    PROFESSION,
    KnownPeople,
    is_animal,
    is_name,
    own_end,
    relation_of,
    sex_of,
)
from recollect.text.words import word_lists


class RuleMatch(NamedTuple):
    """An entity, an attribute and a value; `rest` is the clause, in which times are told."""

    entity: str
    attribute: str
    value: str
    category: Category = Category.SEMANTIC
    polarity: Polarity = Polarity.IS
    rest: str = ""


_FULL = rf"{NAME}(?: {NAME})?"
_NAMES = rf"{_FULL}(?:(?:, | and |, and ){_FULL})*"
_MY = r"(?:[Mm]y|[Oo]ur)"
_NAMED = r"(?:(?:is|are|was) )?(?:called|named)"

_OWN_NAMED = re.compile(rf"\b{_MY} (?P<rel>(?i:{OWN})),? (?:(?i:{_NAMED})|(?i:{OWN}) {_NAMED}) (?P<names>{_NAMES})")
_NAME_OF_OWN = re.compile(rf"\b{_MY} (?P<rel>(?i:{OWN}))'s? names? (?:is|are) (?P<names>{_NAMES})")
_APPOSITION = re.compile(rf"\b{_MY} (?P<rel>(?i:{OWN})),? (?P<names>(?!I\b){_FULL})(?='s\b|[ ,.!)]|$)")
_HAVE_NAMED = re.compile(
    rf"\b(?:[Ii]|[Ww]e) (?:have|adopted|got|just got|rescued|own|welcomed) (?:an? |two |three |four |\d |new )?(?:[a-z-]+ ){{0,2}}?(?P<rel>(?i:{OWN})s?)"
    rf"(?:,| –| -|:| (?:called|named)| and (?:named|called) (?:him|her|it)| (?:last|this) \w+,? and (?:his|her|its) name is"
    rf"|,? and (?:his|her|its) name is|,? (?:his|her|its) name is)? (?P<names>{_NAMES})(?=[ ,.!]|$)"
)
_SEVERAL = re.compile(r"(?:[^s]s|children)$", re.IGNORECASE)
# "The dog of my sister is called Rex" names a dog, and none of one's own.
_OF_ANOTHER = re.compile(r"\b(?:of|than|like)\s+$", re.IGNORECASE)
_DIED = re.compile(
    r",? (?:who )?(?:(?:has |had )?(?:just |recently |sadly |suddenly )?(?:died|passed (?:away|on))|was put (?:down|to sleep)|is dead)\b"
)
_THIS_IS_OWN = re.compile(rf"\b(?:about|is|meet) {_MY} (?P<rel>(?i:{OWN})) (?P<names>{NAME})")
_SELF = re.compile(
    rf"\b[Mm]y (?:full |first )?name is (?P<name>{NAME}(?: {NAME})?)|\b(?:You can |you can |[Pp]lease |[Jj]ust )?[Cc]all me (?P<nick>{NAME})(?=[.,!]|$| and\b)"
    rf"|(?:^|^(?:[Hh]i|[Hh]ello|[Hh]ey)[,!]? (?:there[,!]? )?)I am (?P<am>{NAME})(?=, (?:an?|the|your|from|and|\d\d,) )"
    rf"|^(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| all| everyone)?[,!.]? I am (?P<hi>{NAME})(?=[.,!]|$| and\b| from\b)"
)
_SELF_JOB = re.compile(
    rf"\bI am {NAME}, an? (?P<v>(?:[\w-]+ ){{0,3}}(?:{PROFESSION}))(?=[.,;!]| from| in| at| with| and| who| living| based| working|$)"
)
_SELF_AGE = re.compile(rf"\bI am {NAME}, (?P<v>\d\d)(?=,)")
_SELF_FROM = re.compile(rf"\bI am {NAME}, .{{0,40}}?\bfrom (?P<v>[A-ZÀ-ÖØ-Þ][\w-]+)")
_FAVOURITE = re.compile(
    r"\b(?P<who>[Mm]y|[Oo]ur|[A-Z][a-z]+'s) (?:all-time |absolute |new |current )?favou?rite (?P<a>(?!part|thing|one|bit|moment|aspect|line|piece|place to|is)[a-z]+(?: (?!is|has|was|are)[a-z]+)?)"
    r" (?:is|are|has always been|will always be) (?P<v>.+)"
)
_IS_FAVOURITE = re.compile(
    r"^(?P<v>[A-Z][\w' -]{1,40}) is (?P<who>[Mm]y) (?:all-time |absolute )?favou?rite (?P<a>(?!part|thing|one|bit|moment|aspect)[a-z]+(?: [a-z]+)?)(?=[.,!]|$)"
)
_BIRTHDAY = re.compile(
    rf"\b(?:(?P<my>[Mm]y) birthday|{_MY} (?P<rel>(?i:{OWN}))(?P<sep>,? )?(?P<relname>{NAME})?'s birthday|(?P<name>{NAME})'s birthday) is (?:on |coming up on )?(?P<v>(?i:{DATE}))"
)
_ANNIVERSARY = re.compile(rf"\b{_MY} (?:wedding )?anniversary is (?:on )?(?P<v>(?i:{DATE}))")
_MINE = (
    (re.compile(r"\b[Mm]y blood type is (?P<v>(?:AB|A|B|O)\s?(?:\+|-|positive|negative)?)"), "blood type"),
    (
        re.compile(r"\b[Mm]y (?:phone|mobile|cell)(?: phone)? number is (?P<v>\+?[\d][\d ()./-]{4,20}\d)"),
        "phone number",
    ),
    (re.compile(r"\b[Mm]y e-?mail(?: address)? is (?P<v>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"), "email"),
    (
        re.compile(
            r"\b[Mm]y (?:car|bike|motorbike|laptop|phone|camera|guitar|piano) is an? (?P<v>[A-Z0-9][\w -]+?)(?=[.,!]|$| and\b)"
        ),
        "owns",
    ),
    (
        re.compile(
            r"\b(?:[Mm]y|[Oo]ur) (?:side |new |current )?(?:project|app|startup|company|band|blog|podcast|business|shop) is (?:called|named) (?P<v>[A-Z][\w-]*(?: [A-Z][\w-]*)*)"
        ),
        "project",
    ),
    (
        re.compile(
            r"\b(?:[Mm]y|[Oo]ur) (?:work |production |staging |home )?(?:laptop|server|machine|computer|desktop|phone|database|cluster|backend|stack) (?:runs|is running|is on) (?P<a>[A-Za-z][\w.+#]*) v?(?P<v>\d+(?:\.\d+)+[\w-]*)"
        ),
        "version of {a}",
    ),
)
_THING_VERSION = re.compile(
    r"^(?:The )?(?P<name>[A-Z][\w-]+)(?: project| app| service)? (?:uses|runs|runs on|is running|is on|targets) (?P<a>[A-Za-z][\w.+#]*(?: [A-Z]\w+)?) v?(?P<v>\d+(?:\.\d+)+[\w-]*)(?=\W|$)"
)
_MY_EVENT = re.compile(
    rf"\b[Mm]y (?P<v>(?:[\w'-]+ ){{0,2}}(?:appointment|interview|exam|surgery|operation|flight|wedding|check-?up|physical|thesis defen[cs]e) is (?:scheduled |booked |set )?(?:{WHEN}).{{0,40}})",
    re.IGNORECASE,
)
_DOSE_FOR = re.compile(rf"\bdose for (?P<name>{NAME}) is (?P<d>{DOSE}) of (?P<v>[\w-]+)")
_DOSE_CHANGED = re.compile(
    rf"\b(?:increased|raised|lowered|reduced|changed|upped|cut) (?P<name>{NAME})'s (?P<v>[a-z]\w+)(?: dose)? to (?P<d>{DOSE})"
)
_PRESCRIBED = re.compile(
    rf"\b(?:doctor|gp|vet|psychiatrist|neurologist|dr\.? \w+) (?:has )?prescribed (?:(?P<who>me) )?(?P<d>{DOSE}) of (?P<v>[\w-]+)(?: [\w ]{{2,20}}?)? ?(?:for (?P<name>(?-i:{NAME})))?(?=[.,!]|$)",
    re.IGNORECASE,
)
_PUT_ON = re.compile(
    rf"\b(?:doctor|gp|vet|psychiatrist|neurologist|dr\.? \w+) (?:has )?(?:put|started) (?P<who>me|{NAME}) on (?P<d>{DOSE}) of (?P<v>[\w-]+)",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"^(?P<v>(?:Every|On|Each) (?:single )?(?:day|morning|evening|night|week|weekend|month|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)(?: (?:morning|afternoon|evening|night))?,? (?:I|we) (?:run|go|jog|swim|bike|cycle|walk|hike|play|meditate|call|visit|meet|cook|bake|read|train|volunteer|watch|have (?:breakfast|lunch|dinner|brunch))\b.*)"
)


# In brackets after a name: "our dog bruno (4, mix, 14 kg)", "two kids (Inês 6, Rafael 9)".
_BRACKETED = re.compile(
    rf"\b{_MY} (?P<rel>(?i:{OWN})) (?P<name>[A-Za-zÀ-ÿ]+) \((?P<age>\d{{1,2}})(?=[,)])(?:[^)]*?, (?P<weight>{AMOUNT} ?kg))?"
)
_CHILDREN = re.compile(
    rf"\b(?:kids|children|sons|daughters) \((?P<list>{NAME},? \d{{1,2}}(?:,? (?:and )?{NAME},? \d{{1,2}})*)\)"
)
_PUT_ON_ALONE = re.compile(
    r"\bvet (?:has )?put (?P<who>[A-Za-z]+) on (?P<v>(?-i:[A-Z])[a-z]+)(?= for\b|[.,]|$)", re.IGNORECASE
)


def introduce(text: str, who: str, known: KnownPeople) -> None:
    """Notes of whom a sentence speaks, drawing nothing from it."""
    for _ in _own(text, who, known):
        pass


def named_matches(text: str, who: str, known: KnownPeople, *, is_own: bool = True) -> Iterator[RuleMatch]:
    """What the sentence says in these forms; unless it `is_own`, nothing of who says it."""
    for start, one in (
        *_own(text, who, known),
        *_bracketed(text, who, known),
        *(_self(text, who) if is_own else ()),
        *_my(text, who),
        *_doses(text, who),
    ):
        if not is_held_back(text[:start]):
            yield one


_Placed = tuple[int, RuleMatch]


def _own(text: str, who: str, known: KnownPeople) -> list[_Placed]:
    """One's people and animals with their names."""
    placed: list[_Placed] = []
    for pattern in (_OWN_NAMED, _NAME_OF_OWN, _HAVE_NAMED, _APPOSITION, _THIS_IS_OWN):
        for match in pattern.finditer(text):
            relation = match["rel"]
            if pattern is _HAVE_NAMED and relation.lower().endswith("s") and not relation.lower().endswith("ss"):
                relation = relation[:-1] if relation.lower() not in ("kids", "children", "twins") else relation
            names = [name for name in re.split(r",\s*(?:and )?|\s+and\s+", match["names"]) if is_name(name)]
            names = [name for name in names if name.lower() not in _NATIONS]
            if text.startswith("'s", match.end("names")):
                names = names[:-1]  # another's: "is called Luna and Tom's Rex"
            if not _SEVERAL.search(match["rel"]):
                names = names[:1]  # what comes then begins to tell of another
            if pattern is not _HAVE_NAMED and _OF_ANOTHER.search(text[: match.start()]):
                continue
            is_dead = relation.lower().startswith("late ") or _DIED.match(text, match.end())
            polarity = Polarity.ENDED if is_dead else Polarity.IS
            for name in names:
                known.add(name, sex_of(relation))
                placed.append(
                    (match.start(), RuleMatch(who, relation_of(relation), name, polarity=polarity, rest=text))
                )
    return placed


def _bracketed(text: str, who: str, known: KnownPeople) -> Iterator[_Placed]:
    """Names with an age, and a weight, in brackets behind them."""
    for match in _BRACKETED.finditer(text):
        name = match["name"]
        if not name[0].isupper() and not is_animal(match["rel"]):
            continue
        known.add(name, sex_of(match["rel"]))
        yield match.start(), RuleMatch(who, relation_of(match["rel"]), name)
        yield match.start(), RuleMatch(name, "age", match["age"])
        if match["weight"]:
            yield match.start(), RuleMatch(name, "weight", match["weight"])
    for match in _CHILDREN.finditer(text):
        for child in re.finditer(rf"({NAME}),? (\d{{1,2}})", match["list"]):
            yield match.start(), RuleMatch(child[1], "age", child[2])


def _self(text: str, who: str) -> Iterator[_Placed]:
    # Behind a colon stands what is quoted: "Is this right: my name is Kurt".
    if (match := _SELF.search(text)) and ":" not in text[: match.start()]:
        name = match["name"] or match["nick"] or match["am"] or match["hi"]
        if is_name(name) and (match["name"] or name.lower() not in _NATIONS):
            yield match.start(), RuleMatch(who, "name", name)
            if job := _SELF_JOB.search(text):
                yield job.start(), RuleMatch(who, "job", job["v"])
            if age := _SELF_AGE.search(text):
                yield age.start(), RuleMatch(who, "age", age["v"])
            if place := _SELF_FROM.search(text):
                yield place.start(), RuleMatch(who, "from", place["v"])


def _my(text: str, who: str) -> Iterator[_Placed]:
    for pattern in (_FAVOURITE, _IS_FAVOURITE):
        if match := pattern.search(text):
            entity = (
                match["who"].removesuffix("'s")
                if match["who"][0].isupper() and match["who"] not in ("My", "Our")
                else who
            )
            own = match["v"][: own_end(match["v"], strict=True)]
            value = trimmed(own) if pattern is _FAVOURITE else match["v"].strip()
            if is_value(value) and (entity == who or is_name(entity)):
                yield match.start(), RuleMatch(entity, f"favourite {match['a'].replace('color', 'colour')}", value)
    if match := _BIRTHDAY.search(text):
        entity = who if match["my"] else match["name"] or match["relname"] or f"{who}'s {(match['rel'] or '').lower()}"
        yield match.start(), RuleMatch(entity, "birthday", match["v"].removeprefix("the "))
    if match := _ANNIVERSARY.search(text):
        yield match.start(), RuleMatch(who, "anniversary", match["v"].removeprefix("the "))
    for pattern, attribute in _MINE:
        if match := pattern.search(text):
            yield match.start(), RuleMatch(who, attribute.format(**match.groupdict()), match["v"].strip(" ."))
    if (match := _THING_VERSION.search(text)) and is_name(match["name"]):
        yield match.start(), RuleMatch(match["name"], f"version of {match['a']}", match["v"])
    if match := _MY_EVENT.search(text):
        yield match.start(), RuleMatch(who, "appointment", match["v"].strip(" .,!"), Category.PROSPECTIVE)
    if (match := _PUT_ON_ALONE.search(text)) and match["who"].lower() not in ("him", "her", "it", "me", "us", "them"):
        yield match.end(), RuleMatch(match["who"], "medication", match["v"])
    if match := _EVERY.search(text):
        yield match.start(), RuleMatch(who, "habit", match["v"].strip(" .,!"))


def _doses(text: str, who: str) -> Iterator[_Placed]:
    for pattern in (_DOSE_FOR, _DOSE_CHANGED, _PUT_ON, _PRESCRIBED):
        if match := pattern.search(text):
            named = match.groupdict()
            taker = named.get("who") or named.get("name")
            if taker is None:
                continue
            entity = who if taker.lower() == "me" else taker
            yield match.end(), RuleMatch(entity, "medication", match["v"])
            yield match.end(), RuleMatch(entity, f"dose of {match['v']}", match["d"])


_NATIONS = frozenset(word_lists("names")["nationalities and beliefs"])


# A few plain German sentences, which are cheap to read with certainty.

_NAME = r"[A-ZÄÖÜ][a-zäöüß-]+"
_RELATIONS = {
    "Tochter": "daughter", "Sohn": "son", "Frau": "wife", "Mann": "husband", "Schwester": "sister", "Bruder": "brother",
    "Mutter": "mother", "Vater": "father", "Freundin": "girlfriend", "Freund": "boyfriend", "Hund": "dog",
    "Hündin": "dog", "Katze": "cat", "Kater": "cat", "Pferd": "horse",
}  # fmt: skip
_RELATED = re.compile(rf"\b[Mm]eine? (?P<rel>{'|'.join(_RELATIONS)}) heißt (?P<v>{_NAME})")
_PATTERNS = (
    (re.compile(rf"^(?:Also )?[Ii]ch bin allergisch gegen (?P<v>{_NAME}(?: und {_NAME})?)(?=[.,!]|$)"), "allergy"),
    (re.compile(rf"^[Ii]ch (?:wohne|lebe) (?:jetzt )?in (?P<v>{_NAME})(?=[.,! ]|$)"), "home"),
    (re.compile(rf"^[Ii]ch (?:bin|wohne) .{{0,20}}nach (?P<v>{_NAME}) (?:gezogen|umgezogen)"), "home"),
    (re.compile(r"^[Ii]ch arbeite bei (?P<v>[A-ZÄÖÜ][\wÄÖÜäöüß&.-]*)(?=[.,! ]|$)"), "employer"),
    (re.compile(r"^[Ii]ch bin (?P<v>\d{1,3}) Jahre alt"), "age"),
    (re.compile(rf"^[Ii]ch heiße (?P<v>{_NAME})(?=[.,! ]|$)"), "name"),
    (re.compile(r"^[Ii]ch bin (?P<v>Vegetarier(?:in)?|Veganer(?:in)?)(?=[.,!]|$)"), "diet"),
)


def german_matches(text: str, who: str) -> Iterator[RuleMatch]:
    """What the sentence says in these forms."""
    if not _GERMAN.search(text):
        return
    for pattern, attribute in _PATTERNS:
        if match := pattern.search(text):
            for value in re.split(r" und ", match["v"]):
                yield RuleMatch(who, attribute, value, rest=text)
    for match in _RELATED.finditer(text):
        yield RuleMatch(who, _RELATIONS[match["rel"]], match["v"], rest=text)


_GERMAN = re.compile(r"\b(?:[Ii]ch (?:bin|wohne|lebe|arbeite|heiße)|[Mm]eine? \w+ heißt)\b")
