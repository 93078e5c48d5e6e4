import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Problems
from recollect.importers.reading.json_items import Layout, glimpse, items
from tests.importers.given import entry

CHAT = {"title": 'A "quoted" [title] {x}', "words": ["one", "two \\ three", {"é": None}], "n": -1.5e3, "ok": True}


def is_chat(value: Any) -> bool:
    return isinstance(value, dict) and "title" in value


def values(one: Entry) -> list[Any]:
    head = glimpse(one, is_chat)
    return [item.value for item in items(one, is_chat, Problems())] if head else []


@pytest.mark.parametrize(
    ("text", "layout", "count"),
    [
        (json.dumps([CHAT, CHAT]), Layout.ARRAY, 2),
        (json.dumps([CHAT, CHAT], indent=2), Layout.ARRAY, 2),
        (json.dumps({"version": 1, "conversations": [CHAT]}), Layout.WRAPPED, 1),
        (json.dumps({"version": 1, "conversations": [CHAT]}, indent=2), Layout.WRAPPED, 1),
        (json.dumps(CHAT), Layout.LINES, 1),
        (json.dumps(CHAT, indent=2), Layout.ALONE, 1),
        ("\n\n" + json.dumps(CHAT) + "\n" + json.dumps(CHAT) + "\n", Layout.LINES, 2),
    ],
)
def test_the_layout_is_seen_and_all_values_are_read(text: str, layout: Layout, count: int) -> None:
    head = glimpse(entry(text), is_chat)
    assert head is not None
    assert head.layout is layout
    assert values(entry(text)) == [CHAT] * count


@given(st.integers(min_value=1), st.sampled_from([None, 2]))
def test_a_head_that_is_cut_anywhere_shows_what_stands_before_the_cut(place: int, indent: int | None) -> None:
    text = json.dumps([CHAT, CHAT], indent=indent)
    text = text[: place % len(text) + 1]
    head = glimpse(entry(text), lambda value: isinstance(value, dict))
    assert head is None or [type(value) for value in head.values] == [dict] * len(head.values)
    seen = text.partition("}")[0].partition("words")[2]
    if '"one"' in seen:
        assert head is not None
        assert head.values[0]["title"] == CHAT["title"]
        assert head.values[0]["words"][0] == "one"


def test_a_first_conversation_longer_than_the_head_is_seen_by_its_beginning() -> None:
    long = {"title": "T", "words": ["long " * 100_000]}
    assert glimpse(entry([long, CHAT]), is_chat) is not None
    assert values(entry([long, CHAT])) == [long, CHAT]


@pytest.mark.parametrize("text", ["\\", '"', "\n", '\\n"x', "é\u2028", "🚀"])
def test_a_text_that_is_cut_within_an_escaped_sign_is_seen(text: str) -> None:
    whole = json.dumps([{"title": "T", "words": [text * 40]}, CHAT])
    begins = whole.index('["') + 2
    for place in range(begins, begins + 60):
        assert glimpse(entry(whole[:place]), is_chat) is not None, place


@given(st.binary(max_size=200) | st.text('[]{}",:\\ntf0 é', max_size=60).map(str.encode))
def test_garbage_is_nobodys_and_raises_nothing(data: bytes) -> None:
    glimpse(entry(data), is_chat)


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 10_000, '["' + "\\" * 60_000])
def test_endless_nesting_is_nobodys(text: str) -> None:
    assert glimpse(entry(text), is_chat) is None


def test_a_file_that_cannot_be_opened_is_nobodys() -> None:
    def broken() -> Any:
        raise ImportProblem("the archive is damaged")

    assert glimpse(Entry("x", "x", "x", 1, broken), is_chat) is None


def test_what_cannot_be_read_is_told_with_its_place() -> None:
    problems = Problems()
    text = json.dumps(CHAT) + "\n{broken\n" + json.dumps(CHAT)
    one = entry(text, "chats.jsonl")
    head = glimpse(one, is_chat)
    assert head is not None
    assert [item.place for item in items(one, is_chat, problems)] == ["chats.jsonl line 1", "chats.jsonl line 3"]
    assert [problem.place for problem in problems.found] == ["chats.jsonl line 2"]


def test_a_long_text_takes_little_memory_to_look_at() -> None:
    long = entry([{"words": ["herons " * 200_000], "title": "T"}, CHAT])
    tracemalloc.start()
    try:
        assert glimpse(long, is_chat) is not None
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
