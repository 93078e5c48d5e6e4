"""Where a conversation turns to something else: decided by what came before alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.derive.topics.naming import length
from recollect.derive.topics.segments import Drift, jaccard
from recollect.record import Message, NodeId, Role
from tests.properties import examples

SAYINGS = (
    "How do I configure nginx as a reverse proxy for the FastAPI server?",
    "Set proxy_pass in nginx and reload it; FastAPI listens on port 8000.",
    "nginx answers with 502 while FastAPI starts, what now?",
    "Which sourdough recipe did Ana Silva bake in Porto last weekend?",
    "In Porto Ana Silva bakes with rye flour and a cold oven.",
    "thanks",
)
TALK = st.lists(st.tuples(st.sampled_from(SAYINGS), st.booleans()), max_size=20)


def message(words: str, *, user: bool) -> Message:
    return Message(NodeId("m"), NodeId("c"), Role.USER if user else Role.ASSISTANT, words)


def starts(talk: list[tuple[str, bool]], drift: Drift | None = None) -> list[bool]:
    drift = drift or Drift()
    return [drift.takes(message(words, user=user)) for words, user in talk]


def test_a_new_subject_begins_a_segment_and_a_question_about_the_old_does_not() -> None:
    talk = [(words, number % 2 == 0) for number, words in enumerate(SAYINGS)]
    assert starts([*talk[:2], (SAYINGS[2], True), (SAYINGS[3], True), (SAYINGS[4], False), (SAYINGS[5], True)]) == [
        False, False, False, True, False, False,
    ]  # fmt: skip


@settings(max_examples=examples(50))
@given(talk=TALK, at=st.integers(0, 20))
def test_what_comes_later_changes_nothing_before(talk: list[tuple[str, bool]], at: int) -> None:
    assert starts(talk)[:at] == starts(talk[:at])


@settings(max_examples=examples(50))
@given(talk=TALK, at=st.integers(0, 20))
def test_going_on_from_the_state_is_going_on(talk: list[tuple[str, bool]], at: int) -> None:
    first = Drift()
    before = starts(talk[:at], first)
    assert before + starts(talk[at:], Drift.read(first.state())) == starts(talk)


def test_jaccard_is_what_two_sets_share() -> None:
    assert jaccard(frozenset({1, 2}), frozenset({2, 3})) == 1 / 3
    assert jaccard(frozenset(), frozenset()) == 1


def test_the_profile_grows_when_the_number_doubles() -> None:
    assert [length(n) for n in range(1, 20)] == [1, 2, 2, 4, 4, 4, 4, *[8] * 8, *[16] * 4]
