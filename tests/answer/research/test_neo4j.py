"""The same on Neo4j: a report is written, kept, proves nothing, is withdrawn and forgotten; what stopped goes on."""

from __future__ import annotations

import recollect

QUESTION = "compare the hydration of the sourdough with the glaze of the kiln"


def test_research_on_neo4j(neo4j_place: str) -> None:
    with recollect.open(neo4j_place, background=False) as memory:
        kept = memory.store_message("The sourdough is best at a hydration of 78 %, since 82 % turned to soup.")
        memory.store_message("The glaze of the kiln cracked at cone 6, so I fire it at cone 5.")
        report = memory.research(QUESTION)
        assert {citation.message.id for citation in report.citations} >= {kept.id}
        assert [saved.id for saved in memory.reports()] == [report.id]
        assert memory.document(report.id).content == report.text
        assert not [citation for citation in memory.research(QUESTION).citations if citation.cited]
        stream = memory.research_stream(QUESTION)
        next(stream)
        stream.close()
        assert memory.research(resume=True).known
        memory.delete(kept.id)
        assert memory.reports() == []
        memory.restore(kept.id)
        assert len(memory.reports()) == 3
        assert memory.forget(kept.id).documents == 3
        assert memory.reports() == []
        assert not memory.upkeep.check()
