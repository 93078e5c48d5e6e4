"""Amounts are read whole, in English and in European form, and are equal in any spelling that is certain."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.derive.facts.claim import identity_of
from recollect.text.quantities import in_one_spelling, is_same, quantities, whole_quantity


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("from $1,200 to $1,350", ["1200", "1350"]),
        ("`$1,200` to `$1,350`", ["1200", "1350"]),
        ("1,234,567.89", ["1234567.89"]),
        ("1.200,50 € statt 1.350 €", ["1200.50", "1350"]),
        ("1 200,50 EUR", ["1200.50"]),
        ("1\u00a0200 kg", ["1200"]),
        ("CHF 1'200.50", ["1200.50"]),
        ("$1.2k, then €5 million", ["1200", "5000000"]),
        ("1,859 €/l", ["1.859"]),
        ("$3.499 per gallon", ["3.499"]),
        ("70,5 kg und 1.200 g", ["70.5", "1200"]),
        ("take 2 500 mg tablets", ["2", "500"]),
        ("-5 °C, 10-15 mg", ["-5", "10", "15"]),
        ("1/2 tablet, 2 1/2 cups", ["0.5", "2.5"]),
        ("COVID-19, a 3D print, the 1st, 5G, v2.3", ["19"]),
        ("room 12, 345 people", ["12", "345"]),
        ("体重60kg, 共1,200元", ["60", "1200"]),
    ],
)
def test_numbers_are_read_whole(text: str, numbers: list[str]) -> None:
    assert [n for one in quantities(text) for n in one.numbers] == [Decimal(n) for n in numbers]


@pytest.mark.parametrize(
    ("text", "kind", "unit", "currency", "per"),
    [
        ("15mg", "mass", "mg", "", ""),
        ("15 MG daily", "mass", "mg", "", "day"),
        ("15 mg/day", "mass", "mg", "", "day"),
        ("2.5-5 mg/kg/day", "mass", "mg", "", "kg/day"),
        ("10 mg/5 ml", "mass", "mg", "", "5 mL"),
        ("84 U/L", "concentration", "U", "", "L"),
        ("84 u/l", "concentration", "U", "", "L"),
        ("97 mg/dL", "concentration", "mg", "", "dL"),
        ("5,4 mmol/L", "concentration", "mmol", "", "L"),
        ("50 %", "percent", "%", "", ""),
        ("100 lbs", "mass", "lb", "", ""),
        ("12 weeks", "duration", "week", "", ""),
        ("2 h 30 min", "duration", "min", "", ""),
        ("5 ft 11 in", "length", "in", "", ""),
        ("5'11\"", "length", "in", "", ""),
        ("37.5°C", "temperature", "°C", "", ""),
        ("$2,400/month", "money", "", "$", "month"),
        ("USD 1200", "money", "", "USD", ""),
        ("1.200 Euro im Monat", "money", "", "EUR", "month"),
        ("5000 IU", "count", "IU", "", ""),
    ],
)
def test_units_and_currencies(text: str, kind: str, unit: str, currency: str, per: str) -> None:
    one = whole_quantity(text)
    assert one is not None
    assert (one.kind, one.unit, one.currency, one.per) == (kind, unit, currency, per)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.5 kg", "500 g", True),
        ("15mg", "15 mg", True),
        ("15 mg daily", "15 mg/day", True),
        ("fluoxetine 15mg", "fluoxetine 0.015 g", True),
        ("US$1,200", "USD 1200", True),
        ("€ 1.200,50", "1,200.50 EUR", True),
        ("2 weeks", "14 days", True),
        ("1 year", "12 months", True),
        ("5%", "5 percent", True),
        ("5'11\"", "71 inches", True),
        ("84 U/L", "84 u/l", True),
        ("$1,200", "USD 1200", False),  # or that of another country
        ("1.200 kg", "1,200 kg", False),
        ("1.200 kg", "1.2 kg", False),  # or 1,200 as in German
        ("3.10", "3.1", False),  # versions
        ("3/5/2024", "2024-03-05", False),
        ("15 mg", "15 mcg", False),
        ("15 mg/day", "15 mg/week", False),
        ("38 °C", "38 °F", False),
        ("1 month", "30 days", False),
        ("$3.459", "$3459", False),
        ("USD 1.085", "USD 1,085", False),
        ("EUR 1.085", "EUR 1,085", True),
        (".5 mg", "0.5 mg", True),
        ("−5", "-5", True),
    ],
)
def test_the_same_amount_in_another_spelling(one: str, other: str, same: bool) -> None:
    assert (in_one_spelling(one) == in_one_spelling(other)) is same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".5 mg", "5 mg"),
        (".5", "5"),
        ("−5", "5"),
        ("≤5 mg", "5 mg"),
        ("±5 kg", "5 kg"),
        ("10³", "103"),
        ("5 m²", "5 m2"),
    ],
)
def test_what_folding_leaves_out_is_kept_of_an_amount(one: str, other: str) -> None:
    assert identity_of("result", one) != identity_of("result", other)


def test_a_dash_behind_a_word_makes_a_number_negative() -> None:
    told = "it was -5 °C, then 3 -4 °C, page-5 or so...5 mg and .25 mg"
    assert [one.text for one in quantities(told)] == ["-5 °C", "3 -4 °C", "5", "5 mg", ".25 mg"]


def test_a_date_in_figures_is_one() -> None:
    found = quantities("on 2024-03-05, 5.3.2024, 13/5/2024 or 3/5/2024 at 14:30 with 4.2.1 at +49 170 1234567")
    assert [str(one.date or one.kind) for one in found] == [
        "2024-03-05", "2024-03-05", "2024-05-13", "date", "time of day", "name", "name"
    ]  # fmt: skip


def test_a_bare_number_is_the_same_as_one_with_a_unit() -> None:
    (bare,), (kilos,), (more,) = quantities("9"), quantities("9 kg"), quantities("10 kg")
    assert is_same(bare, kilos)
    assert not is_same(bare, more)


@given(st.text(alphabet="0123456789.,' /-:$€kgmgUL()a\u00a0µ°%", max_size=60))
def test_amounts_are_parts_of_the_text_in_order(text: str) -> None:
    at = 0
    for one in quantities(text):
        assert at <= one.start < one.end
        assert one.text == text[one.start : one.end]
        assert one.key
        at = one.end


@given(st.decimals(min_value=0, max_value=9_999_999, places=2))
def test_a_number_is_the_same_in_english_and_european_form(number: Decimal) -> None:
    english = f"{number:,.2f}"
    european = english.translate({ord(","): ".", ord("."): ","})
    for text in (english, european, european.replace(".", " "), english.replace(",", "'")):
        assert [n for one in quantities(f"{text} EUR") for n in one.numbers] == [number], text
