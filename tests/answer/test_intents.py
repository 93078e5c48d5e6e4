"""What a question wants is read from its words, and can be forced."""

from __future__ import annotations

import time

import pytest

from recollect.answer.intents import Intent, named_intent, read_intent, sought
from recollect.errors import InvalidInput
from recollect.memory import Memory


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("in which conversation did we discuss the deposit?", Intent.RETRIEVAL),
        ("What was the name of the dentist?", Intent.QA),
        ("Why did we drop Redis?", Intent.DECISION),
        ("Can you remind me why we moved to Postgres?", Intent.DECISION),
        ("show me the nginx config for the upload path", Intent.CODE_LOOKUP),
        ("show me the sync script code", Intent.CODE_LOOKUP),
        ("which SQL did I use for occupancy?", Intent.CODE_LOOKUP),
        ("compare the two leases", Intent.SYNTHESIS),
        ("", Intent.QA),
    ],
)
def test_intents_are_read_by_rules(question: str, intent: Intent) -> None:
    assert read_intent(question) is intent


@pytest.mark.parametrize(
    "question", ["what did Ana say about the code review?", "what is the dress code for the ball?"]
)
def test_a_word_alone_makes_no_intent(question: str) -> None:
    assert read_intent(question) is Intent.QA


def test_of_a_question_for_a_talk_only_its_subject_is_looked_for() -> None:
    assert sought("which chat was it where we talked about the leaking boiler?", Intent.RETRIEVAL) == "leaking boiler"
    assert sought("why did we drop Redis?", Intent.DECISION) == "why did we drop Redis?"
    assert sought("which chat?", Intent.RETRIEVAL) == "which chat?"


def test_a_pasted_text_is_read_in_no_time() -> None:
    began = time.perf_counter()
    for text in ("which the my our " * 20_000, "a" * 300_000, "why " * 80_000, "find me all of " * 30_000):
        read_intent(text)
        sought(text[:2_000], Intent.RETRIEVAL)
    assert time.perf_counter() - began < 1


def test_an_intent_can_be_forced_and_a_wrong_one_says_which_there_are(quiet: Memory) -> None:
    quiet.store_message("The boiler leaks.", conversation_id="c")
    assert quiet.ask("the boiler", intent="synthesis").intent is Intent.SYNTHESIS
    with pytest.raises(InvalidInput) as wrong:
        named_intent("poetry")
    assert "retrieval" in wrong.value.hint
