"""The texts of `benchmarks.nothing`, and what is counted of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.datasets import DataSet, History, Question, Said, Session
from benchmarks.nothing import FILES, Held, Put, Text, ask, report, report_held, texts

MOMENT = datetime(2024, 5, 1, 9, tzinfo=UTC)
SAID = [f"The wind at buoy {number} was weak." for number in range(120)]
BUOYS = DataSet(
    "buoys",
    (
        History(
            "buoys",
            (
                Session(
                    "buoys-1",
                    "Buoys",
                    MOMENT,
                    tuple(
                        Said(f"b{number}", "user", None, text, MOMENT + timedelta(minutes=number))
                        for number, text in enumerate(SAID)
                    ),
                ),
            ),
            (
                Question("How was the wind at buoy 17?", "one", frozenset({"b17"}), "buoys"),
                Question("Explain photosynthesis to nephews", "one", frozenset({"b3"}), "buoys"),
            ),
        ),
    ),
)


@pytest.mark.parametrize("name", FILES)
def test_sixty_texts_fit_nothing_and_forty_ask_something(name: str) -> None:
    every = texts(name)
    assert [sum(one.fits is fits for one in every) for fits in (False, True)] == [60, 40]
    assert {one.archive for one in every} == {"sample", "locomo-dev", "beam-dev", "lifebench-en-dev"}


def test_no_text_is_in_both_files() -> None:
    seen, kept = ({one.text for one in texts(name)} for name in FILES)
    assert not seen & kept


def test_questions_are_asked_with_the_decision_and_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_BENCH_CACHE", str(tmp_path))
    found = list(ask(BUOYS, [1_000], None))
    assert found[0] == Held(1_000, True, True)
    assert not found[1].held
    assert len(list(ask(BUOYS, [1_000], 1))) == 1


def test_shares_are_those_of_the_texts() -> None:
    put = [
        Put(Text("sample", "hello", False, "greeting"), 0, 900),
        Put(Text("sample", "ok", False, "small talk"), 120, 900),
        Put(Text("sample", "lol", False, "small talk"), 900, 900),
        Put(Text("sample", "where", True, "asks"), 800, 800),
        Put(Text("sample", "when", True, "asks"), 0, 700),
    ]
    assert report({"seen": put}).splitlines()[-1] == "| seen, 3 and 2 | 67 % | 33 % | 120 | 0 % | 50 % | 400 |"
    held = [Held(2_000, True, True), Held(2_000, False, True)]
    assert report_held({"buoys": held}).splitlines()[-1] == "| buoys | 2,000 | 2 | 100.0 | 50.0 | -50.0 |"
