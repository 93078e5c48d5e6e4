"""`recollect summaries`, as a stranger reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faces.conftest import CommandLine


@pytest.fixture
def told(run: CommandLine, derived_store: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.setenv("RECOLLECT_STORE", str(derived_store))
    return run


def test_one_conversation_with_its_parts_newest_first(told: CommandLine) -> None:
    shown = told("summaries", "full stack", "--parts")
    assert shown.code == 0
    assert "Full Stack App Planning  l1 4, 13 Jan 2024, 5 exchanges, quoted" in shown.out
    assert shown.out.index("l1 4,") < shown.out.index("l1 1,")
    assert "Full Stack App Planning  conversation, 13 Jan 2024, 50 messages, quoted" in shown.out
    assert "l2 1," in shown.out
    assert "you: Right, schema is clear." in shown.out
    assert "about            refresh token, JWT" in shown.out


def test_periods_by_date(told: CommandLine) -> None:
    shown = told("summaries", "--kind", "period", "--since", "2024-01-13", "--until", "2024-01-13")
    assert "day 2024-01-13  " in shown.out
    assert "month 2024-01  " in shown.out
    assert "day 2024-01-14" not in shown.out


def test_json_names_what_is_covered(told: CommandLine) -> None:
    document = told("summaries", "full stack", "--kind", "l2", "--json").document
    (block,) = document["summaries"]
    parts = told("summaries", "full stack", "--kind", "l1", "--json").document["summaries"]
    assert block["covers"] == [one["id"] for one in reversed(parts)][:3]
    assert block["extractive"] is True
    assert document["more"] is False


def test_what_is_cut_off_is_told(told: CommandLine) -> None:
    shown = told("summaries", "-n", "2")
    assert "More: add -n 4, or narrow down with --kind or --since." in shown.err


def test_a_wrong_kind_names_the_right_ones(told: CommandLine) -> None:
    shown = told("summaries", "--kind", "daily")
    assert shown.code == 2
    assert shown.err.startswith("--kind: 'daily' is not a choice. Use one of: conversation, l1, l2")


def test_without_any_it_says_how_to_get_them(run: CommandLine) -> None:
    run("remember", "Luna is allergic to chicken.")
    shown = run("summaries")
    assert shown.code == 1
    assert "There are no summaries yet." in shown.out
    assert "recollect worker --once" in shown.err
