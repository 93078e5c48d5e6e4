"""A segment holds what was sealed, nothing of what was taken out, and tells when it is damaged."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.index.source import seal, unseal, without
from recollect.index.terms import Terms, index_terms, joined, only
from recollect.store.change import IndexDamaged
from tests.index.rows import made_rows, row
from tests.properties import examples

Rows = list[dict[str, int]]
term = st.text(st.characters(codec="utf-8", exclude_categories=()), min_size=1, max_size=6) | st.just("\ud800 alone")
rows_of_terms = st.lists(st.dictionaries(term, st.integers(1, 400), max_size=5), min_size=1, max_size=12)


def told(terms: Terms) -> list[tuple[bytes, list[int], list[int]]]:
    """Each term with its rows and counts, in order."""
    ends = [(int(terms.starts[t]), int(terms.starts[t + 1])) for t in range(len(terms.hashes))]
    return [(terms.text(t), terms.rows[a:b].tolist(), terms.counts[a:b].tolist()) for t, (a, b) in enumerate(ends)]


def test_what_was_sealed_is_read_again() -> None:
    rows = made_rows(50, gap=3)
    mark, data = seal(rows)
    segment = unseal(data, mark=mark)
    assert mark[:3] == (1, 148, 50)
    assert [record.tobytes() for record in segment.columns] == [row.columns for row in rows]
    assert [vector.tobytes() for vector in segment.vectors] == [row.vector for row in rows]
    assert told(segment.terms) == told(index_terms([row.terms for row in rows]))


@given(rows_of_terms)
def test_terms_know_their_rows(rows: Rows) -> None:
    expected: dict[bytes, list[tuple[int, int]]] = {}
    for place, terms in enumerate(rows):
        for text, count in terms.items():
            expected.setdefault(text.encode("utf-8", "surrogatepass"), []).append((place, min(count, 255)))
    found = told(index_terms(rows))
    assert {text: list(zip(own, counts, strict=True)) for text, own, counts in found} == expected


@given(st.lists(rows_of_terms, min_size=1, max_size=4))
def test_joined_terms_are_those_of_all_rows(parts: list[Rows]) -> None:
    assert told(joined([(index_terms(rows), len(rows)) for rows in parts])) == told(index_terms([*chain(*parts)]))


@given(rows_of_terms, st.data())
def test_the_terms_of_some_rows_are_those_alone(rows: Rows, data: st.DataObject) -> None:
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    left = [terms for terms, kept in zip(rows, keep, strict=True) if kept]
    assert told(only(index_terms(rows), keep)) == told(index_terms(left))


@settings(max_examples=examples(50))
@given(st.sets(st.integers(0, 39), max_size=38))
def test_a_segment_without_passages_is_as_if_they_had_never_been(gone: set[int]) -> None:
    rows = made_rows(40, gap=2)
    left = without(seal(rows)[1], [rows[place].number for place in gone])
    assert left == seal([row for place, row in enumerate(rows) if place not in gone])


def test_nothing_of_an_erased_passage_stays() -> None:
    kept = [row(1, {"bread": 2, "oven": 1}), row(3, {"bread": 1})]
    secret = row(2, {"hunter2": 1, "bread": 300}, np.arange(1, 33, dtype=np.float32), speaker=77_777)
    _, data = seal([kept[0], secret, kept[1]])
    assert b"hunter2" in data
    assert secret.vector in data
    found = without(data, [2])
    assert found is not None
    for trace in (b"hunter2", secret.vector, secret.columns, (77_777).to_bytes(4, "little"), b"\xff"):
        assert trace not in found[1][40:]  # behind the checksum
    assert without(data, [1, 2, 3]) is None


@settings(max_examples=examples(100))
@given(st.data())
def test_a_flipped_bit_is_noticed_wherever_it_is(data: st.DataObject) -> None:
    mark, whole = seal(made_rows(6))
    at, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    damaged = bytearray(whole)
    damaged[at] ^= 1 << bit
    if 6 <= at < 8:
        return  # room in the header, not in use
    with pytest.raises(IndexDamaged):
        unseal(bytes(damaged), "1 to 6", mark)


@pytest.mark.parametrize("data", [b"", b"RcSg", b"x" * 500])
def test_what_is_no_segment_is_damaged(data: bytes) -> None:
    with pytest.raises(IndexDamaged, match="Segment 1 to 6 of the search index"):
        unseal(data, "1 to 6")


def test_a_cut_segment_is_damaged() -> None:
    _, data = seal(made_rows(6))
    with pytest.raises(IndexDamaged, match="cut off"):
        unseal(data[:-1])


def test_a_later_layout_is_named() -> None:
    _, data = seal(made_rows(6))
    with pytest.raises(IndexDamaged, match="layout 9, this version of recollect reads 1"):
        unseal(data[:4] + (9).to_bytes(2, "little") + data[6:])


def test_another_segment_than_the_listed_one_is_damaged() -> None:
    mark, _ = seal(made_rows(6))
    _, other = seal(made_rows(6, seed=1))
    with pytest.raises(IndexDamaged, match="another one"):
        unseal(other, mark=mark)
