"""Archives of all origins are read as one form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training.data import archives
from training.data.archives import UnknownArchive, family, locate, main, read


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shared sets and external files of the test's own."""
    archives._shared.cache_clear()
    monkeypatch.setenv("TRAINING_SHARED", str(tmp_path / "shared"))
    monkeypatch.setattr(archives, "EXTERNAL", tmp_path / "external")
    return tmp_path


def _shared_file(folder: Path, file: str) -> None:
    message = {"session": 1, "date": "2025-01-02", "role": "user", "speaker": "Lei", "content": "Hello"}
    messages = [message | {"id": "a"}, message | {"id": "a", "session": 2, "content": "Bye"}]
    raw = {"conversations": [{"id": "lei", "messages": messages, "questions": [{"question": "secret"}]}]}
    (folder / "shared").mkdir()
    (folder / "shared" / file).write_text(json.dumps(raw), encoding="utf-8")


def test_sessions_of_shared_sets_are_conversations_and_ids_are_unique(elsewhere: Path) -> None:
    _shared_file(elsewhere, "lifebench-zh-dev.json")
    archive = read("lifebench-zh/lei")
    assert archive.language == "zh"
    assert [c.id for c in archive.conversations] == ["s1", "s2"]
    assert {key: m.text for key, (_, m) in archive.messages.items()} == {"a": "Hello", "a#2": "Bye"}
    assert "secret" not in repr(archives._shared("lifebench-zh-dev.json"))


def test_fillers_of_realmem_are_left_out(elsewhere: Path) -> None:
    turn = {"speaker": "User", "content": "I weigh 75 kg"}
    dialogues = [
        {"session_identifier": key, "current_time": "2025-12-15 (Monday)", "dialogue_turns": [turn]}
        for key in ("Enhanced:S1", "Fitness_1:S1_01")
    ]
    folder = elsewhere / "external" / "realmem" / "dataset"
    folder.mkdir(parents=True)
    (folder / "Lin_dialogues_256k.json").write_text(json.dumps({"dialogues": dialogues}), encoding="utf-8")
    archive = read("realmem/Lin")
    assert [c.id for c in archive.conversations] == ["Fitness_1:S1_01"]
    _, message = archive.message("Fitness_1:S1_01/0")
    assert (message.role, message.time, message.text) == ("user", "2025-12-15", "I weigh 75 kg")
    assert "realmem/Lin" in archives.names(elsewhere)


def test_the_sample_archive_is_read() -> None:
    archive = read("sample")
    assert len(archive.conversations) > 100
    assert archive.message("a-naming-1")[0].title == "Name for a surf school booking app"


def test_archives_of_our_own_are_read(data: Path) -> None:
    assert read("road", data).message("roof-3")[1].text == "He came down to 6,400. Good."


@pytest.mark.parametrize("name", ["locomo", "beam/3", "XQuAD-R/de", "lifebench-en/nobody", "realmem/Nobody", "nothing"])
def test_what_may_not_or_cannot_be_read_is_refused(elsewhere: Path, name: str) -> None:
    _shared_file(elsewhere, "lifebench-en-dev.json")
    with pytest.raises(UnknownArchive):
        read(name, elsewhere)


def test_translations_of_an_archive_are_one_family() -> None:
    assert family("lifebench-en/lei") == family("lifebench-zh/lei") != family("lifebench-en/ma")


def test_the_terminal_shows_greps_and_locates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grep", "sample", "tidepool", "DIABETES"]) == 0
    assert "[a-naming-3]" in capsys.readouterr().out
    text = read("sample").message("a-naming-5")[1].text
    assert main(["locate", "sample", "a-naming-5", "Makes sense."]) == 0
    start, end = map(int, capsys.readouterr().out.split())
    assert text[start:end] == "Makes sense."
    assert main(["locate", "sample", "a-naming-5", "Not there."]) == 1
    assert main(["show", "sample", "a-naming"]) == 0
    assert main(["show", "sample", "nowhere"]) == 1


def test_a_sentence_is_located_everywhere_it_stands() -> None:
    assert locate("Ja. Ja.", "Ja.") == [(0, 3), (4, 7)]
    assert locate("Ja.", "") == []
