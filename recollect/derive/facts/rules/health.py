"""Allergies, diets, conditions, medicines and weights."""

from __future__ import annotations

import re

from recollect.derive.facts.claim import Polarity
from recollect.derive.facts.rules.predicate import AMOUNT, DOSE, Predicate, predicate
from recollect.derive.facts.rules.words import CONDITION, is_allergen

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
        r"^(?:stopped|quit|finished|has stopped) (?:taking|using) (?P<v>[\w-]+)(?=\W|$)",
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
