"""What the model is told of the newest messages of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.testing import FakeModel

ASKED = "Tell me about Project X"
ANSWERED = "Project X is a billing platform. It uses Kubernetes."
SCALES = "It scales using HPA, the Horizontal Pod Autoscaler."


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(
    ("answer", "about"), [(SCALES, "HPA, Horizontal Pod Autoscaler"), ("By hand, as it always was.", "Project X")]
)
def test_the_last_answer_was_about_what_it_names_else_what_it_was_asked_about(
    tmp_path: Path, answer: str, about: str, stored: bool
) -> None:
    model = FakeModel("Sure.") if stored else FakeModel(ANSWERED, answer, "Sure.")
    with recollect.open(tmp_path / "memory.db", model=model, background=False) as memory:
        if stored:
            for number, said in enumerate((ASKED, ANSWERED, "How does Project X scale?", answer)):
                memory.store_message(said, ("user", "assistant")[number % 2], conversation_id="Talk")
            own = "Talk"
        else:
            own = memory.chat(None, ASKED).conversation_id
            memory.chat(own, "How does it scale?")
        memory.chat(own, "What does that cost in Europe?")
        assert f"| The last answer was about: {about}.\n" in model.prompts[-1]
