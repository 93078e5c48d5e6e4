"""Archives in ten languages: whoever writes in one finds what was said in it, and nothing of another.

languages/*.txt: `= title`, `> what the user said`, `< the answer`, `? question | how what answers it begins`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import recollect
from recollect.memory import Memory

FOLDER = Path(__file__).parent / "languages"


@dataclass
class Archive:
    """Talks by title, each with its messages, and questions with the beginning of what answers them."""

    talks: dict[str, list[str]] = field(default_factory=dict)
    questions: list[tuple[str, str]] = field(default_factory=list)


def read(path: Path) -> Archive:
    archive = Archive()
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "=":
            messages = archive.talks[text] = []
        elif mark == "?":
            question, _, answer = text.rpartition(" | ")
            archive.questions.append((question, answer))
        else:
            messages.append(text)
    return archive


ARCHIVES = {path.stem: read(path) for path in sorted(FOLDER.glob("*.txt"))}


def remember(memory: Memory, *scripts: str) -> None:
    for script in scripts:
        for title, messages in ARCHIVES[script].talks.items():
            conversation = None
            for place, text in enumerate(messages):
                role = "assistant" if place % 2 else "user"
                stored = memory.store_message(text, role, conversation_id=conversation, title=title)
                conversation = stored.conversation_id


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with recollect.open(tmp_path_factory.mktemp("languages") / "memory.db", durable=False) as memory:
        remember(memory, *ARCHIVES)
        yield memory


def test_the_archives_are_whole() -> None:
    assert len(ARCHIVES) == 10
    for archive in ARCHIVES.values():
        assert sum(map(len, archive.talks.values())) == 24
        assert len(archive.questions) == 5
        said = [text for texts in archive.talks.values() for text in texts]
        assert all(sum(text.startswith(answer) for text in said) == 1 for _, answer in archive.questions)


@pytest.mark.parametrize("script", ARCHIVES)
def test_what_was_said_is_found_in_every_script(memory: Memory, script: str) -> None:
    places = []
    for question, answer in ARCHIVES[script].questions:
        found = memory.search(question, group_by="message", limit=5)
        texts = [hit.best.message.content for hit in found]
        places.append(next((place for place, text in enumerate(texts, 1) if text.startswith(answer)), 0))
        assert found.close
    assert 0 not in places
    assert sum(place == 1 for place in places) >= 4, places


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Memory]]:
    """A memory each that lacks the language of the questions, and all that share its script."""
    folder = tmp_path_factory.mktemp("without")
    memories = {}
    for script in ARCHIVES:
        memories[script] = recollect.open(folder / script / "memory.db", durable=False)
        kin = {"chinese", "japanese"} if script in ("chinese", "japanese") else {script}
        remember(memories[script], *(other for other in ARCHIVES if other not in kin))
    yield memories
    for memory in memories.values():
        memory.close()


@pytest.mark.parametrize("script", ARCHIVES)
def test_nothing_of_another_script_is_close(without: dict[str, Memory], script: str) -> None:
    """Q5: characters that the model cannot spell were all alike."""
    for question, _ in ARCHIVES[script].questions:
        found = without[script].search(question, group_by="message", limit=5)
        assert not len(found) or not found.close, question
