"""Where conversations are cut: from what was there at the time alone, into runs of the right length."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recollect.derive.summaries.extract import DEFAULT
from recollect.derive.summaries.sessions import exchanges, segment
from recollect.record import Message
from tests.derive.summaries.talks import START, alternating, cuts, embedder, message, talks


@given(talks())
def test_runs_and_what_waits_are_the_messages_in_order(talk: list[Message]) -> None:
    runs, waiting = segment(talk, DEFAULT, embedder())
    assert [m for run in runs for exchange in run for m in exchange] + list(waiting) == talk


@given(talks())
def test_runs_have_five_to_ten_exchanges_and_never_more_than_ten_wait(talk: list[Message]) -> None:
    runs, waiting = segment(talk, DEFAULT, embedder())
    assert all(DEFAULT.shortest_run <= len(run) <= DEFAULT.gathered for run in runs)
    assert len(exchanges(waiting, DEFAULT)) <= DEFAULT.gathered


@given(st.data())
def test_what_comes_later_never_moves_a_cut(data: st.DataObject) -> None:
    talk = data.draw(talks())
    seen = data.draw(st.integers(0, len(talk)))
    runs, _ = segment(talk, DEFAULT, embedder())
    early, _ = segment(talk[:seen], DEFAULT, embedder())
    assert runs[: len(early)] == early


@given(st.data())
def test_cutting_in_portions_is_cutting_at_once(data: st.DataObject) -> None:
    talk = data.draw(talks())
    runs, waiting = [], ()
    places = cuts(data.draw, len(talk))
    for first, last in pairwise(places):
        more, waiting = segment([*waiting, *talk[first:last]], DEFAULT, embedder())
        runs += more
    assert (runs, tuple(waiting)) == segment(talk, DEFAULT, embedder())


def test_ten_answered_questions_are_a_run() -> None:
    talk = alternating([f"Question {n} about the dog" if n % 2 == 0 else "An answer about the dog" for n in range(20)])
    runs, waiting = segment(talk, DEFAULT, embedder())
    assert [len(run) for run in runs] == [10]
    assert not waiting
    assert segment(talk[:-1], DEFAULT, embedder())[0] == []


def test_a_run_ends_with_the_session() -> None:
    texts = ["Does Luna eat enough?", "Yes, she does."] * 10
    before = alternating(texts[:14])
    after = alternating(texts[14:], start=START + timedelta(days=1), first=14)
    runs, waiting = segment([*before, *after], DEFAULT, embedder())
    assert [m for exchange in runs[0] for m in exchange] == before
    assert list(waiting) == after


def test_a_run_ends_where_the_topic_changes() -> None:
    dog = ["My dog Luna barks when she is alone.", "A tired dog barks less: walk the dog longer, leave it food."] * 6
    server = ["How do I set nginx as a reverse proxy?", "Write proxy_pass in the nginx server block."] * 4
    talk = alternating([*dog, *server])
    runs, _ = segment(talk, DEFAULT, embedder())
    assert len(runs[0]) == 6


def test_an_exchange_is_a_question_with_its_answers_and_among_people_a_turn_with_the_replies() -> None:
    roles = ["user", "assistant", "assistant", "user", "user", "assistant"]
    chat = [message(n, role, "words") for n, role in enumerate(roles)]
    assert [len(exchange) for exchange in exchanges(chat, DEFAULT)] == [3, 1, 2]
    names = ["Ana", "Ana", "Ben", "Chen", "Ana", "Ben"]
    people = [message(n, "user", "words", speaker=name) for n, name in enumerate(names)]
    assert [len(exchange) for exchange in exchanges(people, DEFAULT)] == [4, 2]


def test_an_agent_that_works_on_alone_is_cut_all_the_same() -> None:
    talk = [message(n, "assistant", f"Step {n} is done.") for n in range(200)]
    runs, waiting = segment(talk, DEFAULT, embedder())
    assert len(runs) >= 2
    assert len(waiting) < 100
