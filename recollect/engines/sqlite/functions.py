"""What our statements call: functions of Python that every connection knows."""

from __future__ import annotations

from typing import Any

import apsw
import orjson


def fold(*texts: Any) -> str:
    """A text for comparing, whatever the case: its only argument."""
    return str(texts[0]).casefold()


def words_held(*values: Any) -> int:
    """How many words a text holds: its arguments are the text and a JSON list of folded words."""
    text, words = values
    folded = fold(text)
    return sum(word in folded for word in orjson.loads(words))


def add_functions(connection: apsw.Connection) -> None:
    """Makes them known by their names."""
    connection.create_scalar_function("fold", fold, 1, deterministic=True)
    connection.create_scalar_function("words_held", words_held, 2, deterministic=True)
