"""Times told from a day: "yesterday", "two weeks ago", "last spring", "next week"; and those of --since and --until.

In English by patterns; in German, French, Spanish and Chinese by a table each: its words for days, weeks, months and
years, its numbers, and its phrases. Only what is sure is in it: "la dernière semaine du voyage" names no time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from enum import Enum, auto
from functools import cache

from recollect.text import dates
from recollect.text.dates import (
    ANY_SEASON,
    ANY_WEEKDAY,
    MONTH,
    DateSpan,
    exact_dates,
    month_number,
    one_day,
    whole_month,
)

_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 1)}
_COUNTS |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}
_UNIT = r"(day|week|month|year)"
_COUNT = rf"({'|'.join(sorted(_COUNTS, key=len, reverse=True))}|\d{{1,4}})"
_NO_MORE = r"\b(?!\s+(?:of|before)\b)"  # "the last week of the trip" is not last week


def relative_dates(text: str, today: date) -> tuple[DateSpan, ...]:
    """The times that a text names by their distance from today; only those that are sure ("recently" is none).

    In English and, from tables, in German, French, Spanish and Chinese (relative_languages.py). Weeks begin on Monday,
    seasons are those of the northern half of the world.

    >>> relative_dates("the plumber I called two days ago", date(2025, 3, 14))[0].start
    datetime.date(2025, 3, 12)
    """
    return tuple(span for _, _, span in _named(text, today))


def without_relative(text: str, today: date, years: Collection[int]) -> str:
    """The text without such words where there is something to be found in those times: they say when, not what.

    Where nothing was said in the years that they mean, they may be words of what is sought.

    >>> without_relative("what did I say last week about bread", date(2025, 3, 14), [2024, 2025])
    'what did I say about bread'
    """
    rest = len(text)
    for start, end, span in reversed(_named(text, today)):
        if span.start.year in years or span.end.year in years:
            text = f"{text[:start].rstrip()} {text[min(end, rest) :].lstrip()}".strip()
            rest = start
    return text


def _named(text: str, today: date) -> list[tuple[int, int, DateSpan]]:
    """Where each phrase begins and ends, and what it means, in the order of the text."""
    found: list[tuple[int, int, DateSpan]] = []
    lowered = text.lower()
    for pattern, read in _phrases() if any(part in lowered for part in _IN_EVERY_PHRASE) else ():
        for match in pattern.finditer(text):
            with suppress(ValueError, OverflowError):  # before the year 1
                found.append((*match.span(), read(match, today)))
    found += spans_named(text, today)
    return sorted(found, key=lambda place: place[0])


def with_year(text: str, today: date) -> str:
    """The text with the number of the year where it names a month of it: "in March last year", "May of this year".

    >>> with_year("the storm of March last year", date(2025, 5, 2))
    'the storm of March 2024'
    """
    if "year" not in text.lower():
        return text
    return re.sub(_OF_A_YEAR, lambda match: f"{match[1]} {today.year - (match[3].lower() == 'last')}", text)


def parse_moment(text: str, today: date, *, end: bool) -> datetime | None:
    """The moment that a text names, in UTC, or None for a text that names none.

    Understands "2025", "2025-03", "2025-03-14", ISO dates with a time, "March 2024", "3 May", "last week",
    "3 days ago". Of a span it is the beginning, or with `end` the moment after it: between them lies all of it.
    A date without a year is the last one that has begun. A time without a zone is UTC.
    """
    text = " ".join(text.split())
    with suppress(ValueError, OverflowError):
        span = _only_span(text, today)
        if span is None:
            moment = datetime.fromisoformat(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        return datetime.combine(span.end + dates.DAY if end else span.start, time(), UTC)
    return None


def _only_span(text: str, today: date) -> DateSpan | None:
    """The span of a text that is nothing but a span. Raises ValueError or OverflowError for impossible ones."""
    with suppress(ValueError):
        return one_day(date.fromisoformat(text))
    if month := re.fullmatch(r"(\d{4})-(\d{1,2})", text):
        return whole_month(int(month[1]), int(month[2]))
    for pattern, read in _phrases():
        if match := pattern.fullmatch(text):
            return read(match, today)
    if span := only_span(text, today):
        return span
    spans = exact_dates(text, years=(today.year, today.year - 1))
    return next((span for span in spans if span.start <= today), spans[0] if spans else None)


# --- what each phrase says -------------------------------------------------------------------------------------------
def _ago(match: re.Match[str], today: date) -> DateSpan:
    return dates.ago(today, _count(match[1]), match[2].lower())


def _past(match: re.Match[str], today: date) -> DateSpan:
    return dates.past(today, _count(match[1] or "one"), match[2].lower())


def _last_unit(match: re.Match[str], today: date) -> DateSpan:
    return dates.last_unit(today, match[1].lower())


def _this_unit(match: re.Match[str], today: date) -> DateSpan:
    return dates.this_unit(today, match[1].lower())


def _last_weekday(match: re.Match[str], today: date) -> DateSpan:
    return dates.last_weekday(today, dates.WEEKDAYS.index(match[1].lower()))


def _last_season(match: re.Match[str], today: date) -> DateSpan:
    """The latest that is over."""
    season = match[1].lower()
    return next(s for back in range(3) if (s := dates.season(today.year - back, season)).end < today)


def _last_month_named(match: re.Match[str], today: date) -> DateSpan:
    """The latest that is over."""
    month = month_number(match[1])
    return next(m for back in range(2) if (m := whole_month(today.year - back, month)).end < today)


def _this_month_named(match: re.Match[str], today: date) -> DateSpan:
    return whole_month(today.year, month_number(match[1]))


def _this_season(match: re.Match[str], today: date) -> DateSpan:
    """The latest that has begun, or else this year's."""
    season = match[1].lower()
    recent = next(s for back in range(3) if (s := dates.season(today.year - back, season)).start <= today)
    return recent if recent.end.year == today.year else dates.season(today.year, season)


_Reader = Callable[[re.Match[str], date], DateSpan]


_SEASON, _WEEKDAY = f"({ANY_SEASON})", f"({ANY_WEEKDAY})"

_OF_A_YEAR = rf"(?i)\b({MONTH})(?: of)? (last|this) year\b"

#: What each phrase has something of.
_IN_EVERY_PHRASE = ("yesterday", "today", "tonight", "this", "ago", "last", "past")
_PHRASES: tuple[tuple[str, _Reader], ...] = (
    (r"(?:the )?day before yesterday\b", lambda _, today: dates.days_ago(today, 2)),
    (r"(?<!day before )(?:yesterday|last night)\b", lambda _, today: dates.days_ago(today, 1)),
    (r"(?:today|tonight|this (?:morning|afternoon|evening))\b", lambda _, today: one_day(today)),
    (rf"{_COUNT} {_UNIT}s? ago\b", _ago),
    (rf"(?:last|past) {_COUNT} {_UNIT}s{_NO_MORE}", _past),
    (rf"past ()(week|month|year){_NO_MORE}", _past),
    (rf"last (week|month|year){_NO_MORE}", _last_unit),
    (rf"this (week|month|year){_NO_MORE}", _this_unit),
    (rf"last weekend{_NO_MORE}", lambda _, today: dates.last_weekend(today)),
    (rf"last {_WEEKDAY}{_NO_MORE}", _last_weekday),
    (rf"last {_SEASON}{_NO_MORE}", _last_season),
    (rf"this {_SEASON}{_NO_MORE}", _this_season),
    (rf"last {MONTH}(?!\w)", _last_month_named),
    (rf"this (?!(?-i:may)){MONTH}(?!\w)", _this_month_named),
)


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """Compiled by the first text that may hold one."""
    return tuple((re.compile(rf"\b{phrase}", re.IGNORECASE | re.ASCII), read) for phrase, read in _PHRASES)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word.lower()]


# --- times to come ---------------------------------------------------------------------------------------------------
_COMING_COUNTS = {"two": 2, "three": 3, "four": 4}
_COMING = (
    r"(?ai)\b(?:(?P<near>tonight|today|tomorrow)"
    rf"|(?P<which>this|next) (?:coming )?(?P<unit>weekend|week|month|year|{ANY_SEASON})"
    r"|in (?P<count>two|three|four|\d{1,3}) (?P<many>days|weeks|months)"
    rf"|(?:next )?(?P<weekday>{ANY_WEEKDAY}))\b"
)


def coming_dates(text: str, today: date) -> list[date]:
    """The last days of the times to come that a text names by their distance from today.

    >>> coming_dates("next month, and again in two weeks", date(2025, 3, 14))
    [datetime.date(2025, 4, 30), datetime.date(2025, 3, 28)]
    """
    found: list[date] = []
    for match in re.finditer(_COMING, text):
        with suppress(OverflowError, ValueError):  # beyond the calendar
            found.append(_coming_end(match, today))
    return found


def _coming_end(match: re.Match[str], today: date) -> date:
    said = {name: (value or "").lower() for name, value in match.groupdict().items()}
    later, unit = said["which"] == "next", said["unit"]
    if said["near"]:
        return dates.days_ago(today, -(said["near"] == "tomorrow")).end
    if said["weekday"]:
        return dates.next_weekday(today, dates.WEEKDAYS.index(said["weekday"])).end
    if said["many"]:
        count = _COMING_COUNTS.get(said["count"]) or int(said["count"])
        return dates.days_ago(today, -count * {"days": 1, "weeks": 7, "months": 31}[said["many"]]).end
    if unit in ("week", "weekend"):
        return dates.days_ago(today, today.weekday() - 6 - 7 * later).end
    if unit in ("month", "year"):
        months = today.month + later if unit == "month" else 12 * (1 + later)
        return whole_month(today.year + (months - 1) // 12, (months - 1) % 12 + 1).end
    seasons = [dates.season(today.year + ahead, unit) for ahead in range(-1, 3)]
    return next(one.end for one in seasons if (one.start > today if later else one.end >= today))


# --- other languages -------------------------------------------------------------------------------------------------
class _Means(Enum):
    """What a phrase says of the time: how long ago, since when, or which."""

    AGO = auto()
    PAST = auto()
    LAST = auto()
    THIS = auto()
    WEEKDAY = auto()
    WEEKDAY_OF_LAST_WEEK = auto()
    WEEKEND = auto()


_Phrase = tuple[str, "_Means | int"]  # a pattern with words in braces; a number: exactly so many days ago


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language tells times from today. One of `marks` is in each of its phrases.

    In phrases {unit} stands for a day, week, month or year, {span} for one of these but a day, {count} for a number
    and {weekday} for a day of the week. Words of `shared` are words of other languages as well, or names: they count
    where the text shows something that is `own` to this one.
    """

    marks: tuple[str, ...]
    units: Mapping[str, str]
    counts: Mapping[str, int]
    weekdays: tuple[str, ...]  # from Monday on, with other spellings after |
    phrases: tuple[_Phrase, ...]
    shared: tuple[_Phrase, ...] = ()
    own: str = ""
    unit_ending: str = ""
    edge: str = r"\b"
    digits: str = r"\d{1,3}"

    def pattern(self, phrase: str) -> re.Pattern[str]:
        """A phrase as what is looked for."""
        spans = [word for word, unit in self.units.items() if unit != "day"]
        parts = {
            "count": f"(?P<count>{_any_of(self.counts)}|{self.digits})",
            "unit": f"(?P<unit>{_any_of(self.units)}){self.unit_ending}",
            "span": f"(?P<unit>{_any_of(spans)}){self.unit_ending}",
            "weekday": f"(?P<weekday>{_any_of('|'.join(self.weekdays).split('|'))})",
        }
        for name, part in parts.items():
            phrase = phrase.replace(f"{{{name}}}", part)
        return re.compile(f"{self.edge}(?:{phrase}){self.edge}", re.IGNORECASE)

    def found(self, text: str) -> Iterator[tuple[re.Match[str], _Means | int]]:
        """The phrases that a text holds."""
        phrases, shared, own = _compiled(self.marks)
        for pattern, means in phrases:
            yield from ((match, means) for match in pattern.finditer(text))
        for pattern, means in shared:
            for match in pattern.finditer(text):
                rest = f"{text[: match.start()]} {text[match.end() :]}"
                if own.search(rest) or not rest.strip():
                    yield match, means

    def read(self, match: re.Match[str], means: _Means | int, today: date) -> DateSpan:
        """What a phrase that was found means."""
        if isinstance(means, int):
            return dates.days_ago(today, means)
        given = {name: (value or "").lower() for name, value in match.groupdict().items()}
        unit = self.units.get(given.get("unit", ""), "")
        count = given.get("count", "")
        number = int(count) if count.isdigit() else self.counts.get(count, 1)
        weekday = next((day for day, names in enumerate(self.weekdays) if given.get("weekday") in names.split("|")), 0)
        match means:
            case _Means.AGO:
                return dates.ago(today, number, unit)
            case _Means.PAST:
                return dates.past(today, number, unit)
            case _Means.LAST:
                return dates.last_unit(today, unit)
            case _Means.THIS:
                return dates.this_unit(today, unit)
            case _Means.WEEKDAY:
                return dates.last_weekday(today, weekday)
            case _Means.WEEKDAY_OF_LAST_WEEK:
                return dates.days_ago(dates.last_unit(today, "week").start, -weekday)
            case _Means.WEEKEND:
                return dates.last_weekend(today)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _numbers(words: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), 1)}


_GERMAN = _Language(
    marks=("gestern", "heute", "letzte", "vorige", "vergangene", "diese", "vor "),
    units={"tag": "day", "woche": "week", "monat": "month", "jahr": "year"},
    unit_ending="(?:e?n|e?s|e)?",
    counts=_numbers("ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
    | dict.fromkeys(("einem", "einer"), 1),
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    phrases=(
        (r"vorgestern", 2),
        (r"gestern", 1),
        (r"heute", 0),
        (r"vor {count} {unit}", _Means.AGO),
        # "die letzte Woche der Reise"
        (r"(?:letzt|vorig|vergangen)e[nrsm]? {span}\b(?! (?:de[rs]|vo[rnm]|im|in)\b)", _Means.LAST),
        (r"(?:die )?(?:letzt|vergangen)en {count} {unit}\b(?! (?:de[rs]|vo[rnm])\b)", _Means.PAST),
        (r"(?:letzt|vorig|vergangen)e[ns] wochenende\b(?! (?:de[rs]|vo[rnm]|im|in)\b)", _Means.WEEKEND),
        (r"(?:letzt|vorig|vergangen)en {weekday}\b(?! (?:de[rs]|vo[rnm]|im|in)\b)", _Means.WEEKDAY),
        (r"diese[nrsm]? {span}", _Means.THIS),
    ),
)
_FRENCH = _Language(
    marks=("hier", "aujourd", "derni", "passé", "il y a", "cette ", "ce mois"),
    units={"jour": "day", "semaine": "week", "mois": "month", "an": "year", "année": "year"},
    unit_ending="s?",
    counts=_numbers("un deux trois quatre cinq six sept huit neuf dix onze douze") | {"une": 1},
    weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    phrases=(
        (r"avant-hier", 2),
        (r"aujourd[’']hui", 0),
        # "Il y a sept jours dans une semaine."
        (r"il y a {count} {unit}\b(?! (?:dans|par|entre|où|en|de)\b)(?! d[’'])", _Means.AGO),
        # "l'année passée à Rome" was spent there
        (r"(?:le|la|l[’']) ?{span} (?:derni(?:er|ère)|passée?\b(?! (?:à|en|dans|chez|avec)\b))", _Means.LAST),
        (r"(?:(?:les|ces) )?{count} derni(?:er|ère)s {unit}\b(?! (?:de|du|des|avant)\b)(?! d[’'])", _Means.PAST),
        (r"(?:le )?week-?end (?:dernier|passé)", _Means.WEEKEND),
        (r"{weekday} (?:dernier|passé)", _Means.WEEKDAY),
        (r"(?:cette|ce) {span}(?:-ci)?", _Means.THIS),
    ),
    shared=((r"(?<!avant-)hier", 1),),  # German and Dutch for "here"
    own=r"[êèéàç]|\b(?:j|c|l|d|qu|n)[’']|\b(?:est|que|nous|une|au|avec|sur|dans|mon|ai|soir|matin)\b",
)
_SPANISH = _Language(
    marks=("ayer", "anoche", "hoy", "pasad", "hace ", "últim", "ultim", "esta semana", "este mes", "este año"),
    units={"día": "day", "dia": "day", "semana": "week", "mes": "month", "año": "year"},
    unit_ending="(?:e?s)?",
    counts=_numbers("un dos tres cuatro cinco seis siete ocho nueve diez once doce") | {"una": 1},
    weekdays=("lunes", "martes", "miércoles|miercoles", "jueves", "viernes", "sábado|sabado", "domingo"),
    phrases=(
        (r"anteayer|antes de ayer", 2),
        (r"anoche", 1),
        (r"hace {count} {unit}", _Means.AGO),
        (r"(?:la|el) {span} pasad[oa]", _Means.LAST),
        (r"(?:l[oa]s )?[uú]ltim[oa]s {count} {unit}\b(?! (?:del?|antes)\b)", _Means.PAST),
        (r"(?:el )?fin de semana pasado|el pasado fin de semana", _Means.WEEKEND),
        (r"(?:el )?{weekday} pasado", _Means.WEEKDAY),
        (r"el pasado {weekday}", _Means.WEEKDAY),
        (r"est[ae] {span}", _Means.THIS),
    ),
    shared=((r"(?<!antes de )ayer", 1), (r"hoy(?! en d[ií]a)", 0)),  # a philosopher, a shout
    own=r"[áéíóúñ¿¡]|\b(?:que|el|la|los|las|del|en|con|una|por|mi|me|se|lo|yo|dije|hice|fui)\b",
)
_WEEK = "周|週|星期|礼拜|禮拜"
_NOT_OF_A_WEEK = "(?![边邊围圍期长長岁歲计計])"
_CHINESE = _Language(
    marks=("天", "昨", "今", "周", "週", "星期", "礼拜", "禮拜", "月", "年"),
    units={"天": "day"} | dict.fromkeys(_WEEK.split("|"), "week") | {"月": "month", "年": "year"},
    counts=_numbers("一 二 三 四 五 六 七 八 九 十 十一 十二") | {"两": 2, "兩": 2},
    weekdays=("一", "二", "三", "四", "五", "六", "日|天"),
    edge="",
    digits=r"(?<!\d)\d{1,2}",
    phrases=(
        (r"(?<![以之目提当當空眼跟面])前天(?![气氣天])", 2),
        (r"昨[天晚日]", 1),
        (r"今[天晚早]", 0),
        # 三天前往 (left on the third day), 2020年前 (before 2020), 第三天前, 几天前
        (
            r"(?<![第数數几幾一二三四五六七八九十百\d]){count}[个個]?{unit}[以之]?前(?![往台臺后後端面提景夕进進])",
            _Means.AGO,
        ),
        (r"(?:过去|過去|最近)的?{count}[个個]?{unit}", _Means.PAST),
        (rf"(?<!以)上[个個]?(?:{_WEEK}){{weekday}}", _Means.WEEKDAY_OF_LAST_WEEK),
        (rf"(?<!以)上[个個]?(?:{_WEEK})末", _Means.WEEKEND),
        (rf"(?<!以)上[个個]?(?P<unit>{_WEEK}){_NOT_OF_A_WEEK}(?![一二三四五六日天末])", _Means.LAST),
        (r"(?<![以登])上[个個]?(?P<unit>月)(?![球亮台臺])", _Means.LAST),
        (r"(?<![过過])去(?P<unit>年)(?!代)", _Means.LAST),
        (rf"[这這本][个個]?(?P<unit>{_WEEK}){_NOT_OF_A_WEEK}(?![一二三四五六日天末])", _Means.THIS),
        (r"[这這本][个個]?(?P<unit>月)(?![球亮台臺])", _Means.THIS),
        (r"今(?P<unit>年)", _Means.THIS),
    ),
)
_LANGUAGES = {language.marks: language for language in (_GERMAN, _FRENCH, _SPANISH, _CHINESE)}


def spans_named(text: str, today: date) -> Iterator[tuple[int, int, DateSpan]]:
    """Where each phrase of these languages begins and ends, and what it means."""
    lowered = text.lower()
    for language in _LANGUAGES.values():
        if any(mark in lowered for mark in language.marks):
            for match, means in language.found(text):
                with suppress(ValueError, OverflowError):  # before the year 1
                    yield (*match.span(), language.read(match, means, today))


def only_span(text: str, today: date) -> DateSpan | None:
    """The span of a text that is nothing but such a phrase."""
    found = (span for start, end, span in spans_named(text, today) if (start, end) == (0, len(text)))
    return next(found, None)


_Compiled = tuple[tuple[re.Pattern[str], _Means | int], ...]


@cache
def _compiled(marks: tuple[str, ...]) -> tuple[_Compiled, _Compiled, re.Pattern[str]]:
    """The phrases of a language, made when a text first needs them."""
    language = _LANGUAGES[marks]
    phrases, shared = (
        tuple((language.pattern(phrase), means) for phrase, means in given)
        for given in (language.phrases, language.shared)
    )
    return phrases, shared, re.compile(language.own, re.IGNORECASE)
