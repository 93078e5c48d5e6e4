"""`recollect secrets` and `recollect forget --secrets`: listed without their words, taken out when it is agreed to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recollect
from tests.faces.conftest import CommandLine
from tests.secret_values import AWS, OPENAI


@pytest.fixture
def own(run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line on a memory with two keys in three messages."""
    store = tmp_path / "memory.db"
    with recollect.open(store, background=False) as memory:
        memory.store_message(f"my key is {OPENAI}", title=f"Set-up with {OPENAI[:20]}", id="A", conversation_id="C")
        memory.store_message(f"{AWS} and once more {AWS}", "assistant", conversation_id="C", id="B")
        memory.store_message("nothing here", conversation_id="D", id="E")
    monkeypatch.setenv("RECOLLECT_STORE", str(store))
    return run


def test_secrets_are_listed_by_source(own: CommandLine) -> None:
    shown = own("secrets").out
    assert "OpenAI key" in shown
    assert "AWS access key (2 times)" in shown
    assert "3 secrets" in shown
    assert OPENAI[:16] not in shown
    assert AWS not in shown
    listed = json.loads(own("secrets", "--json").out)["secrets"]
    assert {(one["id"], one["kind"], one["count"]) for one in listed} == {
        ("A", "OpenAI key", 1),
        ("B", "AWS access key", 2),
    }


def test_nothing_goes_in_a_dry_run_or_without_a_yes(own: CommandLine) -> None:
    assert "2 secrets from 2 messages" in own("forget", "--secrets", "--dry-run").out
    refused = own("forget", "--secrets")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert len(json.loads(own("secrets", "--json").out)["secrets"]) == 2


def test_secrets_are_forgotten(own: CommandLine) -> None:
    done = json.loads(own("forget", "--secrets", "--yes", "--json").out)
    assert done == {
        "removed": True,
        "secrets": 2,
        "kinds": {"AWS access key": 1, "OpenAI key": 1},
        "messages": 2,
        "others": 0,
    }
    assert own("secrets").code == 1
    assert "[secret: AWS access key] and once more [secret: AWS access key]" in own("show", "C").out


def test_what_else_is_chosen_is_refused(own: CommandLine) -> None:
    refused = own("forget", "--secrets", "C", "--yes")
    assert refused.code == 2
    assert "--secrets" in refused.err
