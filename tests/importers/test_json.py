"""What `elements`, `lines` and `document` give of JSON, however it was damaged on its way."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import ImportProblem
from recollect.importers.base import Entry, Problems
from recollect.importers.reading.json import NO_LIST, Element, JsonBytes, document, elements, lines
from recollect.importers.reading.json_reader import Layout, glimpse, items
from tests.importers.given import entry
from tests.properties import examples

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CLUTTER = st.binary(max_size=3).filter(lambda data: b"[" not in data)  # that would make one list of all that follows
INDENTS = st.sampled_from([None, 0, 2])


class Slow(io.BytesIO):
    """A stream that gives a few bytes at a time, as the network does."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(7 if size is None or size < 0 else min(size, 7))


class Torn(io.BytesIO):
    """A stream that fails where others end, as a damaged archive does."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if not data:
            raise ImportProblem("it is damaged")
        return data


def conversation(number: int, **more: Any) -> dict[str, Any]:
    nodes = {f"n{i}": {"id": f"n{i}", "parts": ["some {words}", 'and "more" [']} for i in range(5)}
    return {"title": f"t{number}", "create_time": 1.5, "mapping": nodes, "current_node": "n4", **more}


def export(count: int = 5, indent: int | None = None) -> str:
    return json.dumps([conversation(number) for number in range(count)], indent=indent)


def read(data: str | bytes, make: type[io.BytesIO] = io.BytesIO) -> list[Element]:
    return list(elements(make(data.encode() if isinstance(data, str) else data)))


def titles(found: list[Element]) -> list[str | None]:
    """The title of each whole element, None for a broken one and for a bit of one that could stand in a list."""
    return [element.value.get("title") if isinstance(element.value, dict) else None for element in found]


@given(st.lists(VALUES, max_size=6), INDENTS, st.booleans(), st.sampled_from([io.BytesIO, Slow]))
def test_any_list_comes_back_as_it_was(
    values: list[Any], indent: int | None, ascii_only: bool, make: type[io.BytesIO]
) -> None:
    found = read(json.dumps(values, indent=indent, ensure_ascii=ascii_only), make)
    assert [element.error for element in found] == [None] * len(values)
    assert [element.value for element in found] == values
    assert [element.index for element in found] == list(range(len(values)))


@given(st.lists(VALUES, max_size=6), INDENTS, st.data())
def test_a_cut_list_gives_its_beginning_and_then_one_error(
    values: list[Any], indent: int | None, data: st.DataObject
) -> None:
    whole = json.dumps(values, indent=indent).encode()
    found = read(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert [element.value for element in found[:-1]] == values[: len(found) - 1]
    assert [element.error is None for element in found] == [True] * (len(found) - 1) + [False]
    assert found[-1].value is None


@settings(max_examples=examples(300))
@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:\\ an1').map(str.encode))
def test_garbage_never_raises(data: bytes) -> None:
    list(elements(io.BytesIO(data)))
    list(elements(io.BytesIO(b"[" + data)))
    list(lines(io.BytesIO(data)))


@settings(max_examples=examples(200))
@given(st.data())
def test_one_broken_place_costs_at_most_the_elements_that_it_touches(data: st.DataObject) -> None:
    whole = export(6).encode()
    place = data.draw(st.integers(1, len(whole) - 2))
    broken = bytearray(whole)
    broken[place : place + data.draw(st.integers(0, 3))] = data.draw(CLUTTER)
    touched = sum(element.offset <= place for element in read(whole)) - 1
    good = {title for title in titles(read(bytes(broken))) if title}
    assert {f"t{number}" for number in range(6)} - good <= {f"t{touched - 1}", f"t{touched}", f"t{touched + 1}"}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"n4"', '"n4'),
        ('"create_time"', 'create_time"'),
        ("]", ""),
        ('": [', '": '),
        ("}", ""),
        ('": {', '": '),
        ("1.5", "1.5.5"),
        (":", ""),
        ("words", 'wo"rds'),
        ("mapping", "mapp\\ing"),
    ],
)
def test_what_follows_a_broken_element_is_found_again(indent: int | None, old: str, new: str) -> None:
    head, tail = export(2, indent)[:-1], export(5, indent)[1:]
    place = head.rindex(old)
    broken = head[:place] + new + head[place + len(old) :] + "," + tail
    found = titles(read(broken))
    assert found[0] == "t0"
    assert None in found
    assert found[-4:] == ["t1", "t2", "t3", "t4"]


def test_a_broken_first_element_does_not_hide_the_others() -> None:
    broken = export().replace('"n4"', '"n4', 1)
    assert titles(read(broken)) == [None, "t1", "t2", "t3", "t4"]


def test_broken_elements_one_behind_the_other_are_told_one_by_one() -> None:
    broken = export().replace('"n4"}', '"n4}', 3).replace('"n4}', '"n4"}', 1)
    assert titles(read(broken)) == ["t0", None, None, "t3", "t4"]


def test_objects_within_a_broken_element_are_not_taken_for_elements() -> None:
    rows = [{"id": f"c{n}", "title": f"t{n}", "files": [{"id": "f", "name": "x"}] * 3, "z": n} for n in range(4)]
    broken = json.dumps(rows).replace('"name": "x"', '"name": x"', 1)
    assert titles(read(broken)) == [None, "t1", "t2", "t3"]


def test_a_list_that_seems_to_end_too_early_is_followed_on() -> None:
    found = titles(read(export().replace('}, {"title": "t2"', '}], {"title": "t2"')))
    assert found == ["t0", "t1", None, "t2", "t3", "t4"]


def test_the_list_may_stand_under_a_key_behind_other_things() -> None:
    data = {"about": {"conversations": [1], "x": [[{}], "]"]}, "version": 2, "conversations": [{"a": 1}, 2], "more": []}
    assert [element.value for element in read(json.dumps(data))] == [{"a": 1}, 2]
    assert [element.value for element in elements(io.BytesIO(json.dumps(data).encode()), keys=("x", "more"))] == []


@pytest.mark.parametrize(
    "data", ["", " ", "{}", '{"a": [1]}', '{"conversations": {"a": 1}}', "17", "<html>", '{"a" 1}']
)
def test_a_file_without_a_list_says_so(data: str) -> None:
    assert [(element.value, element.error) for element in read(data)] == [(None, NO_LIST)]


def test_a_mark_bad_bytes_half_pairs_odd_numbers_and_control_characters_do_no_harm_line_4() -> None:
    """What other readers got wrong, line 4: a byte-order mark, a lone surrogate, one bad byte, a cut end."""
    data = b'\xef\xbb\xbf[{"a": "caf\xe9"}, {"a": "\\ud83d|\\uDE00|\\ud83d\\ude00|\\\\ud83d"}, '
    data += b'{"a": [NaN, -Infinity, 1e999, 7]}, {"a": "one\ntwo\tthree\x00"}, {"a": "'
    found = read(data)
    assert [element.value and element.value["a"] for element in found[:2]] == ["caf�", "�|�|😀|\\ud83d"]
    assert found[2].value == {"a": [None, None, None, 7]}
    assert found[3].value == {"a": "one\ntwo\tthree\x00"}
    assert (found[4].value, found[4].error) == (None, "the file ends in the middle of it")
    assert all(data[element.offset :].startswith(b'{"a": ') for element in found)


def test_deep_nesting_is_one_bad_element_and_no_crash() -> None:
    data = b'[{"a": 1}, ' + b'[{"a":' * 100_000 + b"1" + b"}]" * 100_000 + b', {"a": 2}]'
    assert [element.value for element in read(data)] == [{"a": 1}, None, {"a": 2}]


def test_a_stream_that_fails_gives_what_came_before_and_the_reason() -> None:
    found = read(export(3), Torn)
    assert titles(found) == ["t0", "t1", "t2", None]
    assert found[-1].error == "it is damaged"
    wrapped = json.dumps({"conversations": [1], "more": 2})
    assert [element.error for element in read(wrapped, Torn)] == [None, "it is damaged"]


def test_memory_is_bounded_by_the_largest_element_line_13() -> None:
    """What other readers got wrong, line 13: the whole file in memory."""

    class Endless(io.RawIOBase):
        """80 MB of conversations, made as they are read."""

        def __init__(self) -> None:
            self.pieces = self._pieces()

        def _pieces(self) -> Iterator[bytes]:
            one = json.dumps(conversation(1, text="x" * 20_000)).encode()
            yield b"[" + one
            for _ in range(4000):
                yield b"," + one
            yield b"]"

        def read(self, size: int = -1) -> bytes:
            return next(self.pieces, b"")

    stream: BinaryIO = Endless()  # type: ignore[assignment]
    tracemalloc.start()
    count = sum(element.error is None for element in elements(stream))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 4001
    assert peak < 4 << 20


def test_an_element_of_many_megabytes_is_read_in_one_pass() -> None:
    big = 'word \\" [{ ' * 1_000_000
    assert read(json.dumps([{"a": big}, {"a": 2}]))[0].value == {"a": big}


def test_lines_come_with_their_numbers_and_errors() -> None:
    data = b'\xef\xbb\xbf{"a": 1}\r\n\n' + bytes(50) + b'\n\0\0{"a": "caf\xe9"}\n{"a": \n  [2]  \n{"a": 3, "b": "cu'
    found = [(line.number, line.value, line.error is None) for line in lines(io.BytesIO(data))]
    assert found == [
        (1, {"a": 1}, True),
        (4, {"a": "caf�"}, True),
        (5, None, False),
        (6, [2], True),
        (7, None, False),
    ]


@given(st.lists(VALUES, max_size=6), st.sampled_from([io.BytesIO, Slow]))
def test_any_lines_come_back_as_they_were(values: list[Any], make: type[io.BytesIO]) -> None:
    data = "\n".join(json.dumps(value) for value in values).encode()
    found = list(lines(make(data)))
    assert [(line.number, line.value) for line in found] == list(enumerate(values, start=1))


def test_a_line_of_many_megabytes_is_read() -> None:
    big = "x" * 20_000_000
    found = list(lines(io.BytesIO(json.dumps({"a": big}).encode() + b"\n{}")))
    assert [line.value for line in found] == [{"a": big}, {}]


def test_lines_of_a_stream_that_fails_end_with_the_reason() -> None:
    assert [(line.value, line.error) for line in lines(Torn(b'{"a": 1}\n'))] == [
        ({"a": 1}, None),
        (None, "it is damaged"),
    ]


def test_a_document_is_read_as_leniently_as_elements_are() -> None:
    assert document(io.BytesIO(b'\xef\xbb\xbf {"a": "caf\xe9"}\n\0')) == {"a": "caf�"}
    assert document(Slow(b'{"a": 1}')) == {"a": 1}


@pytest.mark.parametrize("data", [b"", b'{"a": ', b"<html>", b"[" * 100_000])
def test_a_document_that_is_none_is_a_problem(data: bytes) -> None:
    with pytest.raises(ImportProblem):
        document(io.BytesIO(data))


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_compact_lists_in_which_messages_look_like_conversations_are_not_split_by_hand(
    monkeypatch: pytest.MonkeyPatch, separators: tuple[str, str]
) -> None:
    """I8: what stands between two conversations of Claude's stands between two messages too, but for the brackets."""
    message = {"uuid": "m", "text": "words", "content": [{"type": "text"}], "files": []}
    talks = [{"uuid": f"c{at}", "name": "n", "chat_messages": [{**message, "n": at}] * 9} for at in range(50)]
    skipped: list[int] = []
    skip = JsonBytes.skip_value
    monkeypatch.setattr(JsonBytes, "skip_value", lambda self: (skipped.append(self.place), skip(self))[1])
    found = read(json.dumps(talks, separators=separators))
    assert [element.value for element in found] == talks
    assert len(skipped) < 5


CHAT = {"title": 'A "quoted" [title] {x}', "words": ["one", "two \\ three", {"é": None}], "n": -1.5e3, "ok": True}


def is_chat(value: Any) -> bool:
    return isinstance(value, dict) and "title" in value


def values_of(one: Entry) -> list[Any]:
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
    assert values_of(entry(text)) == [CHAT] * count


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
    assert values_of(entry([long, CHAT])) == [long, CHAT]


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
