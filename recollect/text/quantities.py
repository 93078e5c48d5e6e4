"""Amounts in a text: numbers in English and European form, sums of money, units, ranges and dates in figures.

A number with one separator may be read in two ways: "1.200" is 1.2 in English and 1,200 in German. It is read by what
stands around it, and `certain` says where that decides. Only certain amounts are equal in different spellings. A dollar
sign stands for many currencies, so "$5" is not "USD 5".
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

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


def _read_table() -> tuple[dict[str, tuple[str, Fraction, str]], dict[str, str]]:
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


_UNITS, _SPELLINGS = _read_table()
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


_BLANK = "[ \u00a0\u2009\u202f]"
_LETTER = "A-Za-zµμÀ-ÖØ-öø-ɏ"
#: A number with its separators, as a pattern without groups.
NUMBER = (
    rf"(?:\d{{1,3}}(?:(?:,\d{{3}})+(?:\.\d+)?|(?:\.\d{{3}})+(?:,\d+)?|(?:['’]\d{{3}})+(?:[.,]\d+)?"
    rf"|(?:{_BLANK}\d{{3}})+(?:,\d+)?)(?!\d)|\d+(?:\.\d+|,\d{{1,3}}(?!\d))?)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount, `text[start:end]`. `numbers` are one, or the two ends of a range; none where it is a name in figures.

    `kind` is "money", "date", "time of day", "name" (a version, a telephone number), "number", or what a unit measures:
    "mass", "length" and so on. `per` is what it is counted by ("day", "kg"). `certain`: it is read in the one way that
    there is.
    """

    text: str
    start: int
    end: int
    kind: str
    numbers: tuple[Decimal, ...] = ()
    unit: str = ""
    currency: str = ""
    per: str = ""
    date: date | None = None
    certain: bool = True

    @property
    def number(self) -> str:
        """The number as it is written, or the range; all of what has no unit."""
        match = _WRITTEN.match(self.text) if self.unit else None
        return match.group() if match else self.text

    @property
    def key(self) -> str:
        """Equal for the same amount in other spellings: "0.5 kg" and "500 g"."""
        if self.date is not None:
            return f"date {self.date}"
        if not self.numbers or not self.certain:
            return f"{self.kind} {''.join(self.text.lower().split())}"
        scale, base = scale_of(self.unit)
        by = [scale_of(one) if is_converted(one) else (Fraction(1), one) for one in self.per.split("/") if one]
        for factor, _ in by:
            scale /= factor
        amounts = "-".join(str(Fraction(number) * scale) for number in self.numbers)
        return " ".join((self.kind, amounts, self.currency, base, *(f"/{name}" for _, name in by)))


def quantities(text: str) -> list[Quantity]:
    """The amounts in a text, from left to right.

    >>> [(one.text, one.key) for one in quantities("Up from $1,200 to 1.350,50 € a month, 0.5 kg")]
    [('$1,200', 'money 1200 $ '), ('1.350,50 € a month', 'money 2701/2 EUR  /month'), ('0.5 kg', 'mass 500  g')]
    """
    found: list[Quantity] = []
    if not any(map(str.isdigit, text)):
        return found
    european = bool(_EUROPEAN.search(text)) and not _ENGLISH.search(text)
    at = 0
    while start := _DIGIT.search(text, at):
        one = _amount(text, start.start(), european) or _other(text, start.start())
        if one is None:
            at = start.end()
            continue
        before = found[-1] if found else None
        if before is not None and text[before.end : one.start].strip() == "" and _is_rest(before, one):
            found[-1] = one = _sum(text, before, one)
        else:
            found.append(one)
        at = one.end
    return found


@lru_cache(maxsize=4096)
def in_one_spelling(value: str) -> str:
    """The value with each amount of it in one spelling. Numbers without a unit stay as they are, unless they have
    thousands: "3.10" may be a version.

    >>> in_one_spelling("fluoxetine 15mg") == in_one_spelling("fluoxetine 0.015 g")
    True
    """
    whole, at = "", 0
    value = value.translate(_SIGNS_SPELLED)
    for one in quantities(value):
        grouped = one.kind == "number" and not one.text.isdigit() and len(str(one.numbers[0])) > len("999")
        grouped |= one.kind == "number" and one.text[0] in ".-−–"
        if one.numbers and one.certain and (one.kind != "number" or grouped):
            spelled = str(one.numbers[0]) if grouped else one.key
            whole, at = f"{whole}{value[at : one.start]}{spelled}", one.end
    return whole + value[at:]


def whole_quantity(value: str) -> Quantity | None:
    """The amount that a text is and nothing else; None where it is more, or none."""
    stripped = value.strip(" .,;:!?")
    found = quantities(stripped)
    return found[0] if len(found) == 1 and (found[0].start, found[0].end) == (0, len(stripped)) else None


def is_same(one: Quantity, other: Quantity) -> bool:
    """Whether two amounts are equal; a number without a unit is equal to the same number of any."""
    if one.key == other.key:
        return True
    return "number" in (one.kind, other.kind) and bool(one.numbers) and one.numbers == other.numbers


# --- numbers ----------------------------------------------------------------------------------------------------------
def _figures(text: str, at: int) -> Quantity | None:
    """What is made of digits and yet no amount: a date, a time of day, a version, a telephone number."""
    match = _FIGURES.match(text, at)
    if match is None:
        return None
    start = at - 1 if match.lastgroup == "phone" else at
    kind = {"iso": "date", "dotted": "date", "slashed": "date", "clock": "time of day"}.get(
        match.lastgroup or "", "name"
    )
    one = Quantity(text[start : match.end()], start, match.end(), kind)
    if kind == "date":
        day = _day(match)
        return replace(one, date=day, certain=day is not None)
    return one


def _other(text: str, at: int) -> Quantity | None:
    """Digits of whatever form, unless they are part of a word: "3D"."""
    match = _RUN.match(text, at)
    return Quantity(match.group(), at, match.end(), "name") if match else None


def _day(match: re.Match[str]) -> date | None:
    parts = [int(part) for part in re.split(r"\D", match.group())]
    with suppress(ValueError):
        if match["iso"]:
            return date(*parts) if len(parts) == len("ymd") else None
        first, second, year = parts
        year += 2000 if year < 100 else 0
        if match["dotted"] or first > 12 or first == second:
            return date(year, second, first)
        if second > 12:
            return date(year, first, second)
    return None


def _amount(text: str, at: int, european: bool) -> Quantity | None:
    if feet := _FEET.match(text, at):
        inches = Decimal(int(feet["ft"]) * 12 + int(feet["in"]))
        return Quantity(feet.group(), at, feet.end(), "length", (inches,), "in")
    if (part := _FRACTION.match(text, at)) and (unit := unit_of(part["unit"])):
        number = Decimal(part["whole"] or 0) + Decimal(part["of"]) / Decimal(part["parts"])
        return Quantity(part.group(), at, part.end(), kind_of(unit), (number,), unit)
    if figures := _figures(text, at):
        return figures
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    before = _CURRENCY_BEFORE.search(text, max(0, at - 5), at)
    start, end = before.start() if before else at, match.end()
    currency = currency_of(before["of"]) if before else ""
    written, second = [match.group()], None
    if times := _TIMES.match(text, end):
        end = times.end()
    elif range_ := _RANGE.match(text, end):
        second, end = range_["to"], range_.end()
        written.append(second)
    unit, per = "", ""
    if not currency and (after := _CURRENCY_AFTER.match(text, end)):
        currency, end = currency_of(after["of"]), after.end()
    if not currency and (named := _UNIT.match(text, end)) and (symbol := _unit(named["unit"], text[named.end() :])):
        unit, end = symbol, named.end()
    while (unit or currency) and (by := _PER.match(text, end)):
        name = unit_of(by["unit"] or "") or _PERIODS.get((by["often"] or "").lower(), "")
        if not name:
            break
        per, end = f"{per}/{by['count'] or ''}{name}".lstrip("/"), by.end()
    if _GOES_ON.match(text, end):
        return None
    if _BLANKS.search(match.group()) and unit in _SMALL and "," not in match.group():
        return _only_first(text, at, european)  # "2 500 mg" are two tablets of 500 mg
    readings = [_read(one, bool(currency), bool(VOLUMES & set(per.split("/"))), european) for one in written]
    numbers = tuple(number for number, _ in readings)
    if times:
        numbers = (numbers[0] * _TIMES_OF[times["by"].lower().rstrip(".")],)
    if second is not None and numbers[0] >= numbers[1]:
        return _only_first(text, at, european)
    if (
        text[start - 1 : start] == "."
        and not re.search(r"[^\W_]|\.", text[start - 2 : start - 1])
        and written == [match.group()]
    ):
        if not written[0].isdigit() or times:
            return None
        start, numbers = start - 1, (Decimal(f"0.{written[0]}"),)  # ".5 mg"
    if start and len(numbers) == 1 and _is_sign(text, start - 1):
        start, numbers = start - 1, (-numbers[0],)
    kind = "money" if currency else kind_of(unit) if unit else "number"
    if unit and per and VOLUMES & set(per.split("/")):
        kind = "concentration"
    in_english = currency in _IN_ENGLISH and not european
    certain = all(
        sure and not (in_english and _ONE_POINT.search(one)) for one, (_, sure) in zip(written, readings, strict=True)
    )
    return Quantity(text[start:end], start, end, kind, numbers, unit, currency, per, certain=certain)


def _is_sign(text: str, at: int) -> bool:
    """Whether a dash makes the number behind it negative, rather than joining or parting what stands around it."""
    before = text[:at]
    far = before.rstrip(" ")[-1:]
    return text[at] in "-−–" and not far.isdigit() and not (before if text[at] in "-−" else far)[-1:].isalnum()


def _only_first(text: str, at: int, european: bool) -> Quantity | None:
    """The number that stands first, without what seemed to go on."""
    first = _FIRST.match(text, at)
    if first is None:
        return None
    end = first.end()
    number, certain = _read(text[at:end], False, False, european)
    if text[end : end + 1].isalpha():
        return None
    return Quantity(text[at:end], at, end, "number", (number,), certain=certain)


def _read(written: str, money: bool, by_volume: bool, european: bool) -> tuple[Decimal, bool]:
    """A number, and whether it is certain what it is."""
    plain = re.sub(rf"{_BLANK}|['’]", "", written)
    marks = [mark for mark in plain if mark in ".,"]
    if not marks:
        return Decimal(plain), True
    last = marks[-1]
    whole, _, rest = plain.rpartition(last)
    if len(marks) > 1 and marks[0] == last:
        return Decimal(plain.replace(last, "")), True  # 1,200,300
    if (
        len(marks) > 1
        or len(rest) != len("000")
        or whole == "0"
        or len(whole) > len("000")
        or whole != written[: len(whole)]
    ):
        return Decimal(f"{whole.replace(',', '').replace('.', '')}.{rest}"), True
    thousands = (last == ",") != european if not money else not by_volume  # 1,200 or 1.200
    certain = (thousands and last == "," and not european) or (thousands and last == "." and (money or european))
    return Decimal(whole + rest) if thousands else Decimal(f"{whole}.{rest}"), certain


def _unit(spelling: str, after: str) -> str:
    """The unit of a spelling; "in" only where it is not the word, "u" only in "u/l"."""
    if spelling == "in" and _WORD_AFTER.match(after):
        return ""
    return "U" if spelling == "u" and after.startswith("/") else unit_of(spelling)


def _is_rest(one: Quantity, other: Quantity) -> bool:
    """Whether an amount goes on in a smaller unit: "5 ft 11 in", "2 h 30 min"."""
    if (
        not (is_converted(one.unit) or one.kind == "duration")
        or other.kind != one.kind
        or len(one.numbers) + len(other.numbers) != len("ab")
    ):
        return False
    (larger, base), (smaller, same) = scale_of(one.unit), scale_of(other.unit)
    return not one.per and base == same and larger > smaller


def _sum(text: str, one: Quantity, other: Quantity) -> Quantity:
    larger, smaller = scale_of(one.unit)[0], scale_of(other.unit)[0]
    total = Fraction(one.numbers[0]) * larger + Fraction(other.numbers[0]) * smaller
    in_small = total / smaller
    number = Decimal(in_small.numerator) / Decimal(in_small.denominator)
    return replace(
        other,
        text=text[one.start : other.end],
        start=one.start,
        numbers=(number,),
        certain=one.certain and other.certain,
    )


# --- patterns ---------------------------------------------------------------------------------------------------------
#: What folding leaves out, and yet makes another amount.
_SIGNS_SPELLED = str.maketrans({"≤": "<=", "≥": ">=", "±": "+-", "²": "^2", "³": "^3"})
_SMALL = frozenset({"mg", "µg", "g", "mL", "ng"})
_signs, _codes, _words = "|".join(map(re.escape, SIGNS)), "|".join(sorted(CODES)), "|".join(WORDS)
_CURRENCY_BEFORE = re.compile(rf"(?:(?<![^\W\d_])|(?<=^))(?P<of>{_signs}|\b(?:{_codes})){_BLANK}?$")
_CURRENCY_AFTER = re.compile(rf"{_BLANK}?(?P<of>(?:{_signs}|(?:{_codes}))(?!\w)|(?i:{_words})\b)(?!{_BLANK}?\d)")
_TIMES_OF = {
    **dict.fromkeys(("k", "thousand", "tausend"), Decimal(1000)),
    **dict.fromkeys(("m", "mn", "million", "millionen", "mio"), Decimal(1_000_000)),
    **dict.fromkeys(("b", "bn", "billion", "mrd"), Decimal(1_000_000_000)),
}
_TIMES = re.compile(
    rf"(?:(?P<by_sign>(?<=\d)){_BLANK}?)?(?P<by>(?i:thousand|tausend|million|millionen|billion|mio\.?|mrd\.?|mn|bn)|(?<=\d)(?:k|K|M|B))(?!\w)"
)
_RANGE = re.compile(
    rf"(?:{_BLANK}?[-–—]{_BLANK}?|{_BLANK}(?:to|bis){_BLANK}(?={NUMBER}{_BLANK}?[{_LETTER}%°]))(?P<to>{NUMBER})(?![\d:/-])(?![.,]\d)"
)
_UNIT = re.compile(rf"[-{_BLANK[1:-1]}]?(?P<unit>[{_LETTER}]+(?![{_LETTER}\d])|°{_BLANK}?[CF](?!\w)|[℃℉%])")
_PERIODS = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year", "hourly": "h"}
_PER = re.compile(
    rf"(?:{_BLANK}?/{_BLANK}?|{_BLANK}(?:per|an?|each|pro|im|am|je){_BLANK})(?P<count>\d+{_BLANK}?)?(?P<unit>[{_LETTER}]+)(?![{_LETTER}\d])"
    rf"|{_BLANK}(?P<often>(?i:{'|'.join(_PERIODS)}))\b"
)
_DIGIT = re.compile(rf"(?:(?<![{_LETTER}\d_#@])|(?<=\b(?:{_codes})))(?<!\d[.,/:])\d")
_RUN = re.compile(rf"\d[\d.,:/]*(?<=\d)(?![{_LETTER}_\d])")
_GOES_ON = re.compile(rf"(?<=\d)[{_LETTER}_]")
_WORD_AFTER = re.compile(r" (?!tall\b|high\b|wide\b|long\b|deep\b)\w")
_FIRST = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBER = re.compile(rf"{NUMBER}(?![.,/]?\d)")
_FEET = re.compile(r"(?P<ft>\d)['’](?P<in>\d{1,2})(?:[\"”″]|['’]{2})?(?![\w'’])")
_FRACTION = re.compile(
    rf"(?:(?P<whole>\d+) )?(?P<of>[1-9])/(?P<parts>[248]){_BLANK}(?P<unit>[{_LETTER}]+)(?![{_LETTER}\d])"
)
_WRITTEN = re.compile(rf"[-−–]?{NUMBER}(?:{_BLANK}?[-–—]{_BLANK}?{NUMBER})?")
# Money that is mostly written in English form: "$3.459" may be the price of a gallon.
_IN_ENGLISH = frozenset({"$", "USD", "GBP", "CAD", "AUD", "NZD", "HKD", "SGD", "INR"})
_ONE_POINT = re.compile(r"^(?!0)\d{1,3}\.\d{3}$")
_POINT = re.compile(r"(?<![^\W_])(?<!\.)\.$")
_BLANKS = re.compile(r"\d[ ]\d")
_FIGURES = re.compile(
    r"""(?P<iso>\d{4}-\d\d(?:-\d\d)?)(?![\d-]) | (?P<dotted>\d{1,2}\.\d{1,2}\.(?:\d{4}|\d\d))(?![\d.]\d?)
    | (?P<slashed>\d{1,2}/\d{1,2}/(?:\d{4}|\d\d))(?![\d/]) | (?P<clock>\d{1,2}:\d\d(?::\d\d)?)(?!\d)
    | (?P<phone>(?<=\+)\d[\d ()./-]{5,}\d) | (?P<version>\d+(?:\.\d+){2,}(?!\d|,\d))(?<!\.\d\d\d)
    | (?P<ratio>\d+/\d+)(?![\d/])
    | (?P<list>\d+(?:,\d+){2,})(?![\d.])(?<!,\d\d\d)""",
    re.VERBOSE,
)
# What only one of the two forms writes.
_EUROPEAN = re.compile(r"\d\.\d{3},\d|(?<![\d.,])\d+,\d{1,2}(?![\d,])")
_ENGLISH = re.compile(r"\d,\d{3}\.\d|(?<![\d.,])\d+\.\d{1,2}(?![\d.])")
