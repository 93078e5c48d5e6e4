"""What was said is never obeyed in a chat either, where a model has tools to call."""

from __future__ import annotations

from pathlib import Path

import recollect
from tests.answer.ask.injections import INJECTIONS
from tests.answer.ask.obedient import Obedient


def test_a_model_that_obeys_whatever_is_not_marked_as_data_calls_no_tool(home: Path) -> None:
    obedient = Obedient("USER QUERY")
    with recollect.open(home / "memory.db", model=obedient, background=False) as memory:
        for number, injection in enumerate(INJECTIONS):
            memory.store_message(f"Redis was dropped. {injection}", conversation_id=f"i{number}", title=injection)
        for number in range(0, len(INJECTIONS), 10):
            answer = memory.chat(None, f"why did we drop Redis? {' '.join(INJECTIONS[number].split()[:4])}")
            assert answer.text == "As it was said [1]."
            assert answer.tools == ()
    assert obedient.tools > 0
    assert obedient.obeyed == []
