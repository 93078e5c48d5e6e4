"""Times told from today in other languages than English: "vor zwei Wochen", "la semaine dernière", "上周".

A table for each: its words for days, weeks, months and years, its numbers, and its phrases. Only what is sure is in
it: "la dernière semaine du voyage" or 目前天气 names no time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from functools import cache

from recollect.search.query import reckoning
from recollect.search.query.dates import DateSpan


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
            return reckoning.days_ago(today, means)
        given = {name: (value or "").lower() for name, value in match.groupdict().items()}
        unit = self.units.get(given.get("unit", ""), "")
        count = given.get("count", "")
        number = int(count) if count.isdigit() else self.counts.get(count, 1)
        weekday = next((day for day, names in enumerate(self.weekdays) if given.get("weekday") in names.split("|")), 0)
        match means:
            case _Means.AGO:
                return reckoning.ago(today, number, unit)
            case _Means.PAST:
                return reckoning.past(today, number, unit)
            case _Means.LAST:
                return reckoning.last_unit(today, unit)
            case _Means.THIS:
                return reckoning.this_unit(today, unit)
            case _Means.WEEKDAY:
                return reckoning.last_weekday(today, weekday)
            case _Means.WEEKDAY_OF_LAST_WEEK:
                return reckoning.days_ago(reckoning.last_unit(today, "week").start, -weekday)
            case _Means.WEEKEND:
                return reckoning.last_weekend(today)


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
