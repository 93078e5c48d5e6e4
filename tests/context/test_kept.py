"""What was handed out holds as long as nothing that stands in it was reworded, deleted or forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory

SECRET = "The codeword of the vault in Porto is Xyzzy, decided on Monday; we must never lose it."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with recollect.open(tmp_path / "memory.db", durable=False, background=False) as memory:
        yield memory


def told(memory: Memory, begin: int, end: int) -> None:
    """Messages about a vault, of which one tells a secret, with their summaries."""
    for n in range(begin, end):
        words = SECRET if n == 4 else f"The vault of Porto has room {n} where Anna keeps the spoons of her {n}th aunt."
        memory.store_message(words, "assistant" if n % 2 else "user", conversation_id="V", id=f"V-{n}")
    memory.upkeep.consolidate()


@pytest.mark.parametrize("change", ["reword", "delete", "forget"])
@pytest.mark.parametrize("kind", ["conversation", "l1"])
def test_a_summary_holds_until_what_it_was_made_of_is_changed(memory: Memory, kind: str, change: str) -> None:
    told(memory, 0, 24)
    ids = [one.id for one in memory.summaries("V") if one.kind == kind and "Xyzzy" in one.text]
    assert ids
    before = memory.integration.fingerprint(ids)
    told(memory, 24, 48)
    assert memory.integration.fingerprint(ids) == before  # what is said since is not what was handed out
    if change == "reword":
        memory.update_message("V-4", "The codeword is secret.")
    elif change == "delete":
        memory.delete("V-4")
    else:
        memory.forget("V-4")
    memory.upkeep.consolidate()
    assert memory.integration.fingerprint(ids) != before


def test_a_title_that_goes_is_not_sent_again(memory: Memory) -> None:
    memory.store_message(SECRET, conversation_id="V", id="V-0", title="The codeword of the vault …")
    memory.store_message("Anna keeps spoons there.", conversation_id="V", id="V-1")
    before = memory.integration.fingerprint(["V-1"])
    memory.forget("V-0")
    assert memory.integration.fingerprint(["V-1"]) != before
