"""Models by name, prices, and `recollect.open`: nothing is asked that was not set, and never more than the budget."""

from __future__ import annotations

import json
from importlib import machinery, util
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import InvalidInput, ModelError
from recollect.memory.settings import load_settings, places
from recollect.models.language.base import BudgetSpent, Price, price
from recollect.models.language.budget import FILE
from recollect.models.language.choose import open_model, split_spec
from recollect.models.language.prompts import request
from tests.models.language.wire_server import WireServer, says


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "RECOLLECT_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("", ("", "", None)),
        ("none", ("", "", None)),
        ("anthropic:claude-haiku-5-5", ("anthropic", "claude-haiku-5-5", None)),
        ("openai:llama3.2:3b", ("openai", "llama3.2:3b", None)),
        ("openai:llama3.2@http://localhost:11434/v1", ("openai", "llama3.2", "http://localhost:11434/v1")),
        ("openai:@cf/meta/llama@https://host/v1", ("openai", "@cf/meta/llama", "https://host/v1")),
    ],
)
def test_names_say_provider_model_and_server(spec: str, parts: tuple[str, str, str | None]) -> None:
    assert split_spec(spec) == parts


@pytest.mark.parametrize("spec", ["claude", "anthropic:", "anthropic", "mistral:large", "openai: @http://host/v1"])
def test_other_names_are_answered_with_the_choices(spec: str) -> None:
    with pytest.raises(InvalidInput, match="anthropic:model"):
        open_model(spec)


def test_a_model_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str, *more: Any) -> machinery.ModuleSpec | None:
        return None if name == "anthropic" else util.find_spec(name, *more)

    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setattr("recollect.models.language.talk.find_spec", found)
    with pytest.raises(ModelError, match=r"pip install \"recollect\[anthropic\]\""):
        open_model("anthropic:claude-haiku-5-5")
    assert open_model("anthropic:claude-haiku-5-5", check=False) is not None


def test_a_key_that_is_merely_there_asks_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "found")
    monkeypatch.setenv("OPENAI_API_KEY", "found")
    assert load_settings(where=places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)).background_model == ""
    with recollect.open(tmp_path / "memory.db") as memory:
        assert memory.handle.model is None


def test_a_handle_with_a_model_is_counted_and_bounded(
    server: WireServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RECOLLECT_DAILY_CALLS", "3")
    good = {"title": "Luna", "summary": "Luna is allergic to chicken.", "open": []}
    server.otherwise = lambda _: says(good)
    with recollect.open(tmp_path / "memory.db", model=f"openai:test@{server.root}/v1") as memory:
        model = memory.handle.model
        assert model is not None
        assert model.complete(request("conversation", "x")).data == good
        assert model.complete(request("conversation", "x")).cost is None
        with pytest.raises(BudgetSpent):
            model.complete(request("conversation", "x"))
    assert len(server.bodies) == 2
    assert (tmp_path / "home" / "spending.db").exists()


def test_a_model_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    class Own:
        name = "own"

        def complete(self, request: Any) -> Any:
            raise AssertionError

    with recollect.open(tmp_path / "memory.db", model=Own()) as memory:
        assert memory.handle.model is not None
        assert memory.handle.model.name == "own"


def test_a_model_that_cannot_be_asked_leaves_no_store_open(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY"):
        recollect.open(tmp_path / "memory.db", model="anthropic:claude-haiku-5-5")
    assert not (tmp_path / "memory.db").exists()


def test_prices_are_found_by_name_dated_names_too(tmp_path: Path) -> None:
    assert price("anthropic:claude-haiku-5-5") == Price(0.1, 0.5)
    assert price("anthropic:claude-haiku-4-5-20251001") == Price(1.0, 5.0)
    assert price("openai:gpt-6-luna-2026-09-22") == Price(0.1, 0.5)
    assert price("openai:gpt-6-lunatic") is None
    assert price("openai:llama3.2@http://localhost:11434/v1") is None
    own = tmp_path / FILE
    own.write_text('"openai:llama3.2@http://localhost:11434/v1" = { input = 0, output = 0 }\n')
    assert price("openai:llama3.2@http://localhost:11434/v1", own) == Price(0, 0)


@pytest.mark.parametrize("text", ["not toml", '"a" = 3', '"a" = { input = 1 }', '"a" = { input = -1, output = 0 }'])
def test_a_table_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    own = tmp_path / FILE
    own.write_text(text)
    with pytest.raises(InvalidInput, match="table of prices"):
        price("anthropic:claude-haiku-5-5", own)


def test_the_settings_of_models_are_read_and_checked(tmp_path: Path) -> None:
    where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
    where.config.write_text(
        'background_model = "anthropic:claude-haiku-5-5"\ndaily_cost = 0.25\ndaily_calls = "unlimited"\n'
    )
    settings = load_settings(environment={"RECOLLECT_MODEL": "none", "RECOLLECT_DAILY_TOKENS": "5000"}, where=where)
    assert (settings.model, settings.background_model) == ("", "anthropic:claude-haiku-5-5")
    limits = settings.limits
    assert (limits.calls, limits.tokens, limits.cost) == (None, 5000, 0.25)


@pytest.mark.parametrize(
    ("name", "value"),
    [("model", "gpt"), ("daily_calls", "1.5"), ("daily_calls", "-1"), ("daily_cost", "nan"), ("daily_cost", "much")],
)
def test_settings_that_cannot_be_used_are_told(tmp_path: Path, name: str, value: str) -> None:
    where = places({"RECOLLECT_HOME": str(tmp_path)}, tmp_path)
    with pytest.raises(InvalidInput, match=f"RECOLLECT_{name.upper()}"):
        load_settings(environment={f"RECOLLECT_{name.upper()}": value}, where=where)


def test_the_statistics_tell_what_was_spent_on_this_namespace(
    server: WireServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from recollect.faces.cli.main import main

    server.otherwise = lambda _: says({"title": "Luna", "summary": "Allergic.", "open": []}, usage=(1000, 200))
    spec = f"openai:test@{server.root}/v1"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "prices.toml").write_text(f'"{spec}" = {{ input = 1.0, output = 5.0 }}\n')
    store = tmp_path / "memory.db"
    for namespace, times in (("acme/rex", 2), ("acme/luna", 1)):
        with recollect.open(store, namespace=namespace, model=spec) as memory:
            memory.store_message("Hello")
            assert memory.handle.model is not None
            for _ in range(times):
                memory.handle.model.complete(request("conversation", "x"))
    assert main(["stats", "--store", str(store), "--namespace", "acme/rex"]) == 0
    shown = capsys.readouterr().out
    assert "model calls        2 (2,400 tokens), $0.0040" in shown
    assert "  conversation     2 (2,400 tokens), $0.0040" in shown
    assert main(["stats", "--json", "--store", str(store), "--namespace", "acme/luna"]) == 0
    [spent] = json.loads(capsys.readouterr().out)["models"]
    assert (spent["kind"], spent["calls"], spent["cost"]) == ("conversation", 1, pytest.approx(0.002))
