"""The user ids that namespaces of 0.2.0 were made of."""

from __future__ import annotations

import re

import pytest

from recollect.engines.plans import renamed, user_of
from recollect.record import Namespace, namespace_part, stable_id


def named_by_0_2_0(user: str) -> str:
    fit = re.sub(r"[^\w.@+-]+", "-", user).strip("-")[:60] or "one"
    return f"user/{fit}" if fit == user else f"user/{fit}-{stable_id('name', user)[-6:].lower()}"


@pytest.mark.parametrize(
    "user",
    ["Anna Smith", "auth0|5f7c8ec7c33c6c004bbafe82", "google-oauth2|ann-marie", "Smith, Anna", "CORP\\anna", "o'brien"],
)
def test_an_id_is_found_by_its_digest(user: str) -> None:
    assert user_of(named_by_0_2_0(user)) == user


@pytest.mark.parametrize(
    "name",
    [
        *("user/mia", "user/customer-104233", "user/big-customer-104233", "project/Anna-Smith-h1g7e6"),
        *map(named_by_0_2_0, ("x" * 70, "a b c d e", "Anna \U0001f43c Smith", "<anna>")),
    ],
)
def test_what_is_not_sure_stays_what_it_is(name: str) -> None:
    assert user_of(name) is None
    assert list(renamed([Namespace(name)])) == []


def test_a_name_that_is_there_already_is_left_alone() -> None:
    before, today = Namespace("user/Anna-Smith-h1g7e6"), Namespace(f"user/{namespace_part('Anna Smith')}")
    assert list(renamed([before, Namespace("default")])) == [(before, today)]
    assert list(renamed([before, today])) == []
