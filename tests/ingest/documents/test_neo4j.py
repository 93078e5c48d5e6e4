"""The same on Neo4j: documents imported, found, replaced, forgotten; a framework's files and items."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import recollect
from recollect.frameworks.openai_agents import RecollectSession

HANDBOOK = "# Travel\n\nHow we go.\n\n## Trains\n\nTickets of the Brennero line are paid back within ten days.\n"


def test_documents_and_frameworks_on_neo4j(neo4j_place: str, tmp_path: Path) -> None:
    path = tmp_path / "travel.md"
    path.write_text(HANDBOOK, encoding="utf-8")
    with recollect.open(neo4j_place) as memory:
        assert memory.import_documents(tmp_path).new == 1
        assert memory.search("Brennero tickets").documents[0].cited == "travel.md, Travel > Trains"
        assert memory.import_documents(tmp_path).unchanged == 1
        path.write_text(HANDBOOK.replace("Brennero", "Ligurian"), encoding="utf-8")
        assert memory.import_documents(tmp_path).changed == 1
        assert not memory.search("Brennero").documents
        assert memory.search("Ligurian").documents
        path.unlink()
        assert memory.import_documents(tmp_path).removed == ["travel.md"]
        assert memory.forget(memory.document("travel.md").id).documents == 1
        assert not memory.search("Ligurian").documents

        session = RecollectSession("user-7", memory)
        items = [{"role": "user", "content": "Where is the boat?"}, {"role": "assistant", "content": "At pier nine."}]
        asyncio.run(session.add_items(items))
        assert asyncio.run(session.get_items()) == items
        assert asyncio.run(session.pop_item()) == items[1]
        assert asyncio.run(session.get_items(5)) == items[:1]
        _claude(memory)
        assert not memory.upkeep.check()


def _claude(memory: recollect.Memory) -> None:
    pytest.importorskip("anthropic.lib.tools", reason="anthropic is not installed")
    from recollect.frameworks.claude_memory import RecollectMemoryTool

    tool = RecollectMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "No sugar, ever.\n"})
    assert memory.search("sugar").documents[0].cited == "/memories/tea.md, line 1"
    tool.call({"command": "delete", "path": "/memories/tea.md"})
    assert not memory.search("sugar").documents
