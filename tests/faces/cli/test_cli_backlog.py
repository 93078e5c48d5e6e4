"""What a model would cost is told before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.models.language.anthropic import AnthropicModel
from tests.faces.conftest import CommandLine

pytestmark = pytest.mark.slow

MODEL = "anthropic:claude-haiku-5-5"


@pytest.fixture(autouse=True)
def nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: object, request: object) -> None:
        raise AssertionError("a model was asked")

    monkeypatch.setattr(AnthropicModel, "complete", refused)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


def test_a_dry_run_tells_calls_tokens_cost_and_days(run: CommandLine, sample_archive: list[Path]) -> None:
    run("import", sample_archive[0])
    ran = run("worker", "--dry-run", "--model", MODEL)
    assert ran.code == 0
    assert f"{MODEL}: about " in ran.out
    assert " calls, " in ran.out
    assert "about $0." in ran.out
    told = run("worker", "--dry-run", "--model", MODEL, "--json").document
    assert told["calls"] > 10
    assert told["messages"] > 100
    assert 0 < told["cost"] < 1


def test_a_small_budget_is_told_in_days(
    run: CommandLine, sample_archive: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_DAILY_CALLS", "10")
    run("import", sample_archive[0])
    assert " days " in run("worker", "--dry-run", "--model", MODEL).out


def test_without_a_model_none_would_be_asked(run: CommandLine, sample_archive: list[Path]) -> None:
    run("import", sample_archive[0])
    assert "No language model is set" in run("worker", "--dry-run").out
    assert "No language model is set" in run("worker", "--dry-run", "--model", "none").out


def test_what_rules_made_is_counted_as_well(run: CommandLine, sample_archive: list[Path]) -> None:
    run("import", sample_archive[0])
    before = run("worker", "--dry-run", "--model", MODEL, "--json").document
    assert run("worker", "--once").code == 0
    after = run("worker", "--dry-run", "--model", MODEL, "--json").document
    assert after["conversations"] == before["conversations"]
    assert after["calls"] == before["calls"]


def test_an_import_that_leaves_work_for_a_model_tells_what_it_will_cost(
    run: CommandLine, sample_archive: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_BACKGROUND_MODEL", MODEL)
    monkeypatch.setenv("RECOLLECT_BACKGROUND", "true")
    monkeypatch.setattr("recollect.memory.background.process.Starter._start", lambda _: None)
    assert f"{MODEL}: about " in run("import", sample_archive[0]).err


def test_a_name_that_is_none_is_told(run: CommandLine, sample_archive: list[Path]) -> None:
    run("import", sample_archive[0])
    ran = run("worker", "--dry-run", "--model", "gpt")
    assert ran.code == 2
    assert "anthropic:model" in ran.err
