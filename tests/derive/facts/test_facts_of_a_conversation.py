"""The facts that the messages of one conversation prove."""

from __future__ import annotations

from pathlib import Path

import recollect


def test_only_what_its_messages_prove(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", background=False) as memory:
        memory.store_message("I work at Kartona.", conversation_id="work")
        memory.store_message("I live in Lisbon.", conversation_id="home")
        memory.upkeep.consolidate()
        at_work = {fact.content for fact in memory.facts(conversation="work")}
        at_home = {fact.content for fact in memory.facts(conversation="home")}
        every = {fact.content for fact in memory.facts()}
        assert memory.facts(conversation="nowhere") == []
    assert at_work
    assert at_home
    assert at_work | at_home == every
    assert not at_work & at_home
