"""Where names stand in a picture of the graph, and months on a timeline."""

from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import InvalidInput
from recollect.derive.topics.reading import Topic
from recollect.faces.web.pages.timeline import CalendarSpan, narrow_drawing, wide_drawing
from recollect.faces.web.views.graph_layout import ENTITY_GROUPS, LayoutNode, SavedPositions, lay_out
from recollect.memory.knowledge import Band, Timeline, TopicMonth
from recollect.record import NodeId
from tests.properties import examples


def names(count: int, parent: str = "middle") -> list[LayoutNode]:
    return [
        LayoutNode(f"n{i}", f"name {i}", ENTITY_GROUPS[i % len(ENTITY_GROUPS)], parent, 1 - i / count, 6.0, count <= 40)
        for i in range(count)
    ]


def test_the_same_names_get_the_same_places() -> None:
    assert lay_out("middle", names(60), {}) == lay_out("middle", names(60), {})


def test_what_has_a_place_keeps_it_when_others_come() -> None:
    before = lay_out("middle", names(20), {})
    after = lay_out(
        "middle", [*names(20), *(LayoutNode("new", "new", ENTITY_GROUPS[0], "n3", 0.5, 6.0, True),)], before
    )

    assert {name: after[name] for name in before} == before
    assert "new" in after


@settings(max_examples=examples(20))
@given(st.integers(1, 150))
def test_marks_do_not_lie_on_each_other(count: int) -> None:
    places = list(lay_out("middle", names(count), {}).values())

    assert len(places) == count + 1
    for at, (x, y) in enumerate(places):
        assert all(abs(x - a) >= 12 or abs(y - b) >= 12 for a, b in places[:at])


def test_kinds_lie_in_directions_of_their_own() -> None:
    placed = names(40)
    places = lay_out("middle", placed, {})
    people = [places[one.id] for one in placed if one.kind.name == "person"]
    things = [places[one.id] for one in placed if one.kind.name == "thing"]

    assert sum(x for x, _ in people) < 0 < sum(x for x, _ in things)


def test_five_thousand_names_are_placed() -> None:
    first = names(150)
    others = [LayoutNode(f"m{i}", f"m{i}", ENTITY_GROUPS[i % 5], f"n{i % 150}", 0.1, 5.0, False) for i in range(4_850)]

    assert len(lay_out("middle", [*first, *others], {})) == 5_001


def test_places_are_kept_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    kept = SavedPositions(tmp_path, "memory.db", "default")
    kept.keep("middle", {"a": (1.0, 2.0)})
    kept.keep("middle", {"b": (3.0, 4.0)})

    assert SavedPositions(tmp_path, "memory.db", "default").of("middle") == {"a": (1.0, 2.0), "b": (3.0, 4.0)}
    assert SavedPositions(tmp_path, "memory.db", "acme").of("middle") == {}
    next(tmp_path.iterdir()).write_text('{"middle": [1]}')
    assert kept.of("middle") == {}


def test_the_pictures_least_recently_seen_are_given_up(tmp_path: Path) -> None:
    kept = SavedPositions(tmp_path, "memory.db", "default")
    for i in range(305):
        kept.keep(f"c{i}", {"a": (float(i), 0.0)})

    assert kept.of("c0") == {}
    assert kept.of("c304") == {"a": (304.0, 0.0)}


@given(st.dates(date(1971, 1, 1), date(2200, 1, 1)), st.sampled_from([1, 3, 12]))
def test_a_span_is_read_as_it_is_written(day: date, length: int) -> None:
    span = CalendarSpan.around(day, length)

    assert CalendarSpan.of(str(span)) == span
    assert span.first <= day < span.after.first
    assert span.after.before == span


@pytest.mark.parametrize("name", ["2024-13", "2024-Q5", "0000", "yesterday", "2024-1"])
def test_what_is_no_span_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        CalendarSpan.of(name)


def timeline(days: int) -> Timeline:
    first = date(2015, 1, 1)
    topic = Topic(NodeId("T"), "boats", ("boats",), 1, 10)
    months = tuple(
        TopicMonth(str(CalendarSpan.around(first + timedelta(days=31 * i))), i + 1, 1) for i in range(days // 31)
    )
    return Timeline(tuple((first + timedelta(days=i), 1 + i % 7) for i in range(days)), 0, (Band(topic, months),))


@pytest.mark.parametrize("days", [1, 40, 900, 4_000, 20_000])
def test_bands_fit_their_picture(days: int) -> None:
    drawn = timeline(days)
    for picture in (wide_drawing(drawn, CalendarSpan.of("2015-01")), narrow_drawing(drawn, None)):
        assert picture is not None
        assert all(0 <= bar.x <= picture.width for bar in picture.bars)
        assert sum(bar.messages for bar in picture.bars) == sum(count for _, count in drawn.days)
        assert all(0 < dot.x < picture.width and dot.y < picture.height for row in picture.rows for dot in row.dots)


@pytest.mark.parametrize("days", [900, 4_000, 20_000, 60_000])
def test_years_do_not_stand_on_each_other_and_a_long_history_is_not_too_wide(days: int) -> None:
    first = date(1900, 1, 1)
    drawn = Timeline(((first, 1), (first + timedelta(days=days), 1)), 0, ())
    for picture in (wide_drawing(drawn, None), narrow_drawing(drawn, None)):
        assert picture is not None
        apart = [b - a for (a, _), (b, _) in pairwise(picture.years)]
        assert all(gap >= 30 for gap in apart)
        assert len(picture.years) > 1
        assert picture.width <= 2_200


def test_an_empty_memory_has_no_picture() -> None:
    assert wide_drawing(Timeline((), 0, ()), None) is None
