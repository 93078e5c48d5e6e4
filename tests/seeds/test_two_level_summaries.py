"""[1] Two levels of summaries: the dog Luna over days, weeks and months, each promise with its heading.

Elsewhere: where a conversation is cut and that each message is summed up once (tests/derive/summaries), that several
workers and kills do nothing twice (tests/derive/test_worker.py, test_killed.py), that a context keeps to its budget
(tests/context) and that nothing of a namespace reaches another (tests/derive/test_isolation.py).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory
from recollect.testing import FakeModel
from tests.seeds.conftest import START, say

DAY = timedelta(days=1)
PAIRS = [
    ("Luna seems anxious again.", "Leave the door of the crate open for a week."),
    ("We tried the crate and she scratched the door.", "Build it up slowly."),
    ("She takes 15 mg of fluoxetine every morning.", "Give it with food and note how she sleeps."),
    ("Luna had diarrhoea in week 3.", "Keep her on rice for two days."),
    ("We tried a diet change in week 4.", "Introduce the grain-free food over ten days."),
    ("The symptoms improved by week 5.", "Good. Keep the new food."),
    ("They recurred in week 7 after stress.", "Stress can bring them back: keep departures short."),
    ("The frozen toy keeps her calm.", "Then leave it with her before each departure."),
    ("I am worried about the side effects.", "They often fade after two weeks; ask the vet."),
    ("How long may she be alone?", "Not more than twenty minutes."),
]
TEN = [line for pair in PAIRS for line in pair]
TRAINING = ["Which trick shall we train today, and with which treats?", "Ten minutes of sitting, with small treats."]
SMALL_TALK = ["It is sunny in the park today.", "Enjoy the walk."]


def test_ten_exchanges_are_a_tactical_summary_and_nine_are_none(on_both: Memory) -> None:
    """[1] The L1 Layer: Tactical Summaries. At the threshold, with what it covers, from when to when, and when made."""
    said = say(on_both, TEN[:18])
    on_both.upkeep.consolidate()
    assert on_both.summaries(kind="l1") == []
    said += say(on_both, TEN[18:], start=START + timedelta(minutes=18))
    on_both.upkeep.consolidate()
    (found,) = on_both.summaries(kind="l1")
    assert found.exchanges is not None
    assert 5 <= found.exchanges <= 10
    assert found.covers == tuple(message.id for message in said[: 2 * found.exchanges])
    assert (found.since, found.until) == (said[0].timestamp, said[2 * found.exchanges - 1].timestamp)
    assert found.made is not None


def test_a_tactical_summary_has_themes_concerns_mood_and_actions(memory: Memory) -> None:
    """[1] The L1 Layer: Tactical Summaries. What was spoken of, what worries, how one feels, what was advised."""
    say(memory, TEN)
    memory.upkeep.consolidate()
    parts = memory.summaries(kind="l1")[0].parts
    assert "Luna" in parts["themes"]
    assert "I am worried about the side effects." in parts["concerns"]
    assert "anxious" in parts["emotional_state"]
    assert "Give it with food and note how she sleeps." in [action["what"] for action in parts["actions"]]


def test_three_tactical_summaries_are_a_strategic_one(on_both: Memory) -> None:
    """[1] The L2 Layer: Strategic Memory. At the third, with those it took, its number and the version that made it."""
    for session in range(3):
        assert on_both.summaries(kind="l2") == []
        say(on_both, TEN, start=START + session * DAY)
        on_both.upkeep.consolidate()
    tactical, (found,) = on_both.summaries(kind="l1"), on_both.summaries(kind="l2")
    assert found.covers == tuple(one.id for one in tactical)
    assert (found.block, found.exchanges) == (0, sum(one.exchanges or 0 for one in tactical))
    assert (found.version, found.made_by) == (2, "rules/2")
    assert {"recurring_themes", "progressions", "links", "long_term_concerns"} <= set(found.parts)


@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_doses_stay_to_the_letter(memory: Memory, kind: str) -> None:
    """[1] Compression is an Art. Both levels are shorter than what was said and keep the medicine with its dose."""
    for session in range(3):
        say(memory, TEN, start=START + session * DAY)
    memory.upkeep.consolidate()
    found = memory.summaries(kind=kind)[0]
    assert "15 mg of fluoxetine" in found.text
    assert len(found.text) < len("\n".join(TEN)) * (1 if kind == "l1" else 3)


def test_the_order_of_events_is_kept(memory: Memory) -> None:
    """[1] Vector Embeddings & Semantic Search; Temporal coherence. The weeks stand in their order, not by likeness."""
    say(memory, TEN)
    memory.upkeep.consolidate()
    text = memory.summaries(kind="l1")[0].text
    places = [text.index(f"week {week}") for week in (3, 4, 5, 7)]
    assert places == sorted(places)


def test_writing_waits_for_no_summary(memory: Memory) -> None:
    """[1] Summarisation latency. Summaries are made between conversations: storing leaves a task, and no summary."""
    say(memory, TEN)
    assert memory.summaries() == []
    memory.upkeep.consolidate()
    assert memory.summaries(kind="l1")


def test_a_hundred_messages_are_summaries_and_the_newest_in_one_budget(memory: Memory) -> None:
    """[1] Graceful degradation; Predictable performance. Ten times the talk is shown on more levels, not at length."""
    for session in range(5):
        say(memory, TEN, start=START + session * DAY)
    memory.upkeep.consolidate()
    context = memory.prepare_context("How is she?", "talk", 4_000)
    assert context.tokens <= 4_000
    assert {"summaries", "recent"} <= {part.name for part in context.parts}
    assert {one.kind for one in memory.summaries("talk")} >= {"l1", "l2"}
    assert TEN[-1] in next(part.text for part in context.parts if part.name == "recent")


def test_what_was_said_is_found_to_the_minute(memory: Memory) -> None:
    """[1] Perfect recall, which the text gives up. The messages are kept beside the summaries: the minute is known."""
    say(memory, TEN)
    tuesday = datetime(2025, 3, 4, 14, 5, tzinfo=UTC)
    say(memory, ["Luna vomited after breakfast.", "Skip the next meal."], "tuesday", tuesday)
    memory.upkeep.consolidate()
    hit = memory.search("what exact time did I say Luna vomited on Tuesday?")[0]
    assert (hit.best.message.content, hit.best.message.timestamp) == ("Luna vomited after breakfast.", tuesday)


def test_other_words_find_what_was_meant(memory: Memory) -> None:
    """[1] Semantic flexibility, which the text gives up. All mentions over time are found, in other words too."""
    say(memory, ["Luna has digestive issues since Monday.", "Feed her rice."], "monday")
    say(memory, ["She was vomiting all night.", "Call the vet."], "night")
    for number in range(8):
        say(memory, [f"The bicycle tour number {number} leads to the coast.", "Pack a tyre."], f"tour {number}")
    found = [hit.conversation.id for hit in memory.search("Does Luna have a stomach upset?", limit=2)]
    assert set(found) == {"monday", "night"}


def test_two_pets_share_nothing(place: str) -> None:
    """[1] Pet-Specific Isolation is Non-Negotiable. What is known of one is in no context of the other."""
    told = {"rex": "Rex is allergic to beef.", "luna": "Luna is allergic to chicken."}
    for pet, line in told.items():
        with recollect.open(place, namespace=f"home/{pet}", durable=False, background=False) as memory:
            say(memory, [line, "Noted."])
            memory.upkeep.consolidate()
    for pet in told:
        with recollect.open(place, namespace=f"home/{pet}", durable=False, background=False) as memory:
            text = memory.prepare_context("What is there an allergy to?").text
        assert [one for one in told if told[one] in text] == [pet]


# --- over months and across conversations --------------------------------------------------------------------------
@pytest.mark.parametrize("budget", [1_000, 4_000])
def test_an_allergy_is_in_every_context(memory: Memory, budget: int) -> None:
    """[1] Fixed-Window with Keyword Extraction; Sliding window approaches. Told once, whoever's dog it is: it stays."""
    say(memory, ["Luna is allergic to chicken.", "Noted.", *(TRAINING + SMALL_TALK) * 50])
    memory.upkeep.consolidate()
    assert "allergic to chicken" in memory.prepare_context("Which treats can I buy for training?", budget=budget).text


def test_a_new_conversation_knows_what_went_before(memory: Memory) -> None:
    """[1] Cross-session persistence. Days later, in another conversation and at its second turn, the dose is there."""
    for session in range(3):
        say(memory, TEN, start=START + session * DAY)
    memory.upkeep.consolidate()
    say(memory, ["Good morning, we are back.", "Welcome back!"], "new", START + 9 * DAY)
    assert "15 mg" in memory.prepare_context("How should we go on?", "new", 4_000).text


def test_short_conversations_are_summed_up_together(memory: Memory) -> None:
    """[1] The L1 Layer: Tactical Summaries. Ten exchanges are ten, in however many conversations they were said."""
    for visit in range(6):
        say(memory, TEN[:12], f"visit {visit}", START + visit * DAY)
    memory.upkeep.consolidate()
    assert memory.summaries(kind="l1")


def test_the_oldest_month_is_told_like_the_newest(memory: Memory) -> None:
    """[1] The Missing Ingredient: Hierarchical Compression. Detail fades with age, and nothing falls off an edge."""
    for month in range(1, 9):
        say(memory, TEN * 3, start=datetime(2025, month, 5, 9, tzinfo=UTC))
    memory.upkeep.consolidate()
    context = memory.prepare_context("How should we go on?", "talk", 4_000)
    summaries = next(part.text for part in context.parts if part.name == "summaries")
    assert "2025-01" in summaries
    assert "2025-08" in summaries


def test_specifics_reach_the_prompt(home: Path) -> None:
    """[1] The L1 Layer: Tactical Summaries. What a model kept apart, such as a dose, is in the context too."""
    model = FakeModel(
        data={"l1": {**_example("l1"), "summary": "They spoke of medicine.", "specifics": ["15 mg at 8:00"]}}
    )
    with recollect.open(home / "memory.db", model=model, background=False) as memory:
        say(memory, [*TEN, *SMALL_TALK * 15])
        memory.upkeep.consolidate()
        assert any("15 mg at 8:00" in str(one.parts) for one in memory.summaries(kind="l1"))
        assert "15 mg at 8:00" in memory.prepare_context("How should we go on?", "talk").text


@pytest.mark.parametrize("budget", [2_000, 4_000])
def test_what_was_tried_is_told_with_how_it_went(memory: Memory, budget: int) -> None:
    """[1] Fixed-Window with Keyword Extraction. "Luna seems anxious again": what was tried, and what worked."""
    say(memory, [*TEN[2:], *SMALL_TALK * 60])
    memory.upkeep.consolidate()
    text = memory.prepare_context("Luna seems anxious again", budget=budget).text
    assert "crate" in text
    assert "frozen toy" in text


def _example(name: str) -> dict[str, object]:
    from recollect.models.language.prompts import prompt

    return dict(prompt(name).example)
