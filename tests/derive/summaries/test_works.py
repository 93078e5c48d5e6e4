"""Short conversations are summarised together: the same whatever comes in which order, each message once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.derive.summaries import works
from recollect.derive.summaries.sessions import placing
from recollect.derive.tasks.base import Setting
from recollect.memory import Memory
from recollect.record import Role
from recollect.store import View
from tests.derive.histories import Clock, broken, derived, opened, rebuilt
from tests.derive.summaries.talks import START, embedder
from tests.properties import examples

_SIDES = (Role.USER, Role.ASSISTANT)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with opened(tmp_path / "memory.db", clock) as memory:
        yield memory


def talk(memory: Memory, name: str, start: datetime, exchanges: int, *, about: str = "Luna", first: int = 0) -> None:
    """A conversation of so many exchanges, two minutes each; its clock is not that of the memory."""
    for number in range(2 * first, 2 * (first + exchanges)):
        words = (
            f"{about} walked {number + 10} minutes on day {start:%d}." if number % 2 else f"How far shall {about} go?"
        )
        memory.store_message(
            words,
            _SIDES[number % 2],
            conversation_id=name,
            id=f"{name}-{number:02}",
            timestamp=start + timedelta(minutes=number),
        )


def days(memory: Memory, clock: Clock, count: int, exchanges: int) -> None:
    """A conversation a day, consolidated when the next has begun."""
    for day in range(count):
        clock.now = START + timedelta(days=day)
        talk(memory, f"day{day}", clock.now, exchanges)
        memory.upkeep.consolidate()
    clock.now = START + timedelta(days=count)
    memory.upkeep.consolidate()


def test_six_sessions_of_six_exchanges_make_tactical_and_strategic_summaries(memory: Memory, clock: Clock) -> None:
    days(memory, clock, 6, 6)
    tactical, strategic = memory.summaries(kind="l1"), memory.summaries(kind="l2")
    assert [summary.exchanges for summary in tactical] == [6] * 5  # the sixth waits until ten have gathered
    assert [{i[:4] for i in summary.covers} for summary in tactical] == [{f"day{n}"} for n in range(5)]
    assert [summary.covers for summary in strategic] == [tuple(summary.id for summary in tactical[:3])]
    assert all(summary.conversation_id is None for summary in (*tactical, *strategic))
    assert "minutes on day 03" in tactical[0].text


def test_very_short_ones_are_cut_at_the_end_of_a_conversation(memory: Memory, clock: Clock) -> None:
    days(memory, clock, 12, 2)
    covered = [sorted({i.split("-")[0] for i in summary.covers}) for summary in memory.summaries(kind="l1")]
    assert all(5 <= 2 * len(names) <= 10 for names in covered)
    assert len(covered) == 3
    assert broken(memory, set()) == []


def test_one_that_goes_on_waits_until_it_has_been_quiet(memory: Memory, clock: Clock) -> None:
    days(memory, clock, 2, 6)
    known = [summary.id for summary in memory.summaries(kind="l1")]
    clock.now = START + timedelta(days=3)
    talk(memory, "now", clock.now, 6)
    clock.move(60 * 5)
    memory.upkeep.consolidate()
    assert [summary.id for summary in memory.summaries(kind="l1")] == known
    clock.move(60 * 2)
    memory.upkeep.consolidate()
    assert len(memory.summaries(kind="l1")) == len(known) + 1


def test_one_that_grows_long_has_summaries_of_its_own(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    days(memory, clock, 4, 6)
    assert len(memory.summaries(kind="l1")) == 3
    clock.now = START + timedelta(days=6)
    talk(memory, "day1", clock.now - timedelta(minutes=12), 6, first=6)
    clock.move(60 * 24)
    memory.upkeep.consolidate()
    own = memory.summaries("day1", "l1")
    assert [summary.exchanges for summary in own] == [6]
    assert broken(memory, set()) == []
    assert derived(memory, clock) == rebuilt(memory, tmp_path, clock)


def test_what_covers_a_changed_message_is_stale_at_once_and_made_anew(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    days(memory, clock, 8, 6)
    first = memory.summaries(kind="l1")[0]
    memory.update_message(first.covers[1], "Zebra: Luna weighs 14 kg.")
    assert first.id not in {summary.id for summary in memory.summaries()}
    assert not [summary for summary in memory.summaries(kind="l2") if first.id in summary.covers]
    memory.upkeep.consolidate()
    assert "Zebra" in memory.summaries(kind="l1")[0].text
    assert first.id in memory.summaries(kind="l2")[0].covers
    memory.delete(first.covers[1])
    memory.restore(first.covers[1])
    memory.upkeep.consolidate()
    assert derived(memory, clock) == rebuilt(memory, tmp_path, clock)
    memory.forget(first.covers[1])
    memory.upkeep.consolidate()
    assert broken(memory, {"Zebra"}) == []
    memory.forget("day4")
    memory.upkeep.consolidate()
    assert broken(memory, {"Zebra", "day 07"}) == []
    assert derived(memory, clock) == rebuilt(memory, tmp_path, clock)
    before = derived(memory, clock)
    memory.upkeep.consolidate(again=True)
    assert derived(memory, clock) == before


def test_in_several_portions_it_is_the_same(
    memory: Memory, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(works, "_SESSIONS_AT_ONCE", 2)
    monkeypatch.setattr(works, "_PILE", 0)
    days(memory, clock, 9, 3)
    clock.now = START - timedelta(days=3)
    talk(memory, "before", clock.now, 4, about="Rex")
    clock.now = START + timedelta(days=11)
    memory.upkeep.consolidate()
    found = derived(memory, clock)
    monkeypatch.undo()
    assert broken(memory, set()) == []
    assert found == rebuilt(memory, tmp_path, clock)


class Counting:
    """A view that counts what is read through it."""

    def __init__(self, view: Any) -> None:
        self._view, self.read = view, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def get(self, kind: Any, ids: Sequence[Any]) -> list[Any]:
        self.read += len(ids)
        found: list[Any] = self._view.get(kind, ids)
        return found

    def find(self, *given: Any, **more: Any) -> Any:
        page = self._view.find(*given, **more)
        self.read += len(page.items)
        return page


@pytest.mark.parametrize("count", [6, 48])
def test_one_more_costs_the_same_however_many_there_are(memory: Memory, clock: Clock, count: int) -> None:
    for day in range(count):
        talk(memory, f"day{day}", START + timedelta(days=day), 3)
    clock.now = START + timedelta(days=count)
    memory.upkeep.consolidate()
    talk(memory, "more", clock.now, 3)
    clock.now += timedelta(hours=3)
    memory.upkeep.consolidate()
    with memory.handle.space.view() as view:
        counting = Counting(view)
        setting = Setting(now=clock.now + timedelta(hours=4))
        effects = works.Together(embedder()).run(cast("View", counting), placing(), setting)
    assert effects.put
    assert counting.read < 120
    assert len(effects.put) < 8


_TALKS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 11)), min_size=1, max_size=9)


@settings(max_examples=examples(10))
@given(st.data())
def test_whatever_comes_in_which_order_gives_the_same(data: st.DataObject) -> None:
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "memory.db", clock) as memory:
        names = []
        for number, (day, exchanges) in enumerate(data.draw(_TALKS)):
            clock.now = START + timedelta(days=20 + number)
            names.append((f"talk{number}", exchanges))
            talk(memory, f"talk{number}", START + timedelta(days=day, hours=number), exchanges, about=f"Dog{number}")
            _disturb(data, memory, clock, names)
        clock.now = START + timedelta(days=60)
        memory.upkeep.consolidate()
        assert broken(memory, set()) == []
        assert derived(memory, clock) == rebuilt(memory, Path(folder), clock)


def _disturb(data: st.DataObject, memory: Memory, clock: Clock, names: list[tuple[str, int]]) -> None:
    """Perhaps consolidates, and perhaps edits, deletes, restores or adds something."""
    if data.draw(st.booleans()):
        memory.upkeep.consolidate()
    at = data.draw(st.integers(0, len(names) - 1))
    name, exchanges = names[at]
    match data.draw(st.sampled_from(["nothing", "nothing", "edit", "delete", "restore", "grow", "clock"])):
        case "edit":
            memory.update_message(f"{name}-01", "Luna weighs 14 kg.")
        case "delete":
            memory.delete(f"{name}-00", f"{name}-01")
        case "restore":
            memory.restore(f"{name}-00")
        case "grow":
            talk(memory, name, START + timedelta(days=10), 2, first=exchanges)
            names[at] = (name, exchanges + 2)
        case "clock":
            clock.move(-60 * 24 * 15)
            memory.upkeep.consolidate()
