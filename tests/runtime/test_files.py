"""Places: a path is a file, an address a server, and no password is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.engines import credentials
from recollect.errors import InvalidInput
from recollect.runtime.files import Address, read_address, read_place


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("neo4j://localhost", "neo4j://localhost"),
        ("neo4j+s://Graph.example:7687", "neo4j+s://graph.example:7687"),
        ("bolt://[::1]:7687/", "bolt://[::1]:7687"),
        ("neo4j://ana:secret@host:1/chats", "neo4j://host:1/chats"),
    ],
)
def test_an_address_is_shown_without_user_and_password(text: str, shown: str) -> None:
    assert str(read_address(text)) == shown
    assert "secret" not in repr(read_address(text))


def test_user_and_password_are_unquoted() -> None:
    address = read_address("neo4j://a%40b:p%2F%23%C3%A9%25@host")
    assert (address.user, address.password) == ("a@b", "p/#é%")


def test_what_is_no_address_is_a_file_below_the_base(tmp_path: Path) -> None:
    assert read_place("memory.db", tmp_path) == tmp_path / "memory.db"
    assert isinstance(read_place("bolt://host", tmp_path), Address)


@pytest.mark.parametrize(
    "text",
    [
        "neo4j://",
        "neo4j://ana:secret@",
        "neo4j://ana:sec/secret@host",
        "neo4j://ana:1/secret@host:7687",
        "neo4j://ana:sec#secret@host",
        "neo4j://ana:sec?secret@host",
        "neo4j://ana:[secret@host",
        "neo4j://ana:secret\u2100@host",
        "neo4j://ana:secret@host:port",
        "neo4j://ana:secret@host/a/b",
        "neo4j://host?policy=secret",
        "https://ana:secret@host",
        "ana:secret@host://x",
        "ana:secret@host",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_address(text)
    assert "secret" not in str(refused.value)
    assert refused.value.hint


def test_an_address_outranks_the_environment() -> None:
    environment = {"NEO4J_USER": "ben", "NEO4J_USERNAME": "eve", "NEO4J_PASSWORD": "known"}
    assert credentials(read_address("bolt://ana:told@host"), environment) == ("ana", "told")
    assert credentials(read_address("bolt://host"), environment) == ("ben", "known")
    assert credentials(read_address("bolt://host"), {"NEO4J_USERNAME": "eve", "NEO4J_PASSWORD": "x"}) == ("eve", "x")
    assert credentials(read_address("bolt://host"), {"NEO4J_PASSWORD": "x"}) == ("neo4j", "x")
    assert credentials(read_address("bolt://host"), {}) is None
