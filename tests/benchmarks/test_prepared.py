from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import quality
from benchmarks.asking import ask
from benchmarks.datasets import DataSet, public_set
from benchmarks.prepared import Prepared, key


@pytest.fixture
def friends(tmp_path: Path) -> DataSet:
    """Two histories, each with a message about a telescope, so that a leak between them would show."""
    path = tmp_path / "friends-dev.json"
    path.write_text(json.dumps({"conversations": [_history("x", "Ada", "Saturn"), _history("y", "Ben", "Mars")]}))
    return public_set(path)


def _history(name: str, speaker: str, planet: str) -> dict[str, object]:
    texts = ["The bread was flat.", f"The telescope showed {planet} last night.", "We need new tyres."]
    messages = [
        {"id": f"{name}/{i}", "session": 1, "date": "8 May 2023", "role": "user", "speaker": speaker, "content": text}
        for i, text in enumerate(texts)
    ]
    questions = [{"question": "What did the telescope show?", "category": "1", "evidence": [f"{name}/1"]}]
    return {"id": name, "messages": messages, "questions": questions}


def test_a_prepared_set_is_made_once_and_asked_history_by_history(friends: DataSet, tmp_path: Path):
    cache = tmp_path / "cache"

    for _ in range(2):
        outcomes = list(ask(friends, Prepared(friends, cache), "instant", str))
        assert [(o.message, o.session, o.origin) for o in outcomes] == [(1, 1, "friends-dev")] * 2

    (made,) = (cache / "stores").iterdir()
    assert made.name == f"friends-dev-{key(friends)}"


def test_the_command_saves_a_result_and_compares_with_it(
    friends: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("RECOLLECT_BENCH_CACHE", str(tmp_path / "cache"))
    asked = ["--data", str(tmp_path), "--sets", friends.name, "--together"]

    assert quality.main([*asked, "--save", str(tmp_path / "kept")]) == 0
    assert quality.main([*asked, "--opening", "--against", str(tmp_path / "kept")]) == 0

    told = capsys.readouterr().out
    assert told.count("| friends-dev | 2 | 50.0 | 100.0 [100-100] |") == 2  # either planet may come first
    assert "| friends-dev | 2 | +0.0 [0.0, 0.0] |" in told


def test_another_arrangement_is_another_store(friends: DataSet):
    assert key(friends) != key(friends.joined())
