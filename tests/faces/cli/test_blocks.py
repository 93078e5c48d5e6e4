"""Code and tables stay what they are."""

from __future__ import annotations

from recollect.faces.cli.transcript import lines_of

TABLE = "| step | time |\n|---|--:|\n| mix flour and water | 3 min |\n| rest | 40 min |"


def test_the_columns_of_a_table_are_in_line() -> None:
    assert [line for line, _ in lines_of(f"So:\n{TABLE}\nDone", 80)] == [
        "So:",
        "step                | time",
        "--------------------+-------",
        "mix flour and water | 3 min",
        "rest                | 40 min",
        "Done",
    ]


def test_a_table_too_wide_stays_as_it_was_written() -> None:
    assert [line for line, _ in lines_of(TABLE, 20)] == TABLE.split("\n")


def test_code_is_not_wrapped_and_a_pipe_in_it_is_no_table() -> None:
    lines = list(lines_of("Try:\n```sh\n| grep x |\n```\nthen wait", 40))
    assert lines == [("Try:", False), ("```sh", True), ("| grep x |", True), ("```", True), ("then wait", False)]
