"""All predicates: what is said of health, people, tastes and times, as patterns of plain clauses.

The words before the patterns are in one form: "am", "are" and "have been" are "is", "have" is "has", adverbs are gone.
In a pattern `v` is the value, up to where it ends by itself; `a` makes part of the attribute, `d` is a dose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recollect.derive.facts.claim import Category, Polarity
from recollect.derive.facts.rules.subjects import CONDITION, PROFESSION, is_allergen, is_place, is_technical
from recollect.text.dates import ANY_MONTH, ANY_SEASON, ANY_WEEKDAY, SHORT_MONTHS
from recollect.text.quantities import NUMBER
from recollect.text.words import word_lists


@dataclass(frozen=True, slots=True)
class Predicate:
    """What may be said of somebody. `several`: the value may be a list of values. `only`: of "people", or of all."""

    pattern: re.Pattern[str]
    attribute: str
    check: Callable[[str], bool] | None = None
    several: bool = False
    exact: bool = False  # the value is what `v` matched, and not trimmed
    clause: bool = False  # the value is all of the clause from where `v` begins
    most_words: int = 6
    category: Category = Category.SEMANTIC
    polarity: Polarity = Polarity.IS
    only: str = ""


def predicate(pattern: str, attribute: str, check: Callable[[str], bool] | None = None, **more: Any) -> Predicate:
    """A predicate by its pattern."""
    capitals = re.sub(r"\[A-Z(?:À-ÖØ-Þ)?\]", r"(?-i:\g<0>)", pattern)  # a capital is one, whatever the case of the rest
    return Predicate(re.compile(capitals, re.IGNORECASE), attribute, check, **more)


def capital(value: str) -> bool:
    """Whether it is a name."""
    return value[0].isupper()


#: An amount, or a range.
AMOUNT = rf"{NUMBER}(?:\s?[-–]\s?{NUMBER})?"

DOSE = rf"{AMOUNT}\s?(?:mg|mcg|µg|ug|g|ml|mL|IU|units?|tablets?|pills?|drops?|puffs?|capsules?)(?:/day|/kg)?"

_MONTH = rf"(?:(?:{ANY_MONTH})\b|(?:{'|'.join(SHORT_MONTHS)})\b\.?)"

WEEKDAY = f"(?:{ANY_WEEKDAY})"

DATE = rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}})"

WHEN = rf"\b(?:(?:on |at |for |in |this |next |until )?(?:{DATE}|{WEEKDAY}s?|{_MONTH}(?: \d{{4}})?)|tomorrow|tonight|next (?:week|weekend|month|year|{ANY_SEASON})|this (?:coming )?(?:weekend|{ANY_SEASON})|in (?:two|three|four|\d+) (?:days|weeks|months)|(?:19|20)\d\d-\d\d-\d\d)"


# Allergies, diets, conditions, medicines and weights.

_ENDED = Polarity.ENDED


def _avoided(value: str) -> bool:
    return is_allergen(value) and not re.match(
        r"(?i)(?:breakfast|lunch|dinner|much|out|well|enough|allerg|meals?|kids|children|pets)\b", value
    )


def _drug(value: str) -> bool:
    return bool(re.fullmatch(r"[A-Z][a-z]+", value)) or _drug_alone(value)


def _drug_alone(value: str) -> bool:
    return bool(_DRUG.fullmatch(value)) and value.islower() and value not in _NO_DRUGS


_DRUG = re.compile(
    r"\w*(?:ine|ol|il|am|ide|ate|xin|pril|tan|statin|mab|zole|pam|lam|cillin|mycin|profen|fen|tin|ium|one|xetine|"
    r"pram|ast|ipride|azine|parin|gliptin|formin|insulin|iron|creatine|melatonin|aspirin|warfarin|heparin|vitamin)s?"
    r"(?: [A-Z]\d*)?"
)

_NO_DRUGS = frozenset(
    """line time online medicine mine routine magazine machine one phone gone alone school control pool late date
    private climate chocolate plate state update slide side ride pride outside inside detail email mail trail
    program exam steam team stream dream cream caffeine wine cuisine i it them this that done none someone anyone""".split()
)

HEALTH: tuple[Predicate, ...] = (
    predicate(r"^is allergic to (?P<v>.+)", "allergy", is_allergen, several=True, most_words=4),
    predicate(
        r"^has (?:a |an |some )?(?:\w+ )?allerg(?:y|ies) to (?P<v>.+)",
        "allergy",
        is_allergen,
        several=True,
        most_words=4,
    ),
    predicate(
        r"^has (?:(?!food|no|any|bad|many|multiple|seasonal|skin)\w+ )??(?:an? )?(?:(?:severe|serious|bad|mild|strong|known) )?(?P<v>(?!food|seasonal|skin|bad|severe|serious|mild)[\w-]+(?: [\w-]+)?) allergy\b(?! to)",
        "allergy",
        is_allergen,
        exact=True,
    ),
    predicate(r"^has .{2,40} and an? (?P<v>[\w-]+(?: [\w-]+)?) allergy\b(?! to)", "allergy", is_allergen, exact=True),
    predicate(
        r"^is (?P<v>lactose|gluten|fructose|histamine|wheat|dairy|egg|soy)[ -]intolerant\b", "intolerance", exact=True
    ),
    predicate(
        r"^(?:(?:cannot|do(?:es)? not|never) (?:eat|drink|tolerate)s?|cannot have) (?P<v>.+)",
        "avoids",
        _avoided,
        several=True,
        most_words=3,
    ),
    predicate(
        rf"^has (?:been )?(?:severe |mild |chronic |bad |slight |some |really bad |early |early-onset )?(?P<v>{CONDITION})(?=[^\w-]|$)(?! as my\b)",
        "condition",
        exact=True,
    ),
    predicate(r"^(?:is|was|got|has been|just got|has) diagnosed with (?P<v>.+)", "condition", several=True),
    predicate(rf"^suffers? from (?:severe |chronic )?(?P<v>{CONDITION})(?=\W|$)", "condition", exact=True),
    predicate(
        r"^is (?:(?:a|an|now|fully|strictly|mostly|a strict) )*(?P<v>vegan|vegetarian|pescatarian|keto|ovo-vegetarian|flexitarian)(?=\W|$)(?! (?:recipe|food|dish|option|restaurant|menu|meal|diet plan|friend|household|cook|chef|caf))",
        "diet",
        exact=True,
    ),
    predicate(
        r"^(?:went|turned|became|go(?:es)?) (?P<v>vegan|vegetarian|pescatarian|keto)(?=\W|$)", "diet", exact=True
    ),
    predicate(
        r"^is on an? (?:strict )?(?P<v>gluten|dairy|lactose|sugar|grain|wheat)-free diet\b", "avoids", exact=True
    ),
    predicate(r"^(?:keep|keeps|eats?) (?P<v>kosher|halal)(?=[.,!]|$| and\b)", "diet", exact=True),
    predicate(
        rf"^(?:take|takes|get|gets|is taking|is on|is given|receives?|has) (?:about |around |only |a dose of )?(?P<d>{DOSE}) (?:of )(?P<v>[\w-]+(?:(?-i: [A-Z]\d*\b))?)",
        "medication",
        _drug,
        exact=True,
    ),
    predicate(
        rf"^(?:take|takes|is taking|is on|get|gets) (?P<v>[\w-]+),? (?P<d>{DOSE})(?=\W|$)",
        "medication",
        _drug,
        exact=True,
    ),
    predicate(
        r"^(?:stopped|quit|finished|has stopped) taking (?P<v>[\w-]+)(?=\W|$)",
        "medication",
        _drug,
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:stopped|quit|finished|has stopped) using (?P<v>[\w-]+)(?=\W|$)",
        "medication",
        _drug_alone,
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:is taking) (?P<v>[\w-]+)(?= (?:for|daily|every|once|twice)\b|[.,!]|$)",
        "medication",
        _drug_alone,
        exact=True,
    ),
    predicate(
        rf"^(?:weigh|weighs|is weighing) (?:about |around |in at |exactly )?(?P<v>{AMOUNT}\s?(?:kg|kilos?|kilograms?|lbs?|pounds|stone|g|grams))(?=\W|$)",
        "weight",
        exact=True,
    ),
    predicate(
        rf"^is (?:about |around )?(?P<v>{AMOUNT}\s?(?:cm|m|ft|feet|inches)|\d'\d{{1,2}}\"?) tall(?=\W|$)",
        "height",
        exact=True,
    ),
)


# Age, home, origin, family status, languages, work and studies.


def _firm(value: str) -> bool:
    return not re.match(
        r"(?i)(?:home|night|least|last|first|all|scale|times?|\d|myself|remote|fun|free|money|years|a living)\b", value
    )


_NAME = r"[A-ZÀ-ÖØ-Þ][\wà-öø-ÿ'’-]*"

_FIRMS = frozenset(word_lists("names")["firms"])

PEOPLE: tuple[Predicate, ...] = (
    predicate(
        r"^is (?:about |only )?(?P<v>\d{1,3}(?: (?:weeks|months))?)(?:[ -]years?)?[ -]old(?=\W|$)",
        "age",
        exact=True,
    ),
    predicate(r"^is (?P<v>\d{1,2})(?=[.,!]?$|[.,!] | and (?!\d|a half)| now\b)", "age", exact=True, only="people"),
    predicate(
        r"^(?:turned|is turning) (?P<v>\d{1,3})(?= (?:last|this|yesterday|today|on|in|a|now)\b|[.,!]|$)",
        "age",
        exact=True,
    ),
    predicate(rf"^(?:was|is) born (?:on )?(?P<v>{DATE})(?=\W|$)", "birthday", exact=True),
    predicate(rf"^(?:was|is) born in [A-Z][\w -]+? on (?P<v>{DATE})(?=\W|$)", "birthday", exact=True),
    predicate(r"^(?:was|is) born in (?P<v>(?:19|20)\d\d)(?=\W|$)", "birth year", exact=True),
    predicate(
        r"^(?:live|lives|is living|is based|is located|reside|resides|is residing) (?:alone |together |here |happily )?in (?P<v>.+)",
        "home",
        is_place,
        most_words=7,
    ),
    predicate(r"^(?:live|lives|is living) (?:with .{2,40}? |on (?:a|the) )in (?P<v>[A-Z].+)", "home", is_place),
    predicate(
        r"^(?:moved|relocated|has moved|has relocated) (?:back |out |over |here |house |away |down |up )?(?:from [\w ]+? )?(?:to|into) (?P<v>.+?)(?= from [A-Z]|$)",
        "home",
        is_place,
    ),
    predicate(r"^and .{2,30} live in (?P<v>.+)", "home", is_place),
    predicate(r"^is from (?P<v>[A-Z].+)", "from", is_place),
    predicate(r"^(?:grew up|was born|is born|was raised) in (?P<v>[A-Z].+)", "from", is_place),
    predicate(
        r"^is (?:happily |now |recently |officially )?(?P<v>married|divorced|widowed|separated)(?= (?:to [A-Z]|for|since|now|with|and)|[.,!]|$)",
        "marital status",
        exact=True,
        only="people",
    ),
    predicate(r"^is (?P<v>single)(?=[.,!]|$| and\b)", "marital status", exact=True, only="people"),
    predicate(
        r"^(?:got) (?P<v>married|divorced)(?= (?:last|in|on|this|yesterday|to [A-Z])|[.,!]|$)",
        "marital status",
        exact=True,
        only="people",
    ),
    predicate(rf"^(?:is|got) married to (?P<v>{_NAME}(?: {_NAME})?)", "spouse", capital, exact=True),
    predicate(rf"^(?:is|got) engaged to (?P<v>{_NAME})", "fiancé", capital, exact=True),
    predicate(
        rf"^speaks? (?:fluent |some |a little |native )?(?P<v>{_NAME}(?:(?:, | and )(?:a little |some )?{_NAME})*)",
        "speaks",
        capital,
        several=True,
    ),
    predicate(
        rf"^is an? (?P<v>(?:(?!big|huge|great|bad|good|terrible|lousy|better|real|fan|bit|little|former|retired|fellow)[\w-]+ ){{0,3}}(?:{PROFESSION}))(?=[.,;!]| at | in | and | from | by | with | for | who | based |$| –| -| specializing| now\b)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(r"^is (?P<v>retired|unemployed|self-employed)(?=\W|$)", "job", exact=True, only="people"),
    predicate(
        r"^(?:work|works|is working|has worked) as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:at|for|in|with|and|since|on|from|of)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?:work|works|is working|has worked) (?:at|for) [^,.]{2,40}? as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:in|with|and|since|on|from|of)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?P<v>teach(?:es)? [\w ]{3,40}?)(?= (?:and|but|to|every|on)\b|[.,;!]|$)",
        "job",
        lambda v: not is_technical(v),
        exact=True,
        only="people",
    ),
    predicate(
        r"^(?:start|started|got|has started) (?:a |my |his |her )?(?:new )?(?:job|position|role) as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,3}?)(?= (?:at|for|in|with|and|last|this|on)\b|[.,;!]|$)",
        "job",
        exact=True,
        only="people",
    ),
    predicate(r"^(?:got|was|has been|is) promoted to (?P<v>.+)", "job", only="people"),
    predicate(
        r"^lost (?:my|his|her) job as (?:an? |the )?(?P<v>[\w-]+(?: [\w-]+){0,2}?)(?= (?:at|for|yesterday|last|this|in)\b|[.,;!]|$)",
        "job",
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:work|works|is working|has worked) (?:at|for) (?P<v>.+?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        r"^.{2,60}? as an? [\w -]{3,30}? (?:at|for) (?P<v>[A-Z].*?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        rf"^is an? [\w -]{{0,40}}?(?:{PROFESSION}) (?:at|for) (?P<v>[A-Z].*?)(?= (?:in|on|since|until|near|from|where|doing)\b|$)",
        "employer",
        _firm,
    ),
    predicate(
        r"^(?:start|started|joined|began) (?:a |my |his |her )?(?:new )?(?:job |position |role |working |work )?(?:at|with|for) (?P<v>[A-Z].*)",
        "employer",
        _firm,
    ),
    predicate(r"^joined (?P<v>[A-Z].*) as\b", "employer", _firm),
    predicate(
        r"^(?:quit|left|resigned from|lost|got laid off from|was laid off from|was fired from) (?:my |his |her )?(?:job |position |role )?(?:at |with |from )(?P<v>[A-Z].*)",
        "employer",
        _firm,
        polarity=_ENDED,
    ),
    predicate(
        r"^left (?P<v>[A-Z][\w&.-]+)(?= (?:in|last|after|for|this)\b|[.,!]|$)",
        "employer",
        lambda v: v.lower() in _FIRMS,
        exact=True,
        polarity=_ENDED,
    ),
    predicate(
        r"^(?:study|studies|is studying|major in|majors in|is majoring in) (?P<v>[\w][\w ]{2,30}?)(?= (?:at|in|for|and|with|this)\b|[.,;!]|$)",
        "studies",
        lambda v: not re.match(r"(?i)(?:for|the|this|that|it|how|my|hard|a|an|abroad|with|at|in|together)\b", v),
        exact=True,
    ),
)


# What somebody likes, dislikes, prefers, owns and uses.


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


# Appointments, plans and habits.


def _planned(value: str) -> bool:
    return not is_technical(value) and not _POINTING.search(value)


def _sport(value: str) -> bool:
    return (
        not is_technical(value)
        and not re.search(r"(?i)\b(?:it|this|that|them)\b", value)
        and not re.match(r"(?i)runs? (?:an?|the|my|our|this|some)\b", value)
    )


_POINTING = re.compile(
    r"\w+ (?:it|them|him|her|your?)\b|\b(?:that|these|those) "
    r"|\bthis (?!week|month|year|coming|summer|spring|autumn|fall|winter|morning|afternoon|evening|[A-Z])",
    re.IGNORECASE,
)

#: What is planned for tonight is nothing to remember.
_LATER = WHEN.replace("|tomorrow|tonight", "")

_OFTEN = rf"(?:every (?:single )?(?:day|morning|evening|night|week|weekend|month|other day|{WEEKDAY})(?: (?:morning|afternoon|evening|night))?|on {WEEKDAY}s(?:(?:,| and) {WEEKDAY}s)*|each (?:day|morning|evening|night|week)|(?:once|twice|three times|four times) a (?:day|week|month)|daily)"

_DO = r"run|go|jog|swim|bike|cycle|walk|hike|climb|row|surf|ski|play|practi[sc]e|meditate|pray|paint|draw|sing|dance|attend|cook|bake|read|journal|call|phone|visit|meet|drink|eat|fast|wake up|get up|work out|exercise|train|volunteer|garden|do (?:yoga|pilates)|take a walk|go for a|have (?:breakfast|lunch|dinner|brunch)|teach|commute|babysit|watch"

_GOING = r"flying|travell?ing|driving|moving|heading|visiting|hosting|getting married|getting|having|starting|attending|running|seeing|meeting|taking|presenting|graduating|launching|leaving|celebrating|expecting"

TIMES: tuple[Predicate, ...] = (
    predicate(
        rf"^has (?P<v>(?:an? |my |another )(?:[\w'-]+ ){{0,3}}(?:appointment|meeting|interview|exam|surgery|check-?up|consultation|operation|flight|viewing|physical|ultrasound|mri|scan|biopsy)\b.{{0,40}}?(?:{WHEN}).*)",
        "appointment",
        clause=True,
        most_words=18,
        category=Category.PROSPECTIVE,
    ),
    predicate(
        rf"^is (?P<v>(?:{_GOING}|going (?!to (?-i:[a-z]))|going to the ).{{0,60}}?{_LATER}.*)",
        "plan",
        _planned,
        clause=True,
        most_words=18,
        category=Category.PROSPECTIVE,
    ),
    predicate(
        rf"^(?:plan to|plans to|is planning to|is going to) (?P<v>(?!the |my |a |bed|work|school|sleep)(?-i:[a-z])[a-z]* .{{2,60}}?(?:{_LATER}|this year|later this year).*)",
        "plan",
        _planned,
        clause=True,
        most_words=18,
        category=Category.PROSPECTIVE,
    ),
    predicate(
        rf"^(?:usually |always |typically |normally )?(?P<v>(?:{_DO})(?:s|es)?\b.{{0,60}}?\b{_OFTEN}.*)",
        "habit",
        _sport,
        exact=True,
        most_words=14,
    ),
    predicate(
        r"^(?:usually|always|typically|normally|generally) (?P<v>(?:wake up|get up|go to (?:bed|sleep)|drink|eat|have (?:coffee|tea|breakfast|lunch|dinner)|skip breakfast|walk|cycle|bike|run|jog)s?\b.*)",
        "habit",
        _sport,
        exact=True,
        most_words=12,
    ),
)


#: In the order in which they are tried; several may hold of one clause.
PREDICATES: tuple[Predicate, ...] = HEALTH + PEOPLE + TASTES + TIMES
