from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path
from zipfile import ZipFile

import recollect
from benchmarks.generator import Talk, talks, write_chatgpt, write_openai
from benchmarks.queries import queries


def _count(made: list[Talk]) -> int:
    return sum(len(talk.messages) for talk in made)


def test_the_same_seed_makes_the_same_conversations_and_another_one_others():
    assert list(talks(300, seed=7)) == list(talks(300, seed=7))
    assert list(talks(300, seed=7)) != list(talks(300, seed=8))


def test_a_smaller_run_is_the_beginning_of_a_larger_one():
    few, many = list(talks(100)), list(talks(400))

    assert many[: len(few) - 1] == few[:-1]


def test_exactly_as_many_messages_are_made_as_are_asked_for():
    assert _count(list(talks(1))) == 1
    assert _count(list(talks(777))) == 777


def test_conversations_are_made_one_at_a_time():
    assert len(list(islice(talks(10**12), 3))) == 3


def test_what_is_made_is_as_varied_as_an_archive():
    made = [(talk, message) for talk in talks(4000) for message in talk.messages]
    roles = Counter(message.role for _, message in made)
    words = {word for _, message in made for word in message.content.lower().split()}
    lengths = sorted(len(message.content) for _, message in made)

    assert 0.02 < roles["tool"] / len(made) < 0.25
    assert any("```" in message.content for _, message in made)
    assert any(message.name for _, message in made)
    assert any(not message.content.isascii() for _, message in made)
    assert len(words) > 15_000
    assert lengths[-1] > 10 * lengths[len(lengths) // 2]  # a few are very long


def test_an_openai_file_of_them_is_imported_whole(tmp_path: Path):
    path = tmp_path / "made.jsonl"
    write_openai(path, 200)

    with recollect.open(tmp_path / "memory.db") as memory:
        report = memory.import_file(path)

    assert report.stored.messages == 200
    assert not report.problems


def test_a_chatgpt_export_of_them_is_imported_whole(tmp_path: Path):
    path = tmp_path / "made.zip"
    write_chatgpt(path, 200)

    with ZipFile(path) as archive:
        assert len(json.loads(archive.read("conversations.json"))) == len(list(talks(200)))
    with recollect.open(tmp_path / "memory.db") as memory:
        report = memory.import_file(path)
    assert report.stored.messages == 200
    assert not report.problems


def test_queries_are_varied_and_always_the_same():
    asked = queries(210)

    assert asked == queries(210)
    assert set(Counter(query.form for query in asked).values()) == {30}
    assert len({query.text for query in asked}) > 200
