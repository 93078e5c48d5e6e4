"""The check of our own data finds each mistake that it promises to find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import ARCHIVE, FOLLOWUP, NAME, OLD, QUESTION, STATEMENT, write
from training.data.check import Checker, main, needs
from training.data.items import CannotFill, fill, fill_file, load


def test_right_items_have_no_errors(data: Path) -> None:
    assert Checker(data).run() == []


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "message"),
    [
        ("questions", QUESTION, {"start": 3}, "3..22 is"),
        ("questions", QUESTION, {"end": 99}, "outside of the text"),
        ("questions", QUESTION, {"message": "roof-9"}, "'roof-9' is not in road"),
        ("questions", QUESTION, {"conversation": "wall"}, "is in conversation roof"),
        ("questions", QUESTION, {"kind": "odd"}, "kind 'odd', use one of"),
        ("questions", QUESTION, {"old": None}, "old is missing"),
        ("questions", QUESTION | OLD, {"old": {k: v for k, v in QUESTION.items() if k in OLD}}, "swap them"),
        ("questions", QUESTION, {"language": "de"}, "add `cross: true`"),
        ("questions", QUESTION, {"cross": True}, "remove cross"),
        ("questions", QUESTION, {"archive": "beam/1"}, "which we are measured on"),
        ("questions", QUESTION, {"archive": "nowhere"}, "no archive 'nowhere'"),
        ("questions", QUESTION, {"kind": "none", "miss": "person", "near": "roof-1"}, "has no message"),
        ("questions", QUESTION, {"kind": "keywords", "question": "one two three four five"}, "1 to 4 words"),
        ("questions", QUESTION, {"id": "W2-q-0001"}, "write W1-q-0001"),
        ("questions", QUESTION, {"writer": "W2"}, "make them the same"),
        ("statements", STATEMENT, {"value": [0, 3, "Bob"]}, "is 'Ana', not 'Bob'"),
        ("statements", STATEMENT, {"value": None}, "value is missing"),
        ("statements", STATEMENT, {"whose": ""}, "whose is empty"),
        ("statements", STATEMENT, {"kind": "none"}, "kind none has value, whose"),
        ("statements", STATEMENT, {"rejected": [0, 3, "Ana"]}, "rejected belongs to decisions"),
        ("statements", STATEMENT, {"trap": "lie"}, "trap 'lie'"),
        ("followups", FOLLOWUP, {"needed": [[1, 0, 3, "who"]]}, "there is no turn 1"),
        ("followups", FOLLOWUP, {"needed": [[0, 0, 4, "roof"]]}, "is 'what', not 'roof'"),
        ("followups", FOLLOWUP, {"turns": []}, "turns are empty"),
        ("names", NAME, {"spans": [[0, 4, "city", "Ilse"]]}, "type 'city'"),
        ("names", NAME, {"spans": [[0, 7, "person", "Ilse is"], [5, 7, "tool", "is"]]}, "overlap"),
        ("names", NAME, {"spans": "none"}, "wrong form"),
    ],
)
def test_a_wrong_item_is_reported(data: Path, kind: str, right: Any, wrong: Any, message: str) -> None:
    path = write(data, "train", kind, "W1", right | wrong)
    errors = Checker(data).run()
    assert any(message in error and error.startswith(f"{path}:1: ") for error in errors), errors


def test_an_archive_that_cannot_be_read_is_reported_once(data: Path) -> None:
    write(data, "train", "questions", "W1", QUESTION | {"archive": "nowhere"}, QUESTION | {"archive": "nowhere"})

    assert sum("no archive 'nowhere'" in error for error in Checker(data).run()) == 1


def test_a_missing_field_and_a_broken_line_are_reported(data: Path) -> None:
    path = write(data, "train", "names", "W1", {"id": "W1-n-0001"})
    path.write_text(path.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    errors = Checker(data).run()
    assert any("language, spans, text, writer missing" in error for error in errors)
    assert any(f"{path}:2: not JSON" in error for error in errors)


def test_equal_and_nearly_equal_items_are_reported(data: Path) -> None:
    other = NAME | {"id": "W1-n-0002", "text": "Ilse is in porto!", "spans": []}
    long = "one two three four five six seven eight nine ten eleven"
    first, second = (
        NAME | {"id": f"W1-n-000{n}", "text": long + tail, "spans": []} for n, tail in ((3, ""), (4, " x"))
    )
    write(data, "train", "names", "W1", NAME, other, first, second)
    errors = Checker(data).run()
    assert len(errors) == 2
    assert "W1.jsonl:2: the same as" in errors[0]
    assert "W1.jsonl:4: 92% the same words" in errors[1]


def test_an_id_is_used_once(data: Path) -> None:
    write(data, "train", "names", "W1", NAME, NAME | {"text": "Nobody came yesterday evening", "spans": []})
    assert any("id W1-n-0001 is used in" in error for error in Checker(data).run())


def test_an_archive_a_writer_and_a_sentence_are_in_one_part(data: Path) -> None:
    write(
        data,
        "kept",
        "questions",
        "K1",
        QUESTION | {"id": "K1-q-0001", "writer": "K1", "question": "roof, the final sum?"},
    )
    errors = Checker(data).run()
    assert any("archive 'road' is in train and in kept" in error for error in errors)
    assert any("sentence 'he came down to 6 400' is in train and in kept" in error for error in errors)
    write(data, "dev", "names", "W1", NAME | {"id": "W1-n-0002", "text": "Nobody here", "spans": []})
    assert any("writer 'W1' is in" in error for error in Checker(data).run())


def test_an_archive_has_unique_ids_in_order(data: Path) -> None:
    messages = [ARCHIVE["messages"][2], *ARCHIVE["messages"][:1], *ARCHIVE["messages"][:1]]
    write(data, "train", "archives", "road", ARCHIVE | {"messages": messages})
    errors = Checker(data).run()
    assert any("roof-1 is used twice" in error for error in errors)
    assert any("not in order of time" in error for error in errors)


def test_counts_are_compared_with_what_is_required(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ("questions: changed", 1, 250) in needs(load(data)[0])
    assert main(["--data", str(data)]) == 0
    assert main(["--data", str(data), "--complete"]) == 1
    assert "miss questions: 1 of 2000" in capsys.readouterr().out


def test_words_are_turned_into_offsets(data: Path) -> None:
    bare = {k: v for k, v in QUESTION.items() if k not in ("start", "end", "conversation")}
    bare["old"] = {k: v for k, v in OLD.items() if k not in ("start", "end", "conversation")}
    assert fill("questions", bare, {}, data) == QUESTION
    assert fill("followups", FOLLOWUP | {"needed": [[0, "roof"]]}, {}) == FOLLOWUP
    assert fill("statements", STATEMENT | {"value": "hates it"}, {}) == STATEMENT
    path = write(data, "train", "names", "W1", {k: v for k, v in NAME.items() if k not in ("text", "spans")}
                 | {"marked": "[Ilse|person] is in [Porto|place]"})  # fmt: skip
    assert fill_file(path, data) == []
    assert Checker(data).run() == []


def test_words_that_occur_twice_are_not_guessed() -> None:
    with pytest.raises(CannotFill, match="there 2 times"):
        fill("followups", FOLLOWUP | {"turns": [{"role": "user", "text": "roof, roof"}], "needed": [[0, "roof"]]}, {})
