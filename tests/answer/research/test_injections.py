"""What was said is data for research too: a model that obeys whatever is not marked as data obeys nothing planted."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.models.language.base import Completion, Request, RequestRejected
from tests.answer.ask.injections import DEMANDS, INJECTIONS
from tests.answer.ask.obedient import Obedient

QUESTION = "summarize what happened with Redis"


class Reader(Obedient):
    """Reads plans and gaps as it reads reports, and leaves them to the rules."""

    def complete(self, request: Request) -> Completion:
        """Looks for orders."""
        self.read += request.text
        told = request.text.rpartition("\n\nQUESTION:\n")[0] or request.text.rpartition("\nQUESTION:\n")[0]
        orders = "\n".join(line for line in told.splitlines() if not line.startswith("| "))
        self.obeyed += [demand for demand in DEMANDS if demand in orders]
        raise RequestRejected("This model knows no schema.")


@pytest.mark.parametrize("where", ["text", "title"])
def test_a_report_obeys_nobody_but_the_person(where: str, home: Path) -> None:
    reader = Reader()
    with recollect.open(home / "memory.db", model=reader, background=False) as memory:
        for number, injection in enumerate(INJECTIONS):
            text, title = f"Redis was dropped. {injection}", f"Redis {number}"
            if where == "title":
                text, title = f"Redis was dropped, time {number}.", f"Redis {injection}"
            memory.store_message(text, conversation_id=f"i{number}", title=title)
        for number in range(0, len(INJECTIONS), 10):
            report = memory.research(f"{QUESTION} {' '.join(INJECTIONS[number].split()[:3])}")
            assert "As it was said [1]." in report.text
            assert (len(report.citations), report.removed) == (1, 0)
    assert reader.obeyed == []
    assert reader.tools == 0
    assert any(demand in reader.read for demand in DEMANDS), "no injection came before the model"
