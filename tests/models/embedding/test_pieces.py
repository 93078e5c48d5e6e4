"""Long texts are cut into pieces that lose nothing."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from recollect.models.embedding.pieces import cut_pieces
from recollect.models.embedding.tokenizer import packaged_tokenizer


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 12))
def test_pieces_joined_are_the_texts(lengths, size):
    texts = ["word " * length for length in lengths]
    pieces = list(cut_pieces(packaged_tokenizer(), texts, size))
    assert all(0 < len(piece.ids) <= size for piece in pieces)
    found = {owner: list(group) for owner, group in groupby(pieces, key=lambda piece: piece.owner)}
    for number, length in enumerate(lengths):
        mine = found.get(number, [])
        assert sum(len(piece.ids) for piece in mine) == length
        assert [piece.start for piece in mine] == list(range(0, length, size))


def test_pieces_run_on_over_slices_of_a_giant_text():
    pieces = list(cut_pieces(packaged_tokenizer(), ["word " * 30_000], 254))
    assert [len(piece.ids) for piece in pieces[:-1]] == [254] * (30_000 // 254)
    assert sum(len(piece.ids) for piece in pieces) == 30_000


def test_a_limit_leaves_out_what_begins_after_it():
    pieces = list(cut_pieces(packaged_tokenizer(), ["word " * 100, "other"], 10, limit=25))
    assert [(piece.owner, piece.start) for piece in pieces] == [(0, 0), (0, 10), (0, 20), (1, 0)]
