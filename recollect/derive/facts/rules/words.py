"""Lists of words that the rules go by: professions, conditions, what jokes are made of."""

from __future__ import annotations

import re

from recollect.text.dates import MONTHS, WEEKDAYS
from recollect.text.words import word_lists

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
