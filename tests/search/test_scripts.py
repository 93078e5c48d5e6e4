"""An archive in eight scripts: what is said in any of them is found, and nothing of another one is taken for near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import recollect
from benchmarks.asking import conversation_ids, first_of, message_ids
from benchmarks.convert import write_openai
from benchmarks.datasets import History, scripts_set
from recollect.memory import Memory


@pytest.fixture(scope="module")
def history() -> History:
    return scripts_set().histories[0]


@pytest.fixture(scope="module")
def memory(history: History, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("scripts")
    write_openai(history.sessions, folder / "export.jsonl")
    with recollect.open(folder / "memory.db") as memory:
        memory.import_file(folder / "export.jsonl")
        yield memory


def test_it_holds_six_chats_in_each_of_eight_scripts(history: History):
    scripts = Counter(q.category for q in history.questions if "typed" not in q.category)

    assert len(scripts) == 8
    assert set(scripts.values()) == {6}


def test_every_question_finds_its_message_in_five(memory: Memory, history: History):
    asked = [question for question in history.questions if "typed" not in question.category]
    missed = [q.text for q in asked if not 0 < first_of(message_ids(memory, q.text, "auto"), q.evidence) <= 5]

    assert missed == []


def test_a_few_typed_words_find_their_chat_first(memory: Memory, history: History):
    session_of = history.session_of()
    typed = [question for question in history.questions if "typed" in question.category]
    missed = [
        q.text
        for q in typed
        if first_of(conversation_ids(memory, q.text, "auto"), {session_of[i] for i in q.evidence}) != 1
    ]

    assert missed == []


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("冰箱", "Han"),
        ("พระจันทร์", "Thai"),
        ("вертолёт", "Cyrillic"),
        ("חללית", "Hebrew"),
        ("ελικόπτερο", "Greek"),
        ("हेलीकॉप्टर", "Devanagari"),
        ("طائرة", "Arabic"),
        ("잠수함", "Hangul"),
        ("😀", "none"),
    ],
)
def test_a_word_that_was_never_said_finds_nothing_of_another_script(
    memory: Memory, history: History, text: str, script: str
):
    session_of = history.session_of()
    script_of = {session_of[i]: q.category for q in history.questions for i in q.evidence if "typed" not in q.category}

    found = {script_of[hit.conversation.source_id or ""] for hit in memory.search(text)}

    assert found <= {script}  # Thai words share pairs of letters with others
