from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.convert import openai_conversation, write_openai
from benchmarks.datasets import ALL_NAMES, PUBLIC, DataSet, mixed, own_set, public_set, read_time, sets_named
from tests.paths import SHARED


@pytest.fixture
def little_set(tmp_path: Path) -> DataSet:
    """Two friends over two days, in the form of the public sets."""
    said = [
        ("t/1", 1, "1:56 pm on 8 May, 2023", "Ada", "I planted tomatoes."),
        ("t/2", 1, "1:56 pm on 8 May, 2023", "Ben", "In May?"),
        ("t/2", 1, "1:56 pm on 8 May, 2023", "Ben", "In May?"),
        ("t/3", 2, "March-15-2024", "user", "They froze."),
    ]
    messages = [
        {"id": i, "session": session, "date": date, "role": "user", "speaker": speaker, "content": text}
        for i, session, date, speaker, text in said
    ]
    questions = [{"question": "What froze?", "category": 4, "evidence": ["t/3"], "evidence_sessions": [2]}]
    path = tmp_path / "little-dev.json"
    path.write_text(json.dumps({"conversations": [{"id": "t", "messages": messages, "questions": questions}]}))
    return public_set(path)


def test_a_public_set_becomes_a_history_of_sessions(little_set: DataSet):
    (history,) = little_set.histories

    assert little_set.name == "little-dev"
    assert [session.id for session in history.sessions] == ["t/1", "t/2"]
    assert [message.id for message in history.messages] == ["t/1", "t/2", "t/3"]
    assert [message.speaker for message in history.messages] == ["Ada", "Ben", None]
    assert history.questions[0].evidence == {"t/3"}
    assert history.session_of()["t/2"] == "t/1"


def test_messages_of_a_session_follow_a_minute_apart(little_set: DataSet):
    times = [message.time for message in little_set.histories[0].messages]

    assert times[:2] == [datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 5, 8, 13, 57, tzinfo=UTC)]
    assert times[2] == datetime(2024, 3, 15, tzinfo=UTC)


def test_a_set_is_converted_to_the_openai_format(little_set: DataSet, tmp_path: Path):
    sessions = little_set.histories[0].sessions
    path = tmp_path / "little.jsonl"

    assert write_openai(sessions, path) == 2
    first, second = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert first["id"] == "t/1"
    assert first["title"] == "1:56 pm on 8 May, 2023"
    assert first["messages"][0] == {
        "id": "t/1",
        "role": "user",
        "content": "I planted tomatoes.",
        "name": "Ada",
        "timestamp": "2023-05-08T13:56:00+00:00",
    }
    assert "name" not in second["messages"][0]
    assert second == openai_conversation(sessions[1])


def test_a_joined_set_is_one_history_with_everything_in_it():
    data = own_set()
    joined = DataSet("twice", data.histories * 2).joined()

    assert len(joined.histories) == 1
    assert len(joined.histories[0].questions) == 2 * len(data.histories[0].questions)


def test_our_own_set_holds_some_hundred_conversations_with_questions_that_they_answer():
    (history,) = own_set().histories
    ids = {message.id for message in history.messages}

    assert len(history.sessions) >= 100
    assert len(ids) == len(history.messages)
    assert len(history.questions) >= 200
    assert all(question.evidence and question.evidence <= ids for question in history.questions)
    assert any(message.speaker for message in history.messages)


def test_our_own_questions_are_put_in_other_words_than_their_answers():
    (history,) = own_set().histories
    text_of = {message.id: message.content.lower() for message in history.messages}
    asked = [question for question in history.questions if question.category == "paraphrase"]

    assert asked
    assert not any(question.text.lower() in text_of[i] for question in asked for i in question.evidence)


def test_dates_in_words_are_read_as_utc():
    assert read_time("1:56 pm on 8 May, 2023") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert read_time("March-15-2024") == datetime(2024, 3, 15, tzinfo=UTC)
    assert read_time("some day") is None
    assert read_time(None) is None


def test_absent_public_sets_are_told_in_one_line(tmp_path: Path):
    sets, missing = sets_named(ALL_NAMES, tmp_path)

    assert [data.name for data in sets] == ["sample", "typed", "scripts"]
    assert len(missing) == 1


def test_mixed_sets_are_one_archive_whose_questions_know_where_they_come_from(little_set: DataSet):
    (history,) = mixed("mix", [own_set(), little_set]).histories

    assert len(history.messages) == len(own_set().histories[0].messages) + 3
    assert {question.origin for question in history.questions} == {"sample", "little-dev"}


def test_sets_with_the_same_ids_are_not_mixed(little_set: DataSet):
    with pytest.raises(ValueError, match="same ids"):
        mixed("mix", [little_set, little_set])


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared fixtures are not here")
def test_every_question_of_the_public_sets_has_evidence_that_is_there():
    for path in PUBLIC.glob("*-dev.json"):
        for history in public_set(path).histories:
            ids = {message.id for message in history.messages}
            dated = {session.created is not None for session in history.sessions}
            assert len(dated) == 1  # of the meetings no day is known
            assert all(question.evidence and question.evidence <= ids for question in history.questions)
