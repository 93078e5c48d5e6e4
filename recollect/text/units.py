"""Units and currencies by their spellings, and what they come to in the unit that others are multiples of."""

from __future__ import annotations

from fractions import Fraction

# What is measured, and the unit that others are multiples of; then each unit, how many of that it is, its spellings.
_TABLE = """
mass g
    kg 1000 kgs kilo kilos kilogram kilograms kilogramme kilogramm
    g 1 gram grams gramm
    mg 1/1000 mgs milligram milligrams milligramm
    µg 1/1000000 mcg ug μg microgram micrograms mikrogramm
    ng 1/1000000000
    pg 1/1000000000000
    t 1000000 tonne tonnes
    lb 453.59237 lbs pound pounds
    oz 28.349523125 ounce ounces
    stone 6350.29318 stones
length m
    km 1000 kilometer kilometers kilometre kilometres
    m 1 meter meters metre metres
    cm 1/100 centimeter centimeters centimetre centimetres zentimeter
    mm 1/1000 millimeter millimeters millimetre millimetres
    mi 1609.344 mile miles
    ft 0.3048 foot feet
    in 0.0254 inch inches
    yd 0.9144 yard yards
volume L
    L 1 l liter liters litre litres
    dL 1/10 dl
    cL 1/100 cl
    mL 1/1000 ml mls milliliter milliliters millilitre millilitres cc
    µL 1/1000000 ul µl μl
duration s
    week 604800 weeks wk wks woche wochen
    day 86400 d days tag tage tagen
    h 3600 hr hrs hour hours stunde stunden
    min 60 mins minute minutes minuten
    s 1 sec secs second seconds sekunde sekunden
    ms 1/1000 millisecond milliseconds
duration month
    year 12 years yr yrs jahr jahre jahren
    month 1 months mo mos monat monate monaten
data kB
    kB 1 kb
    MB 1000 mb
    GB 1000000 gb
    TB 1000000000 tb
substance mol
    mol 1
    mmol 1/1000
    µmol 1/1000000 umol μmol
    nmol 1/1000000000
temperature °C
    °C 1 ℃
temperature °F
    °F 1 ℉
percent %
    % 1 percent prozent pct
"""
# Counted: each in itself.
_COUNTED = """
IU iu IE
U
unit units einheit einheiten
mEq meq
mIU miu
µIU uiu μiu
tablet tablets tabs tablette tabletten
pill pills
capsule capsules kapsel kapseln
drop drops tropfen
puff puffs
dose doses
gallon gallons gal
pint pints
cup cups
tsp
tbsp
bpm
mmHg mmhg
kcal calories
kWh kwh
mph
"""
_SIGNS = """
EUR € euro euros
GBP £
INR ₹
RUB ₽
KRW ₩ 원
ILS ₪
TRY ₺
VND ₫
UAH ₴
PLN zł
JPY 円 yen
USD US$
CAD C$ CA$
AUD A$ AU$
NZD NZ$
HKD HK$
SGD S$
BRL R$
CHF franken
$ dollar dollars
¥
元
kr
"""
_CODES = """
USD EUR GBP CHF JPY CNY CAD AUD NZD SEK NOK DKK PLN CZK HUF RON TRY RUB UAH ILS INR KRW BRL MXN ZAR SGD HKD THB VND IDR
MYR PHP AED SAR EGP NGN ARS CLP COP
"""
#: ISO codes of currencies.
CODES = frozenset(_CODES.split())


def _read() -> tuple[dict[str, tuple[str, Fraction, str]], dict[str, str]]:
    units: dict[str, tuple[str, Fraction, str]] = {}
    spellings: dict[str, str] = {}
    kind = base = ""
    for line in _TABLE.strip().splitlines():
        name, *more = line.split()
        if not line.startswith(" "):
            kind, base = name, more[0]
            continue
        units[name] = kind, Fraction(more[0]), base
        spellings |= dict.fromkeys((name, *more[1:]), name)
    for line in _COUNTED.split("\n"):
        for spelling in line.split():
            name = line.split()[0]
            units[name] = "count", Fraction(1), name
            spellings[spelling] = name
    return units, spellings


_UNITS, _SPELLINGS = _read()
_CURRENCIES = {sign: line.split()[0] for line in _SIGNS.strip().splitlines() for sign in line.split()}
#: How currencies are written: by a sign, and by a word, which stands behind the number.
SIGNS = tuple(sorted((s for s in _CURRENCIES if s not in CODES and (len(s) <= len("US$"))), key=len, reverse=True))
WORDS = tuple(sorted((s for s in _CURRENCIES if len(s) > len("US$") or s == "yen"), key=len, reverse=True))

_CONVERTED = frozenset({"mass", "length", "volume", "data", "substance"})
#: What a concentration is by.
VOLUMES = frozenset({"L", "dL", "cL", "mL", "µL", "gallon", "pint"})
_ONLY_AS_WRITTEN = frozenset({"U", "T", "IN", "G", "M", "S", "H", "D", "MS", "MI", "MO", "IE"})


def unit_of(spelling: str) -> str:
    """The unit of a spelling, or nothing; words and most symbols whatever their case.

    >>> unit_of("Milligrams"), unit_of("MG"), unit_of("G"), unit_of("golds")
    ('mg', 'mg', '', '')
    """
    if spelling in _SPELLINGS:
        return _SPELLINGS[spelling]
    if spelling.upper() in _ONLY_AS_WRITTEN:
        return ""
    return _SPELLINGS.get(spelling.lower(), _SPELLINGS.get(spelling.upper(), ""))


def kind_of(unit: str) -> str:
    """What a unit measures."""
    return _UNITS[unit][0] if unit in _UNITS else ""


def scale_of(unit: str) -> tuple[Fraction, str]:
    """How many of the unit that others are multiples of, and that unit."""
    return _UNITS[unit][1:] if unit in _UNITS else (Fraction(1), unit)


def is_converted(unit: str) -> bool:
    """Whether an amount by this unit is the same by another: 1 mg/dL is 10 mg/L, but a dose a week is none a day."""
    return kind_of(unit) in _CONVERTED


def currency_of(written: str) -> str:
    """The ISO code of a sign, word or code; a sign that several currencies have stays itself."""
    return _CURRENCIES.get(written, _CURRENCIES.get(written.lower(), written))
