"""Appointments, plans and habits."""

from __future__ import annotations

import re

from recollect.derive.facts.claim import Category
from recollect.derive.facts.rules.predicate import WEEKDAY, WHEN, Predicate, predicate
from recollect.derive.facts.rules.words import is_technical


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
