"""The story of [1]: weeks with an anxious dog, and an allergy that was mentioned once, in message 3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest

from recollect.derive.summaries.extract import DEFAULT, weighed
from recollect.derive.summaries.nodes import tactical_parts
from recollect.memory import Memory
from tests.derive.histories import Clock, opened
from tests.derive.summaries.talks import START, alternating, embedder

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BEGINNING = [
    "Hi! I adopted a rescue dog, Luna, two weeks ago and she panics whenever I leave the flat.",
    "Welcome, Luna! Separation anxiety is common in rescue dogs. Start with departures of a minute or two.",
    "Before you suggest treats: Luna is allergic to chicken. What could I put into a food toy?",
    "Pumpkin with oats works well, frozen overnight. Avoid ready-made fillings, most of them contain poultry.",
]
_WEEKS = [
    (
        "She barked for {} minutes today and the neighbours complained.",
        "Shorten the next departure and build up slowly.",
    ),
    ("We tried the crate again, and she scratched the door.", "Leave the door of the crate open for a week."),
    ("The vet prescribed fluoxetine, {} mg once daily.", "Give it with food and note how she sleeps."),
    ("I'm worried about the side effects, she sleeps all day.", "Sleepiness often fades after two weeks; ask the vet."),
    ("Walks in the park go better, she played with a beagle.", "Great progress: keep the walks before departures."),
    ("How long should she be alone at most?", "At this stage not more than twenty minutes."),
    ("She stayed calm for {} minutes with the frozen toy.", "Wonderful. Add two minutes every other day."),
]


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """Nine weeks of it, consolidated as they went by."""
    clock = Clock()
    memory = opened(tmp_path_factory.mktemp("luna") / "memory.db", clock)
    texts = list(_BEGINNING)
    for week in range(9):
        for question, answer in _WEEKS:
            texts += [question.format(5 + 3 * week), answer]
    for number, text in enumerate(texts):
        clock.now = START + timedelta(hours=11 * number)
        role = "assistant" if number % 2 else "user"
        memory.store_message(text, role, conversation_id="luna", timestamp=clock.now, title="Luna")
        if number % 9 == 0:
            memory.upkeep.consolidate()
    memory.upkeep.consolidate()
    return memory


@pytest.mark.parametrize("kind", ["l1", "l2", "conversation"])
def test_the_allergy_survives(weeks: Memory, kind: str) -> None:
    first = weeks.summaries("luna", kind)[0]
    assert "allergic to chicken" in first.text
    assert first.extractive


@pytest.mark.parametrize("budget", [None, 4_000, 2_000])
@pytest.mark.parametrize("said", ["What could I put into her crate?", "She seems calmer today. What next?", "Thanks!"])
def test_the_context_still_holds_the_allergy(weeks: Memory, said: str, budget: int | None) -> None:
    assert "allergic to chicken" in weeks.prepare_context(said, "luna", budget).text


def test_the_parts_tell_what_rules_can_tell(weeks: Memory) -> None:
    first, *later = weeks.summaries("luna", "l1")
    assert any("allergic to chicken" in one for one in first.parts["specifics"])
    assert any("Luna" in one for one in first.parts["themes"])
    concerned = [summary for summary in later if any("side effects" in one for one in summary.parts["concerns"])]
    assert concerned
    assert concerned[0].parts["emotional_state"].startswith("anxious")
    assert any("Shorten the next departure" in one["what"] for summary in later for one in summary.parts["actions"])


def test_the_mood_of_a_dog_is_not_that_of_who_tells_of_it(weeks: Memory) -> None:
    texts = [words for pair in _WEEKS for words in pair]
    messages = alternating(["Luna's been anxious since the move.", *texts[:5], "Well?"])
    for said, mood in (("Luna's been sad, too.", ""), ("I'm sad, too.", "sad"), ("我很担心露娜。", "anxious")):
        told = tactical_parts(messages, weighed([*messages[:6], *alternating([said])], DEFAULT, embedder()), DEFAULT)
        assert told["emotional_state"].partition(":")[0] == mood


def test_a_block_tells_what_recurs_and_how_it_went_on(weeks: Memory) -> None:
    block = weeks.summaries("luna", "l2")[0]
    assert block.block == 0
    assert len(block.covers) == 3
    assert block.parts["recurring_themes"]
    assert block.parts["progressions"]
    assert any("allergic to chicken" in one for one in block.parts["specifics"])
    assert any("side effects" in one for one in block.parts["long_term_concerns"])


def test_what_it_says_stays_short_however_long_the_talk(weeks: Memory) -> None:
    conversation = weeks.summaries("luna", "conversation")[0]
    assert len(conversation.text) < 2_000
    assert len(conversation.covers) == len(_BEGINNING) + 9 * 2 * len(_WEEKS)


def test_days_weeks_and_months_that_have_ended_are_summed_up(weeks: Memory) -> None:
    periods = weeks.summaries(kind="period")
    names = [summary.period or "" for summary in periods]
    assert "day 2025-03-03" in names
    assert "week 2025-W10" in names
    assert "month 2025-03" in names
    assert all(summary.until and summary.until <= weeks.handle.clock() for summary in periods)
    month = next(summary for summary in periods if summary.period == "month 2025-03")
    days = {summary.id for summary in periods if (summary.period or "").startswith("day 2025-03")}
    assert set(month.covers) == days
    assert "allergic to chicken" in month.text


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A conversation over a month in which each message says on which day it was said."""
    clock = Clock()
    with opened(tmp_path_factory.mktemp("diary") / "memory.db", clock) as memory:
        for number in range(60):
            at = START + timedelta(hours=11 * number)
            words = f"Luna barked {number + 3} minutes in her crate on {at:%Y-%m-%d}, the neighbour said."
            role = "assistant" if number % 2 else "user"
            memory.store_message(words, role, conversation_id="luna", timestamp=at)
        clock.now = at + timedelta(days=60)
        memory.upkeep.consolidate()
        yield memory


def test_a_block_dates_each_sentence_by_the_day_on_which_it_was_said(diary: Memory) -> None:
    for block in diary.summaries("luna", "l2"):
        steps = [step for one in block.parts["progressions"] for step in (*one["steps"], one["now"])]
        told = [*block.text.split("\n"), *steps, *block.parts["links"]]
        assert len(told) > 20
        for line in told:
            assert len(set(_DAY.findall(line))) == 1
            assert len(_DAY.findall(line)) > 1


@pytest.mark.parametrize("kind", ["l1", "conversation"])
def test_what_was_said_on_several_days_tells_where_another_day_begins(diary: Memory, kind: str) -> None:
    for summary in diary.summaries("luna", kind):
        dates: list[str] = []
        for line in summary.text.split("\n"):
            head = _DAY.match(line)
            dates.append(head[0] if head else dates[-1])
            assert set(_DAY.findall(line)) == {dates[-1]}
        assert len(set(dates)) > 1
        assert sum(bool(_DAY.match(line)) for line in summary.text.split("\n")) == len(set(dates))
