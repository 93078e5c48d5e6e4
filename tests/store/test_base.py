"""The port: whoever writes another engine reads this one file."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from recollect.store import Space, Store, View, base

LIMIT = 250  # lines: what is read in one go


def calls(port: type) -> dict[str, object]:
    return {name: value for name, value in vars(port).items() if not name.startswith("_") and not is_field(value)}


def is_field(value: object) -> bool:
    return not (inspect.isfunction(value) or isinstance(value, property))


def test_it_is_one_short_file() -> None:
    assert len(Path(base.__file__).read_text("utf-8").splitlines()) < LIMIT


@pytest.mark.parametrize("port", [Store, Space, View])
def test_every_call_says_what_it_does(port: type) -> None:
    assert port.__doc__
    assert calls(port)
    assert [name for name, call in calls(port).items() if not (call.__doc__ or "").strip()] == []
