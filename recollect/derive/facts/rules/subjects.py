"""Whom a clause is about, and where what is said of one ends and another begins."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from recollect.derive.entities.naming import FIRST_NAMES
from recollect.text.dates import MONTHS, WEEKDAYS
from recollect.text.words import word_lists

_FAMILY = word_lists("family")
_SHE, _HE, _EITHER, _PLURAL = (_FAMILY[name] for name in ("she", "he", "either", "several"))
_ANIMALS = _FAMILY["animals"]
_KIND_OF = {word: kind for kind in ("dog", "cat", "rabbit") for word in _FAMILY[f"{kind}s"]}
_ONE_OF = {
    "kids": "child",
    "children": "child",
    "kid": "child",
    **{f"{one}s": one for one in ("daughter", "son", "sister", "brother", "twin")},
}

#: The words for one's own people and animals.
ONES_OWN = ("best friend", "guinea pig", *_SHE, *_HE, *_EITHER, *_ANIMALS)
_animals = "|".join(["guinea pig", *_ANIMALS, *_KIND_OF])
PEOPLE = "|".join(("best friend", *_SHE, *_HE, *_EITHER, *_PLURAL))
ANIMAL = rf"(?:(?:[a-z]+ ){{0,2}}(?:{_animals}))"
_WHICH = "older younger little big eldest youngest oldest twin late new first second".split()
#: What is one's own, by the word for it.
OWN = rf"(?:(?:{' |'.join(_WHICH)} )*(?:{PEOPLE})|{ANIMAL})"

NAME = r"[A-ZÀ-ÖØ-Þ](?:['’][A-Z])?[a-zà-öø-ÿ]+(?:-[A-ZÀ-ÖØ-Þ]?[a-zà-öø-ÿ]+)?"
#: Capitalised words at the start of a clause that are no names.
_NO_NAMES = frozenset(MONTHS + WEEKDAYS + word_lists("names")["no names"])


@dataclass(slots=True)
class KnownPeople:
    """Who was spoken of: a pronoun means the only one whose sex fits, and nobody where there are two."""

    who: list[tuple[str, str]] = field(default_factory=list)  # name of the entity, "he", "she" or ""

    def add(self, entity: str, sex: str = "") -> None:
        """Takes note of somebody."""
        self.who = [(name, s) for name, s in self.who if name != entity]
        self.who.append((entity, sex))

    @property
    def names(self) -> frozenset[str]:
        """Those who have a name."""
        return frozenset(name for name, _ in self.who if name[:1].isupper())

    def meant(self, pronoun: str) -> str | None:
        """Whom a pronoun means, or nobody where it is not sure."""
        fitting = [name for name, sex in self.who if sex in ("", pronoun)]
        return fitting[-1] if len(fitting) == 1 else None


def ones_own(who: str) -> Iterator[str]:
    """What somebody's people and animals are called where they have no name: "user's dog", "user's little sister"."""
    for word in (*ONES_OWN, *_PLURAL):
        yield f"{who}'s {word}"
        yield from (f"{who}'s {which} {word}" for which in _WHICH)


def sex_of(relation: str) -> str:
    """The pronoun for a relation; empty where it may be either.

    >>> sex_of("wife"), sex_of("dog")
    ('she', '')
    """
    last = relation.lower().split()[-1]
    return "she" if last in _SHE else "he" if last in _HE else ""


def is_animal(relation: str) -> bool:
    """Whether the word is one for an animal."""
    return bool(re.fullmatch(ANIMAL, relation.lower()))


def relation_of(word: str) -> str:
    """The attribute under which somebody's name is kept: "golden retriever" is a dog, "kids" are children.

    >>> relation_of("golden retriever"), relation_of("younger brother"), relation_of("Kids")
    ('dog', 'brother', 'child')
    """
    last = word.lower().split()[-1]
    if word.lower().endswith("guinea pig"):
        return "guinea pig"
    return _KIND_OF.get(last) or _ONE_OF.get(last) or last


def is_name(word: str) -> bool:
    """Whether a capitalised word may be a name."""
    return bool(word) and word[0].isupper() and word.split()[0].lower().removesuffix("'s") not in _NO_NAMES


_EXPANSIONS = (
    (re.compile("[’‘ʼ]"), "'"),
    (re.compile(r"(?:(?<=^)|(?<=[\s,;:(]))[Ii]m\b(?= )"), "I am"),
    (re.compile(r"\b[Ii]ve\b(?= )"), "I have"),
    (re.compile(r"\b(do|does|is|are|did|was)nt\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\bcant\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\b(can)'t\b|\b(can)not\b", re.IGNORECASE), "cannot"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"(?<=\bI)'m\b|(?<=\bi)'m\b"), " am"),
    (re.compile(r"'re\b", re.IGNORECASE), " are"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"'d\b", re.IGNORECASE), " would"),
    (re.compile(r"\b(he|she|it|name|that|there|who|here)'s\b(?! name)", re.IGNORECASE), r"\1 is"),
    (
        re.compile(
            r"'s (?=(?:allergic|named|called|lactose|gluten|vegan|vegetarian|married|been|\d+ years|turning)\b)"
        ),
        " is ",
    ),
    (re.compile(r"\b(have|has) got\b", re.IGNORECASE), r"\1"),
    (re.compile(r"[ \t]+"), " "),
)


_CONTRACTED = re.compile(
    r"['’‘ʼ]|  |\t|\bcannot\b|\b[Ii]?(?:m|ve|got|cant|dont|doesnt|isnt|arent|didnt|wasnt)\b", re.IGNORECASE
)


def expanded(sentence: str) -> str:
    """The sentence without contractions.

    >>> expanded("I'm sure she's 12, and I don't own it")
    'I am sure she is 12, and I do not own it'
    """
    if not _CONTRACTED.search(sentence):
        return sentence
    for pattern, replacement in _EXPANSIONS:
        sentence = pattern.sub(replacement, sentence)
    return sentence


# Where what is said of one ends and another begins: a fact never has two owners.

#: What stands between what is said of one and of another.
JOIN = (
    r"(?:[,;:/]\s*(?:and|but|or|und|aber)?\s*|\s*[(\[]\s*|\s[–—-]+\s|\s(?:and|but|or|nor|&|while|whereas|plus|then|though|whilst|unlike|und|aber"
    r"|oder|sondern|während)\s+(?:then |also |that |so )?)"
)
_POSSESSED = rf"(?:(?i:my|our|your|his|her|their|its|meine?|unsere?|seine?|ihre?)|{NAME}(?: {NAME})?['’]s?)\s+[\w-]+(?: {NAME}\b)?"
_KIN = "(?:wife|husband|mother|father|mom|mum|dad|daughter|son|sister|brother|grandma|grandpa|aunt|uncle)"
_OTHER = r"(?i:the|another|one|both|each|der|die|das)\s+[\w-]+"
_START = re.compile(
    rf"(?P<join>{JOIN})(?=(?P<all>(?P<pronoun>(?i:i|he|she|we|they|it|you|mine|yours|hers|ours|theirs|ich|er|sie|wir)(?!\w)|{_KIN}(?!\w))|(?P<bare>{NAME}['’]s(?=\s+(?:is|are|was|has)\b))"
    rf"|(?P<possessed>{_POSSESSED})|(?P<perhaps>[a-z]+\s+)?(?P<name>{NAME})\b|(?P<other>{_OTHER}))(?P<more>\s*\(\d+\))?,?(?P<rest>.*))",
    re.DOTALL,
)
# More is said, unless the list goes on or ends.
_MORE = re.compile(r"\s+(?!(?:and|or|but|und|oder)\b|[,;.!?&–—-])\S|:\s+\S|['’]s\b")
_SURNAME = re.compile(rf"\s+{NAME}(?=\s*(?:[,;.!?]|$|\s(?:and|or)\b))")
_LAST = re.compile(rf"{NAME}$")
_PARTICLE = re.compile(r"\s*(?:of|de|von|the)\b")


def own_end(text: str, head: str = "", names: Collection[str] = (), *, strict: bool = False) -> int:
    """Where in a text what is said of its owner ends. `head` is what stands before it: of "is allergic to" the last word
    comes again where the verb is left out. `names` are of those who were spoken of. `strict`: any noun may be an owner.

    >>> text = "chicken and Rex to beef"
    >>> text[: own_end(text)]
    'chicken'
    """
    for match in _START.finditer(text):
        if match.start() and _begins_another(match, names, strict):
            return match.start()
    again = _again(text, head)
    return len(text) if again is None else again


def is_known(name: str, names: Collection[str] = ()) -> bool:
    """Whether a name is one of somebody: spoken of, or a frequent first name."""
    return name in names or name.lower() in FIRST_NAMES


def is_owned(text: str, names: Collection[str] = ()) -> bool:
    """Whether all of a text is said of one."""
    return own_end(text, names=names) == len(text)


def _begins_another(match: re.Match[str], names: Collection[str], strict: bool) -> bool:
    more = bool(match["more"]) or bool(_MORE.match(match["rest"]))
    if match["bare"]:
        return True
    if match["pronoun"] or match["possessed"]:
        return more or (strict and match["all"][:1].isupper())
    if match["other"]:
        return strict and more
    name = match["name"]
    if not is_name(name) or not more or (match["perhaps"] and not is_known(name, names)):
        return False
    if is_known(name, names):
        last = _LAST.search(match.string, 0, match.start())
        if last and is_known(last.group(), names):
            return False  # "with Tom and Clara today"
        return not _SURNAME.match(match["rest"]) or name in names
    surname = re.match(rf"\s+{NAME}", match["rest"])
    rest = match["rest"][surname.end() :] if surname else match["rest"]
    return bool(_MORE.match(rest)) and not _PARTICLE.match(rest)


def _again(text: str, head: str) -> int | None:
    """Where another item of a list has the last word of the head within: "nuts and tom to milk"."""
    last = head.split()[-1] if len(head.split()) > 1 else ""
    if not last:
        return None
    joins = list(re.finditer(JOIN, text))
    for match, end in zip(joins, [*(following.start() for following in joins[1:]), len(text)], strict=False):
        if match.start() and re.search(rf"\S\s{re.escape(last)}\s", text[match.end() : end]):
            return match.start()
    return None


# Lists of words that the rules go by: professions, conditions, what jokes are made of.

PROFESSION = (
    r"nurse|doctor|physician|surgeon|dentist|vet|veterinarian|pharmacist|paramedic|midwife|therapist|physiotherapist|"
    r"psychologist|psychiatrist|counsell?or|social worker|caregiver|carer|teacher|professor|lecturer|tutor|librarian|"
    r"researcher|scientist|biologist|chemist|physicist|mathematician|statistician|economist|historian|archaeologist|"
    r"astronomer|geologist|engineer|developer|programmer|architect|designer|analyst|technologist|technician|mechanic|"
    r"electrician|plumber|carpenter|welder|builder|contractor|roofer|painter|decorator|gardener|landscaper|farmer|"
    r"beekeeper|fisherman|sailor|pilot|flight attendant|driver|trucker|courier|firefighter|police officer|detective|"
    r"soldier|lawyer|attorney|solicitor|barrister|paralegal|judge|notary|accountant|bookkeeper|auditor|banker|broker|"
    r"trader|actuary|consultant|manager|director|executive|administrator|secretary|receptionist|assistant|clerk|cashier|"
    r"salesperson|realtor|estate agent|recruiter|marketer|copywriter|writer|author|novelist|poet|journalist|reporter|"
    r"editor|translator|interpreter|illustrator|artist|sculptor|potter|photographer|videographer|filmmaker|actor|actress|"
    r"dancer|choreographer|musician|singer|composer|guitarist|pianist|violinist|producer|chef|cook|baker|barista|"
    r"bartender|waiter|waitress|butcher|tailor|seamstress|hairdresser|barber|beautician|trainer|coach|yoga instructor|"
    r"instructor|athlete|cleaner|janitor|security guard|postman|mail carrier|entrepreneur|founder|freelancer|"
    r"data scientist|product manager|project manager|sysadmin|devops engineer|undergraduate|graduate student|phd student|"
    r"student|postdoc|housewife|homemaker|stay-at-home (?:mom|dad|mum|parent)|priest|pastor|nun|rabbi|imam|diplomat|"
    r"politician|civil servant|stonemason|jeweler|jeweller|florist|optician|optometrist|radiographer|anaesthetist|"
    r"anesthesiologist|cardiologist|dermatologist|oncologist|pediatrician|paediatrician|radiologist|neurologist|CEO|CTO|CFO"
)

CONDITION = (
    r"asthma|(?:type [12] )?diabetes|(?:pre-?)?diabetes|arthritis|osteoarthritis|rheumatoid arthritis|ADHD|ADD|autism|"
    r"epilepsy|(?:social |separation |generali[sz]ed |general |health )?anxiety(?: disorder)?|depression|bipolar disorder|OCD|"
    r"PTSD|insomnia|sleep apn(?:o)?ea|narcolepsy|hypertension|(?:high|low) blood pressure|high cholesterol|migraines?|"
    r"chronic migraines?|c(?:o)?eliac(?: disease)?|crohn's(?: disease)?|ulcerative colitis|IBS|GERD|acid reflux|gout|anemia|"
    r"anaemia|eczema|psoriasis|rosacea|vitiligo|hay ?fever|hypothyroidism|hyperthyroidism|hashimoto's|graves' disease|PCOS|"
    r"endometriosis|fibromyalgia|lupus|MS|multiple sclerosis|parkinson's(?: disease)?|alzheimer's(?: disease)?|dementia|"
    r"(?:breast |lung |skin |prostate |colon )?cancer|leuk(?:a)?emia|glaucoma|cataracts|tinnitus|scoliosis|sciatica|"
    r"dyslexia|dyspraxia|colou?r blindness|hemophilia|haemophilia|osteoporosis|hip dysplasia|kidney disease|heart disease|"
    r"(?:a )?heart murmur|pancreatitis|cushing's(?: disease)?|addison's(?: disease)?|COPD|long covid|ME/CFS|raynaud's"
)

#: To be allergic to these is a joke.
_JOKES = re.compile(
    r"\b(?:mondays?|mornings?|work(?:ing)?|meetings?|exercise|people|commitment|bullshit|drama|nonsense|effort|bosses|boss|"
    r"responsibilit\w+|small talk|fun|maths?|stupid\w*|emails?|inbox|deadlines?|bureaucracy|paperwork|homework|jargon|"
    r"buzzwords|change|risk|failure|success|adulting|chores|cardio|hype|politics|idiots?|ideas?|code|bugs|php|java|losing|"
    r"lies|liars|anything|everything|nothing|something|you|him|her|them|that|this|it)\b",
    re.IGNORECASE,
)

#: Software that one moves to, and that is no place; firms are no places either.
_NO_PLACES = frozenset(MONTHS + WEEKDAYS + word_lists("names")["no places"])
_DWELLING = re.compile(
    r"^(?:(?:small|tiny|large|big|old|new|quiet|rural|one|two|three|four|studio|1|2|3|4|one-bedroom|two-bedroom|"
    r"\w+-bedroom|bedroom|coastal|mountain|little|nice|shared|rented|ground-floor|top-floor)\s+)*"
    r"(?:(?:terraced |semi-detached |detached |shared )?village|town|city|suburb|flat|apartment|house|farm|farmhouse|condo|cottage|cabin|studio|dorm|care home|"
    r"nursing home|houseboat|bungalow|townhouse|countryside|loft|terraced house|semi-detached house)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"[A-ZÀ-ÖØ-Þ][\w'.-]*(?:,? (?:(?:de|la|le|el|of|upon|am|an|der|den|do|da|dos|les|the) )*[A-ZÀ-ÖØ-Þ][\w'.-]*)*"
)
_TECHNICAL = re.compile(
    r"\b(?:error|errors|script|scripts|test|tests|query|queries|code|command|build|server|function|bug|crash\w*|job|jobs|"
    r"cron|backup|pipeline|warning|exception|message|notes|workflow|repo|repository|app|api|endpoint|module|class|component|modal|form|table|database|branch|file|files|log|logs)\b",
    re.IGNORECASE,
)


def is_allergen(value: str) -> bool:
    """Whether it is said in earnest that one is allergic to it."""
    return not _JOKES.search(value) and not value[0].isdigit()


def is_place(value: str) -> bool:
    """Whether it says where somebody may live: a capitalised name, or a kind of dwelling or settlement with one."""
    if dwelling := _DWELLING.match(value):
        return any(map(_PLACE.match, value[dwelling.end() :].split()))
    first = value.split()[0].strip(",")
    return (
        first[0].isupper()
        and len(first) > 1
        and first.lower() not in _NO_PLACES
        and not any(c.isdigit() for c in first)
    )


def place_in(value: str) -> str:
    """The name of the place that a value begins with: "Hamburg with one suitcase" is Hamburg.

    >>> place_in("Hamburg with one suitcase"), place_in("Rio de Janeiro, Brazil"), place_in("small village near Lyon")
    ('Hamburg', 'Rio de Janeiro, Brazil', 'small village near Lyon')
    """
    match = _PLACE.match(value)
    return match.group() if match else value


def is_technical(text: str) -> bool:
    """Whether a habit is one of programs rather than of people."""
    return bool(_TECHNICAL.search(text))
