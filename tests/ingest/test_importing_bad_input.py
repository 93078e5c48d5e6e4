"""Bad input: a clear line with place and reason for each, everything good is in, and every invariant holds."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import ImportProblem, NotFound
from recollect.importers.base import Problem
from recollect.importers.reading import archive as archives
from recollect.importers.reading.zip import ZipLimits
from recollect.memory import Memory
from tests.bombs import bomb
from tests.exports import archive, chat, export, file, first_hit, lines, messages_of, node, opened, texts_of, tree

pytestmark = pytest.mark.slow

GOOD = chat("Where is the heron?", "By the weir.", name="good", title="Birds")
ALSO_GOOD = chat("Where is the otter?", "Below.", name="also good", title="Beasts")
BOTH = {"Where is the heron?", "By the weir.", "Where is the otter?", "Below."}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Empty at first; whatever a test has done to it, it is whole in the end."""
    with opened(tmp_path / "memory.db") as memory:
        yield memory
        assert memory.upkeep.check() == []


def told(memory: Memory, path: Path) -> list[Problem]:
    """The problems of importing what holds at least one good conversation; each has a place and a reason."""
    report = memory.import_file(path)
    assert not report.nothing
    assert {"Where is the heron?", "By the weir."} <= set(texts_of(memory))
    assert all(problem.place and problem.reason and "\n" not in problem.place for problem in report.problems)
    return report.problems


# --- files that are no exports -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refused:
    name: str
    content: Any
    reason: str


NO_EXPORTS = [
    Refused("empty.json", b"", "it is empty"),
    Refused("empty.zip", b"", "it is empty"),
    Refused("zeros.json", bytes(100_000), "it holds zeros.json"),
    Refused(
        "report.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n", "it holds report.pdf"
    ),
    Refused("named.json", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "it holds named.json"),
    Refused("picture.zip", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "it holds picture.zip"),
    Refused("null.json", "null", "it holds null.json"),
    Refused("nulls.json", "[null, null]", "it holds nulls.json"),
    Refused("deep.json", "[" * 200_000, "it holds deep.json"),
    Refused("signature.zip", b"PK\x03\x04", "signature.zip: its directory cannot be read"),
]


@pytest.mark.parametrize("refused", NO_EXPORTS, ids=lambda refused: refused.name)
def test_what_is_no_export_is_refused_with_its_name_and_a_reason(
    memory: Memory, tmp_path: Path, refused: Refused
) -> None:
    with pytest.raises(ImportProblem, match=refused.reason) as caught:
        memory.import_file(file(tmp_path / refused.name, refused.content))
    assert refused.name in caught.value.message
    assert caught.value.hint


def test_an_empty_folder_and_an_empty_zip_are_empty(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ImportProblem, match="it is empty"):
        memory.import_file(tmp_path / "folder")
    with pytest.raises(ImportProblem, match=r"none.zip: there is nothing in it"):
        memory.import_file(archive(tmp_path / "none.zip", {}))


def test_what_is_not_there_is_not_found(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"No such file: .*missing\.zip"):
        memory.import_file(tmp_path / "missing.zip")


# --- archives ------------------------------------------------------------------------------------------------------


def test_of_a_cut_zip_everything_before_the_cut_is_in(memory: Memory, tmp_path: Path) -> None:
    many = [chat(*(f"message {i} of {n}" for i in range(20)), name=f"c{n}") for n in range(200)]
    whole = archive(tmp_path / "whole.zip", {"conversations-000.json": [GOOD], "conversations-001.json": many})
    data = whole.read_bytes()
    cut = file(tmp_path / "cut.zip", data[: len(data) * 6 // 10])
    problems = told(memory, cut)
    assert 100 < memory.upkeep.stats().conversations < 200
    assert any("its directory cannot be read" in problem.reason for problem in problems)
    assert any("conversations-001.json #" in p.place and "ends in the middle" in p.reason for p in problems)


def test_a_zip_whose_directory_alone_is_lost_is_read_whole(memory: Memory, tmp_path: Path) -> None:
    whole = archive(tmp_path / "whole.zip", {"conversations-000.json": [GOOD], "conversations-001.json": [ALSO_GOOD]})
    data = whole.read_bytes()
    problems = told(memory, file(tmp_path / "cut.zip", data[: data.index(b"PK\x01\x02")]))
    assert set(texts_of(memory)) == BOTH
    assert [problem.lost for problem in problems] == [False]


def test_a_path_that_is_not_there_costs_no_other(memory: Memory, tmp_path: Path) -> None:
    good = archive(tmp_path / "good.zip", {"conversations.json": [GOOD]})
    report = memory.import_file(tmp_path / "nowhere.zip", good)
    assert report.stored.conversations == 1
    (problem,) = report.problems
    assert problem.lost
    assert problem.place.endswith("nowhere.zip")
    with pytest.raises(NotFound, match=r"nowhere\.zip"):
        memory.import_file(tmp_path / "nowhere.zip")


def test_of_a_zip_that_was_never_finished_what_is_there_is_in(memory: Memory, tmp_path: Path) -> None:
    chance = random.Random(1)
    many = json.dumps([GOOD, *(chat(f"{chance.random()}", "tide", name=f"c{i}") for i in range(800))]).encode()
    writer = zipfile.ZipFile(tmp_path / "finished.zip", "w", zipfile.ZIP_DEFLATED)
    member = writer.open("conversations.json", "w", force_zip64=True)
    member.write(many)
    unfinished = file(tmp_path / "unfinished.zip", (tmp_path / "finished.zip").read_bytes()[:-100])
    member.close()
    writer.close()
    assert told(memory, unfinished)
    assert 100 < memory.upkeep.stats().conversations < 801


def test_a_damaged_member_costs_itself(memory: Memory, tmp_path: Path) -> None:
    members = {"conversations-000.json": [ALSO_GOOD], "conversations-001.json": [GOOD]}
    whole = archive(tmp_path / "damaged.zip", members, method=zipfile.ZIP_STORED)
    data = bytearray(whole.read_bytes())
    at = data.index(b"otter")
    data[at : at + 5] = b"\xff\xff\xff\xff\xff"
    problems = told(memory, file(tmp_path / "damaged.zip", bytes(data)))
    assert any("conversations-000.json" in p.place and "checksum" in p.reason for p in problems)


def test_a_member_that_is_damaged_from_its_beginning_is_told(memory: Memory, tmp_path: Path) -> None:
    whole = archive(tmp_path / "damaged.zip", {"conversations-000.json": [ALSO_GOOD], "conversations-001.json": [GOOD]})
    data = bytearray(whole.read_bytes())
    at = data.index(b"conversations-000.json") + len("conversations-000.json")
    data[at + 20 : at + 60] = b"\xff" * 40
    problems = told(memory, file(tmp_path / "damaged.zip", bytes(data)))
    assert [(p.place, p.reason) for p in problems] == [("damaged.zip: conversations-000.json", "it is damaged")]


def test_42_gb_of_zeros_are_left_where_they_are(memory: Memory, tmp_path: Path) -> None:
    beginning = json.dumps([GOOD, ALSO_GOOD]).encode()[:-1] + b", "
    problems = told(memory, bomb(tmp_path / "bomb.zip", "conversations.json", beginning, 42 << 30))
    assert set(texts_of(memory)) == BOTH
    assert [problem.place for problem in problems] == ["bomb.zip: conversations.json #2"]
    assert "unpacks to more than 300 times its size" in problems[0].reason


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (ZipLimits(entries=2), "it holds more than 2 files"),
        (ZipLimits(member=2 << 10), "unpacks to more than"),
        (ZipLimits(total=1 << 20), "unpacks to more than"),
        (ZipLimits(ratio=3, harmless=1 << 10), "unpacks to more than 3 times its size"),
    ],
    ids=["files", "member", "total", "ratio"],
)
def test_beyond_each_limit_the_rest_is_told_and_left(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: ZipLimits, reason: str
) -> None:
    monkeypatch.setattr(archives, "ZipLimits", lambda: limits)
    long = [chat(*["tide " * 40] * 20, name=f"c{i}") for i in range(60)]
    members = {"conversations-000.json": [GOOD], "conversations-001.json": long, "conversations-002.json": long}
    problems = told(memory, archive(tmp_path / "big.zip", members))
    assert any(reason in problem.reason for problem in problems)


@pytest.mark.parametrize("name", ["../../conversations.json", "/etc/conversations.json", "..\\up.json", "C:\\up.json"])
def test_a_name_that_leads_out_is_left_out(memory: Memory, tmp_path: Path, name: str) -> None:
    problems = told(memory, archive(tmp_path / "out.zip", {name: [ALSO_GOOD], "conversations.json": [GOOD]}))
    assert [problem.reason for problem in problems] == ["its name leads out of the archive; it was left out"]
    assert memory.upkeep.stats().conversations == 1
    assert sorted(path.name for path in tmp_path.iterdir() if "memory.db" not in path.name) == ["out.zip"]


def test_names_that_would_draw_on_the_screen_are_shown_harmless(memory: Memory, tmp_path: Path) -> None:
    members = {"\x1b[2Jchats\n.json": '[{"mapping": {', "conversations.json": [GOOD]}
    told(memory, archive(tmp_path / "names.zip", members))


# --- JSON ----------------------------------------------------------------------------------------------------------


def test_json_cut_in_the_middle_gives_what_stands_before(memory: Memory, tmp_path: Path) -> None:
    data = json.dumps([GOOD, ALSO_GOOD]).encode()
    problems = told(memory, file(tmp_path / "conversations.json", data[:-200]))
    assert [(p.place, p.reason) for p in problems] == [("conversations.json #1", "the file ends in the middle of it")]


def test_a_broken_conversation_between_good_ones_costs_itself(memory: Memory, tmp_path: Path) -> None:
    broken = json.dumps(chat("lost", name="broken")).replace('"message"', "message", 1)
    data = f"[{json.dumps(GOOD)}, {broken}, {json.dumps(ALSO_GOOD)}]"
    problems = told(memory, file(tmp_path / "conversations.json", data))
    assert set(texts_of(memory)) == BOTH
    assert [p.place for p in problems if p.lost] == ["conversations.json #1"]


def test_bytes_that_are_no_utf8_become_marks_in_their_words_alone(memory: Memory, tmp_path: Path) -> None:
    data = json.dumps([GOOD, ALSO_GOOD]).encode().replace(b"otter", b"ot\xfe\xffter")
    told(memory, file(tmp_path / "conversations.json", data))
    assert "Where is the ot\ufffd\ufffdter?" in texts_of(memory)


def test_a_line_that_is_cut_costs_itself(memory: Memory, tmp_path: Path) -> None:
    talks = [{"messages": [{"role": "user", "content": text}]} for text in ("Where is the heron?", "By the weir.", "x")]
    data = lines(*talks)
    problems = told(memory, file(tmp_path / "chats.jsonl", data[:-9]))
    assert [p.place for p in problems] == ["chats.jsonl line 3"]


# --- trees ---------------------------------------------------------------------------------------------------------


def test_a_circle_is_opened(memory: Memory, tmp_path: Path) -> None:
    circle = tree(
        node("a", "c", "one"), node("b", "a", "two", "assistant"), node("c", "b", "three"), node("d", "d", "itself"),
        name="circle",
    )  # fmt: skip
    told(memory, export(tmp_path, [circle, GOOD]))
    assert {"one", "two", "three", "itself"} <= set(texts_of(memory))


def test_a_tree_without_root_is_kept(memory: Memory, tmp_path: Path) -> None:
    rootless = tree(
        node("b", "gone", "two"), node("c", "b", "three", "assistant"), node("x", "lost", "elsewhere"), name="r"
    )
    told(memory, export(tmp_path, [rootless, GOOD]))
    assert {"two", "three", "elsewhere"} <= set(texts_of(memory))


def nulled(value: Any) -> Iterator[Any]:
    """The value with null in place of each thing within it, one at a time."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        for other in (None, *nulled(inner)):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = other
            yield copy


def test_null_anywhere_costs_at_most_its_conversation(memory: Memory, tmp_path: Path) -> None:
    rich = node("a", None, "one", recipient="python", metadata={"attachments": [{"name": "x", "id": "f"}]})
    spoiled = list(nulled(tree(rich, node("b", "a", "two", "tool"), name="null")))
    named = [dict(one, id=f"n{i}", conversation_id=f"n{i}") for i, one in enumerate(spoiled)]
    told(memory, export(tmp_path, [*named, *spoiled, GOOD]))
    assert len(spoiled) > 40
    assert memory.upkeep.stats().conversations > 40


def test_a_conversation_of_nothing_but_null_is_told_or_counted(memory: Memory, tmp_path: Path) -> None:
    empty = [None, {}, dict.fromkeys(GOOD), 7, "x", []]
    report = memory.import_file(export(tmp_path, [GOOD, *empty]))
    assert len(report.problems) + report.notes["entries without messages"] == len(empty)


# --- sizes ---------------------------------------------------------------------------------------------------------


def long_message(megabytes: int) -> str:
    tides = "The tide is high and the moorings hold. "
    return "Remember the axolotl. " + tides * (megabytes * 1_000_000 // len(tides)) + "The quixotic lighthouse."


@pytest.mark.parametrize("megabytes", [1, pytest.param(50, marks=pytest.mark.long)])
def test_a_very_long_message_is_kept_whole_and_found_by_its_end(memory: Memory, tmp_path: Path, megabytes: int) -> None:
    text = long_message(megabytes)
    assert told(memory, export(tmp_path, [tree(node("a", None, text), name="long"), GOOD])) == []
    assert any(message.content == text for message in messages_of(memory))
    for words in ("remember axolotl", "quixotic lighthouse"):
        found = first_hit(memory, words)
        assert found is not None
        assert found.source_id == "a"


@pytest.mark.parametrize("children", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_a_node_with_very_many_children_is_kept(memory: Memory, tmp_path: Path, children: int) -> None:
    answers = [node(f"a{i}", "q", f"answer {i}", "assistant", minute=i / 600) for i in range(children)]
    assert told(memory, export(tmp_path, [tree(node("q", None, "Which?"), *answers, name="wide"), GOOD])) == []
    counts = memory.upkeep.stats()
    assert (counts.messages, counts.active) == (children + 3, 4)


@pytest.mark.parametrize("depth", [5_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_a_very_deep_conversation_is_kept(memory: Memory, tmp_path: Path, depth: int) -> None:
    deep = chat(*(f"message {i}" for i in range(depth)), name="deep")
    assert told(memory, export(tmp_path, [deep, GOOD])) == []
    assert memory.upkeep.stats().active == depth + 2
