"""A message is cut into what can be quoted, each with its place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.answer.extract.quotes import shortened, size
from recollect.answer.extract.weighing import SpanKind, spans

TEXT = """No. The state stays on the server, e.g. the stock. What remains is tiny:

- the basket: a cookie
- form state: `zod`

## Prices

```sql
SELECT 1;
```

| event | what to do |
|---|---|
| paid | ship it |

Dr. Costa called at 3.5 km. Is it done?"""


def said(text: str, kind: SpanKind) -> list[str]:
    return [span.of(text) for span in spans(text) if span.kind is kind]


def test_prose_is_cut_into_sentences_and_not_at_abbreviations() -> None:
    assert said(TEXT, SpanKind.SENTENCE) == [
        "No.",
        "The state stays on the server, e.g. the stock.",
        "What remains is tiny:",
        "Dr. Costa called at 3.5 km.",
        "Is it done?",
    ]


def test_a_figure_behind_an_abbreviation_belongs_to_it_and_an_emoji_ends_a_sentence() -> None:
    assert said("When do I lose the art. 53 exemption? Train kl. 10. It is too much. 40 euros.", SpanKind.SENTENCE) == [
        "When do I lose the art. 53 exemption?",
        "Train kl. 10.",
        "It is too much.",
        "40 euros.",
    ]
    assert said("Nazaré was there twice 😅 When do I drop it? Works 🤦 now.", SpanKind.SENTENCE) == [
        "Nazaré was there twice 😅",
        "When do I drop it?",
        "Works 🤦 now.",
    ]


def test_items_rows_headings_and_code_stand_for_themselves() -> None:
    assert said(TEXT, SpanKind.ITEM) == ["the basket: a cookie", "form state: `zod`"]
    assert said(TEXT, SpanKind.ROW) == ["paid | ship it"]
    assert said(TEXT, SpanKind.HEADING) == ["Prices"]
    assert said(TEXT, SpanKind.CODE) == ["SELECT 1;"]


def test_an_item_knows_what_introduces_it_and_code_its_language() -> None:
    items = [span for span in spans(TEXT) if span.kind is SpanKind.ITEM]
    assert {TEXT[slice(*item.lead)] for item in items if item.lead} == {"What remains is tiny:"}
    assert [span.language for span in spans(TEXT) if span.kind is SpanKind.CODE] == ["sql"]


def test_a_block_ends_with_its_fence_where_lines_end_as_on_windows() -> None:
    text = "The batch file:\r\n\r\n```bat\r\n@echo off\r\necho hi\r\n```\r\n\r\nIt says hi."
    assert said(text, SpanKind.CODE) == ["@echo off\r\necho hi"]
    assert said(text, SpanKind.SENTENCE) == ["The batch file:", "It says hi."]


def test_chinese_needs_no_blanks() -> None:
    assert said("我搬到了波尔图。你呢？很好。", SpanKind.SENTENCE) == ["我搬到了波尔图。", "你呢？", "很好。"]


@given(st.text(alphabet="ab .?!:\n-*#|`>1)(,é。\t", max_size=300))
def test_places_are_in_order_and_hold_no_blanks_at_their_ends(text: str) -> None:
    before = 0
    for span in spans(text):
        assert before <= span.start < span.end <= len(text)
        before = span.end
        if span.kind is not SpanKind.CODE:
            assert span.of(text) == span.of(text).strip()


@given(st.text(alphabet="ab ,;. é", max_size=200), st.integers(6, 20))
def test_a_piece_of_a_sentence_is_no_longer_than_asked(text: str, room: int) -> None:
    start, end = shortened(text, (0, len(text)), frozenset({"ab"}), room)
    assert 0 <= start <= end <= len(text)
    assert size(text[start:end]) <= room
