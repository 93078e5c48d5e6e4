"""Late interaction: each word piece of the question against the nearest of a message and of its neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recollect.models.embedding import TokenVectors
from recollect.search.late import late_interaction, wanted
from recollect.store.passages import TokenRows
from tests.search.features_made import flags, pool


def row(*axes: int) -> TokenRows:
    """A passage whose tokens are unit vectors along these axes."""
    tokens = np.zeros((len(axes), 128), np.int8)
    tokens[np.arange(len(axes)), axes] = 127
    return TokenRows(np.array(axes, np.uint16), tokens)


def question(*axes: int) -> TokenVectors:
    return TokenVectors(*(getattr(row(*axes), name) for name in ("pieces", "tokens")))


FEATURES = replace(
    pool(flags(), flags(), flags()),
    neighbours=np.array([[1, -1, 2, -1, -1], [2, 1, 3, -1, -1], [3, 2, -1, -1, -1]]),
    piece_idf={5: 3.0, 6: 1.0},
)
ROWS = {1: row(5), 2: row(9), 3: row(6, 5)}


def test_own_is_the_share_of_the_questions_idf_that_a_message_holds() -> None:
    own = late_interaction(FEATURES, question(5, 6), ROWS).own
    assert own == pytest.approx([0.75, 0, 1], abs=1e-4)


def test_the_window_counts_the_one_before_more_than_the_one_after() -> None:
    window = late_interaction(FEATURES, question(5, 6), ROWS).window
    assert window == pytest.approx([0.75, (3 * 0.9 + 1 * 0.8) / 4, 1], abs=1e-4)


def test_neighbours_are_wanted_too_each_once() -> None:
    assert wanted(FEATURES) == [1, 2, 3]
    assert wanted(FEATURES.take(np.array([0]))) == [1, 2]


def test_a_message_without_tokens_holds_nothing() -> None:
    empty = TokenRows(np.zeros(0, np.uint16), np.zeros((0, 128), np.int8))
    own = late_interaction(FEATURES.take(np.array([0])), question(5), {1: empty}).own
    assert own == pytest.approx([0])


def test_a_conversation_holds_together_what_its_messages_hold_apart() -> None:
    rows = {1: row(5), 2: row(6), 3: row(9)}
    late = late_interaction(FEATURES, question(5, 6), rows)
    assert late.together(np.array([7, 8, 8])) == pytest.approx(0.75, abs=1e-4)
    assert late.together(np.array([7, 7, 8])) == pytest.approx(1, abs=1e-4)
