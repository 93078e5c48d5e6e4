"""Agreement of two readers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.conftest import NAME, QUESTION, STATEMENT, write
from training.data.agreement import agreement, kappa, main, sample
from training.data.items import load


def _figures(data: Path, *second: dict[str, object]) -> dict[str, float]:
    return {figure.what: round(figure.value, 2) for figure in agreement(load(data)[0], second)}


def test_two_readers_who_say_the_same_agree(data: Path) -> None:
    figures = _figures(
        data,
        {"id": "W1-q-0001", "message": "roof-3"},
        {"id": "W1-s-0001", "kind": "preference", "value": "hates it"},
        {"id": "W1-f-0001", "needed": [[0, "roof"]]},
        {"id": "W1-n-0001", "marked": "[Ilse|person] is in [Porto|place]"},
    )
    assert set(figures.values()) == {1.0}
    assert len(figures) == 8


def test_two_readers_who_differ_do_not_agree(data: Path) -> None:
    figures = _figures(
        data,
        {"id": "W1-q-0001", "message": "roof-1"},
        {"id": "W1-s-0001", "kind": "home", "value": None},
        {"id": "W1-f-0001", "needed": []},
        {"id": "W1-n-0001", "marked": "[Ilse|person] is in Porto"},
    )
    assert figures.pop("names: strict F1") == 0.67
    assert set(figures.values()) == {0.0}


def test_also_none_and_topic_have_their_own_right_answers(data: Path) -> None:
    also = QUESTION | {"also": ["roof-2"]}
    none = {"id": "W1-q-0002", "kind": "none", "question": "x", "archive": "road", "language": "en"}
    topic = none | {"id": "W1-q-0003", "kind": "topic", "conversation": "roof"}
    write(data, "train", "questions", "W1", also, none, topic)
    figures = _figures(
        data,
        {"id": "W1-q-0001", "message": "roof-2"},
        {"id": "W1-q-0002", "message": None},
        {"id": "W1-q-0003", "conversation": "roof"},
    )
    assert set(figures.values()) == {1.0}
    assert _figures(data, {"id": "W1-q-0002", "message": "roof-1"})["questions: answering message"] == 0.0


def test_a_question_about_what_was_before_is_answered_by_the_old_message(data: Path) -> None:
    write(data, "train", "questions", "W1", QUESTION | {"asks": "before"})
    assert _figures(data, {"id": "W1-q-0001", "message": "roof-1"})["questions: answering message"] == 1.0
    assert _figures(data, {"id": "W1-q-0001", "message": "roof-3"})["questions: answering message"] == 0.0


def test_a_value_is_compared_word_by_word(data: Path) -> None:
    figures = _figures(data, {"id": "W1-s-0001", "kind": "preference", "value": "hates"})
    assert figures["statements: value, token F1"] == 0.67


def test_kappa_takes_chance_away() -> None:
    assert kappa([("a", "a"), ("a", "a"), ("b", "b"), ("a", "b")]) == pytest.approx(0.5)


def test_a_sample_is_a_fifth_without_labels(data: Path) -> None:
    many = [STATEMENT | {"id": f"W1-s-{number:04}"} for number in range(1, 11)]
    write(data, "train", "statements", "W1", *many)
    items = load(data)[0]
    drawn = sample(items, "train", "statements")
    assert len(drawn) == 2
    assert set(drawn[0]) == {"id", "language", "before", "text"}
    assert drawn == sample(items, "train", "statements")
    assert sample(items, "kept", "statements") == []


def test_the_command_prints_a_table_and_refuses_unknown_ids(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = write(data, "", "second", "R1", {"id": NAME["id"], "marked": NAME["text"]})
    assert main(["--data", str(data), "--table"]) == 0
    assert "| names: strict F1 | 0.00 | 1 |" in capsys.readouterr().out
    second.write_text('{"id": "gone"}\n', encoding="utf-8")
    assert main(["--data", str(data)]) == 1
