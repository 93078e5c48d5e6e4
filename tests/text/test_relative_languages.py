"""Times told from today in German, French, Spanish and Chinese; and sentences that only look so."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from recollect.search.query.question import read_question
from recollect.text.relative import parse_moment, relative_dates

FRIDAY = date(2025, 3, 14)

TIMES = {
    "gestern, hier, ayer, 昨天": ("2025-03-13", "2025-03-13"),
    "vorgestern, avant-hier, anteayer, 前天": ("2025-03-12", "2025-03-12"),
    "heute, aujourd’hui, hoy, 今天": ("2025-03-14", "2025-03-14"),
    "letzte Woche, la semaine dernière, la semana pasada, 上周": ("2025-03-03", "2025-03-09"),
    "vorige Woche, la semaine passée, 上个星期, 上週, 上星期": ("2025-03-03", "2025-03-09"),
    "diese Woche, cette semaine, esta semana, 这周, 本周, 这个星期": ("2025-03-10", "2025-03-14"),
    "letztes Wochenende, le week-end dernier, el fin de semana pasado, 上周末": ("2025-03-08", "2025-03-09"),
    "letzten Monat, le mois dernier, el mes pasado, 上个月, 上月": ("2025-02-01", "2025-02-28"),
    "diesen Monat, ce mois-ci, este mes, 这个月, 本月": ("2025-03-01", "2025-03-14"),
    "letztes Jahr, l'année dernière, l’an dernier, el año pasado, 去年": ("2024-01-01", "2024-12-31"),
    "dieses Jahr, cette année, este año, 今年": ("2025-01-01", "2025-03-14"),
    "vor zwei Wochen, il y a deux semaines, hace dos semanas, 两周前, 2个星期前": ("2025-02-25", "2025-03-03"),
    "vor drei Tagen, il y a 3 jours, hace tres días, 三天前, 3天之前": ("2025-03-11", "2025-03-11"),
    "vor einem Monat, il y a un mois, hace un mes, 一个月前": ("2025-01-30", "2025-03-01"),
    "vor einem Jahr, il y a un an, hace un año, 一年前": ("2023-09-14", "2024-09-12"),
    "die letzten 3 Monate, les 3 derniers mois, los últimos 3 meses, 过去3个月": ("2024-12-14", "2025-03-14"),
    "letzten Montag, lundi dernier, el lunes pasado": ("2025-03-10", "2025-03-10"),
    "letzten Freitag, vendredi dernier, el pasado viernes, 上周五": ("2025-03-07", "2025-03-07"),
    "上周一, 上个星期一": ("2025-03-03", "2025-03-03"),
}


@pytest.mark.parametrize(
    ("phrase", "first", "last"),
    [(phrase, *span) for phrases, span in TIMES.items() for phrase in phrases.split(", ")],
)
def test_times_are_counted_from_today(phrase: str, first: str, last: str) -> None:
    (span,) = relative_dates(phrase, FRIDAY)
    assert (span.start.isoformat(), span.end.isoformat()) == (first, last)
    assert parse_moment(phrase, FRIDAY, end=False) == datetime.fromisoformat(first).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Was habe ich letzte Woche über Brot gesagt?", "2025-03-03"),
        ("Welches Rezept war das im letzten Monat?", "2025-02-01"),
        ("Wen habe ich am vergangenen Wochenende getroffen?", "2025-03-08"),
        ("Qu’est-ce que j’ai dit hier sur le pain ?", "2025-03-13"),
        ("le plombier que j'ai appelé il y a deux jours", "2025-03-12"),
        ("¿Qué dije ayer sobre el pan?", "2025-03-13"),
        ("el fontanero al que llamé hace dos días", "2025-03-12"),
        ("我上周说了什么", "2025-03-03"),
        ("我两天前打电话给谁", "2025-03-12"),
        ("去年夏天我们去了哪里", "2024-01-01"),
    ],
)
def test_they_stand_in_questions(text: str, first: str) -> None:
    (span,) = relative_dates(text, FRIDAY)
    assert span.start.isoformat() == first


@pytest.mark.parametrize(
    "text",
    [
        "Was habe ich hier gesagt?",
        "Wat heb ik hier gezegd?",
        "die letzte Woche der Reise",
        "in der letzten Woche des Urlaubs",
        "am letzten Tag",
        "vor dem Umzug",
        "vor ein paar Tagen",
        "diese Tage",
        "der letzte Montag im Monat",
        "la dernière semaine du voyage",
        "les trois derniers jours du voyage",
        "Il y a sept jours dans une semaine.",
        "l’année passée à Rome",
        "récemment",
        "What did Ayer say of emotivism?",
        "hoy en día",
        "los últimos tres días del viaje",
        "目前天气怎么样",
        "以前天天下雨",
        "三天前往北京",
        "第三天前",
        "2020年前",
        "二十天前",
        "几天前",
        "上周期的数据",
        "这周边有什么",
        "这个周计划很清晰",
        "登上月球",
        "过去年代",
        "以上月份",
        "年月日",
        "the chateau is here, passe-partout, este",
    ],
)
def test_ordinary_sentences_name_no_time(text: str) -> None:
    assert relative_dates(text, FRIDAY) == ()


def test_a_question_seeks_what_it_is_about_and_not_when() -> None:
    asked = read_question("Was habe ich letzte Woche über Brot gesagt?", years=[2025], today=FRIDAY)
    assert asked.dates == relative_dates("letzte Woche", FRIDAY)
    assert "woch" not in " ".join(asked.terms)
    assert read_question("我上周说了面包", years=[2025], today=FRIDAY).clean == "我 说了面包"
